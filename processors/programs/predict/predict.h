/* Is this URL a page that we have already? Rules about URLs, learned from the pages that were
 * fetched, say so before the fetch.
 *
 * Source: Bar-Yossef, Keidar, Schonfeld, "Do not crawl in the DUST" (WWW 2007): URLs with similar
 * text are found by rules that are mined from what a crawl has seen. Theirs are substitutions of
 * strings, mined in batches and checked by fetching. Here a rule is a part of a URL that can be
 * exchanged, the parts are those that URLs are made of, and each fetch is evidence, for or against.
 *
 *   a feature   of a URL is a part of it with a name: a parameter, a directory, the host
 * (features.h) a pair      are two URLs that differ in one feature only a rule      says of pairs
 * which differ in a feature, on a host, that they are one page. It may be about all values of the
 * feature (`any`) or two of them
 *
 * Evidence: when a page is fetched, it makes a pair with the page last fetched of those that differ
 * from it in one feature, for each of its features; that the two have equal content counts for the
 * feature's rules, that they do not counts against them. Evidence fades: what was seen WINDOW pairs
 * ago counts a third. So a rule that stops being true expires, and a rule is never of a later
 * fetch.
 *
 * Prediction: of the pairs that the URL would make now, that with the best rule. A rule's
 * confidence is the lower end of Wilson's interval of its evidence, at 95 %: with no evidence it is
 * 0.
 *
 * Cost: O(SP_PREDICT_FEATURES) table look-ups a call, whatever the tables hold; memory O(features)
 * a URL, about 1 KiB. All is a pure function of the calls in order. Thread rule: one thread;
 * sp_predict_ask alone: any. */
#ifndef SP_PREDICT_PREDICT_H
#define SP_PREDICT_PREDICT_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/hash.h"

enum { SP_PREDICT_FEATURES = 32 };

enum sp_feature_kind {
    SP_FEATURE_SCHEME,
    SP_FEATURE_HOST,
    SP_FEATURE_CASE,      /* of path and query */
    SP_FEATURE_INDEX,     /* a slash at the end, index.html, default.aspx, ... */
    SP_FEATURE_EXTENSION, /* of the last segment: .html, .html.en, none */
    SP_FEATURE_QUERY,     /* all of it */
    SP_FEATURE_PARAMETER, /* one of it, by its name, there or not */
    SP_FEATURE_SEGMENT,   /* one directory or file name of the path, by its number */
    SP_FEATURE_SESSION,   /* what follows a semicolon in the path */
    SP_FEATURE_KINDS
};

struct sp_rule {
    struct sp_id key; /* of a map: first */
    enum sp_feature_kind kind;
    bool any;   /* of all values, else of these two */
    char *host; /* where it holds */
    char *name; /* parameter, or number of the segment; "" for the others */
    char *from; /* values of a rule that is not `any`, in the order of their first pair */
    char *to;
    char *example[2]; /* URLs of the last pair that was one page, or NULL */
    double support;   /* faded */
    double against;
    uint64_t pairs[2]; /* all that were seen: against, for */
};

double sp_rule_confidence(const struct sp_rule *rule);

struct sp_prediction {
    struct sp_view url;         /* of the page it is said to be; valid until it is learned again */
    uint64_t number;            /* of its content, as sp_predict_learn_by was given it */
    const struct sp_rule *rule; /* valid until the next call that learns */
    double confidence;
};

struct sp_predictor;

struct sp_predictor *sp_predictor_new(void);
void sp_predictor_free(struct sp_predictor *p);

/* A page was fetched: contents are equal where their ids are. The URL is canonical (base/url.h);
 * others are passed over. */
void sp_predict_learn(struct sp_predictor *p, struct sp_view url, struct sp_id content);
/* The same where equality is a question: `same` is asked of two contents' numbers. */
void sp_predict_learn_by(struct sp_predictor *p, struct sp_view url, uint64_t content,
                         bool (*same)(void *arg, uint64_t a, uint64_t b), void *arg);
/* The page is gone, or is a redirect now: it is nobody's copy. */
void sp_predict_forget(struct sp_predictor *p, struct sp_view url);

/* false: nothing that is known of speaks for a copy with at least that confidence. */
bool sp_predict_ask(const struct sp_predictor *p, struct sp_view url, double confidence,
                    struct sp_prediction *ret_prediction);

/* Whether a predicted fetch is made all the same, for this share of URLs (by hash): what keeps
 * rules honest. */
bool sp_predict_explores(struct sp_view url, double share);

/* All rules with at least that much confidence, best first; the
 * caller frees the array (sp_free), not the rules. */
const struct sp_rule **sp_predict_rules(const struct sp_predictor *p, double confidence,
                                        size_t *ret_count);

/* One line of JSON. */
void sp_rule_put(struct sp_buf *out, const struct sp_rule *rule);

#endif

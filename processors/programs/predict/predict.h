/* Predicts before a fetch whether a URL is a duplicate, by rules learned from fetched pages.
 *
 * Source: Bar-Yossef, Keidar, Schonfeld, "Do not crawl in the DUST" (WWW 2007), who mine rules from
 * the URLs of a crawl. Theirs are substitutions of strings, mined in batches and checked by
 * fetching. Here a rule is about one part of a URL, and each fetch is evidence for or against it.
 *
 *   feature   a named part of a URL: a parameter, a directory, the host (features.h)
 *   pair      two URLs that differ in one feature only
 *   rule      pairs that differ in this feature, on this host, have the same page; for all values
 *             of the feature (`any`) or for two of them
 *
 * Evidence: for each of its features a fetched page makes a pair with the last fetched page that
 * differs only in this feature. Equal contents count for the feature's rules, other contents
 * against them. Evidence fades: a pair that WINDOW pairs have followed counts a third, so a rule
 * that no longer holds expires.
 *
 * Prediction: the pair with the best rule among those that the URL would make now. A rule's
 * confidence is the lower end of the Wilson interval of its evidence, at 95 %; without evidence it
 * is 0.
 *
 * Cost: O(SP_PREDICT_FEATURES) table look-ups a call, whatever the size of the tables; O(features)
 * memory a URL, about 1 KiB. Everything is a pure function of the calls in order. Thread rule: one
 * thread; sp_predict_ask alone: any. */
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
    SP_FEATURE_QUERY,     /* the whole query */
    SP_FEATURE_PARAMETER, /* one parameter, by its name, present or not */
    SP_FEATURE_SEGMENT,   /* one directory or file name of the path, by its position */
    SP_FEATURE_SESSION,   /* the part after a semicolon in the path */
    SP_FEATURE_KINDS
};

struct sp_rule {
    struct sp_id key; /* key of a map; must come first */
    enum sp_feature_kind kind;
    bool any;   /* for all values, otherwise for these two */
    char *host; /* where it holds */
    char *name; /* name of a parameter, or position of a segment; "" for the others */
    char *from; /* the two values if not `any`, in byte order */
    char *to;
    char *example[2]; /* URLs of the first pair with equal content, or NULL */
    double support;   /* faded */
    double against;
    uint64_t pairs[2]; /* total counts: against, for */
};

double sp_rule_confidence(const struct sp_rule *rule);

struct sp_prediction {
    struct sp_view url;         /* of the predicted duplicate; valid until it is learned again */
    uint64_t number;            /* its content's number, as given to sp_predict_learn_by */
    const struct sp_rule *rule; /* valid until the next call that learns */
    double confidence;
};

struct sp_predictor;

struct sp_predictor *sp_predictor_new(void);
void sp_predictor_free(struct sp_predictor *p);

/* Learns that a page was fetched; contents are equal if their ids are. The URL must be canonical
 * (base/url.h); others are ignored. */
void sp_predict_learn(struct sp_predictor *p, struct sp_view url, struct sp_id content);
/* The same with `same` as the test for equality, which gets the numbers of two contents. */
void sp_predict_learn_by(struct sp_predictor *p, struct sp_view url, uint64_t content,
                         bool (*same)(void *arg, uint64_t a, uint64_t b), void *arg);
/* The page is gone or is now a redirect: it is no duplicate of any page. */
void sp_predict_forget(struct sp_predictor *p, struct sp_view url);

/* Gives a rule the evidence that was found elsewhere, in place of its own; what is learned later is
 * added to it. Evidence of 0: the rule is removed. Texts are copied; `key` is not read, and
 * examples may be NULL. */
void sp_predict_set_rule(struct sp_predictor *p, const struct sp_rule *rule);
/* Replaces all rules with at least that confidence by these, as sp_predict_set_rule. Own rules with
 * less stay: they are evidence against more general ones. */
void sp_predict_take_rules(struct sp_predictor *p, const struct sp_rule *rules, size_t count,
                           double confidence);

/* Returns false if no rule with at least that confidence predicts a duplicate. */
bool sp_predict_ask(const struct sp_predictor *p, struct sp_view url, double confidence,
                    struct sp_prediction *ret_prediction);

/* Whether to fetch a predicted duplicate nevertheless, for this share of URLs (by hash). Only such
 * fetches can show that a rule no longer holds. */
bool sp_predict_explores(struct sp_view url, double share);

/* All rules with at least that confidence, best first; the caller frees the array (sp_free), not
 * the rules. */
const struct sp_rule **sp_predict_rules(const struct sp_predictor *p, double confidence,
                                        size_t *ret_count);

/* SP_FEATURE_KINDS: there is no such kind. */
enum sp_feature_kind sp_rule_kind(const char *name);
/* Appends the rule as one line of JSON. */
void sp_rule_put(struct sp_buf *out, const struct sp_rule *rule);

#endif

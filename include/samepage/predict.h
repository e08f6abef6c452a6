/* Predicts whether a URL that was not fetched yet leads to a page that the crawler already has, by
 * rules about URLs that are learned from earlier fetches.
 *
 *     struct samepage_predictor *rules = samepage_predictor_new();
 *     ... for each page that was fetched:
 *     samepage_predict_learn(rules, url, content, content_length);
 *     ... before each fetch:
 *     struct samepage_prediction said;
 *     if (samepage_predict(rules, url, 0.95, &said) && !said.explore)
 *         ... the URL is a copy of said.url and need not be fetched ...
 *
 * docs/PREDICT.md describes the rules, and how evidence counts for and against them.
 *
 * samepage_predict_learn compares contents byte by byte. So pass the text without parts that change
 * at each fetch (a date, a token), or pass the URL of the group's winner, as `samepage run`
 * publishes it, instead of the content.
 *
 * Memory: about 1 KiB for each URL. Results are a pure function of the calls in their order. Thread
 * rule: one thread at a time. Running out of memory ends the process.
 *
 * Source: Bar-Yossef, Keidar, Schonfeld, "Do not crawl in the DUST" (WWW 2007), whose rules are
 * substitutions of strings; rules with evidence from each fetch are our own. */
#ifndef SP_SAMEPAGE_PREDICT_H
#define SP_SAMEPAGE_PREDICT_H

#include <stddef.h>

#include "samepage/api.h"

#ifdef __cplusplus
extern "C" {
#endif

struct samepage_predictor;

struct samepage_prediction {
    const char *url;   /* the known page that the URL is predicted to be a copy of */
    double confidence; /* above 0, below 1: the lower end of Wilson's 95 % interval, not the share
                          of correct predictions */
    const char *rule;  /* a line of JSON, for people and logs */
    int explore;       /* 1: fetch the URL nevertheless, to get new evidence about the rule */
};

/* A record of the topic `rules` (docs/PREDICT.md): the fields of its key, and from its value the
 * evidence that still counts. */
struct samepage_url_rule {
    const char *host;      /* "*": any host */
    const char *kind;      /* "parameter", "query", "segment", ...: the table in docs/PREDICT.md */
    const char *name;      /* of the parameter, the position of the segment, ... */
    const char *from;      /* of a rule about two values: one of them; otherwise NULL */
    const char *to;        /* the other one; otherwise NULL */
    double recent_support; /* pairs of pages for the rule, weighted by age */
    double recent_against; /* pairs against it; both 0: it has expired (a record without value) */
};

/* Makes a predictor without rules, which the caller frees. Never returns NULL. */
SAMEPAGE_API struct samepage_predictor *samepage_predictor_new(void);
/* Frees a predictor. NULL is allowed. */
SAMEPAGE_API void samepage_predictor_free(struct samepage_predictor *predictor);

/* Sets the share of the predictions that have `explore` set, chosen by a hash of the URL. Without
 * such fetches, a rule that is followed never gets new evidence. share: 0 to 1; a new predictor has
 * 0.01. Returns 0, or -1 if the share is out of range; nothing is changed then. */
SAMEPAGE_API int samepage_predictor_explore(struct samepage_predictor *predictor, double share);

/* Learns that the URL was fetched and had this content of `length` bytes, which is not kept.
 * Returns 0, or -1 if the URL is NULL or has no canonical form (url.h); nothing is learned then. */
SAMEPAGE_API int samepage_predict_learn(struct samepage_predictor *predictor, const char *url,
                                        const void *content, size_t length);
/* Forgets the page of a URL that is gone or redirects: no other URL is predicted to be its copy. A
 * URL that was never learned changes nothing. */
SAMEPAGE_API void samepage_predict_forget(struct samepage_predictor *predictor, const char *url);

/* Takes a rule that was learned elsewhere. Its evidence replaces that of this predictor for the
 * same rule; evidence of later fetches is added, so a rule that is wrong for this crawler expires
 * here. URLs are predicted only as copies of pages that this predictor has learned. Texts are
 * copied. Returns 0, or -1 if the rule is not valid (an unknown kind, a missing text, evidence
 * below 0 or not finite); nothing is changed then. */
SAMEPAGE_API int samepage_predict_rule(struct samepage_predictor *predictor,
                                       const struct samepage_url_rule *rule);

/* Returns 1 and sets *prediction if the URL is predicted to be a known page with at least this
 * confidence (0 to 1); otherwise returns 0 and leaves *prediction unchanged. The texts are valid
 * until the next call with this predictor. */
SAMEPAGE_API int samepage_predict(struct samepage_predictor *predictor, const char *url,
                                  double confidence, struct samepage_prediction *prediction);

/* Returns 1 if a prediction about the URL would have `explore` set with this share, else 0. Works
 * for any URL and needs no predictor. */
SAMEPAGE_API int samepage_predict_explores(const char *url, double share);

#ifdef __cplusplus
}
#endif

#endif

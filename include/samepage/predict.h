/* Is this URL, not fetched yet, a page that the crawler has? Rules about URLs, learned from the
 * fetches before, say so:
 *
 *     struct samepage_predictor *rules = samepage_predictor_new();
 *     ... for each page that was fetched:
 *     samepage_predict_learn(rules, url, content, content_length);
 *     ... before each fetch:
 *     struct samepage_prediction said;
 *     if (samepage_predict(rules, url, 0.95, &said) && !said.explore)
 *         ... said.url is the page that it is a copy of: it need not be fetched ...
 *
 * docs/PREDICT.md says what rules there are, and how evidence counts for and against them. This
 * call compares contents byte by byte: pass the text without what changes at each fetch (a date, a
 * token), or the URL of the group's winner, as `samepage run` publishes it.
 *
 * Memory: about 1 KiB a URL. All is a pure function of the calls in order. Thread rule: one thread
 * at a time. Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_PREDICT_H
#define SP_SAMEPAGE_PREDICT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SAMEPAGE_API
#if defined(__GNUC__)
#define SAMEPAGE_API __attribute__((visibility("default")))
#else
#define SAMEPAGE_API
#endif
#endif

struct samepage_predictor;

struct samepage_prediction {
    const char *url;   /* of the page that it is said to be */
    double confidence; /* above 0, below 1: the lower end of an interval, not the share of right
                          predictions */
    const char *rule;  /* as a line of JSON, for people and logs */
    int explore;       /* 1: fetch it nevertheless: it is in the share that `explore` sets */
};

/* A record of the topic `rules` (docs/PREDICT.md): the members of its key, and of its value the
 * evidence that still counts. */
struct samepage_url_rule {
    const char *host; /* "*": any */
    const char *kind;
    const char *name;
    const char *from; /* a rule about two values; else both NULL */
    const char *to;
    double recent_support; /* both 0: the rule has expired (a record without a value) */
    double recent_against;
};

/* Never NULL. */
SAMEPAGE_API struct samepage_predictor *samepage_predictor_new(void);
/* NULL is allowed. */
SAMEPAGE_API void samepage_predictor_free(struct samepage_predictor *predictor);

/* Sets the share of the predictions, chosen by a hash of the URL, that have `explore` set: without
 * such fetches a rule that is followed never gets new evidence. From 0 to 1; a new predictor has
 * 0.01. Returns 0, or -1 for any other number, which changes nothing. */
SAMEPAGE_API int samepage_predictor_explore(struct samepage_predictor *predictor, double share);

/* The URL was fetched and had this content. Returns 0, or -1 if the URL is not http or https:
 * nothing is learned. */
SAMEPAGE_API int samepage_predict_learn(struct samepage_predictor *predictor, const char *url,
                                        const void *content, size_t length);
/* The URL is gone, or a redirect: it will not be predicted as the original of another URL any
 * more. */
SAMEPAGE_API void samepage_predict_forget(struct samepage_predictor *predictor, const char *url);

/* Takes a rule that was learned elsewhere: its evidence takes the place of what this predictor had,
 * and what it learns later is added, so a rule that is wrong here expires here. Pages are predicted
 * only as copies of pages that this predictor has learned. Returns 0, or -1 if that is no rule: no
 * such kind, a text that is missing, evidence below 0 or not finite; nothing is changed. */
SAMEPAGE_API int samepage_predict_rule(struct samepage_predictor *predictor,
                                       const struct samepage_url_rule *rule);

/* Returns 1 if the URL is a known page with at least that confidence, else 0, and *prediction is
 * untouched. Its texts are valid until the next call with this predictor. */
SAMEPAGE_API int samepage_predict(struct samepage_predictor *predictor, const char *url,
                                  double confidence, struct samepage_prediction *prediction);

/* Returns 1 if the URL is in that share, as `explore` of a prediction says; for any URL. */
SAMEPAGE_API int samepage_predict_explores(const char *url, double share);

#ifdef __cplusplus
}
#endif

#endif

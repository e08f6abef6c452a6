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
 * docs/PREDICT.md says what rules there are, and how evidence counts for and against them. What is
 * the same for this call is content that is the same to the byte: give the text without what
 * changes at each fetch (a date, a token), or the URL of the group's winner, as `samepage run`
 * tells it.
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
                          answers */
    const char *rule;  /* as a line of JSON, for people and logs */
    int explore;       /* 1: fetch it all the same: it is one of the predictor's share */
};

/* Never NULL. */
SAMEPAGE_API struct samepage_predictor *samepage_predictor_new(void);
/* NULL is allowed. */
SAMEPAGE_API void samepage_predictor_free(struct samepage_predictor *predictor);

/* This share of the predictions, by a hash of the URL, says `explore`: without such fetches a rule
 * that is followed never meets evidence again. From 0 to 1; a new predictor's is 0.01. 0; -1 where
 * it is another number: nothing changes. */
SAMEPAGE_API int samepage_predictor_explore(struct samepage_predictor *predictor, double share);

/* The URL was fetched, and had this content. 0; -1 where the URL is none of http or https: nothing
 * is learned. */
SAMEPAGE_API int samepage_predict_learn(struct samepage_predictor *predictor, const char *url,
                                        const void *content, size_t length);
/* The URL is gone, or a redirect: nothing is a copy of it any more. */
SAMEPAGE_API void samepage_predict_forget(struct samepage_predictor *predictor, const char *url);

/* 1 where the URL is a known page with at least that confidence, else 0, and *prediction is
 * untouched. Its texts are valid until the next call with this predictor. */
SAMEPAGE_API int samepage_predict(struct samepage_predictor *predictor, const char *url,
                                  double confidence, struct samepage_prediction *prediction);

/* 1 where the URL is one of that share: what `explore` of a prediction says, of any URL. */
SAMEPAGE_API int samepage_predict_explores(const char *url, double share);

#ifdef __cplusplus
}
#endif

#endif

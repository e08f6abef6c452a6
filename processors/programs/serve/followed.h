/* Rules about URLs that others learned and publish: a thread reads them every few seconds. Private
 * to this folder. Thread rule: start and stop in one thread, the others in any. */
#ifndef SP_SERVE_FOLLOWED_H
#define SP_SERVE_FOLLOWED_H

#include "predict/predict.h"
#include "serve/serve.h"

struct sp_followed;

struct sp_followed_stats {
    size_t rules;
    size_t unreadable; /* lines that are no rules */
    uint64_t failures; /* readings that failed */
    int64_t read_ms;   /* when they were last read, by the monotonic clock */
};

/* Reads the rules once, then starts the thread. Errors of `read`, or SP_IO: no thread. */
enum sp_err sp_followed_start(const struct sp_serve_rules_source *source,
                              struct sp_followed **ret_followed, struct sp_fault *fault);
/* NULL is allowed. */
void sp_followed_stop(struct sp_followed *followed);

/* Grows when the rules have changed. 0 for NULL. */
uint64_t sp_followed_version(const struct sp_followed *followed);
/* Replaces the predictor's rules by these (sp_predict_take_rules). Nothing for NULL. */
void sp_followed_apply(struct sp_followed *followed, struct sp_predictor *predictor);
void sp_followed_stats(struct sp_followed *followed, struct sp_followed_stats *ret_stats);

#endif

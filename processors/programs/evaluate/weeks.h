/* Two crawls that overlap by half: Figure 8 as the paper sets it up. Private to this folder and its
 * tests. */
#ifndef SP_EVALUATE_WEEKS_H
#define SP_EVALUATE_WEEKS_H

#include "evaluate/crawls.h"

enum { SP_WEEK_STEPS = 7 };

/* Of 30: the paper looks after 2.5, 5, 10, 15, 20, 25 and 30 million URLs. */
extern const double sp_week_parts[SP_WEEK_STEPS];

/* A crawl of two weeks, each fetching a URL once; half of the second week's URLs are in the first.
 *
 * The last fetch of each URL in the first and in the second half of the file's fetches. Where too
 * many URLs are in both, some lose their first fetch; where too few are, some that are new are left
 * out: those whose ids have the smallest hashes. */
struct sp_weeks {
    struct sp_crawl *crawl; /* sp_crawl_free */
    size_t first;           /* fetches of the first week; the others follow */
    size_t both;            /* URLs fetched in both */
};

struct sp_weeks sp_weeks_make(const struct sp_trace *t, const struct sp_trace_file *file);

/* Of the second week's fetches so far. */
struct sp_week_counts {
    uint64_t fetches;
    uint64_t updated;        /* other content than in the first week */
    uint64_t representative; /* of these: similar to their group's winner of the first week */
    uint64_t self;           /* similar to their own last version */
    uint64_t settled;        /* by tier 1 in mode=fast */
};

/* Replays the two weeks in mode=fast; the options are of sp_evaluate_replay. */
enum sp_err sp_weeks_count(const struct sp_weeks *w, const struct sp_replay_options *options,
                           struct sp_week_counts ret_counts[SP_WEEK_STEPS]);

#endif

/* The similar pairs of distinct contents, or of a sample of these. n near copies have n^2 / 2
 * pairs, so an experiment that looked at all pairs of a large crawl would hardly end. Private to
 * this folder and its tests. */
#ifndef SP_EVALUATE_JOINED_H
#define SP_EVALUATE_JOINED_H

#include "evaluate/distinct.h"
#include "report/report.h"
#include "similarity/similarity.h"

/* Enough that shares are not off by chance (SP_ENOUGH_PAGES); at most 50 million pairs. */
enum { SP_JOINED_MOST = 10000 };

struct sp_joined {
    const struct sp_distinct *contents;
    uint32_t *numbers; /* of those in the sample, ascending */
    size_t count;
};

/* Chooses all contents, or the `most` with the least hashes: each is as likely as any other. */
void sp_joined_choose(const struct sp_distinct *contents, size_t most,
                      struct sp_joined *ret_joined);
void sp_joined_done(struct sp_joined *joined);
/* Tells the reader what was left out, if anything was. */
void sp_joined_say(const struct sp_joined *joined, struct sp_report *report);
/* Calls `each` once for every similar pair i < j of contents in the sample; as sp_join. */
enum sp_err sp_joined_each(const struct sp_joined *joined, const struct sp_similarity_options *o,
                           void (*each)(void *arg, size_t i, size_t j, double similarity),
                           void *arg);

#endif

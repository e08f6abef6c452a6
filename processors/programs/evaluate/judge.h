/* How good sets of pages are, as Huang, Wang and Li judge it (CIKM 2008), by labels instead of
 * people: a set's representative is the page with most truly similar pages in it. Sets are an
 * array: by page, any page that stands for its set. Private to this folder. Thread rule: any
 * thread. */
#ifndef SP_EVALUATE_JUDGE_H
#define SP_EVALUATE_JUDGE_H

#include "evaluate/labelled.h"

struct sp_judge {
    const struct sp_labelled *labels;
    const uint32_t *truth; /* sp_labelled_truth */
};

/* Pages in the order of their sets; of the caller's. */
uint32_t *sp_judge_order(const struct sp_judge *j, const uint32_t *set);
/* Sets of two pages and more that are sampled: all of them, or 1,000 drawn by a hash. */
uint32_t sp_judge_sets(const struct sp_judge *j, const uint32_t *set);
/* The mean over sampled sets of the share that is truly similar to the representative, itself
 * included; of one site: only of pages of its host. Where only some pairs are labelled, pages of
 * other pairs are left out. Below 0 if there is no set. */
double sp_judge_precision(const struct sp_judge *j, const uint32_t *set, bool one_site);
/* Of the representatives of the sampled sets of sets[sampled_from]: how many of their truly similar
 * pages are in their set by each of the ways, over how many by sets[0]; the mean, below 0 where
 * there is none. */
void sp_judge_recalls(const struct sp_judge *j, const uint32_t *const *sets, size_t count,
                      size_t sampled_from, bool one_site, double *ret_recalls);

#endif

/* How well pairs that a method found agree with labels: precision, recall, F1 and the adjusted Rand
 * index (Hubert, Arabie, "Comparing partitions", Journal of Classification 1985) of the components
 * they make. Private to this folder and its tests. */
#ifndef SP_EVALUATE_SCORES_H
#define SP_EVALUATE_SCORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_found {
    uint32_t a; /* numbers of pages, a < b */
    uint32_t b;
    bool same;      /* its label */
    double measure; /* how similar, by the method */
};

struct sp_scores {
    uint64_t right;   /* pairs found that are labelled the same */
    uint64_t wrong;   /* found, and are not */
    uint64_t missed;  /* labelled the same, and not found */
    double precision; /* 1 if nothing is found */
    double recall;
    double f1;
    double rand; /* adjusted: 1 equal partitions, 0 as good as chance */
};

/* What is labelled. */
struct sp_truth {
    uint64_t same_count;        /* pairs labelled the same */
    const uint32_t *components; /* of the labels, by page */
    size_t page_count;
};

/* Of the pairs of at least `threshold`. */
void sp_scores(const struct sp_found *found, size_t count, double threshold,
               const struct sp_truth *truth, struct sp_scores *ret_scores);

/* The threshold of the best F1, the highest of equal ones; sorts `found` by falling measure. Where
 * nothing right is found, the highest measure, or 1. */
double sp_scores_best(struct sp_found *found, size_t count, uint64_t same_count);

/* Components of the pairs, into ret_set (page_count): the smallest page of each. */
void sp_scores_components(const struct sp_found *pairs, size_t count, double threshold,
                          size_t page_count, uint32_t *ret_set);

#endif

/* Divides pages into sets of similar ones by the method of Huang, Wang and Li ("Achieving both High
 * Precision and High Recall in Near-duplicate Detection", CIKM 2008). It is offline and needs all
 * pages. Our groups, in contrast, are the connected components of the pairs for which F holds.
 *
 *   1  perhaps-similar sets: the hashes of a page's sentences fall into m = 7 buckets, the n = 3
 *      smallest of a bucket make one fingerprint; pages with a common fingerprint are put together
 *   2  in a perhaps-similar set each page is compared with later pages that are in no similar set
 *      yet, by the LCS of their sentences
 *   3  of the LCS counts what is coherent and in the central part of the pages
 *
 * The paper does not define its "partial transitivity", the order of pages, what is "unlikely in
 * the LCS", or when an LCS is coherent. Here:
 *
 *   transitivity   fingerprints join sets, those of fewest pages first, as long as no set comes to
 *                  more than `most` pages: a page that does not fit stays apart
 *   order          by number of sentences, so that a page meets those of its length first
 *   filtered       sentences that no other page of the perhaps-similar set has; the filter does not
 *                  change the LCS
 *   coherent       runs of at least three common sentences, with at most two others between them in
 *                  either page. They must make up the threshold's share of the middle half of both
 *                  pages, as in the method `lcs`, which does not ask for runs
 *
 * Used by `samepage pairs` with `lcs.sets` = paper, and by the experiment `huang` of `samepage
 * evaluate`. A perhaps-similar set of p pages, p <= `most`, costs at most p^2 / 2 comparisons, so n
 * pages cost at most n * most / 2. Thread rule: any thread. */
#ifndef SP_SIMILARITY_LCS_SETS_H
#define SP_SIMILARITY_LCS_SETS_H

#include <stdbool.h>

#include "page/signature.h"

struct sp_lcs_sets {
    uint32_t buckets; /* m; default 7 */
    uint32_t minima;  /* n; default 3, at most 8 */
    uint32_t most;    /* pages of a perhaps-similar set; default 1,000 */
    double threshold; /* default 0.5 */
    bool filtered;    /* default on */
    bool trusted;     /* stage 3; default on */
};

struct sp_lcs_counts {
    uint64_t compared;       /* pairs */
    uint64_t sentences;      /* of the pages that were compared with others */
    uint64_t sentences_left; /* after the filter */
};

/* Why two pages are not in one set. */
enum sp_lcs_parted {
    SP_LCS_TOGETHER,
    SP_LCS_NO_FINGERPRINT, /* not in one perhaps-similar set */
    SP_LCS_RATIO,          /* LCS too short */
    SP_LCS_INCOHERENT,     /* too little of it is trusted */
    SP_LCS_ASSIGNED,       /* similar, but one was assigned to the set of a third page first */
    SP_LCS_PARTINGS
};

/* The options of the paper, and the defaults above. */
void sp_lcs_sets_default(struct sp_lcs_sets *ret_options);

/* Stage 1; needs signatures with sentences. ret_set[i] becomes the smallest page number in i's
 * set. */
void sp_lcs_perhaps(const struct sp_lcs_sets *o, struct sp_signature *const *signatures,
                    uint32_t count, uint32_t *ret_set);
/* Stages 2 and 3. ret_set[i] becomes the page around which i's set was made. */
void sp_lcs_refine(const struct sp_lcs_sets *o, struct sp_signature *const *signatures,
                   uint32_t count, const uint32_t *perhaps, uint32_t *ret_set,
                   struct sp_lcs_counts *ret_counts);
/* Says why a and b are apart, given the results of stage 1 (`perhaps`) and of the others
 * (`set`). */
enum sp_lcs_parted sp_lcs_parted(const struct sp_lcs_sets *o,
                                 struct sp_signature *const *signatures, const uint32_t *perhaps,
                                 const uint32_t *set, uint32_t a, uint32_t b);

#endif

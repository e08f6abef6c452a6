/* Shared by jaccard.c and methods.c. Private to this folder and its tests. */
#ifndef SP_SIMILARITY_INTERNAL_H
#define SP_SIMILARITY_INTERNAL_H

#include "similarity/similarity.h"

/* Tolerance of comparisons with a threshold, so that a pair with exactly four fifths reaches 0.8,
 * which binary cannot represent. */
#define SP_SIMILARITY_SLACK 1e-9

struct sp_range {
    const uint32_t *shingles;
    size_t count;
};

/* The hashes of each set within the range that both signatures know: all of them if neither is
 * capped. */
void sp_comparable(const struct sp_signature *a, const struct sp_signature *b,
                   struct sp_range *ret_a, struct sp_range *ret_b);

/* Whether each text has one shingle and they differ, although their hashes of 32 bits may be equal:
 * with millions of short texts, some pairs are. By the method sentences, false. */
bool sp_single_shingles_differ(const struct sp_similarity_options *o, const struct sp_signature *a,
                               const struct sp_signature *b);

/* F of the methods that compare the signatures' sets by Jaccard similarity. */
bool sp_jaccard_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                        const struct sp_signature *b, double *ret_similarity);

#endif

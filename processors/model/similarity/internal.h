/* What jaccard.c and methods.c share. Private to this folder and its tests. */
#ifndef SP_SIMILARITY_INTERNAL_H
#define SP_SIMILARITY_INTERNAL_H

#include "similarity/similarity.h"

/* Thresholds are reached within this: 0.8 in binary does not decide about exactly four fifths. */
#define SP_SIMILARITY_SLACK 1e-9

struct sp_range {
    const uint32_t *shingles;
    size_t count;
};

/* The hashes of either set that lie in the range both signatures know: all of them, where neither
 * is capped. */
void sp_comparable(const struct sp_signature *a, const struct sp_signature *b,
                   struct sp_range *ret_a, struct sp_range *ret_b);

/* F of the methods that are a Jaccard similarity of the signatures' sets. */
bool sp_jaccard_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                        const struct sp_signature *b, double *ret_similarity);

#endif

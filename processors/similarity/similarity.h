/* F, the question everything is built on: are two pages near duplicates?
 *
 *   J(A, B) = |A n B| / |A u B|   over labelled shingles (signature.h)
 *   F(A, B) = J >= tau, and the length vectors' bound reaches tau (section 4 of the
 *             paper made lossless), and in the band above tau the LCS ratio of the
 *             sentence sequences reaches lcs_min (Huang, Wang, Li; Myers' O(ND))
 *
 * All are pure and symmetric. Thread rule: any thread. */
#ifndef SP_SIMILARITY_SIMILARITY_H
#define SP_SIMILARITY_SIMILARITY_H

#include <stdbool.h>

#include "signature/signature.h"

struct sp_similarity_options {
    double threshold; /* tau, 0 < tau <= 1; default 0.8 */
    double band;      /* tau <= J < tau + band asks for the second opinion; 0 (default): never */
    double lcs_min;   /* least LCS ratio inside the band; default 0.5 */
};

void sp_similarity_options_default(struct sp_similarity_options *ret_options);

/* J; exact where neither signature is capped, else the bottom-k estimate over the hash
 * range both know. Two empty pages: 0 (a page without words resembles nothing). */
double sp_jaccard(const struct sp_signature *a, const struct sp_signature *b);

/* Whether J >= threshold, and then *ret_j (else untouched); ends early where it cannot be
 * reached. Agrees with sp_jaccard to the last bit. */
bool sp_jaccard_at_least(const struct sp_signature *a, const struct sp_signature *b,
                         double threshold, double *ret_j);

/* Whether J >= threshold and no more: ends as soon as that is certain, in either direction. Agrees
 * with sp_jaccard_at_least. */
bool sp_jaccard_reaches(const struct sp_signature *a, const struct sp_signature *b,
                        double threshold);

/* The weighted Jaccard of two length vectors: sum of min / sum of max; no J of pages
 * with these lengths exceeds it. 0 for two empty ones. */
double sp_length_bound(const uint32_t a[SP_DIMS], const uint32_t b[SP_DIMS]);

/* |LCS| / (|A| + |B| - |LCS|) over the sentence hashes; 0 where neither has any. */
double sp_lcs_ratio(const struct sp_signature *a, const struct sp_signature *b);

/* F; *ret_similarity is J, set only where F holds (may be NULL). Signatures of unequal
 * params are never similar. */
bool sp_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                const struct sp_signature *b, double *ret_similarity);

/* Which kernel runs: "avx512", "avx2" or "portable". sp_similarity_use selects one by
 * that name (tests, benchmarks; false if the machine lacks it). */
const char *sp_similarity_kernel(void);
bool sp_similarity_use(const char *kernel);

#endif

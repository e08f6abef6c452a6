/* F, the question everything is built on: are two pages near duplicates? What that means is a
 * choice of method (similarity.method); methods.c is the table of them. By default
 *
 *   J(A, B) = |A n B| / |A u B|   over shingles (signature.h)
 *   F(A, B) = J >= tau, and the length vectors' bound reaches tau (section 4 of the
 *             paper made lossless)
 *
 * All are pure and symmetric, and where equal content has anything to compare, F holds for it.
 * Thread rule: any thread. */
#ifndef SP_SIMILARITY_SIMILARITY_H
#define SP_SIMILARITY_SIMILARITY_H

#include <stdbool.h>

#include "base/fault.h"
#include "page/method.h"
#include "page/signature.h"

struct sp_similarity_options {
    enum sp_method method; /* default SP_METHOD_SHINGLES */
    double threshold;      /* tau, 0 < tau <= 1; default 0.8 */
    double band;           /* combined: tau <= J < tau + band asks for the second opinion */
    double lcs_min;        /* combined: least LCS ratio inside the band */
};

/* Of the default method. */
void sp_similarity_options_default(struct sp_similarity_options *ret_options);

struct sp_method_info {
    const char *name;   /* as the setting */
    const char *title;  /* for people: what is measured */
    const char *source; /* whom it is from */
    double threshold;   /* its default: from its source, or the best of README.md's table */
    double least;       /* the lowest tau that its candidate rule and index are made for */
    bool jaccard;       /* F asks for J >= tau of the signatures' sets: then the length vectors'
                         * bound holds, and with it routing to cells, and the prefix filter */
    bool sentences;     /* signatures need max_sentences */
    bool by_candidates; /* F includes the candidate rule (candidates.h), which may miss pairs */
    double (*measure)(const struct sp_similarity_options *o, const struct sp_signature *a,
                      const struct sp_signature *b);
    /* Whether the measure reaches tau, ending early where it can; *ret_similarity as sp_similar. */
    bool (*reaches)(const struct sp_similarity_options *o, const struct sp_signature *a,
                    const struct sp_signature *b, double *ret_similarity);
};

/* Never NULL for a method that there is. */
const struct sp_method_info *sp_method_info(enum sp_method method);

/* Whether F of these options can be asked of that many cells (partition/): SP_INVALID, and
 * the fault says which setting is wrong, and what to do. */
enum sp_err sp_similarity_check(const struct sp_similarity_options *o, uint32_t cells,
                                struct sp_fault *fault);

/* How similar, by the method: F holds where it reaches tau (and the pair meets the candidate rule,
 * where that is part of F). */
double sp_similarity(const struct sp_similarity_options *o, const struct sp_signature *a,
                     const struct sp_signature *b);

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

/* F; *ret_similarity is J or the method's measure, set only where F holds (may be NULL, which is
 * faster where the method can say yes early). Signatures of unequal params are never similar. */
bool sp_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                const struct sp_signature *b, double *ret_similarity);

/* Which kernel runs: "avx512", "avx2" or "portable". sp_similarity_use selects one by
 * that name (tests, benchmarks; false if the machine lacks it). */
const char *sp_similarity_kernel(void);
bool sp_similarity_use(const char *kernel);

/* The largest hash up to which a signature knows its page's shingles: UINT32_MAX where it is not
 * capped. */
uint32_t sp_known_up_to(const struct sp_signature *s);
/* How many of the ascending hashes are at most `limit`. */
size_t sp_count_up_to(const uint32_t *sorted, size_t count, uint32_t limit);

#endif

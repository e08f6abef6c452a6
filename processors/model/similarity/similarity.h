/* F, the predicate on which everything is built: are two pages near duplicates? The method
 * (similarity.method) defines it; methods.c has the table of methods. By default
 *
 *   J(A, B) = |A n B| / |A u B|   over shingles (signature.h)
 *   F(A, B) = J >= tau, and the length vectors' bound reaches tau (section 4 of the
 *             paper made lossless)
 *
 * Two texts of one shingle each are similar if their contents are equal, because hashes of 32 bits
 * do not tell millions of short texts apart.
 *
 * All methods are pure and symmetric. F holds for two pages of equal content if the content has
 * anything to compare. Thread rule: any thread. */
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

/* What a method compares, that is, what shingle_total of a signature counts. */
enum sp_features {
    SP_FEATURES_SHINGLES,          /* where J is close, `combined` also compares sentences */
    SP_FEATURES_WORDS,             /* distinct words */
    SP_FEATURES_SENTENCES,         /* the set of sentences */
    SP_FEATURES_SENTENCE_SEQUENCE, /* sentences in document order */
};

struct sp_method_info {
    const char *name;   /* value of the setting */
    const char *title;  /* the name of the measure, for people */
    const char *source; /* the papers */
    double threshold;   /* its default: from its source, or the best of README.md's table */
    double least;       /* the lowest tau that its candidate rule and index support */
    enum sp_features features;
    bool jaccard;       /* F implies J >= tau of the signatures' sets, so the bound of the length
                         * vectors, routing to cells and the prefix filter are valid */
    bool sentences;     /* signatures need max_sentences */
    bool by_candidates; /* F includes the candidate rule (candidates.h), which may miss pairs */
    double (*measure)(const struct sp_similarity_options *o, const struct sp_signature *a,
                      const struct sp_signature *b);
    /* Whether the measure reaches tau; may end early. *ret_similarity as in sp_similar. */
    bool (*reaches)(const struct sp_similarity_options *o, const struct sp_signature *a,
                    const struct sp_signature *b, double *ret_similarity);
};

/* Never NULL. */
const struct sp_method_info *sp_method_info(enum sp_method method);

/* Checks that these options work with that number of cells (partition/). SP_INVALID: the fault says
 * which setting is wrong, and what to do. */
enum sp_err sp_similarity_check(const struct sp_similarity_options *o, uint32_t cells,
                                struct sp_fault *fault);

/* The method's measure. F holds if it reaches tau and, if the candidate rule is part of F, the pair
 * meets that rule. */
double sp_similarity(const struct sp_similarity_options *o, const struct sp_signature *a,
                     const struct sp_signature *b);

/* J of the hashes; exact if neither signature is capped, else the bottom-k estimate over the hash
 * range that both know. Of two empty pages 0: a page without words resembles nothing. */
double sp_jaccard(const struct sp_signature *a, const struct sp_signature *b);

/* Whether J >= threshold; if so, sets *ret_j to J, which equals that of sp_jaccard to the last bit.
 * Ends early if the threshold is out of reach. */
bool sp_jaccard_at_least(const struct sp_signature *a, const struct sp_signature *b,
                         double threshold, double *ret_j);

/* Whether J >= threshold, without J: ends as soon as this is certain, either way. Agrees with
 * sp_jaccard_at_least. */
bool sp_jaccard_reaches(const struct sp_signature *a, const struct sp_signature *b,
                        double threshold);

/* Of the kept shingles of two signatures with J >= tau, at most sp_jaccard_apart of the one plus
 * that of the other are in only one of them. All capped signatures must keep equally many.
 *
 * Proof: let s = (1 - tau) / (1 + tau), and let a and b of the shingles be in the range that both
 * know. Of these, J >= tau lets at most s (a + b) be in only one. That is all if nothing is capped:
 * s n for each of n. Else let the one that is capped (of two, that with the smaller range) keep b,
 * all in the range, and the other n, of which n - a are outside. As a >= tau b, at most
 * s (a + b) + n - a <= n - b ((1 - s) tau - s) differ, and n <= b. So the sum is large enough if a
 * capped signature allows s + (1 - s) (1 - tau) of what it keeps. */
double sp_jaccard_apart(double tau, const struct sp_signature *s);

/* The weighted Jaccard of two length vectors, sum of min / sum of max: an upper bound of J of pages
 * with these lengths. 0 for two empty ones. */
double sp_length_bound(const uint32_t a[SP_DIMS], const uint32_t b[SP_DIMS]);

/* |LCS| / (|A| + |B| - |LCS|) over the sentence hashes; 0 if neither has any. */
double sp_lcs_ratio(const struct sp_signature *a, const struct sp_signature *b);

/* F. If it holds, sets *ret_similarity to J or the method's measure. NULL is allowed, and faster if
 * the method can decide early. Signatures with different params are never similar. */
bool sp_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                const struct sp_signature *b, double *ret_similarity);

/* The same for SP_METHOD_SHINGLES and two signatures that are not capped, from the number of
 * shingles that they share (intersect.h), or any smaller number if that is too small to be similar.
 */
bool sp_similar_sharing(const struct sp_similarity_options *o, const struct sp_signature *a,
                        const struct sp_signature *b, size_t shared, double *ret_similarity);

/* The kernel in use: "avx512", "avx2" or "portable". sp_similarity_use selects one by name, for
 * tests and benchmarks; false if the machine lacks it. */
const char *sp_similarity_kernel(void);
bool sp_similarity_use(const char *kernel);

/* The hash up to which a signature knows all shingles of its page; UINT32_MAX if it is not
 * capped. */
uint32_t sp_known_up_to(const struct sp_signature *s);
/* The number of ascending hashes that are at most `limit`. */
size_t sp_count_up_to(const uint32_t *sorted, size_t count, uint32_t limit);

#endif

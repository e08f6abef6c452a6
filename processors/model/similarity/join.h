/* All near-duplicate pairs of a collection, from scratch: every pair (a, b) with
 * F(a, b). Exact: a prefix filter in rarest-first order over the true document
 * frequencies (Chaudhuri 2006; Xiao 2008, PPJoin), no sampling; with methods that are no Jaccard
 * similarity, all pairs that share a key of the candidate rule. It is what the
 * incremental system is held against (run --verify), the command `pairs`, and the baseline of
 * `evaluate`. It shares nothing with Tier 2 but F and those keys. */
#ifndef SP_SIMILARITY_JOIN_H
#define SP_SIMILARITY_JOIN_H

#include "similarity/similarity.h"

/* Calls `each` once for every unordered pair i < j with F(signatures[i],
 * signatures[j]); order of calls is a pure function of the input. Pages with equal content
 * are pairs, too: a class of m equal pages would give m(m-1)/2 calls, so with
 * `collapse_equal` only pairs (first of class, each other of class) are reported within
 * a class, and only first-of-class members take part in pairs between classes (enough
 * for connected components). */
enum sp_err sp_join(const struct sp_similarity_options *o, struct sp_signature *const *signatures,
                    size_t count, bool collapse_equal,
                    void (*each)(void *arg, size_t i, size_t j, double similarity), void *arg);

#endif

/* Finds all near-duplicate pairs of a collection: every pair (a, b) with F(a, b). For Jaccard
 * methods it is exact: a prefix filter over document frequencies, rarest first (Chaudhuri 2006;
 * Xiao 2008, PPJoin). For other methods it compares all pairs that share a key of the candidate
 * rule. The command `pairs` prints it, and experiments of `evaluate` count what it finds. It shares
 * only F and these keys with tier 2. Components need no list of their pairs (connected.h). */
#ifndef SP_SIMILARITY_JOIN_H
#define SP_SIMILARITY_JOIN_H

#include "similarity/similarity.h"

struct sp_join_stats {
    uint64_t compared; /* pairs of contents for which F was computed */
};

/* Calls `each` once for every pair i < j with F(signatures[i], signatures[j]). The order of calls
 * depends only on the input. Pages with equal content are pairs, too, so a class of m equal pages
 * gives m(m-1)/2 calls. SP_TOO_LARGE: there are more pages, or index entries, than 32-bit numbers
 * can count. ret_stats may be NULL. Thread rule: any thread. */
enum sp_err sp_join(const struct sp_similarity_options *o, struct sp_signature *const *signatures,
                    size_t count, void (*each)(void *arg, size_t i, size_t j, double similarity),
                    void *arg, struct sp_join_stats *ret_stats);

#endif

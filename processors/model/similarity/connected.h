/* The connected components of a collection under F, computed from scratch, without listing the
 * pairs: near copies in one group have as many as the square of their number. `run --verify` and
 * `evaluate` hold the incremental system against it, so it shares only F and the keys of the
 * candidate rule with tier 2.
 *
 * It is exact as the join (join.h) is, by the same prefix filter, of which it skips the pairs whose
 * pages are known to be connected: only F connects two pages, and each pair that the filter leaves
 * is compared unless it is connected already. */
#ifndef SP_SIMILARITY_CONNECTED_H
#define SP_SIMILARITY_CONNECTED_H

#include "similarity/similarity.h"

/* ret_first[i]: the first page of the component of page i. A page without words is alone, whatever
 * its equals. *ret_compared (may be NULL): the number of pairs compared. SP_TOO_LARGE: there are
 * more pages, or index entries, than 32-bit numbers can count. Thread rule: any thread. */
enum sp_err sp_connected(const struct sp_similarity_options *o,
                         struct sp_signature *const *signatures, size_t count, uint32_t *ret_first,
                         uint64_t *ret_compared);

#endif

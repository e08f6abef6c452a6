/* The connected components of a collection under F, computed from scratch, without listing the
 * pairs: n near copies have about n^2 / 2 pairs. `run --verify` and `evaluate` compare the
 * incremental system with it, so it shares only F and the keys of the candidate rule with tier 2.
 *
 * It is as exact as the join (join.h) and uses the same prefix filter. Only F connects two pages.
 * Each pair that the filter leaves is compared, unless its pages are already known to be
 * connected. */
#ifndef SP_SIMILARITY_CONNECTED_H
#define SP_SIMILARITY_CONNECTED_H

#include "similarity/similarity.h"

struct sp_connected_stats {
    uint64_t compared; /* pairs of pages */
    uint64_t read;     /* postings */
};

/* ret_first[i]: the first page of the component of page i. A page without words is alone, whatever
 * its equals. Adds to *stats, which may be NULL. SP_TOO_LARGE: there are more pages, or index
 * entries, than 32-bit numbers can count. Thread rule: any thread. */
enum sp_err sp_connected(const struct sp_similarity_options *o,
                         struct sp_signature *const *signatures, size_t count, uint32_t *ret_first,
                         struct sp_connected_stats *stats);

#endif

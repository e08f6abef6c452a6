/* Recomputes all groups and statuses from the stored pages and signatures, by a prefix filter that
 * misses no pair of near duplicates (similarity/connected.h), and each kept page's container by
 * counting. It shares only F, the URL's rank and the evaluation of a relation with the incremental
 * system; of methods that are no Jaccard similarity, also the keys of the candidate rule.
 *
 * What is checked: the pages of each component are in one group, and no others are in it; of each
 * page the status, winner, reason and similarity. Not all pairs of a component are compared: the
 * comparisons that were made connect it, and each pair of two components that the filter leaves is
 * compared. */
#ifndef SP_LOCAL_VERIFY_H
#define SP_LOCAL_VERIFY_H

#include "local/bus.h"
#include "similarity/connected.h"

/* `rules`: F, the winner rule, the threshold of containment. With a winner margin statuses depend
 * on the order of events: then groups alone are compared. Prints each difference (the first
 * hundred) to standard error; *ret_differences counts all of them. Adds what groups and winners
 * cost to *stats, which may be NULL. */
enum sp_err sp_verify(struct sp_db *db, const struct sp_local_bus_options *rules,
                      uint64_t *ret_differences, struct sp_connected_stats *stats);

#endif

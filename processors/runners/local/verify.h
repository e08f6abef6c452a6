/* The check from scratch: all groups and statuses recomputed from the stored pages and
 * signatures by an exact join, sharing F, the URL's rank and the evaluation of a relation with
 * the incremental system and nothing else. */
#ifndef SP_LOCAL_VERIFY_H
#define SP_LOCAL_VERIFY_H

#include "local/bus.h"

/* `rules`: F and the winner rule. With a winner margin statuses depend on the order of events: then
 * groups alone are compared.
 * Prints each difference (the first hundred) to standard error; *ret_differences counts all of
 * them. */
enum sp_err sp_verify(struct sp_db *db, uint32_t tier1, const struct sp_group_stage_options *rules,
                      uint64_t *ret_differences);

#endif

/* The check from scratch: all groups and statuses recomputed from the stored pages and
 * signatures by an exact join, sharing F and the URL's rank with the incremental system and
 * nothing else. */
#ifndef SP_RUN_VERIFY_H
#define SP_RUN_VERIFY_H

#include "bus/local.h"

/* With a winner margin statuses depend on the order of events: then groups alone are compared.
 * Prints each difference (the first hundred) to standard error; *ret_differences counts all of
 * them. */
enum sp_err sp_verify(struct sp_db *db, uint32_t tier1,
                      const struct sp_similarity_options *similarity, bool groups_only,
                      uint64_t *ret_differences);

#endif

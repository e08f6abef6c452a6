/* Recomputes all groups and statuses from the stored pages and signatures by an exact join, and
 * each kept page's container by counting. It shares only F, the URL's rank and the evaluation of a
 * relation with the incremental system. */
#ifndef SP_LOCAL_VERIFY_H
#define SP_LOCAL_VERIFY_H

#include "local/bus.h"

/* `rules`: F, the winner rule, the threshold of containment. With a winner margin statuses depend
 * on the order of events: then groups alone are compared. Prints each difference (the first
 * hundred) to standard error; *ret_differences counts all of them. */
enum sp_err sp_verify(struct sp_db *db, const struct sp_local_bus_options *rules,
                      uint64_t *ret_differences);

#endif

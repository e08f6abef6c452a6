/* Which pages the report shows side by side. Private to this folder and its tests. */
#ifndef SP_EVALUATE_EXAMPLES_H
#define SP_EVALUATE_EXAMPLES_H

#include "evaluate/accuracy.h"

/* Called once for each way, at the end of the trace; picks from those it is interested in:
 *
 *   exact, 24 machines   the loser least similar to its winner; one of middling similarity
 *   fast, 24 machines    two pages of one group that the baseline has apart; two similar pages
 *                        that are in different groups
 *
 * Ways run in threads of their own, and each writes to places of its own. */
void sp_examples_pick(struct sp_accuracy *a, size_t variant, const struct sp_said *said,
                      const struct sp_errors *errors,
                      const struct sp_similarity_options *similarity);

#endif

/* The invariants of a star index, checked from inside. */
#ifndef SP_TESTS_STARS_INVARIANTS_H
#define SP_TESTS_STARS_INVARIANTS_H

#include "stars_helper.h"

/* Returns the first violated invariant, or NULL. */
const char *broken_invariant(struct sample *s);
/* The number of shingles that are counted and not listed, because too many kids of a star have
 * them. */
size_t counted_shingles(const struct sample *x);

#endif

/* What must be true of a star index at any time; a look from inside. */
#ifndef SP_TESTS_STARS_INVARIANTS_H
#define SP_TESTS_STARS_INVARIANTS_H

#include "stars_helper.h"

/* The first thing that is not as it should be, or NULL. */
const char *broken_invariant(struct sample *s);

#endif

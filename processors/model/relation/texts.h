/* The tests of two texts: see relation.h. Private to this folder. */
#ifndef SP_RELATION_TEXTS_H
#define SP_RELATION_TEXTS_H

#include "relation/relation.h"

/* Time: linear in the first text; for matches and contains at worst the product of both lengths, if
 * the second text nearly matches at every place. */
bool sp_texts_test(enum sp_op op, struct sp_view text, struct sp_view what);

#endif

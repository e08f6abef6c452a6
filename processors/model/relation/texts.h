/* The tests of two texts: see relation.h. Private to this folder. */
#ifndef SP_RELATION_TEXTS_H
#define SP_RELATION_TEXTS_H

#include "relation/relation.h"

/* Time: linear in the first text; matches and contains: at most the product of both, where each
 * place begins like the second text. */
bool sp_texts_test(enum sp_op op, struct sp_view text, struct sp_view what);

#endif

/* Formats that are not read. Private to this folder. */
#ifndef SP_INPUT_FOREIGN_H
#define SP_INPUT_FOREIGN_H

#include <stdbool.h>

#include "base/bytes.h"

/* What a file that begins like this is, and what to do with it: the end of a sentence, a literal.
 * NULL: perhaps it can be read. */
const char *sp_input_foreign(struct sp_view head);
/* The same of a file that would be read as lines, although its name or its first bytes say that it
 * is something else. `packed`: it is compressed. */
const char *sp_input_misnamed(struct sp_view head, const char *name, bool packed);

#endif

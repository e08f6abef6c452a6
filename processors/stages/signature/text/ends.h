/* Finds where tags and link targets in Markdown end, for a whole stretch of text at once.
 *
 * A search for a missing end reads SP_ENDS_REACH bytes. Text that opens many tags and closes none
 * would pay that for every byte. So after one search in vain a table of the ends is made, in one
 * pass over twice that length, for everything that opens in the first half. */
#ifndef SP_TEXT_ENDS_H
#define SP_TEXT_ENDS_H

#include <stdint.h>

enum { SP_ENDS_REACH = 1024, SP_ENDS_BYTES = 2 * SP_ENDS_REACH + 2 };

/* Zeroed: knows nothing. Points into the text it was made of. */
struct sp_ends {
    const char *from;
    uint16_t behind[SP_ENDS_BYTES]; /* 0: no end within the table */
};

/* Behind a "<tag …" whose name begins at `name`, or behind a "(target" whose parenthesis is at
 * `open`; NULL: no end within SP_ENDS_REACH bytes of `start`, or a blank line before it. `start` is
 * where the markup begins; the text ends at `end`. Calls with rising starts cost O(1) a byte. */
const char *sp_ends_tag(struct sp_ends *e, const char *start, const char *name, const char *end);
const char *sp_ends_target(struct sp_ends *e, const char *start, const char *open, const char *end);

#endif

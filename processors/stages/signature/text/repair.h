/* UTF-8: whole texts checked and made valid. */
#ifndef SP_TEXT_REPAIR_H
#define SP_TEXT_REPAIR_H

#include "base/bytes.h"
#include "base/utf8.h"

bool sp_utf8_valid(struct sp_view text);

/* Whether text that is not valid is UTF-8 with errors rather than another charset: it has more
 * characters of several bytes than errors. An error at its end does not count: it was cut there. */
bool sp_utf8_likely(struct sp_view text);

/* Appends text with every invalid sequence replaced by U+FFFD. */
void sp_utf8_repair(struct sp_view text, struct sp_buf *out);

#endif

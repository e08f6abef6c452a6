/* The header fields of WARC records and HTTP responses. Thread rule: any thread. */
#ifndef SP_INPUT_HEADER_H
#define SP_INPUT_HEADER_H

#include "base/bytes.h"

/* The number of bytes up to and including the blank line; 0 if there is no blank line. */
size_t sp_header_end(struct sp_view text);
/* The value of the first field of that name (in any case), trimmed; a part of `header`. Empty if
 * there is no such field. */
struct sp_view sp_header_field(struct sp_view header, const char *name);
/* Reads a whole number of up to 18 digits and nothing else. False: it is not one. */
bool sp_header_number(struct sp_view text, uint64_t *ret_number);

#endif

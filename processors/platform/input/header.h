/* The header fields of WARC records and HTTP responses. Thread rule: any thread. */
#ifndef SP_INPUT_HEADER_H
#define SP_INPUT_HEADER_H

#include "base/bytes.h"

/* The number of bytes up to and including the blank line; 0 if there is no blank line. */
size_t sp_header_end(struct sp_view text);
/* The same by `header_end`, which looks for an end of up to three bytes, for a text that begins at
 * `at` of a file. *no_end is 0 for a new file; it remembers how far no end was found, so that bytes
 * are not searched again when there are more of them, or when the next header begins there. Calls
 * must have ascending `at`. */
size_t sp_header_find_end(struct sp_view text, uint64_t at,
                          size_t (*header_end)(struct sp_view text), uint64_t *no_end);
/* The value of the first field of that name (in any case), trimmed; a part of `header`, with
 * its line ends if it is folded over several lines. Empty if there is no such field. */
struct sp_view sp_header_field(struct sp_view header, const char *name);
/* Reads a whole number of up to 18 digits and nothing else. False: it is not one. */
bool sp_header_number(struct sp_view text, uint64_t *ret_number);

#endif

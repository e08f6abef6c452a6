/* Header fields, as WARC records and HTTP responses have them. */
#ifndef SP_INPUT_HEADER_H
#define SP_INPUT_HEADER_H

#include "base/bytes.h"

/* Bytes up to and including the blank line; 0: there is none. */
size_t sp_header_end(struct sp_view text);
/* The first field of that name, trimmed; empty where there is none. */
struct sp_view sp_header_field(struct sp_view header, const char *name);
bool sp_header_number(struct sp_view text, uint64_t *ret_number);

#endif

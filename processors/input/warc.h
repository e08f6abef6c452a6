/* Header fields, as WARC and HTTP have them, and HTTP responses. Private to this folder. */
#ifndef SP_INPUT_WARC_H
#define SP_INPUT_WARC_H

#include "input/input.h"

struct sp_parser;

/* Bytes up to and with the blank line; 0: there is none. */
size_t sp_header_end(struct sp_view text);
/* The first field of that name, trimmed; empty where there is none. */
struct sp_view sp_header_field(struct sp_view header, const char *name);
bool sp_header_number(struct sp_view text, uint64_t *ret_number);

/* Some archives store the bare body as a response. */
bool sp_http_is_response(struct sp_view bytes);

/* Fills in status, redirect, type and content of item->page from a response as it came over the
 * wire; or item->err. */
void sp_http_parse(struct sp_parser *p, struct sp_view response, struct sp_input_item *item);

#endif

/* Parses the HTTP responses in WARC records. Private to this folder. */
#ifndef SP_INPUT_RESPONSE_H
#define SP_INPUT_RESPONSE_H

#include "input/parser.h"

/* Whether the bytes begin like an HTTP response. Some archives store only the body in a response
 * record. */
bool sp_http_response_starts(struct sp_view bytes);

/* Fills in status, redirect, type and content of item->page from a response with its header, and
 * removes transfer and content codings; or fills in item->err and item->why. */
void sp_http_response_parse(struct sp_parser *p, struct sp_view response,
                            struct sp_input_item *item);

#endif

/* Parses the HTTP responses in WARC records. Private to this folder. */
#ifndef SP_INPUT_RESPONSE_H
#define SP_INPUT_RESPONSE_H

#include "input/parser.h"

/* Whether the bytes begin like an HTTP response. Some archives store only the body in a response
 * record. */
bool sp_http_response_starts(struct sp_view bytes);

/* Fills in status, redirect, type and content of item->page from a response with its header, and
 * removes transfer and content codings; or fills in item->err and item->why. A 206 that brings the
 * whole page becomes a 200; the content of any other stays as it was sent. */
void sp_http_response_parse(struct sp_parser *p, struct sp_view response,
                            struct sp_input_item *item);
/* The same if only the first part of the response is there: success becomes a 206, and the content
 * stays as it was sent. */
void sp_http_response_parse_part(struct sp_parser *p, struct sp_view response,
                                 struct sp_input_item *item);

#endif

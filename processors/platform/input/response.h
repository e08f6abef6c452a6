/* HTTP responses, as WARC records hold them. Private to this folder. */
#ifndef SP_INPUT_RESPONSE_H
#define SP_INPUT_RESPONSE_H

#include "input/parser.h"

/* Some archives store the bare body as a response. */
bool sp_http_response_starts(struct sp_view bytes);

/* Fills in status, redirect, type and content of item->page from a response as it came over the
 * wire; or item->err. */
void sp_http_response_parse(struct sp_parser *p, struct sp_view response,
                            struct sp_input_item *item);

#endif

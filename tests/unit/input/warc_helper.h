/* WARC records made by a test. */
#ifndef SP_TEST_WARC_HELPER_H
#define SP_TEST_WARC_HELPER_H

#include "input_helper.h"

/* A record of this type; `fields` are further header lines. `length` is the stated length; -1: that
 * of the body. */
void put_record_as(struct sp_buf *out, const char *newline, const char *type, const char *url,
                   const char *fields, struct sp_view body, long length);
void put_record(struct sp_buf *out, const char *type, const char *url, const char *body);
/* A page of HTML. */
void put_response(struct sp_buf *out, const char *url, const char *content);

/* What is read from one response for http://u/a/b, as received from the network. */
struct got read_wire(struct sp_view wire);
struct got read_wire_text(const char *wire);
/* Checks that the response is one page with this content. */
void check_body(const char *wire, const char *content);

#endif

/* Writes JSON values (RFC 8259) to a buffer. Written by hand, because status events are written at
 * full speed: it appends to the caller's buffer, builds no tree and allocates nothing else. All
 * functions append; commas, colons and brackets are the caller's. Thread rule: any thread. */
#ifndef SP_BASE_JSON_WRITE_H
#define SP_BASE_JSON_WRITE_H

#include "base/bytes.h"

/* The text as a string, in quotes. A byte that is not part of valid UTF-8 becomes U+FFFD, so the
 * output is always valid JSON. */
void sp_json_put_string(struct sp_buf *out, struct sp_view text);
/* Whether the text is valid UTF-8, so that sp_json_put_string replaces nothing. */
bool sp_json_is_utf8(struct sp_view text);
/* The same for a C string; `null` for NULL. */
void sp_json_put_text(struct sp_buf *out, const char *text);
/* The shortest decimal that reads back as the same double ("0.8", "1"); `null` if x is infinite or
 * NaN. */
void sp_json_put_double(struct sp_buf *out, double x);
/* The same for a float: fewer digits are enough. */
void sp_json_put_float(struct sp_buf *out, float x);
void sp_json_put_i64(struct sp_buf *out, int64_t x);

#endif

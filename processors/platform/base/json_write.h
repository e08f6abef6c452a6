/* Writing JSON values into a buffer. Ours because status events are written at full speed and no
 * library of Debian writes into a caller's buffer without building a tree first. */
#ifndef SP_BASE_JSON_WRITE_H
#define SP_BASE_JSON_WRITE_H

#include "base/bytes.h"

/* Appends the string with its quotes; bytes that are not UTF-8 become U+FFFD, so that the
 * output is always valid JSON. */
void sp_json_put_string(struct sp_buf *out, struct sp_view text);
/* Whether sp_json_put_string would keep every byte of the text. */
bool sp_json_is_utf8(struct sp_view text);
/* Appends `null` for NULL. */
void sp_json_put_text(struct sp_buf *out, const char *text);
/* The shortest decimal that reads back as the same number ("0.8", "1"); `null` where x is not
 * finite. */
void sp_json_put_double(struct sp_buf *out, double x);
/* As sp_json_put_double, for a number that was a float. */
void sp_json_put_float(struct sp_buf *out, float x);
void sp_json_put_i64(struct sp_buf *out, int64_t x);

#endif

/* HTTP's content codings (RFC 9110, 8.4.1): gzip, deflate, br (RFC 7932), zstd (RFC 8878), each by
 * its own library. Private to this folder. */
#ifndef SP_INPUT_ENCODING_H
#define SP_INPUT_ENCODING_H

#include "base/bytes.h"
#include "base/err.h"

/* Decodes a whole body from the coding of that name (in any case; x-gzip is gzip). `out` is reset
 * first, and never grows much beyond `max` bytes, whatever the body would become.
 *
 *   SP_OK            `out` is the decoded body
 *   SP_END           the body is not coded, or was decoded already: `out` is empty, use the body
 *   SP_NOT_FOUND     the coding is unknown, and the body is no text
 *   SP_TOO_LARGE     the decoded body exceeds `max`, or it is zstd with a window above 8 MiB (the
 *                    limit of RFC 9659)
 *   SP_TRUNCATED     the body ends too early
 *   SP_MALFORMED     the body is damaged
 *
 * Thread rule: any thread. */
enum sp_err sp_encoding_undo(struct sp_view name, struct sp_view body, uint64_t max,
                             struct sp_buf *out);

#endif

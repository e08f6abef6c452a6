/* HTTP's content codings (RFC 9110, 8.4.1): gzip, deflate, br (RFC 7932), zstd (RFC 8878), each by
 * its own library. Private to this folder. */
#ifndef SP_INPUT_ENCODING_H
#define SP_INPUT_ENCODING_H

#include "base/bytes.h"
#include "base/err.h"

/* Undoes the coding of that name (any case; x-gzip is gzip) of a whole body; `out` is reset first
 * and never much longer than `max` bytes, however long the body would become.
 *
 *   SP_OK            out is the body
 *   SP_END           the body is not coded, or not any more: out is empty, take it as it is
 *   SP_NOT_FOUND     no coding of that name is known
 *   SP_TOO_LARGE     it grows beyond max; or it is zstd with a window above 8 MiB (RFC 9659)
 *   SP_TRUNCATED, SP_MALFORMED */
enum sp_err sp_encoding_undo(struct sp_view name, struct sp_view body, uint64_t max,
                             struct sp_buf *out);

#endif

/* Where a gzip file was cut: a member that lacks its end, with another member behind it. Decoding
 * goes on into that one, for any number of bytes, and makes text of them that may look right.
 * Private to this folder. Thread rule: any thread. */
#ifndef SP_INPUT_GZIP_MEMBERS_H
#define SP_INPUT_GZIP_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

/* The bytes that tell the head of a member: its magic and its flags. */
enum { SP_GZIP_HEAD = 4 };

/* The first place from `at` on that looks like the head of a member. If there is none, the first of
 * which that cannot be told, because fewer than SP_GZIP_HEAD bytes follow; `len` at the end of the
 * file (`last`). */
size_t sp_gzip_find(const unsigned char *raw, size_t at, size_t len, bool last);

/* Whether a member begins at `at` that can be decoded up to its end and is followed by another one
 * or by the end of the file (`last`: that is `len`), or whose end is not among these bytes. Files
 * that are stored in a member, such as the body of a response, are followed by something else. */
bool sp_gzip_is_one(const unsigned char *raw, size_t at, size_t len, bool last);

enum sp_gzip_fate { SP_GZIP_ENDS, SP_GZIP_FAILS, SP_GZIP_GOES_ON };

/* What becomes of the member in `gzip` with the bytes [at, len). *ret_end is the place behind the
 * last byte that it took. `gzip` is unchanged. */
enum sp_gzip_fate sp_gzip_look_ahead(const z_stream *gzip, const unsigned char *raw, size_t at,
                                     size_t len, size_t *ret_end);

#endif

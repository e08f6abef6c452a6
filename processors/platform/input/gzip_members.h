/* Where a gzip file was cut: a member that lacks its end, with another member behind it. Decoding
 * goes on into that one, for any number of bytes, and makes text of them that may look right.
 * Private to this folder. Thread rule: any thread. */
#ifndef SP_INPUT_GZIP_MEMBERS_H
#define SP_INPUT_GZIP_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* The bytes that tell the head of a member: its magic and its flags. */
enum { SP_GZIP_HEAD = 4 };

/* The first place from `at` on that looks like the head of a member. If there is none, the first of
 * which that cannot be told, because fewer than SP_GZIP_HEAD bytes follow; `len` at the end of the
 * file (`last`). */
size_t sp_gzip_find(const unsigned char *raw, size_t at, size_t len, bool last);

/* Whether a member begins at `at` that can be decoded up to its end and is followed by another one
 * or by the end of the file (`last`: that is `len`), or whose end is not among these bytes, or that
 * was cut before another one: it can be decoded up to the head of that. Files that are stored in a
 * member, such as the body of a response, are followed by something else.
 * *effort: so many bytes may still be decoded to find that out, as each of many heads can need up
 * to `len`; once it is 0 nothing is one. */
bool sp_gzip_is_one(const unsigned char *raw, size_t at, size_t len, bool last, uint64_t *effort);

/* What is known of the member that is being decoded: places among the bytes. */
struct sp_gzip_known {
    size_t sound; /* up to here, what looks like a head is known to be in the member */
    size_t fatal; /* decoding fails there; 0: not known */
};

/* The first `bytes` are dropped. */
void sp_gzip_shift(struct sp_gzip_known *known, size_t bytes);

/* Whether the member in `gzip`, which takes the bytes from `at` on, was cut before what looks like
 * a head at `at`. `overrun`: so many bytes it may take of another member before it is seen to fail.
 * Each look ahead decodes many bytes, so what it showed is kept in *known: otherwise a file with
 * many such heads takes hours. `gzip` is unchanged. */
bool sp_gzip_is_cut(const z_stream *gzip, const unsigned char *raw, size_t at, size_t len,
                    bool last, size_t overrun, struct sp_gzip_known *known, uint64_t *effort);

#endif

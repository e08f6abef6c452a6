/* See gzip_members.h. */
#include "input/gzip_members.h"

#include <string.h>

static const unsigned char magic[] = {0x1f, 0x8b, 0x08};

enum { RESERVED_FLAGS = 0xe0 };

size_t sp_gzip_find(const unsigned char *raw, size_t at, size_t len, bool last)
{
    for (; at + SP_GZIP_HEAD <= len; at++) {
        const unsigned char *found = memmem(raw + at, len - at - 1, magic, sizeof magic);
        at = found ? (size_t)(found - raw) : len - SP_GZIP_HEAD;
        if (found && (found[sizeof magic] & RESERVED_FLAGS) == 0)
            return at;
    }
    return last ? len : at;
}

/* Decodes [at, len) for nothing but the result. */
static enum sp_gzip_fate decode(z_stream *z, const unsigned char *raw, size_t at, size_t len,
                                size_t *ret_end)
{
    unsigned char nothing[1 << 14];
    int code = Z_OK;
    z->next_in = (Bytef *)(raw + at);
    z->avail_in = (uInt)(len - at);
    while (code == Z_OK && (z->avail_in > 0 || z->avail_out == 0)) {
        z->next_out = nothing;
        z->avail_out = sizeof nothing;
        code = inflate(z, Z_NO_FLUSH);
    }
    *ret_end = len - z->avail_in;
    if (code == Z_STREAM_END)
        return SP_GZIP_ENDS;
    return code == Z_OK || code == Z_BUF_ERROR ? SP_GZIP_GOES_ON : SP_GZIP_FAILS;
}

bool sp_gzip_is_one(const unsigned char *raw, size_t at, size_t len, bool last)
{
    z_stream z = {0};
    size_t end;
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return false;
    enum sp_gzip_fate fate = decode(&z, raw, at, len, &end);
    inflateEnd(&z);
    if (fate != SP_GZIP_ENDS)
        return fate == SP_GZIP_GOES_ON && !last;
    while (end < len && raw[end] == 0) /* padding */
        end++;
    size_t left = len - end, known = left < sizeof magic ? left : sizeof magic;
    return memcmp(raw + end, magic, known) == 0 && (left == 0 || known == sizeof magic || !last);
}

enum sp_gzip_fate sp_gzip_look_ahead(const z_stream *gzip, const unsigned char *raw, size_t at,
                                     size_t len, size_t *ret_end)
{
    z_stream copy;
    *ret_end = at;
    if (inflateCopy(&copy, (z_stream *)gzip) != Z_OK)
        return SP_GZIP_GOES_ON;
    copy.avail_out = 0;
    enum sp_gzip_fate fate = decode(&copy, raw, at, len, ret_end);
    inflateEnd(&copy);
    return fate;
}

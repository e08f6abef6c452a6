/* See gzip_members.h. */
#include "input/gzip_members.h"

#include <string.h>

static const unsigned char magic[] = {0x1f, 0x8b, 0x08};

/* LEAST_TEXT: bytes at random are no compressed text of that length. */
enum { RESERVED_FLAGS = 0xe0, LEAST_TEXT = 64 };

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

enum fate { ENDS, FAILS, GOES_ON };

/* Decodes [at, len) for nothing but the result. */
static enum fate decode(z_stream *z, const unsigned char *raw, size_t at, size_t len,
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
        return ENDS;
    return code == Z_OK || code == Z_BUF_ERROR ? GOES_ON : FAILS;
}

bool sp_gzip_is_one(const unsigned char *raw, size_t at, size_t len, bool last, uint64_t *effort)
{
    z_stream z = {0};
    size_t end;
    if (*effort == 0 || inflateInit2(&z, 15 + 16) != Z_OK)
        return false;
    enum fate fate = decode(&z, raw, at, len, &end);
    bool much = z.total_out >= LEAST_TEXT;
    uint64_t bytes = z.total_in + z.total_out;
    *effort -= bytes < *effort ? bytes : *effort;
    inflateEnd(&z);
    if (fate == GOES_ON && !last)
        return true;
    if (fate != ENDS) /* if it has taken the head of another one, it was cut before that */
        return much && sp_gzip_find(raw, at + 1, len, last) < end;
    while (end < len && raw[end] == 0) /* padding */
        end++;
    size_t left = len - end, known = left < sizeof magic ? left : sizeof magic;
    return memcmp(raw + end, magic, known) == 0 && (left == 0 || known == sizeof magic || !last);
}

/* What becomes of the member in `gzip` with the bytes [at, len). *ret_end is the place behind the
 * last byte that it took. */
static enum fate look_ahead(const z_stream *gzip, const unsigned char *raw, size_t at, size_t len,
                            size_t *ret_end)
{
    z_stream copy;
    *ret_end = at;
    if (inflateCopy(&copy, (z_stream *)gzip) != Z_OK)
        return GOES_ON;
    copy.avail_out = 0;
    enum fate fate = decode(&copy, raw, at, len, ret_end);
    inflateEnd(&copy);
    return fate;
}

void sp_gzip_shift(struct sp_gzip_known *known, size_t bytes)
{
    known->sound = known->sound > bytes ? known->sound - bytes : 0;
    known->fatal = known->fatal > bytes ? known->fatal - bytes : 0;
}

bool sp_gzip_is_cut(const z_stream *gzip, const unsigned char *raw, size_t at, size_t len,
                    bool last, size_t overrun, struct sp_gzip_known *known, uint64_t *effort)
{
    size_t end = known->fatal;
    enum fate fate = end > at ? FAILS : look_ahead(gzip, raw, at, len, &end);
    bool fails = fate == FAILS || (fate == GOES_ON && last);
    known->fatal = fails ? end : 0;
    /* Of the last bytes one cannot say, so what begins in them is looked at again. */
    if (fate != ENDS)
        end = end > at + overrun ? end - overrun : at;
    known->sound = !fails && end > at ? end : at + 1;
    return fails && sp_gzip_is_one(raw, at, len, last, effort);
}

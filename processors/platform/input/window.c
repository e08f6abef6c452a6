/* The window over a file and the slices of a chunk. */
#include "input/window.h"

#include <string.h>

#include "base/mem.h"

/* Bytes converted at a time. Few, because the lines can be many times as long: each row of a table
 * becomes a line with the names of its columns. */
enum { CONVERT_BYTES = 1 << 14 };

/* Fills `raw`, because a converter that gets single bytes may look at all bytes of a tag again for
 * each. False: nothing could be read. */
static bool fill_raw(struct sp_window *w)
{
    size_t n = 1;
    sp_buf_reset(&w->raw);
    w->raw_at = 0;
    while (w->raw.len < w->block && n > 0 && w->raw_err == SP_OK) {
        w->raw_err = sp_source_read(w->source, sp_buf_reserve(&w->raw, w->block), w->block, &n);
        w->raw.len += n;
    }
    return w->raw.len > 0;
}

static bool convert_more(struct sp_window *w)
{
    size_t before = w->buf.len;
    while (w->buf.len == before && !w->converted) {
        if (w->raw_at == w->raw.len && !fill_raw(w)) {
            enum sp_err err = w->raw_err;
            w->raw_err = SP_OK;
            if (err == SP_IO) {
                w->io = err;
                break;
            }
            if (err != SP_OK) {
                w->damage = err;
                sp_convert_cut(w->convert);
                break;
            }
            w->converted = true;
            w->unfinished = sp_convert_end(w->convert, &w->buf);
            break;
        }
        size_t left = w->raw.len - w->raw_at, n = left < CONVERT_BYTES ? left : CONVERT_BYTES;
        sp_convert_feed(w->convert, sp_view(w->raw.data + w->raw_at, n), &w->buf);
        w->raw_at += n;
    }
    w->end = w->buf.len == before;
    return !w->end;
}

bool sp_window_more(struct sp_window *w)
{
    size_t n = 0;
    if (w->end)
        return false;
    if (w->convert)
        return convert_more(w);
    char *at = sp_buf_reserve(&w->buf, w->block);
    enum sp_err err = sp_source_read(w->source, at, w->block, &n);
    if (n > 0 && sp_source_begins_member(w->source)) {
        sp_grow(&w->members, &w->member_cap, w->member_count + 1);
        w->members[w->member_count++] = w->offset + w->buf.len;
    }
    w->buf.len += n;
    if (err == SP_IO)
        w->io = err;
    else if (err != SP_OK)
        w->damage = err;
    w->end = n == 0;
    return n > 0;
}

/* Returns the index of the first of w->members that is `offset` or more. */
static size_t find_member(const struct sp_window *w, uint64_t offset)
{
    size_t low = 0, high = w->member_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->members[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t sp_window_member(const struct sp_window *w, size_t at)
{
    size_t i = find_member(w, w->offset + at);
    return i < w->member_count ? (size_t)(w->members[i] - w->offset) : w->buf.len;
}

void sp_window_moved(struct sp_window *w, size_t bytes)
{
    size_t gone = find_member(w, w->offset + bytes);
    w->member_count -= gone;
    if (gone)
        memmove(w->members, w->members + gone, w->member_count * sizeof *w->members);
    w->offset += bytes;
}

bool sp_window_want(struct sp_window *w, size_t want)
{
    while (w->buf.len < want)
        if (!sp_window_more(w))
            return false;
    return true;
}

void sp_chunk_add(struct sp_chunk *chunk, struct sp_slice slice)
{
    sp_grow(&chunk->slices, &chunk->slice_cap, chunk->slice_count + 1);
    chunk->slices[chunk->slice_count++] = slice;
    chunk->count += slice.records;
}

void sp_chunk_add_bad(struct sp_chunk *chunk, const struct sp_window *w, size_t at, size_t len,
                      enum sp_err err, const char *why)
{
    sp_chunk_add(chunk, (struct sp_slice){.at = at,
                                          .len = len < SP_RAW_MAX ? len : SP_RAW_MAX,
                                          .offset = w->offset + at,
                                          .records = 1,
                                          .err = err,
                                          .why = why});
}

void sp_chunk_add_cut(struct sp_chunk *chunk, struct sp_window *w, size_t at, const char *why)
{
    w->damage_told = w->damage != SP_OK;
    sp_chunk_add_bad(chunk, w, at, w->buf.len - at, w->damage ? w->damage : SP_TRUNCATED,
                     w->damage ? sp_source_why(w->source) : why);
}

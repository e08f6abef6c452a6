/* The window over a file and the slices of a chunk. */
#include "input/window.h"

#include <string.h>

#include "base/mem.h"

static bool convert_more(struct sp_window *w)
{
    size_t before = w->buf.len, n = 0;
    while (w->buf.len == before && !w->converted) {
        sp_buf_reset(&w->raw);
        enum sp_err err =
            sp_source_read(w->source, sp_buf_reserve(&w->raw, w->block), w->block, &n);
        if (err == SP_IO)
            w->io = err;
        else if (err != SP_OK)
            w->damage = err;
        if (err != SP_OK)
            break;
        w->converted = n == 0;
        if (n > 0)
            sp_convert_feed(w->convert, sp_view(w->raw.data, n), &w->buf);
        else
            sp_convert_end(w->convert, &w->buf);
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

/* The window over a file and the slices of a chunk. */
#include "input/window.h"

bool sp_window_more(struct sp_window *w)
{
    size_t n = 0;
    if (w->end)
        return false;
    char *at = sp_buf_reserve(&w->buf, w->block);
    enum sp_err err = sp_source_read(w->source, at, w->buf.cap - w->buf.len, &n);
    w->buf.len += n;
    if (err == SP_IO)
        w->io = err;
    else if (err != SP_OK)
        w->damage = err;
    w->end = n == 0;
    return n > 0;
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
    if (chunk->slice_count == chunk->slice_cap) {
        chunk->slice_cap = chunk->slice_cap ? chunk->slice_cap * 2 : 64;
        chunk->slices = sp_realloc(chunk->slices, chunk->slice_cap * sizeof *chunk->slices);
    }
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

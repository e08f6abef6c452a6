/* JSON lines: cutting at newlines, parsing by flat.c or, where that cannot, by json.cc. */
#include "input/flat.h"
#include "input/json.h"
#include "input/losses.h"
#include "input/parser.h"

static bool is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

/* Skips the rest of a line that was too long; returns the bytes skipped. */
static size_t discard_line(struct sp_window *w)
{
    const char *newline = w->buf.len ? memchr(w->buf.data, '\n', w->buf.len) : NULL;
    if (!newline)
        return w->buf.len;
    w->discard_line = false;
    return (size_t)(newline - w->buf.data) + 1;
}

/* An object that is complete ends with a brace. */
static bool may_be_complete(struct sp_view line)
{
    while (line.len && is_blank(line.data + line.len - 1, 1))
        line.len--;
    return line.len == 0 || line.data[line.len - 1] == '}';
}

static void add_line(struct sp_window *w, struct sp_chunk *chunk, size_t at, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark at the start of the file */
    if (w->offset == 0 && at == 0 && len >= 3 && memcmp(w->buf.data, mark, 3) == 0) {
        at += 3;
        len -= 3;
    }
    if (len > w->max_record)
        sp_chunk_add_bad(chunk, w, at, len, SP_TOO_LARGE,
                         "the line is longer than input.max_record_bytes");
    else if (!is_blank(w->buf.data + at, len))
        sp_chunk_add(
            chunk, (struct sp_slice){.at = at, .len = len, .offset = w->offset + at, .records = 1});
}

size_t sp_lines_split(struct sp_window *w, struct sp_chunk *chunk)
{
    /* With more, a chunk of lines of a byte would take a hundred times its size. */
    enum { SLICES_MAX = 1 << 14 };
    size_t at = 0;
    sp_window_want(w, w->block);
    if (w->discard_line)
        return discard_line(w);
    for (;;) {
        size_t from = at > w->seen ? at : w->seen;
        const char *newline =
            from < w->buf.len ? memchr(w->buf.data + from, '\n', w->buf.len - from) : NULL;
        if (newline) {
            size_t end = (size_t)(newline - w->buf.data);
            add_line(w, chunk, at, end - at);
            at = end + 1;
            if (chunk->slice_count >= SLICES_MAX)
                return at;
            continue;
        }
        w->seen = w->buf.len;
        if (at > 0)
            break;
        if (w->buf.len > w->max_record) {
            add_line(w, chunk, 0, w->buf.len);
            w->discard_line = true;
            at = w->buf.len;
            break;
        }
        if (!sp_window_more(w)) { /* the last line, without a newline */
            size_t before = chunk->slice_count;
            if (w->damage && !may_be_complete(sp_buf_view(&w->buf)))
                sp_chunk_add_cut(chunk, w, 0, NULL);
            else if (w->unfinished && w->buf.len > 0)
                sp_chunk_add_cut(chunk, w, 0, "the file ends within an element of the JSON array");
            else if (w->buf.len > 0)
                add_line(w, chunk, 0, w->buf.len);
            if (chunk->slice_count > before && !w->damage && !w->unfinished)
                chunk->slices[before].open_end = true;
            at = w->buf.len;
            break;
        }
    }
    w->seen = 0; /* the rest moves to the front and is searched once more */
    return at;
}

void sp_lines_parse(struct sp_parser *p, struct sp_view line, struct sp_input_item *item)
{
    const char *why = NULL;
    enum sp_err err = p->flat && sp_flat_parse(p->flat, line, &item->page)
                          ? SP_OK
                          : p->json->parse(p->json_parser, line, &item->page, &why);
    if (err == SP_OK || err == SP_NO_URL)
        sp_parser_identify(p, &item->page, item->number);
    if (err == SP_NO_URL && item->page.url.len > 0)
        err = SP_OK;
    const char *lost = err == SP_MALFORMED ? sp_loss_of(line, &err) : NULL;
    if (err != SP_OK)
        sp_item_fail(item, err, lost ? lost : why);
    else
        sp_parser_resolve(p, &item->page);
}

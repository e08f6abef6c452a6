/* See records.h.
 *
 * A wrong length is noticed because no record follows the end that it gives. If the length is too
 * long, the record ends at the next record nevertheless; if it is too short, the bytes before the
 * next record become a dead letter.
 *
 * If the file ends within a record, the rest is not searched for records: a page can contain lines
 * that look like records of any other page. A border that no page can forge is the start of a gzip
 * member or Zstandard frame; crawlers write one for each record. A record that begins a member
 * therefore ends where a member begins with the next, whatever its length says. */
#include "input/records.h"

#include "input/header.h"

enum { HEADER_MAX = 1 << 16 };

/* No page is that long: the number is damaged and cannot say where the record ends. */
static const uint64_t length_max = 1ull << 40;

/* Whether the byte may stand between records: a newline, or one of the zeros with which tapes and
 * file systems fill a block. */
static bool is_filler(char c)
{
    return c == '\r' || c == '\n' || c == 0;
}

/* Skips at most so many of these bytes, because a file may consist of nothing else. */
static size_t skip_filler(struct sp_window *w, size_t at, size_t count)
{
    size_t most = at + count;
    while (at < most && sp_window_want(w, at + 1) && is_filler(w->buf.data[at]))
        at++;
    return at;
}

/* Skips everything before the next record, for which a dead letter was made already. Returns the
 * place of that record, or where to continue the search: bytes that may be the start of the mark,
 * and the byte before them, are kept. */
static size_t resync_more(struct sp_window *w, const struct sp_record_kind *kind, size_t from)
{
    size_t next = kind->find(w, from);
    w->resync = next == w->buf.len;
    if (w->resync && next - from > kind->mark)
        return next - kind->mark;
    return w->resync ? from : next;
}

/* Reports a bad record at `at`: everything up to the next record, however far away that is. The
 * search for the next one begins at `from`. Returns where to continue. */
static size_t resync(struct sp_window *w, struct sp_chunk *chunk, const struct sp_record_kind *kind,
                     size_t at, size_t from, const char *why)
{
    /* So that the dead letter does not depend on the size of chunks. */
    size_t most = at + SP_RAW_MAX + kind->mark, next;
    sp_window_want(w, most);
    next = kind->find(w, from);
    if (w->damage && next == w->buf.len && next < most)
        sp_chunk_add_cut(chunk, w, at, why);
    else
        sp_chunk_add_bad(chunk, w, at, next - at, SP_MALFORMED, why);
    return resync_more(w, kind, from);
}

static bool begins_member(const struct sp_window *w, size_t at)
{
    return at < w->buf.len && sp_window_member(w, at) == at;
}

/* The first place from `from` on where a member begins with a record, or the window's length. */
static size_t find_member_record(const struct sp_window *w, const struct sp_record_kind *kind,
                                 size_t from)
{
    size_t at = sp_window_member(w, from);
    while (at < w->buf.len && !kind->begins(w, at))
        at = sp_window_member(w, at + 1);
    return at;
}

/* The first member from `from` on of which less than a mark is there, or the window's length. */
static size_t first_unread_member(const struct sp_window *w, const struct sp_record_kind *kind,
                                  size_t from)
{
    size_t least = w->buf.len < kind->mark ? 0 : w->buf.len - kind->mark + 1;
    return sp_window_member(w, from > least ? from : least);
}

/* Reads the record at `at` up to *end. If another record certainly begins before that, *end becomes
 * its start. False: the file ends first. */
static bool want_record(struct sp_window *w, const struct sp_record_kind *kind, size_t at,
                        size_t *end)
{
    bool own = begins_member(w, at);
    for (size_t from = at + 1;;) {
        size_t next = own ? find_member_record(w, kind, from) : w->buf.len;
        if (next < w->buf.len && next < *end) {
            *end = next;
            return true;
        }
        if (w->buf.len >= *end)
            return true;
        from = first_unread_member(w, kind, from);
        /* A mark more, because members may be short, and each is looked at again until a mark of it
         * is there. */
        size_t before = w->buf.len, want = before + kind->mark;
        sp_window_want(w, want < *end ? want : *end);
        if (w->buf.len == before)
            return false;
    }
}

/* Whether the record's end is followed by the next record, or by the end of the file. */
static bool ends_well(struct sp_window *w, const struct sp_record_kind *kind, size_t end)
{
    enum { BETWEEN = 64 }; /* or more: what follows them is looked at later */
    size_t next = skip_filler(w, end, BETWEEN);
    sp_window_want(w, next + kind->mark);
    return w->buf.len == next || is_filler(w->buf.data[next]) || kind->begins(w, next);
}

/* Whether the record fills a member whose checksum is wrong. What decompression makes of damaged
 * data must not become the content of a page. If a member has several records, nothing says which
 * of them are damaged. */
static bool is_tainted(struct sp_window *w, size_t at, size_t end)
{
    return w->damage == SP_MALFORMED && begins_member(w, at) && sp_source_is_tainted(w->source) &&
           sp_window_member(w, at + 1) == w->buf.len &&
           skip_filler(w, end, HEADER_MAX) == w->buf.len;
}

/* A record whose payload will not fit: its header is kept as the dead letter. */
static size_t too_large(struct sp_window *w, struct sp_chunk *chunk, size_t at, size_t header_len,
                        uint64_t length, bool page)
{
    if (page)
        sp_chunk_add_bad(chunk, w, at, header_len, SP_TOO_LARGE,
                         "the record is larger than input.max_record_bytes");
    w->discard = length;
    w->discard_own = begins_member(w, at);
    return at + header_len;
}

/* The length of a header if another record begins within its text, at or behind the line end at
 * *from; else 0, and *from moves to the first line end behind which too little is there. */
static size_t find_border(const struct sp_record_kind *kind, struct sp_view text, size_t *from)
{
    size_t n = kind->border ? strlen(kind->border) : 0;
    while (n && *from + n < text.len) {
        const char *newline = memchr(text.data + *from, '\n', text.len - *from - n);
        if (!newline) {
            *from = text.len - n;
            break;
        }
        *from = (size_t)(newline + 1 - text.data);
        if (memcmp(newline + 1, kind->border, n) == 0)
            return *from;
    }
    return 0;
}

/* Reads the header of the record at `at`. Returns its length, or 0 with *ret_next, the place to
 * continue at. */
static size_t want_header(struct sp_window *w, struct sp_chunk *chunk,
                          const struct sp_record_kind *kind, size_t at, size_t *ret_next)
{
    enum { USUAL = 1 << 11 };
    size_t within = USUAL; /* a header that ends later is rare, and one may begin in each line */
    size_t looked = 0;
    for (;;) {
        size_t there = w->buf.len - at;
        struct sp_view text = sp_view(w->buf.data + at, there < within ? there : within);
        size_t len = sp_header_find_end(text, w->offset + at, kind->header_end, &w->no_end);
        text.len = len ? len : text.len;
        size_t border = find_border(kind, text, &looked);
        if (border) {
            sp_chunk_add_bad(chunk, w, at, border, SP_MALFORMED, kind->why.joined);
            *ret_next = at + border;
            return 0;
        }
        if (len > 0)
            return len;
        if (there >= within && within < HEADER_MAX) {
            within = HEADER_MAX;
            continue;
        }
        if (there >= HEADER_MAX) {
            *ret_next = resync(w, chunk, kind, at, at + 1, kind->why.no_end);
            return 0;
        }
        if (!sp_window_more(w)) {
            sp_chunk_add_cut(chunk, w, at, kind->why.cut_header);
            *ret_next = w->buf.len;
            return 0;
        }
    }
}

/* Reads one record, which starts at `at`. Returns where to continue. */
static size_t split_record(struct sp_window *w, struct sp_chunk *chunk,
                           const struct sp_record_kind *kind, size_t at)
{
    uint64_t length = 0;
    size_t next = 0, header_len = want_header(w, chunk, kind, at, &next);
    if (header_len == 0)
        return next;
    struct sp_view header = sp_view(w->buf.data + at, header_len);
    const char *fault = kind->fault ? kind->fault(header) : NULL;
    bool page = !fault && kind->is_page(header);
    if (!kind->length(header, &length))
        return resync(w, chunk, kind, at, at + 1, kind->why.no_length);
    if (length > length_max)
        return resync(w, chunk, kind, at, at + 1, kind->why.far_too_long);
    if (length > w->max_record)
        return too_large(w, chunk, at, header_len, length, page || fault);
    size_t end = at + header_len + (size_t)length;
    if (!want_record(w, kind, at, &end)) {
        sp_chunk_add_cut(chunk, w, at, kind->why.cut);
        return w->buf.len;
    }
    bool well = ends_well(w, kind, end);
    if (is_tainted(w, at, end)) {
        sp_chunk_add_cut(chunk, w, at, NULL);
        return w->buf.len;
    }
    if (!well) {
        next = kind->find(w, at + header_len);
        end = next < end ? next : end;
    }
    if (fault)
        sp_chunk_add_bad(chunk, w, at, end - at, SP_MALFORMED, fault);
    else if (page)
        sp_chunk_add(chunk, (struct sp_slice){
                                .at = at, .len = end - at, .offset = w->offset + at, .records = 1});
    return end;
}

/* Skips more of a record that is too large; returns how many bytes. After its end the next record
 * must follow, as anywhere else. */
static size_t discard(struct sp_window *w, struct sp_chunk *chunk,
                      const struct sp_record_kind *kind)
{
    sp_window_want(w, 2 * kind->mark);
    size_t next = w->discard_own ? find_member_record(w, kind, 0) : w->buf.len;
    size_t unread = w->discard_own && !w->end ? first_unread_member(w, kind, 1) : w->buf.len;
    size_t pass = w->discard < unread ? (size_t)w->discard : unread;
    if (next < pass) {
        w->discard = 0; /* the length in the header was wrong */
        sp_chunk_add_bad(chunk, w, next, 0, SP_MALFORMED, kind->why.comes_early);
        return next;
    }
    w->discard -= pass;
    if (w->discard && w->end) {
        w->discard = 0;
        sp_chunk_add_cut(chunk, w, pass, kind->why.cut_large);
    }
    return pass;
}

size_t sp_records_split(struct sp_window *w, struct sp_chunk *chunk,
                        const struct sp_record_kind *kind)
{
    size_t at = 0;
    if (w->discard)
        return discard(w, chunk, kind);
    if (w->resync) {
        bool more = sp_window_want(w, kind->mark + 1);
        w->resync = w->buf.len > 1;
        /* The first byte is only context for the search. */
        at = w->resync ? resync_more(w, kind, 1) : w->buf.len;
        if (w->resync && !more) { /* the rest is too short, and the file has ended */
            w->resync = false;
            return w->buf.len;
        }
        if (w->resync)
            return at;
    }
    while (at < w->block) {
        at = skip_filler(w, at, HEADER_MAX);
        if (!sp_window_want(w, at + 1))
            break;
        if (is_filler(w->buf.data[at]))
            continue;
        sp_window_want(w, at + kind->mark);
        if (!kind->begins(w, at))
            at = resync(w, chunk, kind, at, at + 1, kind->why.not_here);
        else
            at = split_record(w, chunk, kind, at);
        if (w->discard || w->resync)
            break;
    }
    return at;
}

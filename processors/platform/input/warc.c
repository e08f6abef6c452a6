/* WARC and WET files (ISO 28500): cutting records, and reading the headers of one.
 *
 * The record types that are pages count as records: response, resource, conversion (of WET), with
 * an http or https URL. All others are passed over.
 *
 * A record whose length is wrong is noticed by what follows it: not the next record. Too long a
 * length ends at the next record all the same; after too short a one, what lies before the next
 * record becomes a dead letter.
 *
 * Where the file ends within a record it is cut, and nothing is looked for in what is left of it: a
 * page can hold lines that look like records of any other page. A border that no page can feign is
 * the start of a gzip member or Zstandard frame; crawlers write one for each record. A record that
 * begins a member therefore ends where a member begins with the next, whatever its length says. */
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "input/header.h"
#include "input/parser.h"
#include "input/response.h"
#include "input/window.h"

enum { HEADER_MAX = 1 << 16, KEPT = 5 };

/* No page is that long: the number is damaged, and says nothing of where the record ends. */
static const uint64_t length_max = 1ull << 40;

static bool is_word(struct sp_view text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

static struct sp_view target_url(struct sp_view header)
{
    struct sp_view url = sp_header_field(header, "WARC-Target-URI");
    if (url.len >= 2 && url.data[0] == '<' && url.data[url.len - 1] == '>')
        url = sp_view(url.data + 1, url.len - 2);
    return url;
}

static bool is_page(struct sp_view header)
{
    struct sp_view type = sp_header_field(header, "WARC-Type"), url = target_url(header);
    if (url.len > 0 && (url.len < 4 || (strncasecmp(url.data, "http", 4) != 0 &&
                                        strncasecmp(url.data, "doc:", 4) != 0)))
        return false;
    return is_word(type, "response") || is_word(type, "resource") || is_word(type, "conversion");
}

/* ---- cutting ---- */

/* The next place from `from` on where a line starts a record; the window's length if there is none.
 */
static size_t find_record(const struct sp_window *w, size_t from)
{
    while (from < w->buf.len) {
        const char *at = memmem(w->buf.data + from, w->buf.len - from, "WARC/", 5);
        if (!at)
            return w->buf.len;
        size_t place = (size_t)(at - w->buf.data);
        if (place == 0 || w->buf.data[place - 1] == '\n')
            return place;
        from = place + 1;
    }
    return w->buf.len;
}

static bool is_newline(char c)
{
    return c == '\r' || c == '\n';
}

/* At most HEADER_MAX of them at a time: a file of nothing else must fit as well. */
static size_t skip_newlines(struct sp_window *w, size_t at)
{
    size_t most = at + HEADER_MAX;
    while (at < most && sp_window_want(w, at + 1) && is_newline(w->buf.data[at]))
        at++;
    return at;
}

/* Passes over everything before the next record, of which a dead letter has been made. Answers
 * where that is, or where to go on looking: there what may be the start of the mark is kept,
 * with the byte before it. */
static size_t resync_more(struct sp_window *w, size_t from)
{
    size_t next = find_record(w, from);
    w->resync = next == w->buf.len;
    if (w->resync && next - from > KEPT)
        return next - KEPT;
    return w->resync ? from : next;
}

/* A bad record from `at`: everything up to the next one, however far that is. The next one is
 * looked for from `from` on. Answers where to go on. */
static size_t resync(struct sp_window *w, struct sp_chunk *chunk, size_t at, size_t from,
                     enum sp_err err, const char *why)
{
    sp_window_want(w, at + SP_RAW_MAX); /* the dead letter is the same in chunks of any size */
    sp_chunk_add_bad(chunk, w, at, find_record(w, from) - at, err, why);
    return resync_more(w, from);
}

static bool begins_record(const struct sp_window *w, size_t at)
{
    return w->buf.len - at >= 5 && memcmp(w->buf.data + at, "WARC/", 5) == 0;
}

static bool begins_member(const struct sp_window *w, size_t at)
{
    return at < w->buf.len && sp_window_member(w, at) == at;
}

/* The first place from `from` on where a member begins with a record, or the window's length. */
static size_t find_member_record(const struct sp_window *w, size_t from)
{
    size_t at = sp_window_member(w, from);
    while (at < w->buf.len && !begins_record(w, at))
        at = sp_window_member(w, at + 1);
    return at;
}

/* Reads the record at `at` to its end. Answers where the next record surely is if that comes first,
 * else `end`; false: the file ends before. */
static bool want_record(struct sp_window *w, size_t at, size_t *end)
{
    bool own = begins_member(w, at);
    for (size_t from = at + 1;;) {
        size_t next = own ? find_member_record(w, from) : w->buf.len;
        if (next < w->buf.len && next < *end) {
            *end = next;
            return true;
        }
        if (w->buf.len >= *end)
            return true;
        size_t last = sp_window_member(w, from); /* may be one of which too little is there */
        from = w->buf.len - last < 5 ? last : w->buf.len;
        if (!sp_window_more(w))
            return false;
    }
}

/* Whether the record's end is followed by the next record, or by the end of the file. */
static bool ends_well(struct sp_window *w, size_t end)
{
    size_t next = skip_newlines(w, end);
    if (!sp_window_want(w, next + 5))
        return w->buf.len == next;
    return is_newline(w->buf.data[next]) || begins_record(w, next);
}

/* A record whose payload will not fit: its header is kept as the dead letter. */
static size_t too_large(struct sp_window *w, struct sp_chunk *chunk, size_t at, size_t header_len,
                        uint64_t length, bool page)
{
    if (page)
        sp_chunk_add_bad(chunk, w, at, header_len, SP_TOO_LARGE,
                         "the record is larger than input.max_record_bytes");
    uint64_t here = w->buf.len - at - header_len;
    uint64_t pass = length < here ? length : here;
    w->discard = length - pass;
    w->discard_own = begins_member(w, at);
    return at + header_len + (size_t)pass;
}

/* One record at `at`, which is where a record starts. Answers where the next thing is. */
static size_t split_record(struct sp_window *w, struct sp_chunk *chunk, size_t at)
{
    size_t header_len = 0;
    uint64_t length = 0;
    for (;;) {
        size_t there = w->buf.len - at;
        header_len =
            sp_header_end(sp_view(w->buf.data + at, there < HEADER_MAX ? there : HEADER_MAX));
        if (header_len > 0)
            break;
        if (there >= HEADER_MAX)
            return resync(w, chunk, at, at + 5, SP_MALFORMED, "the WARC header does not end");
        if (!sp_window_more(w)) {
            sp_chunk_add_bad(chunk, w, at, w->buf.len - at, SP_TRUNCATED,
                             "the file ends within a WARC header");
            return w->buf.len;
        }
    }
    struct sp_view header = sp_view(w->buf.data + at, header_len);
    bool page = is_page(header);
    if (!sp_header_number(sp_header_field(header, "Content-Length"), &length))
        return resync(w, chunk, at, at + 5, SP_MALFORMED,
                      "the WARC record has no usable Content-Length");
    if (length > length_max)
        return resync(w, chunk, at, at + 5, SP_MALFORMED,
                      "the WARC record's Content-Length is longer than any page");
    if (length > w->max_record)
        return too_large(w, chunk, at, header_len, length, page);
    size_t end = at + header_len + (size_t)length;
    if (!want_record(w, at, &end)) {
        sp_chunk_add_bad(chunk, w, at, w->buf.len - at, SP_TRUNCATED,
                         "the file ends within a WARC record");
        return w->buf.len;
    }
    if (!ends_well(w, end)) {
        size_t next = find_record(w, at + header_len);
        end = next < end ? next : end;
    }
    if (page)
        sp_chunk_add(chunk, (struct sp_slice){
                                .at = at, .len = end - at, .offset = w->offset + at, .records = 1});
    return end;
}

/* Passes over more of a record that is too large; answers how much. What comes behind its end must
 * be a record like anywhere else. */
static size_t discard(struct sp_window *w, struct sp_chunk *chunk)
{
    sp_window_want(w, 5);
    size_t pass = w->discard < w->buf.len ? (size_t)w->discard : w->buf.len;
    size_t next = w->discard_own ? find_member_record(w, 0) : w->buf.len;
    if (next < pass) {
        w->discard = 0; /* the length was wrong */
        sp_chunk_add_bad(chunk, w, next, 0, SP_MALFORMED,
                         "the next WARC record comes before the end of the one that is larger than "
                         "input.max_record_bytes");
        return next;
    }
    w->discard -= pass;
    if (w->discard && w->end) {
        w->discard = 0;
        sp_chunk_add_bad(
            chunk, w, pass, 0, SP_TRUNCATED,
            "the file ends within a WARC record that is larger than "
            "input.max_record_bytes; if it is not cut, the record's length is wrong, and "
            "records behind it are lost");
    }
    return pass;
}

size_t sp_warc_split(struct sp_window *w, struct sp_chunk *chunk)
{
    size_t at = 0;
    if (w->discard)
        return discard(w, chunk);
    if (w->resync) {
        /* The first byte is only there to be looked at. */
        if (!sp_window_want(w, KEPT + 1)) {
            w->resync = false;
            return w->buf.len;
        }
        at = resync_more(w, 1);
        if (w->resync)
            return at;
    }
    while (at < w->block) {
        at = skip_newlines(w, at);
        if (!sp_window_want(w, at + 1))
            break;
        if (is_newline(w->buf.data[at]))
            continue;
        sp_window_want(w, at + 5);
        if (w->buf.len - at < 5 || memcmp(w->buf.data + at, "WARC/", 5) != 0)
            at = resync(
                w, chunk, at, at + 1, SP_MALFORMED,
                "a WARC record should start here; the length of the one before may be wrong");
        else
            at = split_record(w, chunk, at);
        if (w->discard || w->resync)
            break;
    }
    return at;
}

/* ---- parsing ---- */

static int64_t parse_date(struct sp_view text)
{
    struct tm t = {0};
    char copy[32];
    if (text.len < 20 || text.len >= sizeof copy)
        return -1;
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    const char *rest = strptime(copy, "%Y-%m-%dT%H:%M:%S", &t);
    if (!rest)
        return -1;
    int64_t ms = (int64_t)timegm(&t) * 1000;
    if (*rest == '.') { /* fractions, up to nanoseconds */
        int64_t unit = 100;
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            ms += (*rest - '0') * unit;
    }
    return ms;
}

void sp_warc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item)
{
    size_t header_len = sp_header_end(record);
    struct sp_view header = sp_view(record.data, header_len);
    struct sp_view body = sp_view(record.data + header_len, record.len - header_len);
    struct sp_page_record *page = &item->page;
    *page = (struct sp_page_record){.http_status = 200};
    page->url = target_url(header);
    page->fetch_time_ms = parse_date(sp_header_field(header, "WARC-Date"));
    page->content_type = sp_header_field(header, "Content-Type");
    page->content = body;
    page->redirect_url = sp_view("", 0);
    if (page->url.len == 0)
        sp_item_fail(item, SP_NO_URL, "the WARC record has no WARC-Target-URI");
    else if (is_word(sp_header_field(header, "WARC-Type"), "conversion"))
        page->content_is_utf8 = true;
    else if (is_word(sp_header_field(header, "WARC-Type"), "response") &&
             sp_http_response_starts(body))
        sp_http_response_parse(p, body, item);
}

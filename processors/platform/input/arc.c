/* ARC files, the Internet Archive's format before WARC ("Arc File Format", Burner and Kahle, 1996),
 * versions 1 and 2. A record is one line, followed by `length` bytes:
 *
 *   URL IP-address date content-type length                                        version 1
 *   URL IP-address date content-type status checksum location offset name length   version 2
 *
 * The date has 14 digits, in UTC; a few crawlers left out the seconds or added their fractions. For
 * http URLs the bytes are the response as it was received. A URL may contain spaces, because
 * crawlers wrote it unescaped, so it ends before the first address that is followed by a date.
 * Records have no other marker: any line of this form begins one. The file's first record,
 * filedesc://, and records of other schemes (dns:) are skipped. */
#include <strings.h>
#include <time.h>

#include "input/header.h"
#include "input/parser.h"
#include "input/records.h"
#include "input/response.h"

enum { LINE_MAX_BYTES = 8192 + 1024, DATE_LEAST = 12, DATE_MOST = 17 };

struct line {
    struct sp_view url;
    struct sp_view date;
    struct sp_view type;
    struct sp_view length; /* the last word; may be -1 */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_number(struct sp_view word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!is_digit(word.data[i]) && !(i == 0 && word.data[0] == '-' && word.len > 1))
            return false;
    return word.len > 0;
}

static bool is_date(struct sp_view word)
{
    return word.len >= DATE_LEAST && word.len <= DATE_MOST && word.data[0] != '-' &&
           is_number(word);
}

/* Whether the word is an IPv4 or IPv6 address, or a dash. */
static bool is_address(struct sp_view word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!is_digit(word.data[i]) && !strchr(".:abcdefABCDEF", word.data[i]))
            return word.len == 1 && word.data[0] == '-';
    return word.len > 0;
}

static bool has_scheme(struct sp_view url)
{
    size_t i = 0;
    while (i < url.len && ((unsigned)((url.data[i] | 0x20) - 'a') < 26u || is_digit(url.data[i]) ||
                           strchr("+.-", url.data[i])))
        i++;
    return i > 0 && i < url.len && url.data[i] == ':' && !is_digit(url.data[0]);
}

/* Returns the word that ends at `end`. */
static struct sp_view word_before(struct sp_view text, size_t end)
{
    size_t from = end;
    while (from > 0 && text.data[from - 1] != ' ')
        from--;
    return sp_view(text.data + from, end - from);
}

static struct sp_view word_from(struct sp_view text, size_t from)
{
    const char *space = from < text.len ? memchr(text.data + from, ' ', text.len - from) : NULL;
    size_t end = space ? (size_t)(space - text.data) : text.len;
    return sp_view(text.data + from, from < end ? end - from : 0);
}

/* Parses a line without its line end. */
static bool parse_line(struct sp_view text, struct line *ret_line)
{
    if (!has_scheme(text))
        return false;
    ret_line->length = word_before(text, text.len);
    if (!is_number(ret_line->length))
        return false;
    for (size_t at = word_from(text, 0).len + 1; at < text.len;) {
        struct sp_view word = word_from(text, at);
        struct sp_view address = word_before(text, at - 1);
        size_t type = at + word.len + 1;
        if (is_date(word) && address.data > text.data && is_address(address) &&
            type + ret_line->length.len < text.len) {
            ret_line->url = sp_view(text.data, (size_t)(address.data - 1 - text.data));
            ret_line->date = word;
            ret_line->type = word_from(text, type);
            return true;
        }
        at = type;
    }
    return false;
}

/* Returns the length of the first line with its line end; 0 if the text has no line end. */
static size_t line_end(struct sp_view text)
{
    const char *newline = memchr(text.data, '\n', text.len);
    return newline ? (size_t)(newline + 1 - text.data) : 0;
}

static struct sp_view without_end(struct sp_view line)
{
    while (line.len && (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    return line;
}

/* ---- cutting ---- */

static bool at_line_start(const struct sp_window *w, size_t at)
{
    if (sp_window_member(w, at) == at)
        return true;
    return (at == 0 && w->offset == 0) ||
           sp_record_may_follow(at ? w->buf.data[at - 1] : w->before);
}

static bool begins(const struct sp_window *w, size_t at)
{
    struct line line;
    size_t there = w->buf.len - at < LINE_MAX_BYTES ? w->buf.len - at : LINE_MAX_BYTES;
    struct sp_view text = sp_view(w->buf.data + at, there);
    if (there == 0 || !at_line_start(w, at) || !has_scheme(text))
        return false;
    text.len = line_end(text);
    return text.len > 0 && parse_line(without_end(text), &line);
}

static size_t find(const struct sp_window *w, size_t from)
{
    while (from < w->buf.len) {
        if (begins(w, from))
            return from;
        size_t len = line_end(sp_view(w->buf.data + from, w->buf.len - from));
        if (len == 0)
            break;
        from += len;
    }
    return w->buf.len;
}

static bool is_page(struct sp_view header)
{
    struct line line;
    return parse_line(without_end(header), &line) && line.url.len > 4 &&
           strncasecmp(line.url.data, "http", 4) == 0;
}

static bool length_of(struct sp_view header, uint64_t *ret_length)
{
    struct line line;
    return parse_line(without_end(header), &line) && sp_header_number(line.length, ret_length);
}

size_t sp_arc_split(struct sp_window *w, struct sp_chunk *chunk)
{
    static const struct sp_record_kind kind = {.mark = LINE_MAX_BYTES,
                                               .begins = begins,
                                               .find = find,
                                               .header_end = line_end,
                                               .is_page = is_page,
                                               .length = length_of,
                                               .why = SP_RECORD_WHY("an", "ARC", "length")};
    return sp_records_split(w, chunk, &kind);
}

/* ---- parsing ---- */

static int digits(const char *from, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        n = n * 10 + (from[i] - '0');
    return n;
}

static int64_t parse_date(struct sp_view date)
{
    const char *d = date.data;
    struct tm t = {.tm_year = digits(d, 4) - 1900,
                   .tm_mon = digits(d + 4, 2) - 1,
                   .tm_mday = digits(d + 6, 2),
                   .tm_hour = digits(d + 8, 2),
                   .tm_min = digits(d + 10, 2),
                   .tm_sec = date.len < 14 ? 0 : digits(d + 12, 2)};
    if ((unsigned)t.tm_mon > 11 || t.tm_mday < 1 || t.tm_mday > 31 || t.tm_hour > 23 ||
        t.tm_min > 59 || t.tm_sec > 60)
        return -1;
    int64_t seconds = timegm(&t);
    return seconds < 0 ? -1 : seconds * 1000;
}

void sp_arc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item)
{
    size_t header_len = line_end(record);
    struct sp_page_record *page = &item->page;
    struct line line = {0};
    *page = (struct sp_page_record){.http_status = 200, .redirect_url = sp_view("", 0)};
    if (!parse_line(without_end(sp_view(record.data, header_len)), &line)) {
        sp_item_fail(item, SP_MALFORMED, "the ARC record's first line is broken");
        return;
    }
    page->url = sp_parser_url(p, line.url);
    page->fetch_time_ms = parse_date(line.date);
    page->content_type = line.type;
    page->content = sp_view(record.data + header_len, record.len - header_len);
    if (sp_http_response_starts(page->content))
        sp_http_response_parse(p, page->content, item);
}

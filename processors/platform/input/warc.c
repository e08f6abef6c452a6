/* WARC and WET files (ISO 28500): which records there are, and reading one. records.h cuts them.
 *
 * The record types that are pages count as records: response, resource, conversion (of WET) and
 * revisit, with an http or https URL. All others are skipped.
 *
 * A page that is too long for one record (6.9) has a first segment, of its own type, and
 * continuations, which are skipped. The first segment is a part of the page, as a 206 is.
 *
 * A revisit (6.7) is a fetch that found known content: it becomes a 304, with the time of the fetch
 * that it refers to. If its HTTP header is that of a redirect, an error or a missing page, that
 * header decides, because such a response does not depend on its payload. */
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/bytes.h"
#include "input/header.h"
#include "input/parser.h"
#include "input/records.h"
#include "input/response.h"

static struct sp_view url_of(struct sp_view header, const char *field)
{
    struct sp_view url = sp_header_field(header, field);
    if (url.len >= 2 && url.data[0] == '<' && url.data[url.len - 1] == '>')
        url = sp_view(url.data + 1, url.len - 2);
    return url;
}

static bool is_page(struct sp_view header)
{
    struct sp_view type = sp_header_field(header, "WARC-Type"),
                   url = url_of(header, "WARC-Target-URI");
    if (url.len > 0 && (url.len < 4 || (strncasecmp(url.data, "http", 4) != 0 &&
                                        strncasecmp(url.data, "doc:", 4) != 0)))
        return false;
    return sp_view_is_word(type, "response") || sp_view_is_word(type, "resource") ||
           sp_view_is_word(type, "conversion") || sp_view_is_word(type, "revisit");
}

/* ---- cutting ---- */

static const char mark[] = "WARC/";

static bool begins(const struct sp_window *w, size_t at)
{
    return w->buf.len - at >= 5 && memcmp(w->buf.data + at, mark, 5) == 0;
}

static size_t find(const struct sp_window *w, size_t from)
{
    while (from < w->buf.len) {
        const char *at = memmem(w->buf.data + from, w->buf.len - from, mark, 5);
        if (!at)
            return w->buf.len;
        size_t place = (size_t)(at - w->buf.data);
        if (place == 0 || sp_record_may_follow(w->buf.data[place - 1]))
            return place;
        from = place + 1;
    }
    return w->buf.len;
}

static const char *fault(struct sp_view header)
{
    return sp_header_field(header, "WARC-Type").len ? NULL : "the WARC record has no WARC-Type";
}

static bool content_length(struct sp_view header, uint64_t *ret_length)
{
    return sp_header_number(sp_header_field(header, "Content-Length"), ret_length);
}

size_t sp_warc_split(struct sp_window *w, struct sp_chunk *chunk)
{
    static const struct sp_record_kind kind = {.mark = sizeof mark - 1,
                                               .begins = begins,
                                               .find = find,
                                               .header_end = sp_header_end,
                                               .is_page = is_page,
                                               .border = mark,
                                               .fault = fault,
                                               .length = content_length,
                                               .why = SP_RECORD_WHY("a", "WARC", "Content-Length")};
    return sp_records_split(w, chunk, &kind);
}

/* ---- parsing ---- */

/* A time as in W3C-ISO8601, of which WARC 1.1 allows any precision from a year to nanoseconds, in
 * UTC unless an offset follows. -1: it is none, such as the "null" of some archives, whose pages
 * are worth more than their times. */
static int64_t parse_date(struct sp_view text)
{
    enum { FORMATS = 5 };
    static const char *const formats[FORMATS] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d",
                                                 "%Y-%m", "%Y"};
    struct tm t = {0}, zone = {0};
    char copy[40];
    const char *rest = NULL;
    if (text.len < 4 || text.len >= sizeof copy)
        return -1;
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    for (int i = 0; i < FORMATS && !rest; i++) {
        t = (struct tm){.tm_mday = 1};
        rest = strptime(copy, formats[i], &t);
    }
    if (!rest)
        return -1;
    int64_t ms = (int64_t)timegm(&t) * 1000;
    if (*rest == '.') { /* fractions of a second, up to nanoseconds */
        int64_t unit = 100;
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            ms += (*rest - '0') * unit;
    }
    if (*rest && strchr(copy, 'T'))
        rest = strptime(rest, "%z", &zone);
    return rest && !*rest ? ms - zone.tm_gmtoff * 1000 : -1;
}

/* Whether the revisit's profile says that the payload was fetched and is known. With any other
 * profile the digest may be that of an empty payload. */
static bool is_identical(struct sp_view header)
{
    struct sp_view profile = sp_header_field(header, "WARC-Profile");
    return profile.len && memmem(profile.data, profile.len, "identical-payload-digest", 24);
}

static void parse_revisit(struct sp_parser *p, struct sp_view header, struct sp_input_item *item)
{
    struct sp_page_record *page = &item->page;
    struct sp_view refers = url_of(header, "WARC-Refers-To-Target-URI");
    int64_t as_of = parse_date(sp_header_field(header, "WARC-Refers-To-Date"));
    if (sp_http_response_starts(page->content))
        sp_http_response_parse(p, page->content, item);
    bool ok = sp_page_record_succeeded(page);
    page->content = sp_view("", 0);
    if (!ok && page->http_status != 304)
        return;
    page->http_status = 304;
    page->as_of_ms = as_of > 0 ? as_of : 0;
    if (!is_identical(header))
        page->payload_digest = sp_view("", 0);
    page->as_elsewhere = refers.len > 0 && !sp_view_eq(refers, url_of(header, "WARC-Target-URI"));
}

/* Whether the page goes on in other records. */
static bool is_segment(struct sp_view header)
{
    uint64_t number;
    return sp_header_number(sp_header_field(header, "WARC-Segment-Number"), &number) && number > 0;
}

/* Errors and redirects do not depend on the rest of the page. */
static void parse_segment(struct sp_parser *p, bool response, struct sp_view body,
                          struct sp_input_item *item)
{
    item->page.http_status = SP_HTTP_PART;
    if (response && sp_http_response_starts(body))
        sp_http_response_parse_part(p, body, item);
}

void sp_warc_parse(struct sp_parser *p, struct sp_view record, struct sp_input_item *item)
{
    size_t header_len = sp_header_end(record);
    struct sp_view header = sp_view(record.data, header_len);
    struct sp_view body = sp_view(record.data + header_len, record.len - header_len);
    struct sp_view type = sp_header_field(header, "WARC-Type");
    struct sp_page_record *page = &item->page;
    *page = (struct sp_page_record){.http_status = 200};
    page->url = sp_parser_url(p, url_of(header, "WARC-Target-URI"));
    page->fetch_time_ms = parse_date(sp_header_field(header, "WARC-Date"));
    page->content_type = sp_header_field(header, "Content-Type");
    page->payload_digest = sp_header_field(header, "WARC-Payload-Digest");
    page->content = body;
    page->redirect_url = sp_view("", 0);
    if (page->url.len == 0)
        sp_item_fail(item, SP_NO_URL, "the WARC record has no WARC-Target-URI");
    else if (is_segment(header))
        parse_segment(p, sp_view_is_word(type, "response") || sp_view_is_word(type, "revisit"),
                      body, item);
    else if (sp_view_is_word(type, "conversion"))
        page->content_is_utf8 = true;
    else if (sp_view_is_word(type, "revisit"))
        parse_revisit(p, header, item);
    else if (sp_view_is_word(type, "response") && sp_http_response_starts(body))
        sp_http_response_parse(p, body, item);
}

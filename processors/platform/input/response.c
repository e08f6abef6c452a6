/* An HTTP response as it came over the wire: status, headers, transfer and content encoding (RFC
 * 9112 sections 4 to 7).
 *
 * Archives often store decoded bodies under the headers of the encoded ones. So a body that does
 * not begin as its header says is taken as it is; one that begins correctly and is damaged later is
 * a dead letter. */
#include "input/response.h"

#include <strings.h>

#include "input/encoding.h"
#include "input/header.h"

enum { CODINGS_MAX = 3 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the size line of a chunk; returns the length of the line, or 0. */
static size_t chunk_size(struct sp_view at, uint64_t *ret_size)
{
    uint64_t size = 0;
    size_t i = 0;
    while (i < at.len && i < 15 && hex_digit(at.data[i]) >= 0)
        size = size << 4 | (uint64_t)hex_digit(at.data[i++]);
    if (i == 0)
        return 0;
    while (i < at.len && (at.data[i] == ' ' || at.data[i] == '\t'))
        i++;
    const char *newline = memchr(at.data + i, '\n', at.len - i);
    if (!newline || (at.data[i] != '\r' && at.data[i] != '\n' && at.data[i] != ';'))
        return 0;
    *ret_size = size;
    return (size_t)(newline + 1 - at.data);
}

static enum sp_err decode_chunks(struct sp_view body, struct sp_buf *out)
{
    uint64_t size = 0;
    sp_buf_reset(out);
    for (;;) {
        size_t line = chunk_size(body, &size);
        if (line == 0)
            return out->len == 0 ? SP_NOT_FOUND : SP_MALFORMED;
        body = sp_view(body.data + line, body.len - line);
        if (size == 0)
            return SP_OK;
        if (size > body.len)
            return out->len == 0 && body.len == 0 ? SP_TRUNCATED : SP_MALFORMED;
        sp_buf_put(out, body.data, (size_t)size);
        body = sp_view(body.data + size, body.len - (size_t)size);
        size_t end = body.len >= 2 && body.data[0] == '\r' ? 2 : body.len >= 1 ? 1 : 0;
        body = sp_view(body.data + end, body.len - end);
    }
}

static bool has_word(struct sp_view list, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= list.len; i++)
        if (strncasecmp(list.data + i, word, n) == 0)
            return true;
    return false;
}

/* Removes and returns the last coding of the list, which was applied last. */
static struct sp_view take_last(struct sp_view *list)
{
    size_t end = list->len;
    while (end > 0 && strchr(" \t,", list->data[end - 1]))
        end--;
    size_t from = end;
    while (from > 0 && !strchr(" \t,", list->data[from - 1]))
        from--;
    list->len = from;
    return sp_view(list->data + from, end - from);
}

static void fail_coding(struct sp_input_item *item, enum sp_err err)
{
    if (err == SP_NOT_FOUND)
        sp_item_fail(item, SP_MALFORMED,
                     "the body's Content-Encoding is not gzip, deflate, br or zstd");
    else if (err == SP_TOO_LARGE)
        sp_item_fail(item, err,
                     "the decompressed body is larger than input.max_record_bytes, or its zstd "
                     "window than 8 MiB");
    else
        sp_item_fail(item, err, "the body's compression is damaged");
}

static void decode_content(struct sp_parser *p, struct sp_view list, struct sp_input_item *item)
{
    if (item->page.content.len == 0)
        return;
    for (int i = 0; i < CODINGS_MAX; i++) {
        struct sp_view name = take_last(&list);
        if (name.len == 0)
            return;
        /* Two buffers alternate: one may hold the input of the next decoding. */
        bool in_plain = p->plain.len && item->page.content.data == p->plain.data;
        struct sp_buf *out = in_plain ? &p->body : &p->plain;
        enum sp_err err = sp_encoding_undo(name, item->page.content, p->max_record, out);
        if (err == SP_OK)
            item->page.content = sp_buf_view(out);
        else if (err != SP_END) {
            fail_coding(item, err);
            return;
        }
    }
    if (take_last(&list).len > 0)
        sp_item_fail(item, SP_MALFORMED, "the body has more than three Content-Encodings");
}

/* Whether the Content-Range of a 206 is that of the whole page ("bytes 0-499/500"). A crawler that
 * limits the size of pages by the ranges it asks for gets small pages like this. */
static bool is_whole(struct sp_view range)
{
    static const char unit[] = "bytes 0-";
    uint64_t last, all;
    const char *slash = range.len ? memchr(range.data, '/', range.len) : NULL;
    if (!slash || range.len < sizeof unit || strncasecmp(range.data, unit, sizeof unit - 1) != 0)
        return false;
    const char *from = range.data + sizeof unit - 1, *end = range.data + range.len;
    return slash > from && sp_header_number(sp_view(from, (size_t)(slash - from)), &last) &&
           sp_header_number(sp_view(slash + 1, (size_t)(end - slash - 1)), &all) && all == last + 1;
}

bool sp_http_response_starts(struct sp_view bytes)
{
    return bytes.len >= 5 && strncasecmp(bytes.data, "HTTP/", 5) == 0;
}

static bool read_status(struct sp_view header, uint64_t *ret_status)
{
    const char *end = memchr(header.data, '\n', header.len);
    size_t line = end ? (size_t)(end - header.data) : header.len;
    const char *space = line >= 10 ? memchr(header.data, ' ', line - 3) : NULL;
    return space && sp_header_number(sp_view(space + 1, 3), ret_status);
}

/* Returns the length of the header at the start of `response`, which may be only headers. */
static size_t header_length(struct sp_view response)
{
    size_t len = sp_header_end(response);
    return len ? len : response.len;
}

/* Removes the interim responses (100 Continue, 103 Early Hints) before the final one: RFC 9110,
 * section 15.2. */
static struct sp_view final_response(struct sp_view response)
{
    uint64_t status;
    for (;;) {
        size_t len = header_length(response);
        struct sp_view rest = sp_view(response.data + len, response.len - len);
        if (!read_status(sp_view(response.data, len), &status) || status >= 200 ||
            !sp_http_response_starts(rest))
            return response;
        response = rest;
    }
}

/* Some servers write a Location as people read it. Like browsers, crawlers then go to a URL with
 * %20 for each space, and without tabs and line ends. */
static struct sp_view location_of(struct sp_parser *p, struct sp_view header)
{
    struct sp_view location = sp_header_field(header, "Location");
    if (!memchr(location.data, ' ', location.len) && !memchr(location.data, '\t', location.len))
        return location;
    sp_buf_reset(&p->target_utf8);
    for (size_t i = 0; i < location.len; i++)
        if (location.data[i] == ' ')
            sp_buf_put_str(&p->target_utf8, "%20");
        else if (location.data[i] != '\t' && location.data[i] != '\r' && location.data[i] != '\n')
            sp_buf_put_u8(&p->target_utf8, (uint8_t)location.data[i]);
    return sp_buf_view(&p->target_utf8);
}

/* Fills in all but the content, which is the body as it was sent. Returns the header; its data is
 * NULL if the item has failed. */
static struct sp_view parse_head(struct sp_parser *p, struct sp_view response,
                                 struct sp_input_item *item)
{
    response = final_response(response);
    size_t header_len = header_length(response);
    struct sp_view header = sp_view(response.data, header_len);
    struct sp_page_record *page = &item->page;
    uint64_t status;
    if (!read_status(header, &status)) {
        sp_item_fail(item, SP_MALFORMED, "the response's HTTP status line is broken");
        return sp_view(NULL, 0);
    }
    bool whole = is_whole(sp_header_field(header, "Content-Range"));
    page->http_status = status == SP_HTTP_PART && whole ? 200 : (int32_t)status;
    page->content_type = sp_header_field(header, "Content-Type");
    page->redirect_url = location_of(p, header);
    page->content = sp_view(response.data + header_len, response.len - header_len);
    sp_parser_resolve(p, page);
    return header;
}

void sp_http_response_parse(struct sp_parser *p, struct sp_view response,
                            struct sp_input_item *item)
{
    struct sp_page_record *page = &item->page;
    struct sp_view header = parse_head(p, response, item);
    if (!header.data || page->http_status == SP_HTTP_PART)
        return; /* a part of a compressed body need not be readable */
    if (has_word(sp_header_field(header, "Transfer-Encoding"), "chunked")) {
        enum sp_err err = decode_chunks(page->content, &p->body);
        if (err == SP_OK)
            page->content = sp_buf_view(&p->body);
        else if (err != SP_NOT_FOUND) {
            sp_item_fail(item, err, "the body's chunk lengths are wrong");
            return;
        }
    }
    decode_content(p, sp_header_field(header, "Content-Encoding"), item);
}

void sp_http_response_parse_part(struct sp_parser *p, struct sp_view response,
                                 struct sp_input_item *item)
{
    struct sp_page_record *page = &item->page;
    if (parse_head(p, response, item).data && sp_page_record_succeeded(page))
        page->http_status = SP_HTTP_PART;
}

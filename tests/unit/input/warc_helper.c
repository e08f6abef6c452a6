/* See warc_helper.h. */
#include "warc_helper.h"

#include "harness.h"

void put_record_as(struct sp_buf *out, const char *newline, const char *type, const char *url,
                   const char *fields, struct sp_view body, long length)
{
    put_format(out, "WARC/1.0%sWARC-Type: %s%sWARC-Date: 2023-11-14T22:13:20Z%s", newline, type,
               newline, newline);
    if (url)
        put_format(out, "WARC-Target-URI: %s%s", url, newline);
    put_format(out, "%sContent-Length: %ld%s%s", fields, length < 0 ? (long)body.len : length,
               newline, newline);
    sp_buf_put_view(out, body);
    put_format(out, "%s%s", newline, newline);
}

void put_record(struct sp_buf *out, const char *type, const char *url, const char *body)
{
    put_record_as(out, "\r\n", type, url, "", sp_view_str(body), -1);
}

void put_response(struct sp_buf *out, const char *url, const char *content)
{
    struct sp_buf body = {0};
    put_format(&body, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n%s", content);
    put_record_as(out, "\r\n", "response", url, "", sp_buf_view(&body), -1);
    sp_buf_done(&body);
}

struct got read_wire(struct sp_view wire)
{
    struct sp_buf file = {0};
    put_record(&file, "warcinfo", NULL, "software: test\r\n");
    put_record_as(&file, "\r\n", "response", "http://u/a/b", "", wire, -1);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL(g.count, 1);
    sp_buf_done(&file);
    return g;
}

struct got read_wire_text(const char *wire)
{
    return read_wire(sp_view_str(wire));
}

void check_body(const char *wire, const char *content)
{
    struct got g = read_wire_text(wire);
    check_page(&g, 0, "http://u/a/b", content);
    got_done(&g);
}

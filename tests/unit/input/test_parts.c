/* WARC records that do not have the whole page: revisits, parts of pages, segments. */
#include <stdio.h>

#include "harness.h"
#include "warc_helper.h"

/* A revisit record of http://u/a with these header lines and this block. */
static struct got read_revisit(const char *fields, const char *block)
{
    struct sp_buf file = {0};
    put_record_as(&file, "\r\n", "revisit", "http://u/a", fields, sp_view_str(block), -1);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    sp_buf_done(&file);
    return g;
}

TEST(a_revisit_is_a_304_with_the_time_it_refers_to)
{
    static const char date[] = "WARC-Refers-To-Date: 2023-11-14T22:13:19Z\r\n";
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n";
    static const struct {
        const char *fields;
        const char *block;
        int64_t as_of_ms;
        bool as_elsewhere;
    } cases[] = {
        {"", "", 0, false},
        {date, ok, 1699999999000, false},
        {date, "HTTP/1.1 304 Not Modified\r\n\r\n", 1699999999000, false},
        {"WARC-Refers-To-Date: yesterday\r\n", ok, 0, false},
        {"WARC-Refers-To-Target-URI: <http://u/a>\r\n", ok, 0, false},
        {"WARC-Refers-To-Target-URI: http://u/b\r\n", ok, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct got g = read_revisit(cases[i].fields, cases[i].block);
        check_page(&g, 0, "http://u/a", "");
        CU_ASSERT_EQUAL(g.items[0].page.http_status, 304);
        CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, 1700000000000);
        CU_ASSERT_EQUAL(g.items[0].page.as_of_ms, cases[i].as_of_ms);
        CU_ASSERT_EQUAL(g.items[0].page.as_elsewhere, cases[i].as_elsewhere);
        got_done(&g);
    }
    struct got g = read_revisit(date, "HTTP/1.1 302 Found\r\nLocation: b\r\n\r\n");
    check_page(&g, 0, "http://u/a", "");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 302);
    CU_ASSERT(view_is(g.items[0].page.redirect_url, "http://u/b"));
    CU_ASSERT_EQUAL(g.items[0].page.as_of_ms, 0);
    got_done(&g);
}

/* With the profile of HTTP 304 the digest may be that of an empty body. */
TEST(a_digest_is_that_of_a_payload_and_of_no_other_revisit)
{
    static const char digest[] = "WARC-Payload-Digest: sha1:ABC\r\n";
    static const char identical[] =
        "WARC-Payload-Digest: sha1:ABC\r\n"
        "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n";
    struct got g = read_revisit(digest, "");
    CU_ASSERT_EQUAL(g.items[0].page.payload_digest.len, 0);
    got_done(&g);
    g = read_revisit(identical, "");
    CU_ASSERT(view_is(g.items[0].page.payload_digest, "sha1:ABC"));
    got_done(&g);
    struct sp_buf file = {0};
    put_record_as(&file, "\r\n", "response", "http://u/", digest, sp_view_str("x"), -1);
    g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT(view_is(g.items[0].page.payload_digest, "sha1:ABC"));
    got_done(&g);
    sp_buf_done(&file);
}

/* A fetch of http://u/a/b with this Content-Range. */
static struct got read_part(const char *range, const char *body)
{
    struct sp_buf wire = {0};
    put_format(&wire, "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\n%s\r\n%s", range,
               body);
    struct got g = read_wire(sp_buf_view(&wire));
    sp_buf_done(&wire);
    return g;
}

TEST(a_part_of_a_page_is_a_206_and_a_206_with_all_of_it_is_a_200)
{
    static const char *const parts[] = {
        "",
        "Content-Range: bytes 0-3/5\r\n",
        "Content-Range: bytes 1-4/5\r\n",
        "Content-Range: bytes 0-4/*\r\n",
        "Content-Range: bytes */5\r\n",
        "Content-Range: bytes 0-\r\n",
        "Content-Range: bytes 0-/5\r\n",
        "Content-Range: /\r\n",
        "Content-Range: pages 0-4/5\r\n",
        "Content-Range: bytes 0-4/5x\r\n",
        "Content-Range: bytes 0-18446744073709551615/0\r\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        /* begins as gzip does, and ends too early */
        struct got g = read_part(parts[i], "\x1f\x8b\x08");
        CU_ASSERT_EQUAL(g.items[0].err, SP_OK);
        CU_ASSERT_EQUAL(g.items[0].page.http_status, 206);
        CU_ASSERT(!sp_page_record_succeeded(&g.items[0].page));
        got_done(&g);
    }
    struct got g = read_part("content-range: Bytes 0-4/5\r\n", "whole");
    check_page(&g, 0, "http://u/a/b", "whole");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 200);
    got_done(&g);
}

/* A record of http://u/a that is a segment, followed by an intact one. */
static struct got read_segment(const char *type, const char *number, const char *block)
{
    struct sp_buf file = {0}, fields = {0};
    put_format(&fields, "WARC-Segment-Number: %s\r\n%c", number, 0);
    put_record_as(&file, "\r\n", type, "http://u/a", fields.data, sp_view_str(block), -1);
    put_record_as(&file, "\r\n", "continuation", "http://u/a", "WARC-Segment-Number: 2\r\n",
                  sp_view_str("rest"), -1);
    put_response(&file, "http://u/last", "x");
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 1, "http://u/last", "x");
    sp_buf_done(&file);
    sp_buf_done(&fields);
    return g;
}

TEST(the_first_segment_of_a_page_is_a_part_of_it)
{
    static const struct {
        const char *type;
        const char *number;
        const char *block;
        int32_t status;
    } cases[] = {
        {"response", "1", "HTTP/1.1 200 OK\r\n\r\nfirst", 206},
        {"response", "1", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfirst", 206},
        {"response", "1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfir", 206},
        {"response", "1", "HTTP/1.1 200 OK\r\nContent-Le", 206},
        {"response", "1", "<p>a bare body", 206},
        {"response", "1", "HTTP/1.1 404 Not Found\r\n\r\nfirst", 404},
        {"response", "1", "HTTP/1.1 302 Found\r\nLocation: b\r\n\r\nfirst", 302},
        {"response", "0", "HTTP/1.1 200 OK\r\n\r\nfirst", 200}, /* no segment has this number */
        {"revisit", "1", "HTTP/1.1 200 OK\r\n\r\n", 206},
        {"resource", "1", "HTTP/1.1 404 is a text", 206},
        {"conversion", "1", "a text", 206},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct got g = read_segment(cases[i].type, cases[i].number, cases[i].block);
        CU_ASSERT_EQUAL(g.items[0].err, SP_OK);
        CU_ASSERT(view_is(g.items[0].page.url, "http://u/a"));
        CU_ASSERT_EQUAL(g.items[0].page.http_status, cases[i].status);
        got_done(&g);
    }
}

TEST(a_revisit_of_a_part_says_nothing_of_the_page)
{
    struct got g = read_revisit("", "HTTP/1.1 206 Partial Content\r\n\r\n");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 206);
    got_done(&g);
    g = read_revisit("", "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/5\r\n\r\n");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 304);
    got_done(&g);
}

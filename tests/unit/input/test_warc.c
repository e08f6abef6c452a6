/* WARC and WET: which records are pages, their content, and wrong lengths. */
#include <stdio.h>

#include "harness.h"
#include "warc_helper.h"

TEST(a_response_gives_status_type_time_and_body)
{
    struct got g = read_wire_text("HTTP/1.1 200 OK\r\ncontent-type:  text/html; charset=latin1 \r\n"
                                  "X: y\r\n\r\n<p>caf\xe9</p>");
    check_page(&g, 0, "http://u/a/b", "<p>caf\xe9</p>");
    const struct sp_page_record *page = &g.items[0].page;
    CU_ASSERT_EQUAL(page->http_status, 200);
    CU_ASSERT_EQUAL(page->fetch_time_ms, 1700000000000);
    CU_ASSERT(view_is(page->content_type, "text/html; charset=latin1"));
    CU_ASSERT_EQUAL(page->redirect_url.len, 0);
    CU_ASSERT_EQUAL(page->popularity, 0);
    CU_ASSERT(!page->content_is_utf8);
    got_done(&g);
}

TEST(an_interim_response_before_the_final_one_is_passed_over)
{
    struct got g = read_wire_text("HTTP/1.1 100 Continue\r\n\r\n"
                                  "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
                                  "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello");
    check_page(&g, 0, "http://u/a/b", "hello");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 200);
    CU_ASSERT(view_is(g.items[0].page.content_type, "text/html"));
    got_done(&g);
    g = read_wire_text("HTTP/1.1 103 Early Hints\r\n\r\n"); /* there is no other */
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 103);
    got_done(&g);
}

TEST(a_chunked_body_is_put_together)
{
    check_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               "5\r\nhello\r\n1;name=value\r\n \r\nA\r\n0123456789\r\n"
               "0\r\nTrailer: x\r\n\r\n",
               "hello 0123456789");
    check_body("HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n5\nhello\n0\n\n", "hello");
    check_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "");
}

TEST(a_body_stored_without_the_chunks_its_header_names_is_taken_as_it_is)
{
    check_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<html>hello</html>",
               "<html>hello</html>");
    /* "A " and "2024 " are no sizes of chunks; white space behind a size is. */
    check_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA text of\ntwo lines",
               "A text of\ntwo lines");
    check_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2024 in\nshort",
               "2024 in\nshort");
    check_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               "5  \r\nhello\r\n1 ;a\r\n!\r\n0 \r\n\r\n",
               "hello!");
}

TEST(wrong_chunk_lengths_are_a_dead_letter)
{
    static const char *const bodies[] = {"5\r\nhello\r\nxyz", "5\r\nhello\r\n9\r\nshort",
                                         "5\r\nhello\r\n",    "4\r\nhello\r\n0\r\n\r\n",
                                         "fffffffff\r\nx",    "5\r\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct sp_buf wire = {0};
        put_format(&wire, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s", bodies[i]);
        struct got g = read_wire(sp_buf_view(&wire));
        CU_ASSERT(g.items[0].err == SP_MALFORMED || g.items[0].err == SP_TRUNCATED);
        check_bad(&g, 0, g.items[0].err, "chunk lengths");
        CU_ASSERT(g.items[0].raw.len > wire.len); /* includes the header */
        got_done(&g);
        sp_buf_done(&wire);
    }
}

TEST(a_redirect_is_made_absolute)
{
    static const struct {
        const char *location;
        const char *absolute;
    } cases[] = {{"c?d=e", "http://u/a/c?d=e"},  {"/c", "http://u/c"},
                 {"../c", "http://u/c"},         {"//v/c", "http://v/c"},
                 {"https://v/c", "https://v/c"}, {"/c d?e f", "http://u/c%20d?e%20f"},
                 {"\t/c\td ", "http://u/cd"},    {"/\xc3\xa4 \xe4", "http://u/\xc3\xa4%20%E4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_buf wire = {0};
        put_format(&wire, "HTTP/1.1 302 Found\r\nLocation: %s\r\n\r\n", cases[i].location);
        struct got g = read_wire(sp_buf_view(&wire));
        check_page(&g, 0, "http://u/a/b", "");
        CU_ASSERT_EQUAL(g.items[0].page.http_status, 302);
        CU_ASSERT(view_is(g.items[0].page.redirect_url, cases[i].absolute));
        got_done(&g);
        sp_buf_done(&wire);
    }
}

TEST(a_value_may_go_on_in_the_next_lines)
{
    struct got g =
        read_wire_text("HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n\tcharset=koi8-r\r\n"
                       "Content-Encoding:\r\n identity\r\n\r\n\xed\xc9\xd2");
    check_page(&g, 0, "http://u/a/b", "\xed\xc9\xd2");
    CU_ASSERT(view_is(g.items[0].page.content_type, "text/html;\r\n\tcharset=koi8-r"));
    got_done(&g);
    g = read_wire_text("HTTP/1.1 302 Found\r\nLocation:\r\n /c\r\n d \r\n \r\n\r\n");
    check_page(&g, 0, "http://u/a/b", "");
    CU_ASSERT(view_is(g.items[0].page.redirect_url, "http://u/c%20d"));
    got_done(&g);
    struct sp_buf file = {0};
    put_record(&file, "resource", "\r\n  <http://u/folded>", "text");
    g = read_and_drop(&file, NULL);
    check_page(&g, 0, "http://u/folded", "text");
    got_done(&g);
}

TEST(other_statuses_are_kept)
{
    struct got g = read_wire_text("HTTP/1.0 404 Not Found\r\n\r\ngone");
    check_page(&g, 0, "http://u/a/b", "gone");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 404);
    got_done(&g);
    g = read_wire_text("HTTP/2 204 \r\nServer: x\r\n"); /* a header without a body */
    check_page(&g, 0, "http://u/a/b", "");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 204);
    got_done(&g);
    g = read_wire_text("HTTP/2 203\nA: b\n\nbody"); /* without a reason phrase */
    check_page(&g, 0, "http://u/a/b", "body");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 203);
    got_done(&g);
}

TEST(a_broken_status_line_is_a_dead_letter)
{
    static const char *const wires[] = {"HTTP/1.1\r\nX: 404 times\r\n\r\nbody",
                                        "HTTP/1.1 abc OK\r\n\r\nbody", "HTTP/1.1 20",
                                        "HTTP/1.1 2 0 \r\n\r\nbody", "HTTP/1.1 9"};
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) {
        struct got g = read_wire_text(wires[i]);
        check_bad(&g, 0, SP_MALFORMED, "status line");
        got_done(&g);
    }
}

TEST(a_response_stored_as_the_bare_body_is_a_page)
{
    struct got g = read_wire_text("<html>bare</html>");
    check_page(&g, 0, "http://u/a/b", "<html>bare</html>");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 200);
    got_done(&g);
}

TEST(resources_and_conversions_are_pages)
{
    struct sp_buf file = {0};
    put_record_as(&file, "\r\n", "resource", "<https://u/r>", "Content-Type: text/css\r\n",
                  sp_view_str("HTTP/1.1 this is a text"), -1);
    put_record_as(&file, "\r\n", "conversion", "http://u/c", "Content-Type: text/plain\r\n",
                  sp_view_str("Plain \xc3\xa9 text"), -1);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "https://u/r", "HTTP/1.1 this is a text");
    CU_ASSERT(view_is(g.items[0].page.content_type, "text/css"));
    CU_ASSERT(!g.items[0].page.content_is_utf8);
    check_page(&g, 1, "http://u/c", "Plain \xc3\xa9 text");
    CU_ASSERT(view_is(g.items[1].page.content_type, "text/plain"));
    CU_ASSERT(g.items[1].page.content_is_utf8);
    CU_ASSERT_EQUAL(g.items[1].page.fetch_time_ms, 1700000000000);
    got_done(&g);
    sp_buf_done(&file);
}

TEST(records_that_are_no_pages_are_passed_over_and_not_counted)
{
    static const char *const types[] = {"warcinfo", "request", "metadata", "continuation",
                                        "unheard-of"};
    struct sp_buf file = {0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        put_record(&file, types[i], i ? "http://u/" : NULL, "GET / HTTP/1.1\r\n\r\n");
    put_record(&file, "response", "dns:u", "127.0.0.1");
    put_record(&file, "resource", "urn:uuid:1", "x");
    size_t offset = file.len;
    put_response(&file, "http://u/", "x");
    put_record(&file, "metadata", "http://u/", "x: y\r\n");
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_page(&g, 0, "http://u/", "x");
    CU_ASSERT_EQUAL(g.items[0].number, 0);
    CU_ASSERT_EQUAL(g.items[0].offset, offset);
    got_done(&g);
    sp_buf_done(&file);
}

TEST(a_response_without_url_is_a_dead_letter)
{
    struct sp_buf file = {0};
    put_record(&file, "response", NULL, "x");
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_bad(&g, 0, SP_NO_URL, "WARC-Target-URI");
    got_done(&g);
    sp_buf_done(&file);
}

/* A record with a wrong length between two intact ones. */
static struct got read_wrong_length(long difference, bool last)
{
    static const char body[] = "HTTP/1.1 200 OK\r\n\r\nthe middle one";
    struct sp_buf file = {0};
    put_response(&file, "http://before/", "b");
    put_record_as(&file, "\r\n", "response", "http://middle/", "", sp_view_str(body),
                  (long)sizeof body - 1 + difference);
    if (!last) {
        put_response(&file, "http://after/", "a");
        put_response(&file, "http://last/", "l");
    }
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    check_page(&g, 0, "http://before/", "b");
    if (!last) {
        check_page(&g, g.count - 2, "http://after/", "a");
        check_page(&g, g.count - 1, "http://last/", "l");
    }
    sp_buf_done(&file);
    return g;
}

TEST(a_length_too_long_ends_at_the_next_record)
{
    static const long too_long[] = {3, 5, 8, 40, 100, 150};
    for (size_t i = 0; i < sizeof too_long / sizeof *too_long; i++) {
        struct got g = read_wrong_length(too_long[i], false);
        CU_ASSERT_EQUAL(g.count, 4);
        CU_ASSERT_EQUAL(g.pages, 4);
        check_page(&g, 1, "http://middle/",
                   too_long[i] == 3 ? "the middle one\r\n\r" : "the middle one\r\n\r\n");
        got_done(&g);
    }
    struct got g = read_wrong_length(100, true);
    CU_ASSERT_EQUAL(g.count, 2);
    check_bad(&g, 1, SP_TRUNCATED, "ends within a WARC record");
    got_done(&g);
}

/* A record whose length is much too long; each record has its own member, or all share one. */
static struct got read_length(const char *type, long long length, bool members, bool cut)
{
    static const char feigned[] = "text\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: "
                                  "http://feigned/\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
    struct sp_buf records[4] = {0}, file = {0};
    put_response(&records[0], "http://before/", "b");
    put_format(&records[1],
               "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: http://long/\r\nContent-Length: "
               "%lld\r\n\r\n%s",
               type, length, feigned);
    put_response(&records[2], "http://after/", "a");
    put_response(&records[3], "http://last/", "l");
    for (size_t i = 0; i < (cut ? 2 : 4); i++) {
        if (members)
            put_gzip(&file, sp_buf_view(&records[i]));
        else
            sp_buf_put_view(&file, sp_buf_view(&records[i]));
    }
    struct reading how = {.max_record_bytes = 1000, .chunk_bytes = 64};
    struct got g = read_bytes(sp_buf_view(&file), &how);
    check_page(&g, 0, "http://before/", "b");
    for (size_t i = 0; i < g.count; i++)
        CU_ASSERT(g.items[i].err || !view_is(g.items[i].page.url, "http://feigned/"));
    for (size_t i = 0; i < 4; i++)
        sp_buf_done(&records[i]);
    sp_buf_done(&file);
    return g;
}

TEST(a_file_cut_within_a_record_feigns_no_page)
{
    for (int members = 0; members < 2; members++)
        for (long long length = 200; length <= 100000; length *= 10) {
            struct got g = read_length("response", length, members, true);
            CU_ASSERT_EQUAL(g.pages, 1);
            check_bad(&g, g.count - 1, SP_TRUNCATED, "the file ends within a WARC record");
            got_done(&g);
        }
}

TEST(no_length_takes_the_records_behind_it_along_in_silence)
{
    static const char *const types[] = {"response", "metadata"};
    for (int type = 0; type < 2; type++) {
        struct got g = read_length(types[type], 900, false, false);
        check_bad(&g, g.count - 1, SP_TRUNCATED, "the file ends within a WARC record");
        got_done(&g);
        g = read_length(types[type], 100000, false, false);
        check_bad(&g, g.count - 1, SP_TRUNCATED, "if it is not cut, the record's length is wrong");
        got_done(&g);
    }
}

TEST(a_record_with_a_member_of_its_own_ends_where_the_next_one_begins)
{
    static const char *const types[] = {"response", "metadata"};
    static const long long lengths[] = {200, 900, 1001, 100000, 1ll << 40};
    for (int type = 0; type < 2; type++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            struct got g = read_length(types[type], lengths[i], true, false);
            check_page(&g, g.count - 2, "http://after/", "a");
            check_page(&g, g.count - 1, "http://last/", "l");
            CU_ASSERT_EQUAL(g.count, 3u + (type == 0 && lengths[i] <= 1000) +
                                         (lengths[i] > 1000) * (type == 0 ? 2u : 1u));
            got_done(&g);
        }
}

TEST(a_length_out_of_all_reason_is_a_dead_letter_and_the_next_record_is_read)
{
    struct got g = read_wrong_length(1ll << 41, false);
    CU_ASSERT_EQUAL(g.count, 4);
    check_bad(&g, 1, SP_MALFORMED, "longer than any page");
    got_done(&g);
}

TEST(behind_a_length_too_short_the_rest_is_a_dead_letter)
{
    for (long less = 1; less <= 14; less++) {
        struct got g = read_wrong_length(-less, false);
        CU_ASSERT_EQUAL_FATAL(g.count, 5);
        CU_ASSERT_EQUAL(g.items[1].page.content.len, (size_t)(14 - less));
        check_bad(&g, 2, SP_MALFORMED, "should start here");
        CU_ASSERT_EQUAL(g.items[2].raw.len, (size_t)(less + 4));
        got_done(&g);
    }
}

TEST(an_unusable_length_loses_that_record_only)
{
    static const char *const lengths[] = {"", "-5", "x", "1x", "99999999999999999999", "0x10"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct sp_buf file = {0};
        put_response(&file, "http://before/", "b");
        put_format(&file,
                   "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://u/\r\n"
                   "Content-Length: %s\r\n\r\nbody\r\n\r\n",
                   lengths[i]);
        put_response(&file, "http://after/", "a");
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 3);
        check_bad(&g, 1, SP_MALFORMED, "Content-Length");
        check_page(&g, 2, "http://after/", "a");
        got_done(&g);
        sp_buf_done(&file);
    }
}

TEST(garbage_between_records_is_one_dead_letter)
{
    struct sp_buf file = {0};
    put_response(&file, "http://before/", "b");
    size_t offset = file.len;
    sp_buf_put_str(&file, "garbage that mentions WARC/1.0 within a line\r\nand goes on");
    size_t garbage = file.len - offset + 1;
    sp_buf_put_str(&file, "\n");
    put_response(&file, "http://after/", "a");
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://before/", "b");
    check_bad(&g, 1, SP_MALFORMED, "should start here");
    CU_ASSERT_EQUAL(g.items[1].offset, offset);
    CU_ASSERT_EQUAL(g.items[1].raw.len, garbage);
    check_page(&g, 2, "http://after/", "a");
    got_done(&g);
    sp_buf_done(&file);
}

TEST(zeros_between_records_are_no_garbage)
{
    struct sp_buf file = {0};
    put_record(&file, "resource", "http://u/1", "one");
    put_times(&file, 0, 300);
    put_record(&file, "resource", "http://u/2", "two");
    put_times(&file, 0, 1);
    put_record_as(&file, "\r\n", "resource", "http://u/3", "", sp_view_str("too long"), 20);
    put_times(&file, 0, 100000);
    put_record(&file, "resource", "http://u/4", "four");
    put_times(&file, 0, 512);
    for (size_t bytes = 1; bytes < 1 << 20; bytes = bytes * 3 + 1) {
        struct reading how = {.chunk_bytes = bytes};
        struct got g = read_bytes(sp_buf_view(&file), &how);
        CU_ASSERT_EQUAL_FATAL(g.count, 4);
        check_page(&g, 0, "http://u/1", "one");
        check_page(&g, 1, "http://u/2", "two");
        CU_ASSERT_EQUAL(g.items[2].err, SP_OK);
        check_page(&g, 3, "http://u/4", "four");
        got_done(&g);
    }
    sp_buf_done(&file);
}

TEST(a_truncated_file_keeps_its_whole_records)
{
    struct sp_buf file = {0};
    put_response(&file, "http://u/0", "first");
    size_t whole = file.len;
    put_response(&file, "http://u/1", "second");
    size_t end = file.len - 4;
    for (size_t len = whole + 5; len < end; len++) {
        struct got g = read_bytes(sp_view(file.data, len), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_page(&g, 0, "http://u/0", "first");
        check_bad(&g, 1, SP_TRUNCATED, "file ends within");
        CU_ASSERT_EQUAL(g.items[1].offset, whole);
        got_done(&g);
    }
    struct got g = read_bytes(sp_view(file.data, end), NULL);
    CU_ASSERT_EQUAL(g.pages, 2);
    got_done(&g);
    sp_buf_done(&file);
}

TEST(line_feeds_alone_end_header_lines)
{
    struct sp_buf file = {0};
    put_record_as(&file, "\n", "warcinfo", NULL, "", sp_view_str("x: y\n"), -1);
    put_record_as(&file, "\n", "response", "http://u/0", "",
                  sp_view_str("HTTP/1.1 301 Moved\nContent-Type: text/html\nLocation: n\n\nbody\n"),
                  -1);
    put_record_as(&file, "\n", "conversion", "http://u/1", "", sp_view_str("text"), -1);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "http://u/0", "body\n");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 301);
    CU_ASSERT(view_is(g.items[0].page.content_type, "text/html"));
    CU_ASSERT(view_is(g.items[0].page.redirect_url, "http://u/n"));
    check_page(&g, 1, "http://u/1", "text");
    got_done(&g);
    sp_buf_done(&file);
}

TEST(a_body_may_look_like_the_start_of_a_record)
{
    static const char content[] = "line\r\nWARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: "
                                  "http://invented/\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
    struct sp_buf file = {0};
    put_response(&file, "http://u/0", content);
    put_response(&file, "http://u/1", "a");
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "http://u/0", content);
    check_page(&g, 1, "http://u/1", "a");
    got_done(&g);
    sp_buf_done(&file);
}

TEST(a_record_too_large_is_passed_over)
{
    struct sp_buf file = {0}, body = {0};
    struct reading how = {.max_record_bytes = 2000, .chunk_bytes = 512};
    put_response(&file, "http://before/", "b");
    put_times(&body, 'x', 300000);
    size_t offset = file.len;
    put_record_as(&file, "\r\n", "resource", "http://large/", "", sp_buf_view(&body), -1);
    put_record_as(&file, "\r\n", "request", "http://large/", "", sp_buf_view(&body), -1);
    put_response(&file, "http://after/", "a");
    struct got g = read_bytes(sp_buf_view(&file), &how);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://before/", "b");
    check_bad(&g, 1, SP_TOO_LARGE, "input.max_record_bytes");
    CU_ASSERT_EQUAL(g.items[1].offset, offset);
    CU_ASSERT_EQUAL(strncmp(g.items[1].raw.data, "WARC/1.0\r\n", 10), 0);
    check_page(&g, 2, "http://after/", "a");
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&body);
}

/* Reads a record, these bytes, and another record, and checks both. */
static struct got read_between(struct sp_view bytes)
{
    struct sp_buf file = {0};
    put_response(&file, "http://before/", "b");
    sp_buf_put_view(&file, bytes);
    put_response(&file, "http://after/", "a");
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL(g.pages, 2);
    check_page(&g, 0, "http://before/", "b");
    check_page(&g, g.count - 1, "http://after/", "a");
    sp_buf_done(&file);
    return g;
}

/* A crawler that was killed within a header may go on with the next record. */
TEST(a_header_that_is_cut_does_not_take_the_next_record)
{
    struct sp_buf record = {0}, part = {0};
    put_response(&record, "http://cut/", "c");
    for (size_t cut = 11; memcmp(record.data + cut - 3, "\r\n\r", 3) != 0; cut++) {
        sp_buf_reset(&part);
        sp_buf_put(&part, record.data, cut);
        if (record.data[cut - 1] != '\n')
            sp_buf_put_str(&part, "\n");
        struct got g = read_between(sp_buf_view(&part));
        CU_ASSERT(g.count > 2);
        got_done(&g);
    }
    sp_buf_done(&record);
    sp_buf_done(&part);
}

TEST(a_record_without_a_type_is_a_dead_letter)
{
    struct got g = read_between(
        sp_view_str("WARC/1.0\r\nWARC-Tipe: response\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"));
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_bad(&g, 1, SP_MALFORMED, "no WARC-Type");
    got_done(&g);
}

TEST(a_header_without_end_is_a_dead_letter)
{
    struct sp_buf header = {0};
    sp_buf_put_str(&header, "WARC/1.0\r\nX: ");
    put_times(&header, 'x', 200000);
    sp_buf_put_str(&header, "\r\n");
    struct got g = read_between(sp_buf_view(&header));
    CU_ASSERT_EQUAL(g.items[1].err, SP_MALFORMED);
    got_done(&g);
    sp_buf_done(&header);
}

TEST(dates_are_read_with_fractions_or_not_at_all)
{
    static const struct {
        const char *date;
        int64_t ms;
    } dates[] = {{"2023-11-14T22:13:20Z", 1700000000000},
                 {"2023-11-14T22:13:20.5Z", 1700000000500},
                 {"2023-11-14T22:13:20.123456789Z", 1700000000123},
                 {"2023-11-14T22:13:20+01:30", 1699994600000},
                 {"2023-11-14T22:13Z", 1699999980000},
                 {"2023-11-14", 1699920000000},
                 {"2023-11", 1698796800000},
                 {"2023", 1672531200000},
                 {"1970-01-01T00:00:00Z", 0},
                 {"null", -1},
                 {"yesterday", -1},
                 {"", -1},
                 {"2023-99-14T22:13:20Z", -1},
                 {"2023-14", -1},
                 {"2023-11-14Z", -1},
                 {"2023-11-14 22:13:20", -1},
                 {"2023-11-14T22:13:20 or so", -1},
                 {"2023-11-14T22:13:20.12345678901234567890123Z", -1}};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        struct sp_buf file = {0};
        put_format(&file,
                   "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://u/\r\nWARC-Date: "
                   "%s\r\nContent-Length: 1\r\n\r\nx\r\n\r\n",
                   dates[i].date);
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        check_page(&g, 0, "http://u/", "x");
        CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, dates[i].ms);
        got_done(&g);
        sp_buf_done(&file);
    }
}

TEST(a_member_for_each_record_as_crawlers_write_them)
{
    struct sp_buf file = {0}, record = {0};
    for (int i = 0; i < 50; i++) {
        char url[32];
        snprintf(url, sizeof url, "http://u/%d", i);
        sp_buf_reset(&record);
        put_response(&record, url, "text");
        put_gzip(&file, sp_buf_view(&record));
        if (i == 30)
            file.data[file.len - 60] ^= 0x7f; /* damages this member */
    }
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL(g.pages, 49);
    check_page(&g, 29, "http://u/29", "text");
    check_page(&g, g.count - 1, "http://u/49", "text");
    check_page(&g, g.count - 19, "http://u/31", "text");
    CU_ASSERT_EQUAL(g.count, 50);
    check_bad(&g, 30, SP_MALFORMED, "damaged here");
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&record);
}

/* The compressed data may decode to a well-formed record; only the checksum, which follows it,
 * shows that the content of the page is wrong. */
TEST(a_record_whose_member_has_a_wrong_checksum_is_no_page)
{
    enum { TRAILER = 8 };
    struct sp_buf file = {0}, record = {0};
    for (int i = 0; i < 3; i++) {
        char url[32];
        snprintf(url, sizeof url, "http://u/%d", i);
        sp_buf_reset(&record);
        put_response(&record, url, "text");
        put_gzip(&file, sp_buf_view(&record));
        if (i == 1)
            file.data[file.len - TRAILER] ^= 1;
    }
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://u/0", "text");
    check_bad(&g, 1, SP_MALFORMED, "damaged here");
    check_page(&g, 2, "http://u/2", "text");
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&record);
}

TEST(a_file_that_ends_within_a_member_is_one_dead_letter)
{
    struct sp_buf file = {0}, record = {0};
    put_response(&record, "http://u/0", "text");
    put_gzip(&file, sp_buf_view(&record));
    size_t first = file.len;
    put_gzip(&file, sp_buf_view(&record));
    for (size_t len = first + 3; len < file.len; len++) {
        struct got g = read_bytes(sp_view(file.data, len), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, g.pages + 1);
        check_page(&g, 0, "http://u/0", "text");
        check_bad(&g, g.count - 1, SP_TRUNCATED, "compressed file ends");
        got_done(&g);
    }
    sp_buf_done(&file);
    sp_buf_done(&record);
}

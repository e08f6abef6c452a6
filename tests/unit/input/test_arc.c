/* ARC files, versions 1 and 2: which records are pages, their content, and wrong lengths. */
#include "harness.h"
#include "input_helper.h"

static void put_block(struct sp_buf *out, const char *version, const char *fields)
{
    struct sp_buf block = {0};
    put_format(&block, "%s 0 Test\n%s\n", version, fields);
    put_format(out, "filedesc://test.arc 0.0.0.0 20231114221320 text/plain %zu\n", block.len);
    sp_buf_put_view(out, sp_buf_view(&block));
    sp_buf_put_str(out, "\n");
    sp_buf_done(&block);
}

static void put_head(struct sp_buf *out)
{
    put_block(out, "1", "URL IP-address Archive-date Content-type Archive-length");
}

/* The stated length is the true one plus `more`. */
static void put_record_as(struct sp_buf *out, const char *url, const char *between,
                          const char *body, long more)
{
    put_format(out, "%s %s %ld\n", url, between, (long)strlen(body) + more);
    sp_buf_put_str(out, body);
    sp_buf_put_u8(out, '\n');
}

static void put_page(struct sp_buf *out, const char *url, const char *content)
{
    struct sp_buf body = {0};
    put_format(&body, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n%s",
               content);
    sp_buf_put_u8(&body, 0);
    put_record_as(out, url, "192.0.2.1 20231114221320 text/html", body.data, 0);
    sp_buf_done(&body);
}

TEST(a_record_gives_status_type_time_and_body)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_page(&file, "http://u/a/b", "<p>text</p>");
    put_record_as(&file, "http://u/old", "192.0.2.1 20231114221321 text/html",
                  "HTTP/1.0 302 Found\r\nLocation: new\r\n\r\n", 0);
    put_record_as(&file, "http://u/none", "2001:db8::1 20231114221321 text/html",
                  "HTTP/1.0 404 Not Found\r\n\r\n", 0);
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://u/a/b", "<p>text</p>");
    CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, 1700000000000);
    CU_ASSERT(view_is(g.items[0].page.content_type, "text/html; charset=utf-8"));
    CU_ASSERT(!g.items[0].page.content_is_utf8);
    check_page(&g, 1, "http://u/old", "");
    CU_ASSERT_EQUAL(g.items[1].page.http_status, 302);
    CU_ASSERT(view_is(g.items[1].page.redirect_url, "http://u/new"));
    CU_ASSERT_EQUAL(g.items[2].page.http_status, 404);
    CU_ASSERT_EQUAL(g.items[2].page.fetch_time_ms, 1700000001000);
    got_done(&g);
}

TEST(a_body_without_the_response_s_header_is_a_page_of_the_line_s_type)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_record_as(&file, "https://u/", "- 20231114221320 text/plain", "bare text", 0);
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_page(&g, 0, "https://u/", "bare text");
    CU_ASSERT(view_is(g.items[0].page.content_type, "text/plain"));
    got_done(&g);
}

TEST(version_two_has_five_more_words)
{
    struct sp_buf file = {0};
    put_block(&file, "2",
              "URL IP-address Archive-date Content-type Result-code Checksum Location Offset "
              "Filename Archive-length");
    put_record_as(&file, "http://u/",
                  "192.0.2.1 20231114221320 text/html 200 fac069150613fe55599cc7fa88aa089d - 209 "
                  "IA-001102.arc",
                  "HTTP/1.1 200 OK\r\n\r\nx", 0);
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_page(&g, 0, "http://u/", "x");
    CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, 1700000000000);
    got_done(&g);
}

TEST(a_date_may_lack_the_seconds_or_have_fractions)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_record_as(&file, "http://u/12", "- 202311142213 text/plain", "x", 0);
    put_record_as(&file, "http://u/17", "- 20231114221320999 text/plain", "x", 0);
    put_record_as(&file, "http://u/14", "- 20231114221320 text/plain", "x", 0);
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://u/12", "x");
    CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, 1699999980000);
    check_page(&g, 1, "http://u/17", "x");
    CU_ASSERT_EQUAL(g.items[1].page.fetch_time_ms, 1700000000000);
    check_page(&g, 2, "http://u/14", "x");
    got_done(&g);
}

TEST(zeros_between_records_are_no_garbage)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_page(&file, "http://u/1", "one");
    put_times(&file, 0, 1000);
    put_page(&file, "http://u/2", "two");
    put_times(&file, 0, 24);
    for (size_t bytes = 1; bytes < 1 << 13; bytes = bytes * 3 + 1) {
        struct reading how = {.chunk_bytes = bytes};
        struct got g = read_bytes(sp_buf_view(&file), &how);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_page(&g, 0, "http://u/1", "one");
        check_page(&g, 1, "http://u/2", "two");
        got_done(&g);
    }
    sp_buf_done(&file);
}

TEST(an_url_may_hold_spaces_and_digits)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_page(&file, "http://u/?q=from the web&d= 20010101000000 &n=7", "x");
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_page(&g, 0, "http://u/?q=from the web&d= 20010101000000 &n=7", "x");
    got_done(&g);
}

TEST(records_that_no_line_end_separates_are_one_dead_letter_in_pieces_of_any_size)
{
    struct sp_buf file = {0};
    put_head(&file);
    for (int i = 0; i < 3; i++)
        put_format(&file, "http://u/%d 192.0.2.1 20231114221320 text/plain 4\n1234", i);
    for (size_t bytes = 1; bytes < 300; bytes += 7) {
        struct reading how = {.chunk_bytes = bytes};
        struct got g = read_bytes(sp_buf_view(&file), &how);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_page(&g, 0, "http://u/0", "1234");
        check_bad(&g, 1, SP_MALFORMED, "an ARC record should start here");
        got_done(&g);
    }
    sp_buf_done(&file);
}

TEST(records_of_other_schemes_are_passed_over_and_not_counted)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_record_as(&file, "dns:u", "192.0.2.1 20231114221320 text/dns", "20231114 u. 300 IN A", 0);
    put_page(&file, "http://u/", "x");
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_page(&g, 0, "http://u/", "x");
    CU_ASSERT_EQUAL(g.items[0].number, 0);
    got_done(&g);
}

TEST(a_date_that_is_none_leaves_the_page_without_a_time)
{
    static const char *const dates[] = {"20231314221320", "20231100221320", "20231114251320",
                                        "00000000000000"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        struct sp_buf file = {0}, between = {0};
        put_head(&file);
        put_format(&between, "192.0.2.1 %s text/html", dates[i]);
        sp_buf_put_u8(&between, 0);
        put_record_as(&file, "http://u/", between.data, "x", 0);
        struct got g = read_and_drop(&file, NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 1);
        check_page(&g, 0, "http://u/", "x");
        CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, -1);
        got_done(&g);
        sp_buf_done(&between);
    }
}

/* A record with a wrong length between two intact ones. */
static struct got read_wrong_length(long more)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_page(&file, "http://before/", "b");
    put_record_as(&file, "http://middle/", "192.0.2.1 20231114221320 text/plain", "the middle one",
                  more);
    put_page(&file, "http://after/", "a");
    put_page(&file, "http://last/", "l");
    struct got g = read_and_drop(&file, NULL);
    check_page(&g, 0, "http://before/", "b");
    check_page(&g, g.count - 2, "http://after/", "a");
    check_page(&g, g.count - 1, "http://last/", "l");
    return g;
}

TEST(a_length_too_long_ends_at_the_next_record)
{
    static const long too_long[] = {2, 5, 40, 100, 150};
    for (size_t i = 0; i < sizeof too_long / sizeof *too_long; i++) {
        struct got g = read_wrong_length(too_long[i]);
        CU_ASSERT_EQUAL(g.count, 4);
        check_page(&g, 1, "http://middle/", "the middle one\n");
        got_done(&g);
    }
}

TEST(behind_a_length_too_short_the_rest_is_a_dead_letter)
{
    for (long less = 1; less <= 14; less++) {
        struct got g = read_wrong_length(-less);
        CU_ASSERT_EQUAL_FATAL(g.count, 5);
        CU_ASSERT_EQUAL(g.items[1].page.content.len, (size_t)(14 - less));
        check_bad(&g, 2, SP_MALFORMED, "an ARC record should start here");
        got_done(&g);
    }
}

TEST(an_unusable_length_loses_that_record_only)
{
    struct got g = read_wrong_length(-20); /* below zero */
    CU_ASSERT_EQUAL_FATAL(g.count, 4);
    check_bad(&g, 1, SP_MALFORMED, "no usable length");
    got_done(&g);
    g = read_wrong_length(1l << 41);
    CU_ASSERT_EQUAL_FATAL(g.count, 4);
    check_bad(&g, 1, SP_MALFORMED, "longer than any page");
    got_done(&g);
}

TEST(a_record_too_large_is_passed_over)
{
    struct sp_buf file = {0}, body = {0};
    struct reading how = {.max_record_bytes = 2000, .chunk_bytes = 512};
    put_head(&file);
    put_page(&file, "http://before/", "b");
    put_times(&body, 'x', 300000);
    sp_buf_put_u8(&body, 0);
    put_record_as(&file, "http://large/", "192.0.2.1 20231114221320 text/plain", body.data, 0);
    put_page(&file, "http://after/", "a");
    struct got g = read_and_drop(&file, &how);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://before/", "b");
    check_bad(&g, 1, SP_TOO_LARGE, "input.max_record_bytes");
    check_page(&g, 2, "http://after/", "a");
    got_done(&g);
    sp_buf_done(&body);
}

TEST(a_truncated_file_keeps_its_whole_records)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_page(&file, "http://u/0", "first");
    size_t whole = file.len;
    put_page(&file, "http://u/1", "second");
    for (size_t len = whole + 1; len < file.len - 1; len++) {
        struct got g = read_bytes(sp_view(file.data, len), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_page(&g, 0, "http://u/0", "first");
        CU_ASSERT_NOT_EQUAL(g.items[1].err, SP_OK);
        got_done(&g);
    }
    sp_buf_done(&file);
}

/* A body may contain what looks like a record header; the reader searches for one only after a
 * wrong length. */
TEST(a_body_may_look_like_the_start_of_a_record)
{
    static const char content[] =
        "line\nhttp://invented/ 192.0.2.1 20231114221320 text/html 1\nx\n";
    struct sp_buf file = {0};
    put_head(&file);
    put_page(&file, "http://u/0", content);
    put_page(&file, "http://u/1", "a");
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "http://u/0", content);
    check_page(&g, 1, "http://u/1", "a");
    got_done(&g);
}

/* In a member of its own, a record with too long a length costs no other record and creates no
 * false page. */
TEST(a_record_with_a_member_of_its_own_ends_where_the_next_one_begins)
{
    static const char body[] = "text\nhttp://feigned/ 192.0.2.1 20231114221320 text/html 1\nx\n";
    struct sp_buf records[4] = {0}, file = {0};
    put_head(&records[0]);
    put_record_as(&records[1], "http://long/", "192.0.2.1 20231114221320 text/plain", body, 700);
    put_page(&records[2], "http://after/", "a");
    put_page(&records[3], "http://last/", "l");
    for (size_t i = 0; i < 4; i++) {
        put_gzip(&file, sp_buf_view(&records[i]));
        sp_buf_done(&records[i]);
    }
    struct reading how = {.chunk_bytes = 64};
    struct got g = read_and_drop(&file, &how);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    CU_ASSERT(view_is(g.items[0].page.url, "http://long/"));
    check_page(&g, 1, "http://after/", "a");
    check_page(&g, 2, "http://last/", "l");
    got_done(&g);
}

TEST(garbage_at_the_end_is_one_dead_letter)
{
    struct sp_buf file = {0};
    put_head(&file);
    put_page(&file, "http://u/", "x");
    for (int i = 0; i < 20000; i++)
        put_format(&file, "http: garbage %d\n", i);
    struct reading how = {.chunk_bytes = 4096};
    struct got g = read_and_drop(&file, &how);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "http://u/", "x");
    check_bad(&g, 1, SP_MALFORMED, "should start here");
    got_done(&g);
}

/* JSON lines. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "input_helper.h"

TEST(a_line_with_all_fields_gives_them_all)
{
    struct got g = read_text(
        "{\"url\":\"http://a.example/x\",\"fetch_time_ms\":1700000000123,\"http_status\":301,"
        "\"redirect_url\":\"http://a.example/y\",\"content_type\":\"text/html; charset=utf-8\","
        "\"popularity\":0.25,\"content\":\"<p>hello</p>\"}\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    CU_ASSERT_EQUAL(g.end, SP_END);
    check_page(&g, 0, "http://a.example/x", "<p>hello</p>");
    const struct sp_page_record *page = &g.items[0].page;
    CU_ASSERT_EQUAL(page->fetch_time_ms, 1700000000123);
    CU_ASSERT_EQUAL(page->http_status, 301);
    CU_ASSERT(view_is(page->redirect_url, "http://a.example/y"));
    CU_ASSERT(view_is(page->content_type, "text/html; charset=utf-8"));
    CU_ASSERT_EQUAL(page->popularity, 0.25);
    CU_ASSERT(page->content_is_utf8);
    got_done(&g);
}

TEST(fields_come_in_any_order_with_others_between_them)
{
    static const char *const fields[] = {"\"content\":\"c\"",
                                         "\"url\":\"http://u/\"",
                                         "\"popularity\":3",
                                         "\"fetch_time_ms\":7",
                                         "\"http_status\":404",
                                         "\"content_type\":\"t\"",
                                         "\"redirect_url\":\"/r\"",
                                         "\"x\":[{\"url\":\"no\"},1]",
                                         "\"y\":{\"content\":[[]],\"z\":1}",
                                         "\"headers\":\"\\\"{\\\"\""};
    enum { FIELDS = sizeof fields / sizeof *fields };
    for (size_t step = 1; step < FIELDS; step++) {
        if (FIELDS % step == 0 && step > 1)
            continue; /* out of range for a field */
        for (size_t start = 0; start < FIELDS; start++) {
            struct sp_buf text = {0};
            size_t k = start;
            bool used[FIELDS] = {0};
            for (size_t i = 0; i < FIELDS; i++, k = (k + step) % FIELDS) {
                while (used[k])
                    k = (k + 1) % FIELDS;
                used[k] = true;
                put_format(&text, "%s%s", i ? ", " : " {", fields[k]);
            }
            sp_buf_put_str(&text, "}\r\n");
            struct got g = read_bytes(sp_buf_view(&text), NULL);
            CU_ASSERT_EQUAL_FATAL(g.count, 1);
            check_page(&g, 0, "http://u/", "c");
            const struct sp_page_record *page = &g.items[0].page;
            CU_ASSERT_EQUAL(page->fetch_time_ms, 7);
            CU_ASSERT_EQUAL(page->http_status, 404);
            CU_ASSERT_EQUAL(page->popularity, 3);
            CU_ASSERT(view_is(page->content_type, "t"));
            CU_ASSERT(view_is(page->redirect_url, "http://u/r"));
            got_done(&g);
            sp_buf_done(&text);
        }
    }
}

TEST(null_and_absent_are_the_same)
{
    struct got g = read_text(
        "{\"url\":\"http://u/\"}\n"
        "{\"url\":\"http://u/\",\"fetch_time_ms\":null,\"http_status\":null,\"redirect_url\":null,"
        "\"content_type\":null,\"popularity\":null,\"content\":null}\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    for (size_t i = 0; i < 2; i++) {
        check_page(&g, i, "http://u/", "");
        const struct sp_page_record *page = &g.items[i].page;
        CU_ASSERT_EQUAL(page->fetch_time_ms, -1);
        CU_ASSERT_EQUAL(page->http_status, 200);
        CU_ASSERT_EQUAL(page->redirect_url.len, 0);
        CU_ASSERT_EQUAL(page->content_type.len, 0);
        CU_ASSERT_EQUAL(page->popularity, 0);
    }
    got_done(&g);
}

TEST(a_success_without_a_body_needs_no_content)
{
    static const struct {
        const char *line;
        bool lacks;
    } lines[] = {{"{\"url\":\"http://a/\",\"http_status\":204}", false},
                 {"{\"url\":\"http://a/\",\"http_status\":205,\"content\":null}", false},
                 {"{\"url\":\"http://a/\",\"http_status\":200}", true},
                 {"{\"url\":\"http://a/\",\"http_status\":204,\"text\":\"some\"}", true}};
    struct sp_input_options options;
    sp_input_options_default(&options);
    struct sp_parser *p = sp_parser_new(&options);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct sp_page_record page = {0};
        const char *why = NULL;
        CU_ASSERT_EQUAL_FATAL(sp_parser_json(p, sp_view_str(lines[i].line), &page, &why), SP_OK);
        CU_ASSERT_EQUAL(sp_page_record_lacks_content(&page) != NULL, lines[i].lacks);
        CU_ASSERT_EQUAL(page.content.len, 0);
    }
    sp_parser_free(p);
}

TEST(numbers_are_taken_in_every_spelling)
{
    static const struct {
        const char *text;
        int64_t time;
    } times[] = {
        {"1.7e12", 1700000000000}, {"1700000000000.0", 1700000000000},    {"0", 0}, {"-5", -5},
        {"17E11", 1700000000000},  {"9007199254740993", 9007199254740993}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct sp_buf text = {0};
        put_format(&text, "{\"url\":\"http://u/\",\"fetch_time_ms\":%s}", times[i].text);
        struct got g = read_bytes(sp_buf_view(&text), NULL);
        check_page(&g, 0, "http://u/", "");
        CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, times[i].time);
        got_done(&g);
        sp_buf_done(&text);
    }
    struct got g = read_text("{\"url\":\"http://u/\",\"http_status\":2.04e2,\"popularity\":5e-1}");
    check_page(&g, 0, "http://u/", "");
    CU_ASSERT_EQUAL(g.items[0].page.http_status, 204);
    CU_ASSERT_EQUAL(g.items[0].page.popularity, 0.5);
    got_done(&g);
}

TEST(escapes_are_undone)
{
    struct got g = read_text("{\"u\\u0072l\":\"http:\\/\\/u\\/\",\"content\":"
                             "\"a\\n\\t\\\"\\\\\\u00e9\\ud83d\\ude00\xc3\xa9\"}\n");
    check_page(&g, 0, "http://u/", "a\n\t\"\\\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9");
    got_done(&g);
}

TEST(half_of_a_surrogate_pair_in_the_content_is_replaced)
{
    static const struct {
        const char *json;
        const char *content;
    } texts[] = {
        {"\\ud800", "\xef\xbf\xbd"},
        {"a\\ud83d", "a\xef\xbf\xbd"},
        {"\\uDC00z", "\xef\xbf\xbdz"},
        {"\\ud83d\\ud83d\\uDE00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\\ud83d\\u0041", "\xef\xbf\xbd"
                           "A"},
        {"\\ud83d\\n\\\"\\\\\\/\\b\\f\\r\\t\xc3\xa9\\u00e9",
         "\xef\xbf\xbd\n\"\\/\b\f\r\t\xc3\xa9\xc3\xa9"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sp_buf line = {0};
        put_format(&line, "{\"url\":\"http://u/\",\"content\":\"%s\",\"http_status\":203}\n",
                   texts[i].json);
        struct got g = read_bytes(sp_buf_view(&line), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 1);
        check_page(&g, 0, "http://u/", texts[i].content);
        CU_ASSERT_EQUAL(g.items[0].page.http_status, 203);
        got_done(&g);
        sp_buf_done(&line);
    }
}

TEST(a_bad_line_is_a_dead_letter_with_its_reason_and_place)
{
    static const struct {
        const char *line;
        enum sp_err err;
        const char *why;
    } bad[] = {
        {"not json", SP_MALFORMED, "not a JSON object"},
        {"[1,2]", SP_MALFORMED, "not a JSON object"},
        {"42", SP_MALFORMED, "not a JSON object"},
        {"\"text\"", SP_MALFORMED, "not a JSON object"},
        {"null", SP_MALFORMED, "not a JSON object"},
        {"{", SP_MALFORMED, "not a JSON object"},
        {"{\"url\":\"http://u/\"", SP_MALFORMED, ""},
        {"{\"url\":\"http://u/", SP_MALFORMED, ""},
        {"{\"url\":\"http://u/\"}}", SP_MALFORMED, "not a JSON object"},
        {"{\"url\":\"http://u/\"} {}", SP_MALFORMED, "not a JSON object"},
        {"{\"url\" \"http://u/\"}", SP_MALFORMED, ""},
        {"{\"url\":\"http://u/\" \"content\":\"x\"}", SP_MALFORMED, ""},
        {"{}", SP_NO_URL, "no \"url\""},
        {"{\"url\":\"\"}", SP_NO_URL, "no \"url\""},
        {"{\"url\":null}", SP_NO_URL, "no \"url\""},
        {"{\"content\":\"x\"}", SP_NO_URL, "no \"url\""},
        {"{\"url\":7}", SP_MALFORMED, "url is not a string"},
        {"{\"url\":nope}", SP_MALFORMED, ""},
        {"{\"url\":nul}", SP_MALFORMED, ""},
        {"{\"url\":nullx}", SP_MALFORMED, ""},
        {"{\"url\":}", SP_MALFORMED, ""},
        {"{\"url\":\"http://u/\",\"content\":[\"x\"]}", SP_MALFORMED, "content is not a string"},
        {"{\"url\":\"http://u/\",\"content\":\"\\x\"}", SP_MALFORMED, "content is not a string"},
        {"{\"url\":\"http://u/\",\"content\":\"\\ud800\\x\"}", SP_MALFORMED,
         "content is not a string"},
        {"{\"url\":\"http://u/\",\"content\":\"\\ud800\\u12\"}", SP_MALFORMED,
         "content is not a string"},
        {"{\"url\":\"http://u/\\ud800\",\"content\":\"x\"}", SP_MALFORMED, "url is not a string"},
        {"{\"url\":\"http://u/\",\"content\":\"\xff\"}", SP_MALFORMED, "not UTF-8"},
        {"{\"url\":\"http://u/\",\"content_type\":1}", SP_MALFORMED, "content_type"},
        {"{\"url\":\"http://u/\",\"redirect_url\":true}", SP_MALFORMED, "redirect_url"},
        {"{\"url\":\"http://u/\",\"http_status\":\"200\"}", SP_MALFORMED, "http_status"},
        {"{\"url\":\"http://u/\",\"http_status\":1000}", SP_MALFORMED, "http_status"},
        {"{\"url\":\"http://u/\",\"http_status\":-1}", SP_MALFORMED, "http_status"},
        {"{\"url\":\"http://u/\",\"http_status\":1e99}", SP_MALFORMED, "http_status"},
        {"{\"url\":\"http://u/\",\"http_status\":n}", SP_MALFORMED, ""},
        {"{\"url\":\"http://u/\",\"fetch_time_ms\":1.5}", SP_MALFORMED, "fetch_time_ms"},
        {"{\"url\":\"http://u/\",\"fetch_time_ms\":99999999999999999999}", SP_MALFORMED,
         "fetch_time_ms"},
        {"{\"url\":\"http://u/\",\"popularity\":\"1\"}", SP_MALFORMED, "popularity"},
        {"{\"url\":\"http://u/\",\"popularity\":nan}", SP_MALFORMED, ""},
        {"{\"url\":\"http://u/\",\"popularity\":1e999}", SP_MALFORMED, "popularity"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sp_buf text = {0};
        put_format(&text, "{\"url\":\"http://before/\"}\n%s\n{\"url\":\"http://after/\"}\n",
                   bad[i].line);
        struct got g = read_bytes(sp_buf_view(&text), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 3);
        check_page(&g, 0, "http://before/", "");
        if (g.items[1].err != bad[i].err)
            printf("line: %s\n", bad[i].line);
        check_bad(&g, 1, bad[i].err, bad[i].why);
        check_page(&g, 2, "http://after/", "");
        CU_ASSERT(view_is(g.items[1].raw, bad[i].line));
        CU_ASSERT_EQUAL(g.items[1].number, 1);
        CU_ASSERT_EQUAL(g.items[1].records, 1);
        CU_ASSERT_EQUAL(g.items[0].offset, 0);
        CU_ASSERT_EQUAL(g.items[1].offset, 25);
        CU_ASSERT_EQUAL(g.items[2].offset, 25 + strlen(bad[i].line) + 1);
        got_done(&g);
        sp_buf_done(&text);
    }
}

TEST(blank_lines_are_not_records)
{
    struct got g =
        read_text("\n\r\n  \t\r\n{\"url\":\"http://u/\"}\n\n\n{\"url\":\"http://v/\"}\n\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "http://u/", "");
    check_page(&g, 1, "http://v/", "");
    CU_ASSERT_EQUAL(g.items[1].number, 1);
    CU_ASSERT_EQUAL(g.items[1].offset, 30);
    got_done(&g);
}

TEST(the_last_line_needs_no_newline)
{
    struct got g = read_text("{\"url\":\"http://u/\"}\n{\"url\":\"http://v/\"}");
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 1, "http://v/", "");
    got_done(&g);
}

TEST(an_empty_file_has_no_records)
{
    struct got g = read_text("");
    CU_ASSERT_EQUAL(g.count, 0);
    CU_ASSERT_EQUAL(g.end, SP_END);
    got_done(&g);
}

TEST(a_line_as_long_as_allowed_is_read_and_one_byte_more_is_not)
{
    enum { MAX = 3000 };
    for (size_t len = MAX; len <= MAX + 1; len++) {
        for (size_t chunk = 16; chunk <= 1 << 20; chunk <<= 4) {
            struct sp_buf text = {0};
            struct reading how = {.chunk_bytes = chunk, .max_record_bytes = MAX};
            sp_buf_put_str(&text, "{\"url\":\"http://u/\",\"content\":\"");
            put_times(&text, 'x', len - text.len - 2);
            sp_buf_put_str(&text, "\"}\n{\"url\":\"http://v/\"}\n");
            struct got g = read_bytes(sp_buf_view(&text), &how);
            CU_ASSERT_EQUAL_FATAL(g.count, 2);
            if (len == MAX)
                CU_ASSERT_EQUAL(g.items[0].page.content.len, len - 32)
            else
                check_bad(&g, 0, SP_TOO_LARGE, "input.max_record_bytes");
            check_page(&g, 1, "http://v/", "");
            CU_ASSERT_EQUAL(g.items[1].offset, len + 1);
            got_done(&g);
            sp_buf_done(&text);
        }
    }
}

TEST(a_line_far_too_long_is_passed_over_in_bounded_memory)
{
    enum { PIECE = 1 << 20, PIECES = 256 };
    struct sp_buf piece = {0}, file = {0};
    struct reading how = {.max_record_bytes = 1 << 20};
    struct rusage before, after;
    put_gzip(&file, sp_view_str("{\"url\":\"http://u/\"}\n{\"url\":\"http://v/\",\"content\":\""));
    put_times(&piece, 'x', PIECE);
    struct sp_buf member = {0};
    put_gzip(&member, sp_buf_view(&piece));
    for (int i = 0; i < PIECES; i++)
        sp_buf_put(&file, member.data, member.len);
    put_gzip(&file, sp_view_str("\"}\n{\"url\":\"http://w/\"}\n"));
    getrusage(RUSAGE_SELF, &before);
    struct got g = read_bytes(sp_buf_view(&file), &how);
    getrusage(RUSAGE_SELF, &after);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://u/", "");
    check_bad(&g, 1, SP_TOO_LARGE, "input.max_record_bytes");
    CU_ASSERT_EQUAL(g.items[1].raw.len, 65536);
    CU_ASSERT_EQUAL(g.items[1].offset, 20);
    check_page(&g, 2, "http://w/", "");
#ifndef SP_SANITIZED
    CU_ASSERT(after.ru_maxrss - before.ru_maxrss < 32 << 10); /* in KiB; the line has 256 MiB */
#endif
    got_done(&g);
    sp_buf_done(&piece);
    sp_buf_done(&member);
    sp_buf_done(&file);
}

TEST(several_files_are_read_one_after_another)
{
    const char *files[] = {make_text("{\"url\":\"http://a/\"}"), make_text(""),
                           make_text("bad\n{\"url\":\"http://b/\"}\n"), make_text("\n")};
    struct got g = read_files(files, 4, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://a/", "");
    check_bad(&g, 1, SP_MALFORMED, "");
    check_page(&g, 2, "http://b/", "");
    CU_ASSERT_STRING_EQUAL(g.items[0].file, files[0]);
    CU_ASSERT_STRING_EQUAL(g.items[1].file, files[2]);
    CU_ASSERT_EQUAL(g.items[1].offset, 0);
    CU_ASSERT_EQUAL(g.items[2].number, 2);
    CU_ASSERT_EQUAL(g.items[2].offset, 4);
    got_done(&g);
}

TEST(a_file_that_is_missing_is_named_before_anything_is_read)
{
    const char *files[] = {make_text("{\"url\":\"http://a/\"}"), "/nowhere/at/all.jsonl"};
    struct got g = read_files(files, 2, NULL);
    CU_ASSERT_EQUAL(g.end, SP_IO);
    CU_ASSERT_EQUAL(g.count, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(g.message, "/nowhere/at/all.jsonl"));
    CU_ASSERT_PTR_NOT_NULL(strstr(g.message, "No such file"));
    got_done(&g);
    char folder[] = "/tmp/samepage-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    g = read_file(folder, NULL);
    CU_ASSERT_EQUAL(g.end, SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(g.message, "holds nothing that can be read"));
    got_done(&g);
    rmdir(folder);
}

TEST(a_format_that_is_not_read_is_named)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *named;
    } foreign[] = {{"BZh91AY&SY", 10, "bzip2"},
                   {"\xfd"
                    "7zXZ\0\0",
                    7, "xz"},
                   {"\x04\x22\x4d\x18xx", 6, "LZ4"},
                   {"PK\x03\x04xxxxx", 9, "ZIP"},
                   {"PAR1\x15\x04", 6, "Parquet"},
                   {"ARROW1\0\0a\nb\n", 12, "an Arrow file"},
                   {"\xff\xff\xff\xff\x58\0\0\0a\nb\n", 12, "an Arrow file"},
                   {"ORC\x0a\n", 5, "an ORC file"},
                   {"SQLite format 3\0\x10\0\n", 19, "sqlite3 -json"},
                   {"7z\xbc\xaf\x27\x1c\0\n", 8, "a 7z archive"},
                   {"Rar!\x1a\x07\0\n", 8, "a RAR archive"},
                   {"\x89PNG\r\n\x1a\n123\n", 12, "an image"},
                   {"\xff\xd8\xff\xe0\0\x10JFIF\n", 11, "an image"},
                   {"GIF89a\n", 7, "an image"},
                   {"\xd0\xcf\x11\xe0\xa1\n", 6, "Microsoft Office"},
                   {"%PDF-1.7\n%", 10, "pdftotext"},
                   {"\xff\xfe{\0\"\0u\0", 8, "iconv -f UTF-16"},
                   {"\xff\xfeu\0r\0l\0,\0x\0\n\0", 14, "iconv -f UTF-16"}, /* and a table */
                   {"\xfe\xff\0{\0\"\0u", 8, "iconv -f UTF-16"},
                   {"\xff\xfe\0\0{\0\0\0", 8, "iconv -f UTF-32"},
                   {"\0\0\xfe\xff\0\0\0{", 8, "iconv -f UTF-32"},
                   {"<?xml version=\"1.0\"?>\n<urlset>", 30, "not the dump of a MediaWiki"},
                   {"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<posts>", 32, "XML or HTML"},
                   {"<!doctype html>\n<p>text", 23, "names of HTML files"},
                   {"From a@b.example Mon\nSubject: x\n", 32, "a mailbox"},
                   {"{\"log\": {\"version\": \"1.2\", \"creator\": {}}}", 42, "a HAR file"},
                   {"{\n \"log\": {\n  \"creator\": {}}}", 29, "a HAR file"},
                   {"{\n  \"url\": \"http://a/\"\n}\n", 26, "jq -c"},
                   {"{ \r\n\t\"url\": \"http://a/\"}", 24, "jq -c"}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        struct got g = read_bytes(sp_view(foreign[i].bytes, foreign[i].len), NULL);
        CU_ASSERT_EQUAL(g.end, SP_INVALID);
        CU_ASSERT_EQUAL(g.count, 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(g.message, foreign[i].named));
        got_done(&g);
    }
}

TEST(lines_of_another_format_before_json_lines_are_dead_letters)
{
    static const char *const texts[] = {
        "<html>502</html>\n{\"url\":\"http://a/\",\"content\":\"x\"}\n",
        "{\"log\":\"creator\"}\n{\"url\":\"http://a/\",\"content\":\"x\"}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct got g = read_text(texts[i]);
        CU_ASSERT_EQUAL(g.end, SP_END);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        CU_ASSERT_NOT_EQUAL(g.items[0].err, SP_OK);
        check_page(&g, 1, "http://a/", "x");
        got_done(&g);
    }
}

/* As from a pipe that is filled slowly. */
TEST(the_format_does_not_depend_on_how_many_bytes_are_read_at_once)
{
    static const struct reading bytewise = {.chunk_bytes = 1};
    static const char *const texts[] = {
        "{\"log\": {\"version\": \"1.2\", \"creator\": {}}}",
        "{\n \"log\": {\n  \"version\": \"1.2\",\n  \"creator\": {}}}",
        "{               \n \"url\": \"http://a/\"\n}\n",
        "{\"url\":\"http://a/\",\"content\":\"\"}\r{\"url\":\"http://b/\",\"content\":\"\"}\r",
        "<html>502</html>\n{\"url\":\"http://a/\",\"content\":\"x\"}\n",
        ("<?xml version=\"1.0\"?>\n<mediawiki><page><title>a</title><revision><text>x</text></revision>"
         "</page></mediawiki>"),
        "                   \n\nurl,content\nhttp://a/,x\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sp_view text = sp_view_str(texts[i]);
        struct got whole = read_bytes(text, NULL), slow = read_bytes(text, &bytewise);
        CU_ASSERT_EQUAL(slow.end, whole.end);
        CU_ASSERT_EQUAL(slow.pages, whole.pages);
        const char *told = strstr(slow.message, " is "); /* the names of the files differ */
        CU_ASSERT_STRING_EQUAL(told ? told : "",
                               whole.end == SP_END ? "" : strstr(whole.message, " is "));
        got_done(&whole);
        got_done(&slow);
    }
}

TEST(bytes_of_all_files_and_bytes_read_so_far_are_known)
{
    const char *files[] = {make_text("{\"url\":\"http://a/\"}\n"),
                           make_text("{\"url\":\"http://b/\"}")};
    struct sp_input_options o;
    struct sp_input *in;
    struct sp_chunk *chunk;
    struct sp_fault fault = {""};
    uint64_t last = 0;
    sp_input_options_default(&o);
    CU_ASSERT_EQUAL_FATAL(sp_input_open(files, 2, &o, &in, &fault), SP_OK);
    CU_ASSERT_EQUAL(sp_input_total_bytes(in), 39);
    while (sp_input_next_chunk(in, &chunk, &fault) == SP_OK) {
        CU_ASSERT(sp_input_read_bytes(in) > last);
        last = sp_input_read_bytes(in);
        sp_chunk_free(chunk);
    }
    CU_ASSERT_EQUAL(sp_input_read_bytes(in), 39);
    sp_input_close(in);
}

TEST(a_pipe_is_read_to_its_end)
{
    int ends[2], kept = dup(STDIN_FILENO);
    struct sp_input_options o;
    struct sp_input *in;
    const char *files[] = {"-"};
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    static const char text[] = "{\"url\":\"http://a/\"}\n{\"url\":\"http://b/\"}\n";
    CU_ASSERT_EQUAL(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    struct got g = read_file("-", NULL);
    CU_ASSERT_EQUAL(g.pages, 2);
    got_done(&g);
    sp_input_options_default(&o);
    CU_ASSERT_EQUAL_FATAL(sp_input_open(files, 1, &o, &in, &fault), SP_OK);
    CU_ASSERT_EQUAL(sp_input_total_bytes(in), 0); /* unknown */
    sp_input_close(in);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

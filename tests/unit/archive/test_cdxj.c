/* Index keys, index lines, and look-ups of records by URL. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "archive/cdxj.h"
#include "archive/index.h"
#include "harness.h"

/* The expected keys are the output of surt 0.3.1, which web archives use. */
TEST(keys_are_those_of_other_tools)
{
    static const char *const pairs[][2] = {
        {"http://www.Example.com:80/Foo/?b=2&a=1#x", "com,example)/foo?a=1&b=2"},
        {"https://example.com", "com,example)/"},
        {"http://example.com:8080/a//b/", "com,example:8080)/a/b"},
        {"https://www2.a.b.example.com/x?", "com,example,b,a)/x"},
        {"http://example.com/?z&y=%20", "com,example)/?y=%20&z"},
        {"http://u:p@h.example/", "example,h)/"},
        {"http://example.com/a?B=2&a=1&A=0", "com,example)/a?a=0&a=1&b=2"},
    };
    struct sp_buf key = {0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        sp_buf_reset(&key);
        sp_cdxj_key(sp_view_str(pairs[i][0]), &key);
        CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&key), sp_view_str(pairs[i][1])));
    }
    sp_buf_done(&key);
}

TEST(odd_urls_have_keys_without_spaces)
{
    static const char *const urls[] = {
        "", "http://", "urn:x y", "http://h/a b\nc", "http:///?&&", "http://www./"};
    struct sp_buf key = {0};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        sp_cdxj_key(sp_view_str(urls[i]), &key);
        CU_ASSERT_TRUE(key.len == 0 || !memchr(key.data, ' ', key.len));
        CU_ASSERT_TRUE(key.len == 0 || !memchr(key.data, '\n', key.len));
    }
    sp_buf_done(&key);
}

static void put_line(struct sp_buf *out, const char *url, struct sp_place place)
{
    struct sp_cdxj line = {.url = sp_view_str(url),
                           .date = sp_view_str("2020-01-31T10:20:30.5Z"),
                           .mime = sp_view_str("text/html"),
                           .status = sp_view_str("200"),
                           .length = 7,
                           .place = place};
    sp_cdxj_line(&line, out);
}

TEST(a_line_is_key_stamp_and_json)
{
    struct sp_buf line = {0};
    struct sp_place place;
    put_line(&line, "http://h.example/A\"B", (struct sp_place){2, 99});
    CU_ASSERT_TRUE(sp_view_eq(
        sp_buf_view(&line),
        sp_view_str(
            "example,h)/a\"b 20200131102030 {\"url\": \"http://h.example/A\\\"B\", \"mime\": "
            "\"text/html\", \"status\": \"200\", \"length\": \"7\", \"offset\": \"99\", "
            "\"filename\": \"samepage-00002.warc.gz\"}\n")));
    CU_ASSERT_TRUE(sp_cdxj_place(sp_buf_view(&line), sp_view_str("http://h.example/A\"B"), &place));
    CU_ASSERT_EQUAL(place.segment, 2);
    CU_ASSERT_EQUAL(place.offset, 99);
    CU_ASSERT_FALSE(
        sp_cdxj_place(sp_buf_view(&line), sp_view_str("http://h.example/a\"b"), &place));
    sp_buf_done(&line);
}

static uint64_t write_log(const char *dir, unsigned urls, unsigned versions)
{
    struct sp_buf text = {0};
    char path[4096], url[64];
    for (unsigned v = 0; v < versions; v++)
        for (unsigned i = 0; i < urls; i++) {
            snprintf(url, sizeof url, "http://h%u.example/%u", i * 7919 % 13, i * 7919 % urls);
            put_line(&text, url, (struct sp_place){v, i * 7919 % urls});
        }
    snprintf(path, sizeof path, "%s/lines.log", dir);
    FILE *out = fopen(path, "w");
    CU_ASSERT_EQUAL(fwrite(text.data, 1, text.len, out), text.len);
    fclose(out);
    uint64_t length = text.len;
    sp_buf_done(&text);
    return length;
}

static void remove_all(const char *dir)
{
    static const char *const names[] = {"lines.log", "index.cdxj"};
    char path[4096];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

/* Reads the whole file; the caller frees the buffer. */
static struct sp_buf read_index(const char *dir)
{
    char path[4096];
    struct sp_buf text = {0};
    snprintf(path, sizeof path, "%s/index.cdxj", dir);
    FILE *in = fopen(path, "r");
    if (in) {
        char *to = sp_buf_reserve(&text, 1 << 20);
        text.len = fread(to, 1, 1 << 20, in);
        fclose(in);
    }
    return text;
}

/* Runs of any size merge into one index. Each URL is found in the index, in the log, and in
 * both. */
TEST(every_url_is_found)
{
    enum { URLS = 211, VERSIONS = 3 };
    char dir[] = "/tmp/samepage-index-XXXXXX", url[64];
    struct sp_fault fault;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    uint64_t length = write_log(dir, URLS, VERSIONS);
    CU_ASSERT_EQUAL(sp_index_write(dir, length, 1 << 20, &fault), SP_OK);
    struct sp_buf at_once = read_index(dir);
    CU_ASSERT_EQUAL(at_once.len, length);
    CU_ASSERT_EQUAL(sp_index_write(dir, length, 1000, &fault), SP_OK);
    struct sp_buf in_runs = read_index(dir);
    CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&at_once), sp_buf_view(&in_runs)));
    sp_buf_done(&at_once);
    sp_buf_done(&in_runs);
    for (unsigned i = 0; i < URLS; i++) {
        struct sp_place *places = NULL;
        size_t count = 0;
        snprintf(url, sizeof url, "http://h%u.example/%u", i * 7919 % 13, i * 7919 % URLS);
        uint64_t from = i % 3 == 0 ? length : i % 3 == 1 ? length / 2 : 0;
        CU_ASSERT_EQUAL(sp_index_find(dir, sp_view_str(url), from, length, &places, &count, &fault),
                        SP_OK);
        CU_ASSERT_EQUAL_FATAL(count, VERSIONS);
        for (uint32_t v = 0; v < VERSIONS; v++) {
            CU_ASSERT_EQUAL(places[v].segment, v);
            CU_ASSERT_EQUAL(places[v].offset, i * 7919 % URLS);
        }
        sp_free(places);
    }
    struct sp_place *none = NULL;
    size_t count = 9;
    CU_ASSERT_EQUAL(sp_index_find(dir, sp_view_str("http://h1.example/x"), length, length, &none,
                                  &count, &fault),
                    SP_OK);
    CU_ASSERT_EQUAL(count, 0);
    sp_free(none);
    remove_all(dir);
}

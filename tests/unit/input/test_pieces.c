/* Properties of every format: the read size does not matter, skipping equals reading from a later
 * record, and a truncated file yields no page that the whole file lacks. */
#include <stdio.h>
#include <unistd.h>

#include "harness.h"
#include "input_helper.h"

struct sample {
    const char *name;
    struct sp_buf bytes;
    bool clean; /* all of its records are pages */
};

enum { SAMPLES = 21, PAGES = 7 };

/* Allocates much less than the default. */
static const struct reading small = {.chunk_bytes = 2048};

static void put_json(struct sp_buf *out, int number)
{
    put_format(out, "{\"url\":\"http://u/%d\",\"http_status\":%d,\"content\":\"some text %d\"}\r\n",
               number, 200 + number, number);
}

static void put_warc(struct sp_buf *out, int number)
{
    static const char *const bodies[] = {
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>some text</p>\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 301 Moved\r\nLocation: elsewhere\r\n\r\n"};
    const char *body = bodies[number % 3];
    put_format(out, "WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 3\r\n\r\nGET\r\n\r\n");
    put_format(out,
               "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://u/%d\r\n"
               "Content-Length: %zu\r\n\r\n%s\r\n\r\n",
               number, strlen(body), body);
}

static void put_wet(struct sp_buf *out, int number)
{
    put_format(out,
               "WARC/1.0\nWARC-Type: conversion\nWARC-Target-URI: http://u/%d\n"
               "Content-Length: 7\n\ntext %02d\n\n",
               number, number);
}

static void put_arc(struct sp_buf *out, int number)
{
    static const char *const bodies[] = {
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>some text</p>\r\n",
        "HTTP/1.1 301 Moved\r\nLocation: elsewhere\r\n\r\n", "some text"};
    const char *body = bodies[number % 3];
    if (number == 0)
        sp_buf_put_str(out, "filedesc://x 0.0.0.0 20231114221320 text/plain 9\n1 0 Test\n\n");
    put_format(out, "http://u/%d 192.0.2.1 20231114221320 text/html %zu\n%s\n", number,
               strlen(body), body);
}

static void put_text(struct sp_buf *out, const char *text)
{
    sp_buf_put_zigzag(out, (int64_t)strlen(text));
    sp_buf_put_str(out, text);
}

static void put_avro(struct sp_buf *out, const char *codec, bool broken)
{
    static const char sync[] = "0123456789abcdef";
    sp_buf_put(out, "Obj\1", 4);
    sp_buf_put_zigzag(out, 2);
    put_text(out, "avro.schema");
    put_text(out, "{\"type\":\"record\",\"name\":\"p\",\"fields\":[{\"name\":\"url\",\"type\":"
                  "\"string\"},{\"name\":\"content\",\"type\":[\"null\",\"string\"]}]}");
    put_text(out, "avro.codec");
    put_text(out, codec);
    sp_buf_put_zigzag(out, 0);
    sp_buf_put(out, sync, 16);
    struct sp_buf block = {0};
    for (int i = 0; i < PAGES; i++) {
        char url[32];
        snprintf(url, sizeof url, "http://u/%d", i);
        put_text(&block, broken && i == 5 ? "" : url);
        sp_buf_put_zigzag(&block, i % 2);
        if (i % 2)
            put_text(&block, "some text");
        if (i % 2 == 0 && i + 1 < PAGES)
            continue;
        struct sp_buf packed = {0};
        if (strcmp(codec, "zstandard") == 0)
            put_zstd(&packed, sp_buf_view(&block));
        else
            sp_buf_put_view(&packed, sp_buf_view(&block));
        sp_buf_put_zigzag(out, i % 2 + 1);
        sp_buf_put_zigzag(out, (int64_t)packed.len + (broken && i == 1));
        sp_buf_put_view(out, sp_buf_view(&packed));
        sp_buf_put(out, sync, 16);
        sp_buf_done(&packed);
        sp_buf_reset(&block);
    }
    sp_buf_done(&block);
}

static void put_plain(struct sp_buf *out, void (*put)(struct sp_buf *, int))
{
    for (int i = 0; i < PAGES; i++)
        put(out, i);
}

static void put_members(struct sp_buf *out, void (*put)(struct sp_buf *, int),
                        void (*pack)(struct sp_buf *, struct sp_view))
{
    struct sp_buf text = {0};
    for (int i = 0; i < PAGES; i++) {
        put(&text, i);
        pack(out, sp_buf_view(&text));
        sp_buf_reset(&text);
    }
    sp_buf_done(&text);
}

static void put_bad_lines(struct sp_buf *out, int number)
{
    if (number % 3 == 1)
        sp_buf_put_str(out, "\n  \nno json\n{\"content\":\"no url\"}\n");
    put_json(out, number);
}

static void put_bad_warc(struct sp_buf *out, int number)
{
    put_warc(out, number);
    if (number == 1) /* too long */
        put_format(out, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://u/long\r\n"
                        "Content-Length: 50\r\n\r\nbody\r\n\r\n");
    if (number == 3) /* too short */
        put_format(out, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://u/short\r\n"
                        "Content-Length: 2\r\n\r\nbody of more bytes\r\n\r\n");
    if (number == 4)
        put_format(out, "garbage\r\nmore WARC/ garbage\r\n\r\n");
    if (number == 5)
        put_format(out, "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: ?\r\n\r\nbody\r\n\r\n");
}

static void put_bad_arc(struct sp_buf *out, int number)
{
    put_arc(out, number);
    if (number == 1) /* too long */
        put_format(out, "http://u/long 192.0.2.1 20231114221320 text/plain 50\nbody\n");
    if (number == 3) /* too short */
        put_format(out, "http://u/short 192.0.2.1 20231114221320 text/plain 2\nbody of more\n");
    if (number == 4)
        put_format(out, "garbage\nhttp://more garbage\n\n");
    if (number == 5)
        put_format(out, "http://u/none 192.0.2.1 20231114221320 text/plain -1\nbody\n");
}

static struct sample *samples_make(void)
{
    static struct sample s[SAMPLES];
    struct sample *to = s;
#define SAMPLE(what, is_clean, put_it)                                                             \
    do {                                                                                           \
        *to = (struct sample){.name = what, .clean = is_clean};                                    \
        struct sp_buf *out = &to++->bytes;                                                         \
        put_it;                                                                                    \
    } while (0)
    SAMPLE("jsonl", true, put_plain(out, put_json));
    SAMPLE("jsonl.gz", true, put_members(out, put_json, put_gzip));
    SAMPLE("jsonl.zst", true, put_members(out, put_json, put_zstd));
    SAMPLE("warc", true, put_plain(out, put_warc));
    SAMPLE("warc.gz", true, put_members(out, put_warc, put_gzip));
    SAMPLE("warc.zst", true, put_members(out, put_warc, put_zstd));
    SAMPLE("wet", true, put_plain(out, put_wet));
    SAMPLE("wet.gz", true, put_members(out, put_wet, put_gzip));
    SAMPLE("arc", true, put_plain(out, put_arc));
    SAMPLE("arc.gz", true, put_members(out, put_arc, put_gzip));
    SAMPLE("avro", true, put_avro(out, "null", false));
    SAMPLE("avro, zstandard", true, put_avro(out, "zstandard", false));
    SAMPLE("avro, broken", false, put_avro(out, "null", true));
    SAMPLE("avro, unknown codec", false, put_avro(out, "bzip2", true));
    SAMPLE("bad lines", false, put_plain(out, put_bad_lines));
    SAMPLE("bad lines.gz", false, put_members(out, put_bad_lines, put_gzip));
    SAMPLE("bad warc", false, put_plain(out, put_bad_warc));
    SAMPLE("bad warc.gz", false, put_members(out, put_bad_warc, put_gzip));
    SAMPLE("bad arc", false, put_plain(out, put_bad_arc));
    SAMPLE("damaged.gz", false, {
        put_members(out, put_bad_warc, put_gzip);
        out->data[out->len / 2] ^= 0x3c;
    });
    SAMPLE("cut off.zst", false, {
        put_members(out, put_bad_lines, put_zstd);
        out->len -= 9;
    });
#undef SAMPLE
    CU_ASSERT_EQUAL_FATAL(to - s, SAMPLES);
    return s;
}

static void samples_done(struct sample *s)
{
    for (int i = 0; i < SAMPLES; i++)
        sp_buf_done(&s[i].bytes);
}

TEST(the_samples_hold_what_they_should)
{
    struct sample *s = samples_make();
    for (int i = 0; i < SAMPLES; i++) {
        struct got g = read_bytes(sp_buf_view(&s[i].bytes), NULL);
        if (s[i].clean) {
            CU_ASSERT_EQUAL(g.count, PAGES);
            CU_ASSERT_EQUAL(g.pages, PAGES);
        } else {
            CU_ASSERT(g.count > g.pages);
        }
        got_done(&g);
    }
    samples_done(s);
}

TEST(chunks_of_any_size_give_the_same_items)
{
    struct sample *s = samples_make();
    for (int i = 0; i < SAMPLES; i++) {
        const char *file = make_file(sp_buf_view(&s[i].bytes));
        struct got whole = read_file(file, NULL);
        for (size_t chunk = 1; chunk <= 64; chunk++) {
            for (uint64_t max = 0; max <= 1 << 20; max += 1 << 20) {
                struct reading how = {.chunk_bytes = chunk, .max_record_bytes = max};
                struct got g = read_file(file, &how);
                CU_ASSERT_EQUAL(g.end, SP_END);
                CU_ASSERT_EQUAL(g.count, whole.count);
                for (size_t k = 0; k < g.count && k < whole.count; k++)
                    if (!same_item(&g.items[k], &whole.items[k])) {
                        printf("%s: chunks of %zu: item %zu\n", s[i].name, chunk, k);
                        CU_FAIL("another item");
                        break;
                    }
                got_done(&g);
            }
        }
        got_done(&whole);
        unlink(file);
    }
    samples_done(s);
}

TEST(records_too_large_are_the_same_ones_in_chunks_of_any_size)
{
    struct sample *s = samples_make();
    for (int i = 0; i < SAMPLES; i++) {
        const char *file = make_file(sp_buf_view(&s[i].bytes));
        struct reading how = {.max_record_bytes = 60};
        struct got whole = read_file(file, &how);
        for (how.chunk_bytes = 1; how.chunk_bytes <= 64; how.chunk_bytes++) {
            struct got g = read_file(file, &how);
            CU_ASSERT_EQUAL(g.count, whole.count);
            for (size_t k = 0; k < g.count && k < whole.count; k++)
                if (!same_item(&g.items[k], &whole.items[k])) {
                    printf("%s: chunks of %zu: item %zu\n", s[i].name, how.chunk_bytes, k);
                    CU_FAIL("another item");
                    break;
                }
            got_done(&g);
        }
        got_done(&whole);
        unlink(file);
    }
    samples_done(s);
}

/* Compares the items from record n on; one dead letter may stand for several records. */
static void check_tail(const char *name, const struct got *whole, const struct got *tail,
                       uint64_t n)
{
    size_t first = 0;
    while (first < whole->count && whole->items[first].number + whole->items[first].records <= n)
        first++;
    CU_ASSERT_EQUAL_FATAL(tail->count, whole->count - first);
    for (size_t k = 0; k < tail->count; k++) {
        struct sp_input_item item = whole->items[first + k];
        if (item.number < n) {
            item.records -= n - item.number;
            item.number = n;
        }
        if (!same_item(&tail->items[k], &item)) {
            printf("%s: behind %d records: item %zu\n", name, (int)n, k);
            CU_FAIL("another item");
            return;
        }
    }
}

TEST(skipping_is_the_same_as_reading_on)
{
    struct sample *s = samples_make();
    for (int i = 0; i < SAMPLES; i++) {
        const char *files[] = {make_file(sp_buf_view(&s[i].bytes)),
                               make_file(sp_buf_view(&s[(i + 5) % SAMPLES].bytes))};
        struct got whole = read_files(files, 2, NULL);
        const struct sp_input_item *last = &whole.items[whole.count - 1];
        uint64_t records = last->number + last->records;
        for (uint64_t n = 0; n <= records; n++)
            for (size_t chunk = 1; chunk <= 1 << 20; chunk *= 32) {
                struct reading how = {.chunk_bytes = chunk, .skip = n};
                struct got tail = read_files(files, 2, &how);
                CU_ASSERT_EQUAL(tail.end, SP_END);
                check_tail(s[i].name, &whole, &tail, n);
                got_done(&tail);
            }
        struct reading beyond = {.skip = records + 1000};
        struct got none = read_files(files, 2, &beyond);
        CU_ASSERT_EQUAL(none.end, SP_END);
        CU_ASSERT_EQUAL(none.count, 0);
        got_done(&none);
        got_done(&whole);
        unlink(files[0]);
        unlink(files[1]);
    }
    samples_done(s);
}

TEST(a_file_cut_off_anywhere_holds_no_page_that_the_whole_one_lacks)
{
    struct sample *s = samples_make();
    for (int i = 0; i < SAMPLES; i++) {
        struct got whole = read_bytes(sp_buf_view(&s[i].bytes), NULL);
        size_t before = 0;
        for (size_t len = 0; len < s[i].bytes.len; len++) {
            struct got g = read_bytes(sp_view(s[i].bytes.data, len), &small);
            size_t pages = 0;
            bool known = true;
            /* The first two bytes of a gzip file are not enough to recognise one. */
            CU_ASSERT(g.end == SP_END || (len == 2 && strstr(g.message, "not a gzip file")));
            for (size_t k = 0; k < g.count; k++) {
                if (g.items[k].err != SP_OK)
                    continue;
                if (s[i].clean) {
                    known &= k == pages && same_item(&g.items[k], &whole.items[k]);
                } else {
                    /* The content is not compared, because a damaged length may still parse. */
                    bool found = false;
                    for (size_t w = 0; w < whole.count; w++)
                        found |= whole.items[w].err == SP_OK &&
                                 sp_view_eq(g.items[k].page.url, whole.items[w].page.url);
                    known &= found;
                }
                pages++;
            }
            if (!known)
                printf("%s: cut off at %zu\n", s[i].name, len);
            CU_ASSERT(known);
            if (s[i].clean) { /* a longer file never yields fewer pages, and one dead letter ends it
                               */
                CU_ASSERT(pages >= before);
                CU_ASSERT(g.count <= pages + 2);
                before = pages;
            }
            got_done(&g);
        }
        got_done(&whole);
    }
    samples_done(s);
}

/* Whichever byte is wrong, reading continues to the end. */
TEST(a_file_with_any_byte_changed_is_read_to_its_end)
{
    static const unsigned char changes[] = {0x01, 0x80, 0xff, 0x20};
    struct sample *s = samples_make();
    for (int i = 0; i < SAMPLES; i++)
        for (size_t at = 0; at < s[i].bytes.len; at++) {
            unsigned char change = changes[at % sizeof changes];
            s[i].bytes.data[at] = (char)(s[i].bytes.data[at] ^ change);
            struct got g = read_bytes(sp_buf_view(&s[i].bytes), &small);
            CU_ASSERT(g.end == SP_END || g.end == SP_INVALID);
            got_done(&g);
            s[i].bytes.data[at] = (char)(s[i].bytes.data[at] ^ change);
        }
    samples_done(s);
}

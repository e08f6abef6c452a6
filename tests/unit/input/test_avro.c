/* Avro container files, written here by hand and by avro-c. */
#include <avro.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "harness.h"
#include "input_helper.h"

static const char sync_marker[] = "0123456789abcdef";

static void put_text(struct sp_buf *out, const char *text)
{
    sp_buf_put_zigzag(out, (int64_t)strlen(text));
    sp_buf_put_str(out, text);
}

static void put_header(struct sp_buf *out, const char *schema, const char *codec)
{
    sp_buf_put(out, "Obj\1", 4);
    sp_buf_put_zigzag(out, codec ? 2 : 1);
    put_text(out, "avro.schema");
    put_text(out, schema);
    if (codec) {
        put_text(out, "avro.codec");
        put_text(out, codec);
    }
    sp_buf_put_zigzag(out, 0);
    sp_buf_put(out, sync_marker, 16);
}

static void put_block(struct sp_buf *out, int64_t count, struct sp_view bytes)
{
    sp_buf_put_zigzag(out, count);
    sp_buf_put_zigzag(out, (int64_t)bytes.len);
    sp_buf_put_view(out, bytes);
    sp_buf_put(out, sync_marker, 16);
}

/* Compresses the block with the codec. */
static void put_packed(struct sp_buf *out, int64_t count, struct sp_view bytes, const char *codec)
{
    struct sp_buf packed = {0};
    if (strcmp(codec, "deflate") == 0) {
        z_stream z = {0};
        deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
        z.next_in = (Bytef *)(uintptr_t)bytes.data;
        z.avail_in = (uInt)bytes.len;
        z.next_out = (Bytef *)sp_buf_reserve(&packed, bytes.len + 1000);
        z.avail_out = (uInt)bytes.len + 1000;
        CU_ASSERT_EQUAL_FATAL(deflate(&z, Z_FINISH), Z_STREAM_END);
        packed.len = z.total_out;
        deflateEnd(&z);
    } else if (strcmp(codec, "zstandard") == 0) {
        put_zstd(&packed, bytes);
    } else {
        sp_buf_put_view(&packed, bytes);
    }
    put_block(out, count, sp_buf_view(&packed));
    sp_buf_done(&packed);
}

#define SIMPLE                                                                                     \
    "{\"type\":\"record\",\"name\":\"page\",\"fields\":[{\"name\":\"url\",\"type\":\"string\"},"   \
    "{\"name\":\"content\",\"type\":\"string\"}]}"

static void put_simple(struct sp_buf *out, int number)
{
    char text[32];
    snprintf(text, sizeof text, "http://u/%d", number);
    put_text(out, text);
    snprintf(text, sizeof text, "text %d", number);
    put_text(out, text);
}

static void check_simple(const struct got *g, size_t i, int number)
{
    char url[32], content[32];
    snprintf(url, sizeof url, "http://u/%d", number);
    snprintf(content, sizeof content, "text %d", number);
    check_page(g, i, url, content);
}

static const char *const codecs[] = {"null", "deflate", "zstandard"};

TEST(every_codec_is_read)
{
    for (size_t c = 0; c < 3; c++) {
        struct sp_buf file = {0}, block = {0};
        put_header(&file, SIMPLE, codecs[c]);
        for (int i = 0; i < 12; i++) {
            put_simple(&block, i);
            if (i % 5 == 4 || i == 11) {
                put_packed(&file, i % 5 + 1, sp_buf_view(&block), codecs[c]);
                sp_buf_reset(&block);
                put_packed(&file, 0, sp_view("", 0), codecs[c]); /* an empty block */
            }
        }
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 12);
        for (int i = 0; i < 12; i++)
            check_simple(&g, (size_t)i, i);
        CU_ASSERT(g.items[0].page.content_is_utf8);
        CU_ASSERT_EQUAL(g.items[0].page.fetch_time_ms, -1);
        CU_ASSERT_EQUAL(g.items[0].page.http_status, 200);
        got_done(&g);
        sp_buf_done(&file);
        sp_buf_done(&block);
    }
}

TEST(large_blocks_are_read_whole)
{
    for (size_t c = 0; c < 3; c++) {
        struct sp_buf file = {0}, block = {0};
        put_header(&file, SIMPLE, codecs[c]);
        for (int i = 0; i < 60000; i++)
            put_simple(&block, i);
        put_packed(&file, 60000, sp_buf_view(&block), codecs[c]);
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 60000);
        check_simple(&g, 59999, 59999);
        got_done(&g);
        sp_buf_done(&file);
        sp_buf_done(&block);
    }
}

TEST(a_header_without_codec_means_none)
{
    struct sp_buf file = {0}, block = {0};
    put_header(&file, SIMPLE, NULL);
    put_simple(&block, 1);
    put_block(&file, 1, sp_buf_view(&block));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_simple(&g, 0, 1);
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&block);
}

/* ---- written by avro-c ---- */

static const char all_kinds[] =
    "{\"type\":\"record\",\"name\":\"page\",\"fields\":["
    "{\"name\":\"n\",\"type\":\"null\"},{\"name\":\"b\",\"type\":\"boolean\"},"
    "{\"name\":\"popularity\",\"type\":[\"null\",\"float\",\"double\"]},"
    "{\"name\":\"i\",\"type\":\"int\"},{\"name\":\"l\",\"type\":\"long\"},"
    "{\"name\":\"content\",\"type\":[\"null\",\"bytes\"]},"
    "{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"d\",\"type\":\"double\"},"
    "{\"name\":\"y\",\"type\":\"bytes\"},{\"name\":\"s\",\"type\":\"string\"},"
    "{\"name\":\"fetch_time_ms\",\"type\":[\"null\",\"long\"]},"
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"color\",\"symbols\":[\"red\",\"blue\"]}"
    "},"
    "{\"name\":\"x\",\"type\":{\"type\":\"fixed\",\"name\":\"four\",\"size\":4}},"
    "{\"name\":\"http_status\",\"type\":[\"null\",\"int\"]},"
    "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"map\",\"values\":\"color\"}"
    "}},"
    "{\"name\":\"redirect_url\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":[\"null\",\"string\",\"four\"]}},"
    "{\"name\":\"content_type\",\"type\":[\"string\",\"null\"]},"
    "{\"name\":\"r\",\"type\":{\"type\":\"record\",\"name\":\"tree\",\"fields\":["
    "{\"name\":\"url\",\"type\":\"string\"},{\"name\":\"more\",\"type\":[\"null\",\"tree\"]}]}},"
    "{\"name\":\"url\",\"type\":\"string\"},{\"name\":\"z\",\"type\":\"tree\"}]}";

static avro_value_t field(avro_value_t *record, const char *name)
{
    avro_value_t v = {0};
    int failed = avro_value_get_by_name(record, name, &v, NULL);
    CU_ASSERT_EQUAL_FATAL(failed, 0);
    return v;
}

static avro_value_t branch(avro_value_t *record, const char *name, int number)
{
    avro_value_t v = field(record, name), b = {0};
    int failed = avro_value_set_branch(&v, number, &b);
    CU_ASSERT_EQUAL_FATAL(failed, 0);
    return b;
}

static void set_tree(avro_value_t tree, int depth)
{
    avro_value_t url = field(&tree, "url"), more = branch(&tree, "more", depth > 0);
    avro_value_set_string(&url, "http://wrong/");
    if (depth > 0)
        set_tree(more, depth - 1);
    else
        avro_value_set_null(&more);
}

static void fill(avro_value_t *record, int number)
{
    avro_value_t v;
    char text[64];
    bool some = number % 2 == 0;
    v = field(record, "n"), avro_value_set_null(&v);
    v = field(record, "b"), avro_value_set_boolean(&v, some);
    v = field(record, "i"), avro_value_set_int(&v, -number * 100000);
    v = field(record, "l"), avro_value_set_long(&v, INT64_MIN + number);
    v = field(record, "f"), avro_value_set_float(&v, 1.5f);
    v = field(record, "d"), avro_value_set_double(&v, 2.5);
    v = field(record, "y"), avro_value_set_bytes(&v, "\0\1\2", 3);
    v = field(record, "s"), avro_value_set_string(&v, "url");
    v = field(record, "e"), avro_value_set_enum(&v, number % 2);
    v = field(record, "x"), avro_value_set_fixed(&v, "\xff\xff\xff\xff", 4);
    v = field(record, "a");
    for (int i = 0; i < number % 4; i++) {
        avro_value_t map, item;
        avro_value_append(&v, &map, NULL);
        snprintf(text, sizeof text, "key %d", i);
        avro_value_add(&map, text, &item, NULL, NULL);
        avro_value_set_enum(&item, 1);
    }
    v = field(record, "m");
    for (int i = 0; i < number % 5; i++) {
        avro_value_t item, value;
        snprintf(text, sizeof text, "key %d", i);
        avro_value_add(&v, text, &item, NULL, NULL);
        avro_value_set_branch(&item, i % 3, &value);
        if (i % 3 == 0)
            avro_value_set_null(&value);
        else if (i % 3 == 1)
            avro_value_set_string(&value, "some text");
        else
            avro_value_set_fixed(&value, "\0\0\0\0", 4);
    }
    set_tree(field(record, "r"), number % 7);
    set_tree(field(record, "z"), 0);
    snprintf(text, sizeof text, "http://u/%d", number);
    v = field(record, "url"), avro_value_set_string(&v, text);
    v = branch(record, "popularity", some ? 1 + number % 4 / 2 : 0);
    if (!some)
        avro_value_set_null(&v);
    else if (number % 4 / 2 == 0)
        avro_value_set_float(&v, 0.25f);
    else
        avro_value_set_double(&v, 0.125);
    v = branch(record, "content", some);
    some ? avro_value_set_bytes(&v, "caf\xe9", 4) : avro_value_set_null(&v);
    v = branch(record, "fetch_time_ms", some);
    some ? avro_value_set_long(&v, 1700000000000 + number) : avro_value_set_null(&v);
    v = branch(record, "http_status", some);
    some ? avro_value_set_int(&v, 404) : avro_value_set_null(&v);
    v = branch(record, "redirect_url", some);
    some ? avro_value_set_string(&v, "/to") : avro_value_set_null(&v);
    v = branch(record, "content_type", !some);
    some ? avro_value_set_string(&v, "text/html") : avro_value_set_null(&v);
}

TEST(what_avro_c_writes_is_read_with_fields_of_all_kinds_between)
{
    static const char *const written[] = {"null", "deflate"};
    enum { RECORDS = 300 };
    for (size_t c = 0; c < 2; c++) {
        avro_schema_t schema;
        avro_file_writer_t writer;
        avro_value_t record;
        const char *file = make_text("");
        CU_ASSERT_EQUAL_FATAL(avro_schema_from_json_literal(all_kinds, &schema), 0);
        remove(file);
        CU_ASSERT_EQUAL_FATAL(
            avro_file_writer_create_with_codec(file, schema, &writer, written[c], 2048), 0);
        avro_value_iface_t *iface = avro_generic_class_from_schema(schema);
        avro_generic_value_new(iface, &record);
        for (int i = 0; i < RECORDS; i++) {
            avro_value_reset(&record);
            fill(&record, i);
            CU_ASSERT_EQUAL_FATAL(avro_file_writer_append_value(writer, &record), 0);
        }
        avro_file_writer_close(writer);
        avro_value_decref(&record);
        avro_value_iface_decref(iface);
        avro_schema_decref(schema);

        struct got g = read_file(file, NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, RECORDS);
        for (int i = 0; i < RECORDS; i++) {
            bool some = i % 2 == 0;
            char url[32];
            snprintf(url, sizeof url, "http://u/%d", i);
            check_page(&g, (size_t)i, url, some ? "caf\xe9" : "");
            const struct sp_page_record *page = &g.items[i].page;
            CU_ASSERT_EQUAL(page->fetch_time_ms, some ? 1700000000000 + i : -1);
            CU_ASSERT_EQUAL(page->http_status, some ? 404 : 200);
            CU_ASSERT_EQUAL(page->popularity, !some ? 0 : i % 4 == 0 ? 0.25 : 0.125);
            CU_ASSERT(view_is(page->redirect_url, some ? "http://u/to" : ""));
            CU_ASSERT(view_is(page->content_type, some ? "text/html" : ""));
            CU_ASSERT(!page->content_is_utf8);
        }
        got_done(&g);
    }
}

TEST(arrays_in_blocks_with_their_size_are_passed_over)
{
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"p\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":"
        "\"array\",\"items\":\"string\"}},{\"name\":\"url\",\"type\":\"string\"}]}";
    struct sp_buf file = {0}, block = {0};
    put_header(&file, schema, NULL);
    sp_buf_put_zigzag(&block, -2);
    sp_buf_put_zigzag(&block, 4); /* bytes of the two records */
    put_text(&block, "a");
    put_text(&block, "b");
    sp_buf_put_zigzag(&block, 1);
    put_text(&block, "c");
    sp_buf_put_zigzag(&block, 0);
    put_text(&block, "http://u/");
    put_block(&file, 1, sp_buf_view(&block));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_page(&g, 0, "http://u/", "");
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&block);
}

/* ---- damage ---- */

TEST(a_broken_sync_marker_is_a_dead_letter_and_reading_goes_on_behind_it)
{
    for (size_t c = 0; c < 3; c++) {
        for (int broken = 0; broken < 5; broken++) {
            struct sp_buf file = {0}, block = {0};
            size_t offsets[6];
            put_header(&file, SIMPLE, codecs[c]);
            for (int i = 0; i < 5; i++) {
                offsets[i] = file.len;
                sp_buf_reset(&block);
                put_simple(&block, 2 * i);
                put_simple(&block, 2 * i + 1);
                put_packed(&file, 2, sp_buf_view(&block), codecs[c]);
                if (i == broken)
                    file.data[file.len - 7] ^= 1;
            }
            struct got g = read_bytes(sp_buf_view(&file), NULL);
            size_t lost = 2;
            CU_ASSERT_EQUAL_FATAL(g.count, 10 - lost + 1);
            for (int i = 0; i < 2 * broken; i++)
                check_simple(&g, (size_t)i, i);
            check_bad(&g, (size_t)broken * 2, SP_MALFORMED, "sync marker");
            CU_ASSERT_EQUAL(g.items[broken * 2].offset, offsets[broken]);
            for (size_t i = (size_t)broken * 2 + 1; i < g.count; i++)
                check_simple(&g, i, (int)(i - 1 + lost));
            got_done(&g);
            sp_buf_done(&file);
            sp_buf_done(&block);
        }
    }
}

TEST(a_damaged_block_is_one_dead_letter_for_all_its_records)
{
    for (size_t c = 1; c < 3; c++) {
        struct sp_buf file = {0}, block = {0};
        put_header(&file, SIMPLE, codecs[c]);
        for (int i = 0; i < 9; i++) {
            put_simple(&block, i);
            if (i % 3 < 2)
                continue;
            size_t at = file.len;
            put_packed(&file, 3, sp_buf_view(&block), codecs[c]);
            if (i == 5) { /* the first bytes identify the compression */
                struct sp_reader r = sp_reader(sp_view(file.data + at, file.len - at));
                CU_ASSERT_EQUAL(sp_read_zigzag(&r), 3);
                sp_read_zigzag(&r);
                memset((char *)(uintptr_t)r.at, 0xff, 4);
            }
            sp_buf_reset(&block);
        }
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 7);
        check_simple(&g, 2, 2);
        check_bad(&g, 3, SP_MALFORMED, "compression is damaged");
        CU_ASSERT_EQUAL(g.items[3].records, 3);
        check_simple(&g, 4, 6);
        CU_ASSERT_EQUAL(g.items[4].number, 6);
        got_done(&g);
        sp_buf_done(&file);
        sp_buf_done(&block);
    }
}

TEST(bytes_after_the_last_record_of_a_block_are_a_dead_letter)
{
    for (size_t c = 0; c < 3; c++) {
        struct sp_buf file = {0}, block = {0};
        put_header(&file, SIMPLE, codecs[c]);
        for (int i = 0; i < 4; i++)
            put_simple(&block, i);
        put_packed(&file, 2, sp_buf_view(&block), codecs[c]);
        sp_buf_reset(&block);
        put_simple(&block, 7);
        put_packed(&file, 1, sp_buf_view(&block), codecs[c]);
        struct got g = read_and_drop(&file, NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 3);
        check_simple(&g, 0, 0);
        check_bad(&g, 1, SP_MALFORMED, "more bytes than its count");
        check_simple(&g, 2, 7);
        got_done(&g);
        sp_buf_done(&block);
    }
}

/* A file of two blocks: one that holds so many records, from number 0 on, and says another count,
 * and one with record 7. */
static struct got read_counted(int64_t count, int held)
{
    struct sp_buf file = {0}, block = {0};
    put_header(&file, SIMPLE, "null");
    for (int i = 0; i < held; i++)
        put_simple(&block, i);
    put_block(&file, count, sp_buf_view(&block));
    sp_buf_reset(&block);
    put_simple(&block, 7);
    put_block(&file, 1, sp_buf_view(&block));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    sp_buf_done(&file);
    sp_buf_done(&block);
    return g;
}

/* A few bytes can be so many records, and the number of those to come would take memory. */
TEST(a_count_beyond_a_million_or_of_nothing_is_a_dead_letter)
{
    static const int64_t counts[] = {0, (1 << 20) + 1, UINT32_MAX};
    for (size_t k = 0; k < 3; k++) {
        struct got g = read_counted(counts[k], 1);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_bad(&g, 0, SP_MALFORMED, "number of records (at most 1,048,576)");
        check_simple(&g, 1, 7);
        got_done(&g);
    }
}

TEST(a_count_that_its_block_cannot_hold_is_a_dead_letter)
{
    static const int64_t counts[] = {3, 100, 1 << 20};
    for (size_t k = 0; k < 3; k++) {
        struct got g = read_counted(counts[k], 2);
        CU_ASSERT_EQUAL_FATAL(g.pages, 3);
        CU_ASSERT(g.count <= 5);
        check_simple(&g, 1, 1);
        CU_ASSERT_EQUAL(g.items[2].err, SP_MALFORMED);
        check_simple(&g, g.count - 1, 7);
        CU_ASSERT_EQUAL(g.items[g.count - 1].number, (uint64_t)counts[k]);
        got_done(&g);
    }
}

TEST(records_without_bytes_cost_no_time_each)
{
    static const char *const schemas[] = {
        "{\"type\":\"record\",\"name\":\"p\",\"fields\":[{\"name\":\"url\",\"type\":\"null\"}]}",
        "{\"type\":\"record\",\"name\":\"p\",\"fields\":[{\"name\":\"url\",\"type\":{\"type\":"
        "\"record\",\"name\":\"q\",\"fields\":[]}}]}"};
    for (size_t k = 0; k < 2; k++) {
        struct sp_buf file = {0};
        put_header(&file, schemas[k], "null");
        put_block(&file, UINT32_MAX, sp_view("", 0));
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL(g.pages, 0);
        CU_ASSERT(g.count >= 1);
        CU_ASSERT(g.count <= 3);
        got_done(&g);
        sp_buf_done(&file);
    }
}

TEST(hostile_sizes_and_counts_are_dead_letters)
{
    static const int64_t numbers[] = {-1, INT64_MIN, INT64_MAX, (int64_t)1 << 40, 1 << 27};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        for (int place = 0; place < 2; place++) {
            struct sp_buf file = {0}, block = {0};
            put_simple(&block, 0);
            put_header(&file, SIMPLE, "null");
            put_block(&file, 1, sp_buf_view(&block));
            sp_buf_put_zigzag(&file, place == 0 ? numbers[k] : 1);
            sp_buf_put_zigzag(&file, place == 0 ? (int64_t)block.len + 1 : numbers[k]);
            sp_buf_put_view(&file, sp_buf_view(&block));
            sp_buf_put(&file, sync_marker, 16);
            put_block(&file, 1, sp_buf_view(&block));
            struct got g = read_bytes(sp_buf_view(&file), NULL);
            CU_ASSERT_EQUAL_FATAL(g.count, 3);
            check_simple(&g, 0, 0);
            CU_ASSERT_NOT_EQUAL(g.items[1].err, SP_OK);
            check_simple(&g, 2, 0);
            got_done(&g);
            sp_buf_done(&file);
            sp_buf_done(&block);
        }
    }
}

TEST(hostile_lengths_within_a_record_are_dead_letters)
{
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"p\",\"fields\":["
        "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"null\"}},"
        "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"null\"}},"
        "{\"name\":\"u\",\"type\":[\"null\",\"p\"]},{\"name\":\"url\",\"type\":\"string\"}]}";
    static const int64_t numbers[] = {-1, INT64_MIN, INT64_MAX, (int64_t)1 << 40, 1000000};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        for (int place = 0; place < 4; place++) {
            struct sp_buf file = {0}, block = {0};
            put_header(&file, schema, "null");
            sp_buf_put_zigzag(&block, place == 0 ? numbers[k] : 0);
            sp_buf_put_zigzag(&block, place == 1 ? numbers[k] : 0);
            sp_buf_put_zigzag(&block, place == 2 ? numbers[k] : 0);
            sp_buf_put_zigzag(&block, place == 3 ? numbers[k] : 9);
            sp_buf_put_str(&block, "http://u/");
            put_block(&file, 1, sp_buf_view(&block));
            struct got g = read_bytes(sp_buf_view(&file), NULL);
            CU_ASSERT_EQUAL_FATAL(g.count, 1);
            check_bad(&g, 0, SP_MALFORMED, "do not match the schema");
            got_done(&g);
            sp_buf_done(&file);
            sp_buf_done(&block);
        }
    }
}

TEST(a_record_nested_without_end_is_a_dead_letter)
{
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"p\",\"fields\":[{\"name\":\"url\",\"type\":\"string\"},"
        "{\"name\":\"u\",\"type\":[\"null\",\"p\"]}]}";
    struct sp_buf file = {0}, block = {0};
    put_header(&file, schema, "null");
    put_text(&block, "http://u/");
    for (int i = 0; i < 1000000; i++)
        sp_buf_put(&block, "\2\0", 2); /* union branch 1, an empty url */
    sp_buf_put_zigzag(&block, 0);
    put_block(&file, 1, sp_buf_view(&block));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_bad(&g, 0, SP_MALFORMED, "do not match the schema");
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&block);
}

TEST(a_block_that_grows_beyond_the_limit_is_a_dead_letter)
{
    struct reading how = {.max_record_bytes = 1 << 20};
    for (size_t c = 1; c < 3; c++) {
        struct sp_buf file = {0}, zeros = {0}, block = {0};
        put_header(&file, SIMPLE, codecs[c]);
        put_times(&zeros, 0, 64 << 20);
        put_packed(&file, 1000, sp_buf_view(&zeros), codecs[c]);
        put_simple(&block, 5);
        put_packed(&file, 1, sp_buf_view(&block), codecs[c]);
        struct got g = read_bytes(sp_buf_view(&file), &how);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        CU_ASSERT_EQUAL(g.items[0].err, SP_TOO_LARGE);
        CU_ASSERT_EQUAL(g.items[0].records, 1000);
        check_simple(&g, 1, 5);
        got_done(&g);
        sp_buf_done(&file);
        sp_buf_done(&zeros);
        sp_buf_done(&block);
    }
}

TEST(a_record_with_wrong_values_is_a_dead_letter_and_the_next_is_read)
{
    static const struct {
        const char *field;
        const char *type;
        int64_t number;
        enum sp_err err;
        const char *why;
    } cases[] = {{"http_status", "int", 1000, SP_MALFORMED, "http_status"},
                 {"http_status", "int", -1, SP_MALFORMED, "http_status"},
                 {"content", "long", 1, SP_MALFORMED, "must be string or bytes"},
                 {"popularity", "boolean", 0, SP_MALFORMED, "popularity"},
                 {"fetch_time_ms", "string", 0, SP_MALFORMED, "fetch_time_ms"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_buf file = {0}, block = {0}, schema = {0};
        put_format(&schema,
                   "{\"type\":\"record\",\"name\":\"p\",\"fields\":[{\"name\":\"url\",\"type\":"
                   "\"string\"},{\"name\":\"%s\",\"type\":[\"null\",\"%s\"]}]}",
                   cases[i].field, cases[i].type);
        sp_buf_put_u8(&schema, 0);
        put_header(&file, schema.data, "null");
        put_text(&block, "http://u/");
        sp_buf_put_zigzag(&block, 1);
        sp_buf_put_zigzag(&block, cases[i].number);
        put_text(&block, "");
        sp_buf_put_zigzag(&block, 0);
        put_text(&block, "http://v/");
        sp_buf_put_zigzag(&block, 0);
        put_block(&file, 3, sp_buf_view(&block));
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 3);
        check_bad(&g, 0, cases[i].err, cases[i].why);
        check_bad(&g, 1, SP_NO_URL, "no url");
        check_page(&g, 2, "http://v/", "");
        got_done(&g);
        sp_buf_done(&file);
        sp_buf_done(&block);
        sp_buf_done(&schema);
    }
}

TEST(a_header_that_cannot_be_used_is_one_dead_letter)
{
    static const struct {
        const char *schema;
        const char *codec;
        const char *why;
    } headers[] = {{SIMPLE, "snappy", "codec"},
                   {"not json", "null", "not a valid Avro schema"},
                   {"\"string\"", "null", "not a record"},
                   {"{\"type\":\"record\",\"name\":\"p\",\"fields\":[{\"name\":\"uri\",\"type\":"
                    "\"string\"}]}",
                    "null", "not a record with a field `url`"}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct sp_buf file = {0}, block = {0};
        put_header(&file, headers[i].schema, headers[i].codec);
        put_times(&block, 'x', 3 << 20);
        put_block(&file, 1, sp_buf_view(&block));
        const char *files[] = {make_file(sp_buf_view(&file)),
                               make_text("{\"url\":\"http://next/\"}\n")};
        struct got g = read_files(files, 2, NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_bad(&g, 0, SP_MALFORMED, headers[i].why);
        check_page(&g, 1, "http://next/", "");
        got_done(&g);
        sp_buf_done(&file);
        sp_buf_done(&block);
    }
    struct got g = read_bytes(sp_view("Obj\1\0abcdefghijklmnop", 21), NULL);
    CU_ASSERT_EQUAL(g.count, 1);
    check_bad(&g, 0, SP_MALFORMED, "no schema");
    got_done(&g);
    g = read_bytes(sp_view("Obj\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 14), NULL);
    CU_ASSERT_EQUAL(g.count, 1);
    check_bad(&g, 0, SP_MALFORMED, "header");
    got_done(&g);
}

/* Files crafted to cost much time or memory, or to shift the numbers of later records. */
#include "harness.h"
#include "input_helper.h"

static void put_text(struct sp_buf *out, const char *text)
{
    sp_buf_put_zigzag(out, (int64_t)strlen(text));
    sp_buf_put_str(out, text);
}

/* A file with this schema and one block of one record. */
static struct got read_one_record(const char *schema, const struct sp_buf *record)
{
    static const char sync[] = "0123456789abcdef";
    struct sp_buf file = {0};
    sp_buf_put(&file, "Obj\1", 4);
    sp_buf_put_zigzag(&file, 1);
    put_text(&file, "avro.schema");
    put_text(&file, schema);
    sp_buf_put_zigzag(&file, 0);
    sp_buf_put(&file, sync, 16);
    sp_buf_put_zigzag(&file, 1);
    sp_buf_put_zigzag(&file, (int64_t)record->len);
    sp_buf_put_view(&file, sp_buf_view(record));
    sp_buf_put(&file, sync, 16);
    struct reading how = {0};
    struct got g = read_bytes(sp_buf_view(&file), &how);
    sp_buf_done(&file);
    return g;
}

/* Each record type has two fields of the previous type: 2^28 nulls in zero bytes. */
TEST(an_avro_schema_that_doubles_with_each_line_costs_no_more_than_its_block)
{
    struct sp_buf schema = {0}, record = {0};
    put_format(&schema, "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"f0\",\"type\":"
                        "{\"type\":\"record\",\"name\":\"R0\",\"fields\":"
                        "[{\"name\":\"x\",\"type\":\"null\"}]}}");
    for (int i = 1; i <= 28; i++)
        put_format(&schema,
                   ",{\"name\":\"f%d\",\"type\":{\"type\":\"record\",\"name\":\"R%d\",\"fields\":"
                   "[{\"name\":\"x\",\"type\":\"R%d\"},{\"name\":\"y\",\"type\":\"R%d\"}]}}",
                   i, i, i - 1, i - 1);
    put_format(&schema, ",{\"name\":\"url\",\"type\":\"string\"}]}");
    sp_buf_put_u8(&schema, 0);
    put_text(&record, "http://a.example/");
    struct got g = read_one_record(schema.data, &record);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_bad(&g, 0, SP_MALFORMED, "do not match");
    got_done(&g);
    sp_buf_done(&schema);
    sp_buf_done(&record);
}

/* 200,000 arrays of 500,000 items that take no bytes. */
TEST(avro_arrays_of_nulls_cost_no_more_than_their_block)
{
    struct sp_buf record = {0};
    for (int i = 0; i < 200000; i++)
        sp_buf_put_zigzag(&record, 500000);
    sp_buf_put_zigzag(&record, 0);
    put_text(&record, "http://a.example/");
    struct got g =
        read_one_record("{\"type\":\"record\",\"name\":\"P\",\"fields\":["
                        "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"null\"}},"
                        "{\"name\":\"url\",\"type\":\"string\"}]}",
                        &record);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_bad(&g, 0, SP_MALFORMED, "do not match");
    got_done(&g);
    sp_buf_done(&record);
}

TEST(a_warc_record_without_length_is_one_dead_letter_however_far_the_next_one_is)
{
    static const size_t chunk_sizes[] = {1, 7, 64, 4096, 1 << 20};
    struct sp_buf file = {0};
    put_format(&file, "WARC/1.0\r\nWARC-Type: response\r\n\r\n");
    put_times(&file, 'x', 300000);
    put_format(&file, "WARC/1.0 is not at the start of a line here\r\n");
    put_format(&file, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.example/\r\n"
                      "Content-Length: 4\r\n\r\ntext\r\n\r\n");
    for (size_t i = 0; i < sizeof chunk_sizes / sizeof *chunk_sizes; i++) {
        struct reading how = {.chunk_bytes = chunk_sizes[i], .max_record_bytes = 1000};
        struct got g = read_bytes(sp_buf_view(&file), &how);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_bad(&g, 0, SP_MALFORMED, "Content-Length");
        CU_ASSERT_EQUAL(g.items[0].raw.len, 65536);
        check_page(&g, 1, "http://a.example/", "text");
        CU_ASSERT_EQUAL(g.items[1].number, 1);
        got_done(&g);
    }
    sp_buf_done(&file);
}

TEST(any_number_of_newlines_may_lie_between_warc_records)
{
    struct sp_buf file = {0};
    for (int i = 0; i < 2; i++) {
        put_format(&file, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.example/"
                          "\r\nContent-Length: 4\r\n\r\ntext");
        put_times(&file, '\n', 200000);
    }
    struct reading how = {.chunk_bytes = 5000};
    struct got g = read_bytes(sp_buf_view(&file), &how);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "http://a.example/", "text");
    check_page(&g, 1, "http://a.example/", "text");
    got_done(&g);
    sp_buf_done(&file);
}

/* Files crafted to cost much time or memory, or to shift the numbers of later records. */
#include <dlfcn.h>
#include <stdint.h>

#include "harness.h"
#include "input/header.h"
#include "input_helper.h"

static size_t schemas_parsed;

/* Counts the calls of avro-c's function, which is in a shared library. */
int avro_schema_from_json_length(const char *json, size_t len, void *ret_schema);
int avro_schema_from_json_length(const char *json, size_t len, void *ret_schema)
{
    static int (*real)(const char *, size_t, void *);
    if (!real)
        *(void **)(void *)&real = dlsym(RTLD_NEXT, "avro_schema_from_json_length");
    schemas_parsed++;
    return real(json, len, ret_schema);
}

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

/* The header of an Avro file, read byte by byte, with so many bytes after its schema. */
static size_t schemas_of_a_header(size_t bytes)
{
    static const char schema[] = "{\"type\":\"record\",\"name\":\"P\",\"fields\":["
                                 "{\"name\":\"url\",\"type\":\"string\"}]}";
    static const char sync[] = "0123456789abcdef";
    struct sp_buf file = {0};
    sp_buf_put(&file, "Obj\1", 4);
    sp_buf_put_zigzag(&file, 2);
    put_text(&file, "avro.schema");
    put_text(&file, schema);
    put_text(&file, "comment");
    sp_buf_put_zigzag(&file, (int64_t)bytes);
    put_times(&file, 'x', bytes);
    sp_buf_put_zigzag(&file, 0);
    sp_buf_put(&file, sync, 16);
    sp_buf_put_zigzag(&file, 1);
    sp_buf_put_zigzag(&file, 18);
    put_text(&file, "http://a.example/");
    sp_buf_put(&file, sync, 16);
    schemas_parsed = 0;
    struct got g = read_bytes(sp_buf_view(&file), &(struct reading){.chunk_bytes = 1});
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    CU_ASSERT(view_is(g.items[0].page.url, "http://a.example/"));
    got_done(&g);
    sp_buf_done(&file);
    return schemas_parsed;
}

TEST(an_avro_header_in_pieces_is_read_again_only_when_there_are_twice_as_many_bytes)
{
    size_t few = schemas_of_a_header(5000), many = schemas_of_a_header(20000);
    CU_ASSERT(few > 0 && few <= 12);
    CU_ASSERT(many <= few + 2);
}

/* ---- headers without an end ---- */

static size_t bytes_searched;

static size_t counted_end(struct sp_view text)
{
    bytes_searched += text.len;
    return sp_header_end(text);
}

/* Lines that all look like the start of a record, so each is the start of a header. */
static size_t searched_for_ends(size_t lines)
{
    enum { MOST = 1 << 16 };
    struct sp_buf file = {0};
    uint64_t no_end = 0;
    for (size_t i = 0; i < lines; i++)
        put_format(&file, "WARC/\n");
    bytes_searched = 0;
    for (size_t at = 0; at < file.len; at += 6) {
        size_t left = file.len - at;
        CU_ASSERT_EQUAL(sp_header_find_end(sp_view(file.data + at, left < MOST ? left : MOST), at,
                                           counted_end, &no_end),
                        0);
    }
    sp_buf_done(&file);
    return bytes_searched;
}

TEST(each_byte_is_searched_for_the_end_of_a_header_a_few_times)
{
    size_t few = searched_for_ends(20000), many = searched_for_ends(80000);
    CU_ASSERT(few <= 2 * 6 * 20000);
    CU_ASSERT(many <= 2 * 6 * 80000);
}

TEST(the_end_of_a_header_is_found_where_two_pieces_meet)
{
    static const char *const ends[] = {"\n\n", "\r\n\r\n", "\n\r\n"};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        struct sp_buf file = {0};
        uint64_t no_end = 0;
        size_t found = 0;
        put_format(&file, "WARC/1.0\r\nA: b%s", ends[e]);
        size_t whole = file.len;
        put_format(&file, "more\n\n");
        for (size_t n = 1; n <= file.len && !found; n++) /* a record at 100 of the file */
            found = sp_header_find_end(sp_view(file.data, n), 100, sp_header_end, &no_end);
        CU_ASSERT_EQUAL(found, whole);
        sp_buf_done(&file);
    }
}

TEST(records_without_an_end_of_their_header_do_not_hide_the_next_page)
{
    struct sp_buf file = {0};
    for (int i = 0; i < 20000; i++)
        put_format(&file, "WARC/\n");
    put_format(&file, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.example/\r\n"
                      "Content-Length: 4\r\n\r\ntext\r\n\r\n");
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL(g.pages, 1);
    check_page(&g, g.count - 1, "http://a.example/", "text");
    for (size_t i = 0; i + 1 < g.count; i++)
        check_bad(&g, i, SP_MALFORMED, "ends where the next record begins");
    got_done(&g);
    sp_buf_done(&file);
}

/* ---- tables and dumps ---- */

/* Reads the file and returns its dead letters; all pages must be `pages`. */
static void check_conversion(const struct sp_buf *file, size_t pages, size_t bad,
                             const char *part_of_raw, const struct reading *how)
{
    struct got g = read_bytes(sp_buf_view(file), how);
    CU_ASSERT_EQUAL(g.pages, pages);
    CU_ASSERT_EQUAL_FATAL(g.count, pages + bad);
    for (size_t i = 0; i < g.count; i++) {
        struct sp_view raw = g.items[i].raw;
        if (g.items[i].err == SP_OK)
            continue;
        CU_ASSERT_PTR_NOT_NULL(memmem(raw.data, raw.len, part_of_raw, strlen(part_of_raw)));
        CU_ASSERT(raw.len >= strlen(g.items[i].why) && /* the reason begins it */
                  memcmp(raw.data, g.items[i].why, strlen(g.items[i].why)) == 0);
    }
    got_done(&g);
}

TEST(a_table_with_a_name_of_any_length_does_not_repeat_it_in_each_row)
{
    struct sp_buf file = {0};
    put_format(&file, "url,content,");
    put_times(&file, 'n', 2000);
    for (int i = 0; i < 1000; i++)
        put_format(&file, "\nhttp://a.example/%d,b,c", i);
    check_conversion(&file, 0, 1, "the name of a column is longer than 1,024 bytes", NULL);
    sp_buf_reset(&file);
    put_format(&file, "url,content");
    for (int i = 0; i < 1 << 20; i++)
        put_format(&file, ",a");
    put_format(&file, "\nhttp://a.example/,b,c\n");
    check_conversion(&file, 0, 1, "all names together than 1 MiB", NULL);
    sp_buf_done(&file);
}

TEST(a_row_that_is_too_large_is_one_dead_letter_whatever_its_cells_are)
{
    struct sp_buf file = {0};
    put_format(&file, "url,content,x,y\nhttp://a.example/,text");
    for (int i = 0; i < 2; i++) {
        put_format(&file, ",");
        put_times(&file, 'c', 900);
    }
    put_format(&file, "\nhttp://b.example/,text,,\n");
    check_conversion(&file, 1, 1, "a row of the table is larger than input.max_record_bytes",
                     &(struct reading){.max_record_bytes = 1200});
    sp_buf_done(&file);
}

TEST(lines_behind_a_missing_quotation_mark_are_no_page)
{
    struct sp_buf file = {0};
    put_format(&file, "url,content\nhttp://a.example/,\"text\"\nhttp://b.example/,\"open\n");
    for (int i = 0; i < 50; i++)
        put_format(&file, "http://c.example/%d text\n", i);
    check_conversion(&file, 1, 1, "within quotation marks", NULL);
    sp_buf_done(&file);
}

TEST(a_cell_that_is_never_quoted_may_begin_with_a_quotation_mark)
{
    struct got g =
        read_bytes(sp_view_str("url\tcontent\nhttp://a.example/\t\"open\n"
                               "http://b.example/\t\"a\" and \"\"b\"\"\nhttp://c.example/\t\"\n"),
                   &(struct reading){.unquoted = true});
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://a.example/", "\"open");
    check_page(&g, 1, "http://b.example/", "\"a\" and \"\"b\"\"");
    check_page(&g, 2, "http://c.example/", "\"");
    got_done(&g);
}

TEST(a_long_title_is_not_repeated_in_each_revision)
{
    struct sp_buf file = {0};
    put_format(&file, "<mediawiki><page><title>");
    put_times(&file, 't', 9000);
    put_format(&file, "</title>");
    for (int i = 0; i < 1000; i++)
        put_format(&file, "<revision/>");
    put_format(&file, "</page><page><title>T</title><revision><text>x</text></revision></page>"
                      "<page><title>U</title><redirect title=\"");
    put_times(&file, 't', 9000);
    put_format(&file, "\"/><revision><text>x</text></revision></page></mediawiki>");
    check_conversion(&file, 1, 1001, "a title, a time or the wiki's address is longer", NULL);
    sp_buf_done(&file);
}

/* A dump of this many bytes of `repeated`, after a page. */
static void put_dump(struct sp_buf *out, const char *before, const char *repeated, size_t bytes)
{
    sp_buf_reset(out);
    put_format(out, "<mediawiki><page><title>T</title><revision><text>x</text></revision></page>%s",
               before);
    while (bytes > strlen(repeated)) {
        put_format(out, repeated, (int)out->len);
        bytes -= strlen(repeated);
    }
}

TEST(what_expat_keeps_of_a_dump_is_limited)
{
    static const char why[] = "a tag or comment is too long, elements are nested too deeply, or "
                              "there are too many names";
    struct sp_buf file = {0};
    put_dump(&file, "", "<a>", 2 << 20);
    check_conversion(&file, 1, 1, why, NULL);
    put_dump(&file, "<!-- ", "x", 2 << 20);
    check_conversion(&file, 1, 1, why, NULL);
    put_dump(&file, "", "<a%09d/>", 2 << 20);
    check_conversion(&file, 1, 1, why, NULL);
    put_dump(&file, "<text>", "some text\n", 4 << 20); /* any number of bytes of text are fine */
    put_format(&file, "</text></mediawiki>");
    check_conversion(&file, 1, 0, "", NULL);
    sp_buf_reset(&file);
    put_format(&file, "<!DOCTYPE mediawiki [<!ENTITY a \"b\">]><mediawiki><page><title>T</title>"
                      "<revision><text>&a;</text></revision></page></mediawiki>");
    check_conversion(&file, 0, 1, "it has a document type", NULL);
    sp_buf_done(&file);
}

/* Tables and JSON arrays whose rows and elements cannot be read: each is a dead letter that says
 * why, and the rest is read. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "input_helper.h"

/* Pieces of one byte are as good as whole files. */
static struct got read_in_pieces(const char *text, size_t chunk_bytes)
{
    return read_bytes(sp_view_str(text), &(struct reading){.chunk_bytes = chunk_bytes});
}

static void check_raw(const struct got *g, size_t i, const char *part)
{
    struct sp_view raw = g->items[i].raw;
    CU_ASSERT_PTR_NOT_NULL(memmem(raw.data, raw.len, part, strlen(part)));
}

TEST(a_row_with_more_cells_than_columns_is_a_dead_letter)
{
    static const char *const texts[] = {
        "url,content\nhttp://a/1,Hello, world\nhttp://a/2,b\nhttp://a/3,c,,d\n",
        "url\tcontent\r\nhttp://a/1\tHello\tworld\r\nhttp://a/2\tb\r\nhttp://a/3\tc\t\td",
        "url;content\nhttp://a/1;Hello;\"world\"\n\nhttp://a/2;b\nhttp://a/3;c;;d;;\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t bytes = 0; bytes < 3; bytes++) {
            struct got g = read_in_pieces(texts[i], bytes);
            CU_ASSERT_EQUAL_FATAL(g.count, 3);
            check_bad(&g, 0, SP_MALFORMED, "more cells than the table has columns");
            check_raw(&g, 0, "row 2 has 3 cells, and the header 2: ");
            check_raw(&g, 0, "{\"url\":\"http://a/1\",\"content\":\"Hello\",\"world\"}");
            check_page(&g, 1, "http://a/2", "b");
            check_bad(&g, 2, SP_MALFORMED, "needs quotation marks");
            got_done(&g);
        }
    }
}

TEST(a_line_that_names_the_separator_is_no_row)
{
    static const char *const texts[] = {
        "sep=;\nurl;content\nhttp://a/1;one, two\n",
        "\xef\xbb\xbfSEP=;\r\nurl;content\r\nhttp://a/1;one, two\r\n",
        "sep=|\nurl|content\nhttp://a/1|one, two\n",
        "sep=,\nurl,content\nhttp://a/1,\"one, two\"\n",
        "sep=\t\nurl\tcontent\nhttp://a/1\tone, two\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t bytes = 0; bytes < 9; bytes++) {
            struct got g = read_in_pieces(texts[i], bytes);
            CU_ASSERT_EQUAL_FATAL(g.count, 1);
            check_page(&g, 0, "http://a/1", "one, two");
            got_done(&g);
        }
    }
    struct got g = read_text("sep=:\nurl:content\n");
    CU_ASSERT_EQUAL(g.pages, 0);
    got_done(&g);
}

/* Spreadsheets on a Macintosh write such files. The column of the text may be the last one. */
TEST(rows_may_end_in_cr_alone)
{
    static const char *const tables[] = {"url,content\rhttp://a/,x\rhttp://b/,\"y\rz\"\r",
                                         "content;url\rx;http://a/\r\"y\rz\";http://b/",
                                         "sep=;\rurl;content\rhttp://a/;x\rhttp://b/;\"y\rz\""};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct got g = read_text(tables[i]);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_page(&g, 0, "http://a/", "x");
        check_page(&g, 1, "http://b/", "y\rz");
        got_done(&g);
    }
}

TEST(empty_cells_beyond_the_columns_are_no_mistake)
{
    struct got g = read_text("url,content\nhttp://a/1,a,,\nhttp://a/2,b,\"\",  \nhttp://a/3\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_page(&g, 0, "http://a/1", "a");
    check_page(&g, 1, "http://a/2", "b");
    check_page(&g, 2, "http://a/3", "");
    got_done(&g);
}

TEST(a_row_that_is_not_utf8_is_a_dead_letter)
{
    struct got g = read_text("url,content,other\nhttp://a/1,caf\xe9,\nhttp://a/2,caf\xc3\xa9,\n"
                             "http://a/3,c,\xfc\nhttp://a/4,d,e\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 4);
    check_bad(&g, 0, SP_MALFORMED, "the row is not UTF-8");
    check_bad(&g, 0, SP_MALFORMED, "iconv -f WINDOWS-1252 -t UTF-8");
    check_raw(&g, 0, "row 2 has 3 cells");
    check_page(&g, 1, "http://a/2", "caf\xc3\xa9");
    check_bad(&g, 2, SP_MALFORMED, "the row is not UTF-8");
    check_page(&g, 3, "http://a/4", "d");
    got_done(&g);
}

TEST(a_table_whose_names_are_not_utf8_is_not_read)
{
    struct got g = read_text("url,content,gr\xf6\xdf"
                             "e\nhttp://a/1,a,1\nhttp://a/2,b,2\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_bad(&g, 0, SP_MALFORMED, "the row that names the columns is not UTF-8");
    check_raw(&g, 0, "the rest of the file is not read");
    got_done(&g);
}

/* The large cell ends with what libcsv may take back from it. */
static void check_large_cell(const char *start, char fill, const char *end)
{
    enum { MOST = 1000 };
    for (size_t size = MOST / 2; size < 100000; size = size * 3 + 1) {
        for (size_t chunk_bytes = 0; chunk_bytes < 100; chunk_bytes = chunk_bytes * 7 + 1) {
            struct sp_buf file = {0};
            put_format(&file, "url,content,other\nhttp://a/1,%s", start);
            put_times(&file, fill, size);
            put_format(&file, "%s\nhttp://a/2,b,\nhttp://a/3,\"c, d\",e\n", end);
            struct got g = read_and_drop(
                &file, &(struct reading){.chunk_bytes = chunk_bytes, .max_record_bytes = MOST});
            CU_ASSERT_EQUAL_FATAL(g.count, 3);
            if (size > MOST && fill != ' ')
                check_bad(&g, 0, SP_TOO_LARGE, "larger than input.max_record_bytes");
            check_page(&g, 1, "http://a/2", "b");
            check_page(&g, 2, "http://a/3", "c, d");
            got_done(&g);
        }
    }
}

TEST(behind_a_cell_that_is_too_large_the_table_goes_on)
{
    check_large_cell("\"", 'x', "\",");
    check_large_cell("\"", 'x', "\"  ,y");
    check_large_cell("", 'x', ",y");
    check_large_cell("", 'x', "   ");
    check_large_cell("\"a\n\"\"", '\n', "\"\"\"");
}

TEST(a_cell_of_blanks_may_be_of_any_length)
{
    check_large_cell("", ' ', "");
    check_large_cell("x", ' ', "");
    check_large_cell("\"x\"", ' ', ",y");
    check_large_cell("\"x\"", ' ', "y\"");
}

TEST(a_cell_that_is_too_large_may_hide_a_missing_quotation_mark)
{
    struct sp_buf file = {0};
    put_format(&file, "url,content\nhttp://a/1,a\nhttp://a/2,\"b");
    put_times(&file, 'x', 100000);
    struct got g = read_bytes(sp_buf_view(&file), &(struct reading){.max_record_bytes = 1000});
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_page(&g, 0, "http://a/1", "a");
    check_bad(&g, 1, SP_MALFORMED, "the file ends within quotation marks");
    got_done(&g);
    put_format(&file, "\"\nhttp://a/3,c\n");
    g = read_and_drop(&file, &(struct reading){.max_record_bytes = 1000});
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_bad(&g, 1, SP_TOO_LARGE, "or a quotation mark is missing; input.quotes=off");
    check_raw(&g, 1, "row 3 has 2 cells, and the header 2: {\"url\":\"http://a/2\"}");
    check_page(&g, 2, "http://a/3", "c");
    got_done(&g);
}

TEST(an_array_that_is_cut_between_its_elements_is_truncated)
{
    static const char *const ends[] = {"", " ", ",", ",\n "};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sp_buf file = {0};
        put_format(&file, "[{\"url\":\"http://a/1\",\"content\":\"a\"}%s", ends[i]);
        struct got g = read_and_drop(&file, NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_page(&g, 0, "http://a/1", "a");
        check_bad(&g, 1, SP_TRUNCATED, "the file ends before the JSON array does");
        got_done(&g);
    }
    struct got g = read_text("[");
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_bad(&g, 0, SP_TRUNCATED, "the file ends before the JSON array does");
    got_done(&g);
}

TEST(an_element_of_an_array_that_is_cut_is_truncated)
{
    static const char first[] = "[{\"url\":\"http://a/1\",\"content\":\"a\"},";
    static const char second[] = "{\"url\":\"http://a/2\",\"content\":\"b\",\"x\":[{}]}";
    for (size_t len = 1; len < strlen(second); len++) {
        struct sp_buf file = {0};
        put_format(&file, "%s%.*s", first, (int)len, second);
        struct got g = read_and_drop(&file, &(struct reading){.chunk_bytes = len % 3});
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_page(&g, 0, "http://a/1", "a");
        check_bad(&g, 1, SP_TRUNCATED, "within an element of the JSON array");
        CU_ASSERT_EQUAL(g.items[1].raw.len, len);
        CU_ASSERT_FALSE(g.items[1].half);
        got_done(&g);
    }
}

/* What is lost has one dead letter, whether the archive or the array in it says so. */
TEST(an_array_in_a_compressed_file_that_is_cut_has_one_dead_letter)
{
    struct sp_buf text = {0}, file = {0};
    put_format(&text, "[");
    for (int i = 0; i < 20; i++)
        put_format(&text, "%s\n{\"url\":\"http://a/%d\",\"content\":\"text %x\"}", i ? "," : "", i,
                   i * 2654435761u);
    put_format(&text, "]\n");
    put_gzip(&file, sp_buf_view(&text));
    for (size_t len = 60; len < file.len; len++) {
        struct got g = read_bytes(sp_view(file.data, len), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, g.pages + 1);
        check_bad(&g, g.pages, SP_TRUNCATED, "ends within a member");
        got_done(&g);
    }
    sp_buf_done(&text);
    sp_buf_done(&file);
}

TEST(an_array_that_ends_has_no_dead_letter)
{
    static const char *const arrays[] = {"[]", " [ ] \n", "[{\"url\":\"http://a/1\"}]",
                                         "[{\"url\":\"http://a/1\"}]\n"};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        struct got g = read_text(arrays[i]);
        CU_ASSERT_EQUAL(g.count, g.pages);
        got_done(&g);
    }
}

/* Reads a table of `rows` rows; that of number `broken` lacks the mark at the end of its text. The
 * others have a mark each, or none behind that row (`plain`). */
static struct got read_with_a_mark_missing(int rows, int broken, bool plain, const char *line_end,
                                           size_t chunk)
{
    struct sp_buf file = {0};
    put_format(&file, "url,content,z%s", line_end);
    for (int i = 0; i < rows; i++) {
        const char *mark = plain && i > broken ? "" : "\"";
        put_format(&file, "http://u/%d,%stext %d%s,more%s", i, mark, i, i == broken ? "" : mark,
                   line_end);
    }
    return read_and_drop(&file, &(struct reading){.chunk_bytes = chunk});
}

TEST(a_row_that_lacks_a_quotation_mark_is_lost_alone)
{
    static const char *const line_ends[] = {"\n", "\r\n", "\r"};
    static const int sizes[] = {10, 1000, 100000};
    for (int i = 0; i < 3; i++)
        for (int where = 0; where < 3; where++)
            for (int k = 0; k < 6; k++) {
                int rows = sizes[i], broken = where == 0 ? 1 : where == 1 ? rows / 2 : rows - 2;
                char text[32], place[96];
                struct got g = read_with_a_mark_missing(rows, broken, k > 2, line_ends[k % 3],
                                                        rows > 1000 ? 0 : 1 + 300 * (size_t)k);
                CU_ASSERT_EQUAL_FATAL(g.count, (size_t)rows);
                CU_ASSERT_EQUAL(g.pages, (size_t)rows - 1);
                check_bad(&g, (size_t)broken, SP_MALFORMED, "none ends it");
                check_bad(&g, (size_t)broken, SP_MALFORMED, "input.quotes=off");
                snprintf(place, sizeof place, "line %d: http://u/%d,\"text", broken + 2, broken);
                struct sp_view raw = g.items[broken].raw;
                CU_ASSERT_PTR_NOT_NULL(memmem(raw.data, raw.len, place, strlen(place)));
                for (int n = 0; n < rows; n++) {
                    snprintf(text, sizeof text, "text %d", n);
                    CU_ASSERT(n == broken || view_is(g.items[n].page.content, text));
                }
                got_done(&g);
            }
}

TEST(rows_that_lack_a_quotation_mark_one_after_another_are_lost_alone)
{
    struct sp_buf file = {0};
    put_format(&file, "url,content,z\n");
    for (int i = 0; i < 9; i++)
        put_format(&file, "http://u/%d,\"text%s,more\n", i, i > 2 && i < 6 ? "" : "\"");
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 9);
    for (size_t i = 0; i < g.count; i++)
        CU_ASSERT_EQUAL(g.items[i].err, i > 2 && i < 6 ? SP_MALFORMED : SP_OK);
    got_done(&g);
}

TEST(cells_that_run_into_one_another_are_no_page)
{
    struct got g = read_text("url,content,z\n\"http://u/1\",\"open,\"more\"\n"
                             "\"http://u/2,\"text\",\"more\"\n\"http://u/3\",\"text\",\"more\"\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    check_bad(&g, 0, SP_MALFORMED, "none ends it");
    check_bad(&g, 1, SP_MALFORMED, "none ends it");
    check_page(&g, 2, "http://u/3", "text");
    got_done(&g);
}

TEST(a_cell_of_several_lines_that_lacks_a_quotation_mark_is_lost_alone)
{
    static const char *const places[] = {
        "row 3, whose cell begins in line 3: http://u/1,\"several ",
        "row 5, whose cell begins in line 7: http://u/3,\"open"};
    struct got g = read_text("url,content,z\nhttp://u/0,text,more\n"
                             "http://u/1,\"several\nlines\nof text,more\n"
                             "http://u/2,\"text\",more\nhttp://u/3,\"open,more\n"
                             "http://u/4,\"text\",more\n");
    CU_ASSERT_EQUAL_FATAL(g.count, 5);
    for (size_t i = 0; i < 2; i++) {
        check_bad(&g, 1 + 2 * i, SP_MALFORMED, "none ends it");
        struct sp_view raw = g.items[1 + 2 * i].raw;
        CU_ASSERT_PTR_NOT_NULL(memmem(raw.data, raw.len, places[i], strlen(places[i])));
        check_page(&g, 2 + 2 * i, i ? "http://u/4" : "http://u/2", "text");
    }
    got_done(&g);
}

/* What was read without a question stays: texts of several lines that look like rows, and marks
 * within cells that should be doubled. */
TEST(a_cell_of_several_lines_may_look_like_rows)
{
    struct got g =
        read_text("url,content,z\nhttp://u/1,\"a,b,c\nd,e,f\n\"\"g\"\",h,i\n\",more\n"
                  "http://u/2,\"he said:\n\"hi\" there\",more\nhttp://u/3,\"a \"b\" c\",more\n"
                  "http://u/4,\"a,b,c\nd,e,f\ng,h,i\"");
    CU_ASSERT_EQUAL_FATAL(g.count, 4);
    check_page(&g, 0, "http://u/1", "a,b,c\nd,e,f\n\"g\",h,i\n");
    check_page(&g, 1, "http://u/2", "he said:\n\"hi\" there");
    check_page(&g, 2, "http://u/3", "a \"b\" c");
    check_page(&g, 3, "http://u/4", "a,b,c\nd,e,f\ng,h,i");
    got_done(&g);
}

/* An array of ten objects; `wrong` stands for that of number `at`. */
static void put_array(struct sp_buf *file, const char *separator, const char *wrong, int at)
{
    for (int i = 0; i < 10; i++) {
        sp_buf_put_str(file, i == 0 ? "[" : separator);
        if (i == at)
            sp_buf_put_str(file, wrong);
        else
            put_format(file, "{\"url\":\"http://u/%d\",\"content\":\"},{ %d\"}", i, i);
    }
    sp_buf_put_str(file, "]");
}

TEST(after_a_broken_element_an_array_goes_on_at_the_next)
{
    static const char *const separators[] = {",", ", ", ",\n", ",\n  ", "\n,\n"};
    static const char *const wrong[] = {"{\"url\":\"http://x/\",\"content\":\"text}",
                                        "{\"url\":\"http://x/\",\"content\":text\"}",
                                        "{\"url\":\"http://x/\",\"content\":\"te\"xt\"}",
                                        "{\"url\":\"http://x/\",content\":\"text\"}",
                                        "{\"url\":\"http://x/\",\"content\":\"text\"",
                                        "{\"url\":\"http://x/\",\"content\":\"text\"}}"};
    for (size_t s = 0; s < sizeof separators / sizeof *separators; s++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
            for (int at = 1; at < 9; at++) {
                struct sp_buf file = {0};
                put_array(&file, separators[s], wrong[k], at);
                struct got g = read_and_drop(&file, &(struct reading){.chunk_bytes = 1 + 7 * k});
                CU_ASSERT_EQUAL(g.pages, 9);
                CU_ASSERT_EQUAL_FATAL(g.count, 10);
                CU_ASSERT_EQUAL(g.items[at].err, SP_MALFORMED);
                for (int i = 0; i < 10; i++) {
                    char url[32], content[32];
                    snprintf(url, sizeof url, "http://u/%d", i);
                    snprintf(content, sizeof content, "},{ %d", i);
                    if (i != at)
                        check_page(&g, (size_t)i, url, content);
                }
                got_done(&g);
            }
}

/* An array of pages that hold objects with a URL and a text; the first page is broken. */
static void put_pretty_array(struct sp_buf *file, const char *before, const char *in, int pages)
{
    sp_buf_put_str(file, "[");
    for (int i = 0; i < pages; i++) {
        put_format(file, "%s%s{%s\"url\":\"http://u/%d\",%s", i ? "," : "", before, in, i, in);
        put_format(file, "\"links\":[{\"url\":\"http://x/\",\"content\":\"x\"},");
        put_format(file, "{\"url\":\"http://y/\",\"content\":\"y\"}],%s", in);
        put_format(file, "\"content\":%sp%d\"}", i ? "\"" : "", i);
    }
    sp_buf_put_str(file, "\n]");
}

TEST(after_a_first_element_that_is_broken_an_array_on_several_lines_goes_on)
{
    static const char *const before[] = {"\n", "\n  ", "\r\n\t", "\n    "};
    static const char *const in[] = {"", "\n    ", "\r\n\t\t", " "};
    for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
        struct sp_buf file = {0};
        put_pretty_array(&file, before[k], in[k], 5);
        struct got g = read_and_drop(&file, &(struct reading){.chunk_bytes = 1 + 7 * k});
        CU_ASSERT_EQUAL(g.pages, 4);
        CU_ASSERT_EQUAL_FATAL(g.count, 5);
        CU_ASSERT_EQUAL(g.items[0].err, SP_MALFORMED);
        check_page(&g, 1, "http://u/1", "p1");
        check_page(&g, 4, "http://u/4", "p4");
        got_done(&g);
    }
}

/* On one line, an object in the first page could be taken for a page. */
TEST(after_a_first_element_that_is_broken_an_array_on_one_line_ends)
{
    struct sp_buf file = {0};
    put_pretty_array(&file, "", "", 5);
    struct got g = read_and_drop(&file, &(struct reading){.chunk_bytes = 100});
    CU_ASSERT_EQUAL(g.pages, 0);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_bad(&g, 1, SP_MALFORMED, "the rest of the file is not read");
    got_done(&g);
}

/* An object within an element must not be taken for one. */
TEST(where_the_next_element_begins_is_not_guessed)
{
    struct got g =
        read_text("[{\"url\":\"http://u/0\",\"content\":\"a\"},"
                  "{\"url\":\"http://u/1\",\"links\":[{\"url\":\"x\"}],\"content\":\"b\"},"
                  "{\"url\":\"http://u/2\",\"content\":\"c,\"links\":[{\"url\":\"http://v/\"},"
                  "{\"url\":\"http://w/\",\"content\":\"d\"}]},"
                  "{\"url\":\"http://u/3\",\"content\":\"e\"}]");
    CU_ASSERT_EQUAL(g.pages, 2);
    CU_ASSERT_EQUAL_FATAL(g.count, 4);
    check_page(&g, 1, "http://u/1", "b");
    check_bad(&g, 3, SP_MALFORMED, "the rest of the file is not read");
    CU_ASSERT_PTR_NOT_NULL(strstr(g.items[3].raw.data, "it is number 3 of the elements"));
    CU_ASSERT_PTR_NOT_NULL(strstr(g.items[3].raw.data, "begins at byte 93 of the file"));
    got_done(&g);
}

TEST(elements_that_are_no_objects_are_lost_alone)
{
    struct got g =
        read_text("[[{\"a\":1},{\"b\":[[2]]}],{\"url\":\"http://u/0\",\"content\":\"a\"},7,\"x\","
                  "{\"url\":\"http://u/1\",\"content\":\"b\"},null,[[\"\"],[]]]");
    CU_ASSERT_EQUAL(g.pages, 2);
    CU_ASSERT_EQUAL_FATAL(g.count, 7);
    check_page(&g, 1, "http://u/0", "a");
    check_page(&g, 4, "http://u/1", "b");
    got_done(&g);
}

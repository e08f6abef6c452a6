/* Tables and JSON arrays whose rows and elements cannot be read: each is a dead letter that says
 * why, and the rest is read. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "input_helper.h"

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

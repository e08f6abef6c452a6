/* Statuses and dead letters as JSON lines; bytes that are not UTF-8 become base64. */
#include "codec/lines.h"
#include "harness.h"

static void check(struct sp_view raw, const char *expected)
{
    struct sp_buf out = {0};
    sp_lines_put_dead_letter(&out, &(struct sp_dead_letter){.file = "a.warc",
                                                            .number = 3,
                                                            .offset = 70,
                                                            .err = SP_MALFORMED,
                                                            .why = "no \"URL\"",
                                                            .raw = raw});
    sp_buf_put_u8(&out, 0);
    const char *last = strstr(out.data, ",\"raw");
    CU_ASSERT_PTR_NOT_NULL_FATAL(last);
    CU_ASSERT_STRING_EQUAL(last, expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "{\"file\":\"a.warc\",\"record\":3,\"offset\":70,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "no \\\"URL\\\""));
    sp_buf_done(&out);
}

/* The test vectors of RFC 4648, section 10, each after a byte that is not UTF-8. */
TEST(bytes_that_are_not_utf8_are_written_in_base64)
{
    check(sp_view("\xff", 1), ",\"raw_base64\":\"/w==\"}\n");
    check(sp_view("\xff"
                  "f",
                  2),
          ",\"raw_base64\":\"/2Y=\"}\n");
    check(sp_view("\xff"
                  "fo",
                  3),
          ",\"raw_base64\":\"/2Zv\"}\n");
    check(sp_view("\xff"
                  "foo",
                  4),
          ",\"raw_base64\":\"/2Zvbw==\"}\n");
    check(sp_view("\xff\xfb\xef\xbe\x3e", 5), ",\"raw_base64\":\"//vvvj4=\"}\n");
}

TEST(text_is_written_as_it_is)
{
    check(sp_view_str("{\"url\":1}"), ",\"raw\":\"{\\\"url\\\":1}\"}\n");
    check(sp_view("", 0), ",\"raw\":\"\"}\n");
}

TEST(a_status_is_one_line_with_all_that_is_known_of_the_page)
{
    struct sp_buf out = {0};
    struct sp_status_event loser = {.url = "https://b.example/",
                                    .version_ms = 1700000000123,
                                    .status = SP_STATUS_LOSER,
                                    .winner_url = "https://a.example/",
                                    .similarity = 0.875f,
                                    .reason = SP_REASON_CONTENT,
                                    .group = {.birth = 255, .founder = {1, 2}},
                                    .group_size = 2,
                                    .epoch = 7};
    struct sp_status_event kept = {.url = "https://c.example/",
                                   .version_ms = 5,
                                   .status = SP_STATUS_UNIQUE,
                                   .group = {.birth = 1, .founder = {3, 4}},
                                   .group_size = 1,
                                   .epoch = 1,
                                   .contained_in = "https://d.example/",
                                   .containment = 0.9375f};
    sp_lines_put_status(&out, &loser);
    sp_lines_put_status(&out, &kept);
    sp_buf_put_u8(&out, 0);
    static const char expected[] =
        "{\"url\":\"https://b.example/\",\"version_ms\":1700000000123,"
        "\"status\":\"loser\",\"winner_url\":\"https://a.example/\","
        "\"similarity\":0.875,\"reason\":\"content\","
        "\"group_id\":\"ff-00000000000000010000000000000002\",\"group_size\":2,"
        "\"epoch\":7,\"rule\":null}\n"
        "{\"url\":\"https://c.example/\",\"version_ms\":5,"
        "\"status\":\"unique\",\"winner_url\":null,\"similarity\":null,"
        "\"reason\":null,\"group_id\":\"1-00000000000000030000000000000004\","
        "\"group_size\":1,\"epoch\":1,\"rule\":null,"
        "\"contained_in\":\"https://d.example/\",\"containment\":0.9375}\n";
    CU_ASSERT_STRING_EQUAL(out.data, expected);
    sp_buf_done(&out);
}

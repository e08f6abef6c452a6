/* Rewriting headers and restoring them; digests. */
#include "archive/digest.h"
#include "archive/fields.h"
#include "harness.h"

static const char header[] = "WARC/1.1\r\nWARC-Type: response\r\nX-Mine: 1\r\n"
                             "WARC-Block-Digest: sha1:A\r\nContent-Length: 12\r\n\r\n";

static const struct sp_field_change changes[] = {
    {"WARC-Type", "revisit"}, {"Content-Length", "3"}, {"WARC-Block-Digest", NULL}};

static void check_both_ways(struct sp_view original)
{
    struct sp_buf changed = {0}, back = {0};
    CU_ASSERT_TRUE_FATAL(
        sp_fields_change(original, changes, 3, sp_view_str("Added: x\r\n"), &changed));
    CU_ASSERT_TRUE(sp_fields_changed(sp_buf_view(&changed)));
    CU_ASSERT_TRUE(sp_view_eq(sp_fields_own(sp_buf_view(&changed), "Added"), sp_view_str("x")));
    CU_ASSERT_TRUE(sp_fields_restore(sp_buf_view(&changed), &back));
    CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&back), original));
    sp_buf_done(&changed);
    sp_buf_done(&back);
}

TEST(a_changed_header_says_what_is_stored_and_what_was)
{
    static const char expected[] =
        "WARC/1.1\r\nWARC-Type: revisit\r\nX-Mine: 1\r\nContent-Length: 3\r\n"
        "Samepage-Version: 1\r\n"
        "Samepage-Was: 1=WARC-Type: response\r\n"
        "Samepage-Was: 3+WARC-Block-Digest: sha1:A\r\n"
        "Samepage-Was: 4=Content-Length: 12\r\n"
        "Added: x\r\n\r\n";
    struct sp_buf changed = {0};
    CU_ASSERT_TRUE(
        sp_fields_change(sp_view_str(header), changes, 3, sp_view_str("Added: x\r\n"), &changed));
    CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&changed), sp_view_str(expected)));
    sp_buf_done(&changed);
    check_both_ways(sp_view_str(header));
}

TEST(headers_written_in_other_ways_come_back)
{
    check_both_ways(sp_view_str("WARC/1.0\r\nwarc-type:response\r\nWARC-TYPE: again\r\n"
                                "content-length:\t12  \r\n\r\n"));
    check_both_ways(sp_view_str("WARC/1.0\r\nContent-Length: 1\r\nWARC-Block-Digest: z\r\n\r\n"));
    check_both_ways(sp_view_str("WARC/1.0\nX: y\nContent-Length: 1\n\r\n"));
    check_both_ways(sp_view_str("WARC/1.0\r\n\r\n"));
}

TEST(a_header_of_an_archive_comes_back)
{
    struct sp_buf once = {0};
    CU_ASSERT_TRUE(sp_fields_change(sp_view_str(header), changes, 3,
                                    sp_view_str("Samepage-Base: a@1\r\n"), &once));
    check_both_ways(sp_buf_view(&once));
    sp_buf_done(&once);
}

TEST(a_header_that_could_not_come_back_is_refused)
{
    struct sp_buf out = {0};
    /* These lines end with LF only: restoring would write the empty line as CR LF. */
    CU_ASSERT_FALSE(sp_fields_change(sp_view_str("WARC/1.0\nWARC-Type: response\n\n"), changes, 3,
                                     sp_view("", 0), &out));
    CU_ASSERT_EQUAL(out.len, 0);
    /* The rest of the value would follow the new one. */
    CU_ASSERT_FALSE(sp_fields_change(sp_view_str("WARC/1.0\r\nContent-Length:\r\n 12\r\n\r\n"),
                                     changes, 3, sp_view("", 0), &out));
    CU_ASSERT_FALSE(sp_fields_restore(sp_view_str(header), &out));
    CU_ASSERT_FALSE(sp_fields_restore(
        sp_view_str("A\r\nSamepage-Version: 1\r\nSamepage-Was: 9=B\r\n\r\n"), &out));
    CU_ASSERT_EQUAL(out.len, 0);
    sp_buf_done(&out);
}

static void check_digest(struct sp_view bytes, const char *expected)
{
    char text[SP_DIGEST_BYTES];
    sp_digest(bytes, text);
    CU_ASSERT_STRING_EQUAL(text, expected);
}

TEST(digests_are_sha1_in_base_32)
{
    char many[200];
    memset(many, 'a', sizeof many);
    check_digest(sp_view("", 0), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    check_digest(sp_view_str("abc"), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    check_digest(sp_view(many, 55), "sha1:YHELXXBCPFXCRQHBKFR5ECEZWZLCDVS2");
    check_digest(sp_view(many, 56), "sha1:YLNTGD3AQOCUZGOUWW73N2HST4QBXZUZ");
    check_digest(sp_view(many, 64), "sha1:ACMLVASLLQLEE66XUEJCUWSEFIS6YZCN");
    check_digest(sp_view(many, 200), "sha1:4YOP77QNSGK2KJP4NTYGZIWXOEM4ESSA");
}

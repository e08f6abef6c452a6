/* Patches and positions. */
#include "archive/patch.h"
#include "archive/segments.h"
#include "harness.h"

enum { TEXT = 200000 };

/* Incompressible bytes. */
static void fill(char *to, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        to[i] = (char)(seed >> 56);
    }
}

TEST(a_patch_of_a_near_copy_is_small_and_exact)
{
    static char base[TEXT], text[TEXT];
    struct sp_patcher *p = sp_patcher_new(9);
    struct sp_buf patch = {0}, back = {0};
    fill(base, TEXT, 1);
    memcpy(text, base, TEXT);
    memcpy(text + TEXT / 2, "changed", 7);
    CU_ASSERT_TRUE(sp_patch_make(p, sp_view(base, TEXT), sp_view(text, TEXT), &patch));
    CU_ASSERT_TRUE(patch.len < 200);
    CU_ASSERT_EQUAL(sp_patch_apply(p, sp_view(base, TEXT), sp_buf_view(&patch), TEXT, &back),
                    SP_OK);
    CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&back), sp_view(text, TEXT)));
    sp_buf_done(&patch);
    sp_buf_done(&back);
    sp_patcher_free(p);
}

TEST(damage_and_a_wrong_base_are_noticed)
{
    static char base[TEXT], text[TEXT / 2];
    struct sp_patcher *p = sp_patcher_new(9);
    struct sp_buf patch = {0}, back = {0};
    fill(base, TEXT, 2);
    memcpy(text, base, sizeof text); /* the same address would be ignored */
    CU_ASSERT_TRUE(sp_patch_make(p, sp_view(base, TEXT), sp_view(text, sizeof text), &patch));
    CU_ASSERT_TRUE(patch.len < 100);
    struct sp_view whole = sp_buf_view(&patch);
    base[77] ^= 1;
    CU_ASSERT_EQUAL(sp_patch_apply(p, sp_view(base, TEXT), whole, TEXT, &back), SP_CORRUPT);
    base[77] ^= 1;
    CU_ASSERT_EQUAL(sp_patch_apply(p, sp_view(base, 10), whole, TEXT, &back), SP_CORRUPT);
    CU_ASSERT_EQUAL(sp_patch_apply(p, sp_view(base, TEXT), whole, TEXT / 2 - 1, &back), SP_CORRUPT);
    for (size_t n = 0; n < patch.len; n++)
        CU_ASSERT_EQUAL(sp_patch_apply(p, sp_view(base, TEXT), sp_view(patch.data, n), TEXT, &back),
                        SP_CORRUPT);
    CU_ASSERT_EQUAL(back.len, 0);
    CU_ASSERT_EQUAL(sp_patch_apply(p, sp_view(base, TEXT), whole, TEXT, &back), SP_OK);
    sp_buf_done(&patch);
    sp_buf_done(&back);
    sp_patcher_free(p);
}

TEST(empty_texts_have_patches)
{
    struct sp_patcher *p = sp_patcher_new(1);
    struct sp_buf patch = {0}, back = {0};
    CU_ASSERT_TRUE(sp_patch_make(p, sp_view("", 0), sp_view("", 0), &patch));
    CU_ASSERT_EQUAL(sp_patch_apply(p, sp_view("", 0), sp_buf_view(&patch), 0, &back), SP_OK);
    CU_ASSERT_EQUAL(back.len, 0);
    sp_buf_done(&patch);
    sp_buf_done(&back);
    sp_patcher_free(p);
}

TEST(places_are_read_as_they_are_written)
{
    static const char *const wrong[] = {"",
                                        "samepage-00000.warc.gz",
                                        "samepage-00000.warc.gz@",
                                        "samepage-00000.warc.gz@-1",
                                        "samepage-0.warc.gz@1",
                                        "../samepage-00000.warc.gz@1",
                                        "samepage-00000.warc.gz@1x"};
    char text[SP_PLACE_BYTES];
    struct sp_place place = {123456, 1ull << 40}, back;
    sp_place_text(place, text);
    CU_ASSERT_STRING_EQUAL(text, "samepage-123456.warc.gz@1099511627776");
    CU_ASSERT_TRUE(sp_place_parse(sp_view_str(text), &back));
    CU_ASSERT_EQUAL(back.segment, place.segment);
    CU_ASSERT_EQUAL(back.offset, place.offset);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_FALSE(sp_place_parse(sp_view_str(wrong[i]), &back));
}

/* What looks like the head of a gzip member, within others. */
#include "harness.h"
#include "input/gzip_members.h"
#include "input_helper.h"

/* A stored block, whose bytes are in the file as they are. */
static void put_stored(struct sp_buf *out, size_t bytes)
{
    const uint8_t head[] = {0, bytes & 0xff, bytes >> 8, ~bytes & 0xff, (~bytes >> 8) & 0xff};
    sp_buf_put(out, head, sizeof head);
}

enum { HEAD = 10 };
static const char head_of_member[HEAD] = "\x1f\x8b\x08";

/* Each head in a block begins a member that goes on in the blocks behind it, and none ends. */
static struct sp_buf endless_members(void)
{
    enum { BLOCK = 60000, BLOCKS = 60, STORED = 5, DAMAGE = 12 };
    struct sp_buf file = {0};
    sp_buf_put(&file, head_of_member, HEAD);
    for (int block = 0; block < BLOCKS; block++) {
        put_stored(&file, BLOCK);
        size_t end = file.len + BLOCK;
        if (block == 0)
            sp_buf_put_str(&file,
                           "{\"url\":\"http://h.example/0\",\"content\":\"of a few words\"}\n");
        while (file.len + HEAD + STORED < end) {
            sp_buf_put(&file, head_of_member, HEAD);
            put_stored(&file, end - file.len - STORED);
        }
        while (file.len < end)
            sp_buf_put_u8(&file, 0);
        if (block % DAMAGE == DAMAGE - 1)
            sp_buf_put_u8(&file, 7); /* no block */
    }
    return file;
}

TEST(members_that_never_end_are_read_up_to_the_damage)
{
    struct sp_buf file = endless_members();
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_TRUE(g.count > 1);
    got_done(&g);
    sp_buf_done(&file);
}

/* Otherwise each of thousands of heads would be decoded up to the damage. */
TEST(the_bytes_that_are_decoded_to_prove_members_are_limited)
{
    enum { TIMES = 4, FIRST_BLOCK = 60000 };
    struct sp_buf file = endless_members();
    const unsigned char *raw = (const unsigned char *)file.data;
    uint64_t effort = TIMES * FIRST_BLOCK;
    uint32_t heads = 0, proved = 0;
    for (size_t at = 0; (at = sp_gzip_find(raw, at, FIRST_BLOCK, false)) + HEAD < FIRST_BLOCK;
         at++) {
        heads++;
        proved += sp_gzip_is_one(raw, at, FIRST_BLOCK, false, &effort);
    }
    CU_ASSERT_TRUE(heads > 1000);
    CU_ASSERT_EQUAL(effort, 0);
    CU_ASSERT_TRUE(proved > 0 && proved <= 2 * TIMES);
    sp_buf_done(&file);
}

/* A crawler that was killed again and again: the proof that a member begins was that it ends. */
TEST(of_members_that_are_all_cut_only_the_cut_records_are_lost)
{
    enum { MEMBERS = 40, LINES = 3 };
    for (int level = 0; level < 10; level += 3)
        for (size_t cut = 12; cut < 3000; cut += 331) {
            struct sp_buf file = {0}, text = {0};
            for (int i = 0; i < MEMBERS; i++) {
                sp_buf_reset(&text);
                for (int line = 0; line < LINES; line++) {
                    put_format(&text, "{\"url\":\"http://u/%d/%d\",\"content\":\"", i, line);
                    put_noise(&text, (uint64_t)i * LINES + (uint64_t)line, 5000);
                    sp_buf_put_str(&text, "\"}\n");
                }
                put_gzip_level(&file, sp_buf_view(&text), level);
                file.len -= i + 1 < MEMBERS ? cut : 0;
            }
            struct got g = read_bytes(sp_buf_view(&file), NULL);
            CU_ASSERT_EQUAL(g.pages, MEMBERS * (LINES - 1) + 1);
            CU_ASSERT_EQUAL(g.count, MEMBERS * LINES); /* each loss is counted */
            for (size_t i = 0; i < g.count; i++)
                CU_ASSERT(g.items[i].err != SP_OK || g.items[i].page.content.len == 5000);
            got_done(&g);
            sp_buf_done(&text);
            sp_buf_done(&file);
        }
}

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

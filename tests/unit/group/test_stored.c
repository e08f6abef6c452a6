/* Stored rows of groups: impossible values are reported as damage. */
#include "base/bytes.h"
#include "group/stored.h"
#include "harness.h"

/* Decodes a group's row with this level and this number of open transfers. */
static enum sp_err decode(uint8_t level, uint64_t opens)
{
    struct sp_buf out = {0};
    struct sp_group g = {0};
    sp_buf_put_u8(&out, level);
    sp_buf_put_varint(&out, 0);
    sp_buf_put_varint(&out, 0);
    sp_buf_put_varint(&out, opens);
    struct sp_reader r = sp_reader(sp_buf_view(&out));
    enum sp_err err = sp_group_decode(&r, &g);
    sp_free(g.opens);
    sp_buf_done(&out);
    return err;
}

TEST(a_group_of_an_impossible_level_is_damaged)
{
    CU_ASSERT_EQUAL(decode(0, 0), SP_OK);
    CU_ASSERT_EQUAL(decode(SP_GROUP_LEVELS - 1, 0), SP_OK);
    CU_ASSERT_EQUAL(decode(SP_GROUP_LEVELS, 0), SP_CORRUPT);
    CU_ASSERT_EQUAL(decode(UINT8_MAX, 0), SP_CORRUPT);
}

TEST(more_open_transfers_than_the_row_has_room_for_are_damage)
{
    CU_ASSERT_EQUAL(decode(0, 1), SP_CORRUPT);
    CU_ASSERT_EQUAL(decode(0, UINT64_MAX), SP_CORRUPT);
}

/* Stored rows of groups: impossible values are reported as damage. */
#include "base/bytes.h"
#include "base/mem.h"
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

/* A page with the optional parts that the bits name. */
static struct sp_page_actor page_with(unsigned bits)
{
    static struct sp_id id = {7, 9};
    struct sp_page_actor p = {
        .id = id, .kind = SP_PAGE_CONTENT, .version = 5, .content_version = 4};
    if (bits & 1)
        p.kind = SP_PAGE_REDIRECT;
    p.announced = bits & 32;
    p.target = (struct sp_id){bits & 1 ? 8 : 0, 0};
    p.content = (struct sp_id){1, 2};
    p.group = (struct sp_group_id){.birth = 300, .founder = {3, 4}};
    p.url = sp_strdup("https://a.example/page");
    p.target_url = bits & 1 ? sp_strdup("https://a.example/target") : NULL;
    p.winner_url = bits & 2 ? sp_strdup("https://a.example/winner") : NULL;
    p.in_cell = bits & 4;
    p.cell = 900;
    p.cell_content = (struct sp_id){5, 6};
    p.contained_in = bits & 8 ? sp_strdup("https://a.example/larger") : NULL;
    p.inline_group = bits & 16 ? sp_strdup("group") : NULL;
    p.inline_bytes = bits & 16 ? 5 : 0;
    return p;
}

static void free_parts(struct sp_page_actor *p)
{
    sp_free(p->url);
    sp_free(p->target_url);
    sp_free(p->winner_url);
    sp_free(p->contained_in);
    sp_free(p->inline_group);
}

TEST(a_stored_page_names_what_it_leads_to_and_is_damaged_where_it_is_cut)
{
    for (unsigned bits = 0; bits < 64; bits++) {
        struct sp_page_actor p = page_with(bits);
        struct sp_page_actor seen = {0};
        struct sp_buf row = {0};
        sp_page_actor_encode(&p, &row);
        CU_ASSERT_EQUAL_FATAL(sp_page_actor_decode(sp_buf_view(&row), &seen), SP_OK);
        CU_ASSERT(seen.kind == p.kind && sp_id_eq(seen.content, p.content));
        CU_ASSERT(seen.group.birth == 300 && sp_id_eq(seen.group.founder, p.group.founder));
        CU_ASSERT(sp_id_eq(seen.target, p.target));
        CU_ASSERT_EQUAL(seen.target_url != NULL, (bits & (1 | 32)) == 1);
        CU_ASSERT_EQUAL(seen.inline_bytes, p.inline_bytes);
        CU_ASSERT_EQUAL(seen.in_cell, p.in_cell);
        CU_ASSERT(!p.in_cell || (seen.cell == 900 && sp_id_eq(seen.cell_content, p.cell_content)));
        free_parts(&seen);
        for (size_t cut = 0; cut < row.len; cut++) {
            seen = (struct sp_page_actor){0};
            CU_ASSERT_EQUAL(sp_page_actor_decode(sp_view(row.data, cut), &seen), SP_CORRUPT);
            free_parts(&seen);
        }
        sp_buf_done(&row);
        free_parts(&p);
    }
}

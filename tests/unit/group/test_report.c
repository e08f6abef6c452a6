/* Reading a committed store without the stage: pages, and the members of groups in each stored
 * form. */
#include "story.h"

struct seen {
    uint32_t count;
    uint32_t most; /* stops after this many */
    struct sp_id pages[PAGES];
};

static bool see_member(void *arg, const struct sp_member_view *member)
{
    struct seen *s = arg;
    CU_ASSERT_FATAL(s->count < PAGES);
    s->pages[s->count++] = member->page;
    return s->count < s->most;
}

static void see_page(void *arg, const struct sp_page_view *page)
{
    *(char *)arg = (char)page->page.lo;
}

static struct sp_store *store_of(struct world *w)
{
    restart(w);
    return sp_db_store(w->db, 1);
}

static uint32_t members_after(struct world *w, struct sp_group_id group, struct sp_id after,
                              uint32_t most)
{
    struct seen s = {.most = most};
    CU_ASSERT_EQUAL(sp_group_read_members_after(store_of(w), group, after, see_member, &s), SP_OK);
    for (uint32_t i = 1; i < s.count; i++)
        CU_ASSERT(memcmp(&s.pages[i - 1], &s.pages[i], sizeof s.pages[i]) < 0);
    return s.count;
}

static void groups_of_each_size(struct world *w)
{
    const struct sp_id all = {0, 0};
    char found = 0;
    crawl(w, 'Z', 9000);
    CU_ASSERT_EQUAL(members_after(w, group_of(w, 'Z'), all, PAGES), 1);
    for (int page = 'A'; page <= 'H'; page++) {
        crawl(w, (char)page, (uint32_t)(page - 'A'));
        uint32_t size = (uint32_t)(page - 'A') + 1;
        struct sp_group_id group = group_of(w, 'A');
        CU_ASSERT_EQUAL(members_after(w, group, all, PAGES), size);
        CU_ASSERT_EQUAL(members_after(w, group, id_of('A'), PAGES), size - 1);
        CU_ASSERT_EQUAL(members_after(w, group, all, 1), 1);
    }
    struct sp_group_id none = {12345, id_of('Q')}, past = {12345, id_of('Z')};
    CU_ASSERT_EQUAL(members_after(w, none, all, PAGES), 0); /* there was no such founder */
    CU_ASSERT_EQUAL(members_after(w, past, all, PAGES), 0); /* in another group now */
    CU_ASSERT_EQUAL(sp_group_read_page(store_of(w), id_of('C'), see_page, &found), SP_OK);
    CU_ASSERT_EQUAL(found, 'C');
    CU_ASSERT_EQUAL(sp_group_read_page(store_of(w), id_of('Q'), see_page, &found), SP_NOT_FOUND);
}

TEST(members_of_a_group_are_read_in_order_whatever_its_size)
{
    tell(groups_of_each_size);
}

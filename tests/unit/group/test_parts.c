/* Members that move in several messages, some of which come again or never. */
#include "base/mem.h"
#include "story.h"

static const struct sp_group_id elsewhere = {1000, {7, 7}};

/* A part of members of another group; `more`: it is not the last. */
static void come(struct world *w, char to, char page, bool more)
{
    struct sp_message *m = sp_message_new(SP_MSG_MEMBERS);
    char url[] = "https://a.example/?";
    url[sizeof url - 2] = page;
    m->link.group = group_of(w, to);
    m->link.far = elsewhere;
    m->link.more = more;
    m->link.row_count = 1;
    m->link.rows = sp_calloc(1, sizeof *m->link.rows);
    m->link.rows[0] = (struct sp_member_row){.page = id_of(page),
                                             .version = 1,
                                             .content_version = 1,
                                             .kind = SP_PAGE_DEAD,
                                             .url = sp_strdup(url),
                                             .epoch = 1};
    push(w, m);
}

static void part_without_end(struct world *w)
{
    crawl(w, 'A', 0);
    come(w, 'A', 'X', true);
    crawl(w, 'A', 500); /* waits for the rest of the members, which never come */
    CU_ASSERT_TRUE(is(w, 'A', SP_STATUS_UNIQUE, 0) || is(w, 'A', SP_STATUS_WINNER, 0));
    CU_ASSERT_EQUAL(w->said['A' - 'A'].version_ms, w->now);
    crawl(w, 'B', 505);
    CU_ASSERT_TRUE(together(w, "AB"));
}

TEST(a_group_does_not_wait_for_members_that_never_come)
{
    tell(part_without_end);
}

static void part_that_comes_again(struct world *w)
{
    crawl(w, 'A', 0);
    come(w, 'A', 'X', true);
    come(w, 'A', 'Y', false);
    come(w, 'A', 'X', true);
    crawl(w, 'A', 500);
    CU_ASSERT_EQUAL(w->said['A' - 'A'].version_ms, w->now);
    restart(w);
    crawl(w, 'B', 505);
    CU_ASSERT_TRUE(together(w, "AB"));
}

TEST(a_part_that_comes_again_behind_the_last_holds_up_nothing)
{
    tell(part_that_comes_again);
}

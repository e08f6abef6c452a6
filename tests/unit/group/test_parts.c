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

/* ---- members that are sent later than they left ---- */

enum { AT_ONCE = 2 };

/* The pages from A on and those up to Y, `few` of them, are two groups, which Z connects. Each
 * message brings one member, and a slice from the store has eight. */
static void meet(struct world *w, uint32_t few)
{
    w->options.message_bytes = 1;
    w->options.parts_at_once = AT_ONCE;
    w->options.settle_at_once = 1;
    restart(w);
    crawl_each(w, 'A', (char)('A' + 2 * few - 1), 0, 0);
    crawl_each(w, (char)('Y' - few + 1), 'Y', 20, 0);
    w->busy = true;
    crawl(w, 'Z', 10);
}

static void expect_one_group(struct world *w, uint32_t few)
{
    for (char page = 'Y'; page > (char)('Y' - few); page--) {
        const char pages[] = {'A', page, '\0'};
        CU_ASSERT_TRUE(together(w, pages));
        CU_ASSERT_EQUAL(w->said[page - 'A'].status,
                        page == (char)('Y' - few + 1) ? SP_STATUS_WINNER : SP_STATUS_LOSER);
    }
    CU_ASSERT_FALSE(sp_group_stage_owes(w->stage));
}

static void send_later(struct world *w, uint32_t few)
{
    meet(w, few);
    CU_ASSERT_EQUAL(stats_of(w).departed, 0);
    CU_ASSERT_TRUE(sp_group_stage_owes(w->stage));
    uint32_t calls = 0;
    while (sp_group_stage_send_departed(w->stage, 1))
        calls++;
    CU_ASSERT_EQUAL(calls + 1, few - AT_ONCE);
    CU_ASSERT_EQUAL(stats_of(w).departed, few - AT_ONCE);
    w->busy = false;
    drain(w);
    expect_one_group(w, few);
}

static void three_later(struct world *w)
{
    send_later(w, 3);
}

static void eight_later(struct world *w)
{
    send_later(w, 8);
}

TEST(a_step_sends_a_few_messages_with_members_and_the_rest_is_sent_later)
{
    tell_in_both_modes(three_later);
    tell_in_both_modes(eight_later);
}

static void send_after_restarts(struct world *w)
{
    enum { FEW = 8 };
    meet(w, FEW);
    for (uint32_t left = FEW - AT_ONCE; left > 0; left--) {
        restart(w);
        CU_ASSERT_EQUAL(sp_group_stage_send_departed(w->stage, 1), left > 1);
        drain(w);
    }
    w->busy = false;
    drain(w);
    expect_one_group(w, FEW);
}

TEST(members_that_are_sent_later_survive_a_restart)
{
    tell_in_both_modes(send_after_restarts);
}

/* The changed page's messages go back and forth between it and the group that it has left;
 * meanwhile a restart leaves the members in the store only. */
static void change_meanwhile(struct world *w)
{
    enum { FEW = 8, MESSAGES_PER_PART = 64 };
    meet(w, FEW);
    restart(w);
    crawl(w, 'Y', 500);
    CU_ASSERT_TRUE(stats_of(w).bounces > 0);
    CU_ASSERT_TRUE(stats_of(w).bounces + stats_of(w).put_off <= FEW * MESSAGES_PER_PART);
    CU_ASSERT_TRUE(is(w, 'Y', SP_STATUS_UNIQUE, 0));
    CU_ASSERT_TRUE(together(w, "ARSTUVWX"));
    w->busy = false;
    drain(w);
    CU_ASSERT_FALSE(together(w, "AY"));
}

TEST(a_page_that_changes_before_it_is_sent_is_not_lost)
{
    tell(change_meanwhile);
}

static void damaged(struct world *w, char kind)
{
    struct sp_buf key = {0}, value = {0};
    meet(w, 8);
    restart(w);
    first_row(w, kind, &key, &value);
    replace_row(w, sp_buf_view(&key), sp_view("?", 1));
    sp_group_stage_free(w->stage);
    struct sp_outbox unused = {0};
    w->stage = sp_group_stage_new(&w->options, sp_db_store(w->db, 1), &unused);
    CU_ASSERT_FALSE(sp_group_stage_send_departed(w->stage, 1));
    CU_ASSERT_EQUAL(sp_group_stage_error(w->stage), SP_CORRUPT);
    sp_buf_done(&key);
    sp_buf_done(&value);
}

static void damaged_head(struct world *w)
{
    damaged(w, 'D');
}

static void damaged_member(struct world *w)
{
    damaged(w, 'L');
}

TEST(a_departure_that_cannot_be_read_is_an_error)
{
    tell(damaged_head);
    tell(damaged_member);
}

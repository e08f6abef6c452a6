/* Statuses and splits of a large group that are deferred: each crawled page, of any group,
 * publishes one of the statuses and pays for one member of a split, and idle time does the rest. */

#include "story.h"

/* Small groups do not. */
static bool defers(const struct world *w)
{
    return w->options.large_from == 1;
}

static void new_winner(struct world *w)
{
    w->options.only_rounds = true;
    restart(w);
    if (!defers(w))
        return;
    crawl_each(w, 'B', 'K', 1, 1);
    CU_ASSERT_TRUE(is(w, 'K', SP_STATUS_LOSER, 'B'));
    crawl(w, 'Y', 5000);
    w->busy = true;
    crawl(w, 'A', 0);
    crawl(w, 'Y', 5000); /* begins the round */
    crawl(w, 'Y', 5000); /* pays for the winner, which is already published */
    for (int fetch = 0; fetch < 3; fetch++) {
        uint64_t before = stats_of(w).told_later;
        CU_ASSERT_TRUE(sp_group_stage_owes(w->stage));
        crawl(w, 'Y', 5000); /* unchanged text: few messages */
        CU_ASSERT_EQUAL(stats_of(w).told_later, before + 1);
        crawl(w, 'Z', 7000 + 200 * (uint32_t)fetch); /* a new text each time: many messages */
        CU_ASSERT_EQUAL(stats_of(w).told_later, before + 2);
    }
    w->busy = false;
    drain(w);
    CU_ASSERT_FALSE(sp_group_stage_owes(w->stage));
    for (int page = 'B'; page <= 'K'; page++)
        CU_ASSERT_TRUE(is(w, (char)page, SP_STATUS_LOSER, 'A'));
}

TEST(each_crawled_page_publishes_one_deferred_status)
{
    tell(new_winner);
}

/* The first pages of two groups lose. */
static void two_new_winners(struct world *w)
{
    enum { BOTH = 100, ONE = 1 };
    w->options.only_rounds = true;
    restart(w);
    crawl_each(w, 'B', 'F', 0, 1);
    crawl_each(w, 'M', 'Q', 5000, 1);
    w->busy = true;
    crawl(w, 'A', 0);
    crawl(w, 'L', 5000);
    CU_ASSERT_EQUAL(sp_group_stage_owes(w->stage), defers(w));
    CU_ASSERT_EQUAL(sp_group_stage_work(w->stage, ONE), defers(w));
    CU_ASSERT_FALSE(sp_group_stage_work(w->stage, BOTH));
    drain(w);
    CU_ASSERT_TRUE(is(w, 'F', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_TRUE(is(w, 'Q', SP_STATUS_LOSER, 'L'));
}

TEST(deferred_work_is_done_for_as_many_groups_as_there_is_time_for)
{
    tell(two_new_winners);
}

/* As above; the crawled page is the winner, spelled differently each time. */
static void respelled_winner(struct world *w)
{
    w->options.only_rounds = true;
    restart(w);
    crawl_each(w, 'B', 'K', 1, 1);
    w->busy = true;
    crawl(w, 'A', 0);
    crawl(w, 'A', 0); /* begins the round */
    crawl(w, 'A', 0); /* pays for the winner, which is already published */
    for (int fetch = 0; fetch < 5; fetch++) {
        struct sp_group_stage_stats before = stats_of(w);
        uint32_t events = w->events;
        crawl_respelled(w, 'A', 0);
        CU_ASSERT_EQUAL(stats_of(w).compared, before.compared);
        CU_ASSERT_EQUAL(stats_of(w).told_later, before.told_later + defers(w));
        CU_ASSERT_EQUAL(w->events, events + 1 + defers(w));
        CU_ASSERT_TRUE(!defers(w) || is(w, (char)('B' + fetch), SP_STATUS_LOSER, 'A'));
    }
    w->busy = false;
    drain(w);
    for (int page = 'B'; page <= 'K'; page++)
        CU_ASSERT_TRUE(is(w, (char)page, SP_STATUS_LOSER, 'A'));
}

TEST(another_spelling_of_the_winner_neither_judges_again_nor_delays_a_round)
{
    tell(respelled_winner);
}

/* As at first, with a restart after each page. */
static void pays_after_restarts(struct world *w)
{
    w->options.only_rounds = true;
    restart(w);
    if (!defers(w))
        return;
    crawl_each(w, 'B', 'K', 1, 1);
    crawl(w, 'Y', 5000);
    w->busy = true;
    crawl(w, 'A', 0);
    restart(w);
    crawl(w, 'Y', 5000); /* begins the round */
    restart(w);
    crawl(w, 'Y', 5000); /* pays for the winner, which is already published */
    CU_ASSERT_EQUAL(stats_of(w).told_later, 0);
    crawl(w, 'Y', 5000);
    CU_ASSERT_EQUAL(stats_of(w).told_later, 1);
    CU_ASSERT_TRUE(is(w, 'B', SP_STATUS_LOSER, 'A'));
    w->busy = false;
    drain(w);
    for (int page = 'B'; page <= 'K'; page++)
        CU_ASSERT_TRUE(is(w, (char)page, SP_STATUS_LOSER, 'A'));
}

TEST(a_restart_neither_delays_a_round_nor_begins_it_again)
{
    tell(pays_after_restarts);
}

/* B leaves, and E, which ranks next, leaves before the round reaches it. */
static void lose_two_winners(struct world *w)
{
    w->options.only_rounds = true;
    restart(w);
    crawl_each(w, 'B', 'D', 0, 1);
    crawl_favoured(w, 'E', 3, 2.5);
    crawl(w, 'F', 4);
    CU_ASSERT_TRUE(is(w, 'E', SP_STATUS_LOSER, 'B'));
    w->busy = true;
    crawl(w, 'B', 5000);
    for (int fetch = 0; fetch < 4 && !is(w, 'C', SP_STATUS_LOSER, 'E'); fetch++)
        crawl(w, 'Y', 7000);
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_LOSER, 'E'));
    CU_ASSERT_TRUE(is(w, 'E', SP_STATUS_LOSER, 'B'));
    crawl(w, 'E', 6000);
    w->busy = false;
    drain(w);
}

static void untold_winner(struct world *w)
{
    if (!defers(w))
        return;
    lose_two_winners(w);
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_WINNER, 0));
    CU_ASSERT_TRUE(is(w, 'D', SP_STATUS_LOSER, 'C'));
}

/* If only pages that were told that they win count as winners, C goes on naming a page that left.
 */
static void untold_winner_forgotten(struct world *w)
{
    if (!defers(w))
        return;
    w->options.canary = SP_CANARY_QUIET_LEAVE;
    lose_two_winners(w);
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_LOSER, 'E'));
}

TEST(a_page_that_wins_only_until_the_round_reaches_it_is_forgotten_by_its_losers)
{
    tell(untold_winner);
    tell(untold_winner_forgotten);
}

/* In a chain of the pages from B to `last`, every other one wins. After a restart, the last page
 * changes. Returns how many contents are compared for it. */
static uint64_t compared_for_the_last(struct world *w, char last)
{
    uint32_t from = 9 * (uint32_t)(last - 'B');
    w->options.settle_at_once = 4;
    w->options.only_rounds = true;
    restart(w);
    crawl_each(w, 'B', last, 0, 9);
    w->busy = true;
    crawl(w, 'A', 9); /* outranks all, and begins a round */
    restart(w);
    uint64_t before = stats_of(w).compared;
    crawl(w, last, from + 1);
    uint64_t compared = stats_of(w).compared - before;
    w->busy = false;
    drain(w);
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_TRUE(is(w, (char)(last - 1), SP_STATUS_WINNER, 0));
    CU_ASSERT_TRUE(is(w, last, SP_STATUS_LOSER, (char)(last - 1)));
    return compared;
}

enum { AT_MOST = 8 };

static void short_chain(struct world *w)
{
    CU_ASSERT(compared_for_the_last(w, 'J') <= AT_MOST || !defers(w));
}

static void long_chain(struct world *w)
{
    CU_ASSERT(compared_for_the_last(w, 'Z') <= AT_MOST || !defers(w));
}

TEST(a_step_decides_few_winners_before_the_page_that_changed)
{
    tell(short_chain);
    tell(long_chain);
}

/* In the chain of the pages from C to W every other one wins, and so does W. B makes the others
 * win, and A again those that won before. Then Y, which redirects to W, redirects to Z instead, and
 * so still to W; but it cannot be told at once whether W still wins. */
static void change_untold(struct world *w)
{
    w->options.settle_at_once = 4;
    w->options.only_rounds = true;
    restart(w);
    crawl_each(w, 'C', 'W', 0, 9);
    redirect(w, 'Y', 'W');
    redirect(w, 'Z', 'W');
    CU_ASSERT_TRUE(is(w, 'Y', SP_STATUS_LOSER, 'W'));
    w->busy = true;
    crawl(w, 'B', 9);
    crawl(w, 'A', 0);
    restart(w);
    redirect(w, 'Y', 'Z');
    CU_ASSERT_EQUAL(w->said['Y' - 'A'].version_ms == w->now, !defers(w));
    restart(w);
}

static void check_told(struct world *w)
{
    int64_t fetched = w->now;
    w->busy = false;
    drain(w);
    CU_ASSERT_EQUAL(w->said['Y' - 'A'].version_ms, fetched);
    CU_ASSERT_TRUE(is(w, 'Y', SP_STATUS_LOSER, 'W'));
}

static void told_after_a_restart(struct world *w)
{
    change_untold(w);
    check_told(w);
}

/* Its next version, the next number, must not be taken for the one that it was told. */
static void told_the_next_version(struct world *w)
{
    change_untold(w);
    redirect(w, 'Y', 'W');
    check_told(w);
}

static void told_the_next_even_version(struct world *w)
{
    w->now++;
    told_the_next_version(w);
}

TEST(a_page_that_was_not_told_its_status_before_a_restart_is_told_afterwards)
{
    tell(told_after_a_restart);
    tell(told_the_next_version);
    tell(told_the_next_even_version);
}

/* A group becomes large with more than eight members, and stays so while it shrinks to five. */
static void shrunken(struct world *w)
{
    if (!defers(w))
        return;
    w->options.large_from = 8;
    w->options.only_rounds = true;
    restart(w);
    crawl_each(w, 'B', 'K', 0, 1);
    for (int page = 'G'; page <= 'K'; page++)
        die(w, (char)page);
    CU_ASSERT_FALSE(sp_group_stage_owes(w->stage));
    restart(w);
    w->busy = true;
    die(w, 'B');
    CU_ASSERT_TRUE(sp_group_stage_owes(w->stage));
    w->busy = false;
    drain(w);
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_WINNER, 0));
    CU_ASSERT_TRUE(is(w, 'F', SP_STATUS_LOSER, 'C'));
}

TEST(a_large_group_that_has_shrunk_defers_statuses_after_a_restart_as_before)
{
    tell(shrunken);
}

/* ---- splits */

/* B to E resemble one another, and so do F to I; only J resembles both. Then J leaves. */
static void lose_the_bridge(struct world *w)
{
    w->options.split_at_once = 1;
    restart(w);
    crawl_each(w, 'B', 'E', 0, 1);
    crawl_each(w, 'F', 'I', 20, 1);
    crawl(w, 'J', 10);
    CU_ASSERT(together(w, "BCDEFGHIJ"));
    w->busy = true;
    crawl(w, 'J', 5000);
}

static void splits_when_paid(struct world *w)
{
    lose_the_bridge(w);
    CU_ASSERT_FALSE(together(w, "BJ")); /* a page that changed leaves at once */
    if (!defers(w))
        return;
    CU_ASSERT_EQUAL(stats_of(w).split_later, 1);
    for (int fetch = 0; fetch < 4; fetch++) { /* each pays for one of four members */
        CU_ASSERT(together(w, "BCDEFGHI"));
        CU_ASSERT_TRUE(sp_group_stage_owes(w->stage));
        restart(w);
        crawl(w, 'Y', 7000);
    }
    CU_ASSERT_FALSE(together(w, "BF"));
    CU_ASSERT(together(w, "BCDE"));
    CU_ASSERT(together(w, "FGHI"));
    w->busy = false;
    drain(w);
    CU_ASSERT_TRUE(is(w, 'I', SP_STATUS_LOSER, 'F'));
}

TEST(large_pieces_leave_when_as_many_pages_have_paid_as_members_move)
{
    tell_in_both_modes(splits_when_paid);
}

/* B to E and J as above; then K to P come apart from F to I as well, when S leaves. */
static void comes_apart_further(struct world *w)
{
    crawl_each(w, 'K', 'P', 40, 1);
    crawl(w, 'S', 31); /* resembles F to I and K to P */
    lose_the_bridge(w);
    if (!defers(w))
        return;
    CU_ASSERT(together(w, "BCDEFGHIKLMNOPS"));
    crawl(w, 'S', 6000);
    CU_ASSERT_FALSE(together(w, "BS"));
    for (int fetch = 1; fetch < 8; fetch++) { /* two pieces of four have to leave */
        CU_ASSERT(together(w, "BCDEFGHIKLMNOP"));
        restart(w);
        crawl(w, 'Y', 7000);
    }
    CU_ASSERT(together(w, "BCDE"));
    CU_ASSERT(together(w, "FGHI"));
    CU_ASSERT(together(w, "KLMNOP"));
    CU_ASSERT_FALSE(together(w, "BF"));
    CU_ASSERT_FALSE(together(w, "FK"));
}

TEST(pieces_that_came_apart_after_others_are_paid_for_as_well)
{
    tell_in_both_modes(comes_apart_further);
}

static void splits_when_idle(struct world *w)
{
    lose_the_bridge(w);
    w->busy = false;
    drain(w);
    CU_ASSERT_FALSE(sp_group_stage_owes(w->stage));
    CU_ASSERT_FALSE(together(w, "BF"));
}

TEST(large_pieces_leave_when_there_is_nothing_else_to_do)
{
    tell_in_both_modes(splits_when_idle);
}

static void stays_whole(struct world *w)
{
    lose_the_bridge(w);
    if (!defers(w))
        return;
    uint64_t splits = stats_of(w).splits;
    uint32_t events = w->events;
    for (int flap = 0; flap < 2; flap++) {
        crawl(w, 'J', 10);
        CU_ASSERT(together(w, "BCDEFGHIJ"));
        crawl(w, 'J', flap ? 10 : 5000);
    }
    w->busy = false;
    drain(w);
    CU_ASSERT_EQUAL(stats_of(w).splits, splits + 1); /* of J alone */
    CU_ASSERT_EQUAL(w->events - events, 6);          /* of J: two when it joins */
    CU_ASSERT(together(w, "BCDEFGHIJ"));
    CU_ASSERT_FALSE(sp_group_stage_owes(w->stage));
}

TEST(pieces_that_are_connected_again_before_they_leave_stay)
{
    tell_in_both_modes(stays_whole);
}

/* K to T form a group of a higher level, into which the group in pieces dissolves when U joins
 * both. */
static void dissolves(struct world *w)
{
    crawl_each(w, 'K', 'T', 40, 1);
    crawl_each(w, 'V', 'Z', 45, 1);
    crawl(w, 'A', 45);
    CU_ASSERT(together(w, "AKLMNOPQRSTVWXYZ"));
    lose_the_bridge(w);
    if (w->options.settle_at_once)
        restart(w);
    crawl(w, 'U', 31); /* resembles I and K */
    w->busy = false;
    drain(w);
    CU_ASSERT(together(w, "AFGHIKLMNOPQRSTUVWXYZ"));
    CU_ASSERT(together(w, "BCDE"));
    CU_ASSERT_FALSE(together(w, "BF"));
}

/* Its index is made in parts before. */
static void dissolves_without_an_index(struct world *w)
{
    w->options.settle_at_once = 1;
    dissolves(w);
}

TEST(a_group_in_pieces_is_split_before_it_moves_into_another)
{
    tell_in_both_modes(dissolves);
    tell(dissolves_without_an_index);
    tell_in(SP_MODE_FAST, 0, dissolves_without_an_index);
}

/* ---- the index */

/* The index of a group of ten pages, of different texts, is still to be made. */
static void lose_the_index(struct world *w)
{
    crawl_each(w, 'B', 'K', 0, 5);
    w->options.settle_at_once = 1;
    restart(w);
}

static void prepares(struct world *w)
{
    enum { EACH = 3, READY = 1 };
    if (!defers(w))
        return;
    lose_the_index(w);
    crawl(w, 'L', 0); /* so that the group is read */
    CU_ASSERT_EQUAL(stats_of(w).hub_probes, 0);
    uint32_t events = w->events;
    for (uint64_t indexed = EACH; indexed < 10 - READY; indexed += EACH) {
        CU_ASSERT_TRUE(sp_group_stage_prepare(w->stage, EACH));
        CU_ASSERT_EQUAL(stats_of(w).hub_probes, indexed);
    }
    CU_ASSERT_FALSE(sp_group_stage_prepare(w->stage, EACH));
    CU_ASSERT_EQUAL(stats_of(w).hub_probes, 9);
    CU_ASSERT_FALSE(sp_group_stage_prepare(w->stage, EACH));
    CU_ASSERT_EQUAL(stats_of(w).hub_probes, 9);
    CU_ASSERT_EQUAL(w->events, events);
    crawl(w, 'K', 5000);
    CU_ASSERT_FALSE(together(w, "JK"));
    CU_ASSERT(together(w, "BCDEFGHIJ"));
    CU_ASSERT(stats_of(w).hub_probes <= 12);
}

TEST(contents_are_put_into_the_index_of_a_large_group_a_few_at_a_time)
{
    tell(prepares);
}

/* The same; the pages that follow pay for the index. */
static void leaves_before_the_index_is_made(struct world *w)
{
    if (!defers(w))
        return;
    lose_the_index(w);
    w->busy = true;
    crawl(w, 'K', 5000);
    CU_ASSERT_FALSE(together(w, "JK"));
    crawl(w, 'F', 20); /* unchanged */
    crawl(w, 'C', 6000);
    CU_ASSERT_FALSE(together(w, "BC"));
    CU_ASSERT_EQUAL(stats_of(w).hub_probes, 0);
    CU_ASSERT_TRUE(sp_group_stage_owes(w->stage));
    for (int fetch = 0; fetch < 24; fetch++)
        crawl(w, 'Y', 7000);
    CU_ASSERT(stats_of(w).hub_probes >= 8);
    CU_ASSERT_FALSE(sp_group_stage_owes(w->stage));
    CU_ASSERT(together(w, "BDEFGHIJ"));
    w->busy = false;
    drain(w);
}

TEST(a_page_leaves_a_large_group_before_its_index_is_made)
{
    tell(leaves_before_the_index_is_made);
    tell_in(SP_MODE_FAST, 0, leaves_before_the_index_is_made);
}

static void prepares_two(struct world *w)
{
    if (!defers(w))
        return;
    crawl_each(w, 'M', 'V', 300, 5);
    lose_the_index(w);
    crawl(w, 'L', 0); /* so that the groups are read */
    crawl(w, 'W', 300);
    while (sp_group_stage_prepare(w->stage, 3))
        ;
    CU_ASSERT_EQUAL(stats_of(w).hub_probes, 18);
}

TEST(the_indexes_of_several_large_groups_are_prepared)
{
    tell(prepares_two);
}

/* A has a star of two pages, and the others are a chain beside it. Then A leaves. */
static void lose_the_pivot(struct world *w)
{
    enum { CONTENTS = 20 };
    w->options.settle_at_once = 1;
    restart(w);
    crawl(w, 'A', 191);
    crawl_each(w, 'Y', 'Z', 189, 1);
    crawl_each(w, 'B', 'S', 199, 9);
    w->busy = true;
    if (!defers(w))
        return;
    crawl(w, 'A', 5000);
    uint64_t searched = stats_of(w).searched;
    for (int fetch = 0; fetch < CONTENTS; fetch++) {
        CU_ASSERT_TRUE(sp_group_stage_owes(w->stage));
        CU_ASSERT_EQUAL(stats_of(w).searched, searched);
        crawl(w, 'X', 7000);
    }
    w->busy = false;
    drain(w);
    CU_ASSERT(stats_of(w).searched > searched);
    CU_ASSERT(together(w, "BCDEFGHIJKLMNOPQRSYZ"));
}

TEST(a_search_for_pieces_is_paid_for_by_as_many_pages_as_the_group_has_contents)
{
    tell(lose_the_pivot);
}

/* ---- damage */

/* Such a stage would have work to do without end. */
static void owes_nothing(struct world *w)
{
    enum { BITS = 32, NO_ROUND = 16 };
    struct sp_buf key = {0}, value = {0};
    lose_the_bridge(w);
    if (!defers(w))
        return;
    restart(w);
    first_row(w, 'T', &key, &value);
    CU_ASSERT_FATAL(value.len > BITS && value.data[BITS] & NO_ROUND);
    value.data[BITS] = NO_ROUND;
    replace_row(w, sp_buf_view(&key), sp_view(value.data, BITS + 1));
    struct sp_group_stage *other =
        sp_group_stage_new(&w->options, sp_db_store(w->db, 1), &(struct sp_outbox){.send = NULL});
    CU_ASSERT_EQUAL(sp_group_stage_error(other), SP_CORRUPT);
    sp_group_stage_free(other);
    sp_buf_done(&key);
    sp_buf_done(&value);
}

TEST(a_debt_of_nothing_is_damage)
{
    tell(owes_nothing);
}

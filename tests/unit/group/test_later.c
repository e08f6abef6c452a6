/* Statuses of a large group that are deferred: each crawled page, of any group, publishes one of
 * them, and idle time the rest. */

#include "story.h"

static void new_winner(struct world *w)
{
    w->options.only_rounds = true;
    restart(w);
    if (w->options.large_from != 1)
        return; /* small groups defer nothing */
    for (int page = 'B'; page <= 'K'; page++)
        crawl(w, (char)page, (uint32_t)(page - 'A'));
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

/* As above, with a restart after each page. */
static void pays_after_restarts(struct world *w)
{
    w->options.only_rounds = true;
    restart(w);
    if (w->options.large_from != 1)
        return;
    for (int page = 'B'; page <= 'K'; page++)
        crawl(w, (char)page, (uint32_t)(page - 'A'));
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

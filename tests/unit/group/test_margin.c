/* With winner.margin a page stays the winner until another page of its group outranks it by the
 * margin. Popularity is 25 for A, 24 for B and so on, plus the favour. */
#include "story.h"

static void with_margin(struct world *w, double margin)
{
    w->options.winner_margin = margin;
    restart(w);
}

static void rising_loser(struct world *w)
{
    with_margin(w, 2.5);
    crawl(w, 'A', 0);
    crawl(w, 'B', 5);
    crawl(w, 'C', 3);
    CU_ASSERT_TRUE(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'B', SP_STATUS_LOSER, 'A'));
    crawl_favoured(w, 'B', 4, 3); /* 27: 2 more, less than the margin */
    CU_ASSERT_TRUE(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'B', SP_STATUS_LOSER, 'A'));
    crawl_favoured(w, 'C', 2, 5); /* 28: 3 more */
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_WINNER, 0) && is(w, 'A', SP_STATUS_LOSER, 'C'));
    CU_ASSERT_TRUE(is(w, 'B', SP_STATUS_LOSER, 'C'));
    crawl_favoured(w, 'A', 1, 5); /* 30: now A must exceed C by 2.5 */
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_WINNER, 0) && is(w, 'A', SP_STATUS_LOSER, 'C'));
    die(w, 'C'); /* no winner is left: the best page takes over */
    CU_ASSERT_TRUE(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'B', SP_STATUS_LOSER, 'A'));
}

TEST(a_winner_keeps_its_place_until_it_is_outranked_by_the_margin)
{
    tell(rising_loser);
}

static void two_alone(struct world *w)
{
    with_margin(w, 2.5);
    crawl(w, 'C', 0);
    crawl(w, 'B', 1000);
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_UNIQUE, 0) && is(w, 'B', SP_STATUS_UNIQUE, 0));
    restart(w);
    crawl(w, 'B', 5); /* both were winners, so neither has the advantage */
    CU_ASSERT_TRUE(is(w, 'B', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_LOSER, 'B'));
}

TEST(of_two_that_were_alone_the_better_one_wins)
{
    tell(two_alone);
}

/* C and B are unlike; D resembles both. */
static void fresh_winner(struct world *w)
{
    with_margin(w, 2.5);
    crawl(w, 'C', 0);
    crawl(w, 'D', 10);
    CU_ASSERT_TRUE(is(w, 'C', SP_STATUS_WINNER, 0) && is(w, 'D', SP_STATUS_LOSER, 'C'));
    crawl(w, 'B', 20);
    CU_ASSERT_TRUE(is(w, 'B', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_WINNER, 0));
    CU_ASSERT_TRUE(is(w, 'D', SP_STATUS_LOSER, 'B'));
    restart(w);
    crawl(w, 'Z', 10); /* alike, and worse than all */
    CU_ASSERT_TRUE(is(w, 'D', SP_STATUS_LOSER, 'B') && is(w, 'Z', SP_STATUS_LOSER, 'B'));
}

TEST(a_page_has_the_margin_as_soon_as_it_wins)
{
    tell(fresh_winner);
}

/* Stories of mode fast (Zhu et al., section 5): what tier 1 settles by itself, and what it mends.
 */
#include "story.h"

/* A page that is alone is held against its own former content, which a restart knows as well. It
 * may move far in small steps. */
static void alone(struct world *w)
{
    crawl(w, 'A', 1000);
    CU_ASSERT(w->asked == 1 && w->settled == 0);

    crawl(w, 'A', 1010);
    CU_ASSERT(w->asked == 1 && w->settled == 1);
    restart(w);
    crawl(w, 'A', 1020);
    CU_ASSERT(w->asked == 1 && w->settled == 2);
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0));

    crawl(w, 'A', 5000);
    CU_ASSERT(w->asked == 2 && w->settled == 2);
    CU_ASSERT_EQUAL(rechecks(w), 0);
}

TEST(fast_a_page_alone_that_changes_a_little_is_settled)
{
    tell_in(SP_MODE_FAST, 0, alone);
}

/* So is a winner; a loser is held against its winner. */
static void winner_and_loser(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A'));
    w->asked = 0;

    crawl(w, 'A', 1005);
    CU_ASSERT(w->asked == 0 && w->settled == 1);
    restart(w);
    crawl(w, 'B', 1015); /* as 1000, which A had, it would not be */
    CU_ASSERT(w->asked == 0 && w->settled == 2);
    CU_ASSERT(together(w, "AB") && is(w, 'B', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_EQUAL(rechecks(w), 0);

    crawl(w, 'B', 1024); /* it resembles what it was, and not A */
    CU_ASSERT(w->asked == 1 && w->settled == 2);
    CU_ASSERT(!together(w, "AB"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0) && is(w, 'B', SP_STATUS_UNIQUE, 0));

    crawl(w, 'B', 1005); /* back again, and the winner goes */
    CU_ASSERT(w->asked == 2 && together(w, "AB"));
    crawl(w, 'A', 5000);
    CU_ASSERT(w->asked == 3 && !together(w, "AB"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0) && is(w, 'B', SP_STATUS_UNIQUE, 0));
}

TEST(fast_a_winner_is_held_against_what_it_was_and_a_loser_against_its_winner)
{
    tell_in(SP_MODE_FAST, 0, winner_and_loser);
}

/* A chain has more winners than one: C is unlike A, and a loser of C is held against C, which is
 * held against what it was. */
static void two_winners(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    crawl(w, 'C', 1020);
    crawl(w, 'D', 1025);
    CU_ASSERT(together(w, "ABCD"));
    CU_ASSERT(is(w, 'C', SP_STATUS_WINNER, 0) && is(w, 'D', SP_STATUS_LOSER, 'C'));
    w->asked = w->settled = 0;

    crawl(w, 'D', 1022);
    CU_ASSERT(w->asked == 0 && w->settled == 1);
    CU_ASSERT(together(w, "ABCD") && is(w, 'D', SP_STATUS_LOSER, 'C'));
    restart(w);
    crawl(w, 'C', 1018);
    CU_ASSERT(w->asked == 0 && w->settled == 2);
    restart(w);
    crawl(w, 'D', 1026); /* C was 1020, and is 1018 */
    CU_ASSERT(w->asked == 0 && w->settled == 3);
    CU_ASSERT(together(w, "ABCD") && is(w, 'D', SP_STATUS_LOSER, 'C'));

    crawl(w, 'D', 1030);
    CU_ASSERT(w->asked == 1 && w->settled == 3);
}

TEST(fast_a_page_is_held_against_the_winner_that_it_lost_to)
{
    tell_in(SP_MODE_FAST, 0, two_winners);
}

/* A winner goes away from its losers in small steps: each is settled, until a loser is unlike it.
 * That one is published as no loser of it in any case. */
static void drift(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);
    crawl(w, 'C', 1010);
    w->asked = 0;
    crawl(w, 'A', 1005);
    crawl(w, 'C', 1015);
    crawl(w, 'A', 1010);
    CU_ASSERT(w->asked == 0 && w->settled == 3 && rechecks(w) == 0);
    CU_ASSERT(together(w, "ABC"));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A') && is(w, 'C', SP_STATUS_LOSER, 'A'));

    crawl(w, 'A', 1015);

    CU_ASSERT(w->asked == 0 && w->settled == 4);
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_LOSER, 'A'));
    CU_ASSERT(together(w, "AC"));
}

static void drift_is_mended(struct world *w)
{
    drift(w);
    CU_ASSERT_EQUAL(rechecks(w), 1);
    CU_ASSERT(!together(w, "AB") && is(w, 'B', SP_STATUS_UNIQUE, 0));
}

static void drift_is_left(struct world *w)
{
    drift(w);
    CU_ASSERT_EQUAL(rechecks(w), 0);
    CU_ASSERT(together(w, "AB") && is(w, 'B', SP_STATUS_WINNER, 0));

    crawl(w, 'C', 9000); /* one of one is more than half */

    CU_ASSERT_EQUAL(rechecks(w), 1);
    CU_ASSERT(!together(w, "AB") && is(w, 'A', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_UNIQUE, 0));
}

TEST(fast_a_winner_that_drifts_away_from_a_loser_is_parted_from_it)
{
    tell_in(SP_MODE_FAST, 0, drift_is_mended);
    tell_in(SP_MODE_FAST, 0.4, drift_is_mended);
}

TEST(fast_a_group_is_not_checked_for_less_than_the_share_that_was_set)
{
    tell_in(SP_MODE_FAST, 0.5, drift_is_left);
}

/* The page that joined two others leaves (section 5.2, group splitting). */
static void bridge(struct world *w)
{
    crawl(w, 'A', 1010);
    crawl(w, 'C', 1030);
    crawl(w, 'B', 1020);
    CU_ASSERT(together(w, "ABC"));
    crawl(w, 'B', 9000);
    CU_ASSERT(!together(w, "AB") && is(w, 'B', SP_STATUS_UNIQUE, 0));
}

static void bridge_is_missed(struct world *w)
{
    bridge(w);
    CU_ASSERT_EQUAL(rechecks(w), 1);
    CU_ASSERT(!together(w, "AC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0) && is(w, 'C', SP_STATUS_UNIQUE, 0));
}

static void bridge_is_forgotten(struct world *w)
{
    bridge(w);
    CU_ASSERT_EQUAL(rechecks(w), 0);
    CU_ASSERT(together(w, "AC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_WINNER, 0));
}

TEST(fast_what_a_page_held_together_comes_apart_when_it_leaves)
{
    tell_in(SP_MODE_FAST, 0, bridge_is_missed);
    tell_in(SP_MODE_FAST, 1, bridge_is_forgotten);
}

/* The page that stands for the group dies: the next winner does. */
static void death(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    crawl(w, 'C', 1010);
    die(w, 'A');
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_LOSER, 'B'));
    restart(w);
    w->asked = 0;

    crawl(w, 'C', 1020); /* as B; A was unlike it */

    CU_ASSERT(w->asked == 0 && w->settled == 1);
    CU_ASSERT(together(w, "BC") && is(w, 'C', SP_STATUS_LOSER, 'B'));

    crawl(w, 'C', 990); /* as A was */

    CU_ASSERT(w->asked == 1 && w->settled == 1);
    CU_ASSERT(!together(w, "BC"));
}

TEST(fast_when_the_representative_dies_the_next_winner_stands_for_the_group)
{
    tell_in(SP_MODE_FAST, 0, death);
}

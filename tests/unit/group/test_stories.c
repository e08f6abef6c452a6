/* The cases of Zhu et al. (WWW 2012, section 5.1) as stories: pages are fetched one after another,
 * and once the messages of a fetch are handled, the groups and statuses are those of the paper.
 *
 * Each story is told twice: with small groups, whose members are compared one by one, and with
 * groups that are treated as large, by content, from two members on. The results must be equal. */
#include "story.h"

/* The new content still resembles the group. The page stays, and only its own status is
 * published. */
static void small_change(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_EQUAL(w->said[1].reason, SP_REASON_EXACT);
    struct sp_group_id before = group_of(w, 'A');
    w->events = 0;

    crawl(w, 'B', 1005);

    CU_ASSERT(sp_group_id_eq(group_of(w, 'B'), before));
    CU_ASSERT(together(w, "AB"));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_EQUAL(w->said[1].reason, SP_REASON_CONTENT);
    CU_ASSERT_DOUBLE_EQUAL(w->said[1].similarity, 95.0 / 105, 1e-6);
    CU_ASSERT_EQUAL(w->events, 1);
}

TEST(a_page_that_still_resembles_its_group_stays)
{
    tell(small_change);
}

/* Case 1: the new content of a known page resembles no page. It forms a new group, together with
 * the redirects to it. */
static void case_1_alone(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);
    redirect(w, 'R', 'B');
    CU_ASSERT(together(w, "ABR"));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'A'));
    struct sp_group_id before = group_of(w, 'A');

    crawl(w, 'B', 5000);

    CU_ASSERT(together(w, "BR"));
    CU_ASSERT(!together(w, "AB"));
    CU_ASSERT(!sp_group_id_eq(group_of(w, 'A'), before) ||
              !sp_group_id_eq(group_of(w, 'B'), before));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'B'));
    CU_ASSERT_EQUAL(w->said['R' - 'A'].reason, SP_REASON_REDIRECT);
}

TEST(case_1_a_page_that_resembles_no_other_forms_a_group_with_its_redirects)
{
    tell(case_1_alone);
}

/* Case 1: the new content of a known page resembles another group. The page moves from one to the
 * other, and the redirects to it with it. */
static void case_1_other_group(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);
    redirect(w, 'R', 'B');
    crawl(w, 'C', 5000);
    crawl(w, 'D', 5005);
    CU_ASSERT(together(w, "ABR") && together(w, "CD") && !together(w, "AC"));

    crawl(w, 'B', 5010);

    CU_ASSERT(together(w, "BCDR") && !together(w, "AB"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0)); /* it ranks before C and D */
    CU_ASSERT(is(w, 'C', SP_STATUS_LOSER, 'B'));
    CU_ASSERT(is(w, 'D', SP_STATUS_LOSER, 'B'));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'B'));
}

TEST(case_1_a_page_that_resembles_another_group_joins_it_with_its_redirects)
{
    tell(case_1_other_group);
}

/* Case 2: a new page joins the group of a page that it resembles; one that resembles none forms a
 * group of one. */
static void case_2(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);

    crawl(w, 'C', 1005);
    crawl(w, 'D', 5000);

    CU_ASSERT(together(w, "ABC") && !together(w, "AD"));
    CU_ASSERT(is(w, 'C', SP_STATUS_LOSER, 'A'));
    CU_ASSERT(is(w, 'D', SP_STATUS_UNIQUE, 0));
}

TEST(case_2_a_new_page_joins_a_group_or_forms_one)
{
    tell(case_2);
}

/* Case 3: a page redirects over several steps. It is in the group of the page at the end, and goes
 * where that page goes. */
static void case_3(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);
    crawl(w, 'C', 5000);
    redirect(w, 'R', 'B');
    redirect(w, 'S', 'R');
    redirect(w, 'T', 'S');
    CU_ASSERT(together(w, "ABRST") && !together(w, "AC"));
    CU_ASSERT(is(w, 'T', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_EQUAL(w->said['T' - 'A'].reason, SP_REASON_REDIRECT);

    crawl(w, 'B', 5005);

    CU_ASSERT(together(w, "BCRST") && !together(w, "AB"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'C', SP_STATUS_LOSER, 'B'));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'B'));
    CU_ASSERT(is(w, 'S', SP_STATUS_LOSER, 'B'));
    CU_ASSERT(is(w, 'T', SP_STATUS_LOSER, 'B'));
}

TEST(case_3_redirects_go_with_the_page_at_their_end)
{
    tell(case_3);
}

/* The winner dies. Its losers are similar to one another: the best of them takes over. */
static void winners_death(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1005);
    crawl(w, 'C', 1010);
    redirect(w, 'R', 'A');
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A') && is(w, 'C', SP_STATUS_LOSER, 'A'));

    die(w, 'A');

    CU_ASSERT(is(w, 'A', SP_STATUS_GONE, 0));
    CU_ASSERT(is(w, 'R', SP_STATUS_GONE, 0)); /* it leads to no content */
    CU_ASSERT(together(w, "BC") && !together(w, "AB"));
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'C', SP_STATUS_LOSER, 'B'));

    crawl(w, 'A', 1000); /* A comes back */

    CU_ASSERT(together(w, "ABCR"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A') && is(w, 'C', SP_STATUS_LOSER, 'A'));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'A'));
}

TEST(when_the_winner_dies_the_best_of_its_losers_takes_over)
{
    tell(winners_death);
}

/* A redirect with a new target leaves the group of the old target for that of the new one, which
 * may not have been fetched yet. */
static void moving_redirect(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 5000);
    redirect(w, 'R', 'A');
    CU_ASSERT(together(w, "AR") && is(w, 'A', SP_STATUS_WINNER, 0));

    redirect(w, 'R', 'B');

    CU_ASSERT(together(w, "BR") && !together(w, "AR"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'B'));

    redirect(w, 'R', 'X');

    CU_ASSERT(is(w, 'B', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'R', SP_STATUS_GONE, 0));
    CU_ASSERT(together(w, "RX"));

    crawl(w, 'X', 9000);

    CU_ASSERT(is(w, 'X', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'X'));
}

TEST(a_redirect_that_moves_changes_its_group)
{
    tell(moving_redirect);
}

/* A and B are similar, B and C as well, A and C are not: B connects them. Without B the group
 * splits; with B it merges again. */
static void split_and_merge(struct world *w)
{
    crawl(w, 'A', 1010);
    crawl(w, 'C', 1030);
    CU_ASSERT(!together(w, "AC"));
    crawl(w, 'B', 1020);
    CU_ASSERT(together(w, "ABC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A'));
    CU_ASSERT(is(w, 'C', SP_STATUS_WINNER, 0)); /* not similar to A, the winner before it */
    uint64_t epoch = w->said['B' - 'A'].epoch;

    crawl(w, 'B', 9000);

    CU_ASSERT(!together(w, "AB") && !together(w, "BC") && !together(w, "AC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'C', SP_STATUS_UNIQUE, 0));

    crawl(w, 'B', 1020);

    CU_ASSERT(together(w, "ABC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A'));
    CU_ASSERT(is(w, 'C', SP_STATUS_WINNER, 0));
    CU_ASSERT(w->said['B' - 'A'].epoch > epoch);
}

TEST(a_group_that_was_split_comes_together_again)
{
    tell(split_and_merge);
}

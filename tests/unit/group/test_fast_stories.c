/* Stories of mode fast (Zhu et al., section 5): what tier 1 settles by itself, and what it
 * repairs. */
#include "story.h"

#include "winners/winners.h"

/* A page that is alone is compared with its own former content, also after a restart, so it may
 * move far in small steps. */
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
    CU_ASSERT_EQUAL(stats_of(w).rechecks, 0);
}

TEST(fast_a_page_alone_that_changes_a_little_is_settled)
{
    tell_in(SP_MODE_FAST, 0, alone);
}

/* A winner is compared with its own former content as well; a loser is compared with its winner. */
static void winner_and_loser(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A'));
    w->asked = 0;

    crawl(w, 'A', 1005);
    CU_ASSERT(w->asked == 0 && w->settled == 1);
    restart(w);
    crawl(w, 'B', 1015); /* similar to the present text of A, not to its former one, 1000 */
    CU_ASSERT(w->asked == 0 && w->settled == 2);
    CU_ASSERT(together(w, "AB") && is(w, 'B', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_EQUAL(stats_of(w).rechecks, 0);

    crawl(w, 'B', 1024); /* similar to its own former text, not to A */
    CU_ASSERT(w->asked == 1 && w->settled == 2);
    CU_ASSERT(!together(w, "AB"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0) && is(w, 'B', SP_STATUS_UNIQUE, 0));

    crawl(w, 'B', 1005); /* it resembles A again; then A changes */
    CU_ASSERT(w->asked == 2 && together(w, "AB"));
    crawl(w, 'A', 5000);
    CU_ASSERT(w->asked == 3 && !together(w, "AB"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0) && is(w, 'B', SP_STATUS_UNIQUE, 0));
}

TEST(fast_a_winner_is_compared_with_its_former_self_and_a_loser_with_its_winner)
{
    tell_in(SP_MODE_FAST, 0, winner_and_loser);
}

/* A chain has several winners: C is not similar to A. A loser of C is compared with C, and C with
 * its own former content. */
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
    crawl(w, 'D', 1026); /* C was at 1020 and is now at 1018 */
    CU_ASSERT(w->asked == 0 && w->settled == 3);
    CU_ASSERT(together(w, "ABCD") && is(w, 'D', SP_STATUS_LOSER, 'C'));

    crawl(w, 'D', 1030);
    CU_ASSERT(w->asked == 1 && w->settled == 3);
}

TEST(fast_a_loser_is_compared_with_the_winner_that_it_lost_to)
{
    tell_in(SP_MODE_FAST, 0, two_winners);
}

/* A winner moves away from its losers in small steps. Each step is settled until a loser is no
 * longer similar; from then on that page is never published as its loser. */
static void drift(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);
    crawl(w, 'C', 1010);
    w->asked = 0;
    crawl(w, 'A', 1005);
    crawl(w, 'C', 1015);
    crawl(w, 'A', 1010);
    CU_ASSERT(w->asked == 0 && w->settled == 3 && stats_of(w).rechecks == 0);
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
    CU_ASSERT_EQUAL(stats_of(w).rechecks, 1);
    CU_ASSERT(!together(w, "AB") && is(w, 'B', SP_STATUS_UNIQUE, 0));
}

static void drift_is_left(struct world *w)
{
    drift(w);
    CU_ASSERT_EQUAL(stats_of(w).rechecks, 0);
    CU_ASSERT(together(w, "AB") && is(w, 'B', SP_STATUS_WINNER, 0));

    crawl(w, 'C', 9000); /* one of one exceeds half */

    CU_ASSERT_EQUAL(stats_of(w).rechecks, 1);
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

/* A page that connects two others leaves (section 5.2, group splitting). */
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
    CU_ASSERT_EQUAL(stats_of(w).rechecks, 1);
    CU_ASSERT(!together(w, "AC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0) && is(w, 'C', SP_STATUS_UNIQUE, 0));
}

static void bridge_is_forgotten(struct world *w)
{
    bridge(w);
    CU_ASSERT_EQUAL(stats_of(w).rechecks, 0);
    CU_ASSERT(together(w, "AC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_WINNER, 0));
}

TEST(fast_a_group_splits_when_its_bridge_leaves)
{
    tell_in(SP_MODE_FAST, 0, bridge_is_missed);
    tell_in(SP_MODE_FAST, 1, bridge_is_forgotten);
}

/* A chain: every other page wins, so that each change of a page makes the group check itself. */
static uint64_t compared_for_a_change(struct world *w, char last)
{
    for (char page = 'A'; page <= last; page++)
        crawl(w, page, 1000 + 10 * (uint32_t)(page - 'A'));
    uint32_t from = 1000 + 10 * (uint32_t)(last - 'A');
    crawl(w, last, from - 1);
    uint64_t rechecks = stats_of(w).rechecks, compared = stats_of(w).repair_compared;
    crawl(w, last, from);
    CU_ASSERT_EQUAL(stats_of(w).rechecks, rechecks + 1);
    CU_ASSERT(together(w, "AB"));
    return stats_of(w).repair_compared - compared;
}

static void short_chain(struct world *w)
{
    CU_ASSERT(compared_for_a_change(w, 'F') <= 2);
}

static void long_chain(struct world *w)
{
    CU_ASSERT(compared_for_a_change(w, 'X') <= 2);
}

TEST(fast_a_check_compares_only_what_has_changed_however_large_the_group)
{
    tell_in(SP_MODE_FAST, 0, short_chain);
    tell_in(SP_MODE_FAST, 0, long_chain);
}

/* B leaves because of its own change and asks at once. A is left alone: it asks at its next change,
 * also after a restart, and finds B. */
static void left_behind(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    CU_ASSERT(together(w, "AB"));
    crawl(w, 'B', 1020);
    CU_ASSERT(!together(w, "AB"));
    restart(w);
    w->asked = w->settled = 0;

    crawl(w, 'A', 1010); /* similar to its former text */

    CU_ASSERT(w->asked == 1 && w->settled == 0 && stats_of(w).left_alone == 1);
    CU_ASSERT(together(w, "AB") && is(w, 'B', SP_STATUS_LOSER, 'A'));
}

TEST(fast_a_page_that_another_leaves_alone_finds_it_again)
{
    tell_in(SP_MODE_FAST, 0, left_behind);
}

/* The same where so many pages lead to A that its group has a row for each member. */
static void left_behind_with_redirects(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    for (int page = 'C'; page <= 'H'; page++)
        redirect(w, (char)page, 'A');
    CU_ASSERT(together(w, "ABCDEFGH"));
    restart(w);
    crawl(w, 'B', 1020);
    CU_ASSERT(!together(w, "AB"));
    restart(w);
    w->asked = w->settled = 0;

    crawl(w, 'A', 1010);

    CU_ASSERT(w->asked == 1 && w->settled == 0);
    CU_ASSERT(together(w, "AB") && is(w, 'B', SP_STATUS_LOSER, 'A'));
    crawl(w, 'B', 1024); /* B leaves again */
    restart(w);
    crawl(w, 'A', 1001); /* A asks */
    restart(w);
    w->asked = w->settled = 0;

    crawl(w, 'A', 1002);

    CU_ASSERT(w->asked == 0 && w->settled == 1);
}

TEST(fast_a_page_with_redirects_that_is_left_alone_asks_once_also_after_a_restart)
{
    tell_in(SP_MODE_FAST, 0, left_behind_with_redirects);
}

/* It asks once; the page that left because of its own change does not ask again. */
static void asks_once(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    crawl(w, 'B', 1024);
    w->asked = w->settled = 0;

    crawl(w, 'B', 1025);
    CU_ASSERT(w->asked == 0 && w->settled == 1);
    crawl(w, 'A', 1001);
    CU_ASSERT(w->asked == 1 && w->settled == 1);
    restart(w);
    crawl(w, 'A', 1002);
    CU_ASSERT(w->asked == 1 && w->settled == 2);
    CU_ASSERT(!together(w, "AB"));
}

TEST(fast_a_page_that_is_left_alone_asks_once)
{
    tell_in(SP_MODE_FAST, 0, asks_once);
}

/* A re-check parts A and C, one of which moves to a new group. Both ask at their next change. */
static void parted(struct world *w)
{
    crawl(w, 'A', 1010);
    crawl(w, 'C', 1030);
    crawl(w, 'B', 1020);
    crawl(w, 'B', 9000);
    CU_ASSERT(!together(w, "AC"));
    restart(w);
    w->asked = w->settled = 0;

    crawl(w, 'A', 1014);
    CU_ASSERT(w->asked == 1 && !together(w, "AC"));
    crawl(w, 'C', 1024);
    CU_ASSERT(w->asked == 2 && w->settled == 0 && together(w, "AC"));
    crawl(w, 'B', 9001);
    CU_ASSERT(w->asked == 2 && w->settled == 1);
}

TEST(fast_pages_that_a_recheck_parts_ask_at_their_next_change)
{
    tell_in(SP_MODE_FAST, 0, parted);
}

/* A page that dies, or turns into a redirect, is nothing to look for. */
static void left_by_the_dead(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    die(w, 'B');
    crawl(w, 'C', 5000);
    crawl(w, 'D', 5010);
    redirect(w, 'D', 'A');
    CU_ASSERT(!together(w, "AB") && !together(w, "CD"));
    w->asked = w->settled = 0;

    crawl(w, 'A', 1001);
    crawl(w, 'C', 5001);

    CU_ASSERT(w->asked == 0 && w->settled == 2);
}

TEST(fast_a_page_whose_group_has_lost_its_content_is_settled)
{
    tell_in(SP_MODE_FAST, 0, left_by_the_dead);
}

/* Others may find it before it changes: then it is not alone, and is settled as any other. */
static void found_again(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    crawl(w, 'B', 1024);
    crawl(w, 'C', 1001);
    CU_ASSERT(together(w, "AC") && !together(w, "AB"));
    w->asked = w->settled = 0;

    crawl(w, 'A', 1002);

    CU_ASSERT(w->asked == 0 && w->settled == 1);
}

TEST(fast_a_page_that_was_left_alone_and_found_by_others_is_settled)
{
    tell_in(SP_MODE_FAST, 0, found_again);
}

/* The representative of the group dies; the next winner replaces it. */
static void death(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1010);
    crawl(w, 'C', 1010);
    die(w, 'A');
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_LOSER, 'B'));
    restart(w);
    w->asked = 0;

    crawl(w, 'C', 1020); /* similar to its present winner B, not to A, which is dead */

    CU_ASSERT(w->asked == 0 && w->settled == 1);
    CU_ASSERT(together(w, "BC") && is(w, 'C', SP_STATUS_LOSER, 'B'));

    crawl(w, 'C', 990); /* similar to the former text of A, not to B */

    CU_ASSERT(w->asked == 1 && w->settled == 1);
    CU_ASSERT(!together(w, "BC"));
}

TEST(fast_when_the_representative_dies_the_next_winner_replaces_it)
{
    tell_in(SP_MODE_FAST, 0, death);
}

/* With winner.relation a group has several winners, too. A page that was a redirect is compared
 * with the best of them, and a group in which every page resembles that winner is not
 * re-checked. */
static void related(struct world *w)
{
    struct sp_fault fault;
    struct sp_relation *relation = NULL;
    CU_ASSERT_EQUAL_FATAL(
        sp_winner_relation_parse("a.host = b.host", SP_METHOD_SHINGLES, &relation, &fault), SP_OK);
    w->options.winner_relation = relation;
    restart(w);
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1009);
    crawl(w, 'C', 1010);
    redirect(w, 'R', 'A');
    CU_ASSERT(together(w, "ABCR") && is(w, 'B', SP_STATUS_LOSER, 'A'));
    w->asked = w->settled = 0;

    crawl(w, 'R', 992); /* similar to A, not to the losers */

    CU_ASSERT(w->asked == 0 && w->settled == 1);
    CU_ASSERT(together(w, "ABCR") && is(w, 'R', SP_STATUS_LOSER, 'A'));
    CU_ASSERT_EQUAL(stats_of(w).rechecks, 0);
    w->options.winner_relation = NULL;
    restart(w);
    sp_relation_free(relation);
}

TEST(fast_a_relation_leaves_a_group_its_best_winner)
{
    tell_in(SP_MODE_FAST, 0, related);
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key, (void)value;
    ++*(uint32_t *)arg;
    return true;
}

static uint32_t member_rows(struct world *w)
{
    uint32_t rows = 0;
    restart(w);
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(w->db, 1), sp_view("M", 1), sp_view(NULL, 0), count_row, &rows),
        SP_OK);
    return rows;
}

/* If a re-check splits a large group, what remains is stored as a small group, without a row for
 * each member. */
static void left_alone(struct world *w)
{
    bool large = w->options.large_from == 1;
    crawl(w, 'A', 1010);
    crawl(w, 'C', 1030);
    crawl(w, 'B', 1020);
    CU_ASSERT_EQUAL(member_rows(w), large ? 3 : 0);
    crawl(w, 'B', 9000);
    CU_ASSERT(!together(w, "AB") && !together(w, "AC"));
    CU_ASSERT_EQUAL(member_rows(w), 0);
}

TEST(fast_the_rest_of_a_split_large_group_is_stored_as_a_small_one)
{
    tell_in(SP_MODE_FAST, 0, left_alone);
}

/* A page without words represents no other page: one that redirected to it and now has content of
 * its own is compared with nothing and leaves. */
static void wordless(struct world *w)
{
    crawl_wordless(w, 'A');
    redirect(w, 'R', 'A');
    redirect(w, 'S', 'A');
    CU_ASSERT(together(w, "ARS"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'R', SP_STATUS_LOSER, 'A'));

    crawl(w, 'R', 1000);
    CU_ASSERT(together(w, "AS") && !together(w, "AR"));
    CU_ASSERT(is(w, 'R', SP_STATUS_UNIQUE, 0) && is(w, 'S', SP_STATUS_LOSER, 'A'));

    crawl_wordless(w, 'S'); /* not even similar to a page with the same text */
    CU_ASSERT(!together(w, "AS"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0) && is(w, 'S', SP_STATUS_UNIQUE, 0));
    CU_ASSERT_EQUAL(stats_of(w).compared, 0);
}

TEST(fast_a_page_without_words_represents_no_other)
{
    tell_in(SP_MODE_FAST, 0, wordless);
}

/* A group that a page leaves is split only if nothing else connects its parts. A split that a later
 * comparison undoes costs messages and statuses for every member. */
#include "story.h"

/* A, B and C resemble one another; D resembles B and C, but not A. */
static void crawl_two_bridges(struct world *w)
{
    crawl(w, 'A', 0);
    crawl(w, 'B', 10);
    crawl(w, 'C', 11);
    crawl(w, 'D', 20);
    CU_ASSERT(together(w, "ABCD"));
}

static void first_bridge_leaves(struct world *w)
{
    crawl_two_bridges(w);
    die(w, 'B');
    CU_ASSERT(together(w, "ACD"));
    CU_ASSERT_EQUAL(stats_of(w).splits, 1);
}

static void second_bridge_leaves(struct world *w)
{
    crawl_two_bridges(w);
    die(w, 'C');
    CU_ASSERT(together(w, "ABD"));
    CU_ASSERT_EQUAL(stats_of(w).splits, 1);
}

static void both_bridges_leave(struct world *w)
{
    crawl_two_bridges(w);
    die(w, 'B');
    die(w, 'C');
    CU_ASSERT(!together(w, "AD"));
    CU_ASSERT_EQUAL(stats_of(w).splits, 3);
}

TEST(the_other_bridge_holds_a_group_together)
{
    tell(first_bridge_leaves);
    tell(second_bridge_leaves);
}

TEST(a_group_without_a_bridge_is_split_once)
{
    tell(both_bridges_leave);
}

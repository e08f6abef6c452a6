/* Groups that grew or shrank across the limit in memory, written and read again. This happens all
 * the time in a crawl larger than the cache, and once at each restart. */
#include "contents/contents.h"
#include "group/members.h"
#include "story.h"

enum { MOST_SMALL = 6 }; /* the most members of a small group */

/* The texts differ by at most 6 of 100 shingles, so all are similar. F to A arrive in this order:
 * each wins when it arrives, and none of those that win later is its parent. G, which changes no
 * status, makes the group large. The group is written after each. */
static void crawl_seven(struct world *w)
{
    const char pages[] = "FEDCBAG";
    w->options.large_from = MOST_SMALL;
    for (int i = 0; i <= MOST_SMALL; i++) {
        restart(w);
        crawl(w, pages[i], (uint32_t)(pages[i] - 'A'));
    }
    restart(w);
    CU_ASSERT(together(w, "ABCDEFG"));
}

/* In a small group a member's row names its parent in the group's forest. A large group has no
 * forest, so a member leaves without changing the rows that name it. */
static void leave(struct world *w, char page, const char *others)
{
    crawl_seven(w);
    die(w, page);
    restart(w);
    crawl(w, 'G', MOST_SMALL + 1); /* reads the group */
    CU_ASSERT(together(w, others));
}

static void first_leaves(struct world *w)
{
    leave(w, 'F', "ABCDEG");
}

static void second_leaves(struct world *w)
{
    leave(w, 'E', "ABCDFG");
}

static void third_leaves(struct world *w)
{
    leave(w, 'D', "ABCEFG");
}

TEST(a_large_group_is_read_after_a_member_has_left_that_others_named)
{
    tell(first_leaves);
    tell(second_leaves);
    tell(third_leaves);
}

/* Reads a large group of the pages from B to `last`, each of which has a content of its own.
 * Returns how many signatures were read with it. */
static uint64_t loads_with_group(struct world *w, char last)
{
    struct sp_contents_stats stats;
    w->options.large_from = MOST_SMALL;
    restart(w);
    crawl_each(w, 'B', last, 0, 1);
    restart(w);
    crawl(w, 'B', 0); /* unchanged */
    CU_ASSERT_PTR_NOT_NULL(sp_group_get(w->stage, group_of(w, 'B'))->large);
    sp_contents_stats(w->stage->contents, &stats);
    return stats.loads;
}

static void few(struct world *w)
{
    CU_ASSERT(loads_with_group(w, 'I') <= MOST_SMALL);
}

static void many(struct world *w)
{
    CU_ASSERT(loads_with_group(w, 'Z') <= MOST_SMALL);
}

/* Rows of earlier versions do not say that a content has words. */
static void unmarked(struct world *w)
{
    enum { BITS = 1, WORDS = 8 };
    struct sp_buf key = {0}, value = {0};
    CU_ASSERT(loads_with_group(w, 'Z') <= MOST_SMALL);
    first_row(w, 'M', &key, &value);
    CU_ASSERT_FATAL(value.data[BITS] & WORDS);
    value.data[BITS] &= ~WORDS;
    replace_row(w, sp_buf_view(&key), sp_buf_view(&value));
    restart(w);
    crawl(w, 'C', 1);
    CU_ASSERT(together(w, "BCDEFGHIJKLMNOPQRSTUVWXYZ"));
    sp_buf_done(&key);
    sp_buf_done(&value);
}

TEST(the_signatures_of_a_large_group_are_not_read_with_it)
{
    tell(few);
    tell(many);
    tell(unmarked);
}

/* A chain of the pages from B to `last`: each resembles its neighbours only, so that every second
 * one wins. The group is read again, and its last page changes, which is held against all winners
 * in this step. Returns how many signatures were read for it. */
static uint64_t loads_for_a_search(struct world *w, char last)
{
    enum { STEP = 10 };
    struct sp_contents_stats stats;
    w->options.large_from = MOST_SMALL;
    w->options.settle_at_once = 1;
    restart(w);
    crawl_each(w, 'B', last, 0, STEP);
    restart(w);
    w->busy = true;
    crawl(w, last, (uint32_t)(last - 'B') * STEP + 1);
    w->busy = false;
    sp_contents_stats(w->stage->contents, &stats);
    return stats.loads;
}

static void search_few(struct world *w)
{
    CU_ASSERT(loads_for_a_search(w, 'M') <= 2);
    CU_ASSERT(is(w, 'M', SP_STATUS_LOSER, 'L'));
}

static void search_many(struct world *w)
{
    CU_ASSERT(loads_for_a_search(w, 'Z') <= 2);
    CU_ASSERT(is(w, 'Z', SP_STATUS_WINNER, 0));
}

TEST(a_page_is_held_against_all_winners_of_a_group_without_reading_their_signatures)
{
    tell(search_few);
    tell(search_many);
}

/* A damaged group is reported on every read, and never half loaded. */
static void damaged(struct world *w)
{
    struct sp_buf key = {0}, value = {0};
    crawl(w, 'A', 0);
    crawl(w, 'B', 1);
    struct sp_group_id group = group_of(w, 'A');
    restart(w);
    first_row(w, 'G', &key, &value);
    replace_row(w, sp_buf_view(&key), sp_view("?", 1));
    for (int times = 0; times < 2; times++)
        CU_ASSERT_PTR_NULL(sp_group_get(w->stage, group));
    CU_ASSERT_EQUAL(sp_group_stage_flush(w->stage), SP_CORRUPT);
    sp_buf_done(&key);
    sp_buf_done(&value);
}

TEST(a_group_that_cannot_be_read_is_not_read_in_part)
{
    tell(damaged);
}

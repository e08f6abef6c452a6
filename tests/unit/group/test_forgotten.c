/* Pages that are erased on request. */
#include <string.h>

#include "base/mem.h"
#include "story.h"

static void forget(struct world *w, char page)
{
    struct sp_message *m = sp_message_new(SP_MSG_ERASE);
    char url[] = "https://a.example/?";
    url[sizeof url - 2] = page;
    m->page = id_of(page);
    m->erase.url = sp_strdup(url);
    push(w, m);
    drain(w);
}

struct needle {
    const char *text;
    uint32_t found;
};

static bool look_for(void *arg, struct sp_view key, struct sp_view value)
{
    struct needle *n = arg;
    (void)key;
    n->found += memmem(value.data, value.len, n->text, strlen(n->text)) != NULL;
    return true;
}

/* The number of rows that contain its URL. */
static uint32_t rows_with(struct world *w, char page)
{
    char url[] = "https://a.example/?";
    struct needle n = {url, 0};
    url[sizeof url - 2] = page;
    CU_ASSERT_EQUAL(sp_group_stage_flush(w->stage), SP_OK);
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(w->db, 1), sp_view(NULL, 0), sp_view(NULL, 0), look_for, &n),
        SP_OK);
    return n.found;
}

static bool is_known(struct world *w, char page)
{
    return sp_page_actor_get(w->stage, id_of(page)) != NULL;
}

static void forgotten_winner(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1005);
    crawl(w, 'C', 1010);
    redirect(w, 'R', 'A');
    CU_ASSERT(rows_with(w, 'A') >= 3); /* its own row and those that name it */

    forget(w, 'A');

    CU_ASSERT(is(w, 'A', SP_STATUS_NONE, 0) && is(w, 'R', SP_STATUS_GONE, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0) && is(w, 'C', SP_STATUS_LOSER, 'B'));
    CU_ASSERT_EQUAL(rows_with(w, 'A'), 0);
    CU_ASSERT(together(w, "BC") && !together(w, "BR") && together(w, "AR"));

    w->now = 0; /* an erased page is new: a fetch of any time counts */
    crawl(w, 'A', 1000);

    CU_ASSERT(together(w, "ABCR"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0) && w->said[0].version_ms == 1);
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A') && is(w, 'R', SP_STATUS_LOSER, 'A'));
}

TEST(a_forgotten_winner_leaves_its_losers_to_the_best_of_them)
{
    tell(forgotten_winner);
}

static void forgotten_others(struct world *w)
{
    for (int page = 'A'; page < 'M'; page++)
        crawl(w, (char)page, 1000);
    redirect(w, 'R', 'B');
    redirect(w, 'S', 'R');
    crawl(w, 'X', 5000);
    w->events = 0;

    forget(w, 'C'); /* a loser */
    CU_ASSERT_EQUAL(w->events, 1);
    CU_ASSERT(is(w, 'C', SP_STATUS_NONE, 0) && !is_known(w, 'C') && rows_with(w, 'C') == 0);
    forget(w, 'S'); /* the source of a redirect */
    CU_ASSERT(!is_known(w, 'S') && rows_with(w, 'S') == 0 && together(w, "ABR"));
    forget(w, 'X'); /* the only member */
    CU_ASSERT(is(w, 'X', SP_STATUS_NONE, 0) && !is_known(w, 'X') && rows_with(w, 'X') == 0);
    forget(w, 'B'); /* the target of a redirect */
    CU_ASSERT(rows_with(w, 'B') == 0 && is(w, 'R', SP_STATUS_GONE, 0) && !together(w, "AR"));
    CU_ASSERT(together(w, "ADEFGHIJKL") && is(w, 'D', SP_STATUS_LOSER, 'A'));
    forget(w, 'C');
    forget(w, 'Y');
    forget(w, 'B');
    CU_ASSERT_EQUAL(stats_of(w).erased, 4);
    CU_ASSERT_EQUAL(stats_of(w).erased_unknown, 3);

    for (int page = 'A'; page < 'M'; page++)
        forget(w, (char)page);
    forget(w, 'R');
    for (int page = 'A'; page < 'S'; page++)
        CU_ASSERT_EQUAL(rows_with(w, (char)page), 0);
    crawl(w, 'C', 1000);
    crawl(w, 'D', 1000);
    CU_ASSERT(is(w, 'C', SP_STATUS_WINNER, 0) && is(w, 'D', SP_STATUS_LOSER, 'C'));
}

TEST(losers_redirects_targets_and_last_members_are_forgotten)
{
    tell(forgotten_others);
}

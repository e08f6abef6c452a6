/* A result of the contain stage is part of the page's status while the page is kept. */
#include <string.h>

#include "story.h"

static void say(struct world *w, char page, const char *url, float containment)
{
    CU_ASSERT_EQUAL(sp_group_stage_contained(w->stage, id_of(page), url, containment), SP_OK);
    drain(w);
}

static void kept_and_lost(struct world *w)
{
    crawl(w, 'A', 0);
    crawl(w, 'B', 5); /* B is a loser of A */
    crawl(w, 'C', 1000);
    CU_ASSERT_TRUE(is(w, 'A', SP_STATUS_WINNER, 0) && is(w, 'B', SP_STATUS_LOSER, 'A'));
    uint32_t events = w->events;
    say(w, 'A', "https://whole.example/", 0.95f);
    CU_ASSERT_EQUAL(w->events, events + 1);
    CU_ASSERT_EQUAL(w->said['A' - 'A'].containment, 0.95f);
    say(w, 'A', "https://whole.example/", 0.95f); /* repeated, so not published */
    CU_ASSERT_EQUAL(w->events, events + 1);
    say(w, 'B', "https://whole.example/", 0.9f); /* a loser has no container */
    CU_ASSERT_EQUAL(w->events, events + 1);
    say(w, 'C', "https://whole.example/", 0.92f);
    CU_ASSERT_EQUAL(w->events, events + 2);
    CU_ASSERT_EQUAL(w->said['C' - 'A'].containment, 0.92f);
    say(w, 'C', NULL, 0);
    CU_ASSERT_EQUAL(w->events, events + 3);
    CU_ASSERT_EQUAL(w->said['C' - 'A'].containment, 0);
    say(w, 'Z', "https://whole.example/", 1); /* an unknown page */
    CU_ASSERT_EQUAL(w->events, events + 3);
}

TEST(what_contains_a_page_is_published_while_the_page_is_kept)
{
    tell(kept_and_lost);
}

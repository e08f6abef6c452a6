/* Fetches that found known content without transferring it: revisits in archives, HTTP 304. */
#include "base/mem.h"
#include "story.h"

/* `as_of`: when the crawler had seen the content before; 0: unknown. */
static void again(struct world *w, char page, int64_t as_of)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    char url[] = "https://a.example/?";
    url[sizeof url - 2] = page;
    m->page = id_of(page);
    m->crawled.version = ++w->now;
    m->crawled.as_of = as_of;
    m->crawled.url = sp_strdup(url);
    push(w, m);
    drain(w);
}

static void found_again(struct world *w)
{
    w->now = 5000000;
    crawl(w, 'A', 0);
    again(w, 'A', 0);
    CU_ASSERT_EQUAL(stats_of(w).again_unknown, 0);
    CU_ASSERT_EQUAL(w->said['A' - 'A'].version_ms, w->now);
    again(w, 'A', 5000000); /* the time at which the page was fetched */
    CU_ASSERT_EQUAL(stats_of(w).again_unknown, 0);
    again(w, 'A', 4000000); /* before the first fetch */
    CU_ASSERT_EQUAL(stats_of(w).again_unknown, 1);
    again(w, 'A', SP_AS_ELSEWHERE);
    CU_ASSERT_EQUAL(stats_of(w).again_unknown, 2);
    again(w, 'B', 0); /* never fetched */
    CU_ASSERT_EQUAL(stats_of(w).again_unknown, 3);
    die(w, 'A');
    again(w, 'A', 0);
    CU_ASSERT_EQUAL(stats_of(w).again_unknown, 4);
}

TEST(a_content_is_found_again_where_the_page_has_it)
{
    tell(found_again);
}

/* ---- late fetches */

static bool is_late(struct world *w, char page, int64_t version)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    m->page = id_of(page);
    m->crawled.page_kind = SP_PAGE_DEAD;
    m->crawled.version = version;
    bool late = sp_group_stage_is_late(w->stage, m);
    sp_message_free(m);
    return late;
}

static void late(struct world *w)
{
    crawl(w, 'A', 0);
    crawl(w, 'A', 5000);
    int64_t last = w->now;
    CU_ASSERT_TRUE(is_late(w, 'A', last - 1));
    CU_ASSERT_FALSE(is_late(w, 'A', last)); /* another fetch at the same time */
    CU_ASSERT_FALSE(is_late(w, 'A', last + 1));
    CU_ASSERT_FALSE(is_late(w, 'A', 0)); /* without a time */
    CU_ASSERT_FALSE(is_late(w, 'B', last - 1));
}

TEST(a_fetch_is_late_if_a_newer_one_of_its_page_is_known)
{
    tell(late);
}

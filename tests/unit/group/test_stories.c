/* The cases of Zhu et al. (WWW 2012, section 3) as stories: pages are fetched one after another,
 * and after each fetch, when no message is under way, the groups and statuses are those of the
 * paper.
 *
 * A text is a range of shingles, so that similarity can be read off: of 0 to 99 and 10 to 109, 90
 * of 110 shingles are common (J = 0.82), of 0 to 99 and 20 to 119 only 80 of 120 (J = 0.67). The
 * cell is the simplest possible: it keeps every page's signature and compares it with all others.
 *
 * Each story is told twice: with groups that compare their members, and with groups that are
 * handled by content from two members on. Nothing in it may depend on that.
 *
 * In the stories of mode fast (section 5) the cell tells nothing of a page that tier 1 has settled,
 * as if all that it resembles were in other cells. */
#include "base/mem.h"
#include "group/page_actor.h"
#include "group/stage.h"
#include "harness.h"

enum { PAGES = 26, SHINGLES = 100 };

struct text {
    uint32_t from;   /* the first of its shingles */
    int64_t version; /* 0: the page is not in the cell */
};

struct world {
    struct sp_db *db;
    struct sp_group_stage *stage;
    struct sp_similarity_options similarity;
    struct sp_partition_map map;
    struct sp_message *first, **last;
    int64_t now;
    struct text cell[PAGES];
    struct sp_status_event said[PAGES]; /* the last status of each page; winner_url is not kept */
    char winner[PAGES];                 /* of it; 0: none */
    uint32_t events;
    uint32_t asked;   /* puts that are not settled */
    uint32_t settled; /* and those that are */
    struct sp_group_stage_options options;
};

static struct sp_id id_of(char page)
{
    return (struct sp_id){0, (uint64_t)page};
}

static struct sp_signature *signature(uint32_t from)
{
    struct sp_signature *s = sp_signature_alloc(SHINGLES, 0);
    s->params = 1;
    s->content_hash = (struct sp_id){1, from};
    s->length[0] = s->shingle_total = SHINGLES;
    s->length[1] = s->length[2] = 0;
    s->language = 0;
    for (uint32_t i = 0; i < SHINGLES; i++)
        s->hashes[i] = (from + i) * 1000;
    return s;
}

/* ---- the bus and the cell ---- */

static void push(struct world *w, struct sp_message *m)
{
    m->next = NULL;
    *w->last = m;
    w->last = &m->next;
}

/* What resembles the page among those in the cell, as one match. */
static void find_edges(struct world *w, struct sp_id page, int64_t version, uint32_t from)
{
    struct sp_message *m = sp_message_new(SP_MSG_MATCH);
    struct sp_signature *mine = signature(from);
    m->page = page;
    m->link.content_version = version;
    m->link.edges = sp_calloc(PAGES, sizeof *m->link.edges);
    for (uint32_t i = 0; i < PAGES; i++) {
        if (!w->cell[i].version || 'A' + i == page.lo)
            continue;
        struct sp_signature *other = signature(w->cell[i].from);
        if (sp_similar(&w->similarity, mine, other, NULL))
            m->link.edges[m->link.edge_count++] =
                (struct sp_edge){id_of((char)('A' + i)), w->cell[i].version};
        sp_signature_unref(other);
    }
    sp_signature_unref(mine);
    if (m->link.edge_count)
        push(w, m);
    else
        sp_message_free(m);
}

static void on_send(void *arg, struct sp_message *m)
{
    struct world *w = arg;
    struct text *row = sp_message_tier(m) == SP_TIER_2 ? &w->cell[m->page.lo - 'A'] : NULL;
    if (!row) {
        push(w, m);
        return;
    }
    CU_ASSERT_FATAL(m->kind == SP_MSG_PUT || m->kind == SP_MSG_REMOVE);
    *row = (struct text){0};
    if (m->kind == SP_MSG_PUT) {
        uint32_t from = m->put.signature->hashes[0] / 1000;
        *row = (struct text){from, m->put.content_version};
        if (m->put.settled)
            w->settled++;
        else
            w->asked++;
        if (!m->put.settled)
            find_edges(w, m->page, m->put.content_version, from);
    }
    sp_message_free(m);
}

static void on_publish(void *arg, const struct sp_status_event *event)
{
    struct world *w = arg;
    uint64_t i = event->page.lo - 'A';
    w->said[i] = *event;
    w->winner[i] = event->winner_url ? event->winner_url[strlen("https://a.example/")] : '\0';
    w->events++;
}

static void drain(struct world *w)
{
    do
        while (w->first) {
            struct sp_message *m = w->first;
            w->first = m->next;
            if (!w->first)
                w->last = &w->first;
            CU_ASSERT_EQUAL_FATAL(sp_group_stage_step(w->stage, m), SP_OK);
        }
    while (sp_group_stage_work(w->stage, 100) || w->first);
}

/* ---- what a story is made of ---- */

static void start(struct world *w)
{
    struct sp_outbox outbox = {on_send, on_publish, w};
    w->stage = sp_group_stage_new(&w->options, sp_db_store(w->db, 1), &outbox);
}

static void restart(struct world *w)
{
    CU_ASSERT_EQUAL_FATAL(sp_group_stage_flush(w->stage), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_db_commit(w->db), SP_OK);
    sp_group_stage_free(w->stage);
    start(w);
}

static void begin(struct world *w, uint32_t large_from, enum sp_mode mode, double recheck_share)
{
    *w = (struct world){.db = sp_db_open_memory(), .similarity = {.threshold = 0.8}};
    w->last = &w->first;
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(1, &w->map), SP_OK);
    w->options = (struct sp_group_stage_options){.similarity = w->similarity,
                                                 .maps = {&w->map, NULL},
                                                 .mode = mode,
                                                 .fast_recheck_share = recheck_share,
                                                 .large_from = large_from,
                                                 .cache_bytes = 1 << 20};
    start(w);
}

static void end(struct world *w)
{
    sp_group_stage_free(w->stage);
    sp_partition_done(&w->map);
    sp_db_close(w->db);
}

static void fetch(struct world *w, char page, enum sp_page_kind kind, uint32_t from, char target)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    struct sp_crawled *c = &m->crawled;
    char url[] = "https://a.example/?";
    url[sizeof url - 2] = page;
    m->page = id_of(page);
    c->version = ++w->now;
    c->page_kind = kind;
    c->url = sp_strdup(url);
    c->rank.popularity = 'Z' - page; /* A ranks before B, and so on */
    c->rank.url_bytes = sizeof url - 1;
    if (kind == SP_PAGE_CONTENT)
        c->signature = signature(from);
    if (kind == SP_PAGE_REDIRECT) {
        url[sizeof url - 2] = target;
        c->target_url = sp_strdup(url);
        c->target = id_of(target);
    }
    push(w, m);
    drain(w);
}

static void crawl(struct world *w, char page, uint32_t from)
{
    fetch(w, page, SP_PAGE_CONTENT, from, 0);
}

static void redirect(struct world *w, char page, char target)
{
    fetch(w, page, SP_PAGE_REDIRECT, 0, target);
}

static void die(struct world *w, char page)
{
    fetch(w, page, SP_PAGE_DEAD, 0, 0);
}

static struct sp_group_id group_of(struct world *w, char page)
{
    struct sp_page_actor *p = sp_page_actor_get(w->stage, id_of(page));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    return p->group;
}

static bool together(struct world *w, const char *pages)
{
    for (const char *p = pages + 1; *p; p++)
        if (!sp_group_id_eq(group_of(w, *p), group_of(w, *pages)))
            return false;
    return true;
}

static bool is(const struct world *w, char page, enum sp_page_status status, char winner)
{
    return w->said[page - 'A'].status == status && w->winner[page - 'A'] == winner;
}

static uint64_t rechecks(const struct world *w)
{
    struct sp_group_stage_stats stats;
    sp_group_stage_stats(w->stage, &stats);
    return stats.rechecks;
}

static void tell_in(enum sp_mode mode, double recheck_share, void (*story)(struct world *w))
{
    const uint32_t large_from[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        begin(&w, large_from[i], mode, recheck_share);
        story(&w);
        end(&w);
    }
}

static void tell(void (*story)(struct world *w))
{
    tell_in(SP_MODE_EXACT, 0, story);
}

/* ---- the stories ---- */

/* Case 1: the new content still resembles the group. The page stays, and only its own status is
 * published. */
static void case_1(struct world *w)
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

TEST(case_1_a_page_that_still_resembles_its_group_stays)
{
    tell(case_1);
}

/* Case 2: the new content resembles nothing in the group. The page leaves, and what redirects to it
 * comes along. */
static void case_2(struct world *w)
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

TEST(case_2_a_page_that_resembles_its_group_no_more_leaves_with_its_redirects)
{
    tell(case_2);
}

/* Case 3: the new content resembles another group. The page leaves the one and joins the other. */
static void case_3(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1000);
    crawl(w, 'C', 5000);
    crawl(w, 'D', 5005);
    CU_ASSERT(together(w, "AB") && together(w, "CD") && !together(w, "AC"));

    crawl(w, 'B', 5010);

    CU_ASSERT(together(w, "BCD") && !together(w, "AB"));
    CU_ASSERT(is(w, 'A', SP_STATUS_UNIQUE, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0)); /* it ranks before C and D */
    CU_ASSERT(is(w, 'C', SP_STATUS_LOSER, 'B'));
    CU_ASSERT(is(w, 'D', SP_STATUS_LOSER, 'B'));
}

TEST(case_3_a_page_that_resembles_another_group_joins_it)
{
    tell(case_3);
}

/* The winner dies. Its losers resemble one another: the best of them takes over. */
static void winners_death(struct world *w)
{
    crawl(w, 'A', 1000);
    crawl(w, 'B', 1005);
    crawl(w, 'C', 1010);
    redirect(w, 'R', 'A');
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A') && is(w, 'C', SP_STATUS_LOSER, 'A'));

    die(w, 'A');

    CU_ASSERT(is(w, 'A', SP_STATUS_GONE, 0));
    CU_ASSERT(is(w, 'R', SP_STATUS_GONE, 0)); /* it leads to no content any more */
    CU_ASSERT(together(w, "BC") && !together(w, "AB"));
    CU_ASSERT(is(w, 'B', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'C', SP_STATUS_LOSER, 'B'));

    crawl(w, 'A', 1000); /* and comes back */

    CU_ASSERT(together(w, "ABCR"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A') && is(w, 'C', SP_STATUS_LOSER, 'A'));
    CU_ASSERT(is(w, 'R', SP_STATUS_LOSER, 'A'));
}

TEST(when_the_winner_dies_the_best_of_its_losers_takes_over)
{
    tell(winners_death);
}

/* A redirect that moves leaves the group of its old target for that of the new one, which may not
 * have been fetched yet. */
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

/* B and C resemble one another, A and B as well, A and C do not: one group by way of B. Without B
 * it falls apart, and with it comes together again. */
static void split_and_merge(struct world *w)
{
    crawl(w, 'A', 1010);
    crawl(w, 'C', 1030);
    CU_ASSERT(!together(w, "AC"));
    crawl(w, 'B', 1020);
    CU_ASSERT(together(w, "ABC"));
    CU_ASSERT(is(w, 'A', SP_STATUS_WINNER, 0));
    CU_ASSERT(is(w, 'B', SP_STATUS_LOSER, 'A'));
    CU_ASSERT(is(w, 'C', SP_STATUS_WINNER, 0)); /* it resembles no winner before it */
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

/* ---- mode fast ---- */

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

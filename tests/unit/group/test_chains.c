/* Pages that arrive at once, each similar to the one before or redirecting to it: as many merges as
 * pages run concurrently. The number of messages must not be quadratic. And a page that is erased
 * while many redirect to it. */
#include "base/mem.h"
#include "group/page_actor.h"
#include "harness.h"
#include "made_up.h"

enum { SHINGLES = 16, LEAST = 500 };

enum kind { EQUAL, REDIRECT_BACK, REDIRECT_ON, REDIRECT_FIRST };

struct world {
    struct sp_db *db;
    struct sp_partition_map map;
    struct sp_group_stage *stage;
    struct sp_message *first; /* the message queue */
    struct sp_message **last;
    uint64_t steps;
    uint32_t sent;      /* messages of the present step */
    uint32_t most_sent; /* of one step */
};

static struct sp_id page_id(uint32_t page)
{
    return (struct sp_id){sp_mix64(page + 1), sp_mix64(page + 2)};
}

static void push(struct world *w, struct sp_message *m)
{
    m->next = NULL;
    *w->last = m;
    w->last = &m->next;
}

static void on_send(void *arg, struct sp_message *m)
{
    struct world *w = arg;
    if (++w->sent > w->most_sent)
        w->most_sent = w->sent;
    if (sp_message_tier(m) == SP_TIER_1)
        push(w, m);
    else
        sp_message_free(m);
}

static void on_publish(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
}

static void drain(struct world *w)
{
    do
        while (w->first) {
            struct sp_message *m = w->first;
            w->first = m->next;
            if (!w->first)
                w->last = &w->first;
            w->steps++;
            w->sent = 0;
            CU_ASSERT_EQUAL_FATAL(sp_group_stage_step(w->stage, m), SP_OK);
        }
    while (w->sent = 0, sp_group_stage_work(w->stage, 100) || w->first);
}

static struct sp_signature *signature(void)
{
    return made_up_range((struct sp_id){1, 2}, 0, SHINGLES);
}

static char *url_of(uint32_t page)
{
    char url[64];
    snprintf(url, sizeof url, "https://a.example/%u", page);
    return sp_strdup(url);
}

static void crawl(struct world *w, uint32_t page, enum kind kind)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    struct sp_crawled *c = &m->crawled;
    uint32_t target = kind == REDIRECT_ON ? page + 1 : kind == REDIRECT_FIRST ? 0 : page - 1;
    m->page = page_id(page);
    c->version = 1;
    c->url = url_of(page);
    c->page_kind = kind == EQUAL || page == 0 ? SP_PAGE_CONTENT : SP_PAGE_REDIRECT;
    if (c->page_kind == SP_PAGE_CONTENT) {
        c->signature = signature();
    } else {
        c->target_url = url_of(target);
        c->target = page_id(target);
    }
    push(w, m);
}

/* What a cell reports for pages of equal content: an edge to the page before. */
static void match(struct world *w, uint32_t page)
{
    struct sp_message *m = sp_message_new(SP_MSG_MATCH);
    m->page = page_id(page);
    m->link.content_version = 1;
    m->link.edges = sp_calloc(1, sizeof *m->link.edges);
    m->link.edges[0] = (struct sp_edge){page_id(page - 1), 1};
    m->link.edge_count = 1;
    push(w, m);
}

static struct sp_group_id group_of(const struct world *w, uint32_t page)
{
    const struct sp_page_actor *p = sp_page_actor_get(w->stage, page_id(page));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    return p->group;
}

/* `relation`: winner.relation, or NULL. */
static void open_world(struct world *w, const struct sp_relation *relation)
{
    struct sp_group_stage_options options = {.similarity = {.threshold = 0.8},
                                             .mode = SP_MODE_EXACT,
                                             .maps = {.now = &w->map},
                                             .winner_relation = relation,
                                             .cache_bytes = 1 << 20};
    struct sp_outbox outbox = {on_send, on_publish, w};
    w->last = &w->first;
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(1, &w->map), SP_OK);
    w->stage = sp_group_stage_new(&options, sp_db_store(w->db, 1), &outbox);
}

static void close_world(struct world *w)
{
    sp_group_stage_free(w->stage);
    sp_partition_done(&w->map);
    sp_db_close(w->db);
}

/* Messages a page until all pages are in one group. */
static double steps_a_page(enum kind kind, uint32_t pages)
{
    struct world w = {.db = sp_db_open_memory()};
    open_world(&w, NULL);
    for (uint32_t page = 0; page < pages; page++)
        crawl(&w, page, kind);
    if (kind == EQUAL) {
        drain(&w);
        for (uint32_t page = 1; page < pages; page++)
            match(&w, page);
    }
    drain(&w);
    uint32_t first = kind == REDIRECT_ON;
    for (uint32_t page = first + 1; page < pages; page++)
        CU_ASSERT(sp_group_id_eq(group_of(&w, page), group_of(&w, first)));
    close_world(&w);
    printf("    kind %d, %u pages: %.1f messages a page\n", kind, pages, (double)w.steps / pages);
    return (double)w.steps / pages;
}

static void check(enum kind kind)
{
    double few = steps_a_page(kind, LEAST), many = steps_a_page(kind, 4 * LEAST);
    CU_ASSERT(many < 1.5 * few); /* logarithmic growth: a factor of 1.3 for four times the pages */
    CU_ASSERT(many < 80);
}

/* What it costs to take in a member of a group that moves as a whole: half of a chain of pages, in
 * groups under winner.relation, which are handled like small ones whatever their size. */
static double taking_a_member(uint32_t pages)
{
    struct world w = {.db = sp_db_open_memory()};
    struct sp_relation *relation = NULL;
    struct sp_fault fault;
    CU_ASSERT_EQUAL_FATAL(
        sp_winner_relation_parse("a.url != b.url", SP_METHOD_SHINGLES, &relation, &fault), SP_OK);
    open_world(&w, relation);
    for (uint32_t page = 0; page < pages; page++)
        crawl(&w, page, EQUAL);
    drain(&w);
    for (uint32_t page = 1; page < pages; page++)
        if (page != pages / 2)
            match(&w, page);
    drain(&w);
    struct sp_group_stage_stats before, after;
    sp_group_stage_stats(w.stage, &before);
    match(&w, pages / 2);
    drain(&w);
    sp_group_stage_stats(w.stage, &after);
    CU_ASSERT(sp_group_id_eq(group_of(&w, 0), group_of(&w, pages - 1)));
    close_world(&w);
    sp_relation_free(relation);
    return (double)(after.taking - before.taking) / (pages / 2);
}

TEST(a_member_that_moves_with_many_others_is_taken_in_at_the_same_cost)
{
    enum { FEW = 100 };
    double few = taking_a_member(FEW), many = taking_a_member(4 * FEW);
    printf("    taking in one of %d members: %.1f, of %d: %.1f\n", FEW / 2, few, 2 * FEW, many);
    CU_ASSERT(few > 1 && many < 1.2 * few);
}

/* The most messages of a step that follows from the erasure of a page to which all others redirect;
 * all of them have redirected before. */
static uint32_t most_sent_for_an_erased_target(uint32_t pages)
{
    struct world w = {.db = sp_db_open_memory()};
    open_world(&w, NULL);
    for (uint32_t page = 0; page < pages; page++)
        crawl(&w, page, REDIRECT_FIRST);
    drain(&w);
    struct sp_message *m = sp_message_new(SP_MSG_ERASE);
    m->page = page_id(0);
    m->erase.url = url_of(0);
    push(&w, m);
    w.steps = w.most_sent = 0;
    drain(&w);
    CU_ASSERT(sp_group_id_eq(group_of(&w, 1), group_of(&w, pages - 1)));
    printf("    %u redirects: %.1f messages a page, %u at most in a step\n", pages - 1,
           (double)w.steps / pages, w.most_sent);
    close_world(&w);
    return w.most_sent;
}

TEST(a_step_sends_as_many_messages_when_four_times_as_many_redirect_to_an_erased_page)
{
    uint32_t few = most_sent_for_an_erased_target(LEAST);
    CU_ASSERT(few > 0 && most_sent_for_an_erased_target(4 * LEAST) <= few);
}

TEST(equal_pages_that_come_at_once_are_merged_in_few_messages)
{
    check(EQUAL);
}

TEST(redirects_to_the_page_before_that_come_at_once_are_merged_in_few_messages)
{
    check(REDIRECT_BACK);
}

TEST(redirects_to_the_page_after_that_come_at_once_are_merged_in_few_messages)
{
    check(REDIRECT_ON);
}

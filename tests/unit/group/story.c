/* See story.h. */
#include "story.h"

#include "base/mem.h"
#include "made_up.h"

struct sp_id id_of(char page)
{
    return (struct sp_id){0, (uint64_t)page};
}

static const uint32_t NO_WORDS = UINT32_MAX; /* as the first shingle of a text without words */

static struct sp_signature *signature(uint32_t from)
{
    uint32_t count = from == NO_WORDS ? 0 : SHINGLES;
    return made_up_range((struct sp_id){1, from}, from, count);
}

/* ---- the bus and the cell ---- */

void push(struct world *w, struct sp_message *m)
{
    m->next = NULL;
    *w->last = m;
    w->last = &m->next;
}

/* Sends one match with an edge to every page in the cell that resembles this one. */
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
        const struct sp_signature *s = m->put.signature;
        uint32_t from = s->shingle_count ? s->hashes[0] / 1000 : NO_WORDS;
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

void drain(struct world *w)
{
    enum { ENDLESS = 100000 };
    uint32_t steps = 0;
    do
        while (w->first) {
            struct sp_message *m = w->first;
            w->first = m->next;
            if (!w->first)
                w->last = &w->first;
            CU_ASSERT_FATAL(steps++ < ENDLESS);
            CU_ASSERT_EQUAL_FATAL(sp_group_stage_step(w->stage, m), SP_OK);
        }
    while ((!w->busy && sp_group_stage_work(w->stage, 100)) || w->first);
}

/* ---- steps of a story ---- */

static void start(struct world *w)
{
    struct sp_outbox outbox = {on_send, on_publish, w};
    w->stage = sp_group_stage_new(&w->options, sp_db_store(w->db, 1), &outbox);
}

struct row {
    struct sp_buf *key;
    struct sp_buf *value;
};

static bool take_row(void *arg, struct sp_view key, struct sp_view value)
{
    const struct row *row = arg;
    sp_buf_put(row->key, key.data, key.len);
    sp_buf_put(row->value, value.data, value.len);
    return false; /* stops at the first */
}

void first_row(struct world *w, char kind, struct sp_buf *key, struct sp_buf *value)
{
    struct row row = {key, value};
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(w->db, 1), sp_view(&kind, 1), sp_view(NULL, 0), take_row, &row),
        SP_OK);
    CU_ASSERT_FATAL(key->len > 1);
}

void replace_row(struct world *w, struct sp_view key, struct sp_view value)
{
    sp_store_put(sp_db_store(w->db, 1), key, value);
    CU_ASSERT_EQUAL_FATAL(sp_db_commit(w->db), SP_OK);
}

void restart(struct world *w)
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
                                                 .maps = {.now = &w->map},
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

static char *respell(const char *url, int64_t version)
{
    char spelled[64];
    snprintf(spelled, sizeof spelled, "%s#%lld", url, (long long)version);
    return sp_strdup(spelled);
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
    c->url = w->respelled ? respell(url, c->version) : sp_strdup(url);
    c->rank.popularity = 'Z' - page + w->favour; /* A ranks before B, and so on */
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

void crawl(struct world *w, char page, uint32_t from)
{
    fetch(w, page, SP_PAGE_CONTENT, from, 0);
}

void crawl_each(struct world *w, char first, char last, uint32_t from, uint32_t step)
{
    for (char page = first; page <= last; page++, from += step)
        crawl(w, page, from);
}

void crawl_wordless(struct world *w, char page)
{
    fetch(w, page, SP_PAGE_CONTENT, NO_WORDS, 0);
}

void crawl_favoured(struct world *w, char page, uint32_t from, double favour)
{
    w->favour = favour;
    crawl(w, page, from);
    w->favour = 0;
}

void crawl_respelled(struct world *w, char page, uint32_t from)
{
    w->respelled = true;
    crawl(w, page, from);
    w->respelled = false;
}

void redirect(struct world *w, char page, char target)
{
    fetch(w, page, SP_PAGE_REDIRECT, 0, target);
}

void die(struct world *w, char page)
{
    fetch(w, page, SP_PAGE_DEAD, 0, 0);
}

struct sp_group_id group_of(struct world *w, char page)
{
    struct sp_page_actor *p = sp_page_actor_get(w->stage, id_of(page));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    return p ? p->group : (struct sp_group_id){0};
}

bool together(struct world *w, const char *pages)
{
    for (const char *p = pages + 1; *p; p++)
        if (!sp_group_id_eq(group_of(w, *p), group_of(w, *pages)))
            return false;
    return true;
}

bool is(const struct world *w, char page, enum sp_page_status status, char winner)
{
    return w->said[page - 'A'].status == status && w->winner[page - 'A'] == winner;
}

struct sp_group_stage_stats stats_of(const struct world *w)
{
    struct sp_group_stage_stats stats;
    sp_group_stage_stats(w->stage, &stats);
    return stats;
}

void tell_in(enum sp_mode mode, double recheck_share, void (*story)(struct world *w))
{
    const uint32_t large_from[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        begin(&w, large_from[i], mode, recheck_share);
        story(&w);
        end(&w);
    }
}

void tell(void (*story)(struct world *w))
{
    tell_in(SP_MODE_EXACT, 0, story);
}

void tell_in_both_modes(void (*story)(struct world *w))
{
    tell(story);
    tell_in(SP_MODE_FAST, 0, story);
}

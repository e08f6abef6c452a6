/* A random crawl under random interleavings. Each channel between partitions is FIFO, as in Kafka,
 * and there is no order across channels. Each partition works in transactions that commit (state,
 * consumed messages, sent messages and published statuses together) or crash, which loses all of
 * them and rebuilds the stage from its store. Some caches have size 0, so that everything is read
 * back from the store. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/mem.h"
#include "big.h"
#include "cells.h"
#include "hostile.h"
#include "message.h"
#include "pages.h"
#include "state.h"

/* ---- the bus --------------------------------------------------------------------------------- */

static uint32_t destination(const struct world *w, const struct sp_message *m)
{
    if (sp_message_tier(m) == SP_TIER_2)
        return w->o.tier1 + sp_maps_machine(&w->compare.maps, sp_message_cell(m)) % w->o.tier2;
    return (uint32_t)(sp_message_home(m).lo % w->o.tier1);
}

static void on_send(void *arg, struct sp_message *m)
{
    struct process *p = arg;
    queue_push(&p->world->sent, m);
}

uint32_t sim_page_number(const struct world *w, struct sp_id id)
{
    for (uint32_t i = 0; i < w->pages; i++)
        if (sp_id_eq(sim_page_id(i), id))
            return i;
    SP_ASSERT(!"a page of this crawl");
    return 0;
}

/* Fetches of a page may differ in the fragment of its URL. */
static bool is_spelling(const char *url, const char *canonical)
{
    size_t length = strlen(canonical);
    return strncmp(url, canonical, length) == 0 && (!url[length] || url[length] == '#');
}

static void on_publish(void *arg, const struct sp_status_event *e)
{
    struct world *w = ((struct process *)arg)->world;
    if (w->o.hostile) /* about any page */
        return;
    uint32_t page = sim_page_number(w, e->page);
    int32_t winner = -1;
    for (uint32_t i = 0; e->winner_url && i < w->pages; i++)
        if (is_spelling(e->winner_url, sim_url(i)))
            winner = (int32_t)i;
    if (e->status == SP_STATUS_NONE)
        w->saying[page] = (struct published){.winner = -1}; /* deleted */
    else
        w->saying[page] = (struct published){e->status,     e->reason,     winner,  e->similarity,
                                             e->version_ms, e->group_size, e->group};
    w->says[page] = true;
    if (w->o.trace)
        printf("      publishes %u@%lld: %s winner %d group %llu\n", page, (long long)e->version_ms,
               sp_status_name(e->status), winner, (unsigned long long)e->group.birth);
}

static void start(struct process *p)
{
    struct world *w = p->world;
    p->stale = false;
    p->outbox = (struct sp_outbox){on_send, on_publish, p};
    struct sp_store *store = sp_db_store(p->db, 0);
    if (p->tier == SP_TIER_1) {
        p->group = sp_group_stage_new(&w->group, store, &p->outbox);
    } else {
        p->compare = sp_compare_stage_new(&w->compare, store, &p->outbox);
        enum sp_err err = sp_compare_stage_load(p->compare);
        SP_ASSERT(err == SP_OK);
    }
}

static void stop(struct process *p)
{
    struct sp_group_stage_stats stats = {0};
    if (p->group)
        sp_group_stage_stats(p->group, &stats);
    p->world->result.moves += stats.moves;
    sp_group_stage_free(p->group);
    sp_compare_stage_free(p->compare);
    p->group = NULL;
    p->compare = NULL;
}

static void print_step(const struct process *p, const struct sp_message *m)
{
    printf("  t%d/%u ", p->tier + 1, p->number);
    message_print(m);
}

static struct queue *some_channel(struct world *w, struct process *p)
{
    struct queue *ready[CHANNELS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < CHANNELS; i++)
        if (p->in[i].first)
            ready[count++] = &p->in[i];
    return count ? ready[rnd_below(&w->rnd, count)] : NULL;
}

void sim_fail(struct world *w, const char *why)
{
    if (w->result.ok)
        snprintf(w->result.why, sizeof w->result.why, "%s", why);
    w->result.ok = false;
}

/* Mode fast settles a version only if it resembles the former content of the group's
 * representative, which must be some other fetch, possibly of another page and with a later
 * version. */
static void check_settled(struct world *w, const struct sp_message *m)
{
    if (w->o.mode != SP_MODE_FAST || m->kind != SP_MSG_PUT || !m->put.settled)
        return;
    for (int64_t i = 0; i < (int64_t)w->result.events; i++)
        if (w->crawled[i] && i + 1 != m->put.content_version &&
            sp_similar(&w->group.similarity, w->crawled[i], m->put.signature, NULL))
            return;
    sim_fail(w, "a version is settled that resembles nothing else");
}

/* Returns false if the message is for a process with newer maps. */
static bool step(struct world *w, struct process *p, struct sp_message *m)
{
    if (w->o.trace)
        print_step(p, m);
    if (!w->o.hostile) {
        check_settled(w, m);
        sim_check_alone(w, m);
    }
    enum sp_err err;
    if (p->tier == SP_TIER_1) {
        err = sp_group_stage_step(p->group, m);
    } else {
        err = sp_compare_stage_step(p->compare, m);
        if (err == SP_OTHER_MAP && p->stale && w->sets_aside && !rnd_chance(&w->rnd, 5)) {
            queue_push(&p->setting_aside, m);
            return true;
        }
        sp_message_free(m);
    }
    w->result.messages++;
    if (err == SP_OTHER_MAP && p->stale)
        return false;
    if (w->o.hostile && (err == SP_MALFORMED || err == SP_OTHER_MAP))
        return true; /* a dead letter, or the end of a process, which tells why */
    if (err != SP_OK)
        sim_fail(w, sp_err_text(err));
    return true;
}

/* What was put aside comes before all other messages (kafka/aside.h). */
static void take_aside(struct world *w, struct process *p)
{
    for (const struct sp_message *m = p->aside.first; m && w->result.ok; m = m->next)
        if (!step(w, p, message_copy(m)))
            sim_fail(w, "a message that was put aside still waits for a map");
    p->took_aside = true;
}

static void commit_aside(struct process *p)
{
    if (p->took_aside)
        queue_clear(&p->aside);
    p->took_aside = false;
    for (struct sp_message *m; (m = queue_pop(&p->setting_aside));)
        queue_push(&p->aside, m);
}

static void commit(struct world *w, struct process *p)
{
    enum sp_err err =
        p->tier == SP_TIER_1 ? sp_group_stage_flush(p->group) : sp_compare_stage_flush(p->compare);
    if (err == SP_OK)
        err = sp_db_commit(p->db);
    if (err != SP_OK)
        sim_fail(w, sp_err_text(err));
    commit_aside(p);
    struct sp_message *m;
    uint32_t from = (uint32_t)(p - w->processes);
    while ((m = queue_pop(&w->sent))) {
        if (w->o.hostile)
            sim_disturb(w, m);
        else if (w->o.big)
            sim_big_note(w, m);
        queue_push(&w->processes[destination(w, m)].in[from], m);
    }
    while ((m = queue_pop(&w->foreign)))
        queue_push(&w->processes[destination(w, m)].in[from], m);
    for (uint32_t i = 0; i < w->pages; i++)
        if (w->says[i])
            w->said[i] = w->saying[i];
    sim_alone_commit(w);
}

/* Aborts the transaction: its input is restored, and nothing was sent or published. A restarted
 * process has the newest maps. */
static void crash(struct world *w, struct process *p)
{
    if (w->o.trace)
        printf("  t%d/%u starts again\n", p->tier + 1, p->number);
    queue_clear(&w->sent);
    queue_clear(&p->setting_aside);
    p->took_aside = false;
    sim_alone_abort(w);
    stop(p);
    sp_db_discard(p->db);
    start(p);
    w->result.crashes++;
}

static struct sp_message *take_sent(struct world *w, uint32_t to)
{
    struct queue rest = {0};
    struct sp_message *m, *found = NULL;
    while ((m = queue_pop(&w->sent)))
        if (!found && destination(w, m) == to)
            found = m;
        else
            queue_push(&rest, m);
    w->sent = rest;
    return found;
}

/* Messages of a partition to itself within its transaction, while none is on the channel, as a
 * worker on Kafka does (kafka/direct.c). Sometimes some are left. Returns false as `step`. */
static bool deliver_own(struct world *w, struct process *p)
{
    uint32_t self = (uint32_t)(p - w->processes);
    struct sp_message *m;
    while (w->direct && w->result.ok && !p->in[self].first && !rnd_chance(&w->rnd, 5) &&
           w->result.messages <= w->messages_max && (m = take_sent(w, self)))
        if (!step(w, p, m))
            return false;
    return true;
}

static void transaction(struct world *w, struct process *p)
{
    struct queue taken[CHANNELS] = {0};
    bool crashes = rnd_chance(&w->rnd, 3), keeps = crashes || p->stale;
    uint32_t size = 1 + rnd_below(&w->rnd, w->o.batch_max);
    uint32_t units = w->big.units ? w->big.units : 1;
    memset(w->says, 0, sizeof w->says);
    if (p->aside.first && !p->stale)
        take_aside(w, p);
    for (uint32_t i = 0; i < size && w->result.ok; i++) {
        struct queue *q = some_channel(w, p);
        if (!q)
            break;
        if (keeps)
            queue_push(&taken[q - p->in], message_copy(q->first));
        if (!step(w, p, queue_pop(q)) || !deliver_own(w, p)) {
            crashes = true;
            break;
        }
    }
    if (p->compare && rnd_chance(&w->rnd, 30))
        sp_compare_stage_move(p->compare, 1 + rnd_below(&w->rnd, 5));
    if (p->compare && rnd_chance(&w->rnd, 30))
        sp_compare_stage_work(p->compare, 1 + rnd_below(&w->rnd, 3));
    if (p->group && (!some_channel(w, p) || rnd_chance(&w->rnd, 10)))
        sp_group_stage_work(p->group, (1 + rnd_below(&w->rnd, 3)) * units);
    if (p->group && w->o.seed % 3 == 1)
        sp_group_stage_prepare(p->group, 3);
    if (!crashes && !deliver_own(w, p))
        crashes = true;
    if (!crashes) {
        commit(w, p);
        for (uint32_t i = 0; i < CHANNELS; i++)
            queue_clear(&taken[i]);
        return;
    }
    crash(w, p);
    for (uint32_t i = 0; i < CHANNELS; i++)
        queue_put_before(&p->in[i], &taken[i]);
}

/* ---- the crawl --------------------------------------------------------------------------------
 */

static struct sp_signature *some_signature(const struct world *w, uint32_t first, uint32_t words)
{
    static const uint16_t languages[] = {0, 'e' << 8 | 'n', 'f' << 8 | 'r', 'd' << 8 | 'e'};
    uint32_t which = w->languages.count ? (first / 4 + words) % 4 : 0;
    return w->o.method == SP_METHOD_SHINGLES ? page_by_items(first, words, languages[which])
                                             : page_by_builder(w->o.method, first, words);
}

static void draw_page(struct world *w, struct truth *t)
{
    struct rnd *r = &w->rnd;
    uint32_t x = rnd_below(r, 100);
    if (x < 75) {
        uint32_t words = rnd_chance(r, 70) ? 12 : 10 + rnd_below(r, 8);
        t->kind = SP_PAGE_CONTENT;
        t->signature = rnd_chance(r, 2) ? some_signature(w, 0, 0)
                                        : some_signature(w, rnd_below(r, w->span), words);
    } else if (x < 90) {
        t->kind = SP_PAGE_REDIRECT;
        t->target = rnd_below(r, w->pages);
        w->known[t->target] = true;
    } else {
        t->kind = SP_PAGE_DEAD;
    }
}

static bool same_page(const struct truth *a, const struct truth *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == SP_PAGE_CONTENT)
        return sp_id_eq(a->signature->content_hash, b->signature->content_hash);
    return a->kind != SP_PAGE_REDIRECT || a->target == b->target;
}

static char *respelled(uint32_t page, int64_t version)
{
    char url[80];
    snprintf(url, sizeof url, "%s#%lld", sim_url(page), (long long)version);
    return sp_strdup(url);
}

static struct sp_message *crawl_message(const struct world *w, uint32_t page)
{
    const struct truth *t = &w->truth[page];
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    struct sp_crawled *c = &m->crawled;
    m->page = sim_page_id(page);
    c->version = t->version;
    c->page_kind = t->kind;
    c->signature = t->signature ? sp_signature_ref(t->signature) : NULL;
    c->url =
        w->respells && t->version % 4 == 0 ? respelled(page, t->version) : sp_strdup(sim_url(page));
    c->rank = sp_rank_of(sp_view_str(sim_url(page)), t->popularity);
    if (t->kind == SP_PAGE_REDIRECT) {
        c->target = sim_page_id(t->target);
        c->target_url = sp_memdup(sim_url(t->target), strlen(sim_url(t->target)) + 1);
    }
    return m;
}

void sim_crawl(struct world *w, uint32_t page, void (*draw)(struct world *w, struct truth *t))
{
    struct truth *t = &w->truth[page];
    w->result.events++;
    w->known[page] = true;
    t->version = (int64_t)w->result.events;
    w->page_of[t->version - 1] = page;
    if (rnd_chance(&w->rnd, 20))
        t->popularity = w->o.big ? rnd_below(&w->rnd, 40) / 4.0 : rnd_below(&w->rnd, 3);
    if (t->kind == SP_PAGE_UNSEEN || rnd_chance(&w->rnd, 80)) { /* else unchanged */
        struct truth before = *t;
        t->signature = NULL;
        draw(w, t);
        if (!same_page(&before, t))
            t->content_version = t->version;
        sp_signature_unref(before.signature);
        if (t->signature)
            w->crawled[t->version - 1] = sp_signature_ref(t->signature);
    }
    struct sp_message *m = crawl_message(w, page);
    if (w->o.trace)
        printf("crawl %u (%016llx)@%lld kind %d target %u\n", page, (unsigned long long)m->page.lo,
               (long long)t->version, t->kind, t->target);
    struct queue *q = &w->processes[destination(w, m)].in[CHANNELS - 1];
    if (rnd_chance(&w->rnd, 5))
        queue_push(q, message_copy(m)); /* delivered twice */
    queue_push(q, m);
}

/* Resets the page to never fetched; redirects to it stay. */
void sim_erase(struct world *w, uint32_t page)
{
    struct truth *t = &w->truth[page];
    w->result.events++;
    sp_signature_unref(t->signature);
    *t = (struct truth){.popularity = t->popularity};
    struct sp_message *m = sp_message_new(SP_MSG_ERASE);
    m->page = sim_page_id(page);
    m->erase.url = sp_memdup(sim_url(page), strlen(sim_url(page)) + 1);
    if (w->o.trace)
        printf("erase %u (%016llx)\n", page, (unsigned long long)m->page.lo);
    queue_push(&w->processes[destination(w, m)].in[CHANNELS - 1], m);
}

/* ---- one run ------------------------------------------------------------------------------------
 */

static uint32_t or_choice(uint32_t given, struct rnd *r, const uint32_t *choices, uint32_t count)
{
    uint32_t drawn = choices[rnd_below(r, count)];
    return given ? given : drawn;
}

static void use_map(struct world *w)
{
    struct sp_maps maps;
    enum sp_err err =
        sp_maps_make(&w->maps[w->map], w->moving ? &w->maps[w->map - 1] : NULL, &maps);
    SP_ASSERT(err == SP_OK);
    maps.languages = w->languages;
    w->group.maps = w->compare.maps = maps;
}

static void parse_relation(struct world *w)
{
    struct sp_fault fault = {""};
    if (sp_winner_relation_parse(w->o.relation, w->o.method, &w->relation, &fault) != SP_OK) {
        fprintf(stderr, "simulate: %s\n", fault.text);
        exit(2);
    }
}

static void build(struct world *w)
{
    static const uint32_t partitions[] = {1, 2, 4, 7}, cells[] = {1, 3, 6}, batches[] = {1, 4, 30},
                          limits[] = {1, 2, 64};
    w->o.tier1 = or_choice(w->o.tier1, &w->rnd, partitions, 4);
    w->o.tier2 = or_choice(w->o.tier2, &w->rnd, partitions, 3);
    w->o.cells = or_choice(w->o.cells, &w->rnd, cells, 3);
    w->o.batch_max = or_choice(w->o.batch_max, &w->rnd, batches, 3);
    const bool routed =
        sp_method_info(w->o.method)->jaccard; /* other methods have one cell: sp_similarity_check */
    for (uint32_t i = 0; i < MAPS; i++) {
        uint32_t count = i ? or_choice(0, &w->rnd, cells, 3) : w->o.cells;
        cells_make(&w->maps[i], routed ? count : 1, i, w->o.big ? sim_big_least(w) : 10);
    }
    /* Canaries keep the worlds that find them. A third language and none share a slice. */
    if (w->o.seed % 7 == 5 && w->o.method == SP_METHOD_SHINGLES && !w->o.canary &&
        !w->o.compare_canary)
        w->languages = (struct sp_languages){2, {'f' << 8 | 'r', 'e' << 8 | 'n'}};
    w->direct = w->o.seed % 3 == 2 && !w->o.canary && !w->o.compare_canary;
    w->respells = w->o.seed % 11 == 3 && !w->o.canary && !w->o.compare_canary;
    w->sets_aside = w->o.seed % 5 < 2 && !w->o.canary && !w->o.compare_canary;
    size_t cache = rnd_chance(&w->rnd, 50) ? 0 : 1 << 20;
    /* Low enough that pages with overlapping items are similar. */
    static const double thresholds[SP_METHOD_COUNT] = {0.8, 57.0 / 64, 0.7, 0.6, 0.5, 0.5};
    sp_similarity_options_default(&w->group.similarity);
    w->group.similarity.method = w->o.method;
    w->group.similarity.threshold = thresholds[w->o.method];
    if (w->o.big && !w->o.relation)
        w->o.relation = sim_big_relation(w);
    if (w->o.relation)
        parse_relation(w);
    w->group.mode = w->o.mode;
    w->group.fast_recheck_share = w->o.seed / 6 % 3 == 2 ? 0.4 : 0;
    w->group.winner_relation = w->relation;
    w->group.canary = w->o.canary;
    /* Half of the worlds have large groups. */
    w->group.packed_members = w->o.seed % 4 == 2 ? 0 : 4;
    w->group.large_from = w->o.seed % 16 == 15 ? 6 : w->o.seed % 2 ? 3 : 0;
    w->group.split_at_once = w->o.seed / 2 % 3; /* few are in a piece */
    w->group.settle_at_once = w->o.seed / 6 % 3 ? 0 : 1 + w->o.seed / 18 % 3;
    w->group.only_rounds = w->o.seed % 4 == 1;
    const uint64_t kind = w->o.seed % 16; /* 3, 5: with large groups */
    w->group.winner_margin = kind >= 3 && kind <= 6 && kind != 4 && !w->o.relation ? 1.5 : 0;
    if (w->o.big)
        sim_big_rules(w);
    w->group.message_bytes = w->o.seed % 3 == 0 ? 0 : 1 + w->o.seed % 3 * 300; /* a few rows */
    w->group.parts_at_once = w->o.seed / 9 % 4 == 3 ? 0 : 1;
    w->group.cache_bytes = cache;
    w->compare =
        (struct sp_compare_stage_options){.similarity = w->group.similarity,
                                          .routing = SP_ROUTING_LOSSLESS,
                                          .rho = 1,
                                          .cache_bytes = cache,
                                          .canary = w->o.compare_canary,
                                          .edges_per_match = or_choice(0, &w->rnd, limits, 3),
                                          .work_per_step = or_choice(0, &w->rnd, limits, 3)};
    use_map(w);
    w->process_count = w->o.tier1 + w->o.tier2;
    for (uint32_t i = 0; i < w->process_count; i++) {
        struct process *p = &w->processes[i];
        p->world = w;
        p->tier = i < w->o.tier1 ? SP_TIER_1 : SP_TIER_2;
        p->number = i < w->o.tier1 ? i : i - w->o.tier1;
        p->db = sp_db_open_memory();
        start(p);
    }
}

static void destroy(struct world *w)
{
    for (uint32_t i = 0; i < w->process_count; i++) {
        stop(&w->processes[i]);
        for (uint32_t c = 0; c < CHANNELS; c++)
            queue_clear(&w->processes[i].in[c]);
        queue_clear(&w->processes[i].aside);
        queue_clear(&w->processes[i].setting_aside);
        sp_db_close(w->processes[i].db);
    }
    for (uint32_t i = 0; i < w->pages; i++)
        sp_signature_unref(w->truth[i].signature);
    for (uint32_t i = 0; i < FETCHES_MAX; i++)
        sp_signature_unref(w->crawled[i]);
    for (uint32_t i = 0; i < MAPS; i++)
        sp_partition_done(&w->maps[i]);
    sp_relation_free(w->relation);
    sim_disturb_done(w);
}

/* ---- a new partition map ------------------------------------------------------------------------
 */

/* The operator's next action: a new map; one process restarted with it; or, once old cells are
 * empty, the end of the previous map. */
static void operate(struct world *w)
{
    struct process *p = &w->processes[rnd_below(&w->rnd, w->process_count)];
    if (sim_stale_process(w)) {
        if (p->stale)
            crash(w, p);
    } else if (!w->moving) {
        if (w->o.hostile || w->map + 1 == MAPS || !rnd_chance(&w->rnd, 5))
            return; /* hostile: a page may never hear that it has to move */
        w->map++;
        w->moving = true;
        use_map(w);
        for (uint32_t i = 0; i < w->process_count; i++)
            w->processes[i].stale = true;
    } else if (sim_rows_to_move(w) > 0) {
        if (p->compare)
            transaction(w, p);
    } else if (!sim_put_under_way(w)) {
        w->moving = false;
        use_map(w);
        for (uint32_t i = 0; i < w->process_count; i++)
            w->processes[i].stale = true;
    }
}

static struct process *some_process(struct world *w)
{
    struct process *ready[2 * MAX_PARTITIONS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->process_count; i++) {
        struct process *p = &w->processes[i];
        bool busy = p->compare ? sp_compare_stage_owes(p->compare) : sp_group_stage_owes(p->group);
        busy |= p->aside.first && !p->stale;
        for (uint32_t c = 0; c < CHANNELS && !busy; c++)
            busy = p->in[c].first != NULL;
        if (busy)
            ready[count++] = p;
    }
    return count ? ready[rnd_below(&w->rnd, count)] : NULL;
}

/* In a hundred steps. */
static uint32_t haste(struct world *w)
{
    return w->o.big ? sim_big_haste(w) : 15;
}

static void some_event(struct world *w)
{
    if (w->o.big)
        sim_big_event(w);
    else if (w->o.erases && rnd_chance(&w->rnd, 15))
        sim_erase(w, rnd_below(&w->rnd, w->pages));
    else
        sim_crawl(w, rnd_below(&w->rnd, w->pages), draw_page);
}

/* Whether the world is at its end although messages may be on their way. */
static bool is_over(struct world *w)
{
    if (w->o.hostile && sim_damages(w))
        return sim_is_left_alone(w); /* what was damaged may be waited for without end */
    if (w->result.messages > (w->o.hostile ? SETTLED_MAX : w->messages_max))
        sim_fail(w, "livelock");
    return false;
}

struct sim_result sim_run(const struct sim_options *options)
{
    static const uint32_t page_counts[] = {4, 8, 12, 20}, event_counts[] = {20, 60, EVENTS_MAX},
                          spans[] = {10, 30, 60};
    struct world *w = sp_calloc(1, sizeof *w);
    w->o = *options;
    w->rnd.state = options->seed * 0x9e3779b97f4a7c15ull + 1;
    w->result.ok = true;
    w->pages = page_counts[rnd_below(&w->rnd, 4)];
    uint32_t events = event_counts[rnd_below(&w->rnd, 3)];
    w->span = spans[rnd_below(&w->rnd, 3)];
    w->messages_max = MESSAGES_MAX;
    if (w->o.big)
        events = sim_big_draw(w);
    for (uint32_t i = 0; i < MAX_PAGES; i++)
        w->said[i].winner = -1;
    build(w);
    for (;;) {
        struct process *p = some_process(w);
        if (w->o.hostile && sim_is_left_alone(w))
            events = 0; /* no more fetches */
        if (!w->result.ok ||
            (!p && w->result.events >= events && !w->moving && !sim_stale_process(w)))
            break;
        if (!p ? w->result.events >= events : rnd_chance(&w->rnd, 10))
            operate(w);
        else if (w->result.events < events && (!p || rnd_chance(&w->rnd, haste(w))))
            some_event(w);
        else
            transaction(w, p);
        if (is_over(w))
            break;
    }
    if (w->result.ok && !w->o.hostile)
        sim_check(w);
    destroy(w);
    struct sim_result result = w->result;
    sp_free(w);
    return result;
}

/* See replay.h. The stages keep changed objects until a flush, so there is one from time to time,
 * to free what a long trace no longer needs. */
#include "replay/replay.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

enum { FLUSH_FETCHES = 5000, SLICES = 1000 };

struct group_name {
    struct sp_id key; /* of the map: first; hash of the group's id */
    uint32_t number;
};

struct url_name {
    struct sp_id key; /* of the map: first */
    uint32_t page;
};

struct replay {
    const struct sp_crawl *crawl;
    const struct sp_replay_options *options;
    struct sp_replay_result *result;
    struct sp_local_bus *bus;
    struct sp_db *db;
    struct sp_map urls;   /* struct url_name */
    struct sp_map groups; /* struct group_name */
    struct url_name *url_names;
    struct sp_said *said; /* as published */
    struct sp_said *seen; /* with the groups of winners filled in */
    size_t point;
    /* for timing */
    int tier;
    double tier_start;
};

/* Every message passes here before its step, so the time since the previous call belongs to the
 * previous message. */
static struct sp_message *on_wire(void *arg, struct sp_message *m)
{
    struct replay *r = arg;
    double now = sp_clock_seconds();
    if (r->tier >= 0)
        r->result->tier_seconds[r->tier] += now - r->tier_start;
    r->tier = sp_message_tier(m) == SP_TIER_1 ? 0 : 1;
    r->result->tier_messages[r->tier]++;
    r->tier_start = now;
    return m;
}

/* Ends the measurement: the time between two steps belongs to no tier. */
static void stop_watch(struct replay *r)
{
    if (r->tier >= 0)
        r->result->tier_seconds[r->tier] += sp_clock_seconds() - r->tier_start;
    r->tier = -1;
}

static uint32_t group_number(struct replay *r, struct sp_group_id id)
{
    struct sp_id key = sp_hash128(&id, sizeof id);
    struct group_name *name = sp_map_get(&r->groups, key);
    if (!name) {
        name = sp_alloc(sizeof *name);
        *name = (struct group_name){key, (uint32_t)r->groups.count};
        sp_map_add(&r->groups, name);
    }
    return name->number;
}

static void on_status(void *arg, const struct sp_status_event *e)
{
    struct replay *r = arg;
    const struct sp_crawl_page *page = sp_map_get(&r->crawl->by_id, e->page);
    struct sp_said said = {.status = e->status,
                           .winner = SP_NO_NUMBER,
                           .group = group_number(r, e->group),
                           .similarity = e->similarity,
                           .version = e->version_ms};
    if (e->winner_url) {
        const struct url_name *winner =
            sp_map_get(&r->urls, sp_hash128(e->winner_url, strlen(e->winner_url)));
        said.winner = winner ? winner->page : SP_NO_NUMBER;
    }
    if (page)
        r->said[page->number] = said;
}

static void name_urls(struct replay *r)
{
    const struct sp_crawl *t = r->crawl;
    r->url_names = sp_alloc((t->page_count + 1) * sizeof *r->url_names);
    for (uint32_t i = 0; i < t->page_count; i++) {
        r->url_names[i] = (struct url_name){t->pages[i]->url_hash, i};
        if (!sp_map_get(&r->urls, t->pages[i]->url_hash))
            sp_map_add(&r->urls, &r->url_names[i]);
    }
}

/* A loser's group is the one in its winner's latest status. While messages are under way a winner
 * can have a winner of its own. */
static void name_groups(struct replay *r)
{
    enum { HOPS = 8 };
    for (uint32_t i = 0; i < r->crawl->page_count; i++) {
        r->seen[i] = r->said[i];
        const struct sp_said *at = &r->said[i];
        for (int hops = 0; hops < HOPS && at->winner != SP_NO_NUMBER; hops++)
            at = &r->said[at->winner];
        r->seen[i].group = at->group;
    }
}

static void look(struct replay *r, size_t fetches)
{
    name_groups(r);
    struct sp_replay_moment moment = {.point = r->point++,
                                      .fetches = fetches,
                                      .pending = sp_local_bus_pending(r->bus),
                                      .said = r->seen};
    sp_local_bus_stats(r->bus, &moment.stats);
    stop_watch(r);
    if (r->options->look)
        r->options->look(r->options->arg, &moment);
}

/* If no message is in flight, first finishes the rounds by which large groups tell some pages
 * later. */
static enum sp_err settle_and_look(struct replay *r, size_t fetches)
{
    enum sp_err err = sp_local_bus_pending(r->bus) == 0 ? sp_local_bus_settle(r->bus) : SP_OK;
    if (err == SP_OK)
        look(r, fetches);
    return err;
}

static enum sp_err flush(struct replay *r)
{
    stop_watch(r);
    enum sp_err err = sp_local_bus_flush(r->bus);
    return err == SP_OK ? sp_db_commit(r->db) : err;
}

static enum sp_err feed_all(struct replay *r)
{
    const struct sp_replay_options *o = r->options;
    enum sp_err err = SP_OK;
    double credit = 0;
    for (size_t i = 0; i < r->crawl->fetch_count && err == SP_OK; i++) {
        uint64_t most = UINT64_MAX;
        if (o->budget > 0) {
            credit += o->budget;
            most = (uint64_t)credit;
            credit -= (double)most;
        }
        sp_local_bus_put(r->bus, sp_crawl_message(r->crawl, i));
        err = sp_local_bus_work(r->bus, most);
        stop_watch(r);
        if (err == SP_OK && (i + 1) % FLUSH_FETCHES == 0)
            err = flush(r);
        while (err == SP_OK && r->point < o->point_count && o->points[r->point] <= i + 1)
            err = settle_and_look(r, i + 1);
    }
    return err;
}

/* After the end of the input, delivers the backlog. Delivered messages lead to more messages, so it
 * may grow before it shrinks. */
static enum sp_err work_off(struct replay *r)
{
    const struct sp_replay_options *o = r->options;
    enum sp_err err = SP_OK;
    uint64_t pending = sp_local_bus_pending(r->bus), slice = pending / SLICES + 1;
    for (uint32_t step = 1; step <= o->decay_steps && err == SP_OK; step++) {
        uint64_t left = pending * (o->decay_steps - step) / o->decay_steps;
        while (err == SP_OK && sp_local_bus_pending(r->bus) > left)
            err = sp_local_bus_work(r->bus, slice);
        stop_watch(r);
        if (err == SP_OK)
            err = flush(r);
        if (err == SP_OK)
            err = settle_and_look(r, r->crawl->fetch_count);
    }
    return err;
}

static void replay_done(struct replay *r)
{
    sp_local_bus_free(r->bus);
    sp_db_close(r->db);
    sp_map_free_objects(&r->groups);
    sp_map_done(&r->urls);
    sp_free(r->url_names);
    sp_free(r->said);
    sp_free(r->seen);
}

enum sp_err sp_replay(const struct sp_crawl *crawl, const struct sp_replay_options *options,
                      struct sp_replay_result *ret_result)
{
    struct sp_replay_result result = {0};
    struct replay r = {.crawl = crawl, .options = options, .result = &result, .tier = -1};
    struct sp_local_bus_options bus = options->bus;
    double start = sp_clock_thread_seconds();
    if (options->timed) {
        bus.wire = on_wire;
        bus.wire_arg = &r;
    }
    r.db = sp_db_open_memory();
    r.said = sp_calloc((size_t)crawl->page_count + 1, sizeof *r.said);
    r.seen = sp_calloc((size_t)crawl->page_count + 1, sizeof *r.seen);
    for (uint32_t i = 0; i < crawl->page_count; i++)
        r.said[i].winner = r.said[i].group = SP_NO_NUMBER;
    name_urls(&r);
    enum sp_err err = sp_local_bus_new(&bus, r.db, on_status, &r, &r.bus);
    if (err == SP_OK)
        err = feed_all(&r);
    if (err == SP_OK && options->budget > 0)
        err = work_off(&r);
    if (err == SP_OK) {
        sp_local_bus_stats(r.bus, &result.stats);
        result.cpu_seconds = sp_clock_thread_seconds() - start;
        *ret_result = result;
    }
    replay_done(&r);
    return err;
}

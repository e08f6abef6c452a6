/* A queue and a loop: see bus.h. All messages are in one queue, which keeps the order between every
 * pair of partitions. */
#include "local/bus_internal.h"

#include <string.h>

#include "base/assert.h"
#include "base/map.h"
#include "base/mem.h"

struct sp_local_bus_event {
    struct sp_id page; /* key of the map: first */
    struct sp_status_event said;
    size_t url; /* see keep_text; the pointers in `said` are not valid */
    size_t winner_url;
    size_t contained_in;
    bool last; /* the last event of its page */
};

static void on_send(void *arg, struct sp_message *m)
{
    struct sp_local_bus *bus = arg;
    m->next = NULL;
    bus->sent++;
    if (bus->first)
        bus->last->next = m;
    else
        bus->first = m;
    bus->last = m;
}

/* Returns its place in bus->texts, plus 1; 0: NULL. */
static size_t keep_text(struct sp_local_bus *bus, const char *text)
{
    size_t at = bus->texts.len + 1;
    if (!text)
        return 0;
    sp_buf_put(&bus->texts, text, strlen(text) + 1);
    return at;
}

static void on_publish(void *arg, const struct sp_status_event *said)
{
    struct sp_local_bus *bus = arg;
    sp_grow(&bus->events, &bus->event_cap, bus->event_count + 1);
    bus->events[bus->event_count++] =
        (struct sp_local_bus_event){said->page,
                                    *said,
                                    keep_text(bus, said->url),
                                    keep_text(bus, said->winner_url),
                                    keep_text(bus, said->contained_in),
                                    true};
}

static const char *text_at(const struct sp_local_bus *bus, size_t at)
{
    return at ? bus->texts.data + at - 1 : NULL;
}

/* Its texts are valid until the next event is published. */
static struct sp_status_event event_at(const struct sp_local_bus *bus, size_t i)
{
    const struct sp_local_bus_event *e = &bus->events[i];
    struct sp_status_event said = e->said;
    said.url = text_at(bus, e->url);
    said.winner_url = text_at(bus, e->winner_url);
    said.contained_in = text_at(bus, e->contained_in);
    return said;
}

/* Marks the last event of each page. One record seldom causes events of more than a few pages. */
static void mark_last_words(struct sp_local_bus *bus)
{
    enum { FEW = 16 };
    if (bus->event_count <= FEW) {
        for (size_t i = 0; i < bus->event_count; i++)
            for (size_t k = i + 1; k < bus->event_count && bus->events[i].last; k++)
                bus->events[i].last = !sp_id_eq(bus->events[i].page, bus->events[k].page);
        return;
    }
    struct sp_map seen = {0};
    for (size_t i = bus->event_count; i-- > 0;) {
        struct sp_local_bus_event *e = &bus->events[i];
        e->last = !sp_map_get(&seen, e->page);
        if (e->last)
            sp_map_add(&seen, e);
    }
    sp_map_done(&seen);
}

static void forget_texts(struct sp_buf *texts)
{
    enum { KEPT_BYTES = 1 << 20 };
    if (texts->cap > KEPT_BYTES)
        sp_buf_done(texts);
    sp_buf_reset(texts);
}

static void deliver_events(struct sp_local_bus *bus, bool publish)
{
    mark_last_words(bus);
    for (size_t i = 0; i < bus->event_count && publish; i++) {
        struct sp_status_event said = event_at(bus, i);
        if (bus->events[i].last)
            bus->publish(bus->publish_arg, &said);
    }
    bus->event_count = 0;
    forget_texts(&bus->texts);
}

static void on_contained(void *arg, struct sp_id page, const char *url, float containment)
{
    struct sp_local_bus *bus = arg;
    enum sp_err err =
        sp_group_stage_contained(bus->group[page.lo % bus->options.tier1], page, url, containment);
    if (bus->contain_err == SP_OK)
        bus->contain_err = err;
}

/* Tells the contain stage the last status of each page. What it finds leads to more events, for
 * this page and others, but these change nothing that the stage reads. */
static enum sp_err tell_contain_stage(struct sp_local_bus *bus)
{
    size_t count = bus->event_count;
    enum sp_err err = SP_OK;
    mark_last_words(bus);
    for (size_t i = 0; i < count && err == SP_OK; i++) {
        struct sp_status_event said = event_at(bus, i);
        bool kept = sp_status_is_kept(said.status);
        if (!bus->events[i].last)
            continue;
        char *url = sp_strdup(said.url); /* more events move the texts */
        err = kept ? sp_contain_stage_put(bus->contain, said.page, url, said.content)
                   : sp_contain_stage_remove(bus->contain, said.page);
        sp_free(url);
        if (err == SP_OK)
            err = bus->contain_err;
    }
    return err;
}

/* The store of a stage. A late page of a long crawl reads rows of any earlier page, so the block
 * cache would not have them again soon: it is for the shorter rows of the contents, which name the
 * blob files. */
static struct sp_store *stage_store(struct sp_db *db, uint32_t number)
{
    struct sp_store *s = sp_db_store(db, (uint16_t)number);
    sp_store_leave_uncached(s);
    return s;
}

enum sp_err sp_local_bus_new(const struct sp_local_bus_options *options, struct sp_db *db,
                             void (*publish)(void *arg, const struct sp_status_event *event),
                             void *arg, struct sp_local_bus **ret_bus)
{
    struct sp_local_bus *bus = sp_calloc(1, sizeof *bus);
    struct sp_outbox outbox = {on_send, on_publish, bus};
    enum sp_err err = SP_OK;
    bus->options = *options;
    bus->publish = publish;
    bus->publish_arg = arg;
    bus->contents = sp_contents_new(sp_db_store(db, SP_BUS_STORE_CONTENTS), SP_BUS_USUAL_HOLDERS,
                                    options->contents_cache_bytes);
    bus->options.group.contents = bus->options.compare.contents = bus->contents;
    bus->group = sp_calloc(options->tier1, sizeof *bus->group);
    bus->compare = sp_calloc(options->tier2, sizeof *bus->compare);
    for (uint32_t i = 0; i < options->tier1; i++)
        bus->group[i] = sp_group_stage_new(&bus->options.group,
                                           stage_store(db, SP_BUS_STORE_TIER1 + i), &outbox);
    for (uint32_t i = 0; i < options->tier2 && err == SP_OK; i++) {
        bus->compare[i] = sp_compare_stage_new(&bus->options.compare,
                                               stage_store(db, SP_BUS_STORE_TIER2 + i), &outbox);
        err = sp_compare_stage_load(bus->compare[i]);
    }
    if (options->contain.threshold > 0 && err == SP_OK) {
        bus->contain =
            sp_contain_stage_new(&options->contain, sp_db_store(db, SP_BUS_STORE_CONTAIN),
                                 bus->contents, on_contained, bus);
        err = sp_contain_stage_load(bus->contain);
    }
    if (err != SP_OK) {
        sp_local_bus_free(bus);
        return err;
    }
    *ret_bus = bus;
    return SP_OK;
}

void sp_local_bus_free(struct sp_local_bus *bus)
{
    if (!bus)
        return;
    for (struct sp_message *m = bus->first, *next; m; m = next) {
        next = m->next;
        sp_message_free(m);
    }
    deliver_events(bus, false);
    for (uint32_t i = 0; i < bus->options.tier1; i++)
        sp_group_stage_free(bus->group[i]);
    for (uint32_t i = 0; i < bus->options.tier2; i++)
        sp_compare_stage_free(bus->compare[i]);
    sp_contain_stage_free(bus->contain);
    sp_contents_free(bus->contents);
    sp_free(bus->group);
    sp_free(bus->compare);
    sp_free(bus->events);
    sp_buf_done(&bus->texts);
    sp_free(bus);
}

void sp_local_bus_leave(struct sp_local_bus *bus)
{
    static struct sp_local_bus *volatile left; /* so that it is still reachable, and no leak */
    left = bus;
    (void)left;
}

static void count(struct sp_local_bus_stats *stats, const struct sp_message *m)
{
    const struct sp_link *link = sp_message_link(m);
    uint64_t carried = link ? (uint64_t)link->edge_count + link->row_count : 0;
    stats->messages++;
    stats->messages_by_kind[m->kind]++;
    stats->edges_sent += link ? link->edge_count : 0;
    stats->members_sent += link ? link->row_count : 0;
    if (carried > stats->largest_message)
        stats->largest_message = carried;
}

static enum sp_err dispatch(struct sp_local_bus *bus, struct sp_message *m)
{
    count(&bus->stats, m);
    if (bus->options.wire && !(m = bus->options.wire(bus->options.wire_arg, m)))
        return SP_MALFORMED;
    if (sp_message_tier(m) == SP_TIER_1)
        return sp_group_stage_step(sp_local_bus_group(bus, m), m);
    enum sp_err err = sp_compare_stage_step(sp_local_bus_compare(bus, sp_message_cell(m)), m);
    sp_message_free(m);
    return err;
}

enum sp_err sp_local_bus_signature(struct sp_local_bus *bus, struct sp_id content,
                                   struct sp_signature **ret_signature)
{
    return sp_contents_find(bus->contents, content, ret_signature);
}

void sp_local_bus_put(struct sp_local_bus *bus, struct sp_message *crawled)
{
    on_send(bus, crawled);
}

uint64_t sp_local_bus_pending(const struct sp_local_bus *bus)
{
    return bus->sent - bus->stats.messages;
}

/* Each stage sends at most that many. Returns whether there are more. */
static bool send_departed(struct sp_local_bus *bus, uint32_t parts)
{
    bool more = false;
    for (uint32_t i = 0; i < bus->options.tier1; i++)
        more |= sp_group_stage_send_departed(bus->group[i], parts);
    return more;
}

static enum sp_err handle(struct sp_local_bus *bus, uint64_t messages_max)
{
    enum { MESSAGES_PER_PART = 64 };
    enum sp_err err = SP_OK;
    for (uint64_t i = 1; i <= messages_max && bus->first && err == SP_OK; i++) {
        struct sp_message *m = bus->first;
        bus->first = m->next;
        err = dispatch(bus, m);
        if (bus->options.tier1 > 1 && i % MESSAGES_PER_PART == 0)
            send_departed(bus, 1);
    }
    return err;
}

/* Until no message is under way and no member is left that must be sent. */
static enum sp_err handle_all(struct sp_local_bus *bus)
{
    enum sp_err err = handle(bus, UINT64_MAX);
    while (err == SP_OK && send_departed(bus, 0)) {
        send_departed(bus, 1);
        err = handle(bus, UINT64_MAX);
    }
    return err;
}

static enum sp_err publish(struct sp_local_bus *bus, enum sp_err err)
{
    if (bus->contain && err == SP_OK)
        err = tell_contain_stage(bus);
    deliver_events(bus, err == SP_OK);
    return err;
}

enum sp_err sp_local_bus_work(struct sp_local_bus *bus, uint64_t messages_max)
{
    return publish(bus, handle(bus, messages_max));
}

enum sp_err sp_local_bus_feed(struct sp_local_bus *bus, struct sp_message *crawled)
{
    sp_local_bus_put(bus, crawled);
    return publish(bus, handle_all(bus));
}

static void pay_tier1(struct sp_local_bus *bus)
{
    for (uint32_t i = 0; i < bus->options.tier1; i++)
        sp_group_stage_work(bus->group[i], SP_LOCAL_BUS_UNITS);
}

static void pay_tier2(struct sp_local_bus *bus)
{
    for (uint32_t i = 0; i < bus->options.tier2; i++)
        sp_compare_stage_work(bus->compare[i], SP_LOCAL_BUS_UNITS);
}

static bool tier2_owes(const struct sp_local_bus *bus)
{
    for (uint32_t i = 0; i < bus->options.tier2; i++)
        if (sp_compare_stage_owes(bus->compare[i]))
            return true;
    return false;
}

bool sp_local_bus_owes(const struct sp_local_bus *bus)
{
    for (uint32_t i = 0; i < bus->options.tier1; i++)
        if (sp_group_stage_owes(bus->group[i]))
            return true;
    return false;
}

enum sp_err sp_local_bus_pay(struct sp_local_bus *bus, bool *ret_more)
{
    pay_tier1(bus);
    pay_tier2(bus);
    enum sp_err err = publish(bus, handle_all(bus));
    *ret_more = err == SP_OK && (sp_local_bus_owes(bus) || tier2_owes(bus));
    return err;
}

enum sp_err sp_local_bus_settle(struct sp_local_bus *bus)
{
    enum sp_err err = SP_OK;
    for (bool more = true; more;)
        err = sp_local_bus_pay(bus, &more);
    return err;
}

enum sp_err sp_local_bus_move(struct sp_local_bus *bus, uint32_t max_pages, uint64_t *ret_left)
{
    *ret_left = 0;
    SP_ASSERT(bus->options.tier2 > 0);
    if (!bus->options.compare.maps.before)
        return SP_OK;
    uint64_t asked = 0;
    for (uint32_t i = 0; i < bus->options.tier2; i++)
        asked += sp_compare_stage_move(bus->compare[i], max_pages);
    enum sp_err err = publish(bus, handle_all(bus));
    while (err == SP_OK && !asked && tier2_owes(bus)) { /* rows that have moved end as ghosts */
        pay_tier2(bus);
        err = publish(bus, handle_all(bus));
    }
    for (uint32_t i = 0; i < bus->options.tier2; i++) {
        struct sp_compare_stage_stats stats;
        sp_compare_stage_stats(bus->compare[i], &stats);
        *ret_left += stats.rows_to_move;
    }
    return err;
}

enum sp_err sp_local_bus_flush_pages(struct sp_local_bus *bus)
{
    enum sp_err err = SP_OK;
    for (uint32_t i = 0; i < bus->options.tier1 && err == SP_OK; i++)
        err = sp_group_stage_flush(bus->group[i]);
    return err;
}

/* A sweep or a flush, which visits all contents, comes whenever their number has doubled. So the
 * contents that no page has are at most as many as those that pages have. */
static bool has_waste(const struct sp_contents *contents)
{
    enum { FEW_BYTES = 64 << 20 };
    return sp_contents_has_waste(contents, FEW_BYTES);
}

static void sweep(struct sp_local_bus *bus)
{
    for (uint32_t i = 0; i < bus->options.tier1; i++)
        sp_group_stage_release(bus->group[i]);
    sp_contents_sweep(bus->contents);
}

/* Each record leaves about a hundred bytes in the stages' lists of changes. They are bounded by the
 * number of pages in the same way. */
bool sp_local_bus_sweep(struct sp_local_bus *bus, uint64_t records)
{
    enum { FEW_RECORDS = 1 << 16 };
    struct sp_local_bus_stats s;
    if (has_waste(bus->contents))
        sweep(bus);
    sp_local_bus_stats(bus, &s);
    return records > FEW_RECORDS + 2 * s.group.pages || has_waste(bus->contents);
}

enum sp_err sp_local_bus_flush(struct sp_local_bus *bus)
{
    sp_local_bus_share_caches(bus);
    enum sp_err err = sp_local_bus_flush_pages(bus);
    for (uint32_t i = 0; i < bus->options.tier2 && err == SP_OK; i++)
        err = sp_compare_stage_flush(bus->compare[i]);
    if (bus->contain && err == SP_OK)
        err = sp_contain_stage_flush(bus->contain);
    if (err == SP_OK)
        sp_contents_flush(bus->contents);
    return err;
}

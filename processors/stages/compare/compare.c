/* The steps of a cell actor: put, remove, probe. A put is stored before any probe of its page
 * leaves the cell, so of two concurrent pages at least one sees the other: if A's probe reaches b
 * before B's put, then B's probe leaves b after that, and finds A, whose put came before A's probe.
 * Rows and owners are in cell.c.
 *
 * The first of the pages that own a row is its spokesman: matches name only this page, so that
 * content which 100,000 pages have gives a probe one edge. Whenever the spokesman changes, to
 * another page or another version, it probes for the row. The owners are linked in the order in
 * which they came, each to the one before it. An owner that leaves, or comes back as another
 * version, costs a link between its neighbours. So each change of an owner sends at most two edges,
 * however many pages have the content. For any two neighbours, and for the spokesman and a similar
 * page, one edge was always sought after both ends were stored; it replaces an edge that became
 * stale because an end changed. */
#include "compare/compare.h"

#include "base/assert.h"
#include "base/mem.h"
#include "compare/cell.h"

/* Probes and moves of kids, in a step: about 10 ms. While kids wait to move, others touch stars
 * that will end, and must probe again when they do. So what is done late costs more. */
enum { WORK_PER_STEP = 64 };

/* The share of rows in the memory of a stage with its own table of signatures: a row is that much
 * smaller than a signature. */
enum { ROWS_SHARE = 8 };

struct sp_compare_stage *sp_compare_stage_new(const struct sp_compare_stage_options *options,
                                              struct sp_store *store,
                                              const struct sp_outbox *outbox)
{
    struct sp_compare_stage *c = sp_calloc(1, sizeof *c);
    c->options = *options;
    if (!c->options.edges_per_match)
        c->options.edges_per_match = 64;
    if (!c->options.work_per_step)
        c->options.work_per_step = WORK_PER_STEP;
    c->free_slot = NO_SLOT;
    c->store = store;
    c->contents = options->contents;
    c->row_budget = options->cache_bytes;
    if (!c->contents) {
        c->row_budget = options->cache_bytes / ROWS_SHARE;
        c->contents = c->own_contents =
            sp_contents_new(store, 1, options->cache_bytes - c->row_budget);
    }
    c->outbox = *outbox;
    c->cells = sp_calloc(SP_CELL_PLACES, sizeof *c->cells);
    c->targets = sp_calloc(SP_CELL_PLACES, sizeof *c->targets);
    sp_near_open(c);
    return c;
}

void sp_compare_stage_free(struct sp_compare_stage *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < SP_CELL_PLACES; i++)
        sp_cell_actor_free(c->cells[i]);
    sp_stars_free(c->stars);
    sp_compare_rows_free(c);
    sp_free(c->changed);
    sp_free(c->reformed);
    sp_free(c->queue);
    sp_buf_done(&c->unsaved);
    sp_contents_free(c->own_contents);
    sp_free(c->cells);
    sp_free(c->targets);
    sp_free(c);
}

/* Links an owner to the one before it. NULL: nothing to link. */
static void link_back(struct sp_compare_stage *c, uint32_t slot, const struct sp_other *other)
{
    struct sp_owner before;
    if (other && sp_owners_before(c, slot, other, &before))
        sp_near_send_edge(c, other->owner, before);
}

/* Called when an owner has come or has another version. */
static void link_both_ways(struct sp_compare_stage *c, uint32_t slot, struct sp_id page)
{
    const struct sp_other *other = sp_owners_find(c, slot, page);
    link_back(c, slot, other);
    if (other)
        link_back(c, slot, sp_owners_after(c, slot, other));
}

/* Keeps the slot of a deleted row as a ghost if the index needs it, else frees it. */
static void bury(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t slot, bool ghost)
{
    struct sp_slot *s = &c->slots[slot];
    if (ghost) {
        s->ghost = true;
        cell->ghosts++;
        return;
    }
    sp_compare_note(c, sp_contents_drop(c->contents, s->content));
    sp_compare_slot_free(c, slot);
}

/* A row that tier 1 has settled visits no other cell. What its own cell finds when it stores the
 * row is still told, because that costs no further comparison. */
static bool tells_own(const struct sp_compare_stage *c)
{
    return c->options.canary != SP_COMPARE_QUIET_STORE;
}

/* All edges of the row were those of its former spokesman, so the row leaves the index and enters
 * it again. */
static void enter_again(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t slot,
                        bool probe)
{
    struct sp_signature *signature = sp_cell_actor_signature(c, slot);
    if (!signature || !sp_compare_note(c, sp_contents_hold(c->contents, signature)))
        return;
    struct sp_id content = c->slots[slot].content;
    uint32_t fresh = sp_cell_actor_slot_new(c, cell, content);
    if (fresh == NO_SLOT)
        return;
    bool ghost = sp_near_leave(c, slot);
    sp_cell_actor_slot_forget(c, cell, content);
    sp_cell_actor_move_row(c, slot, fresh);
    bury(c, cell, slot, ghost);
    sp_cell_actor_slot_enter(c, cell, fresh);
    sp_near_enter(c, fresh, probe || tells_own(c));
    if (probe)
        sp_near_probe_others(c, fresh);
}

static void remove_row(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t slot)
{
    bool ghost = sp_near_leave(c, slot);
    sp_cell_actor_drop_row(c, slot);
    sp_cell_actor_slot_forget(c, cell, c->slots[slot].content);
    bury(c, cell, slot, ghost);
}

static void leave(struct sp_compare_stage *c, struct sp_cell_actor *cell, struct sp_id content,
                  struct sp_id page)
{
    const struct sp_other *gap = NULL;
    uint32_t slot = sp_cell_actor_find(c, cell, content);
    enum sp_owners_change change =
        slot == NO_SLOT ? SP_OWNERS_SAME : sp_owners_remove(c, slot, page, &gap);
    if (c->err)
        return;
    if (c->options.canary != SP_COMPARE_NO_GAP)
        link_back(c, slot, gap);
    if (change == SP_OWNERS_NONE)
        remove_row(c, cell, slot);
    else if (change == SP_OWNERS_FIRST && c->options.canary != SP_COMPARE_NO_SUCCESSOR)
        enter_again(c, cell, slot, true);
}

static void put_new(struct sp_compare_stage *c, struct sp_cell_actor *cell, struct sp_owner owner,
                    struct sp_signature *signature, bool probe)
{
    uint32_t slot = sp_cell_actor_store(c, cell, signature);
    if (slot == NO_SLOT)
        return;
    sp_owners_add(c, slot, owner);
    sp_near_enter(c, slot, probe || tells_own(c));
    if (probe)
        sp_near_probe_others(c, slot);
}

static void put_again(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t slot,
                      struct sp_owner owner, bool probe)
{
    enum sp_owners_change change = sp_owners_add(c, slot, owner);
    if (c->err)
        return;
    if (change == SP_OWNERS_FIRST) {
        link_back(c, slot, sp_owners_second(c, slot)); /* the spokesman has another version */
        enter_again(c, cell, slot, probe);
    } else if (change == SP_OWNERS_SAME && probe) {
        sp_near_probe_own(c, slot);
        sp_near_probe_others(c, slot);
    } else if (change == SP_OWNERS_ONE) {
        link_both_ways(c, slot, owner.page);
    }
}

static void on_put(struct sp_compare_stage *c, struct sp_cell_actor *cell, struct sp_id page,
                   const struct sp_put *put)
{
    struct sp_signature *signature = put->signature;
    struct sp_owner owner = {page, put->content_version};
    if (!sp_id_is_zero(put->old_content) && !sp_id_eq(put->old_content, signature->content_hash))
        leave(c, cell, put->old_content, page);
    if (c->err)
        return;
    uint32_t slot = sp_cell_actor_find(c, cell, signature->content_hash);
    if (slot == NO_SLOT)
        put_new(c, cell, owner, signature, !put->settled);
    else
        put_again(c, cell, slot, owner, !put->settled);
}

/* A row of this cell relied on a row of another cell, which has left its star. */
static void on_again(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                     const struct sp_again *again)
{
    uint32_t slot = sp_cell_actor_find(c, cell, again->content);
    if (slot != NO_SLOT)
        sp_near_probe_cell(c, slot, again->from);
}

enum sp_err sp_compare_stage_step(struct sp_compare_stage *c, const struct sp_message *m)
{
    if (c->err)
        return c->err;
    if (sp_message_tier(m) != SP_TIER_2)
        return SP_MALFORMED;
    uint32_t number = sp_message_cell(m);
    enum sp_cell_standing standing = sp_maps_standing(&c->options.maps, number);
    if (standing == SP_CELL_NONE)
        return SP_MALFORMED;
    if (standing == SP_CELL_PAST && m->kind != SP_MSG_PUT)
        return SP_OK; /* that cell no longer exists */
    if (standing == SP_CELL_PAST || standing == SP_CELL_AHEAD)
        return SP_OTHER_MAP;
    struct sp_cell_actor *cell = sp_cell_actor_get(c, number);
    switch (m->kind) {
    case SP_MSG_PUT:
        on_put(c, cell, m->page, &m->put);
        break;
    case SP_MSG_REMOVE:
        leave(c, cell, m->remove.old_content, m->page);
        break;
    case SP_MSG_PROBE:
        sp_near_probe(c, cell, (struct sp_owner){m->page, m->probe.content_version},
                      sp_maps_cell(&c->options.maps, m->probe.signature), m->probe.signature);
        break;
    case SP_MSG_AGAIN:
        on_again(c, cell, &m->again);
        break;
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
    case SP_MSG_CHANGE:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
    case SP_MSG_ERASE:
    case SP_MSG_WAIT:
        SP_ASSERT(!"a message for a cell actor");
    }
    sp_compare_debt_pay(c, cell, c->options.work_per_step);
    sp_compare_stage_evict(c);
    sp_contents_trim(c->contents);
    return c->err;
}

static uint64_t loads(const struct sp_compare_stage *c)
{
    struct sp_contents_stats contents;
    sp_contents_stats(c->contents, &contents);
    return c->stats.row_loads + contents.loads;
}

/* Reading ahead looks for candidates twice, which pays if one probe in so many loads a row. */
static void see_loads(struct sp_compare_stage *c)
{
    enum { PROBES_A_LOAD = 32 };
    c->reads_ahead = (loads(c) - c->seen_loads) * PROBES_A_LOAD > c->stats.probes - c->seen_probes;
    c->seen_loads = loads(c);
    c->seen_probes = c->stats.probes;
}

enum sp_err sp_compare_stage_flush(struct sp_compare_stage *c)
{
    if (c->err)
        return c->err;
    sp_compare_rows_flush(c);
    sp_form_flush(c);
    sp_relied_flush(c);
    sp_compare_flush_maps(c);
    see_loads(c);
    c->evict_above = 0;
    sp_compare_stage_evict(c);
    if (c->own_contents && !c->err)
        sp_contents_flush(c->own_contents);
    return c->err;
}

size_t sp_compare_stage_cache_bytes(const struct sp_compare_stage *c)
{
    struct sp_contents_stats own = {0};
    if (c->own_contents)
        sp_contents_stats(c->own_contents, &own);
    return c->cache_bytes + own.cache_bytes;
}

size_t sp_compare_stage_index_bytes(const struct sp_compare_stage *c)
{
    struct sp_stars_stats stars;
    sp_stars_stats(c->stars, &stars);
    return stars.bytes + c->slot_cap * sizeof *c->slots + c->by_content_bytes;
}

void sp_compare_stage_stats(const struct sp_compare_stage *c,
                            struct sp_compare_stage_stats *ret_stats)
{
    struct sp_stars_stats stars;
    sp_stars_stats(c->stars, &stars);
    *ret_stats = c->stats;
    ret_stats->cache_bytes = sp_compare_stage_cache_bytes(c);
    ret_stats->candidates = stars.verified;
    ret_stats->postings = stars.scanned;
    ret_stats->index_bytes = sp_compare_stage_index_bytes(c);
    for (uint32_t i = 0; i < SP_CELL_PLACES; i++) {
        const struct sp_cell_actor *cell = c->cells[i];
        if (!cell)
            continue;
        ret_stats->rows += cell->used;
        if (sp_cell_is_leaving(c, cell->number))
            ret_stats->rows_to_move += cell->used + cell->ghosts;
    }
}

/* The steps of a cell actor: put, remove, probe. A put is stored before any probe of its page
 * leaves the cell, so of two concurrent pages at least one sees the other: if A's probe reaches b
 * before B's put, then B's probe leaves b after that, and finds A, whose put came before A's probe.
 * Rows and owners are in cell.c.
 *
 * Of the pages that own a row one speaks for it: matches name it and no other, so that content
 * which 100,000 pages have answers a probe with one edge. Whenever the spokesman becomes another
 * page, or another version of it, the others are linked to it anew, and if it is another page it
 * probes for the row. So for any two owners, and for an owner and a similar page, there is
 * always an edge to the present spokesman that was looked for after both ends were stored. Every
 * edge that goes stale under way because the spokesman moved on is made good by that.
 */
#include "compare/compare.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/prefetch.h"
#include "compare/cell.h"

/* Of what a stage by itself may keep in memory, one part of so many is for rows: a row is that much
 * smaller than the signature of a page. */
enum { ROWS_SHARE = 8 };

struct sp_compare *sp_compare_new(const struct sp_compare_options *options, struct sp_store *store,
                                  const struct sp_outbox *outbox)
{
    struct sp_compare *c = sp_calloc(1, sizeof *c);
    c->options = *options;
    c->rule = sp_candidate_rule(options->similarity.method, options->similarity.threshold);
    c->store = store;
    c->contents = options->contents;
    c->row_budget = options->cache_bytes;
    if (!c->contents) {
        c->row_budget = options->cache_bytes / ROWS_SHARE;
        c->contents = c->own_contents =
            sp_contents_new(store, options->cache_bytes - c->row_budget);
    }
    c->outbox = *outbox;
    c->cells = sp_calloc(SP_CELL_PLACES, sizeof *c->cells);
    c->targets = sp_calloc(SP_CELL_PLACES, sizeof *c->targets);
    return c;
}

void sp_compare_free(struct sp_compare *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < SP_CELL_PLACES; i++)
        cell_free(c->cells[i]);
    sp_contents_free(c->own_contents);
    sp_free(c->cells);
    sp_free(c->targets);
    sp_free(c);
}

struct found {
    struct sp_edge edge;
    double similarity;
};

/* Most similar first, so that a page hangs on the member of its group that resembles it most. */
static int by_similarity(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return sp_id_cmp(x->edge.page, y->edge.page);
}

static void send_matches(struct sp_compare *c, const struct sp_message *probe, struct found *found,
                         uint32_t count)
{
    qsort(found, count, sizeof *found, by_similarity);
    struct sp_message *m = sp_message_new(SP_MSG_MATCH);
    m->page = probe->page;
    m->content_version = probe->content_version;
    m->edges = sp_alloc(count * sizeof *m->edges);
    m->edge_count = count;
    for (uint32_t i = 0; i < count; i++)
        m->edges[i] = found[i].edge;
    c->stats.matches += count;
    c->outbox.send(c->outbox.arg, m);
}

static bool matches(struct sp_compare *c, const struct sp_signature *a,
                    const struct sp_signature *b, double *ret_similarity)
{
    c->stats.candidates++;
    return sp_candidate_pair(&c->rule, a, b) &&
           sp_similar(&c->options.similarity, a, b, ret_similarity);
}

/* The block of candidates from `first` on. */
static void prefetch_candidates(struct sp_compare *c, const struct cell *cell,
                                const uint32_t *slots, size_t first, size_t count)
{
    struct sp_id contents[SP_CONTENTS_PREFETCHED];
    if (first >= count)
        return;
    slots += first;
    size_t n = count - first;
    if (n > SP_CONTENTS_PREFETCHED)
        n = SP_CONTENTS_PREFETCHED;
    cell_prefetch_slots(cell, slots, n);
    for (size_t i = 0; i < n; i++) {
        contents[i] = cell->slots[slots[i]].content;
        sp_prefetch(cell->slots[slots[i]].row);
    }
    sp_contents_prefetch_all(c->contents, contents, n);
}

/* Which rows of this cell are similar to the signature? */
static void probe_cell(struct sp_compare *c, struct cell *cell, const struct sp_message *m,
                       const struct sp_signature *signature)
{
    uint32_t scratch[SP_SKETCH_MAX], key_count;
    const uint32_t *slots, *keys = sp_candidate_keys(&c->rule, signature, scratch, &key_count);
    size_t count =
        sp_candidates_find(cell->index, keys, key_count, signature->shingle_total, &slots);
    c->stats.probes++;
    prefetch_candidates(c, cell, slots, 0, count);
    struct found *found = NULL;
    uint32_t found_count = 0;
    for (size_t i = 0; i < count && !c->err; i++) {
        if (i % SP_CONTENTS_PREFETCHED == 0)
            prefetch_candidates(c, cell, slots, i + SP_CONTENTS_PREFETCHED, count);
        const struct sp_signature *other = cell_signature(c, cell, slots[i]);
        struct found f;
        struct owner owner;
        if (!other || !matches(c, signature, other, &f.similarity) ||
            !cell_other_owner(c, cell, slots[i], m->page, &owner))
            continue;
        if (!found)
            found = sp_alloc((count - i) * sizeof *found);
        f.edge = (struct sp_edge){owner.page, owner.content_version};
        found[found_count++] = f;
    }
    if (found_count && !c->err)
        send_matches(c, m, found, found_count);
    sp_free(found);
}

/* The page's own cell answers at once and sends the probe on to the others. */
static void probe_all(struct sp_compare *c, struct cell *own, const struct sp_message *m,
                      struct sp_signature *signature)
{
    uint32_t count =
        sp_maps_targets(&c->options.maps, signature->length, c->options.similarity.threshold,
                        c->options.routing, c->options.rho, c->targets);
    c->stats.contacts += count;
    for (uint32_t i = 0; i < count; i++) {
        if (c->targets[i] == own->number) {
            probe_cell(c, own, m, signature);
            continue;
        }
        struct sp_message *probe = sp_message_new(SP_MSG_PROBE);
        probe->cell = c->targets[i];
        probe->page = m->page;
        probe->content_version = m->content_version;
        probe->signature = sp_signature_ref(signature);
        c->outbox.send(c->outbox.arg, probe);
    }
}

static void send_edge(struct sp_compare *c, struct owner from, struct owner to)
{
    struct sp_message *m = sp_message_new(SP_MSG_MATCH);
    m->page = from.page;
    m->content_version = from.content_version;
    m->edges = sp_alloc(sizeof *m->edges);
    m->edges[0] = (struct sp_edge){to.page, to.content_version};
    m->edge_count = 1;
    c->outbox.send(c->outbox.arg, m);
}

/* The row has a new spokesman (another page, or another version of the same one). */
static void link_owners(struct sp_compare *c, struct cell *cell, uint32_t slot)
{
    uint32_t count;
    const struct owner *others = cell_others(c, cell, slot, &count);
    struct row *row = count ? cell_row(c, cell, slot) : NULL;
    for (uint32_t i = 0; row && i < count; i++)
        send_edge(c, others[i], row->first);
}

static void leave(struct sp_compare *c, struct cell *cell, struct sp_id content, struct sp_id page)
{
    uint32_t slot = cell_find(cell, content);
    if (slot == NO_SLOT || !cell_remove_owner(c, cell, slot, page) || c->err ||
        c->options.canary_no_successor)
        return;
    struct row *row = cell_row(c, cell, slot);
    struct sp_message successor = {.page = row->first.page,
                                   .content_version = row->first.content_version};
    struct sp_signature *signature = cell_signature(c, cell, slot);
    if (!signature)
        return;
    sp_signature_ref(signature);
    link_owners(c, cell, slot);
    probe_all(c, cell, &successor, signature);
    sp_signature_unref(signature);
}

static void on_put(struct sp_compare *c, struct cell *cell, const struct sp_message *m)
{
    if (!sp_id_is_zero(m->old_content) && !sp_id_eq(m->old_content, m->signature->content_hash))
        leave(c, cell, m->old_content, m->page);
    struct sp_signature *signature = m->signature;
    uint32_t slot = c->err ? NO_SLOT : cell_store(c, cell, signature);
    if (slot == NO_SLOT)
        return;
    if (cell_add_owner(c, cell, slot, (struct owner){m->page, m->content_version}))
        link_owners(c, cell, slot);
    if (!m->settled && !c->err)
        probe_all(c, cell, m, signature);
}

enum sp_err sp_compare_step(struct sp_compare *c, const struct sp_message *m)
{
    enum sp_cell_standing standing = sp_maps_standing(&c->options.maps, m->cell);
    if (standing == SP_CELL_NONE)
        return SP_MALFORMED;
    if (standing == SP_CELL_PAST && m->kind != SP_MSG_PUT)
        return SP_OK; /* nothing lives there any more */
    if (standing == SP_CELL_PAST || standing == SP_CELL_AHEAD)
        return SP_OTHER_MAP;
    struct cell *cell = cell_get(c, m->cell);
    switch (m->kind) {
    case SP_MSG_PUT:
        on_put(c, cell, m);
        break;
    case SP_MSG_REMOVE:
        leave(c, cell, m->old_content, m->page);
        break;
    case SP_MSG_PROBE:
        probe_cell(c, cell, m, m->signature);
        break;
    default:
        return SP_MALFORMED;
    }
    cells_evict(c);
    sp_contents_trim(c->contents);
    return c->err;
}

static uint64_t loads(const struct sp_compare *c)
{
    struct sp_contents_stats contents;
    sp_contents_stats(c->contents, &contents);
    return c->stats.row_loads + contents.loads;
}

/* To look for candidates twice costs as much as a load for every so many probes. */
static void see_loads(struct sp_compare *c)
{
    enum { PROBES_A_LOAD = 32 };
    c->reads_ahead = (loads(c) - c->seen_loads) * PROBES_A_LOAD > c->stats.probes - c->seen_probes;
    c->seen_loads = loads(c);
    c->seen_probes = c->stats.probes;
}

void sp_compare_expect(struct sp_compare *c, const struct sp_signature *signature)
{
    uint32_t number = sp_maps_cell(&c->options.maps, signature->length);
    struct cell *cell = c->cells[sp_cell_place(number)];
    if (!cell || !c->reads_ahead)
        return;
    uint32_t scratch[SP_SKETCH_MAX], key_count;
    const uint32_t *slots, *keys = sp_candidate_keys(&c->rule, signature, scratch, &key_count);
    size_t count =
        sp_candidates_find(cell->index, keys, key_count, signature->shingle_total, &slots);
    cell_prefetch_slots(cell, slots, count);
    for (size_t i = 0; i < count; i++)
        cell_expect_row(c, cell, slots[i]);
}

void sp_compare_prefetch(const struct sp_compare *c, const struct sp_signature *signature, bool put)
{
    uint32_t number = sp_maps_cell(&c->options.maps, signature->length);
    const struct cell *cell = c->cells[sp_cell_place(number)];
    if (!cell || !(put || c->reads_ahead))
        return;
    uint32_t scratch[SP_SKETCH_MAX], key_count;
    const uint32_t *keys = sp_candidate_keys(&c->rule, signature, scratch, &key_count);
    cell_prefetch(cell, signature->content_hash);
    sp_candidates_prefetch(cell->index, keys, key_count);
}

enum sp_err sp_compare_flush(struct sp_compare *c)
{
    for (uint32_t i = 0; i < SP_CELL_PLACES && !c->err; i++)
        if (c->cells[i])
            c->err = cell_flush(c, c->cells[i]);
    maps_flush(c);
    see_loads(c);
    c->evict_above = 0;
    cells_evict(c);
    if (c->own_contents && !c->err)
        sp_contents_flush(c->own_contents);
    return c->err;
}

void sp_compare_stats(const struct sp_compare *c, struct sp_compare_stats *ret_stats)
{
    struct sp_contents_stats own = {0};
    if (c->own_contents)
        sp_contents_stats(c->own_contents, &own);
    *ret_stats = c->stats;
    ret_stats->cache_bytes = c->cache_bytes + own.cache_bytes;
    for (uint32_t i = 0; i < SP_CELL_PLACES; i++) {
        const struct cell *cell = c->cells[i];
        if (!cell)
            continue;
        ret_stats->rows += cell->used;
        if (sp_maps_standing(&c->options.maps, cell->number) == SP_CELL_LEAVING)
            ret_stats->rows_to_move += cell->used;
        ret_stats->index_bytes += sp_candidates_bytes(cell->index) +
                                  cell->slot_cap * sizeof *cell->slots +
                                  cell->by_content_cap * 4ull;
    }
}

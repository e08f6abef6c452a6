/* See components.h. Arcs come sorted by component from disk; one component at a time is in memory.
 * Of several kept documents that cover a dropped one, the one that shares most is named. */
#include "cover/components.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/order.h"

struct component {
    uint32_t *documents; /* ascending */
    size_t count;
    size_t cap;
    struct sp_record4 *arcs; /* by from, to; keys[0] is the component */
    size_t arc_count;
    size_t arc_cap;
    uint32_t *local; /* number of each of the archive's documents within the component */
};

static void add_document(struct component *c, uint32_t document)
{
    if (c->local[document] != UINT32_MAX)
        return;
    sp_grow(&c->documents, &c->cap, c->count + 1);
    c->local[document] = 0;
    c->documents[c->count++] = document;
}

static void add_arc(struct component *c, struct sp_record4 arc)
{
    const struct sp_record4 *last = c->arc_count ? &c->arcs[c->arc_count - 1] : NULL;
    if (last && last->key[1] == arc.key[1] && last->key[2] == arc.key[2])
        return; /* the arc was found on two paths */
    sp_grow(&c->arcs, &c->arc_cap, c->arc_count + 1);
    SP_ASSERT(c->arcs);
    c->arcs[c->arc_count++] = arc;
    add_document(c, arc.key[1]);
    add_document(c, arc.key[2]);
}

static void decide(const struct component *c, const uint8_t *kept, struct sp_decisions *d)
{
    for (size_t i = 0; i < c->arc_count; i++) {
        uint32_t from = c->arcs[i].key[1], to = c->arcs[i].key[2], overlap = c->arcs[i].key[3];
        if (!kept[c->local[from]] || kept[c->local[to]])
            continue;
        if (d->covered_by[to] != SP_KEPT && d->overlap[to] >= overlap)
            continue;
        d->covered_by[to] = from;
        d->overlap[to] = overlap;
    }
    for (size_t i = 0; i < c->count; i++) /* which the solver promises */
        SP_ASSERT(kept[i] || d->covered_by[c->documents[i]] != SP_KEPT);
}

/* NULL if the documents have no weights. */
static double *weights_of(const struct component *c, const struct sp_documents *documents)
{
    if (!documents->weights)
        return NULL;
    double *weights = sp_alloc((c->count + 1) * sizeof *weights);
    for (size_t i = 0; i < c->count; i++)
        weights[i] = documents->weights[c->documents[i]];
    return weights;
}

static void solve(struct component *c, const struct sp_documents *documents,
                  const struct sp_solve_options *options, struct sp_decisions *decisions,
                  struct sp_components_stats *stats)
{
    SP_ASSERT(c->documents && c->arcs); /* every component has an arc */
    qsort(c->documents, c->count, sizeof *c->documents, sp_by_u32);
    for (size_t i = 0; i < c->count; i++)
        c->local[c->documents[i]] = (uint32_t)i;
    uint32_t *starts = sp_calloc(c->count + 2, sizeof *starts);
    uint32_t *covers = sp_alloc((c->arc_count + 1) * sizeof *covers);
    uint8_t *kept = sp_alloc(c->count);
    for (size_t i = 0; i < c->arc_count; i++) {
        starts[c->local[c->arcs[i].key[1]] + 1]++;
        /* Local numbers are in the documents' order: still sorted. */
        covers[i] = c->local[c->arcs[i].key[2]];
    }
    for (size_t i = 0; i < c->count; i++)
        starts[i + 1] += starts[i];
    struct sp_digraph graph = {(uint32_t)c->count, starts, covers, weights_of(c, documents)};
    if (graph.weights)
        sp_solve_weighted(&graph, kept, &stats->solve);
    else
        sp_solve(&graph, options, kept, &stats->solve);
    sp_free((void *)(uintptr_t)graph.weights);
    decide(c, kept, decisions);
    stats->components++;
    stats->arcs += c->arc_count;
    stats->largest = c->count > stats->largest ? c->count : stats->largest;
    for (size_t i = 0; i < c->count; i++)
        c->local[c->documents[i]] = UINT32_MAX;
    c->count = c->arc_count = 0;
    sp_free(starts);
    sp_free(covers);
    sp_free(kept);
}

/* A document that is represented by another one gets the decision about that one. */
static void decide_for_others(const struct sp_components_options *o, struct sp_decisions *d)
{
    const struct sp_documents *documents = o->documents;
    for (uint32_t i = 0; i < documents->count; i++) {
        uint32_t s = o->stands_for[i];
        if (s == i)
            continue;
        bool kept = d->covered_by[s] == SP_KEPT;
        d->covered_by[i] = kept ? s : d->covered_by[s];
        d->overlap[i] =
            kept ? documents->contents[documents->items[i].content].size : d->overlap[s];
    }
}

enum sp_err sp_components_solve(const struct sp_components_options *o, struct sp_graph *graph,
                                struct sp_decisions *decisions, struct sp_components_stats *stats,
                                struct sp_fault *fault)
{
    struct component c = {0};
    struct sp_sorter sorter;
    struct sp_record4 arc;
    uint64_t done = 0;
    sp_sorter_open(&sorter, o->temp, o->memory_bytes);
    enum sp_err err = sp_graph_sort(graph, &sorter, fault);
    c.local = sp_alloc((o->documents->count + 1) * sizeof *c.local);
    memset(c.local, 0xff, o->documents->count * sizeof *c.local);
    while (err == SP_OK && sp_sorter_next(&sorter, &arc)) {
        if (c.arc_count && c.arcs[0].key[0] != arc.key[0])
            solve(&c, o->documents, &o->solve, decisions, stats);
        add_arc(&c, arc);
        if (c.arc_count > UINT32_MAX - 2)
            err = sp_fault_set(fault, SP_TOO_LARGE,
                               "a component of the relation has more than 4 billion pairs; make "
                               "the relation stricter");
        if (done++ % 4096 == 0 && o->progress)
            o->progress(o->progress_arg, done, graph->arc_count);
    }
    if (err == SP_OK && c.arc_count)
        solve(&c, o->documents, &o->solve, decisions, stats);
    decide_for_others(o, decisions);
    sp_sorter_close(&sorter);
    sp_free(c.documents);
    sp_free(c.arcs);
    sp_free(c.local);
    return err;
}

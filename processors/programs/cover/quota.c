/* See quota.h. */
#include "cover/quota.h"

#include <stdlib.h>

#include "base/mem.h"

struct candidate {
    const struct sp_view *host; /* equal texts are one object */
    double weight;
    uint32_t covers; /* 0 if it is dropped */
    uint32_t document;
    bool kept;
};

/* Sorts by host; within a host kept documents come first, in the order in which they stay, then the
 * others in the order in which they are added. Hosts are independent, so their order does not
 * matter. */
static int by_host(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->host != y->host)
        return (uintptr_t)x->host < (uintptr_t)y->host ? -1 : 1;
    if (x->kept != y->kept)
        return x->kept ? -1 : 1;
    if (x->covers != y->covers)
        return x->covers > y->covers ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    bool first = x->document < y->document;
    return x->document == y->document ? 0 : first == x->kept ? -1 : 1;
}

static struct candidate *make_candidates(const struct sp_documents *documents,
                                         const struct sp_decisions *decisions)
{
    struct candidate *c = sp_calloc(documents->count + 1, sizeof *c);
    uint8_t slot = documents->slot[SP_FIELD_host];
    for (size_t i = 0; i < documents->count; i++) {
        c[i].host = sp_document_cells(documents, i)[slot].text;
        c[i].weight = documents->weights ? documents->weights[i] : 1;
        c[i].document = (uint32_t)i;
        c[i].kept = decisions->covered_by[i] == SP_KEPT;
        if (!c[i].kept)
            c[decisions->covered_by[i]].covers++;
    }
    if (documents->count)
        qsort(c, documents->count, sizeof *c, by_host);
    return c;
}

/* Adds for host_least, and leaves out for host_most: also what those covered that are left out. */
static void choose(const struct sp_quota *quota, const struct sp_documents *documents,
                   struct sp_decisions *decisions, struct sp_quota_stats *stats)
{
    struct candidate *c = make_candidates(documents, decisions);
    for (size_t i = 0, rank = 0; i < documents->count; i++) {
        rank = i > 0 && c[i].host == c[i - 1].host ? rank + 1 : 0;
        if (c[i].kept && quota->most && rank >= quota->most) {
            decisions->covered_by[c[i].document] = SP_LEFT_OUT;
        } else if (!c[i].kept && rank < quota->least) {
            decisions->covered_by[c[i].document] = SP_KEPT;
            stats->added++;
        }
    }
    sp_free(c);
    for (size_t i = 0; i < documents->count; i++) {
        uint32_t by = decisions->covered_by[i];
        if (by < SP_LEFT_OUT && decisions->covered_by[by] == SP_LEFT_OUT)
            decisions->covered_by[i] = SP_LEFT_OUT;
    }
}

/* ---- what is left out may be covered by another kept document ---- */

struct again {
    const struct sp_quota_options *options;
    struct sp_decisions *decisions;
    uint32_t *stand_in; /* of a document: a kept one that it stands for; SP_KEPT: none */
    uint32_t *by;       /* of one that is left out: what covers it; SP_KEPT: nothing */
    uint32_t *overlap;
};

static bool holds(const struct again *g, uint32_t covered, uint32_t by, uint32_t overlap)
{
    struct sp_relation_pair pair = sp_documents_pair(g->options->documents, covered, by, overlap);
    return sp_relation_holds(g->options->relation->root, &pair);
}

/* Whatever the order of the arcs: the one that shares most, and of equal ones the first. */
static void note(struct again *g, uint32_t covered, uint32_t by, uint32_t overlap)
{
    if (g->by[covered] != SP_KEPT &&
        (overlap < g->overlap[covered] || (overlap == g->overlap[covered] && by > g->by[covered])))
        return;
    g->by[covered] = by;
    g->overlap[covered] = overlap;
}

static uint32_t size_of(const struct again *g, uint32_t document)
{
    const struct sp_documents *d = g->options->documents;
    return d->contents[d->items[document].content].size;
}

/* Documents that host_least added have no arcs: those of the document that stands for them, which
 * has the same content, tell what they share. */
static void find_stand_ins(struct again *g)
{
    for (uint32_t i = 0; i < g->options->documents->count; i++) {
        uint32_t s = g->options->stands_for[i];
        if (s == i || g->decisions->covered_by[i] != SP_KEPT || g->stand_in[s] != SP_KEPT)
            continue;
        g->stand_in[s] = i;
        if (holds(g, s, i, size_of(g, i)))
            note(g, s, i, size_of(g, i));
    }
}

static void look_at_arc(struct again *g, const struct sp_arc *arc)
{
    const uint32_t *covered_by = g->decisions->covered_by;
    if (covered_by[arc->to] != SP_LEFT_OUT)
        return;
    uint32_t by = covered_by[arc->from] == SP_KEPT ? arc->from : g->stand_in[arc->from];
    if (by != SP_KEPT && (by == arc->from || holds(g, arc->to, by, arc->overlap)))
        note(g, arc->to, by, arc->overlap);
}

/* What covers a document covers those that it stands for (quotient.h). */
static void look_at_others(struct again *g)
{
    for (uint32_t i = 0; i < g->options->documents->count; i++) {
        uint32_t s = g->options->stands_for[i], in = g->stand_in[s];
        if (s == i || g->decisions->covered_by[i] != SP_LEFT_OUT)
            continue;
        if (g->by[s] != SP_KEPT)
            note(g, i, g->by[s], g->overlap[s]);
        else if (in != SP_KEPT && holds(g, i, in, size_of(g, i)))
            note(g, i, in, size_of(g, i));
    }
}

static enum sp_err cover_again(const struct sp_quota_options *o, struct sp_graph *graph,
                               struct sp_decisions *decisions, struct sp_fault *fault)
{
    size_t count = o->documents->count;
    enum sp_err err = SP_OK;
    struct again g = {o, decisions, sp_alloc((count + 1) * sizeof *g.stand_in),
                      sp_alloc((count + 1) * sizeof *g.by),
                      sp_calloc(count + 1, sizeof *g.overlap)};
    memset(g.stand_in, 0xff, count * sizeof *g.stand_in); /* SP_KEPT */
    memset(g.by, 0xff, count * sizeof *g.by);
    find_stand_ins(&g);
    const struct sp_arc *arcs = sp_graph_arcs(graph, fault, &err);
    for (uint64_t i = 0; arcs && i < graph->arc_count; i++)
        look_at_arc(&g, &arcs[i]);
    look_at_others(&g);
    for (size_t i = 0; i < count; i++) {
        if (decisions->covered_by[i] != SP_LEFT_OUT || g.by[i] == SP_KEPT)
            continue;
        decisions->covered_by[i] = g.by[i];
        decisions->overlap[i] = g.overlap[i];
    }
    sp_free(g.stand_in);
    sp_free(g.by);
    sp_free(g.overlap);
    return err;
}

enum sp_err sp_quota_apply(const struct sp_quota_options *o, struct sp_graph *graph,
                           struct sp_decisions *decisions, struct sp_quota_stats *stats,
                           struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    if (o->quota.least == 0 && o->quota.most == 0)
        return SP_OK;
    choose(&o->quota, o->documents, decisions, stats);
    if (o->quota.most)
        err = cover_again(o, graph, decisions, fault);
    for (size_t i = 0; i < o->documents->count; i++)
        stats->left_out += decisions->covered_by[i] == SP_LEFT_OUT;
    return err;
}

/* See arcs.h. */
#include "cover/arcs.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cover/quotient.h"
#include "similarity/intersect.h"

struct ref {
    uint64_t block; /* hash of the path's keys */
    uint32_t content;
    uint32_t document;
    double from, to; /* as a: the range of values that b may have */
    double value;    /* as b; the documents of a unit are sorted by it */
};

struct search {
    const struct sp_arcs_options *options;
    const struct sp_documents *documents; /* the options' */
    const struct sp_path *path;
    struct sp_graph *graph;
    struct sp_pairs_stats *stats;
    struct ref *refs; /* documents, sorted by unit */
    size_t ref_count;
    struct sp_unit *units; /* sorted by block */
    size_t unit_count;
};

/* ---- units ---- */

static int by_unit(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->content != y->content)
        return x->content < y->content ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

static uint64_t block_of(const struct search *s, uint32_t document)
{
    struct sp_relation_pair pair = sp_documents_pair(s->documents, document, document, 0);
    uint64_t hash = 0;
    for (size_t k = 0; k < s->path->key_count; k++)
        hash = sp_mix64(hash + 1) ^ sp_value_hash(s->path->keys[k], &pair);
    return hash;
}

static bool has_role(const struct search *s, uint32_t document, unsigned side)
{
    struct sp_relation_pair pair = sp_documents_pair(s->documents, document, document, 0);
    for (size_t i = 0; i < s->path->sided_count[side]; i++)
        if (!sp_atom_holds(&s->path->sided[side][i], &pair))
            return false;
    return true;
}

static struct ref make_ref(const struct search *s, uint32_t document)
{
    struct ref ref = {.block = block_of(s, document),
                      .content = s->documents->items[document].content,
                      .document = document,
                      .from = -INFINITY,
                      .to = INFINITY};
    const struct sp_plan_window *w = &s->path->window;
    if (!w->of_a)
        return ref;
    struct sp_relation_pair pair = sp_documents_pair(s->documents, document, document, 0);
    double f = sp_relation_number(w->of_a, &pair), g = sp_relation_number(w->of_b, &pair);
    double rounding = 1e-12 * (fabs(f) + 1);
    double from = f - w->below - rounding - 1e-12 * fabs(w->below);
    double to = f + w->above + rounding + 1e-12 * fabs(w->above);
    /* If infinite values give no bound, all documents are compared. NaN has no window. */
    ref.from = f != f ? INFINITY : from == from ? from : -INFINITY;
    ref.to = f != f ? -INFINITY : to == to ? to : INFINITY;
    ref.value = g == g ? g : INFINITY; /* NaN comes last, outside of every bounded window */
    return ref;
}

/* Extends the unit by a document. */
static void join_unit(const struct search *s, struct sp_unit *u, const struct ref *ref)
{
    u->count++;
    u->role[0] |= has_role(s, ref->document, 0);
    u->role[1] |= has_role(s, ref->document, 1);
    u->from = fmin(u->from, ref->from);
    u->to = fmax(u->to, ref->to);
    u->least = fmin(u->least, ref->value);
    u->greatest = fmax(u->greatest, ref->value);
}

static void make_units(struct search *s)
{
    const struct sp_documents *d = s->documents;
    uint32_t block = 0;
    s->refs = sp_alloc((d->count + 1) * sizeof *s->refs);
    for (uint32_t i = 0; i < d->count; i++)
        if (s->options->stands_for[i] == i)
            s->refs[s->ref_count++] = make_ref(s, i);
    qsort(s->refs, s->ref_count, sizeof *s->refs, by_unit);
    s->units = sp_alloc((s->ref_count + 1) * sizeof *s->units);
    for (size_t i = 0; i < s->ref_count; i++) {
        const struct ref *ref = &s->refs[i];
        bool new_block = i == 0 || ref->block != ref[-1].block;
        if (new_block && s->path->key_count > 0)
            block++;
        if (new_block || ref->content != ref[-1].content) {
            const struct sp_cover_content *c = &d->contents[ref->content];
            s->units[s->unit_count++] = (struct sp_unit){.at = c->at,
                                                         .size = c->size,
                                                         .block = block,
                                                         .first = (uint32_t)i,
                                                         .from = INFINITY,
                                                         .to = -INFINITY,
                                                         .least = INFINITY,
                                                         .greatest = -INFINITY};
        }
        join_unit(s, &s->units[s->unit_count - 1], ref);
    }
}

/* ---- pairs ---- */

static void ask(struct search *s, unsigned thread, uint32_t a, uint32_t b, uint32_t overlap)
{
    struct sp_relation_pair pair = sp_documents_pair(s->documents, a, b, overlap);
    if (a != b && sp_relation_holds(s->options->relation->root, &pair))
        sp_graph_add(s->graph, thread, (struct sp_arc){b, a, overlap});
}

/* Returns the first document of the unit whose value is at least `from`. */
static uint32_t first_from(const struct search *s, const struct sp_unit *u, double from)
{
    uint32_t lo = u->first, hi = u->first + u->count;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (s->refs[middle].value < from)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Compares the pairs (document of unit a, document of unit b) within the window. */
static void ask_units(void *arg, unsigned thread, size_t a, size_t b, uint32_t overlap)
{
    struct search *s = arg;
    const struct sp_unit *x = &s->units[a], *y = &s->units[b];
    for (uint32_t i = x->first; i < x->first + x->count; i++) {
        const struct ref *ref = &s->refs[i];
        uint32_t k = first_from(s, y, ref->from);
        for (; k < y->first + y->count && s->refs[k].value <= ref->to; k++)
            ask(s, thread, ref->document, s->refs[k].document, overlap);
    }
}

static void within_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct search *s = arg;
    for (size_t u = from; u < to; u++)
        if (s->units[u].count > 1 && s->units[u].role[0] && s->units[u].role[1])
            ask_units(s, thread, u, u, s->units[u].size);
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
    const struct search *s = arg;
    if (s->options->progress)
        s->options->progress(s->options->progress_arg, done, total);
}

/* Without a measure: compares each unit with all later units of its block. */
static void block_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct search *s = arg;
    const uint32_t *sets = s->documents->sets;
    for (size_t u = from; u < to; u++) {
        const struct sp_unit *x = &s->units[u];
        for (size_t v = u + 1; v < s->unit_count && s->units[v].block == x->block; v++) {
            const struct sp_unit *y = &s->units[v];
            bool there = x->role[0] && y->role[1] && sp_units_meet(x, y);
            bool back = y->role[0] && x->role[1] && sp_units_meet(y, x);
            if (!there && !back)
                continue;
            uint32_t overlap = 0;
            if (s->options->plan->measures)
                overlap = (uint32_t)sp_intersect(sets + x->at, x->size, sets + y->at, y->size, 0);
            if (there)
                ask_units(s, thread, u, v, overlap);
            if (back)
                ask_units(s, thread, v, u, overlap);
        }
        if (thread == 0)
            on_progress(s, u, s->unit_count);
    }
}

/* Pairs of units of one block. */
static uint64_t block_pairs(const struct search *s)
{
    uint64_t pairs = 0, in_block = 0;
    for (size_t u = 0; u < s->unit_count; u++) {
        in_block = u > 0 && s->units[u].block == s->units[u - 1].block ? in_block + 1 : 0;
        pairs += in_block;
    }
    return pairs;
}

static enum sp_err find_on_path(struct search *s, struct sp_fault *fault)
{
    const struct sp_arcs_options *o = s->options;
    const struct sp_path *path = s->path;
    bool measured = path->share[0] > 0 || path->share[1] > 0;
    if (!measured && block_pairs(s) > SP_BLOCK_PAIRS_MAX)
        return sp_fault_set(fault, SP_TOO_LARGE,
                            "the relation would have to be evaluated for %.2g pairs; add a least "
                            "similarity (containment(a, b) >= 0.7) or an equality "
                            "(a.host = b.host) that leaves fewer",
                            (double)block_pairs(s));
    sp_parallel(o->threads, s->unit_count, 64, within_step, s);
    if (!measured) {
        sp_parallel(o->threads, s->unit_count, 1, block_step, s);
        return SP_OK;
    }
    struct sp_pairs_options pairs = {.share = {path->share[0], path->share[1]},
                                     .threads = o->threads,
                                     .memory_bytes = o->memory_bytes,
                                     .each = ask_units,
                                     .progress = on_progress,
                                     .arg = s};
    sp_pairs_find(s->units, s->unit_count, s->documents->sets, &pairs, s->stats);
    return SP_OK;
}

enum sp_err sp_arcs_find(const struct sp_arcs_options *options, struct sp_graph *graph,
                         struct sp_pairs_stats *stats, struct sp_fault *fault)
{
    const struct sp_plan *plan = options->plan;
    enum sp_err err = SP_OK;
    for (size_t p = 0; p < plan->path_count && err == SP_OK; p++) {
        struct search s = {.options = options,
                           .documents = options->documents,
                           .path = &plan->paths[p],
                           .graph = graph,
                           .stats = stats};
        make_units(&s);
        err = find_on_path(&s, fault);
        sp_free(s.refs);
        sp_free(s.units);
    }
    sp_graph_finish(graph);
    return err;
}

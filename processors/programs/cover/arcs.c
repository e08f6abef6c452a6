/* See arcs.h. */
#include "cover/arcs.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/parallel.h"
#include "cover/apart.h"
#include "cover/quotient.h"
#include "cover/refs.h"
#include "similarity/intersect.h"

enum { CENTRAL = 32 }; /* of a component, asked at the end */

/* Documents of a unit that are asked in this round, in search.asked. Those that are alike follow
 * the others. */
struct span {
    uint32_t first;
    uint32_t alike;
    uint32_t end;
};

/* When a document is asked whether it covers others. */
struct turn {
    uint64_t order;
    uint32_t ref;
    bool over; /* it was asked */
};

/* A document that was not asked. */
struct central {
    uint32_t component;
    uint32_t coverers;
    uint32_t document;
    uint32_t ref;
};

struct search {
    const struct sp_arcs_options *options;
    const struct sp_documents *documents; /* the options' */
    const struct sp_path *path;
    struct sp_graph *graph;
    struct sp_arcs_stats *stats;
    struct sp_ref *refs; /* documents, sorted by unit */
    size_t ref_count;
    struct sp_unit *units; /* sorted by block */
    size_t unit_count;
    uint32_t *alike;    /* of each unit: the class that most of its documents have, or 0 */
    uint32_t *classes;  /* of each document; NULL: nothing is kept apart */
    uint32_t *coverers; /* of each ref, found so far */
    struct turn *turns; /* of the refs that may be b */
    size_t turn_count;
    uint64_t rounds;
    uint32_t *asked;    /* refs of this round, ascending */
    struct span *spans; /* of each unit */
    uint64_t evaluated[SP_PARALLEL_THREADS];
};

/* ---- units ---- */

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

static struct sp_ref make_ref(const struct search *s, uint32_t document)
{
    struct sp_ref ref = {.block = block_of(s, document),
                         .content = s->documents->items[document].content,
                         .document = document,
                         .apart = s->classes ? s->classes[document] : 0,
                         .from = -INFINITY,
                         .to = INFINITY};
    const struct sp_plan_window *w = &s->path->window;
    if (!w->of_a)
        return ref;
    struct sp_relation_pair pair = sp_documents_pair(s->documents, document, document, 0);
    double f = sp_relation_number(w->of_a, &pair), g = sp_relation_number(w->of_b, &pair);
    sp_plan_window_of(w, f, &ref.from, &ref.to);
    if (f != f) { /* NaN has no window */
        ref.from = INFINITY;
        ref.to = -INFINITY;
    }
    ref.value = g == g ? g : INFINITY; /* NaN comes last, outside of every bounded window */
    return ref;
}

/* In a block of one class, nothing covers anything. */
static void drop_blocks_of_one_class(struct search *s)
{
    for (size_t from = 0, to; from < s->unit_count; from = to) {
        struct sp_unit *units = s->units;
        bool one = units[from].apart > 0;
        for (to = from + 1; to < s->unit_count && units[to].block == units[from].block; to++)
            one = one && units[to].apart == units[from].apart;
        for (size_t u = from; one && u < to; u++)
            units[u].role[0] = units[u].role[1] = false;
    }
}

/* What no document of its block is in the window of covers nothing, and what is in no window is not
 * covered. */
static void drop_those_outside_windows(struct search *s)
{
    for (size_t first = 0, end; first < s->unit_count; first = end) {
        struct sp_unit *units = s->units;
        double least = INFINITY, greatest = -INFINITY, from = INFINITY, to = -INFINITY;
        for (end = first; end < s->unit_count && units[end].block == units[first].block; end++) {
            least = fmin(least, units[end].least);
            greatest = fmax(greatest, units[end].greatest);
            from = fmin(from, units[end].from);
            to = fmax(to, units[end].to);
        }
        for (size_t u = first; u < end; u++) {
            units[u].role[0] &= units[u].from <= greatest && least <= units[u].to;
            units[u].role[1] &= from <= units[u].greatest && units[u].least <= to;
        }
    }
}

/* Extends the unit by a document. */
static void join_unit(const struct search *s, struct sp_unit *u, const struct sp_ref *ref)
{
    u->count++;
    u->role[0] |= has_role(s, ref->document, 0);
    u->role[1] |= has_role(s, ref->document, 1);
    u->from = fmin(u->from, ref->from);
    u->to = fmax(u->to, ref->to);
    u->least = fmin(u->least, ref->value);
    u->greatest = fmax(u->greatest, ref->value);
    if (ref->apart != u->apart)
        u->apart = 0;
}

static void make_units(struct search *s)
{
    const struct sp_documents *d = s->documents;
    uint32_t block = 0;
    s->refs = sp_alloc((d->count + 1) * sizeof *s->refs);
    for (uint32_t i = 0; i < d->count; i++)
        if (s->options->stands_for[i] == i)
            s->refs[s->ref_count++] = make_ref(s, i);
    sp_refs_sort(s->refs, s->ref_count, s->classes != NULL);
    s->units = sp_alloc((s->ref_count + 1) * sizeof *s->units);
    s->alike = sp_calloc(s->ref_count + 1, sizeof *s->alike);
    for (size_t i = 0; i < s->ref_count; i++) {
        const struct sp_ref *ref = &s->refs[i];
        bool new_block = i == 0 || ref->block != ref[-1].block;
        if (new_block && s->path->key_count > 0)
            block++;
        if (new_block || ref->content != ref[-1].content) {
            const struct sp_cover_content *c = &d->contents[ref->content];
            s->units[s->unit_count++] = (struct sp_unit){.at = c->at,
                                                         .size = c->size,
                                                         .block = block,
                                                         .apart = ref->apart,
                                                         .first = (uint32_t)i,
                                                         .from = INFINITY,
                                                         .to = -INFINITY,
                                                         .least = INFINITY,
                                                         .greatest = -INFINITY};
        }
        join_unit(s, &s->units[s->unit_count - 1], ref);
        s->alike[s->unit_count - 1] = ref->alike ? ref->apart : 0; /* the last ones are alike */
    }
    if (s->classes)
        drop_blocks_of_one_class(s);
    if (s->path->window.of_a)
        drop_those_outside_windows(s);
}

/* ---- pairs ---- */

static void ask(struct search *s, unsigned thread, uint32_t a_ref, uint32_t b_ref, uint32_t overlap)
{
    uint32_t a = s->refs[a_ref].document, b = s->refs[b_ref].document;
    struct sp_relation_pair pair = sp_documents_pair(s->documents, a, b, overlap);
    if (a == b || !sp_relation_holds(s->options->relation->root, &pair))
        return;
    __atomic_fetch_add(&s->coverers[a_ref], 1, __ATOMIC_RELAXED);
    sp_graph_add(s->graph, thread, (struct sp_arc){b, a, overlap});
}

/* Returns the first of the asked documents [lo, hi) whose value is at least `from`. */
static uint32_t first_from(const struct search *s, uint32_t lo, uint32_t hi, double from)
{
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (s->refs[s->asked[middle]].value < from)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Compares document a with those of the asked documents [first, end) that are in its window. */
static void ask_window(struct search *s, unsigned thread, uint32_t a, uint32_t first, uint32_t end,
                       uint32_t overlap)
{
    const struct sp_ref *ref = &s->refs[a];
    uint32_t from = first_from(s, first, end, ref->from), k = from;
    for (; k < end && s->refs[s->asked[k]].value <= ref->to; k++)
        ask(s, thread, a, s->asked[k], overlap);
    s->evaluated[thread] += k - from;
}

/* Compares the pairs (document of unit a, asked document of unit b) within the window. */
static void ask_units(void *arg, unsigned thread, size_t a, size_t b, uint32_t overlap)
{
    struct search *s = arg;
    const struct sp_unit *x = &s->units[a];
    struct span span = s->spans[b];
    for (uint32_t i = x->first; i < x->first + x->count; i++) {
        ask_window(s, thread, i, span.first, span.alike, overlap);
        if (s->alike[b] == 0 || s->refs[i].apart != s->alike[b])
            ask_window(s, thread, i, span.alike, span.end, overlap);
    }
}

static bool is_measured(const struct sp_path *path)
{
    return path->share[0] > 0 || path->share[1] > 0;
}

/* Documents without words share nothing. As they get no coverers, all of them would be asked. */
static bool may_cover_within(const struct search *s, const struct sp_unit *u)
{
    return u->count > 1 && u->role[0] && u->asked && (u->size > 0 || !is_measured(s->path));
}

static void within_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct search *s = arg;
    for (size_t u = from; u < to; u++)
        if (may_cover_within(s, &s->units[u]))
            ask_units(s, thread, u, u, s->units[u].size);
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
    const struct search *s = arg;
    if (s->options->progress)
        s->options->progress(s->options->progress_arg, done, total);
}

/* Compares two different units of one block, in both directions if both are asked. */
static void meet(struct search *s, unsigned thread, size_t u, size_t v)
{
    const struct sp_unit *x = &s->units[u], *y = &s->units[v];
    const uint32_t *sets = s->documents->sets;
    bool there = x->role[0] && y->asked && sp_units_meet(x, y);
    bool back = y->role[0] && x->asked && sp_units_meet(y, x);
    uint32_t overlap = 0;
    if (!there && !back)
        return;
    if (s->options->plan->measures)
        overlap = (uint32_t)sp_intersect(sets + x->at, x->size, sets + y->at, y->size, 0);
    if (there)
        ask_units(s, thread, u, v, overlap);
    if (back)
        ask_units(s, thread, v, u, overlap);
}

/* Without a measure: compares each asked unit with the others of its block. */
static void block_step(void *arg, unsigned thread, size_t from, size_t to)
{
    struct search *s = arg;
    const struct sp_unit *units = s->units;
    for (size_t u = from; u < to; u++) {
        for (size_t v = u; units[u].asked && v-- > 0 && units[v].block == units[u].block;)
            if (!units[v].asked)
                meet(s, thread, u, v);
        for (size_t v = u + 1;
             units[u].asked && v < s->unit_count && units[v].block == units[u].block; v++)
            meet(s, thread, u, v);
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

/* ---- rounds ---- */

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

static void make_turns(struct search *s)
{
    size_t room = s->ref_count + 1;
    s->turns = sp_alloc(room * sizeof *s->turns);
    for (uint32_t i = 0; i < s->ref_count; i++)
        if (has_role(s, s->refs[i].document, 1))
            s->turns[s->turn_count++] =
                (struct turn){.order = sp_mix64(s->refs[i].document + 1), .ref = i};
    if (s->options->coverers)
        qsort(s->turns, s->turn_count, sizeof *s->turns, by_turn);
    s->coverers = sp_calloc(room, sizeof *s->coverers);
    s->asked = sp_alloc(room * sizeof *s->asked);
    s->spans = sp_alloc((s->unit_count + 1) * sizeof *s->spans);
}

static size_t round_end(const struct search *s, size_t from)
{
    size_t least = s->options->coverers + 1ull, to = from < least ? least : 2 * from;
    return s->options->coverers && to < s->turn_count ? to : s->turn_count;
}

/* Asks the first `count` documents of s->asked. */
static void ask_round(struct search *s, struct sp_pairs *pairs, uint32_t count)
{
    uint32_t at = 0;
    s->rounds++;
    s->stats->not_asked -= count;
    qsort(s->asked, count, sizeof *s->asked, sp_by_u32);
    for (size_t u = 0; u < s->unit_count; u++) {
        struct span *span = &s->spans[u];
        span->first = at;
        while (at < count && s->asked[at] < s->units[u].first + s->units[u].count &&
               !s->refs[s->asked[at]].alike)
            at++;
        span->alike = at;
        while (at < count && s->asked[at] < s->units[u].first + s->units[u].count)
            at++;
        span->end = at;
        s->units[u].asked = span->end > span->first;
    }
    sp_parallel(s->options->threads, s->unit_count, 64, within_step, s);
    if (pairs)
        sp_pairs_find(pairs);
    else
        sp_parallel(s->options->threads, s->unit_count, 1, block_step, s);
}

/* Asks all in their turn, except those that enough others cover. */
static void ask_in_turn(struct search *s, struct sp_pairs *pairs)
{
    uint32_t most = s->options->coverers;
    for (size_t from = 0, to; from < s->turn_count; from = to) {
        uint32_t count = 0;
        to = round_end(s, from);
        for (size_t i = from; i < to; i++) {
            uint32_t ref = s->turns[i].ref;
            s->turns[i].over = !most || s->coverers[ref] < most;
            if (s->turns[i].over)
                s->asked[count++] = ref;
        }
        ask_round(s, pairs, count);
    }
}

static int most_central_first(const void *a, const void *b)
{
    const struct central *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    if (x->coverers != y->coverers)
        return x->coverers > y->coverers ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

/* Asks some of the others: the few of each component that most of those asked cover. What they all
 * resemble, as the original of many copies, often covers most of them. */
static void ask_central(struct search *s, struct sp_pairs *pairs)
{
    struct central *others = sp_alloc((s->turn_count + 1) * sizeof *others);
    size_t count = 0, rank = 0;
    uint32_t asked = 0;
    sp_graph_finish(s->graph);
    for (size_t i = 0; i < s->turn_count; i++) {
        uint32_t ref = s->turns[i].ref, document = s->refs[ref].document;
        if (!s->turns[i].over)
            others[count++] = (struct central){sp_graph_component(s->graph, document),
                                               s->coverers[ref], document, ref};
    }
    qsort(others, count, sizeof *others, most_central_first);
    for (size_t i = 0; i < count; i++) {
        rank = i > 0 && others[i].component == others[i - 1].component ? rank + 1 : 0;
        if (rank < CENTRAL)
            s->asked[asked++] = others[i].ref;
    }
    sp_free(others);
    if (asked)
        ask_round(s, pairs, asked);
}

static enum sp_err find_on_path(struct search *s, struct sp_fault *fault)
{
    const struct sp_arcs_options *o = s->options;
    const struct sp_path *path = s->path;
    bool measured = is_measured(path);
    if (!measured && block_pairs(s) > SP_BLOCK_PAIRS_MAX)
        return sp_fault_set(fault, SP_TOO_LARGE,
                            "the relation would have to be evaluated for %.2g pairs; add a least "
                            "similarity (containment(a, b) >= 0.7) or an equality "
                            "(a.host = b.host) that leaves fewer",
                            (double)block_pairs(s));
    struct sp_pairs_options options = {.share = {path->share[0], path->share[1]},
                                       .jaccard = path->jaccard,
                                       .threads = o->threads,
                                       .memory_bytes = o->memory_bytes,
                                       .each = ask_units,
                                       .progress = on_progress,
                                       .arg = s};
    struct sp_pairs *pairs = NULL;
    if (measured)
        pairs = sp_pairs_open(s->units, s->unit_count, s->documents->sets, &options);
    s->stats->not_asked += s->turn_count;
    ask_in_turn(s, pairs);
    ask_central(s, pairs);
    if (pairs)
        sp_pairs_close(pairs, &s->stats->pairs);
    return SP_OK;
}

enum sp_err sp_arcs_find(const struct sp_arcs_options *options, struct sp_graph *graph,
                         struct sp_arcs_stats *stats, struct sp_fault *fault)
{
    const struct sp_plan *plan = options->plan;
    enum sp_err err = SP_OK;
    for (size_t p = 0; p < plan->path_count && err == SP_OK; p++) {
        struct search s = {.options = options,
                           .documents = options->documents,
                           .path = &plan->paths[p],
                           .graph = graph,
                           .stats = stats};
        s.classes = sp_apart_make(s.path, s.documents, options->stands_for);
        make_units(&s);
        make_turns(&s);
        err = find_on_path(&s, fault);
        for (unsigned t = 0; t < SP_PARALLEL_THREADS; t++)
            stats->evaluated += s.evaluated[t];
        stats->rounds = s.rounds > stats->rounds ? s.rounds : stats->rounds;
        sp_free(s.refs);
        sp_free(s.units);
        sp_free(s.alike);
        sp_free(s.classes);
        sp_free(s.turns);
        sp_free(s.coverers);
        sp_free(s.asked);
        sp_free(s.spans);
    }
    sp_graph_finish(graph);
    return err;
}

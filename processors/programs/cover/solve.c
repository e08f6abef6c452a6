/* See solve.h: reduction, parts, and the greedy cover. */
#include "cover/solve.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/order.h"

struct gain {
    uint32_t gain;
    uint32_t set;
};

struct solver {
    const struct sp_digraph *graph;
    uint32_t *in_starts; /* the documents that cover document i, without itself */
    uint32_t *in;
    uint8_t *kept;
    uint8_t *covered;
    uint8_t *closed;   /* will never be kept */
    uint32_t *gains;   /* of each set: uncovered documents in it */
    uint32_t *choices; /* of each uncovered document: open sets that have it */
    uint32_t *queue;   /* documents whose set or choices may allow a reduction; a ring */
    uint32_t queue_head;
    uint32_t queue_count;
    uint8_t *queued;
    uint32_t *local;    /* scratch: numbers within a part */
    uint8_t *settled;   /* covered by the reduction, whose sets stay kept */
    uint32_t *coverers; /* of each document that is not settled: sets that were taken greedily */
};

static void enqueue(struct solver *s, uint32_t i)
{
    if (s->queued[i])
        return;
    s->queued[i] = 1;
    s->queue[(s->queue_head + s->queue_count++) % s->graph->count] = i;
}

/* ---- walking over a document's neighbours, itself included ---- */

static uint32_t out_count(const struct solver *s, uint32_t i)
{
    return s->graph->starts[i + 1] - s->graph->starts[i] + 1;
}

static uint32_t out(const struct solver *s, uint32_t i, uint32_t k)
{
    return k == 0 ? i : s->graph->covers[s->graph->starts[i] + k - 1];
}

static uint32_t in_count(const struct solver *s, uint32_t i)
{
    return s->in_starts[i + 1] - s->in_starts[i] + 1;
}

static uint32_t in(const struct solver *s, uint32_t i, uint32_t k)
{
    return k == 0 ? i : s->in[s->in_starts[i] + k - 1];
}

static void make_in(struct solver *s)
{
    const struct sp_digraph *g = s->graph;
    s->in_starts = sp_calloc(g->count + 2ull, sizeof *s->in_starts);
    s->in = sp_alloc((g->starts[g->count] + 1ull) * sizeof *s->in);
    for (uint32_t k = 0; k < g->starts[g->count]; k++)
        s->in_starts[g->covers[k] + 2]++;
    for (uint32_t i = 2; i <= g->count; i++)
        s->in_starts[i] += s->in_starts[i - 1];
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = g->starts[i]; k < g->starts[i + 1]; k++)
            s->in[s->in_starts[g->covers[k] + 1]++] = i;
}

/* ---- reduction ---- */

static void keep(struct solver *s, uint32_t set)
{
    s->kept[set] = 1;
    for (uint32_t k = 0; k < out_count(s, set); k++) {
        uint32_t e = out(s, set, k);
        if (s->covered[e])
            continue;
        s->covered[e] = 1;
        for (uint32_t j = 0; j < in_count(s, e); j++) {
            uint32_t other = in(s, e, j);
            s->gains[other]--;
            enqueue(s, other);
        }
    }
}

/* Excludes a set that covers too little to be useful. */
static void close_set(struct solver *s, uint32_t set)
{
    s->closed[set] = 1;
    for (uint32_t k = 0; k < out_count(s, set); k++) {
        uint32_t e = out(s, set, k);
        s->choices[e]--;
        if (!s->covered[e])
            enqueue(s, e);
    }
}

static uint32_t only_choice(const struct solver *s, uint32_t e)
{
    uint32_t k = 0;
    while (s->closed[in(s, e, k)])
        k++;
    return in(s, e, k);
}

static void reduce(struct solver *s)
{
    SP_ASSERT(s->graph->count > 0);
    for (uint32_t i = 0; i < s->graph->count; i++)
        enqueue(s, i);
    while (s->queue_count > 0) {
        uint32_t i = s->queue[s->queue_head];
        s->queue_head = (s->queue_head + 1) % s->graph->count;
        s->queue_count--;
        s->queued[i] = 0;
        if (!s->covered[i] && s->choices[i] == 1)
            keep(s, only_choice(s, i));
        if (s->kept[i] || s->closed[i])
            continue;
        if (s->gains[i] == 0) {
            close_set(s, i);
        } else if (s->gains[i] == 1) {
            uint32_t k = 0;
            while (s->covered[out(s, i, k)])
                k++;
            if (s->choices[out(s, i, k)] > 1)
                close_set(s, i);
        }
    }
}

/* ---- the greedy cover ---- */

static bool better(struct gain x, struct gain y)
{
    return x.gain != y.gain ? x.gain > y.gain : x.set < y.set;
}

static void sift(struct gain *heap, size_t n, size_t i)
{
    for (size_t kid; (kid = 2 * i + 1) < n; i = kid) {
        if (kid + 1 < n && better(heap[kid + 1], heap[kid]))
            kid++;
        if (!better(heap[kid], heap[i]))
            return;
        struct gain t = heap[i];
        heap[i] = heap[kid];
        heap[kid] = t;
    }
}

/* Drops those of the sets, the last first, without which all of their documents are still covered.
 */
static void drop_superfluous(struct solver *s, const uint32_t *taken, size_t count)
{
    for (size_t n = 0; n < count; n++)
        for (uint32_t k = 0; k < out_count(s, taken[n]); k++)
            s->coverers[out(s, taken[n], k)]++;
    for (size_t n = count; n-- > 0;) {
        uint32_t set = taken[n];
        bool needed = false;
        for (uint32_t k = 0; k < out_count(s, set) && !needed; k++)
            needed = !s->settled[out(s, set, k)] && s->coverers[out(s, set, k)] == 1;
        s->kept[set] = needed;
        for (uint32_t k = 0; k < out_count(s, set) && !needed; k++)
            s->coverers[out(s, set, k)]--;
    }
}

/* Covers greedily, with the open sets among `sets`. */
static void solve_greedily(struct solver *s, const uint32_t *sets, size_t count)
{
    struct gain *heap = sp_alloc((count + 1) * sizeof *heap);
    uint32_t *taken = sp_alloc((count + 1) * sizeof *taken);
    size_t n = 0, taken_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!s->closed[sets[i]])
            heap[n++] = (struct gain){s->gains[sets[i]], sets[i]};
    for (size_t i = n; i-- > 0;)
        sift(heap, n, i);
    while (n > 0 && heap[0].gain > 0) {
        struct gain first = heap[0];
        if (first.gain != s->gains[first.set]) { /* its gain has become smaller */
            heap[0].gain = s->gains[first.set];
        } else {
            keep(s, first.set);
            taken[taken_count++] = first.set;
            heap[0] = heap[--n];
        }
        sift(heap, n, 0);
    }
    drop_superfluous(s, taken, taken_count);
    sp_free(heap);
    sp_free(taken);
}

/* ---- parts ---- */

/* Branch and bound over the part, starting from the greedy cover. */
static bool solve_part_exactly(struct solver *s, const uint32_t *part, size_t count,
                               const uint8_t *uncovered, uint64_t steps_max)
{
    uint32_t elements = 0, sets = 0, members = 0;
    uint32_t *set_of = sp_alloc((count + 1) * sizeof *set_of);
    for (size_t i = 0; i < count; i++) {
        if (uncovered[i])
            s->local[part[i]] = elements++;
        if (!s->closed[part[i]])
            members += out_count(s, part[i]);
    }
    uint32_t *starts = sp_alloc((count + 1) * sizeof *starts);
    uint32_t *list = sp_alloc((members + 1ull) * sizeof *list);
    uint8_t *chosen = sp_calloc(count + 1, 1);
    members = 0;
    for (size_t i = 0; i < count; i++) {
        if (s->closed[part[i]])
            continue;
        set_of[sets] = part[i];
        chosen[sets] = s->kept[part[i]];
        starts[sets++] = members;
        for (uint32_t k = 0; k < out_count(s, part[i]); k++)
            if (s->local[out(s, part[i], k)] != UINT32_MAX)
                list[members++] = s->local[out(s, part[i], k)];
    }
    starts[sets] = members;
    struct sp_instance instance = {elements, sets, starts, list};
    bool exact = sp_solve_exactly(&instance, steps_max, chosen);
    for (uint32_t x = 0; x < sets; x++)
        s->kept[set_of[x]] = chosen[x];
    for (size_t i = 0; i < count; i++)
        s->local[part[i]] = UINT32_MAX;
    sp_free(set_of);
    sp_free(starts);
    sp_free(list);
    sp_free(chosen);
    return exact;
}

/* Collects the part of i: documents that are connected by open sets and uncovered documents. */
static size_t collect(struct solver *s, uint32_t i, uint8_t *seen, uint32_t *part)
{
    size_t count = 0;
    part[count++] = i;
    seen[i] = 1;
    for (size_t at = 0; at < count; at++) {
        uint32_t x = part[at];
        for (uint32_t k = 1; !s->closed[x] && k < out_count(s, x); k++) {
            uint32_t e = out(s, x, k);
            if (!s->covered[e] && !seen[e]) {
                seen[e] = 1;
                part[count++] = e;
            }
        }
        for (uint32_t k = 1; !s->covered[x] && k < in_count(s, x); k++) {
            uint32_t y = in(s, x, k);
            if (!s->closed[y] && !s->kept[y] && !seen[y]) {
                seen[y] = 1;
                part[count++] = y;
            }
        }
    }
    return count;
}

static void solve_parts(struct solver *s, const struct sp_solve_options *o,
                        struct sp_solve_stats *stats)
{
    uint8_t *seen = sp_calloc(s->graph->count + 1ull, 1);
    s->settled = sp_memdup(s->covered, s->graph->count);
    s->coverers = sp_calloc(s->graph->count, sizeof *s->coverers);
    uint8_t *uncovered = sp_alloc(s->graph->count + 1ull);
    uint32_t *part = sp_alloc((s->graph->count + 1ull) * sizeof *part);
    bool any = false;
    for (uint32_t i = 0; i < s->graph->count; i++) {
        if (s->covered[i] || seen[i])
            continue;
        any = true;
        size_t count = collect(s, i, seen, part);
        qsort(part, count, sizeof *part, sp_by_u32);
        for (size_t k = 0; k < count; k++)
            uncovered[k] = !s->covered[part[k]];
        solve_greedily(s, part, count);
        if (count > o->exact_max)
            stats->greedy++;
        else if (solve_part_exactly(s, part, count, uncovered, o->steps_max))
            stats->exact++;
        else
            stats->stopped++;
    }
    stats->exact += !any;
    sp_free(seen);
    sp_free(uncovered);
    sp_free(part);
    sp_free(s->settled);
    sp_free(s->coverers);
}

void sp_solve(const struct sp_digraph *graph, const struct sp_solve_options *options,
              uint8_t *ret_kept, struct sp_solve_stats *stats)
{
    size_t count = graph->count;
    if (count == 0)
        return;
    struct solver s = {.graph = graph, .kept = ret_kept};
    memset(ret_kept, 0, count);
    s.covered = sp_calloc(count, 1);
    s.closed = sp_calloc(count, 1);
    s.queued = sp_calloc(count, 1);
    s.gains = sp_alloc(count * sizeof *s.gains);
    s.choices = sp_alloc(count * sizeof *s.choices);
    s.queue = sp_alloc(count * sizeof *s.queue);
    s.local = sp_alloc(count * sizeof *s.local);
    memset(s.local, 0xff, count * sizeof *s.local);
    make_in(&s);
    for (uint32_t i = 0; i < count; i++) {
        s.gains[i] = out_count(&s, i);
        s.choices[i] = in_count(&s, i);
    }
    reduce(&s);
    solve_parts(&s, options, stats);
    sp_free(s.in_starts);
    sp_free(s.in);
    sp_free(s.covered);
    sp_free(s.closed);
    sp_free(s.queued);
    sp_free(s.gains);
    sp_free(s.choices);
    sp_free(s.queue);
    sp_free(s.local);
}

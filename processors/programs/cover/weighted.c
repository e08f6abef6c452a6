/* The lightest cover: see solve.h. Greedily takes the document that covers most for its weight,
 * which is within a factor H(n) of the lightest cover (Chvatal 1979), then drops what is
 * superfluous, the heaviest first. Small graphs are solved by trying all. Time: (documents + arcs)
 * log documents. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cover/solve.h"

enum { TRIED_MOST = 16 };

/* ---- trying all ---- */

static void try_all(const struct sp_digraph *g, uint8_t *ret_kept)
{
    uint32_t masks[TRIED_MOST], all = (1u << g->count) - 1, best = all;
    size_t subsets = (size_t)all + 1;
    uint32_t *covered = sp_calloc(subsets, sizeof *covered);
    double *weights = sp_calloc(subsets, sizeof *weights);
    for (uint32_t i = 0; i < g->count; i++) {
        masks[i] = 1u << i;
        for (uint32_t k = g->starts[i]; k < g->starts[i + 1]; k++)
            masks[i] |= 1u << g->covers[k];
    }
    for (size_t s = 1; s < subsets; s++) {
        unsigned first = (unsigned)__builtin_ctz((unsigned)s);
        covered[s] = covered[s & (s - 1)] | masks[first];
        weights[s] = weights[s & (s - 1)] + g->weights[first];
    }
    for (uint32_t s = 1; s < subsets; s++)
        if (covered[s] == all && weights[s] < weights[best])
            best = s;
    for (uint32_t i = 0; i < g->count; i++)
        ret_kept[i] = best >> i & 1;
    sp_free(covered);
    sp_free(weights);
}

/* ---- greedily ---- */

struct offer {
    double worth; /* uncovered documents for its weight, when the offer was made */
    uint32_t gain;
    uint32_t document;
};

struct greedy {
    const struct sp_digraph *graph;
    uint32_t *in_starts; /* the documents that cover each, without itself */
    uint32_t *in;
    uint32_t *gains;    /* number of uncovered documents that each covers, with itself */
    uint32_t *covering; /* number of kept documents that cover each, with itself */
    struct offer *heap; /* the best on top; if its gain has shrunk, the offer is updated */
    size_t heap_count;
    size_t heap_cap;
};

static bool before(const struct offer *x, const struct offer *y)
{
    return x->worth != y->worth ? x->worth > y->worth : x->document < y->document;
}

static void push(struct greedy *g, uint32_t document)
{
    uint32_t gain = g->gains[document];
    struct offer offer = {gain / g->graph->weights[document], gain, document};
    sp_grow(&g->heap, &g->heap_cap, g->heap_count + 1);
    size_t at = g->heap_count++;
    for (; at > 0 && before(&offer, &g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        g->heap[at] = g->heap[(at - 1) / 2];
    g->heap[at] = offer;
}

static struct offer pop(struct greedy *g)
{
    struct offer top = g->heap[0], last = g->heap[--g->heap_count];
    size_t at = 0;
    for (size_t kid; (kid = 2 * at + 1) < g->heap_count; at = kid) {
        if (kid + 1 < g->heap_count && before(&g->heap[kid + 1], &g->heap[kid]))
            kid++;
        if (!before(&g->heap[kid], &last))
            break;
        g->heap[at] = g->heap[kid];
    }
    g->heap[at] = last;
    return top;
}

static void make_in(struct greedy *g)
{
    const struct sp_digraph *graph = g->graph;
    uint32_t arcs = graph->starts[graph->count];
    g->in_starts = sp_calloc((size_t)graph->count + 2, sizeof *g->in_starts);
    g->in = sp_alloc(((size_t)arcs + 1) * sizeof *g->in);
    for (uint32_t k = 0; k < arcs; k++)
        g->in_starts[graph->covers[k] + 2]++;
    for (uint32_t i = 0; i < graph->count; i++)
        g->in_starts[i + 2] += g->in_starts[i + 1];
    for (uint32_t i = 0; i < graph->count; i++)
        for (uint32_t k = graph->starts[i]; k < graph->starts[i + 1]; k++)
            g->in[g->in_starts[graph->covers[k] + 1]++] = i;
}

/* Called when one more kept document covers this one. */
static void cover(struct greedy *g, uint32_t document)
{
    if (g->covering[document]++ > 0)
        return;
    g->gains[document]--;
    for (uint32_t k = g->in_starts[document]; k < g->in_starts[document + 1]; k++)
        g->gains[g->in[k]]--;
}

static void keep_greedily(struct greedy *g, uint8_t *kept)
{
    const struct sp_digraph *graph = g->graph;
    for (uint32_t i = 0; i < graph->count; i++) {
        g->gains[i] = graph->starts[i + 1] - graph->starts[i] + 1;
        push(g, i);
    }
    while (g->heap_count > 0) {
        struct offer offer = pop(g);
        uint32_t i = offer.document;
        if (g->gains[i] == 0)
            continue;
        if (g->gains[i] != offer.gain) {
            push(g, i);
            continue;
        }
        kept[i] = 1;
        cover(g, i);
        for (uint32_t k = graph->starts[i]; k < graph->starts[i + 1]; k++)
            cover(g, graph->covers[k]);
    }
}

static int heaviest_first(const void *a, const void *b)
{
    const struct offer *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

static void drop_superfluous(struct greedy *g, uint8_t *kept)
{
    const struct sp_digraph *graph = g->graph;
    size_t count = 0;
    sp_grow(&g->heap, &g->heap_cap, graph->count);
    for (uint32_t i = 0; i < graph->count; i++)
        if (kept[i])
            g->heap[count++] = (struct offer){graph->weights[i], 0, i};
    qsort(g->heap, count, sizeof *g->heap, heaviest_first);
    for (size_t n = 0; n < count; n++) {
        uint32_t i = g->heap[n].document;
        bool needed = g->covering[i] < 2;
        for (uint32_t k = graph->starts[i]; k < graph->starts[i + 1]; k++)
            needed |= g->covering[graph->covers[k]] < 2;
        if (needed)
            continue;
        kept[i] = 0;
        g->covering[i]--;
        for (uint32_t k = graph->starts[i]; k < graph->starts[i + 1]; k++)
            g->covering[graph->covers[k]]--;
    }
}

void sp_solve_weighted(const struct sp_digraph *graph, uint8_t *ret_kept,
                       struct sp_solve_stats *stats)
{
    struct greedy g = {.graph = graph};
    memset(ret_kept, 0, graph->count);
    if (graph->count == 0)
        return;
    if (graph->count <= TRIED_MOST) {
        try_all(graph, ret_kept);
        stats->exact++;
        return;
    }
    g.gains = sp_calloc(graph->count, sizeof *g.gains);
    g.covering = sp_calloc(graph->count, sizeof *g.covering);
    make_in(&g);
    keep_greedily(&g, ret_kept);
    drop_superfluous(&g, ret_kept);
    stats->greedy++;
    sp_free(g.in_starts);
    sp_free(g.in);
    sp_free(g.gains);
    sp_free(g.covering);
    sp_free(g.heap);
}

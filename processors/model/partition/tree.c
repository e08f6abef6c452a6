/* Finds the cuts that made a set of boxes. Each step takes a plane that no box straddles, the one
 * that halves the boxes best. If every step down to single boxes finds a plane, and each box equals
 * the space that the cuts left for it, then the boxes are disjoint and fill the space. */
#include "partition/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct item {
    struct sp_box box;
    uint32_t cell;
    uint32_t lo; /* on the axis to sort by */
};

struct builder {
    struct sp_cut *nodes;
    uint32_t count;
};

static int by_lo(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static void sort_by_axis(struct item *items, uint32_t count, int axis)
{
    for (uint32_t i = 0; i < count; i++)
        items[i].lo = items[i].box.lo[axis];
    qsort(items, count, sizeof *items, by_lo);
}

/* The number of sorted boxes below the cut that halves them best; 0 if every plane meets a box. */
static uint32_t best_cut(const struct item *items, uint32_t count, int axis)
{
    uint32_t best = 0, reach = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t better = best < count - best ? best : count - best;
        if (i > 0 && reach <= items[i].lo && (i < count - i ? i : count - i) > better)
            best = i;
        if (items[i].box.hi[axis] > reach)
            reach = items[i].box.hi[axis];
    }
    return best;
}

static bool build(struct builder *b, struct item *items, uint32_t count, const struct sp_box *box)
{
    uint32_t at = b->count++;
    struct sp_cut *node = &b->nodes[at];
    node->box = *box;
    node->end = at + 1;
    if (count == 1) {
        node->cell = (uint16_t)items[0].cell;
        return memcmp(box, &items[0].box, sizeof *box) == 0;
    }
    uint32_t best = 0;
    int axis = -1;
    for (int d = 0; d < SP_AXES; d++) {
        sort_by_axis(items, count, d);
        uint32_t below = best_cut(items, count, d);
        if ((below < count - below ? below : count - below) >
            (best < count - best ? best : count - best)) {
            best = below;
            axis = d;
        }
    }
    if (axis < 0)
        return false;
    sort_by_axis(items, count, axis);
    uint32_t cut = items[best].lo;
    struct sp_box left = *box, right = *box;
    left.hi[axis] = right.lo[axis] = cut;
    node->axis = (uint16_t)axis;
    node->cut = cut;
    if (!build(b, items, best, &left) || !build(b, items + best, count - best, &right))
        return false;
    b->nodes[at].end = b->count;
    return true;
}

struct sp_cut *sp_tree_build(const struct sp_box *boxes, uint32_t cells)
{
    struct item *items = sp_alloc(cells * sizeof *items);
    struct sp_box all = {.lo = {0}};
    struct builder b = {sp_calloc(2 * (size_t)cells - 1, sizeof *b.nodes), 0};
    for (uint32_t c = 0; c < cells; c++)
        items[c] = (struct item){.box = boxes[c], .cell = c};
    for (int d = 0; d < SP_AXES; d++)
        all.hi[d] = UINT32_MAX;
    if (!build(&b, items, cells, &all)) {
        sp_free(b.nodes);
        b.nodes = NULL;
    }
    sp_free(items);
    return b.nodes;
}

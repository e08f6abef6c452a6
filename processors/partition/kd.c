/* k-d splits: the space is cut in two again and again, each cut dividing the pages in proportion to
 * the cells on its sides, so that any number of cells gets equal loads.
 *
 * A cut may go across any of the lengths in use, or across their total. Of the cuts that divide
 * well enough the one is taken that the fewest pages straddle: those which the bound, on that axis
 * alone, sends to both sides. Cutting along the total loses least, and the lengths break the
 * spikes of equal totals that it cannot. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "partition/train_parts.h"

struct kd {
    const struct sp_train_options *options;
    struct sp_partition_map *map;
    uint32_t made;    /* cells */
    uint32_t *sorted; /* scratch of one axis' values */
};

struct choice {
    int axis;
    uint32_t cut;
    double off;      /* distance from the wanted share, as a share of the pages */
    double straddle; /* share of the pages */
};

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static size_t count_below(const struct sp_point *points, size_t count, int axis, uint32_t cut)
{
    size_t below = 0;
    for (size_t i = 0; i < count; i++)
        below += points[i].at[axis] < cut;
    return below;
}

static bool straddles(const struct sp_point *p, int axis, uint32_t cut, double tau)
{
    double x = p->at[axis], total = p->at[SP_DIMS];
    if (x < cut)
        return cut - x <= total * (1 / tau - 1);
    return x - (cut - 1.0) <= total * (1 - tau);
}

/* The cut across one axis that divides the pages nearest to `want` below. */
static bool choose_on_axis(struct kd *k, const struct sp_point *points, size_t count, int axis,
                           size_t want, struct choice *ret_choice)
{
    for (size_t i = 0; i < count; i++)
        k->sorted[i] = points[i].at[axis];
    qsort(k->sorted, count, sizeof *k->sorted, by_value);
    if (k->sorted[0] == k->sorted[count - 1])
        return false;
    uint32_t at = k->sorted[want < count ? want : count - 1], cut = at, next = UINT32_MAX;
    for (size_t i = 0; i < count && next == UINT32_MAX; i++)
        if (k->sorted[i] > at)
            next = k->sorted[i];
    double off = fabs((double)count_below(points, count, axis, at) - (double)want);
    if (next != UINT32_MAX) {
        double other = fabs((double)count_below(points, count, axis, next) - (double)want);
        if (other < off || at == k->sorted[0]) {
            cut = next;
            off = other;
        }
    }
    if (cut == k->sorted[0])
        return false;
    size_t straddle = 0;
    for (size_t i = 0; i < count; i++)
        straddle += straddles(&points[i], axis, cut, k->options->threshold);
    *ret_choice = (struct choice){axis, cut, off / (double)count, (double)straddle / (double)count};
    return true;
}

static bool is_better(const struct choice *a, const struct choice *b)
{
    const double good = 0.004;
    if (b->axis < 0)
        return true;
    if ((a->off <= good) != (b->off <= good))
        return a->off <= good;
    return a->off <= good ? a->straddle < b->straddle : a->off < b->off;
}

/* Where no page tells two sides apart any cut is as good as another: across the widest axis. */
static struct choice blind_cut(const struct sp_box *box)
{
    const uint32_t far = 1 << 16;
    struct choice c = {.axis = SP_DIMS};
    for (int d = SP_DIMS; d-- > 0;)
        if (box->hi[d] - box->lo[d] > box->hi[c.axis] - box->lo[c.axis])
            c.axis = d;
    uint32_t lo = box->lo[c.axis], hi = box->hi[c.axis];
    c.cut = hi == UINT32_MAX ? lo + far : lo + (hi - lo) / 2;
    return c;
}

static size_t divide(struct sp_point *points, size_t count, const struct choice *c)
{
    size_t below = 0;
    for (size_t i = 0; i < count; i++)
        if (points[i].at[c->axis] < c->cut) {
            struct sp_point p = points[i];
            points[i] = points[below];
            points[below++] = p;
        }
    return below;
}

static void split(struct kd *k, struct sp_point *points, size_t count, const struct sp_box *box,
                  uint32_t cells)
{
    if (cells == 1) {
        k->map->boxes[k->made++] = *box;
        return;
    }
    uint32_t left_cells = cells / 2;
    size_t want = (size_t)((double)count * left_cells / cells + 0.5);
    struct choice best = {.axis = -1}, c;
    for (int d = k->options->dims > 1 ? 0 : SP_DIMS; d < SP_AXES; d++)
        if (count > 0 && (d == SP_DIMS || d < (int)k->options->dims) &&
            choose_on_axis(k, points, count, d, want, &c) && is_better(&c, &best))
            best = c;
    if (best.axis < 0)
        best = blind_cut(box);
    struct sp_box left = *box, right = *box;
    left.hi[best.axis] = right.lo[best.axis] = best.cut;
    size_t below = divide(points, count, &best);
    split(k, points, below, &left, left_cells);
    split(k, points + below, count - below, &right, cells - left_cells);
}

void sp_train_kd(const struct sp_train_options *o, struct sp_point *points, size_t count,
                 struct sp_partition_map *map)
{
    struct kd k = {o, map, 0, sp_alloc(count * sizeof *k.sorted + 1)};
    struct sp_box all = {.lo = {0}};
    for (int d = 0; d < SP_AXES; d++)
        all.hi[d] = UINT32_MAX;
    map->cells = o->cells;
    map->boxes = sp_calloc(o->cells, sizeof *map->boxes);
    split(&k, points, count, &all, o->cells);
    sp_free(k.sorted);
}

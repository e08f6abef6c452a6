/* The paper's slicing (sections 4.2 and 4.3): it cuts each dimension into fine intervals by the tau
 * rule and merges them to about equal counts; cells are the products. With one dimension it slices
 * the total length. The lengths of real pages are correlated, so the diagonal cells overflow and
 * others stay empty. It is kept for comparison. */
#include "partition/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "partition/train_parts.h"

uint32_t sp_grid_fine(uint32_t first, uint32_t last, double tau, uint32_t *ret_edges)
{
    uint32_t count = 0;
    uint64_t at = first;
    while (at <= last && count < SP_GRID_FINE) {
        ret_edges[count++] = (uint32_t)at;
        uint64_t next = (uint64_t)((double)at / tau * (1 + 1e-12)) + 1;
        at = next > at ? next : at + 1;
    }
    ret_edges[count] = last + 1;
    return count;
}

/* best[j][i]: the least sum of squares of the first i intervals in j parts. */
uint32_t sp_grid_merge(const uint64_t *counts, uint32_t fine, uint32_t want, uint32_t *ret_first)
{
    if (want > fine)
        want = fine;
    size_t width = fine + 1;
    double *before = sp_alloc(width * sizeof *before), *now = sp_alloc(width * sizeof *now);
    uint32_t *start = sp_calloc((want + 1) * width, sizeof *start);
    for (uint32_t i = 0; i <= fine; i++)
        before[i] = i ? INFINITY : 0;
    for (uint32_t j = 1; j <= want; j++) {
        now[0] = INFINITY;
        for (uint32_t i = 1; i <= fine; i++) {
            double sum = 0;
            now[i] = INFINITY;
            for (uint32_t from = i; from-- > 0;) {
                sum += (double)counts[from];
                if (before[from] + sum * sum < now[i]) {
                    now[i] = before[from] + sum * sum;
                    start[j * width + i] = from;
                }
            }
        }
        memcpy(before, now, width * sizeof *now);
    }
    for (uint32_t j = want, i = fine; j > 0; j--) {
        i = start[j * width + i];
        ret_first[j - 1] = i;
    }
    sp_free(before);
    sp_free(now);
    sp_free(start);
    return want;
}

struct axis {
    int number;
    uint32_t count;
    uint32_t *starts; /* of each interval; the first is 0 */
};

static void slice(const struct sp_point *points, size_t count, double tau, uint32_t want,
                  struct axis *a)
{
    uint32_t most = 1;
    for (size_t i = 0; i < count; i++)
        if (points[i].at[a->number] > most)
            most = points[i].at[a->number];
    uint32_t *edges = sp_alloc((SP_GRID_FINE + 1) * sizeof *edges);
    uint64_t *counts = sp_calloc(SP_GRID_FINE, sizeof *counts);
    uint32_t *first = sp_alloc(want * sizeof *first);
    uint32_t fine = sp_grid_fine(1, most < UINT32_MAX ? most : most - 1, tau, edges);
    for (size_t i = 0; i < count; i++) {
        uint32_t lo = 0, hi = fine;
        while (hi - lo > 1) {
            uint32_t middle = (lo + hi) / 2;
            if (points[i].at[a->number] >= edges[middle])
                lo = middle;
            else
                hi = middle;
        }
        counts[lo]++;
    }
    a->count = sp_grid_merge(counts, fine, want, first);
    a->starts = sp_alloc(a->count * sizeof *a->starts);
    for (uint32_t i = 0; i < a->count; i++)
        a->starts[i] = i ? edges[first[i]] : 0;
    sp_free(edges);
    sp_free(counts);
    sp_free(first);
}

static void make_boxes(const struct axis *axes, uint32_t dims, struct sp_partition_map *map)
{
    for (uint32_t c = 0; c < map->cells; c++) {
        struct sp_box *box = &map->boxes[c];
        for (int d = 0; d < SP_AXES; d++)
            box->hi[d] = UINT32_MAX;
        for (uint32_t d = 0, rest = c; d < dims; d++) {
            const struct axis *a = &axes[d];
            uint32_t i = rest % a->count;
            rest /= a->count;
            box->lo[a->number] = a->starts[i];
            box->hi[a->number] = i + 1 < a->count ? a->starts[i + 1] : UINT32_MAX;
        }
    }
}

void sp_train_grid(const struct sp_train_options *o, struct sp_point *points, size_t count,
                   struct sp_partition_map *map)
{
    struct axis axes[SP_DIMS];
    map->cells = 1;
    for (uint32_t d = 0; d < o->dims; d++) {
        double want = pow((double)o->cells / map->cells, 1.0 / (o->dims - d));
        axes[d].number = o->dims == 1 ? SP_DIMS : (int)d;
        slice(points, count, o->threshold, (uint32_t)(want + 1e-9), &axes[d]);
        map->cells *= axes[d].count;
    }
    map->boxes = sp_calloc(map->cells, sizeof *map->boxes);
    make_boxes(axes, o->dims, map);
    for (uint32_t d = 0; d < o->dims; d++)
        sp_free(axes[d].starts);
}

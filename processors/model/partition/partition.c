/* See partition.h for the bound and its proof. */
#include "partition/partition.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "partition/tree.h"

/* More than F's own tolerance of 1e-9 of the union (jaccard.c), so that rounding can only add a
 * cell. */
static const double SLACK = 2e-9;

/* Inverse of the standard normal distribution by bisection; called once for each cell at start. */
static double normal_quantile(double p)
{
    double lo = -8, hi = 8;
    for (int i = 0; i < 60; i++) {
        double mid = (lo + hi) / 2;
        if (0.5 * erfc(-mid / sqrt(2)) < p)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

enum sp_err sp_partition_default(uint32_t cells, struct sp_partition_map *ret_map)
{
    if (cells < 1 || cells > SP_MAX_CELLS)
        return SP_INVALID;
    struct sp_partition_map map = {.cells = cells, .boxes = sp_calloc(cells, sizeof *map.boxes)};
    uint32_t from = 0;
    for (uint32_t i = 0; i < cells; i++) {
        double q = 300 * exp(1.2 * normal_quantile((i + 1.0) / cells));
        uint32_t to = i + 1 == cells ? UINT32_MAX : (uint32_t)q;
        if (to <= from)
            to = from + 1;
        struct sp_box *box = &map.boxes[i];
        for (int d = 0; d < SP_DIMS; d++)
            box->hi[d] = UINT32_MAX;
        box->lo[SP_DIMS] = from;
        box->hi[SP_DIMS] = to;
        from = to;
    }
    enum sp_err err = sp_partition_finish(&map);
    *ret_map = map;
    return err;
}

enum sp_err sp_partition_finish(struct sp_partition_map *map)
{
    if (map->cells < 1 || map->cells > SP_MAX_CELLS)
        return SP_INVALID;
    if (map->dictionary.dims == 0)
        sp_dictionary_init(SP_DIMS, NULL, 0, &map->dictionary);
    if (!map->machine) {
        map->machines = map->cells;
        map->machine = sp_alloc(map->cells * sizeof *map->machine);
        for (uint32_t c = 0; c < map->cells; c++)
            map->machine[c] = c;
    }
    if (!map->load)
        map->load = sp_calloc(map->cells, sizeof *map->load);
    for (uint32_t c = 0; c < map->cells; c++)
        if (map->machine[c] >= map->machines)
            return SP_INVALID;
    map->tree = sp_tree_build(map->boxes, map->cells);
    return map->tree ? SP_OK : SP_INVALID;
}

void sp_partition_done(struct sp_partition_map *map)
{
    sp_dictionary_done(&map->dictionary);
    sp_free(map->boxes);
    sp_free(map->machine);
    sp_free(map->load);
    sp_free(map->tree);
    *map = (struct sp_partition_map){0};
}

static void axes_of(const uint32_t length[SP_DIMS], uint32_t at[SP_AXES])
{
    at[SP_DIMS] = 0;
    for (int d = 0; d < SP_DIMS; d++) {
        at[d] = length[d];
        at[SP_DIMS] += length[d];
    }
}

uint32_t sp_partition_cell(const struct sp_partition_map *map, const uint32_t length[SP_DIMS])
{
    uint32_t at[SP_AXES], i = 0;
    axes_of(length, at);
    while (!sp_cut_is_leaf(&map->tree[i], i)) {
        const struct sp_cut *node = &map->tree[i];
        i = at[node->axis] < node->cut ? i + 1 : map->tree[i + 1].end;
    }
    return map->tree[i].cell;
}

static uint32_t clamp(uint32_t x, uint32_t lo, uint32_t hi)
{
    return x < lo ? lo : hi != UINT32_MAX && x >= hi ? hi - 1 : x;
}

bool sp_box_contact(const struct sp_box *box, const uint32_t at[SP_AXES], double tau)
{
    int64_t least = 0, most = 0, size = at[SP_DIMS];
    for (int d = 0; d < SP_DIMS; d++) {
        uint32_t x = clamp(at[d], box->lo[d], box->hi[d]);
        least += x < at[d] ? x : at[d];
        most += x < at[d] ? at[d] : x;
    }
    int64_t total = least + most - size; /* of the point; may exceed 32 bits */
    if (total < box->lo[SP_DIMS])
        total = box->lo[SP_DIMS];
    else if (box->hi[SP_DIMS] != UINT32_MAX && total >= box->hi[SP_DIMS])
        total = box->hi[SP_DIMS] - 1;
    int64_t shared = size + total - most < least ? size + total - most : least;
    double all = (double)(size + total - shared);
    return (double)shared + SLACK * all >= tau * all;
}

static bool bounded_contact(const struct sp_box *box, const uint32_t at[SP_AXES], double tau,
                            double rho)
{
    for (int d = 0; d < SP_AXES; d++) {
        double stretch = d == SP_DIMS ? 1 : rho;
        double x = clamp(at[d], box->lo[d], box->hi[d]);
        if (x < at[d] * tau / stretch - SLACK || x > at[d] * stretch / tau + SLACK)
            return false;
    }
    return true;
}

uint32_t sp_partition_targets(const struct sp_partition_map *map, const uint32_t length[SP_DIMS],
                              double tau, enum sp_routing routing, double rho, uint32_t *ret_cells)
{
    uint64_t found[SP_MAX_CELLS / 64] = {0};
    uint32_t at[SP_AXES], count = 0, own = sp_partition_cell(map, length);
    axes_of(length, at);
    found[own / 64] |= 1ull << own % 64;
    for (uint32_t i = 0; i < map->tree[0].end;) {
        const struct sp_cut *node = &map->tree[i];
        bool contact = routing == SP_ROUTING_LOSSLESS ? sp_box_contact(&node->box, at, tau)
                                                      : bounded_contact(&node->box, at, tau, rho);
        if (contact && sp_cut_is_leaf(node, i))
            found[node->cell / 64] |= 1ull << node->cell % 64;
        i = contact ? i + 1 : node->end;
    }
    for (uint32_t w = 0; w < (map->cells + 63) / 64; w++)
        for (uint64_t bits = found[w]; bits; bits &= bits - 1)
            ret_cells[count++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
    return count;
}

uint64_t sp_partition_fingerprint(const struct sp_partition_map *map)
{
    uint64_t boxes = sp_hash64(map->boxes, map->cells * sizeof *map->boxes);
    return sp_mix64(boxes + sp_hash64(map->machine, map->cells * sizeof *map->machine));
}

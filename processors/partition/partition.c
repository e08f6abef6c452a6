/* The partition map in use: see partition.h for the bound and its proof. */
#include "partition/partition.h"

#include <math.h>
#include <stdbool.h>

#include "base/assert.h"
#include "base/mem.h"

static const double SLACK = 1e-9; /* rounding may only ever add a cell */

/* Inverse of the standard normal distribution by bisection: called once a cell at start. */
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
    *ret_map = map;
    return SP_OK;
}

void sp_partition_done(struct sp_partition_map *map)
{
    sp_free(map->boxes);
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
    if (map->cells == 1)
        return 0;
    uint32_t at[SP_AXES];
    axes_of(length, at);
    for (uint32_t c = 0; c < map->cells; c++) {
        const struct sp_box *box = &map->boxes[c];
        bool inside = true;
        for (int d = 0; d < SP_AXES && inside; d++)
            inside = at[d] >= box->lo[d] && (at[d] < box->hi[d] || box->hi[d] == UINT32_MAX);
        if (inside)
            return c;
    }
    SP_ASSERT(!"the boxes of a partition map fill the space");
    return 0;
}

static uint32_t clamp(uint32_t x, uint32_t lo, uint32_t hi)
{
    return x < lo ? lo : hi != UINT32_MAX && x >= hi ? hi - 1 : x;
}

static bool lossless_contact(const struct sp_box *box, const uint32_t at[SP_AXES], double tau)
{
    double least = 0, most = 0;
    for (int d = 0; d < SP_DIMS; d++) {
        uint32_t x = clamp(at[d], box->lo[d], box->hi[d]);
        least += x < at[d] ? x : at[d];
        most += x > at[d] ? x : at[d];
    }
    uint32_t total = clamp(at[SP_DIMS], box->lo[SP_DIMS], box->hi[SP_DIMS]);
    double small = total < at[SP_DIMS] ? total : at[SP_DIMS];
    double large = total > at[SP_DIMS] ? total : at[SP_DIMS];
    return least >= tau * most - SLACK && small >= tau * large - SLACK;
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
    uint32_t at[SP_AXES], count = 0;
    if (map->cells == 1) {
        ret_cells[0] = 0;
        return 1;
    }
    axes_of(length, at);
    uint32_t own = sp_partition_cell(map, length);
    for (uint32_t c = 0; c < map->cells; c++) {
        const struct sp_box *box = &map->boxes[c];
        bool contact = routing == SP_ROUTING_LOSSLESS ? lossless_contact(box, at, tau)
                                                      : bounded_contact(box, at, tau, rho);
        if (contact || c == own)
            ret_cells[count++] = c;
    }
    return count;
}

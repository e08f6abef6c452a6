/* See grids.h.
 *
 * A grid slices each axis by itself, so that each slice has equal load: s slices of each of n axes
 * for s^n machines. A cell's load is then equal only where the axes are independent. Lengths over
 * sub-dictionaries are not: a page twice as long is about twice as long on each of them, so
 * contents lie along the diagonal, most cells off it are empty, and the diagonal's s cells have
 * nearly all: an imbalance of up to s^(n - 1). One axis has no diagonal, and its imbalance is that
 * of its most crowded range, which must not be cut (figure1.c). So more dimensions help where a
 * crowded length, with different mixes of words in it, is worse than the diagonal. */
#include "evaluate/grids.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "evaluate/kinds.h"

/* ---- looking ---- */

static double correlation(const struct sp_lengths *lengths, size_t count)
{
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double a = log1p(lengths[i].at[0]), b = log1p(lengths[i].at[1]);
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    double spread = (n * xx - x * x) * (n * yy - y * y);
    return spread > 0 ? (n * xy - x * y) / sqrt(spread) : 1;
}

static int by_total(const void *a, const void *b)
{
    const struct sp_lengths *x = a, *y = b;
    return x->at[0] < y->at[0] ? -1 : x->at[0] > y->at[0];
}

/* The largest share of contents whose total lengths are all within a factor of tau. */
static double most_crowded(const struct sp_distinct *d, double tau)
{
    struct sp_lengths *totals =
        sp_memdup(d->lengths[SP_SPLIT_TOTAL], d->count * sizeof(struct sp_lengths));
    size_t most = 0;
    qsort(totals, d->count, sizeof *totals, by_total);
    for (size_t first = 0, i = 0; i < d->count; i++) {
        while (totals[first].at[0] < tau * totals[i].at[0])
            first++;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    sp_free(totals);
    return (double)most / (double)d->count;
}

enum sp_err sp_grid_look(const struct sp_distinct *d, uint32_t machines, double tau,
                         struct sp_grid_look *ret_look)
{
    const struct sp_kind_routing routing = {tau, SP_ROUTING_LOSSLESS, 1};
    struct sp_grid_look look = {{0}, {0}, 0, 0};
    if (d->count == 0)
        return SP_INVALID;
    for (size_t k = 0; k < SP_DIMS; k++) { /* the first kinds are the paper's */
        struct sp_partition_map map;
        const struct sp_map_kind *kind = &sp_map_kinds[SP_KIND_PAPER_1D + k];
        enum sp_err err = sp_kind_train(kind, d, machines, tau, &map);
        if (err != SP_OK)
            return err;
        look.imbalance[k] = sp_kind_measure(&map, d, kind->split, machines, &routing).imbalance;
        for (uint32_t c = 0; c < map.cells; c++)
            look.used[k] += map.load[c] > 0;
        look.used[k] /= machines;
        sp_partition_done(&map);
    }
    look.correlation = correlation(d->lengths[SP_SPLIT_BALANCED_3], d->count);
    look.spike = most_crowded(d, tau);
    *ret_look = look;
    return SP_OK;
}

/* ---- made-up contents ---- */

/* Returns a pseudo-random number in [0, 1) for the number n. */
static double chance(uint64_t n)
{
    return (double)(sp_mix64(n + 1) >> 11) * 0x1p-53;
}

/* Returns an approximately normal number: mean 0, deviation 1 (Irwin and Hall). */
static double normal(uint64_t n)
{
    double sum = -6;
    for (uint64_t i = 0; i < 12; i++)
        sum += chance(12 * n + i + (1ull << 40));
    return sum;
}

static void make_one(uint64_t n, double spike, bool apart, uint32_t ret_length[SP_DIMS])
{
    double total = chance(8 * n) < spike ? 240 + floor(5 * chance(8 * n + 1))
                                         : fmax(15, 300 * exp(1.2 * normal(3 * n)));
    double a = chance(8 * n + 2), b = chance(8 * n + 3), low = fmin(a, b), high = fmax(a, b);
    if (!apart) {
        low = (1 + 0.06 * normal(3 * n + 1)) / 3;
        high = (2 + 0.06 * normal(3 * n + 2)) / 3;
    }
    ret_length[0] = (uint32_t)(total * low);
    ret_length[1] = (uint32_t)(total * fmax(0, high - low));
    ret_length[2] = (uint32_t)fmax(0, total - ret_length[0] - ret_length[1]);
}

void sp_grid_made_up(size_t count, double spike, bool apart, struct sp_distinct *ret_distinct)
{
    struct sp_distinct d = {.count = count};
    struct sp_lengths *one = sp_calloc(count + 1, sizeof *one);
    struct sp_lengths *two = sp_calloc(count + 1, sizeof *two);
    struct sp_lengths *three = sp_calloc(count + 1, sizeof *three);
    for (size_t i = 0; i < count; i++) {
        uint32_t *at = three[i].at;
        make_one(i, spike, apart, at);
        one[i].at[0] = at[0] + at[1] + at[2];
        two[i].at[0] = at[0];
        two[i].at[1] = at[1] + at[2];
    }
    d.lengths[SP_SPLIT_TOTAL] = one;
    d.lengths[SP_SPLIT_BALANCED_2] = two;
    d.lengths[SP_SPLIT_BALANCED_3] = three;
    *ret_distinct = d;
}

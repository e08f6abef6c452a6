/* See sizes.h. */
#include "cover/sizes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"

void sp_sizes_make(const struct sp_unit *units, size_t count, const struct sp_crowds *crowds,
                   struct sp_sizes *ret_sizes)
{
    uint64_t *order = sp_alloc((count + 1) * sizeof *order); /* size and number of each unit */
    struct sp_sizes s = {.count = (uint32_t)count,
                         .units = sp_alloc((count + 1) * sizeof *s.units),
                         .sizes = sp_alloc((count + 1) * sizeof *s.sizes),
                         .places = sp_alloc((count + 1) * sizeof *s.places),
                         .starts = sp_calloc(crowds->count + 3ull, sizeof *s.starts)};
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint64_t)units[i].size << 32 | i;
        s.starts[crowds->of[i] + 2]++;
    }
    for (uint32_t c = 2; c <= crowds->count + 2; c++)
        s.starts[c] += s.starts[c - 1];
    qsort(order, count, sizeof *order, sp_by_u64);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t unit = (uint32_t)order[i], place = s.starts[crowds->of[unit] + 1]++;
        s.units[place] = unit;
        s.sizes[place] = (uint32_t)(order[i] >> 32);
        s.places[unit] = place;
    }
    sp_free(order);
    *ret_sizes = s;
}

void sp_sizes_done(struct sp_sizes *s)
{
    sp_free(s->units);
    sp_free(s->sizes);
    sp_free(s->places);
    sp_free(s->starts);
    *s = (struct sp_sizes){0};
}

uint32_t sp_sizes_from(const struct sp_sizes *s, uint32_t crowd, double size)
{
    uint32_t lo = s->starts[crowd], hi = s->starts[crowd + 1];
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (s->sizes[middle] < size)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

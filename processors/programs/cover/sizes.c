/* See sizes.h. */
#include "cover/sizes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"

void sp_sizes_make(const struct sp_unit *units, size_t count, struct sp_sizes *ret_sizes)
{
    uint64_t *order = sp_alloc((count + 1) * sizeof *order); /* size and number of each unit */
    struct sp_sizes s = {.count = (uint32_t)count,
                         .units = sp_alloc((count + 1) * sizeof *s.units),
                         .sizes = sp_alloc((count + 1) * sizeof *s.sizes),
                         .places = sp_alloc((count + 1) * sizeof *s.places)};
    for (uint32_t i = 0; i < count; i++)
        order[i] = (uint64_t)units[i].size << 32 | i;
    qsort(order, count, sizeof *order, sp_by_u64);
    for (uint32_t i = 0; i < count; i++) {
        s.units[i] = (uint32_t)order[i];
        s.sizes[i] = (uint32_t)(order[i] >> 32);
        s.places[s.units[i]] = i;
    }
    sp_free(order);
    *ret_sizes = s;
}

void sp_sizes_done(struct sp_sizes *s)
{
    sp_free(s->units);
    sp_free(s->sizes);
    sp_free(s->places);
    *s = (struct sp_sizes){0};
}

uint32_t sp_sizes_from(const struct sp_sizes *s, double size)
{
    uint32_t lo = 0, hi = s->count;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (s->sizes[middle] < size)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

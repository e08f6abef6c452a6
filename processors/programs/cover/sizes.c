/* See sizes.h. */
#include "cover/sizes.h"

#include <stdlib.h>

#include "base/mem.h"

struct sized {
    uint32_t size;
    uint32_t unit;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

void sp_sizes_make(const struct sp_unit *units, size_t count, struct sp_sizes *ret_sizes)
{
    struct sized *order = sp_alloc((count + 1) * sizeof *order);
    struct sp_sizes s = {.count = (uint32_t)count,
                         .units = sp_alloc((count + 1) * sizeof *s.units),
                         .sizes = sp_alloc((count + 1) * sizeof *s.sizes),
                         .places = sp_alloc((count + 1) * sizeof *s.places)};
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct sized){units[i].size, i};
    qsort(order, count, sizeof *order, by_size);
    for (uint32_t i = 0; i < count; i++) {
        s.units[i] = order[i].unit;
        s.sizes[i] = order[i].size;
        s.places[order[i].unit] = i;
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

/* See lists.h. */
#include "cover/lists.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/parallel.h"

enum { GRAIN = 4096, BITS_LEAST = 8, BITS_MOST = 30 };

static size_t lists(const struct sp_lists *p)
{
    return (size_t)1 << (32 - p->shift);
}

void sp_lists_open(struct sp_lists *p, uint64_t count)
{
    unsigned bits = BITS_LEAST;
    while (bits < BITS_MOST && (1ull << bits) < count)
        bits++;
    p->shift = 32 - bits;
    p->directory = sp_calloc(lists(p) + 1, sizeof *p->directory);
    p->items = sp_alloc((count + 1) * sizeof *p->items);
}

void sp_lists_settle(struct sp_lists *p)
{
    uint32_t end = 0;
    for (size_t i = 0; i < lists(p); i++)
        p->directory[i] = end += p->directory[i];
    /* Putting moves the end of each list down to its start, which is the end of the one before. */
    p->directory[lists(p)] = end;
}

static int by_unit(const void *a, const void *b)
{
    const struct sp_listed *x = a, *y = b;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void sort_step(void *arg, unsigned thread, size_t from, size_t to)
{
    const struct sp_lists *p = arg;
    (void)thread;
    for (size_t i = from; i < to; i++) {
        uint32_t first = p->directory[i], count = p->directory[i + 1] - first;
        if (count > 1)
            qsort(p->items + first, count, sizeof *p->items, by_unit);
    }
}

void sp_lists_sort(struct sp_lists *p, unsigned threads)
{
    sp_parallel(threads, lists(p), GRAIN, sort_step, p);
}

void sp_lists_done(struct sp_lists *p)
{
    sp_free(p->directory);
    sp_free(p->items);
    *p = (struct sp_lists){0};
}

uint32_t sp_lists_from(const struct sp_lists *p, size_t list, uint32_t lo, uint32_t unit)
{
    uint32_t hi = p->directory[list + 1];
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (p->items[middle].unit < unit)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Disjoint sets of the numbers from 0 on: union-find in an array of the caller. The element of a
 * number leads to another number of its set, and at last to the root, which leads to itself. Asking
 * for a root shortens the way to it, so it writes too: one thread at a time. */
#ifndef SP_BASE_SETS_H
#define SP_BASE_SETS_H

#include <stddef.h>
#include <stdint.h>

/* Makes a set of each number below `count`. */
static inline void sp_sets_init(uint32_t *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sets[i] = (uint32_t)i;
}

/* Returns the number that stands for the set of x. */
static inline uint32_t sp_sets_root(uint32_t *sets, uint32_t x)
{
    while (sets[x] != x)
        x = sets[x] = sets[sets[x]];
    return x;
}

/* Unites the sets of x and y and returns the root: the smaller of the two roots. If all sets are
 * united by this function, a root is the smallest number of its set. */
static inline uint32_t sp_sets_unite(uint32_t *sets, uint32_t x, uint32_t y)
{
    uint32_t a = sp_sets_root(sets, x), b = sp_sets_root(sets, y);
    uint32_t root = a < b ? a : b, other = a < b ? b : a;
    sets[other] = root;
    return root;
}

#endif

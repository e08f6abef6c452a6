/* Orders of numbers for qsort and bsearch, the smaller of two, and repeats. Thread rule: any
 * thread. */
#ifndef SP_BASE_ORDER_H
#define SP_BASE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

static inline int sp_by_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static inline uint32_t sp_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Whether a number of an ascending list equals the one before it. */
static inline bool sp_is_repeat(const uint32_t *sorted, uint32_t at)
{
    return at > 0 && sorted[at] == sorted[at - 1];
}

static inline int sp_by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

#endif

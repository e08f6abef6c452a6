/* Orders of numbers for qsort and bsearch, and the smaller of two. Thread rule: any thread. */
#ifndef SP_BASE_ORDER_H
#define SP_BASE_ORDER_H

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

static inline int sp_by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

#endif

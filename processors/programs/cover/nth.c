/* See nth.h. */
#include "cover/nth.h"

uint64_t sp_nth(uint64_t *values, size_t count, size_t at)
{
    size_t lo = 0, hi = count;
    while (hi - lo > 1) {
        uint64_t pivot = values[lo + (hi - lo) / 2];
        size_t i = lo, k = hi - 1;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[k] > pivot)
                k--;
            if (i >= k)
                break;
            uint64_t t = values[i];
            values[i++] = values[k];
            values[k--] = t;
        }
        /* [lo, split) <= pivot <= [split, hi) */
        size_t split = k + 1 < hi ? k + 1 : k;
        if (split == lo)
            split = lo + 1;
        if (at < split)
            hi = split;
        else
            lo = split;
    }
    return values[lo];
}

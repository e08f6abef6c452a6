/* See order.h. Integers only: the same on every machine. */
#include "synth/order.h"

#include "base/hash.h"
#include "base/mem.h"

enum { ROUNDS = 4 };

uint64_t sp_permute(uint64_t seed, uint64_t count, uint64_t i)
{
    unsigned half = 1;
    while (half < 32 && count > UINT64_C(1) << 2 * half)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t next = left ^ (sp_mix64(seed + (round << 60 ^ right)) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= count);
    return i;
}

void sp_zipf_make(struct sp_zipf *z, uint64_t pages, uint64_t largest)
{
    size_t cap = 0;
    uint64_t start = 0;
    *z = (struct sp_zipf){0};
    for (size_t rank = 1;; rank++) {
        uint64_t size = largest / rank;
        sp_grow(&z->starts, &cap, rank);
        z->starts[z->groups] = start;
        if (size < 2 || start >= pages)
            return;
        start += size < pages - start ? size : pages - start;
        z->groups++;
    }
}

void sp_zipf_done(struct sp_zipf *z)
{
    sp_free(z->starts);
    *z = (struct sp_zipf){0};
}

uint64_t sp_zipf_group(const struct sp_zipf *z, uint64_t i, uint64_t *ret_number)
{
    if (i >= z->starts[z->groups]) {
        *ret_number = 0;
        return z->groups + (i - z->starts[z->groups]);
    }
    size_t lo = 0, hi = z->groups; /* starts[lo] <= i < starts[hi] */
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (z->starts[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    *ret_number = i - z->starts[lo];
    return lo;
}

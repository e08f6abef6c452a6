/* See common.h. */
#include "cover/common.h"

#include "base/mem.h"

enum {
    AHEAD = 16,   /* keys between the prefetch of a counter and its use */
    FULL = 65000, /* shingles with higher counts are not distinguished */
    BITS_MOST = 29,
    BITS_LEAST = 10
};

void sp_common_make(struct sp_common *c, uint64_t shingles, uint64_t memory_bytes)
{
    unsigned most = BITS_MOST, bits = BITS_LEAST;
    while (most > 16 && (2ull << most) > memory_bytes)
        most--;
    while (bits < most && (1ull << bits) < shingles)
        bits++;
    c->shift = 32 - bits;
    c->counters = sp_calloc((size_t)1 << bits, sizeof *c->counters);
}

void sp_common_done(struct sp_common *c)
{
    sp_free(c->counters);
    *c = (struct sp_common){0};
}

void sp_common_count(struct sp_common *c, const uint32_t *keys, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (k + AHEAD < count)
            __builtin_prefetch(&c->counters[keys[k + AHEAD] >> c->shift], 1);
        uint16_t *counter = &c->counters[keys[k] >> c->shift];
        if (__atomic_load_n(counter, __ATOMIC_RELAXED) < FULL)
            __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    }
}

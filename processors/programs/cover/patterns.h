/* How much two sets share at most, from a few bits of each: every shingle of a set flips one bit of
 * its pattern, so each bit in which two patterns differ is one of a shingle that only one of the
 * sets has. For pairs that share something, but far too little, this is cheaper than counting what
 * they share. Sets of thousands of shingles have patterns that say nothing.
 *
 * Source: Sandes, Teodoro, Melo, "Bitmap filter: Speeding up exact set similarity joins with
 * bitwise operations" (Information Systems 88, 2020).
 *
 * Private to this folder; thread rule: pure; any thread. */
#ifndef SP_COVER_PATTERNS_H
#define SP_COVER_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_PATTERN_WORDS = 8 };

struct sp_pattern {
    uint64_t odd[SP_PATTERN_WORDS];
};

static inline struct sp_pattern sp_pattern_of(const uint32_t *set, size_t size)
{
    struct sp_pattern p = {{0}};
    for (size_t i = 0; i < size; i++)
        p.odd[set[i] / 64 % SP_PATTERN_WORDS] ^= 1ull << set[i] % 64;
    return p;
}

/* Returns the bits in which the patterns differ. Not __builtin_popcountll, which is a call where
 * the compiler may not assume the instruction. */
static inline uint32_t sp_pattern_differ(const struct sp_pattern *x, const struct sp_pattern *y)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < SP_PATTERN_WORDS; i++) {
        uint64_t v = x->odd[i] ^ y->odd[i];
        v -= v >> 1 & 0x5555555555555555;
        v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
        bytes += (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f; /* at most 8 in each: 64 in all */
    }
    /* The sum of the bytes is up to 512, so that of each half of them is taken alone. */
    uint64_t pairs = (bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff);
    return (uint32_t)(pairs * 0x0001000100010001 >> 48);
}

/* Whether sets of so many shingles in all with these patterns may share `need`. */
static inline bool sp_patterns_may_share(const struct sp_pattern *x, const struct sp_pattern *y,
                                         uint64_t shingles, uint64_t need)
{
    return sp_pattern_differ(x, y) + 2 * need <= shingles;
}

#endif

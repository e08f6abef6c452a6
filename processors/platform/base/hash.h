/* Hashes and the 128-bit ids made of them. They are part of the stored format, so the functions
 * here never change within a format version. Thread rule: any thread. */
#ifndef SP_BASE_HASH_H
#define SP_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 128 bits; ordered by (hi, lo). Page ids and content hashes. */
struct sp_id {
    uint64_t hi;
    uint64_t lo;
};

/* XXH3 of 128 and of 64 bits, with seed 0. They are not keyed: whoever chooses the data can
 * construct collisions. */
struct sp_id sp_hash128(const void *data, size_t len);
uint64_t sp_hash64(const void *data, size_t len);

static inline bool sp_id_eq(struct sp_id a, struct sp_id b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

static inline bool sp_id_is_zero(struct sp_id a)
{
    return (a.hi | a.lo) == 0;
}

/* Negative, 0 or positive, like strcmp. */
static inline int sp_id_cmp(struct sp_id a, struct sp_id b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

/* The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014; Stafford's variant 13): every input bit affects every output bit. A
 * bijection. */
static inline uint64_t sp_mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* The same for 32 bits (Wellons, "Prospecting for hash functions", 2018). A bijection. */
static inline uint32_t sp_mix32(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Multiplicative hashing (Knuth 6.4): the place of the key in a table of 2^(32 - shift). Spreads
 * keys that are close together or lie in one part of their range. */
static inline uint32_t sp_hash_place(uint32_t key, unsigned shift)
{
    return key * 2654435769u >> shift;
}

#endif

/* A large hash table of 32-bit values by 32-bit keys that are well mixed: what a star table
 * (table.h) is made of when it has many keys. It takes 7 to 11 bytes a key, whatever their
 * number, and no part of it is copied as a whole when it grows.
 *
 * There are 256 shards, selected by the first 8 bits of the key. A shard that has become large
 * splits into 256 of its own, selected by the next 8 bits. A shard is an array of buckets, each of
 * which is a cache line with ten places of six bytes: the last 16 bits of the key, and 32 bits for
 * its value. While a shard is whole, 8 bits of the key are still missing. They are kept in those
 * bits of the value that are zero as long as numbers are small; a shard also splits when it gets a
 * larger one.
 *
 * A key's home bucket is chosen by its first bits in the shard. If the home is full, the key goes
 * to the next bucket with room, and the home records the distance and three bits of the key, so
 * that a search for an absent key nearly always reads one line. Thread rule: one thread at a
 * time. */
#ifndef SP_STARS_SHARDS_H
#define SP_STARS_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prefetch.h"
#include "stars/cells.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { SP_STAR_SHARDS = 256, SP_STAR_BUCKET_KEYS = 10 };

/* Of a value; the other bits are a number. */
#define SP_STAR_FLAG (1u << 31)

struct sp_star_bucket {
    uint16_t keys[SP_STAR_BUCKET_KEYS];
    uint8_t used;
    uint8_t reach;     /* its keys are at most so many buckets away; UINT8_MAX: anywhere */
    uint8_t displaced; /* keys whose home this is and that are in another bucket; UINT8_MAX: or
                        * more, and no longer counted */
    uint8_t filter;    /* a bit for each of them */
    uint32_t values[SP_STAR_BUCKET_KEYS]; /* flag, missing bits of the key, number */
};

struct sp_star_shard {
    struct sp_star_bucket *buckets;
    struct sp_star_shard *parts; /* SP_STAR_SHARDS of them, if it has been split */
    uint32_t count;              /* of buckets */
    uint32_t used;               /* keys */
};

struct sp_star_shards {
    struct sp_star_shard *shards; /* NULL: not made */
    uint64_t bytes;
};

void sp_star_shards_make(struct sp_star_shards *t);
void sp_star_shards_done(struct sp_star_shards *t);

/* Adds the key, which must not be in the table. */
void sp_star_shards_put(struct sp_star_shards *t, uint32_t key, uint32_t value);
/* Changes the value of a key, or removes the key, which must be in the table. */
void sp_star_shards_set(struct sp_star_shards *t, uint32_t key, uint32_t value);
void sp_star_shards_take(struct sp_star_shards *t, uint32_t key);

/* ---- look-ups, inline because a probe makes hundreds ---- */

/* A key, and the shard that it belongs to. */
struct sp_star_spot {
    struct sp_star_shard *shard;
    uint32_t start;   /* the key's bits in the shard, moved to the top */
    uint32_t missing; /* those that a bucket does not keep, as they are in the value */
    uint32_t mask;    /* where they are */
    uint16_t key;
};

enum { SP_STAR_MISSING_AT = 23 };

static inline struct sp_star_spot sp_star_spot_of(const struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_shard *s = &t->shards[key >> 24];
    if (s->parts)
        return (struct sp_star_spot){&s->parts[key >> 16 & 0xff], key << 16, 0, 0, (uint16_t)key};
    return (struct sp_star_spot){s, key << 8, (key >> 16 & 0xff) << SP_STAR_MISSING_AT,
                                 0xffu << SP_STAR_MISSING_AT, (uint16_t)key};
}

static inline struct sp_star_bucket *sp_star_home(const struct sp_star_spot *spot)
{
    return spot->shard->buckets + ((uint64_t)spot->start * spot->shard->count >> 32);
}

/* Of a displaced key. Home buckets are chosen by the upper bits. */
static inline uint8_t sp_star_filter_bit(uint16_t key)
{
    return (uint8_t)(1 << key % 8);
}

/* Bit 2 * i is set if place i has these bits of a key; other bits below 2 * SP_STAR_BUCKET_KEYS
 * have no meaning. */
static inline uint32_t sp_star_places(const struct sp_star_bucket *b, uint16_t key)
{
    uint32_t found = 0;
#if defined(__x86_64__)
    __m128i wanted = _mm_set1_epi16((short)key);
    __m128i first = _mm_cmpeq_epi16(_mm_loadu_si128((const void *)b->keys), wanted);
    __m128i last = _mm_cmpeq_epi16(_mm_loadu_si128((const void *)(b->keys + 2)), wanted);
    found = (unsigned)_mm_movemask_epi8(first) | ((unsigned)_mm_movemask_epi8(last) & 0xf000u) << 4;
#else
    for (int i = 0; i < SP_STAR_BUCKET_KEYS; i++)
        found |= (uint32_t)(b->keys[i] == key) << 2 * i;
#endif
    return found & ((1u << 2 * b->used) - 1);
}

/* Prefetch what a look-up reads, one after the other. The first does all of it for a shard that has
 * not been split. */
static inline void sp_star_shards_prefetch_shard(const struct sp_star_shards *t, uint32_t key)
{
    const struct sp_star_shard *s = &t->shards[key >> 24];
    if (s->parts)
        sp_prefetch(&s->parts[key >> 16 & 0xff]);
    else if (s->count)
        sp_prefetch(s->buckets + ((uint64_t)(key << 8) * s->count >> 32));
}

static inline void sp_star_shards_prefetch_home(const struct sp_star_shards *t, uint32_t key)
{
    const struct sp_star_shard *s = t->shards[key >> 24].parts;
    if (s && s[key >> 16 & 0xff].count)
        sp_prefetch(s[key >> 16 & 0xff].buckets +
                    ((uint64_t)(key << 16) * s[key >> 16 & 0xff].count >> 32));
}

/* Prefetches what a put of the key writes and no look-up of it reads. */
void sp_star_shards_prefetch_room(const struct sp_star_shards *t, uint32_t key);

/* The key's value, or SP_STAR_NO_VALUE. */
uint32_t sp_star_shards_search(const struct sp_star_shards *t, uint32_t key);

/* The same; nearly always without a branch that depends on whether the key is there, which cannot
 * be predicted. */
static inline uint32_t sp_star_shards_get(const struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    if (!spot.shard->count)
        return SP_STAR_NO_VALUE;
    const struct sp_star_bucket *home = sp_star_home(&spot);
    uint32_t found = sp_star_places(home, spot.key);
    uint32_t place = (uint32_t)__builtin_ctz(found | 1u << 2 * (SP_STAR_BUCKET_KEYS - 1)) / 2;
    uint32_t value = home->values[place], absent = -(uint32_t)!found;
    bool elsewhere = (absent & home->filter & sp_star_filter_bit(spot.key)) |
                     (~absent & (value ^ spot.missing) & spot.mask);
    if (__builtin_expect(elsewhere, 0))
        return sp_star_shards_search(t, key);
    return (value & ~spot.mask) | absent;
}
_Static_assert(SP_STAR_NO_VALUE == UINT32_MAX, "all bits are set");

#endif

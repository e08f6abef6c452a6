/* A large hash table of 32-bit values by 32-bit keys that are well mixed: what a star table
 * (table.h) is made of when it has many keys. It takes 5 to 7 bytes a value, whatever their
 * number, and up to 9 between 4 and 32 MiB; it is never copied as a whole. A key has at most two
 * values.
 *
 * There are 1,024 shards, selected by the first bits of the key: so few that the processor's caches
 * have where they are. A shard is an array of buckets, each of which is a cache line. A key's
 * bucket is chosen by its next bits, so an entry keeps only its last bits (quotienting, Cleary
 * 1984). It has as many bits as numbers and these need, about 30:
 *
 *   byte 0    numbers of entries, and of the keys of this bucket that found no room
 *   byte 2    a filter of 16 bits of these keys
 *   byte 4    of each entry, from the lowest bit on: the flag of its value, the number, and bits of
 *             its key; `width` bits, so that an entry may begin inside a byte
 *   the end   the last 8 bits of each key, its tag
 *
 * A key that finds no room in its bucket is a guest of the bucket behind it or before it, and if
 * these are full as well, in a small table of the shard. A search for an absent key rarely looks
 * there. The first entries of a bucket are its own, the last are guests from the bucket before it,
 * those before them are guests from the bucket behind it.
 *
 * Cost, for n keys: an addition moves three keys, amortised, and n / 1,024 if the key's shard
 * grows. Buckets are in the order of their keys, so these are read and written from the beginning
 * of the shard to its end: of a billion keys, a shard's million takes 50 ms. A look-up reads a
 * bucket, and seldom two more. Thread rule: one thread at a time. */
#ifndef SP_STARS_SHARDS_H
#define SP_STARS_SHARDS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/prefetch.h"
#include "stars/cells.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum {
    SP_STAR_SHARD_BITS = 10,
    SP_STAR_SHARDS = 1 << SP_STAR_SHARD_BITS,
    SP_STAR_KEY_BITS = 32 - SP_STAR_SHARD_BITS, /* of a key, in its shard */
    SP_STAR_BUCKET_BYTES = 60,                  /* of entries */
    SP_STAR_BUCKET_MOST = 16,                   /* entries */
    SP_STAR_DISPLACED = 32                      /* one displaced key in `own` */
};

/* Of a value; the other bits are a number. */
#define SP_STAR_FLAG (1u << 31)

struct sp_star_bucket {
    uint8_t own; /* the lower bits: number of its own entries; the others: of its displaced keys */
    uint8_t guests;  /* numbers of those from the bucket before (the lower bits) and behind it */
    uint16_t filter; /* a bit for each displaced key */
    uint8_t bytes[SP_STAR_BUCKET_BYTES];
};
_Static_assert(sizeof(struct sp_star_bucket) == 64, "a cache line");

/* Of the buckets of a shard and their entries. */
struct sp_star_shape {
    uint32_t count;     /* of buckets */
    uint8_t room;       /* entries of a bucket */
    uint8_t width;      /* bits of an entry, without its tag */
    uint8_t value_bits; /* of an entry, for flag and number */
    uint8_t rest_bits;  /* of an entry, for its key */
};

struct sp_star_shard {
    struct sp_star_bucket *buckets;
    struct sp_star_shape shape;
    uint32_t used;             /* entries, with those in `over` */
    struct sp_star_cells over; /* keys that are nowhere else */
};

struct sp_star_shards {
    struct sp_star_shard *shards; /* NULL: not made */
    uint32_t largest;             /* number so far */
    uint64_t bytes;
    struct sp_star_cell *waiting; /* scratch: keys whose buckets are full, while a shard grows */
    uint32_t waiting_count;
    uint32_t waiting_cap;
};

void sp_star_shards_make(struct sp_star_shards *t);
void sp_star_shards_done(struct sp_star_shards *t);

/* Adds a value to the key, which must have fewer than two. */
void sp_star_shards_put(struct sp_star_shards *t, uint32_t key, uint32_t value);
/* Changes or removes a value of the key, which the key must have. */
void sp_star_shards_set(struct sp_star_shards *t, uint32_t key, uint32_t old, uint32_t value);
void sp_star_shards_take(struct sp_star_shards *t, uint32_t key, uint32_t value);

/* ---- look-ups, inline because a probe makes hundreds ---- */

static inline struct sp_star_shard *sp_star_shard_of(const struct sp_star_shards *t, uint32_t key)
{
    return &t->shards[key >> SP_STAR_KEY_BITS];
}

/* The key's bits in its shard. */
static inline uint32_t sp_star_in_shard(uint32_t key)
{
    return key & ((1u << SP_STAR_KEY_BITS) - 1);
}

/* The key's bucket in its shard, of which only these bits are read. */
static inline struct sp_star_bucket *sp_star_home(const struct sp_star_shard *s, uint32_t key)
{
    uint32_t start = key << SP_STAR_SHARD_BITS;
    return s->buckets + ((uint64_t)start * s->shape.count >> 32);
}

/* Of a displaced key. Home buckets are chosen by the upper bits. */
static inline uint16_t sp_star_filter_bit(uint32_t key)
{
    return (uint16_t)(1 << key % 16);
}

/* The bits of the key that its entry keeps beside the tag. */
static inline uint32_t sp_star_rest(const struct sp_star_shape *s, uint32_t key)
{
    return key >> 8 & ((1u << s->rest_bits) - 1);
}

/* The place of an entry's tag. */
static inline uint32_t sp_star_tag(const struct sp_star_shape *s, uint32_t place)
{
    return SP_STAR_BUCKET_BYTES - (uint32_t)s->room + place;
}

static inline uint32_t sp_star_own(const struct sp_star_bucket *b)
{
    return b->own & (SP_STAR_DISPLACED - 1);
}

/* Bit i is set if entry i has the tag of this key; or if there is no entry i. */
static inline uint32_t sp_star_tagged(const struct sp_star_shape *s, const struct sp_star_bucket *b,
                                      uint32_t key)
{
    uint32_t found = 0;
#if defined(__x86_64__)
    enum { MOST = SP_STAR_BUCKET_MOST };
    _Static_assert(MOST == sizeof(__m128i), "all tags are compared at once");
    __m128i tags = _mm_loadu_si128((const void *)(b->bytes + SP_STAR_BUCKET_BYTES - MOST));
    found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8((char)key)));
    found >>= MOST - s->room;
#else
    for (uint32_t i = 0; i < s->room; i++)
        found |= (uint32_t)(b->bytes[sp_star_tag(s, i)] == (uint8_t)key) << i;
#endif
    return found;
}

/* The same of its own entries. */
static inline uint32_t sp_star_places(const struct sp_star_shape *s, const struct sp_star_bucket *b,
                                      uint32_t key)
{
    return sp_star_tagged(s, b, key) & ((1u << sp_star_own(b)) - 1);
}

/* An entry without its tag, and above it bits of others. */
static inline uint64_t sp_star_entry(const struct sp_star_shape *s, const struct sp_star_bucket *b,
                                     uint32_t place)
{
    uint32_t at = place * s->width;
    uint64_t entry;
    memcpy(&entry, b->bytes + at / 8, sizeof entry);
    return le64toh(entry) >> at % 8;
}

/* The value of an entry. */
static inline uint32_t sp_star_value(const struct sp_star_shape *s, uint64_t entry)
{
    uint32_t value = (uint32_t)(entry & ((1ull << s->value_bits) - 1));
    return value >> 1 | value << 31;
}

static inline bool sp_star_has_rest(const struct sp_star_shape *s, uint64_t entry, uint32_t key)
{
    return (((uint32_t)(entry >> s->value_bits) ^ key >> 8) & ((1u << s->rest_bits) - 1)) == 0;
}

/* Prefetches what a look-up reads. */
static inline void sp_star_shards_prefetch(const struct sp_star_shards *t, uint32_t key)
{
    const struct sp_star_shard *shard = sp_star_shard_of(t, key);
    if (shard->shape.count)
        sp_prefetch(sp_star_home(shard, key));
}

/* Prefetches what a put of the key writes beside the key's bucket, which has to be there already.
 */
void sp_star_shards_prefetch_room(const struct sp_star_shards *t, uint32_t key);

/* The key's values. */
struct sp_star_values sp_star_shards_search(const struct sp_star_shards *t, uint32_t key);

/* Prefetches what a search reads beside the key's bucket, which has to be there already. */
void sp_star_shards_prefetch_search(const struct sp_star_shards *t, uint32_t key);

/* The same, if the key's bucket alone tells them; false: it does not. Without a branch that depends
 * on whether the key is there, which cannot be predicted. */
static inline bool sp_star_shards_glance(const struct sp_star_shards *t, uint32_t key,
                                         struct sp_star_values *ret_values)
{
    const struct sp_star_shard *shard = sp_star_shard_of(t, key);
    const struct sp_star_shape *s = &shard->shape;
    *ret_values = SP_STAR_NO_VALUES;
    if (!s->count)
        return true;
    const struct sp_star_bucket *home = sp_star_home(shard, key);
    uint32_t found = sp_star_places(s, home, key);
    if (__builtin_expect(home->filter & sp_star_filter_bit(key), 0))
        return false;
    if (__builtin_expect(found & (found - 1), 0)) {
        *ret_values = sp_star_shards_search(t, key);
        return true;
    }
    uint64_t entry = sp_star_entry(s, home, (uint32_t)__builtin_ctz(found | 1u << (s->room - 1)));
    uint32_t absent = -(uint32_t)(!found | !sp_star_has_rest(s, entry, key));
    ret_values->first = sp_star_value(s, entry) | absent;
    return true;
}
_Static_assert(SP_STAR_NO_VALUE == UINT32_MAX, "all bits are set");

static inline struct sp_star_values sp_star_shards_get(const struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_values values;
    return sp_star_shards_glance(t, key, &values) ? values : sp_star_shards_search(t, key);
}

#endif

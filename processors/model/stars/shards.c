/* See shards.h. */
#include "stars/shards.h"

#include "base/assert.h"
#include "base/huge.h"
#include "base/mem.h"

enum {
    BUCKET_KEYS = SP_STAR_BUCKET_KEYS,
    WHOLE_MOST = 16384 /* keys of a shard that is not split: so few are moved in 0.2 ms */
};

void sp_star_shards_make(struct sp_star_shards *t)
{
    t->shards = sp_calloc(SP_STAR_SHARDS, sizeof *t->shards);
    t->bytes = SP_STAR_SHARDS * sizeof *t->shards;
}

void sp_star_shards_done(struct sp_star_shards *t)
{
    for (uint32_t i = 0; t->shards && i < SP_STAR_SHARDS; i++) {
        struct sp_star_shard *s = &t->shards[i];
        for (uint32_t k = 0; s->parts && k < SP_STAR_SHARDS; k++)
            sp_huge_free(s->parts[k].buckets);
        sp_huge_free(s->parts);
        sp_huge_free(s->buckets);
    }
    sp_free(t->shards);
    *t = (struct sp_star_shards){0};
}

static struct sp_star_bucket *after(const struct sp_star_shard *s, struct sp_star_bucket *b)
{
    return b + 1 == s->buckets + s->count ? s->buckets : b + 1;
}

/* The key's place in the bucket, or -1. */
static int place_of(const struct sp_star_bucket *b, const struct sp_star_spot *spot)
{
    for (uint32_t found = sp_star_places(b, spot->key); found; found &= found - 1) {
        int place = __builtin_ctz(found) / 2;
        if (((b->values[place] ^ spot->missing) & spot->mask) == 0)
            return place;
    }
    return -1;
}

/* The bucket that has the key, and its place there; NULL if there is none. */
static struct sp_star_bucket *find(const struct sp_star_spot *spot, int *ret_place)
{
    const struct sp_star_shard *s = spot->shard;
    if (!s->count)
        return NULL;
    struct sp_star_bucket *home = sp_star_home(spot), *b = home;
    *ret_place = place_of(b, spot);
    if (*ret_place < 0 && !(home->filter & sp_star_filter_bit(spot->key)))
        return NULL;
    uint32_t left = home->reach < UINT8_MAX ? home->reach : s->count;
    for (; *ret_place < 0 && left > 0; left--) {
        b = after(s, b);
        *ret_place = place_of(b, spot);
    }
    return *ret_place >= 0 ? b : NULL;
}

uint32_t sp_star_shards_search(const struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    int place;
    const struct sp_star_bucket *b = find(&spot, &place);
    return b ? b->values[place] & ~spot.mask : SP_STAR_NO_VALUE;
}

/* Puts the key into the shard, which has room. */
static inline void put(const struct sp_star_spot *spot, uint32_t value)
{
    struct sp_star_bucket *home = sp_star_home(spot), *b = home;
    uint32_t distance = 0;
    for (; b->used == BUCKET_KEYS; distance++)
        b = after(spot->shard, b);
    if (distance) {
        home->displaced += home->displaced < UINT8_MAX;
        home->filter |= sp_star_filter_bit(spot->key);
        if (distance > home->reach)
            home->reach = distance < UINT8_MAX ? (uint8_t)distance : UINT8_MAX;
    }
    b->keys[b->used] = spot->key;
    b->values[b->used++] = value | spot->missing;
}

/* If shards were fuller, displaced keys would cost more time than the memory is worth. */
static bool is_full(const struct sp_star_shard *s)
{
    return 8 * (s->used + 1ull) > 7ull * BUCKET_KEYS * s->count;
}

/* 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16 ... 256, 384, 512, 768 ...: sizes that the allocator has.
 * Each key of a small table is moved about six times, and each key of a large one about three
 * times, because that takes a larger part of the time of a long crawl. */
static uint32_t next_count(uint32_t count)
{
    enum { SMALL = 256 };
    uint32_t power = 31 - (uint32_t)__builtin_clz(count | 1);
    return count < 4 ? count + 1 : count + (1u << (power - (count < SMALL ? 2 : 1)));
}

/* Moves the keys of the old buckets into the shard, which is empty. Most find room at home, so that
 * is tried first. `mask`: as in the spots of its keys. */
static void move_keys(struct sp_star_shard *s, const struct sp_star_shard *old, uint32_t mask)
{
    for (uint32_t i = 0; i < old->count; i++) {
        const struct sp_star_bucket *from = &old->buckets[i];
        for (uint32_t k = 0; k < from->used; k++) {
            uint32_t value = from->values[k], start = (uint32_t)from->keys[k] << 16;
            if (mask)
                start = start >> 8 | (value & mask) << (24 - SP_STAR_MISSING_AT);
            struct sp_star_bucket *b = s->buckets + ((uint64_t)start * s->count >> 32);
            if (b->used < BUCKET_KEYS) {
                b->keys[b->used] = from->keys[k];
                b->values[b->used++] = value;
            } else {
                put(&(struct sp_star_spot){s, start, 0, 0, from->keys[k]}, value);
            }
        }
    }
}

__attribute__((noinline)) static void grow(struct sp_star_shards *t, struct sp_star_shard *s,
                                           uint32_t mask)
{
    struct sp_star_shard old = *s;
    s->count = next_count(s->count);
    t->bytes += (s->count - old.count) * sizeof *s->buckets;
    s->buckets = sp_huge_calloc(s->count, sizeof *s->buckets);
    move_keys(s, &old, mask);
    sp_huge_free(old.buckets);
}

static inline void put_in_part(struct sp_star_shards *t, const struct sp_star_spot *spot,
                               uint32_t value)
{
    if (is_full(spot->shard))
        grow(t, spot->shard, spot->mask);
    put(spot, value);
    spot->shard->used++;
}

/* Splits the whole shard that keys with these first 8 bits belong to. */
static void split(struct sp_star_shards *t, uint32_t first)
{
    struct sp_star_shard *s = &t->shards[first], old = *s;
    *s = (struct sp_star_shard){.parts = sp_huge_calloc(SP_STAR_SHARDS, sizeof *s->parts)};
    t->bytes += SP_STAR_SHARDS * sizeof *s->parts - old.count * sizeof *s->buckets;
    for (uint32_t i = 0; i < old.count; i++)
        for (uint32_t k = 0; k < old.buckets[i].used; k++) {
            const uint32_t mask = 0xffu << SP_STAR_MISSING_AT;
            uint32_t value = old.buckets[i].values[k];
            uint32_t middle = (value & mask) >> SP_STAR_MISSING_AT;
            uint32_t key = first << 24 | middle << 16 | old.buckets[i].keys[k];
            struct sp_star_spot spot = sp_star_spot_of(t, key);
            put_in_part(t, &spot, value & ~mask);
        }
    sp_huge_free(old.buckets);
}

/* Whether the value can be kept in a place beside the missing bits; the number of all ones would be
 * SP_STAR_NO_VALUE. */
static bool fits(const struct sp_star_spot *spot, uint32_t value)
{
    return !spot->mask || (value & ~SP_STAR_FLAG) < (1u << SP_STAR_MISSING_AT) - 1;
}

void sp_star_shards_put(struct sp_star_shards *t, uint32_t key, uint32_t value)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    if (!fits(&spot, value) || (spot.mask && spot.shard->used == WHOLE_MOST)) {
        split(t, key >> 24);
        spot = sp_star_spot_of(t, key);
    }
    put_in_part(t, &spot, value);
}

void sp_star_shards_set(struct sp_star_shards *t, uint32_t key, uint32_t value)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    int place;
    if (!fits(&spot, value)) {
        split(t, key >> 24);
        spot = sp_star_spot_of(t, key);
    }
    struct sp_star_bucket *b = find(&spot, &place);
    SP_ASSERT(b);
    b->values[place] = value | spot.missing;
}

void sp_star_shards_take(struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    int place;
    struct sp_star_bucket *home = sp_star_home(&spot), *b = find(&spot, &place);
    SP_ASSERT(b);
    if (b != home && home->displaced < UINT8_MAX && --home->displaced == 0)
        home->reach = home->filter = 0;
    b->used--;
    b->keys[place] = b->keys[b->used];
    b->values[place] = b->values[b->used];
    spot.shard->used--;
}

void sp_star_shards_prefetch_room(const struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    const struct sp_star_shard *s = spot.shard;
    struct sp_star_bucket *home = s->count ? sp_star_home(&spot) : NULL;
    if (home && home->used == BUCKET_KEYS)
        sp_prefetch(after(s, home));
    if (is_full(s) && !spot.mask)
        sp_prefetch_bytes(s->buckets, s->count * sizeof *s->buckets);
}

/* The entries of one bucket of a shard (shards.h): its own and its guests. */
#ifndef SP_STARS_BUCKET_H
#define SP_STARS_BUCKET_H

#include "stars/shards.h"

enum {
    SP_STAR_GUESTS_MOST = 15, /* from one side */
    SP_STAR_BEHIND = 16       /* one guest from behind in `guests` */
};

/* ---- entries ---- */

/* A value with its flag first. */
static inline uint32_t sp_star_flag_first(uint32_t value)
{
    return value << 1 | value >> 31;
}

/* `value`: with its flag first. */
static inline uint64_t sp_star_entry_of(const struct sp_star_shape *s, uint32_t key, uint32_t value)
{
    return (uint64_t)sp_star_rest(s, key) << s->value_bits | value;
}

static inline void sp_star_write_entry(const struct sp_star_shape *s, struct sp_star_bucket *b,
                                       uint32_t place, uint8_t tag, uint64_t entry)
{
    uint32_t at = place * s->width;
    uint64_t mask = ((1ull << s->width) - 1) << at % 8, bits;
    memcpy(&bits, b->bytes + at / 8, sizeof bits);
    bits = htole64((le64toh(bits) & ~mask) | (entry << at % 8 & mask));
    memcpy(b->bytes + at / 8, &bits, sizeof bits);
    b->bytes[sp_star_tag(s, place)] = tag;
}

/* ---- buckets ---- */

static inline uint32_t sp_star_from_before(const struct sp_star_bucket *b)
{
    return b->guests % SP_STAR_BEHIND;
}

static inline uint32_t sp_star_from_behind(const struct sp_star_bucket *b)
{
    return b->guests / SP_STAR_BEHIND;
}

static inline bool sp_star_is_full(const struct sp_star_shape *s, const struct sp_star_bucket *b)
{
    return sp_star_own(b) + sp_star_from_before(b) + sp_star_from_behind(b) == s->room;
}

/* Where a key of the bucket can be a guest; NULL: nowhere. */
static inline struct sp_star_bucket *sp_star_behind(const struct sp_star_shard *s,
                                                    struct sp_star_bucket *b)
{
    if (s->shape.count == 1)
        return NULL;
    return b + 1 == s->buckets + s->shape.count ? s->buckets : b + 1;
}

static inline struct sp_star_bucket *sp_star_before(const struct sp_star_shard *s,
                                                    struct sp_star_bucket *b)
{
    if (s->shape.count == 1)
        return NULL;
    return b == s->buckets ? s->buckets + s->shape.count - 1 : b - 1;
}

/* The places of its guests from either side. */
static inline uint32_t sp_star_places_before(const struct sp_star_shape *s,
                                             const struct sp_star_bucket *b)
{
    return ((1u << sp_star_from_before(b)) - 1) << (s->room - sp_star_from_before(b));
}

static inline uint32_t sp_star_places_behind(const struct sp_star_shape *s,
                                             const struct sp_star_bucket *b)
{
    return ((1u << sp_star_from_behind(b)) - 1)
           << (s->room - sp_star_from_before(b) - sp_star_from_behind(b));
}

static inline void sp_star_copy_entry(const struct sp_star_shape *s, struct sp_star_bucket *b,
                                      uint32_t to, uint32_t from)
{
    if (to != from)
        sp_star_write_entry(s, b, to, b->bytes[sp_star_tag(s, from)], sp_star_entry(s, b, from));
}

/* Adds a guest if there is room. */
static inline bool sp_star_put_guest(const struct sp_star_shape *s, struct sp_star_bucket *b,
                                     bool is_behind, uint32_t key, uint64_t entry)
{
    uint32_t front = s->room - sp_star_from_before(b) - 1, place = front - sp_star_from_behind(b);
    if (sp_star_is_full(s, b) ||
        (is_behind ? sp_star_from_behind(b) : sp_star_from_before(b)) == SP_STAR_GUESTS_MOST)
        return false;
    if (!is_behind) {
        sp_star_copy_entry(s, b, place, front);
        place = front;
    }
    sp_star_write_entry(s, b, place, (uint8_t)key, entry);
    b->guests += is_behind ? SP_STAR_BEHIND : 1;
    return true;
}

static inline void sp_star_take_guest(const struct sp_star_shape *s, struct sp_star_bucket *b,
                                      bool is_behind, uint32_t place)
{
    uint32_t front = s->room - sp_star_from_before(b), first = front - sp_star_from_behind(b);
    if (!is_behind) {
        sp_star_copy_entry(s, b, place, front);
        place = front;
    }
    sp_star_copy_entry(s, b, place, first);
    b->guests -= is_behind ? SP_STAR_BEHIND : 1;
}

#endif

/* See shards.h. */
#include "stars/shards.h"

#include "base/assert.h"
#include "base/huge.h"
#include "base/mem.h"

enum {
    WHOLE_BITS = 24, /* of a key, in a shard that is not split */
    PART_BITS = 16,  /* in a part of one */
    TAG_BITS = 8,
    LEAST_WIDTH = SP_STAR_BUCKET_BYTES / SP_STAR_BUCKET_MOST - 1,
    MOST_WIDTH = 6,    /* bytes; enough for all bits of a number and of a key */
    WHOLE_MOST = 16384 /* keys of a shard that is not split: so few are moved in 0.2 ms */
};

void sp_star_shards_make(struct sp_star_shards *t)
{
    t->shards = sp_calloc(SP_STAR_SHARDS, sizeof *t->shards);
    t->bytes = SP_STAR_SHARDS * sizeof *t->shards;
}

static void free_shards(struct sp_star_shard *shards)
{
    for (uint32_t i = 0; shards && i < SP_STAR_SHARDS; i++) {
        sp_huge_free(shards[i].buckets);
        sp_star_cells_free(&shards[i].over);
    }
}

void sp_star_shards_done(struct sp_star_shards *t)
{
    for (uint32_t i = 0; i < SP_STAR_SHARDS; i++) {
        free_shards(t->parts[i]);
        sp_huge_free(t->parts[i]);
    }
    free_shards(t->shards);
    sp_free(t->shards);
    *t = (struct sp_star_shards){0};
}

/* ---- entries ---- */

/* A value with its flag first. */
static uint32_t flag_first(uint32_t value)
{
    return value << 1 | value >> 31;
}

/* `value`: with its flag first. */
static uint64_t entry_of(const struct sp_star_shape *s, uint32_t key, uint32_t value)
{
    return (uint64_t)sp_star_rest(s, key) << s->value_bits | value;
}

static inline void write_entry(const struct sp_star_shape *s, struct sp_star_bucket *b,
                               uint32_t place, uint8_t tag, uint64_t entry)
{
    uint8_t *to = b->bytes + (size_t)place * s->width;
    entry = htole64(entry);
    if (s->width == 3)
        memcpy(to, &entry, 3);
    else if (s->width == 4)
        memcpy(to, &entry, 4);
    else if (s->width == 5)
        memcpy(to, &entry, 5);
    else
        memcpy(to, &entry, MOST_WIDTH);
    b->bytes[sp_star_tag(s, place)] = tag;
}

/* The place of that value of the key in its bucket, or -1. */
static int place_of(const struct sp_star_shape *s, const struct sp_star_bucket *b, uint32_t key,
                    uint32_t value)
{
    uint64_t wanted = entry_of(s, key, flag_first(value));
    for (uint32_t found = sp_star_places(s, b, key); found; found &= found - 1) {
        int place = __builtin_ctz(found);
        if (sp_star_entry(s, b, (uint32_t)place) == wanted)
            return place;
    }
    return -1;
}

struct sp_star_values sp_star_shards_search(const struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    const struct sp_star_shape *s = &spot.shard->shape;
    struct sp_star_values values = SP_STAR_NO_VALUES;
    if (!s->count)
        return values;
    const struct sp_star_bucket *home = sp_star_home(&spot);
    for (uint32_t found = sp_star_places(s, home, key); found; found &= found - 1) {
        uint64_t entry = sp_star_entry(s, home, (uint32_t)__builtin_ctz(found));
        if (sp_star_has_rest(s, entry, key))
            sp_star_values_add(&values, sp_star_value(s, entry));
    }
    if (home->filter & sp_star_filter_bit(key))
        sp_star_cells_get(&spot.shard->over, spot.last, &values);
    return values;
}

/* ---- growing ---- */

/* Whether there is no room for one more than `used`. If shards were fuller, displaced keys would
 * cost more time than the memory is worth. */
static bool is_full(const struct sp_star_shape *s, uint32_t used)
{
    return 16 * (used + 1ull) > 15ull * s->room * s->count;
}

/* 1, 2, 3, 4, 6, 8, 12, 16, 24 ...: sizes that the allocator has. Each key is moved about three
 * times. */
static uint32_t next_count(uint32_t count)
{
    uint32_t power = 31 - (uint32_t)__builtin_clz(count | 1);
    return count < 2 ? count + 1 : count + (1u << (power - 1));
}

static uint32_t bits_of(uint32_t number)
{
    return number ? 32 - (uint32_t)__builtin_clz(number) : 1;
}

/* The shape of so many buckets. A bucket has the keys of at most 2^key_bits / count starts, side by
 * side, so their last bits tell them apart. Numbers may become larger by a quarter, so that the
 * shape does not change before the shard grows again. */
static struct sp_star_shape shape_of(uint32_t count, uint32_t key_bits, uint32_t largest)
{
    uint32_t kept = key_bits + 1 - bits_of(count), rest = kept > TAG_BITS ? kept - TAG_BITS : 0;
    uint64_t number = largest + (uint64_t)largest / 4;
    uint32_t bits = 1 + bits_of(number < SP_STAR_FLAG ? (uint32_t)number : SP_STAR_FLAG - 1);
    uint32_t width = (rest + bits + 7) / 8;
    width = width > LEAST_WIDTH ? width : LEAST_WIDTH;
    bits = 8 * width - rest < 32 ? 8 * width - rest : 32;
    return (struct sp_star_shape){count, (uint8_t)(SP_STAR_BUCKET_BYTES / (width + 1)),
                                  (uint8_t)width, (uint8_t)bits, (uint8_t)rest};
}

/* The least shape with room for one more than `used`. */
static struct sp_star_shape shape_for(uint32_t used, uint32_t count, uint32_t key_bits,
                                      uint32_t largest)
{
    struct sp_star_shape shape = shape_of(count, key_bits, largest);
    while (is_full(&shape, used))
        shape = shape_of(next_count(shape.count), key_bits, largest);
    return shape;
}

/* Adds the key, of which the last bits count, to its bucket; false if that has no room. */
static inline bool put_at_home(const struct sp_star_shape *s, struct sp_star_bucket *buckets,
                               uint32_t key, uint32_t key_bits, uint32_t value)
{
    uint32_t start = key << (32 - key_bits);
    struct sp_star_bucket *home = buckets + ((uint64_t)start * s->count >> 32);
    if (home->used < s->room) {
        write_entry(s, home, home->used++, (uint8_t)key, entry_of(s, key, value));
        return true;
    }
    home->displaced += home->displaced < UINT8_MAX;
    home->filter |= sp_star_filter_bit(key);
    return false;
}

/* Adds the key to those that find no room. */
__attribute__((noinline)) static void put_over(struct sp_star_shards *t, struct sp_star_cells *over,
                                               uint32_t key, uint32_t key_bits, uint32_t value)
{
    uint64_t before = over->count;
    uint32_t last = key & ((1u << key_bits) - 1);
    sp_star_cells_put(over, last, value >> 1 | value << 31);
    t->bytes += (over->count - before) * sizeof *over->cells;
}

/* The key's bits in the shard, of an entry of bucket i. The first of them are those of the least
 * start that belongs to the bucket, or of one of the next. */
static inline uint32_t key_at(const struct sp_star_shape *s, const struct sp_star_bucket *b,
                              uint32_t least, uint32_t place, uint64_t entry)
{
    uint32_t last =
        (uint32_t)(entry >> s->value_bits) << TAG_BITS | b->bytes[sp_star_tag(s, place)];
    return least + ((last - least) & ((1u << (s->rest_bits + TAG_BITS)) - 1));
}

static inline uint32_t least_start(const struct sp_star_shape *s, uint32_t key_bits, uint32_t i)
{
    return (uint32_t)((((uint64_t)i << key_bits) + s->count - 1) / s->count);
}

/* Moves the keys of a shard into `buckets` and `over`, which are empty. The shapes are copies, so
 * that the compiler keeps them in registers. */
static inline void move_keys(struct sp_star_shards *t, const struct sp_star_shard *from,
                             struct sp_star_shape shape, struct sp_star_bucket *buckets,
                             struct sp_star_cells *over, uint32_t key_bits)
{
    struct sp_star_shape old = from->shape;
    uint64_t values = (1ull << old.value_bits) - 1;
    for (uint32_t i = 0; i < old.count; i++) {
        const struct sp_star_bucket *b = &from->buckets[i];
        uint32_t least = least_start(&old, key_bits, i), used = b->used;
        for (uint32_t k = 0; k < used; k++) {
            uint64_t entry = sp_star_entry(&old, b, k);
            uint32_t key = key_at(&old, b, least, k, entry), value = (uint32_t)(entry & values);
            if (!put_at_home(&shape, buckets, key, key_bits, value))
                put_over(t, over, key, key_bits, value);
        }
    }
    for (uint32_t i = 0; i < from->over.count; i++) {
        struct sp_star_cell c = from->over.cells[i];
        if (c.value != SP_STAR_NO_VALUE &&
            !put_at_home(&shape, buckets, c.key, key_bits, flag_first(c.value)))
            put_over(t, over, c.key, key_bits, flag_first(c.value));
    }
}

static void drop(struct sp_star_shards *t, struct sp_star_shard *s)
{
    t->bytes -= s->shape.count * sizeof *s->buckets + s->over.count * sizeof *s->over.cells;
    sp_huge_free(s->buckets);
    sp_star_cells_free(&s->over);
}

/* The same. Entries of the least width, which most are, are moved more quickly if the compiler
 * knows it. */
static inline void move_known(struct sp_star_shards *t, const struct sp_star_shard *from,
                              struct sp_star_shard *to, uint32_t key_bits)
{
    struct sp_star_shape shape = to->shape;
    if (shape.width == LEAST_WIDTH) {
        shape.width = LEAST_WIDTH;
        shape.room = SP_STAR_BUCKET_MOST;
        move_keys(t, from, shape, to->buckets, &to->over, key_bits);
    } else {
        move_keys(t, from, shape, to->buckets, &to->over, key_bits);
    }
}

/* Makes room for one more entry, and for the largest number so far. */
__attribute__((noinline)) static void grow(struct sp_star_shards *t, struct sp_star_shard *s,
                                           uint32_t key_bits)
{
    struct sp_star_shard old = *s;
    s->shape = shape_for(old.used, old.shape.count, key_bits, t->largest);
    t->bytes += s->shape.count * sizeof *s->buckets;
    s->buckets = sp_huge_calloc(s->shape.count, sizeof *s->buckets);
    s->over = (struct sp_star_cells){0};
    if (key_bits == WHOLE_BITS)
        move_known(t, &old, s, WHOLE_BITS);
    else
        move_known(t, &old, s, PART_BITS);
    drop(t, &old);
}

/* Whether an entry of the shard has room for the number. */
static bool fits(const struct sp_star_shard *s, uint32_t value)
{
    return (uint64_t)(value & ~SP_STAR_FLAG) << 1 >> s->shape.value_bits == 0;
}

static inline void put(struct sp_star_shards *t, struct sp_star_shard *s, uint32_t key,
                       uint32_t key_bits, uint32_t value)
{
    if (is_full(&s->shape, s->used) || !fits(s, value))
        grow(t, s, key_bits);
    if (!put_at_home(&s->shape, s->buckets, key, key_bits, flag_first(value)))
        put_over(t, &s->over, key, key_bits, flag_first(value));
    s->used++;
}

/* `parts`: the first of them. */
static void put_in_part(struct sp_star_shards *t, struct sp_star_shard *parts, uint32_t key,
                        uint32_t value)
{
    put(t, &parts[key >> PART_BITS & (SP_STAR_SHARDS - 1)], key, PART_BITS, value);
}

/* Splits the whole shard that keys with these first 8 bits belong to. */
static void split(struct sp_star_shards *t, uint32_t first)
{
    struct sp_star_shard old = t->shards[first];
    const struct sp_star_shape *s = &old.shape;
    struct sp_star_shard *parts = sp_huge_calloc(SP_STAR_SHARDS, sizeof *parts);
    t->bytes += SP_STAR_SHARDS * sizeof *parts;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sp_star_bucket *b = &old.buckets[i];
        for (uint32_t k = 0; k < b->used; k++) {
            uint64_t entry = sp_star_entry(s, b, k);
            put_in_part(t, parts, key_at(s, b, least_start(s, WHOLE_BITS, i), k, entry),
                        sp_star_value(s, entry));
        }
    }
    for (uint32_t i = 0; i < old.over.count; i++)
        if (old.over.cells[i].value != SP_STAR_NO_VALUE)
            put_in_part(t, parts, old.over.cells[i].key, old.over.cells[i].value);
    t->shards[first] = (struct sp_star_shard){0};
    t->parts[first] = parts;
    drop(t, &old);
}

static void note(struct sp_star_shards *t, uint32_t value)
{
    uint32_t number = value & ~SP_STAR_FLAG;
    t->largest = number > t->largest ? number : t->largest;
}

void sp_star_shards_put(struct sp_star_shards *t, uint32_t key, uint32_t value)
{
    uint32_t first = key >> 24;
    note(t, value);
    if (!t->parts[first] && t->shards[first].used == WHOLE_MOST)
        split(t, first);
    if (t->parts[first])
        put_in_part(t, t->parts[first], key, value);
    else
        put(t, &t->shards[first], key, WHOLE_BITS, value);
}

void sp_star_shards_set(struct sp_star_shards *t, uint32_t key, uint32_t old, uint32_t value)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    struct sp_star_shard *s = spot.shard;
    note(t, value);
    if (!fits(s, value))
        grow(t, s, t->parts[key >> 24] ? PART_BITS : WHOLE_BITS);
    struct sp_star_bucket *home = sp_star_home(&spot);
    int place = place_of(&s->shape, home, key, old);
    if (place >= 0) {
        write_entry(&s->shape, home, (uint32_t)place, (uint8_t)key,
                    entry_of(&s->shape, key, flag_first(value)));
        return;
    }
    uint32_t *over = sp_star_cells_find(&s->over, spot.last, old);
    SP_ASSERT(over);
    *over = value;
}

void sp_star_shards_take(struct sp_star_shards *t, uint32_t key, uint32_t value)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    struct sp_star_shard *s = spot.shard;
    struct sp_star_bucket *home = sp_star_home(&spot);
    int place = place_of(&s->shape, home, key, value);
    s->used--;
    if (place >= 0) {
        uint32_t last = --home->used;
        write_entry(&s->shape, home, (uint32_t)place, home->bytes[sp_star_tag(&s->shape, last)],
                    sp_star_entry(&s->shape, home, last));
        return;
    }
    uint32_t *over = sp_star_cells_find(&s->over, spot.last, value);
    SP_ASSERT(over);
    sp_star_cells_take(&s->over, over);
    if (home->displaced < UINT8_MAX && --home->displaced == 0)
        home->filter = 0;
}

void sp_star_shards_prefetch_room(const struct sp_star_shards *t, uint32_t key)
{
    struct sp_star_spot spot = sp_star_spot_of(t, key);
    const struct sp_star_shard *s = spot.shard;
    if (t->parts[key >> 24] && is_full(&s->shape, s->used))
        sp_prefetch_bytes(s->buckets, s->shape.count * sizeof *s->buckets);
}

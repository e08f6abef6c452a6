/* See shards.h. */
#include "stars/shards.h"

#include "base/assert.h"
#include "base/clones.h"
#include "base/huge.h"
#include "base/mem.h"
#include "stars/bucket.h"

enum {
    TAG_BITS = 8,
    DISPLACED_MOST = 7, /* or more, and no longer counted */
    BUCKET_BITS = 8 * SP_STAR_BUCKET_BYTES,
    MIDDLING = 64, /* buckets of a shard: 4 MiB in all shards */
    LARGE = 512    /* 32 MiB */
};

void sp_star_shards_make(struct sp_star_shards *t)
{
    t->shards = sp_calloc(SP_STAR_SHARDS, sizeof *t->shards);
    t->bytes = SP_STAR_SHARDS * sizeof *t->shards;
}

void sp_star_shards_done(struct sp_star_shards *t)
{
    for (uint32_t i = 0; t->shards && i < SP_STAR_SHARDS; i++) {
        sp_huge_free(t->shards[i].buckets);
        sp_star_cells_free(&t->shards[i].over);
    }
    sp_free(t->shards);
    sp_free(t->waiting);
    *t = (struct sp_star_shards){0};
}

/* ---- where keys are ---- */

/* Where a value of a key is. */
struct held_at {
    struct sp_star_bucket *bucket; /* NULL: in no bucket */
    uint32_t place;
    bool own;
    bool behind; /* else, a guest from behind */
};

/* Looks for the value in these places of the bucket. */
static bool is_at(const struct sp_star_shape *s, struct sp_star_bucket *b, uint32_t places,
                  uint32_t key, uint32_t value, uint32_t *ret_place)
{
    for (uint32_t found = sp_star_tagged(s, b, key) & places; found; found &= found - 1) {
        uint32_t place = (uint32_t)__builtin_ctz(found);
        uint64_t entry = sp_star_entry(s, b, place);
        *ret_place = place;
        if (sp_star_has_rest(s, entry, key) && sp_star_value(s, entry) == value)
            return true;
    }
    return false;
}

static struct held_at find(const struct sp_star_shard *sh, uint32_t key, uint32_t value)
{
    const struct sp_star_shape *s = &sh->shape;
    struct sp_star_bucket *home = sp_star_home(sh, key), *b;
    uint32_t place;
    if (is_at(s, home, (1u << sp_star_own(home)) - 1, key, value, &place))
        return (struct held_at){home, place, true, false};
    if ((b = sp_star_behind(sh, home)) &&
        is_at(s, b, sp_star_places_before(s, b), key, value, &place))
        return (struct held_at){b, place, false, false};
    if ((b = sp_star_before(sh, home)) &&
        is_at(s, b, sp_star_places_behind(s, b), key, value, &place))
        return (struct held_at){b, place, false, true};
    return (struct held_at){0};
}

static void add_values(const struct sp_star_shape *s, const struct sp_star_bucket *b,
                       uint32_t places, uint32_t key, struct sp_star_values *values)
{
    for (uint32_t found = sp_star_tagged(s, b, key) & places; found; found &= found - 1) {
        uint64_t entry = sp_star_entry(s, b, (uint32_t)__builtin_ctz(found));
        if (sp_star_has_rest(s, entry, key))
            sp_star_values_add(values, sp_star_value(s, entry));
    }
}

SP_CLONES struct sp_star_values sp_star_shards_search(const struct sp_star_shards *t, uint32_t key)
{
    const struct sp_star_shard *sh = sp_star_shard_of(t, key);
    const struct sp_star_shape *s = &sh->shape;
    struct sp_star_values values = SP_STAR_NO_VALUES;
    if (!s->count)
        return values;
    struct sp_star_bucket *home = sp_star_home(sh, key), *b;
    add_values(s, home, (1u << sp_star_own(home)) - 1, key, &values);
    if (!(home->filter & sp_star_filter_bit(key)))
        return values;
    if ((b = sp_star_behind(sh, home)) && b->guests)
        add_values(s, b, sp_star_places_before(s, b), key, &values);
    if ((b = sp_star_before(sh, home)) && b->guests)
        add_values(s, b, sp_star_places_behind(s, b), key, &values);
    if (sh->over.used)
        sp_star_cells_get(&sh->over, sp_star_in_shard(key), &values);
    return values;
}

/* ---- growing ---- */

/* Whether there is no room for one more than `used`. In a full shard one key in ten is displaced,
 * and one in fifty is in the small table. */
static bool is_full(const struct sp_star_shape *s, uint32_t used)
{
    return used + 1ull > (uint64_t)s->room * s->count;
}

/* 1, 2, 3, 4, 6, 8 ... 64, 128, 256, 512, 768, 1,024 ...: sizes that the allocator has. Each key is
 * moved about three times; less than twice if the table has the size of a middling one, which
 * doubles. There may be many smaller ones, and a larger one takes most of the memory. */
static uint32_t next_count(uint32_t count)
{
    uint32_t power = 31 - (uint32_t)__builtin_clz(count | 1);
    if (count < 2 || (count >= MIDDLING && count < LARGE))
        return count ? 2 * count : 1;
    return count + (1u << (power - 1));
}

static uint32_t bits_of(uint32_t number)
{
    return number ? 32 - (uint32_t)__builtin_clz(number) : 1;
}

/* The shape of so many buckets. A bucket has the keys of at most 2^SP_STAR_KEY_BITS / count starts,
 * side by side, so their last bits tell them apart. Numbers may become larger by a quarter, so that
 * the shape does not change before the shard grows again. */
static struct sp_star_shape shape_of(uint32_t count, uint32_t largest)
{
    uint32_t kept = SP_STAR_KEY_BITS + 1 - bits_of(count),
             rest = kept > TAG_BITS ? kept - TAG_BITS : 0;
    uint64_t number = largest + (uint64_t)largest / 4;
    uint32_t bits = 1 + bits_of(number < SP_STAR_FLAG ? (uint32_t)number : SP_STAR_FLAG - 1);
    uint32_t room = BUCKET_BITS / (rest + bits + TAG_BITS);
    room = room < SP_STAR_BUCKET_MOST ? room : SP_STAR_BUCKET_MOST;
    bits = BUCKET_BITS / room - TAG_BITS - rest; /* those that would be left */
    bits = bits < 32 ? bits : 32;
    return (struct sp_star_shape){count, (uint8_t)room, (uint8_t)(rest + bits), (uint8_t)bits,
                                  (uint8_t)rest};
}

/* The least shape with room for one more than `used`. */
static struct sp_star_shape shape_for(uint32_t used, uint32_t count, uint32_t largest)
{
    struct sp_star_shape shape = shape_of(count, largest);
    while (is_full(&shape, used))
        shape = shape_of(next_count(shape.count), largest);
    return shape;
}

/* Adds a key that finds no room in its bucket. */
SP_CLONES __attribute__((noinline)) static void
put_elsewhere(struct sp_star_shards *t, struct sp_star_shard *sh, uint32_t key, uint32_t value)
{
    const struct sp_star_shape *s = &sh->shape;
    struct sp_star_bucket *home = sp_star_home(sh, key), *b;
    uint64_t entry = sp_star_entry_of(s, key, value), before_put = sh->over.count;
    home->own += home->own / SP_STAR_DISPLACED < DISPLACED_MOST ? SP_STAR_DISPLACED : 0;
    home->filter |= sp_star_filter_bit(key);
    if ((b = sp_star_behind(sh, home)) && sp_star_put_guest(s, b, false, key, entry))
        return;
    if ((b = sp_star_before(sh, home)) && sp_star_put_guest(s, b, true, key, entry))
        return;
    sp_star_cells_put(&sh->over, sp_star_in_shard(key), value >> 1 | value << 31);
    t->bytes += (sh->over.count - before_put) * sizeof *sh->over.cells;
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

static inline uint32_t least_start(const struct sp_star_shape *s, uint32_t i)
{
    return (uint32_t)((((uint64_t)i << SP_STAR_KEY_BITS) + s->count - 1) / s->count);
}

/* There are no guests and no displaced keys yet, and free places are zero. `value`: with its flag
 * first. */
static inline __attribute__((always_inline)) void
move_home(struct sp_star_shards *t, const struct sp_star_shard *to, uint32_t key, uint32_t value)
{
    struct sp_star_bucket *home = sp_star_home(to, key);
    uint32_t place = home->own, at = place * to->shape.width;
    uint64_t bits;
    if (place == to->shape.room) {
        sp_grow(&t->waiting, &t->waiting_cap, t->waiting_count + 1);
        t->waiting[t->waiting_count++] = (struct sp_star_cell){key, value};
        return;
    }
    memcpy(&bits, home->bytes + at / 8, sizeof bits);
    bits |= htole64(sp_star_entry_of(&to->shape, key, value) << at % 8);
    memcpy(home->bytes + at / 8, &bits, sizeof bits);
    home->bytes[sp_star_tag(&to->shape, place)] = (uint8_t)key;
    home->own = (uint8_t)(place + 1);
}

/* Moves the keys of a shard that find room in their new buckets; t->waiting has the others. Inline,
 * and the shapes are copies, so that the compiler keeps them in registers: growing shards are most
 * of the cost of adding keys. */
static void move_homes(struct sp_star_shards *t, const struct sp_star_shard *from,
                       const struct sp_star_shard to)
{
    const struct sp_star_shape old = from->shape;
    const uint64_t values = (1ull << old.value_bits) - 1;
    t->waiting_count = 0;
    for (uint32_t i = 0; i < old.count; i++) {
        const struct sp_star_bucket *b = &from->buckets[i];
        uint32_t least = least_start(&old, i), own = sp_star_own(b),
                 first = old.room - sp_star_from_before(b);
        for (uint32_t k = 0; k < own; k++) {
            uint64_t entry = sp_star_entry(&old, b, k);
            move_home(t, &to, key_at(&old, b, least, k, entry), (uint32_t)(entry & values));
        }
        if (!b->guests)
            continue;
        uint32_t least_before = least_start(&old, i ? i - 1 : old.count - 1),
                 least_behind = least_start(&old, i + 1 < old.count ? i + 1 : 0);
        for (uint32_t k = first - sp_star_from_behind(b); k < old.room; k++) {
            uint64_t entry = sp_star_entry(&old, b, k);
            move_home(t, &to, key_at(&old, b, k < first ? least_behind : least_before, k, entry),
                      (uint32_t)(entry & values));
        }
    }
    for (uint32_t i = 0; i < from->over.count; i++)
        if (from->over.cells[i].value != SP_STAR_NO_VALUE)
            move_home(t, &to, from->over.cells[i].key,
                      sp_star_flag_first(from->over.cells[i].value));
}

static void drop(struct sp_star_shards *t, struct sp_star_shard *s)
{
    t->bytes -= s->shape.count * sizeof *s->buckets + s->over.count * sizeof *s->over.cells;
    sp_huge_free(s->buckets);
    sp_star_cells_free(&s->over);
}

/* Makes room for one more entry, and for the largest number so far. */
SP_CLONES __attribute__((noinline)) static void grow(struct sp_star_shards *t,
                                                     struct sp_star_shard *s)
{
    struct sp_star_shard old = *s;
    s->shape = shape_for(old.used, old.shape.count, t->largest);
    t->bytes += s->shape.count * sizeof *s->buckets;
    s->buckets = sp_huge_calloc(s->shape.count, sizeof *s->buckets);
    s->over = (struct sp_star_cells){0};
    move_homes(t, &old, *s);
    for (uint32_t i = 0; i < t->waiting_count; i++)
        put_elsewhere(t, s, t->waiting[i].key, t->waiting[i].value);
    drop(t, &old);
}

/* Whether an entry of the shard has room for the number. */
static bool fits(const struct sp_star_shard *s, uint32_t value)
{
    return (uint64_t)(value & ~SP_STAR_FLAG) << 1 >> s->shape.value_bits == 0;
}

static void note(struct sp_star_shards *t, uint32_t value)
{
    uint32_t number = value & ~SP_STAR_FLAG;
    t->largest = number > t->largest ? number : t->largest;
}

SP_CLONES void sp_star_shards_put(struct sp_star_shards *t, uint32_t key, uint32_t value)
{
    struct sp_star_shard *s = sp_star_shard_of(t, key);
    note(t, value);
    if (is_full(&s->shape, s->used) || !fits(s, value))
        grow(t, s);
    value = sp_star_flag_first(value);
    struct sp_star_bucket *home = sp_star_home(s, key);
    s->used++;
    if (sp_star_is_full(&s->shape, home)) {
        put_elsewhere(t, s, key, value);
        return;
    }
    sp_star_write_entry(&s->shape, home, sp_star_own(home), (uint8_t)key,
                        sp_star_entry_of(&s->shape, key, value));
    home->own++;
}

void sp_star_shards_set(struct sp_star_shards *t, uint32_t key, uint32_t old, uint32_t value)
{
    struct sp_star_shard *s = sp_star_shard_of(t, key);
    note(t, value);
    if (!fits(s, value))
        grow(t, s);
    struct held_at at = find(s, key, old);
    if (at.bucket) {
        sp_star_write_entry(&s->shape, at.bucket, at.place, (uint8_t)key,
                            sp_star_entry_of(&s->shape, key, sp_star_flag_first(value)));
        return;
    }
    uint32_t *over = sp_star_cells_find(&s->over, sp_star_in_shard(key), old);
    SP_ASSERT(over);
    *over = value;
}

void sp_star_shards_take(struct sp_star_shards *t, uint32_t key, uint32_t value)
{
    struct sp_star_shard *s = sp_star_shard_of(t, key);
    struct sp_star_bucket *home = sp_star_home(s, key);
    struct held_at at = find(s, key, value);
    s->used--;
    if (at.own) {
        sp_star_copy_entry(&s->shape, home, at.place, sp_star_own(home) - 1);
        home->own--;
        return;
    }
    if (at.bucket) {
        sp_star_take_guest(&s->shape, at.bucket, at.behind, at.place);
    } else {
        uint32_t *over = sp_star_cells_find(&s->over, sp_star_in_shard(key), value);
        SP_ASSERT(over);
        sp_star_cells_take(&s->over, over);
    }
    if (home->own / SP_STAR_DISPLACED == DISPLACED_MOST)
        return;
    home->own -= SP_STAR_DISPLACED;
    if (home->own < SP_STAR_DISPLACED)
        home->filter = 0;
}

/* Where the key may be outside its bucket. */
static void prefetch_beside(const struct sp_star_shard *s, uint32_t key)
{
    struct sp_star_bucket *home = sp_star_home(s, key);
    sp_prefetch(sp_star_behind(s, home));
    sp_prefetch(sp_star_before(s, home));
    if (s->over.count)
        sp_prefetch(&s->over.cells[sp_star_in_shard(key) & (s->over.count - 1)]);
}

SP_CLONES void sp_star_shards_prefetch_search(const struct sp_star_shards *t, uint32_t key)
{
    prefetch_beside(sp_star_shard_of(t, key), key);
}

SP_CLONES void sp_star_shards_prefetch_room(const struct sp_star_shards *t, uint32_t key)
{
    const struct sp_star_shard *s = sp_star_shard_of(t, key);
    if (!is_full(&s->shape, s->used) && sp_star_is_full(&s->shape, sp_star_home(s, key)))
        prefetch_beside(s, key);
}

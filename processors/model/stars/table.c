/* See table.h. A table of few keys is one small hash table (cells.h), so that the index of a small
 * group takes memory by its size; a table of many has shards. A shard is an array of buckets, each
 * of which is a cache line. A key's home bucket is its remainder times the number of buckets. If
 * the home is full, the key goes to the next bucket with room, and the home records the distance
 * and three bits of the key, so that a search for an absent key nearly always reads one line. Lists
 * are in an arena (arena.h). */
#include "stars/table.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/prefetch.h"
#include "stars/arena.h"
#include "stars/cells.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum {
    SHARD_BITS = 16,
    SHARDS = 1 << SHARD_BITS,
    KEY_BITS = 32 - SHARD_BITS, /* of the key in its bucket */
    BUCKET_KEYS = 10,
    SMALL = 8,    /* buckets of a shard that grows in large steps */
    FEW = 3 << 16 /* keys in cells: as many as fill 2 MiB, which shards would exceed */
};
static const uint32_t LIST_BIT = 1u << 31;

struct bucket {
    uint16_t keys[BUCKET_KEYS]; /* the mixed keys without the bits that select the shard */
    uint8_t used;
    uint8_t reach;     /* its keys are at most so many buckets away; UINT8_MAX: anywhere */
    uint8_t displaced; /* keys whose home this is and that are in another bucket; UINT8_MAX: or
                        * more, and no longer counted */
    uint8_t filter;    /* a bit for each of them, see filter_bit */
    uint32_t values[BUCKET_KEYS]; /* a number; LIST_BIT | offset of a list */
};

struct shard {
    struct bucket *buckets;
    uint32_t count;
    uint32_t used; /* keys */
};

struct sp_star_table {
    struct sp_star_cells few;
    struct shard *shards; /* NULL: all keys are in `few` */
    struct sp_star_arena lists;
    bool full; /* an add was left undone */
    uint64_t buckets;
    uint64_t postings;
};

struct sp_star_table *sp_star_table_new(void)
{
    struct sp_star_table *t = sp_calloc(1, sizeof *t);
    sp_star_arena_init(&t->lists);
    return t;
}

void sp_star_table_free(struct sp_star_table *t)
{
    if (!t)
        return;
    sp_star_cells_free(&t->few);
    for (unsigned i = 0; t->shards && i < SHARDS; i++)
        sp_huge_free(t->shards[i].buckets);
    sp_huge_free(t->shards);
    sp_star_arena_done(&t->lists);
    sp_free(t);
}

/* ---- buckets ---- */

/* Keys come from sorted shingle hashes, so they must be mixed to spread neighbours. This is a
 * bijection of 32 bits (Wellons, "Prospecting for hash functions"), so that shard and remainder
 * identify the key. */
static inline uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static inline uint16_t remainder_of(uint32_t mixed_key)
{
    return (uint16_t)mixed_key;
}

static inline struct shard *shard_of(const struct sp_star_table *t, uint32_t mixed_key)
{
    return &t->shards[mixed_key >> KEY_BITS];
}

static inline struct bucket *home_of(const struct shard *s, uint16_t key)
{
    return s->buckets + (((uint64_t)key * s->count) >> KEY_BITS);
}

/* Of a displaced key. Home buckets are chosen by the upper bits. */
static inline uint8_t filter_bit(uint16_t key)
{
    return (uint8_t)(1 << key % 8);
}

static inline struct bucket *after(const struct shard *s, struct bucket *b)
{
    return b + 1 == s->buckets + s->count ? s->buckets : b + 1;
}

/* Bit 2 * i is set if the key is in place i; other bits below 2 * BUCKET_KEYS have no meaning. */
static inline uint32_t places_of(const struct bucket *b, uint16_t key)
{
    uint32_t found = 0;
#if defined(__x86_64__)
    __m128i wanted = _mm_set1_epi16((short)key);
    __m128i first = _mm_cmpeq_epi16(_mm_loadu_si128((const void *)b->keys), wanted);
    __m128i last = _mm_cmpeq_epi16(_mm_loadu_si128((const void *)(b->keys + 2)), wanted);
    found = (unsigned)_mm_movemask_epi8(first) | ((unsigned)_mm_movemask_epi8(last) & 0xf000u) << 4;
#else
    for (int i = 0; i < BUCKET_KEYS; i++)
        found |= (uint32_t)(b->keys[i] == key) << 2 * i;
#endif
    return found & ((1u << 2 * b->used) - 1);
}

/* The key's place in the bucket, or -1. */
static inline int place_of(const struct bucket *b, uint16_t key)
{
    uint32_t found = places_of(b, key);
    return found ? __builtin_ctz(found) / 2 : -1;
}

/* The bucket that has the key, and its place there; NULL if there is none. */
static inline struct bucket *find(const struct shard *s, uint16_t key, int *ret_place)
{
    if (!s->count)
        return NULL;
    struct bucket *home = home_of(s, key), *b = home;
    *ret_place = place_of(b, key);
    if (*ret_place < 0 && !(home->filter & filter_bit(key)))
        return NULL;
    uint32_t left = home->reach < UINT8_MAX ? home->reach : s->count;
    for (; *ret_place < 0 && left > 0; left--) {
        b = after(s, b);
        *ret_place = place_of(b, key);
    }
    return *ret_place >= 0 ? b : NULL;
}

static void put(struct shard *s, uint16_t key, uint32_t value)
{
    struct bucket *home = home_of(s, key), *b = home;
    uint32_t distance = 0;
    for (; b->used == BUCKET_KEYS; distance++)
        b = after(s, b);
    if (distance) {
        home->displaced += home->displaced < UINT8_MAX;
        home->filter |= filter_bit(key);
        if (distance > home->reach)
            home->reach = distance < UINT8_MAX ? (uint8_t)distance : UINT8_MAX;
    }
    b->keys[b->used] = key;
    b->values[b->used++] = value;
}

/* If shards were fuller, displaced keys would cost more time than the memory is worth. */
static bool is_full(const struct shard *s)
{
    return 8 * (s->used + 1ull) > 7ull * BUCKET_KEYS * s->count;
}

static void grow(struct sp_star_table *t, struct shard *s)
{
    struct shard old = *s;
    s->count += s->count / (s->count < SMALL ? 2 : 4) + 2; /* small ones would grow too often */
    t->buckets += s->count - old.count;
    s->buckets = sp_huge_calloc(s->count, sizeof *s->buckets);
    for (uint32_t i = 0; i < old.count; i++)
        for (uint32_t k = 0; k < old.buckets[i].used; k++)
            put(s, old.buckets[i].keys[k], old.buckets[i].values[k]);
    sp_huge_free(old.buckets);
}

static void take(struct shard *s, uint16_t key)
{
    int place;
    struct bucket *home = home_of(s, key), *b = find(s, key, &place);
    if (!b)
        return;
    if (b != home && home->displaced < UINT8_MAX && --home->displaced == 0)
        home->reach = home->filter = 0;
    b->used--;
    b->keys[place] = b->keys[b->used];
    b->values[place] = b->values[b->used];
    s->used--;
}

/* False: the arena is full. */
static bool list_append(struct sp_star_table *t, uint32_t *value, uint32_t number)
{
    if (!(*value & LIST_BIT)) {
        uint32_t offset = sp_star_list_new(&t->lists, sp_star_list_class(2));
        if (offset == SP_STAR_NO_LIST)
            return false;
        uint32_t *list = sp_star_list_at(&t->lists, offset);
        list[0] = 2;
        list[1] = *value;
        list[2] = number;
        *value = LIST_BIT | offset;
        return true;
    }
    uint32_t offset = *value & ~LIST_BIT;
    uint32_t *list = sp_star_list_at(&t->lists, offset);
    uint32_t count = list[0];
    unsigned class = sp_star_list_class(count);
    if (count + 2 > sp_star_class_words(class)) {
        uint32_t larger = sp_star_list_new(&t->lists, class + 1);
        if (larger == SP_STAR_NO_LIST)
            return false;
        uint32_t *to = sp_star_list_at(&t->lists, larger);
        list = sp_star_list_at(&t->lists, offset);
        memcpy(to, list, (count + 1) * sizeof *to);
        sp_star_list_release(&t->lists, offset, class);
        *value = LIST_BIT | larger;
        list = to;
    }
    list[0] = count + 1;
    list[count + 1] = number;
    return true;
}

static inline uint32_t *value_of(const struct sp_star_table *t, uint32_t mixed_key)
{
    if (!t->shards)
        return sp_star_cells_find(&t->few, mixed_key);
    int place;
    struct bucket *b = find(shard_of(t, mixed_key), remainder_of(mixed_key), &place);
    return b ? &b->values[place] : NULL;
}

static void put_in_shard(struct sp_star_table *t, uint32_t mixed_key, uint32_t value)
{
    struct shard *s = shard_of(t, mixed_key);
    if (is_full(s))
        grow(t, s);
    put(s, remainder_of(mixed_key), value);
    s->used++;
}

static void make_shards(struct sp_star_table *t)
{
    t->shards = sp_huge_calloc(SHARDS, sizeof *t->shards);
    for (uint32_t i = 0; i < t->few.count; i++)
        if (t->few.cells[i].value != SP_STAR_NO_VALUE)
            put_in_shard(t, t->few.cells[i].key, t->few.cells[i].value);
    sp_star_cells_free(&t->few);
}

void sp_star_table_add(struct sp_star_table *t, uint32_t key, uint32_t number)
{
    SP_ASSERT(number < SP_STAR_NUMBERS);
    uint32_t mixed_key = mixed(key);
    uint32_t *value = value_of(t, mixed_key);
    if (value) {
        bool done = list_append(t, value, number);
        t->postings += done;
        t->full |= !done;
        return;
    }
    t->postings++;
    if (!t->shards && t->few.used == FEW)
        make_shards(t);
    if (t->shards)
        put_in_shard(t, mixed_key, number);
    else
        sp_star_cells_put(&t->few, mixed_key, number);
}

/* Prefetches what a put of the key writes and no look-up of it reads. */
static inline void prefetch_room(const struct sp_star_table *t, uint32_t mixed_key)
{
    const struct shard *s = shard_of(t, mixed_key);
    struct bucket *home = s->count ? home_of(s, remainder_of(mixed_key)) : NULL;
    if (home && home->used == BUCKET_KEYS)
        sp_prefetch(after(s, home));
    if (is_full(s))
        sp_prefetch_bytes(s->buckets, s->count * sizeof *s->buckets);
}

void sp_star_table_add_new(struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                           uint32_t count, uint32_t number)
{
    SP_ASSERT(number < SP_STAR_NUMBERS);
    for (uint32_t i = 0; t->shards && i < count; i++)
        prefetch_room(t, mixed(keys[i] ^ salt));
    for (uint32_t i = 0; i < count; i++) {
        if (!t->shards && t->few.used == FEW)
            make_shards(t);
        if (t->shards)
            put_in_shard(t, mixed(keys[i] ^ salt), number);
        else
            sp_star_cells_put(&t->few, mixed(keys[i] ^ salt), number);
    }
    t->postings += count;
}

/* Removes one occurrence from the list; false if there is none. If the arena is full, the list
 * keeps its larger place; when it moves, that is released as a place of the smaller class. */
static bool list_remove(struct sp_star_table *t, uint32_t *value, uint32_t number)
{
    uint32_t offset = *value & ~LIST_BIT;
    uint32_t *list = sp_star_list_at(&t->lists, offset);
    uint32_t count = list[0];
    uint32_t i = 1;
    while (i <= count && list[i] != number)
        i++;
    if (i > count)
        return false;
    unsigned class = sp_star_list_class(count);
    list[i] = list[count];
    list[0] = --count;
    if (count == 1) {
        *value = list[1];
        sp_star_list_release(&t->lists, offset, class);
    } else if (sp_star_list_class(count) < class) {
        uint32_t smaller = sp_star_list_new(&t->lists, sp_star_list_class(count));
        if (smaller == SP_STAR_NO_LIST)
            return true;
        memcpy(sp_star_list_at(&t->lists, smaller), sp_star_list_at(&t->lists, offset),
               (count + 1) * sizeof *list);
        sp_star_list_release(&t->lists, offset, class);
        *value = LIST_BIT | smaller;
    }
    return true;
}

void sp_star_table_remove(struct sp_star_table *t, uint32_t key, uint32_t number)
{
    uint32_t mixed_key = mixed(key);
    uint32_t *value = value_of(t, mixed_key);
    if (!value)
        return;
    if (*value & LIST_BIT) {
        t->postings -= list_remove(t, value, number);
    } else if (*value == number) {
        if (t->shards)
            take(shard_of(t, mixed_key), remainder_of(mixed_key));
        else
            sp_star_cells_take(&t->few, value);
        t->postings--;
    }
}

/* The list of a key with this value; SP_STAR_NO_VALUE: the key is not there. */
static inline struct sp_star_list list_of(const struct sp_star_table *t, uint32_t value)
{
    if (value == SP_STAR_NO_VALUE)
        return (struct sp_star_list){NULL, 0, 0};
    if (!(value & LIST_BIT))
        return (struct sp_star_list){NULL, 1, value};
    const uint32_t *list = sp_star_list_at(&t->lists, value & ~LIST_BIT);
    return (struct sp_star_list){list + 1, list[0], 0};
}

static inline uint32_t value_or_none(const struct sp_star_table *t, uint32_t mixed_key)
{
    const uint32_t *value = value_of(t, mixed_key);
    return value ? *value : SP_STAR_NO_VALUE;
}

struct sp_star_list sp_star_table_get(const struct sp_star_table *t, uint32_t key)
{
    return list_of(t, value_or_none(t, mixed(key)));
}

static inline void prefetch_first(const struct sp_star_table *t, uint32_t mixed_key)
{
    if (t->shards)
        sp_prefetch(shard_of(t, mixed_key));
    else if (t->few.count)
        sp_prefetch(&t->few.cells[mixed_key & (t->few.count - 1)]);
}

static inline void prefetch_home(const struct sp_star_table *t, uint32_t mixed_key)
{
    if (!t->shards)
        return;
    const struct shard *s = shard_of(t, mixed_key);
    if (s->count)
        sp_prefetch(home_of(s, remainder_of(mixed_key)));
}

/* The same as value_or_none; nearly always without a branch that depends on whether the key is
 * there, which cannot be predicted. */
static inline uint32_t value_in_shard(const struct sp_star_table *t, uint32_t mixed_key)
{
    const struct shard *s = shard_of(t, mixed_key);
    uint16_t key = remainder_of(mixed_key);
    if (!s->count)
        return SP_STAR_NO_VALUE;
    const struct bucket *home = home_of(s, key);
    uint32_t found = places_of(home, key);
    if (__builtin_expect(!found && home->filter & filter_bit(key), 0))
        return value_or_none(t, mixed_key);
    uint32_t place = (uint32_t)__builtin_ctz(found | 1u << 2 * (BUCKET_KEYS - 1)) / 2;
    return home->values[place] | -(uint32_t)!found;
}
_Static_assert(SP_STAR_NO_VALUE == UINT32_MAX, "all bits are set");

enum { AT_ONCE = 256 };

/* The values of up to AT_ONCE keys. */
static void get_values(const struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                       uint32_t count, uint32_t *ret_values)
{
    enum { AHEAD = 16 };
    uint32_t mixed_keys[AT_ONCE];
    for (uint32_t i = 0; i < count; i++)
        mixed_keys[i] = mixed(keys[i] ^ salt);
    for (uint32_t i = 0; i < count && i < 2 * AHEAD; i++)
        prefetch_first(t, mixed_keys[i]);
    for (uint32_t i = 0; i < count && i < AHEAD; i++)
        prefetch_home(t, mixed_keys[i]);
    for (uint32_t i = 0; i < count; i++) {
        if (i + 2 * AHEAD < count)
            prefetch_first(t, mixed_keys[i + 2 * AHEAD]);
        if (i + AHEAD < count)
            prefetch_home(t, mixed_keys[i + AHEAD]);
        ret_values[i] =
            t->shards ? value_in_shard(t, mixed_keys[i]) : value_or_none(t, mixed_keys[i]);
    }
}

uint32_t sp_star_table_get_all(const struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                               uint32_t count, uint32_t *ret_lengths, struct sp_star_met *ret_met)
{
    uint32_t values[AT_ONCE], met[AT_ONCE], all = 0;
    memset(ret_lengths, 0, count * sizeof *ret_lengths);
    for (uint32_t from = 0; from < count; from += AT_ONCE) {
        uint32_t n = count - from < AT_ONCE ? count - from : AT_ONCE, found = 0;
        get_values(t, keys + from, salt, n, values);
        for (uint32_t i = 0; i < n; i++) {
            met[found] = i;
            found += values[i] != SP_STAR_NO_VALUE;
        }
        for (uint32_t i = 0; i < found; i++)
            if (values[met[i]] & LIST_BIT)
                sp_prefetch(sp_star_list_at(&t->lists, values[met[i]] & ~LIST_BIT));
        for (uint32_t i = 0; i < found; i++, all++) {
            ret_met[all] = (struct sp_star_met){list_of(t, values[met[i]]), from + met[i]};
            ret_lengths[from + met[i]] = ret_met[all].list.count;
        }
    }
    return all;
}

void sp_star_table_prefetch_shard(const struct sp_star_table *t, uint32_t key)
{
    prefetch_first(t, mixed(key));
}

void sp_star_table_prefetch_shards(const struct sp_star_table *t, const uint32_t *keys,
                                   uint32_t salt, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        prefetch_first(t, mixed(keys[i] ^ salt));
}

void sp_star_table_prefetch_cell(const struct sp_star_table *t, uint32_t key)
{
    prefetch_home(t, mixed(key));
}

size_t sp_star_table_bytes(const struct sp_star_table *t)
{
    return sizeof *t + t->few.count * sizeof *t->few.cells +
           (t->shards ? SHARDS * sizeof *t->shards : 0) +
           (size_t)t->buckets * sizeof(struct bucket) + sp_star_arena_bytes(&t->lists);
}

bool sp_star_table_is_full(const struct sp_star_table *t)
{
    return t->full;
}

void sp_star_table_limit(struct sp_star_table *t, uint64_t bytes)
{
    sp_star_arena_limit(&t->lists, bytes);
}

uint64_t sp_star_table_postings(const struct sp_star_table *t)
{
    return t->postings;
}

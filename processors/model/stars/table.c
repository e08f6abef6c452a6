/* See table.h. A table of few keys is one small hash table (cells.h), so that the index of a small
 * group takes memory by its size; a table of many has shards (shards.h). Both map a key to
 * a number, or to the place of a list in an arena (arena.h); shards also map a key to two numbers.
 */
#include "stars/table.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/clones.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/prefetch.h"
#include "stars/arena.h"
#include "stars/cells.h"
#include "stars/shards.h"

static const uint32_t LIST_BIT = SP_STAR_FLAG;

struct sp_star_table {
    struct sp_star_cells few;
    uint32_t few_most;
    struct sp_star_shards many; /* not made: all keys are in `few` */
    struct sp_star_arena lists;
    bool full; /* an add was left undone */
    uint64_t postings;
};

struct sp_star_table *sp_star_table_new(uint32_t few)
{
    struct sp_star_table *t = sp_calloc(1, sizeof *t);
    t->few_most = few;
    sp_star_arena_init(&t->lists);
    return t;
}

void sp_star_table_free(struct sp_star_table *t)
{
    if (!t)
        return;
    sp_star_cells_free(&t->few);
    sp_star_shards_done(&t->many);
    sp_star_arena_done(&t->lists);
    sp_free(t);
}

/* ---- values by key ----
 *
 * Keys come from sorted shingle hashes, so they are mixed by sp_mix32 to spread neighbours. It is a
 * bijection, so the mixed key identifies the key. */

static inline struct sp_star_values values_of(const struct sp_star_table *t, uint32_t mixed_key)
{
    if (t->many.shards)
        return sp_star_shards_get(&t->many, mixed_key);
    return (struct sp_star_values){sp_star_cells_first(&t->few, mixed_key), SP_STAR_NO_VALUE};
}

static void make_shards(struct sp_star_table *t)
{
    sp_star_shards_make(&t->many);
    for (uint32_t i = 0; i < t->few.count; i++)
        if (t->few.cells[i].value != SP_STAR_NO_VALUE)
            sp_star_shards_put(&t->many, t->few.cells[i].key, t->few.cells[i].value);
    sp_star_cells_free(&t->few);
}

static inline void put(struct sp_star_table *t, uint32_t mixed_key, uint32_t value)
{
    if (!t->many.shards && t->few.used == t->few_most)
        make_shards(t);
    if (t->many.shards)
        sp_star_shards_put(&t->many, mixed_key, value);
    else
        sp_star_cells_put(&t->few, mixed_key, value);
}

static void set(struct sp_star_table *t, uint32_t mixed_key, uint32_t old, uint32_t value)
{
    if (t->many.shards)
        sp_star_shards_set(&t->many, mixed_key, old, value);
    else
        *sp_star_cells_find(&t->few, mixed_key, old) = value;
}

static void take(struct sp_star_table *t, uint32_t mixed_key, uint32_t value)
{
    if (t->many.shards)
        sp_star_shards_take(&t->many, mixed_key, value);
    else
        sp_star_cells_take(&t->few, sp_star_cells_find(&t->few, mixed_key, value));
}

/* ---- lists ---- */

/* A list of the key's numbers and this one takes their place. False: the arena is full. */
static bool list_begin(struct sp_star_table *t, uint32_t mixed_key, struct sp_star_values numbers,
                       uint32_t number)
{
    uint32_t offset = sp_star_list_new(&t->lists, sp_star_list_class(3)), count = 0;
    if (offset == SP_STAR_NO_LIST)
        return false;
    uint32_t *list = sp_star_list_at(&t->lists, offset);
    list[++count] = numbers.first;
    if (numbers.second != SP_STAR_NO_VALUE) {
        list[++count] = numbers.second;
        take(t, mixed_key, numbers.second);
    }
    list[++count] = number;
    list[0] = count;
    set(t, mixed_key, numbers.first, LIST_BIT | offset);
    return true;
}

/* False: the arena is full. */
static bool list_append(struct sp_star_table *t, uint32_t *value, uint32_t number)
{
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

/* Adds the number to the list that the value is, which may move. */
static bool append(struct sp_star_table *t, uint32_t mixed_key, uint32_t value, uint32_t number)
{
    uint32_t before = value;
    if (!list_append(t, &value, number))
        return false;
    if (value != before)
        set(t, mixed_key, before, value);
    return true;
}

static bool is_list(uint32_t value)
{
    return value != SP_STAR_NO_VALUE && value & LIST_BIT;
}

void sp_star_table_add(struct sp_star_table *t, uint32_t key, uint32_t number)
{
    SP_ASSERT(number < SP_STAR_NUMBERS);
    uint32_t mixed_key = sp_mix32(key);
    struct sp_star_values values = values_of(t, mixed_key);
    bool done = true;
    if (is_list(values.first))
        done = append(t, mixed_key, values.first, number);
    else if ((t->many.shards ? values.second : values.first) != SP_STAR_NO_VALUE)
        done = list_begin(t, mixed_key, values, number);
    else
        put(t, mixed_key, number);
    t->full |= !done;
    t->postings += done;
}

SP_CLONES void sp_star_table_add_new(struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                                     uint32_t count, uint32_t number)
{
    SP_ASSERT(number < SP_STAR_NUMBERS);
    for (uint32_t i = 0; t->many.shards && i < count; i++)
        sp_star_shards_prefetch_room(&t->many, sp_mix32(keys[i] ^ salt));
    for (uint32_t i = 0; i < count; i++)
        put(t, sp_mix32(keys[i] ^ salt), number);
    t->postings += count;
}

/* The number or two that are left of the key's list take its place. */
static void list_end(struct sp_star_table *t, uint32_t mixed_key, uint32_t offset)
{
    const uint32_t *list = sp_star_list_at(&t->lists, offset);
    uint32_t count = list[0], first = list[1], second = list[2];
    sp_star_list_release(&t->lists, offset, sp_star_list_class(3));
    set(t, mixed_key, LIST_BIT | offset, first);
    if (count == 2)
        put(t, mixed_key, second);
}

/* Moves the list, which has become shorter, to a smaller place. If the arena is full, it keeps its
 * larger place; when it moves, that is released as a place of the smaller class. */
static void list_shrink(struct sp_star_table *t, uint32_t mixed_key, uint32_t offset)
{
    uint32_t count = sp_star_list_at(&t->lists, offset)[0];
    unsigned class = sp_star_list_class(count), before = sp_star_list_class(count + 1);
    uint32_t smaller = class < before ? sp_star_list_new(&t->lists, class) : SP_STAR_NO_LIST;
    if (smaller == SP_STAR_NO_LIST)
        return;
    const uint32_t *list = sp_star_list_at(&t->lists, offset);
    memcpy(sp_star_list_at(&t->lists, smaller), list, (count + 1) * sizeof *list);
    sp_star_list_release(&t->lists, offset, before);
    set(t, mixed_key, LIST_BIT | offset, LIST_BIT | smaller);
}

/* Removes one occurrence from the key's list; false if there is none. */
static bool list_remove(struct sp_star_table *t, uint32_t mixed_key, uint32_t offset,
                        uint32_t number)
{
    uint32_t *list = sp_star_list_at(&t->lists, offset), count = list[0], i = 1;
    while (i <= count && list[i] != number)
        i++;
    if (i > count)
        return false;
    list[i] = list[count];
    list[0] = count - 1;
    if (count - 1 <= (t->many.shards ? 2u : 1u))
        list_end(t, mixed_key, offset);
    else
        list_shrink(t, mixed_key, offset);
    return true;
}

void sp_star_table_remove(struct sp_star_table *t, uint32_t key, uint32_t number)
{
    uint32_t mixed_key = sp_mix32(key);
    struct sp_star_values values = values_of(t, mixed_key);
    if (is_list(values.first)) {
        t->postings -= list_remove(t, mixed_key, values.first & ~LIST_BIT, number);
    } else if (values.first == number || values.second == number) {
        take(t, mixed_key, number);
        t->postings--;
    }
}

/* The list of a key with these values. */
static inline struct sp_star_list list_of(const struct sp_star_table *t,
                                          struct sp_star_values values)
{
    if (is_list(values.first)) {
        const uint32_t *list = sp_star_list_at(&t->lists, values.first & ~LIST_BIT);
        return (struct sp_star_list){list + 1, list[0], {0, 0}};
    }
    uint32_t count =
        (values.first != SP_STAR_NO_VALUE) + (uint32_t)(values.second != SP_STAR_NO_VALUE);
    return (struct sp_star_list){NULL, count, {values.first, values.second}};
}

struct sp_star_list sp_star_table_get(const struct sp_star_table *t, uint32_t key)
{
    return list_of(t, values_of(t, sp_mix32(key)));
}

static inline void prefetch(const struct sp_star_table *t, uint32_t mixed_key)
{
    if (t->many.shards)
        sp_star_shards_prefetch(&t->many, mixed_key);
    else if (t->few.count)
        sp_prefetch(&t->few.cells[mixed_key & (t->few.count - 1)]);
}

enum {
    AT_ONCE = 256,       /* keys */
    SHORT = 16,          /* numbers of a list that is copied */
    GATHERED_MOST = 1024 /* numbers */
};

/* The values of up to AT_ONCE keys. */
static void get_values(const struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                       uint32_t count, struct sp_star_values *ret_values)
{
    enum { AHEAD = 16 };
    uint32_t mixed_keys[AT_ONCE], left[AT_ONCE], left_count = 0;
    for (uint32_t i = 0; i < count; i++)
        mixed_keys[i] = sp_mix32(keys[i] ^ salt);
    for (uint32_t i = 0; i < count && i < AHEAD; i++)
        prefetch(t, mixed_keys[i]);
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            prefetch(t, mixed_keys[i + AHEAD]);
        if (!t->many.shards) {
            ret_values[i] = values_of(t, mixed_keys[i]);
        } else if (!sp_star_shards_glance(&t->many, mixed_keys[i], &ret_values[i])) {
            sp_star_shards_prefetch_search(&t->many, mixed_keys[i]);
            left[left_count++] = i;
        }
    }
    for (uint32_t i = 0; i < left_count; i++)
        ret_values[left[i]] = sp_star_shards_search(&t->many, mixed_keys[left[i]]);
}

/* Numbers of short lists, side by side. */
struct gathered {
    sp_star_numbers_fn *each;
    void *arg;
    uint32_t count;
    uint32_t numbers[GATHERED_MOST];
};

static void pass_on(struct gathered *g)
{
    if (g->count && g->each)
        g->each(g->arg, g->numbers, g->count);
    g->count = 0;
}

/* Returns the length of the list. */
static inline uint32_t gather_list(const struct sp_star_table *t, uint32_t value,
                                   struct gathered *g)
{
    const uint32_t *list = sp_star_list_at(&t->lists, value & ~LIST_BIT);
    uint32_t length = list[0];
    if (length > SHORT) {
        pass_on(g);
        if (g->each)
            g->each(g->arg, list + 1, length);
        return length;
    }
    for (uint32_t i = 0; i < length; i++)
        g->numbers[g->count++] = list[1 + i];
    return length;
}

/* The first value is one. */
static inline uint32_t gather_few(struct sp_star_values values, struct gathered *g)
{
    uint32_t length = 1 + (uint32_t)(values.second != SP_STAR_NO_VALUE);
    g->numbers[g->count] = values.first;
    g->numbers[g->count + 1] = values.second;
    g->count += length;
    return length;
}

SP_CLONES void sp_star_table_get_all(const struct sp_star_table *t, const uint32_t *keys,
                                     uint32_t salt, uint32_t count, uint32_t *ret_lengths,
                                     sp_star_numbers_fn *each, void *arg)
{
    struct sp_star_values values[AT_ONCE];
    uint32_t met[AT_ONCE];
    struct gathered gathered;
    gathered.each = each;
    gathered.arg = arg;
    gathered.count = 0;
    if (ret_lengths)
        memset(ret_lengths, 0, count * sizeof *ret_lengths);
    for (uint32_t from = 0; from < count; from += AT_ONCE) {
        uint32_t n = count - from < AT_ONCE ? count - from : AT_ONCE, found = 0;
        get_values(t, keys + from, salt, n, values);
        for (uint32_t i = 0; i < n; i++) {
            met[found] = i;
            found += values[i].first != SP_STAR_NO_VALUE;
        }
        for (uint32_t i = 0; i < found; i++)
            if (values[met[i]].first & LIST_BIT)
                sp_prefetch(sp_star_list_at(&t->lists, values[met[i]].first & ~LIST_BIT));
        for (uint32_t i = 0; i < found; i++) {
            struct sp_star_values one = values[met[i]];
            uint32_t length = one.first & LIST_BIT ? gather_list(t, one.first, &gathered)
                                                   : gather_few(one, &gathered);
            if (ret_lengths)
                ret_lengths[from + met[i]] = length;
            if (gathered.count > GATHERED_MOST - SHORT)
                pass_on(&gathered);
        }
    }
    pass_on(&gathered);
}

SP_CLONES void sp_star_table_prefetch(const struct sp_star_table *t, const uint32_t *keys,
                                      uint32_t salt, uint32_t count)
{
    enum { CACHED_BYTES = 4 << 20 };
    if (t->many.shards && t->many.bytes <= CACHED_BYTES)
        return;
    for (uint32_t i = 0; i < count; i++)
        prefetch(t, sp_mix32(keys[i] ^ salt));
}

size_t sp_star_table_bytes(const struct sp_star_table *t)
{
    return sizeof *t + t->few.count * sizeof *t->few.cells + (size_t)t->many.bytes +
           sp_star_arena_bytes(&t->lists);
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

/* Posting lists in memory. Linear probing with backward-shift deletion (Knuth 6.4 R); the home of a
 * key is the high part of the mixed key times the capacity, so that capacities need not be powers
 * of two. Lists live in one arena of 32-bit words, in size classes with free lists: word 0 holds
 * the count, the class is a function of the count. */
#include "candidates/postings.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/huge.h"
#include "base/mem.h"

enum {
    SHARD_BITS = 12,
    SHARDS = 1 << SHARD_BITS,
    KEY_BITS = 32 - SHARD_BITS, /* of the key in its cell */
    VALUE_BITS = 36,
    CELL_BYTES = (KEY_BITS + VALUE_BITS) / 8,
    FIRST_CAPACITY = 8,
    SMALL_CAPACITY = 64,
    CHUNK_WORDS = 1 << 18,
    CLASSES = 64,
    MAX_CHUNKS = 1 << 17 /* 2^35 words, 128 GiB: more than memory */
};
static const uint64_t LIST_BIT = 1ull << (VALUE_BITS - 1);
static const uint64_t EMPTY =
    (1ull << VALUE_BITS) - 1; /* as a value, and as the end of a free list */

/* An unpacked cell; a packed one takes CELL_BYTES. */
struct cell {
    uint32_t key;   /* the mixed key without the bits that select the shard */
    uint64_t value; /* a slot; LIST_BIT | word offset of a list; EMPTY */
};

struct shard {
    char *cells;
    uint32_t capacity;
    uint32_t used;
};

struct sp_postings {
    struct shard shards[SHARDS];
    uint32_t **chunks;
    uint32_t chunk_count;
    uint32_t chunk_cap;
    uint32_t tail; /* words used of the last chunk */
    uint64_t free_lists[CLASSES];
};

/* Size classes: 3, 4, 6, 8, 12, 16, 24 … words, the count word included. */
static uint32_t class_words(unsigned class)
{
    return class & 1 ? 4u << (class / 2) : 3u << (class / 2);
}

static unsigned class_of(uint32_t slots)
{
    unsigned class = 0;
    while (class_words(class) < slots + 1)
        class ++;
    return class;
}

static uint32_t *words_at(const struct sp_postings *p, uint64_t offset)
{
    return p->chunks[offset / CHUNK_WORDS] + offset % CHUNK_WORDS;
}

struct sp_postings *sp_postings_new(void)
{
    struct sp_postings *p = sp_huge_calloc(1, sizeof *p);
    for (unsigned i = 0; i < CLASSES; i++)
        p->free_lists[i] = EMPTY;
    return p;
}

void sp_postings_free(struct sp_postings *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < SHARDS; i++)
        sp_huge_free(p->shards[i].cells);
    for (uint32_t i = 0; i < p->chunk_count; i++)
        sp_free(p->chunks[i]);
    sp_free(p->chunks);
    sp_huge_free(p);
}

/* A list larger than a chunk gets several contiguous chunks in one allocation, to which the first
 * entry of the chunk table points. */
static uint32_t arena_grow(struct sp_postings *p, uint32_t words)
{
    uint32_t chunks = (words + CHUNK_WORDS - 1) / CHUNK_WORDS;
    SP_ASSERT(p->chunk_count + chunks <= MAX_CHUNKS);
    sp_grow(&p->chunks, &p->chunk_cap, p->chunk_count + chunks);
    uint32_t first = p->chunk_count;
    uint32_t *memory = sp_alloc((size_t)chunks * CHUNK_WORDS * 4);
    p->chunks[first] = memory;
    for (uint32_t i = 1; i < chunks; i++)
        p->chunks[first + i] = NULL; /* reached through the first */
    p->chunk_count += chunks;
    return first;
}

static uint64_t list_new(struct sp_postings *p, unsigned class)
{
    if (p->free_lists[class] != EMPTY) {
        uint64_t offset = p->free_lists[class];
        memcpy(&p->free_lists[class], words_at(p, offset), sizeof offset);
        return offset;
    }
    uint32_t words = class_words(class);
    if (words > CHUNK_WORDS) {
        uint32_t first = arena_grow(p, words);
        p->tail = CHUNK_WORDS; /* the next small list starts a chunk */
        return (uint64_t)first * CHUNK_WORDS;
    }
    if (p->chunk_count == 0 || p->tail + words > CHUNK_WORDS) {
        arena_grow(p, CHUNK_WORDS);
        p->tail = 0;
    }
    uint64_t offset = (p->chunk_count - 1ull) * CHUNK_WORDS + p->tail;
    p->tail += words;
    return offset;
}

static void list_release(struct sp_postings *p, uint64_t offset, unsigned class)
{
    memcpy(words_at(p, offset), &p->free_lists[class], sizeof offset);
    p->free_lists[class] = offset;
}

/* Keys are the smallest hashes of pages, so their high bits are not uniform and are mixed by
 * sp_mix32, a bijection, so that shard and remainder identify the key. */
static inline uint32_t remainder_of(uint32_t mixed_key)
{
    return mixed_key & ((1u << KEY_BITS) - 1);
}

static inline struct cell cell_at(const struct shard *s, uint32_t at)
{
    uint64_t bits; /* also reads a byte of the next cell; the array has room after the last */
    memcpy(&bits, s->cells + (size_t)at * CELL_BYTES, sizeof bits);
    return (struct cell){(uint32_t)(bits >> VALUE_BITS) & ((1u << KEY_BITS) - 1), bits & EMPTY};
}

static inline void cell_put(struct shard *s, uint32_t at, struct cell cell)
{
    uint64_t bits = (uint64_t)cell.key << VALUE_BITS | cell.value;
    memcpy(s->cells + (size_t)at * CELL_BYTES, &bits, CELL_BYTES);
}

static inline uint32_t home(const struct shard *s, uint32_t key)
{
    return (uint32_t)(((uint64_t)key * s->capacity) >> KEY_BITS);
}

static inline struct shard *shard_of(struct sp_postings *p, uint32_t mixed_key)
{
    return &p->shards[mixed_key >> KEY_BITS];
}

static inline uint32_t after(const struct shard *s, uint32_t at)
{
    return at + 1 == s->capacity ? 0 : at + 1;
}

/* The place of the key, or the free place for it. */
static uint32_t find(const struct shard *s, uint32_t key)
{
    uint32_t at = home(s, key);
    for (struct cell c = cell_at(s, at); c.value != EMPTY && c.key != key; c = cell_at(s, at))
        at = after(s, at);
    return at;
}

static void shard_resize(struct shard *s, uint32_t capacity)
{
    struct shard old = *s;
    s->capacity = capacity;
    s->cells = sp_huge_calloc((size_t)s->capacity * CELL_BYTES + sizeof(uint64_t), 1);
    memset(s->cells, 0xff, (size_t)s->capacity * CELL_BYTES + sizeof(uint64_t));
    for (uint32_t i = 0; i < old.capacity; i++) {
        struct cell c = cell_at(&old, i);
        if (c.value != EMPTY)
            cell_put(s, find(s, c.key), c);
    }
    sp_huge_free(old.cells);
}

static uint32_t list_append(struct sp_postings *p, struct cell *cell, uint32_t slot)
{
    if (!(cell->value & LIST_BIT)) {
        uint64_t offset = list_new(p, class_of(2));
        uint32_t *list = words_at(p, offset);
        list[0] = 2;
        list[1] = (uint32_t)cell->value;
        list[2] = slot;
        cell->value = LIST_BIT | offset;
        return 2;
    }
    uint64_t offset = cell->value & ~LIST_BIT;
    uint32_t *list = words_at(p, offset);
    uint32_t count = list[0];
    unsigned class = class_of(count);
    if (count + 2 > class_words(class)) {
        uint64_t larger = list_new(p, class + 1);
        uint32_t *to = words_at(p, larger);
        memcpy(to, list, (count + 1) * sizeof *to);
        list_release(p, offset, class);
        cell->value = LIST_BIT | larger;
        list = to;
    }
    list[0] = count + 1;
    list[count + 1] = slot;
    return count + 1;
}

/* One more cell would make it more than 6/7 full. */
static bool is_full(const struct shard *s)
{
    return s->used + s->used / 6 + 1 >= s->capacity;
}

/* By half, so that a cell is moved twice on average; small ones, which are freed soon, by all. */
static uint32_t larger(uint32_t capacity)
{
    if (capacity == 0)
        return FIRST_CAPACITY;
    return capacity + (capacity < SMALL_CAPACITY ? capacity : capacity / 2);
}

static uint32_t shard_add(struct sp_postings *p, struct shard *s, uint32_t remainder, uint32_t slot)
{
    uint32_t at = find(s, remainder);
    struct cell cell = cell_at(s, at);
    uint32_t count = 1;
    if (cell.value == EMPTY) {
        cell = (struct cell){remainder, slot};
        s->used++;
    } else {
        count = list_append(p, &cell, slot);
    }
    cell_put(s, at, cell);
    return count;
}

uint32_t sp_postings_add(struct sp_postings *p, uint32_t key, uint32_t slot)
{
    uint32_t mixed_key = sp_mix32(key);
    struct shard *s = shard_of(p, mixed_key);
    if (is_full(s))
        shard_resize(s, larger(s->capacity));
    return shard_add(p, s, remainder_of(mixed_key), slot);
}

void sp_postings_add_many(struct sp_postings *p, const struct sp_posting *postings, size_t count,
                          struct sp_posting *scratch)
{
    static_assert(SHARDS * sizeof(size_t) <= 1 << 15, "on the stack");
    size_t ends[SHARDS] = {0}, sum = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        ends[sp_mix32(postings[i].key) >> KEY_BITS]++;
    for (unsigned i = 0; i < SHARDS; i++) {
        sum += ends[i];
        ends[i] = sum - ends[i];
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t mixed_key = sp_mix32(postings[i].key);
        scratch[ends[mixed_key >> KEY_BITS]++] = (struct sp_posting){mixed_key, postings[i].slot};
    }
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *s = &p->shards[i];
        for (; at < ends[i]; at++) {
            if (is_full(s))
                shard_resize(s, s->capacity ? 2 * s->capacity : FIRST_CAPACITY);
            shard_add(p, s, remainder_of(scratch[at].key), scratch[at].slot);
        }
    }
}

void sp_postings_trim(struct sp_postings *p)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *s = &p->shards[i];
        uint32_t enough = s->used + s->used / 4 + 2; /* four fifths full */
        if (enough < FIRST_CAPACITY)                 /* a smaller one could not grow by a quarter */
            enough = FIRST_CAPACITY;
        if (s->capacity > enough)
            shard_resize(s, enough);
    }
}

/* Backward-shift deletion leaves no tombstones, so look-ups never slow down. */
static void cell_delete(struct shard *s, uint32_t hole)
{
    s->used--;
    for (uint32_t at = after(s, hole);; at = after(s, at)) {
        struct cell c = cell_at(s, at);
        if (c.value == EMPTY)
            break;
        uint32_t want = home(s, c.key);
        bool between = hole < at ? want > hole && want <= at : want > hole || want <= at;
        if (!between) {
            cell_put(s, hole, c);
            hole = at;
        }
    }
    cell_put(s, hole, (struct cell){(1u << KEY_BITS) - 1, EMPTY});
}

/* Moves a list that has become shorter to a smaller class than `class`. A single slot moves into
 * the cell; an empty list leaves EMPTY, and the caller deletes the cell. */
static void list_refit(struct sp_postings *p, struct cell *cell, unsigned class)
{
    uint64_t offset = cell->value & ~LIST_BIT;
    uint32_t *list = words_at(p, offset);
    uint32_t count = list[0];
    if (count <= 1) {
        cell->value = count ? list[1] : EMPTY;
        list_release(p, offset, class);
    } else if (class_of(count) < class) {
        uint64_t smaller = list_new(p, class_of(count));
        memcpy(words_at(p, smaller), list, (count + 1) * sizeof *list);
        list_release(p, offset, class);
        cell->value = LIST_BIT | smaller;
    }
}

/* Takes one occurrence out of the cell's list. */
static void list_remove(struct sp_postings *p, struct cell *cell, uint32_t slot)
{
    uint64_t offset = cell->value & ~LIST_BIT;
    uint32_t *list = words_at(p, offset);
    uint32_t count = list[0];
    uint32_t i = 1;
    while (i <= count && list[i] != slot)
        i++;
    if (i > count)
        return;
    unsigned class = class_of(count);
    memmove(list + i, list + i + 1, (count - i) * sizeof *list);
    list[0] = count - 1;
    list_refit(p, cell, class);
}

/* Finds the cell of the key and its place; false if there is none. */
static bool find_cell(struct sp_postings *p, uint32_t key, struct shard **ret_shard,
                      uint32_t *ret_at, struct cell *ret_cell)
{
    uint32_t mixed_key = sp_mix32(key);
    struct shard *s = *ret_shard = shard_of(p, mixed_key);
    if (!s->capacity)
        return false;
    *ret_at = find(s, remainder_of(mixed_key));
    *ret_cell = cell_at(s, *ret_at);
    return ret_cell->value != EMPTY;
}

void sp_postings_remove(struct sp_postings *p, uint32_t key, uint32_t slot)
{
    struct shard *s;
    uint32_t at;
    struct cell cell;
    if (!find_cell(p, key, &s, &at, &cell))
        return;
    if (cell.value & LIST_BIT) {
        list_remove(p, &cell, slot);
        cell_put(s, at, cell);
    } else if (cell.value == slot) {
        cell_delete(s, at);
    }
}

void sp_postings_filter(struct sp_postings *p, uint32_t key, bool (*keep)(void *arg, uint32_t slot),
                        void *arg)
{
    struct shard *s;
    uint32_t at, kept = 0;
    struct cell cell;
    if (!find_cell(p, key, &s, &at, &cell))
        return;
    if (!(cell.value & LIST_BIT)) {
        if (!keep(arg, (uint32_t)cell.value))
            cell_delete(s, at);
        return;
    }
    uint32_t *list = words_at(p, cell.value & ~LIST_BIT);
    unsigned class = class_of(list[0]);
    for (uint32_t i = 1; i <= list[0]; i++)
        if (keep(arg, list[i]))
            list[++kept] = list[i];
    list[0] = kept;
    list_refit(p, &cell, class);
    if (kept)
        cell_put(s, at, cell);
    else
        cell_delete(s, at);
}

struct sp_posting_list sp_postings_get(struct sp_postings *p, uint32_t key)
{
    uint32_t mixed_key = sp_mix32(key);
    struct shard *s = shard_of(p, mixed_key);
    struct sp_posting_list found = {NULL, 0, 0};
    if (!s->capacity)
        return found;
    struct cell cell = cell_at(s, find(s, remainder_of(mixed_key)));
    if (cell.value == EMPTY)
        return found;
    if (cell.value & LIST_BIT) {
        const uint32_t *list = words_at(p, cell.value & ~LIST_BIT);
        return (struct sp_posting_list){list + 1, list[0], 0};
    }
    return (struct sp_posting_list){NULL, 1, (uint32_t)cell.value};
}

void sp_postings_prefetch(struct sp_postings *p, uint32_t key)
{
    uint32_t mixed_key = sp_mix32(key);
    struct shard *s = shard_of(p, mixed_key);
    if (s->capacity)
        __builtin_prefetch(s->cells + (size_t)home(s, remainder_of(mixed_key)) * CELL_BYTES);
}

void sp_postings_prefetch_shard(const struct sp_postings *p, uint32_t key)
{
    __builtin_prefetch(&p->shards[sp_mix32(key) >> KEY_BITS]);
}

size_t sp_postings_bytes(const struct sp_postings *p)
{
    size_t bytes = sizeof *p + (size_t)p->chunk_count * CHUNK_WORDS * 4;
    for (unsigned i = 0; i < SHARDS; i++)
        bytes += (size_t)p->shards[i].capacity * CELL_BYTES;
    return bytes;
}

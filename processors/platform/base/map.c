/* Open addressing with linear probing and backward-shift deletion (Knuth 6.4, algorithm R). */
#include "base/map.h"

#include <stdbool.h>

#include "base/assert.h"
#include "base/clones.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/prefetch.h"

enum {
    SMALL = 1 << 15, /* cells at most, while there is one table */
    CURSOR_BITS = 40 /* of a cursor, for the cell; the others are for the table */
};

static struct sp_id key_of(const void *object)
{
    struct sp_id key;
    memcpy(&key, object, sizeof key);
    return key;
}

/* ---- one table ---- */

static size_t place_of(const struct sp_map_table *t, struct sp_id key)
{
    size_t at = key.lo & (t->cap - 1);
    for (;; at = (at + 1) & (t->cap - 1)) {
        const struct sp_map_cell *cell = &t->cells[at];
        if (!cell->object || (cell->lo == key.lo && sp_id_eq(key_of(cell->object), key)))
            return at;
    }
}

static size_t free_place(const struct sp_map_table *t, uint64_t lo)
{
    size_t at = lo & (t->cap - 1);
    while (t->cells[at].object)
        at = (at + 1) & (t->cap - 1);
    return at;
}

static bool is_full(const struct sp_map_table *t)
{
    return (t->count + 1) * 4 > t->cap * 3;
}

static void put(struct sp_map_table *t, struct sp_map_cell cell)
{
    t->cells[free_place(t, cell.lo)] = cell;
    t->count++;
}

/* Replaces the cells, which the caller frees. */
static void enlarge(struct sp_map_table *t, struct sp_map_cell *cells, size_t cap)
{
    struct sp_map_table old = *t;
    *t = (struct sp_map_table){.cells = cells, .cap = cap};
    for (size_t i = 0; i < old.cap; i++)
        if (old.cells[i].object)
            put(t, old.cells[i]);
}

static void *take(struct sp_map_table *t, struct sp_id key)
{
    size_t mask = t->cap - 1, hole = place_of(t, key), at = hole;
    void *object = t->cells[hole].object;
    if (!object)
        return NULL;
    for (;;) {
        at = (at + 1) & mask;
        if (!t->cells[at].object)
            break;
        size_t want = t->cells[at].lo & mask;
        if (((at - want) & mask) >= ((at - hole) & mask)) {
            t->cells[hole] = t->cells[at];
            hole = at;
        }
    }
    t->cells[hole].object = NULL;
    t->count--;
    return object;
}

/* ---- the tables of a map ----
 *
 * Those of a large map are read at random, so they are in large memory pages. */

static struct sp_map_table *table_of(const struct sp_map *map, uint64_t lo)
{
    return &map->tables[lo >> (64 - SP_MAP_TABLE_BITS)];
}

static const struct sp_map_table *table_for(const struct sp_map *map, uint64_t lo)
{
    return map->tables ? table_of(map, lo) : &map->small;
}

static void grow_table(struct sp_map_table *t)
{
    struct sp_map_cell *old = t->cells;
    size_t cap = t->cap ? t->cap * 2 : 2 * SMALL / SP_MAP_TABLES;
    enlarge(t, sp_huge_calloc(cap, sizeof *old), cap);
    sp_huge_free(old);
}

static void grow_small(struct sp_map_table *t)
{
    struct sp_map_cell *old = t->cells;
    size_t cap = t->cap ? t->cap * 2 : 64;
    enlarge(t, sp_calloc(cap, sizeof *old), cap);
    sp_free(old);
}

/* The table for a key, with room for one more. */
static struct sp_map_table *roomy_table(struct sp_map *map, uint64_t lo)
{
    struct sp_map_table *t = table_of(map, lo);
    if (is_full(t))
        grow_table(t);
    return t;
}

static void make_tables(struct sp_map *map)
{
    map->tables = sp_calloc(SP_MAP_TABLES, sizeof *map->tables);
    for (size_t i = 0; i < map->small.cap; i++)
        if (map->small.cells[i].object)
            put(roomy_table(map, map->small.cells[i].lo), map->small.cells[i]);
    sp_free(map->small.cells);
    map->small = (struct sp_map_table){0};
}

static struct sp_map_table *make_room(struct sp_map *map, uint64_t lo)
{
    if (!map->tables && is_full(&map->small)) {
        if (map->small.cap < SMALL)
            grow_small(&map->small);
        else
            make_tables(map);
    }
    return map->tables ? roomy_table(map, lo) : &map->small;
}

/* ---- the map ---- */

void sp_map_done(struct sp_map *map)
{
    sp_free(map->small.cells);
    for (uint32_t i = 0; map->tables && i < SP_MAP_TABLES; i++)
        sp_huge_free(map->tables[i].cells);
    sp_free(map->tables);
    *map = (struct sp_map){0};
}

void *sp_map_next(const struct sp_map *map, uint64_t *cursor)
{
    uint32_t count = map->tables ? SP_MAP_TABLES : 1;
    for (uint64_t table = *cursor >> CURSOR_BITS; table < count; table++) {
        const struct sp_map_table *t = map->tables ? &map->tables[table] : &map->small;
        size_t at = *cursor & ((1ull << CURSOR_BITS) - 1);
        while (at < t->cap && !t->cells[at].object)
            at++;
        *cursor = table << CURSOR_BITS | (at + 1);
        if (at < t->cap)
            return t->cells[at].object;
        *cursor = (table + 1) << CURSOR_BITS;
    }
    return NULL;
}

void sp_map_free_objects_by(struct sp_map *map, void (*free_object)(void *object))
{
    uint64_t cursor = 0;
    void *object;
    while ((object = sp_map_next(map, &cursor)))
        free_object(object);
    sp_map_done(map);
}

void sp_map_free_objects(struct sp_map *map)
{
    sp_map_free_objects_by(map, sp_free);
}

void sp_map_prefetch(const struct sp_map *map, struct sp_id key)
{
    const struct sp_map_table *t = table_for(map, key.lo);
    if (t->cap)
        sp_prefetch(&t->cells[key.lo & (t->cap - 1)]);
}

const void *sp_map_guess(const struct sp_map *map, struct sp_id key)
{
    const struct sp_map_table *t = table_for(map, key.lo);
    if (!t->cap)
        return NULL;
    size_t at = key.lo & (t->cap - 1);
    while (t->cells[at].object && t->cells[at].lo != key.lo)
        at = (at + 1) & (t->cap - 1);
    return t->cells[at].object;
}

SP_CLONES void *sp_map_get(const struct sp_map *map, struct sp_id key)
{
    const struct sp_map_table *t = table_for(map, key.lo);
    return t->cap ? t->cells[place_of(t, key)].object : NULL;
}

SP_CLONES void sp_map_add(struct sp_map *map, void *object)
{
    struct sp_id key = key_of(object);
    struct sp_map_table *t = make_room(map, key.lo);
    size_t at = place_of(t, key);
    SP_ASSERT(!t->cells[at].object);
    t->cells[at] = (struct sp_map_cell){key.lo, object};
    t->count++;
    map->count++;
}

void *sp_map_remove(struct sp_map *map, struct sp_id key)
{
    struct sp_map_table *t = map->tables ? table_of(map, key.lo) : &map->small;
    void *object = t->cap ? take(t, key) : NULL;
    map->count -= object != NULL;
    return object;
}

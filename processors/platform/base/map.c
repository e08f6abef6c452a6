/* Open addressing with linear probing and backward-shift deletion (Knuth 6.4, algorithm R). */
#include "base/map.h"

#include "base/assert.h"
#include "base/clones.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/prefetch.h"

/* From 1 MiB on, a table is in large memory pages: its places are read at random. */
enum { LARGE = 1 << 16 };

static struct sp_map_cell *cells_new(size_t cap)
{
    return cap < LARGE ? sp_calloc(cap, sizeof(struct sp_map_cell))
                       : sp_huge_calloc(cap, sizeof(struct sp_map_cell));
}

static void cells_free(const struct sp_map *map)
{
    if (map->cap < LARGE)
        sp_free(map->cells);
    else
        sp_huge_free(map->cells);
}

static struct sp_id key_of(const void *object)
{
    struct sp_id key;
    memcpy(&key, object, sizeof key);
    return key;
}

void sp_map_done(struct sp_map *map)
{
    cells_free(map);
    *map = (struct sp_map){0};
}

void sp_map_free_objects_by(struct sp_map *map, void (*free_object)(void *object))
{
    for (size_t i = 0; i < map->cap; i++)
        if (map->cells[i].object)
            free_object(map->cells[i].object);
    sp_map_done(map);
}

void sp_map_free_objects(struct sp_map *map)
{
    sp_map_free_objects_by(map, sp_free);
}

static size_t place_of(const struct sp_map *map, struct sp_id key)
{
    size_t at = key.lo & (map->cap - 1);
    for (;; at = (at + 1) & (map->cap - 1)) {
        const struct sp_map_cell *cell = &map->cells[at];
        if (!cell->object || (cell->lo == key.lo && sp_id_eq(key_of(cell->object), key)))
            return at;
    }
}

void sp_map_prefetch(const struct sp_map *map, struct sp_id key)
{
    if (map->cap)
        sp_prefetch(&map->cells[key.lo & (map->cap - 1)]);
}

const void *sp_map_guess(const struct sp_map *map, struct sp_id key)
{
    if (!map->cap)
        return NULL;
    size_t at = key.lo & (map->cap - 1);
    while (map->cells[at].object && map->cells[at].lo != key.lo)
        at = (at + 1) & (map->cap - 1);
    return map->cells[at].object;
}

SP_CLONES void *sp_map_get(const struct sp_map *map, struct sp_id key)
{
    return map->cap ? map->cells[place_of(map, key)].object : NULL;
}

static size_t free_place(const struct sp_map *map, uint64_t lo)
{
    size_t at = lo & (map->cap - 1);
    while (map->cells[at].object)
        at = (at + 1) & (map->cap - 1);
    return at;
}

SP_CLONES void sp_map_add(struct sp_map *map, void *object)
{
    if ((map->count + 1) * 4 > map->cap * 3) {
        struct sp_map larger = {0};
        larger.cap = map->cap ? map->cap * 2 : 64;
        larger.cells = cells_new(larger.cap);
        for (size_t i = 0; i < map->cap; i++)
            if (map->cells[i].object)
                larger.cells[free_place(&larger, map->cells[i].lo)] = map->cells[i];
        larger.count = map->count;
        cells_free(map);
        *map = larger;
    }
    struct sp_id key = key_of(object);
    size_t at = place_of(map, key);
    SP_ASSERT(!map->cells[at].object);
    map->cells[at] = (struct sp_map_cell){key.lo, object};
    map->count++;
}

void *sp_map_remove(struct sp_map *map, struct sp_id key)
{
    if (!map->cap)
        return NULL;
    size_t mask = map->cap - 1, hole = place_of(map, key), at = hole;
    void *object = map->cells[hole].object;
    if (!object)
        return NULL;
    for (;;) {
        at = (at + 1) & mask;
        if (!map->cells[at].object)
            break;
        size_t want = map->cells[at].lo & mask;
        if (((at - want) & mask) >= ((at - hole) & mask)) {
            map->cells[hole] = map->cells[at];
            hole = at;
        }
    }
    map->cells[hole].object = NULL;
    map->count--;
    return object;
}

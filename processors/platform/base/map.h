/* A hash table of objects that begin with their struct sp_id key, and an intrusive LRU list. Keys
 * are hashes already, so the table uses their bits as they are. It owns its cells and not the
 * objects. Nothing may depend on the order of the cells. Thread rule: one thread at a time.
 *
 * A large map consists of 64 tables that grow separately. A table grows by moving all its objects
 * at once: one table for 20 million would keep a stage waiting for more than a second. */
#ifndef SP_BASE_MAP_H
#define SP_BASE_MAP_H

#include <stddef.h>

#include "base/hash.h"

struct sp_map_cell {
    uint64_t lo;  /* of the object's key: a search need not read objects with other keys */
    void *object; /* NULL: the cell is free */
};

enum { SP_MAP_TABLE_BITS = 6, SP_MAP_TABLES = 1 << SP_MAP_TABLE_BITS };

struct sp_map_table {
    struct sp_map_cell *cells;
    size_t cap; /* 0 or a power of two */
    size_t count;
};

/* Initialise with zeros. */
struct sp_map {
    struct sp_map_table small;
    struct sp_map_table *tables; /* by the first bits of `lo`; NULL: all are in `small` */
    size_t count;
};

/* Frees the cells, not the objects. */
void sp_map_done(struct sp_map *map);
/* Frees the objects by sp_free, and the cells. */
void sp_map_free_objects(struct sp_map *map);
/* Frees the objects by `free_object`, and the cells. */
void sp_map_free_objects_by(struct sp_map *map, void (*free_object)(void *object));
/* The object with that key, or NULL. */
void *sp_map_get(const struct sp_map *map, struct sp_id key);
/* Returns the next object in no order, or NULL after the last one. *cursor is 0 at first. The map
 * must not change in between. */
void *sp_map_next(const struct sp_map *map, uint64_t *cursor);
/* No object with that key may be in the map. The object must stay where it is, with the same key,
 * until it is removed. */
void sp_map_add(struct sp_map *map, void *object);
/* Prefetches the cell that a look-up of this key reads first. */
void sp_map_prefetch(const struct sp_map *map, struct sp_id key);
/* Returns what sp_map_get will most likely return, without reading the object; use it only to
 * prefetch. */
const void *sp_map_guess(const struct sp_map *map, struct sp_id key);
/* Returns the object that was removed, or NULL. */
void *sp_map_remove(struct sp_map *map, struct sp_id key);

/* A node of a ring, and its head. push puts a node first; so the last one, head->prev, is the one
 * that was pushed or touched longest ago. */
struct sp_lru {
    struct sp_lru *prev;
    struct sp_lru *next;
};

static inline void sp_lru_init(struct sp_lru *head)
{
    head->prev = head->next = head;
}

static inline void sp_lru_remove(struct sp_lru *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
}

static inline void sp_lru_push(struct sp_lru *head, struct sp_lru *node)
{
    node->next = head->next;
    node->prev = head;
    head->next->prev = node;
    head->next = node;
}

static inline void sp_lru_touch(struct sp_lru *head, struct sp_lru *node)
{
    sp_lru_remove(node);
    sp_lru_push(head, node);
}

/* The object of that type whose member `field` is the node. */
#define SP_LRU_OBJECT(node, type, field) ((type *)(void *)((char *)(node)-offsetof(type, field)))

#endif

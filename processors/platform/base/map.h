/* A hash table of objects that begin with their struct sp_id key, and an intrusive LRU
 * list. Keys are hashes already, so the table uses their low bits as they are. Iteration
 * order is not part of anything. Thread rule: one thread at a time. */
#ifndef SP_BASE_MAP_H
#define SP_BASE_MAP_H

#include <stddef.h>

#include "base/hash.h"

struct sp_map_cell {
    uint64_t lo; /* of the object's key: a search need not look at objects of other keys */
    void *object;
};

struct sp_map {
    struct sp_map_cell *cells;
    size_t cap; /* 0 or a power of two */
    size_t count;
};

void sp_map_done(struct sp_map *map);
void *sp_map_get(const struct sp_map *map, struct sp_id key);
/* The key must not be there. The object stays the caller's. */
void sp_map_add(struct sp_map *map, void *object);
/* The key will be looked up soon. */
void sp_map_prefetch(const struct sp_map *map, struct sp_id key);
/* What sp_map_get will most likely return, without a look at the object. */
const void *sp_map_guess(const struct sp_map *map, struct sp_id key);
/* The object taken out, or NULL. */
void *sp_map_remove(struct sp_map *map, struct sp_id key);

/* A ring: the list head is a node of its own. */
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

#define SP_LRU_OBJECT(node, type, field) ((type *)(void *)((char *)(node)-offsetof(type, field)))

#endif

/* A sorted list of pointers, of any length. A look-up is a binary search; insertion and removal
 * also move up to 4 KB of entries, and now and then a list of boards (24 bytes for each 128 to 256
 * entries). The list does not own the objects. A zeroed list is empty.
 *
 * Each call is given the order, which must be the same one for a list. The parts of an object that
 * the order reads must not change while the object is in the list. An object's head is a number
 * that never decreases along the order: the first bytes of the sort key, or 0 for all objects. Only
 * objects with equal heads are read and compared, which saves cache misses in a long list.
 *
 * Thread rule: one thread at a time. */
#ifndef SP_BASE_SHELF_H
#define SP_BASE_SHELF_H

#include <stdbool.h>
#include <stdint.h>

struct sp_shelf_board;

struct sp_shelf {
    struct sp_shelf_board *boards; /* and the heads of their first entries */
    uint32_t board_count;
    uint32_t board_cap;
    uint32_t count;
};

/* Compares an object with the object that `key` describes: negative if `object` comes first, 0 if
 * it is that object, otherwise positive. */
typedef int sp_shelf_order(const void *key, const void *object);

/* A place in the list; valid until the list changes. */
struct sp_shelf_place {
    uint32_t board;
    uint32_t at;
};

/* Frees the list, not the objects; the list is then empty. */
void sp_shelf_done(struct sp_shelf *s);
/* The place of the first object that does not come before the key. */
struct sp_shelf_place sp_shelf_find(const struct sp_shelf *s, sp_shelf_order *order,
                                    const void *key, uint64_t head);
/* Prefetches into the processor's caches what sp_shelf_find will read of the list. */
void sp_shelf_prefetch(const struct sp_shelf *s, uint64_t head);
/* The first object with that head, or NULL; reads no object. */
const void *sp_shelf_first_with(const struct sp_shelf *s, uint64_t head);
struct sp_shelf_place sp_shelf_first(const struct sp_shelf *s);
/* Returns the object at that place, or NULL after the last one, and moves the place to the next. */
void *sp_shelf_next(const struct sp_shelf *s, struct sp_shelf_place *place);
/* `key` and `head` are the object's own. No equal object may be in the list. */
void sp_shelf_add(struct sp_shelf *s, sp_shelf_order *order, const void *key, uint64_t head,
                  void *object);
/* Removes the object that the key describes. False: it is not in the list. */
bool sp_shelf_remove(struct sp_shelf *s, sp_shelf_order *order, const void *key, uint64_t head);

#endif

/* A sorted list of pointers of any length: look-ups by binary search, insertion and removal in
 * O(log n) and a move of at most a few kilobytes. It owns nothing that it points to. Zeroed: empty.
 *
 * The order is given with each call, always the same one; what it reads of an object must not
 * change while the object is in the list. An object's head is a number that never decreases along
 * the order: the first bytes of what is compared, or 0 for all objects. If two heads differ, the
 * objects need not be read; in a long list they are seldom in the processor's caches.
 *
 * Thread rule: one thread at a time. */
#ifndef SP_BASE_SHELF_H
#define SP_BASE_SHELF_H

#include <stdbool.h>
#include <stdint.h>

struct sp_shelf_board;

struct sp_shelf {
    struct sp_shelf_board *boards;
    uint32_t board_count;
    uint32_t board_cap;
    uint32_t count;
};

/* Negative if `object` comes before the object that `key` describes, 0 if it is that object. */
typedef int sp_shelf_order(const void *key, const void *object);

/* A place in the list; valid until it changes. */
struct sp_shelf_place {
    uint32_t board;
    uint32_t at;
};

void sp_shelf_done(struct sp_shelf *s);
/* The first object that does not come before the key. */
struct sp_shelf_place sp_shelf_find(const struct sp_shelf *s, sp_shelf_order *order,
                                    const void *key, uint64_t head);
struct sp_shelf_place sp_shelf_first(const struct sp_shelf *s);
/* Returns the object at that place, or NULL after the last one, and moves the place to the next. */
void *sp_shelf_next(const struct sp_shelf *s, struct sp_shelf_place *place);
/* `key` is the object's own; none that is equal may be there. */
void sp_shelf_add(struct sp_shelf *s, sp_shelf_order *order, const void *key, uint64_t head,
                  void *object);
/* False: it is not there. */
bool sp_shelf_remove(struct sp_shelf *s, sp_shelf_order *order, const void *key, uint64_t head);

#endif

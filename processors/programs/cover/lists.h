/* Which units have a key: lists by the leading bits of the key. Private to this folder.
 *
 * Filled in two passes over the units, each by any threads: sp_lists_count for each posting,
 * sp_lists_settle, sp_lists_put for each posting. */
#ifndef SP_COVER_LISTS_H
#define SP_COVER_LISTS_H

#include <stddef.h>
#include <stdint.h>

struct sp_listed {
    uint32_t key;
    uint32_t unit; /* the caller's */
};

struct sp_lists {
    uint32_t *directory; /* ends of lists, then starts, and the end of the last one */
    unsigned shift;
    struct sp_listed *items;
};

void sp_lists_open(struct sp_lists *p, uint64_t count);
void sp_lists_settle(struct sp_lists *p);
/* Sorts each list by unit. */
void sp_lists_sort(struct sp_lists *p, unsigned threads);
void sp_lists_done(struct sp_lists *p);
/* The first posting of a sorted list with that unit or a later one, from `lo` on. */
uint32_t sp_lists_from(const struct sp_lists *p, size_t list, uint32_t lo, uint32_t unit);

static inline size_t sp_lists_of(const struct sp_lists *p, uint32_t key)
{
    return key >> p->shift;
}

static inline void sp_lists_count(struct sp_lists *p, uint32_t key)
{
    __atomic_fetch_add(&p->directory[sp_lists_of(p, key)], 1, __ATOMIC_RELAXED);
}

static inline void sp_lists_put(struct sp_lists *p, uint32_t key, uint32_t unit)
{
    uint32_t *end = &p->directory[sp_lists_of(p, key)];
    p->items[__atomic_sub_fetch(end, 1, __ATOMIC_RELAXED)] = (struct sp_listed){key, unit};
}

#endif

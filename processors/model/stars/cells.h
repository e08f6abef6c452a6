/* A small hash table of 32-bit values by 32-bit keys that are well mixed: what a star table
 * (table.h) is made of while it has few keys. Thread rule: one thread at a time. */
#ifndef SP_STARS_CELLS_H
#define SP_STARS_CELLS_H

#include <stddef.h>
#include <stdint.h>

#define SP_STAR_NO_VALUE UINT32_MAX /* values are below it */

struct sp_star_cell {
    uint32_t key;
    uint32_t value; /* SP_STAR_NO_VALUE: the cell is free */
};

/* Open addressing with linear probing. All zero: an empty table. */
struct sp_star_cells {
    struct sp_star_cell *cells;
    uint32_t count; /* of cells; 0, or a power of two */
    uint32_t used;
};

void sp_star_cells_free(struct sp_star_cells *t);

/* The key's value, which may be changed in place until the next put or take; NULL if there is
 * none. */
static inline uint32_t *sp_star_cells_find(const struct sp_star_cells *t, uint32_t key)
{
    if (!t->count)
        return NULL;
    for (uint32_t i = key;; i++) {
        struct sp_star_cell *c = &t->cells[i & (t->count - 1)];
        if (c->value == SP_STAR_NO_VALUE)
            return NULL;
        if (c->key == key)
            return &c->value;
    }
}

/* The key must not be in the table. Amortised O(1). */
void sp_star_cells_put(struct sp_star_cells *t, uint32_t key, uint32_t value);
/* Removes the key whose value sp_star_cells_find returned. */
void sp_star_cells_take(struct sp_star_cells *t, uint32_t *value);

#endif

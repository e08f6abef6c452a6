/* A small hash table of 32-bit values by 32-bit keys that are well mixed: what a star table
 * (table.h) is made of while it has few keys, and where those that find no room are when it has
 * many. A key may have several values. Thread rule: one thread at a time. */
#ifndef SP_STARS_CELLS_H
#define SP_STARS_CELLS_H

#include <stddef.h>
#include <stdint.h>

#define SP_STAR_NO_VALUE UINT32_MAX /* values are below it */

/* Of one key. */
struct sp_star_values {
    uint32_t first; /* SP_STAR_NO_VALUE: there is none */
    uint32_t second;
};
#define SP_STAR_NO_VALUES ((struct sp_star_values){SP_STAR_NO_VALUE, SP_STAR_NO_VALUE})

static inline void sp_star_values_add(struct sp_star_values *v, uint32_t value)
{
    *(v->first == SP_STAR_NO_VALUE ? &v->first : &v->second) = value;
}

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

/* The first value of the key, or SP_STAR_NO_VALUE. */
static inline uint32_t sp_star_cells_first(const struct sp_star_cells *t, uint32_t key)
{
    for (uint32_t i = key; t->count; i++) {
        const struct sp_star_cell *c = &t->cells[i & (t->count - 1)];
        if (c->key == key || c->value == SP_STAR_NO_VALUE)
            return c->value;
    }
    return SP_STAR_NO_VALUE;
}

/* Adds the values of the key to *values, which has room for them. */
static inline void sp_star_cells_get(const struct sp_star_cells *t, uint32_t key,
                                     struct sp_star_values *values)
{
    for (uint32_t i = key; t->count; i++) {
        const struct sp_star_cell *c = &t->cells[i & (t->count - 1)];
        if (c->value == SP_STAR_NO_VALUE)
            return;
        if (c->key == key)
            sp_star_values_add(values, c->value);
    }
}

/* That value of the key, which may be changed in place until the next put or take; NULL if the key
 * does not have it. */
uint32_t *sp_star_cells_find(const struct sp_star_cells *t, uint32_t key, uint32_t value);

/* Amortised O(1). */
void sp_star_cells_put(struct sp_star_cells *t, uint32_t key, uint32_t value);
/* Removes the value that sp_star_cells_find returned. */
void sp_star_cells_take(struct sp_star_cells *t, uint32_t *value);

#endif

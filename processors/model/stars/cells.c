/* See cells.h. */
#include "stars/cells.h"

#include <string.h>

#include "base/mem.h"

enum { FIRST_COUNT = 8 };

void sp_star_cells_free(struct sp_star_cells *t)
{
    sp_free(t->cells);
    *t = (struct sp_star_cells){0};
}

uint32_t *sp_star_cells_find(const struct sp_star_cells *t, uint32_t key, uint32_t value)
{
    for (uint32_t i = key; t->count; i++) {
        struct sp_star_cell *c = &t->cells[i & (t->count - 1)];
        if (c->value == SP_STAR_NO_VALUE)
            return NULL;
        if (c->key == key && c->value == value)
            return &c->value;
    }
    return NULL;
}

static void insert(struct sp_star_cells *t, struct sp_star_cell cell)
{
    uint32_t i = cell.key & (t->count - 1);
    while (t->cells[i].value != SP_STAR_NO_VALUE)
        i = (i + 1) & (t->count - 1);
    t->cells[i] = cell;
}

static void grow(struct sp_star_cells *t)
{
    struct sp_star_cells old = *t;
    t->count = old.count ? 2 * old.count : FIRST_COUNT;
    t->cells = sp_alloc(t->count * sizeof *t->cells);
    memset(t->cells, 0xff, t->count * sizeof *t->cells);
    for (uint32_t i = 0; i < old.count; i++)
        if (old.cells[i].value != SP_STAR_NO_VALUE)
            insert(t, old.cells[i]);
    sp_free(old.cells);
}

void sp_star_cells_put(struct sp_star_cells *t, uint32_t key, uint32_t value)
{
    if (3ull * t->count <= 4ull * t->used)
        grow(t);
    insert(t, (struct sp_star_cell){key, value});
    t->used++;
}

/* Moves back what follows and would not be found past a free cell (Knuth, TAOCP 3, 6.4, algorithm
 * R). */
void sp_star_cells_take(struct sp_star_cells *t, uint32_t *value)
{
    struct sp_star_cell *cell = (void *)((char *)value - offsetof(struct sp_star_cell, value));
    uint32_t last = t->count - 1, hole = (uint32_t)(cell - t->cells);
    for (uint32_t i = (hole + 1) & last; t->cells[i].value != SP_STAR_NO_VALUE;
         i = (i + 1) & last) {
        uint32_t from_home = (i - t->cells[i].key) & last;
        if (from_home >= ((i - hole) & last)) {
            t->cells[hole] = t->cells[i];
            hole = i;
        }
    }
    t->cells[hole].value = SP_STAR_NO_VALUE;
    t->used--;
}

/* Helpers for all files of the stage. */
#include "base/mem.h"
#include "compare/cell.h"

/* Keeps the first error, because later calls in the step may succeed. */
bool sp_compare_note(struct sp_compare_stage *c, enum sp_err err)
{
    if (c->err == SP_OK)
        c->err = err;
    return err == SP_OK;
}

struct sp_cell_actor *sp_cell_actor_get(struct sp_compare_stage *c, uint32_t number)
{
    struct sp_cell_actor **place = &c->cells[sp_cell_place(number)];
    if (!*place) {
        struct sp_cell_actor *cell = sp_calloc(1, sizeof *cell);
        cell->number = number;
        cell->domain = sp_stars_domain_new(c->stars, number, false);
        *place = cell;
    }
    return *place;
}

struct sp_cell_actor *sp_cell_actor_of(const struct sp_compare_stage *c, uint32_t slot)
{
    return c->cells[sp_cell_place(c->slots[slot].cell)];
}

void sp_cell_actor_free(struct sp_cell_actor *cell)
{
    if (!cell)
        return;
    sp_stars_domain_free(cell->domain);
    sp_free(cell->by_content);
    sp_free(cell);
}

void sp_form_changed(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_slot *s = &c->slots[slot];
    if (s->reformed)
        return;
    s->reformed = true;
    sp_grow(&c->reformed, &c->reformed_cap, c->reformed_count + 1);
    c->reformed[c->reformed_count++] = slot;
}

/* Prefetches what the next crawled pages will make the stage read. Slots, rows and owners are
 * scattered over the memory, and each leads to the next one. */
#include "base/prefetch.h"
#include "compare/cell.h"

void sp_compare_stage_prefetch(const struct sp_compare_stage *c,
                               const struct sp_signature *signature, bool put)
{
    uint32_t number = sp_maps_cell(&c->options.maps, signature);
    const struct sp_cell_actor *cell = c->cells[sp_cell_place(number)];
    if (!cell || !(put || c->reads_ahead))
        return;
    sp_cell_actor_prefetch(cell, signature->content_hash);
    sp_stars_prefetch(cell->domain, signature);
}

void sp_compare_stage_follow(const struct sp_compare_stage *c, uint32_t cell, struct sp_id content,
                             struct sp_id page, uint32_t step)
{
    const struct sp_cell_actor *actor = c->cells[sp_cell_place(cell)];
    if (!actor)
        return;
    if (step == 0)
        sp_cell_actor_prefetch(actor, content);
    uint32_t slot = step ? sp_cell_actor_guess(actor, content) : NO_SLOT;
    if (slot == NO_SLOT)
        return;
    const struct sp_row *row = step > 1 ? c->slots[slot].row : NULL;
    if (step == 1)
        sp_prefetch(&c->slots[slot]);
    else if (row && step == 2)
        sp_prefetch_bytes(row, sizeof *row);
    else if (row && step == 3)
        sp_shelf_prefetch(&row->others, page.hi);
    else if (row && step == 4)
        sp_prefetch_bytes(sp_shelf_guess(&row->others, page.hi), sizeof(struct sp_other));
}

/* Pages leave the cells of a map that is being replaced. A cell knows their signatures, but only
 * the page actor may speak to the cells about its page: so the cell asks, with the signature, and
 * the actor puts the page into its new cell and takes it out of the old one. Asking twice does no
 * harm, and an answer that never comes is made good by the next round. */
#include "base/mem.h"
#include "compare/cell.h"

static void ask(struct sp_compare *c, struct owner owner, struct sp_signature *signature)
{
    struct sp_message *m = sp_message_new(SP_MSG_MOVE);
    m->page = owner.page;
    m->content_version = owner.content_version;
    m->signature = sp_signature_ref(signature);
    c->outbox.send(c->outbox.arg, m);
}

/* The spokesman comes last: each new one would have to be linked to all that are left. */
static uint32_t ask_owners(struct sp_compare *c, struct cell *cell, uint32_t slot, uint32_t most)
{
    uint32_t count;
    const struct owner *others = cell_others(c, cell, slot, &count);
    struct row *row = c->err ? NULL : cell_row(c, cell, slot);
    struct sp_signature *signature = row ? cell_signature(c, cell, slot) : NULL;
    if (!signature)
        return 0;
    uint32_t asked = 0;
    for (; asked < count && asked < most; asked++)
        ask(c, others[asked], signature);
    if (asked == count && asked < most) {
        ask(c, row->first, signature);
        asked++;
    }
    return asked;
}

static struct cell *cell_to_leave(struct sp_compare *c, uint32_t place)
{
    struct cell *cell = c->cells[place];
    bool leave =
        cell && cell->used && sp_maps_standing(&c->options.maps, cell->number) == SP_CELL_LEAVING;
    return leave ? cell : NULL;
}

uint32_t sp_compare_move(struct sp_compare *c, uint32_t max_pages)
{
    uint32_t asked = 0;
    if (!c->options.maps.before)
        return 0;
    for (uint32_t cells = 0; cells <= SP_CELL_PLACES && asked < max_pages && !c->err; cells++) {
        struct cell *cell = cell_to_leave(c, c->move_cell);
        for (; cell && c->move_slot < cell->slot_count && asked < max_pages && !c->err;
             c->move_slot++)
            if (cell->slots[c->move_slot].owners)
                asked += ask_owners(c, cell, c->move_slot, max_pages - asked);
        if (asked >= max_pages)
            break;
        c->move_slot = 0;
        c->move_cell = (c->move_cell + 1) % SP_CELL_PLACES;
    }
    return asked;
}

/* Moves pages out of the cells of a map that is being replaced. The cell has their signatures, but
 * only the page actor may put or remove its page. So the cell sends it the signature, and the actor
 * puts the page into its new cell and removes it from the old one. Asking twice does no harm; if
 * the page does not move, the next round asks again. */
#include "base/mem.h"
#include "compare/cell.h"

static void ask(struct sp_compare_stage *c, struct sp_owner owner, struct sp_signature *signature)
{
    struct sp_message *m = sp_message_new(SP_MSG_MOVE);
    m->page = owner.page;
    m->move.content_version = owner.content_version;
    m->move.signature = sp_signature_ref(signature);
    c->outbox.send(c->outbox.arg, m);
}

/* Asks the spokesman last, because each new spokesman would have to enter the index. */
static uint32_t ask_owners(struct sp_compare_stage *c, uint32_t slot, uint32_t most)
{
    const struct sp_other *other = sp_owners_second(c, slot);
    struct sp_row *row = c->err ? NULL : sp_cell_actor_row(c, slot);
    struct sp_signature *signature = row ? sp_cell_actor_signature(c, slot) : NULL;
    if (!signature)
        return 0;
    uint32_t asked = 0;
    for (; other && asked < most; other = sp_owners_after(c, slot, other), asked++)
        ask(c, other->owner, signature);
    if (asked < most && !c->err) {
        ask(c, row->first, signature);
        asked++;
    }
    return asked;
}

/* Otherwise each call would walk over all slots in vain. */
static bool has_rows_to_move(const struct sp_compare_stage *c)
{
    for (uint32_t i = 0; i < SP_CELL_PLACES; i++)
        if (c->cells[i] && c->cells[i]->used > 0 && sp_cell_is_leaving(c, c->cells[i]->number))
            return true;
    return false;
}

uint32_t sp_compare_stage_move(struct sp_compare_stage *c, uint32_t max_pages)
{
    uint32_t asked = 0;
    if (!c->options.maps.before || !has_rows_to_move(c))
        return 0;
    for (uint32_t n = 0; n < c->slot_count && asked < max_pages && !c->err; n++) {
        if (c->move_slot >= c->slot_count)
            c->move_slot = 0;
        const struct sp_slot *s = &c->slots[c->move_slot];
        if (s->owners && sp_cell_is_leaving(c, s->cell))
            asked += ask_owners(c, c->move_slot, max_pages - asked);
        if (asked < max_pages)
            c->move_slot++;
    }
    return asked;
}

/* Prefetches what the next crawled pages will make the stage read, or lets the store read it ahead.
 * Slots, rows and owners are scattered over the memory, and each leads to the next one. */
#include "base/assert.h"
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
        sp_prefetch_bytes(sp_shelf_first_with(&row->others, page.hi), sizeof(struct sp_other));
}

/* ---- for the store */

struct expecting {
    struct sp_compare_stage *stage;
    struct sp_compare_found *found;
};

static void expect_slot(void *arg, uint32_t slot)
{
    const struct expecting *e = arg;
    sp_cell_actor_expect_row(e->stage, slot);
    if (e->found->count < SP_COMPARE_FOUND)
        e->found->rows[e->found->count++] = slot;
}

void sp_compare_stage_expect(struct sp_compare_stage *c, const struct sp_signature *signature,
                             struct sp_compare_found *ret_found)
{
    uint32_t number = sp_maps_cell(&c->options.maps, signature);
    struct sp_cell_actor *cell = c->cells[sp_cell_place(number)];
    struct expecting e = {c, ret_found};
    ret_found->count = 0;
    if (!cell || !c->reads_ahead)
        return;
    uint32_t same = sp_cell_actor_find(c, cell, signature->content_hash);
    if (same == NO_SLOT)
        sp_stars_expect(cell->domain, signature, expect_slot, &e);
    else
        expect_slot(&e, same);
}

static void expect_owner(struct sp_compare_stage *c, uint32_t cell, struct sp_id content,
                         struct sp_id page)
{
    struct sp_buf key = {0};
    sp_compare_row_key(cell, 'O', content, &key);
    sp_buf_put(&key, &page, sizeof page);
    sp_store_expect(c->store, sp_buf_view(&key));
    sp_buf_done(&key);
}

/* The row, or what is stored of it, which is put into `stored`; NULL: it is not in memory. */
static const struct sp_row *glance(struct sp_compare_stage *c, const struct sp_slot *s,
                                   struct sp_row *stored)
{
    struct sp_buf key = {0};
    struct sp_view value;
    if (s->row)
        return s->row;
    sp_compare_row_key(s->cell, 'R', s->content, &key);
    bool known = sp_store_peek(c->store, sp_buf_view(&key), &value) &&
                 sp_cell_actor_decode_row(value, s->owners, stored) == SP_OK;
    sp_buf_done(&key);
    return known ? stored : NULL;
}

bool sp_compare_stage_expect_owner(struct sp_compare_stage *c, uint32_t slot,
                                   const struct sp_signature *signature, struct sp_id *ret_page)
{
    SP_ASSERT(slot < c->slot_count); /* slots are never taken back */
    const struct sp_slot *s = &c->slots[slot];
    struct sp_row stored = {0};
    const struct sp_row *row = s->owners ? glance(c, s, &stored) : NULL;
    if (!row)
        return false;
    bool joins = sp_id_eq(s->content, signature->content_hash) && !sp_id_is_zero(row->last);
    *ret_page = joins ? row->last : row->first.page;
    if (joins)
        expect_owner(c, s->cell, s->content, row->last);
    return true;
}

void sp_compare_stage_expect_leave(struct sp_compare_stage *c, uint32_t cell, struct sp_id content,
                                   struct sp_id page)
{
    const struct sp_cell_actor *actor = c->cells[sp_cell_place(cell)];
    uint32_t slot = actor ? sp_cell_actor_find(c, actor, content) : NO_SLOT;
    if (slot == NO_SLOT)
        return;
    sp_cell_actor_expect_row(c, slot);
    if (c->slots[slot].owners > 1)
        expect_owner(c, cell, content, page);
}

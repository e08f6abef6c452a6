/* The rows of a cell; see cell.h for the layout, owners.c for the pages that own them. */
#include "compare/cell.h"

#include "base/mem.h"

void sp_compare_row_key(uint32_t cell, char kind, struct sp_id content, struct sp_buf *out)
{
    sp_buf_reset(out);
    sp_buf_put_u8(out, (uint8_t)kind);
    sp_buf_put_big_endian(out, cell, 2);
    sp_buf_put(out, &content, sizeof content);
}

/* ---- rows ---- */

void sp_cell_actor_list_row(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_row *row = c->slots[slot].row;
    if (row->listed)
        return;
    row->listed = true;
    sp_grow(&c->dirty, &c->dirty_cap, c->dirty_count + 1);
    c->dirty[c->dirty_count++] = slot;
}

void sp_cell_actor_row_changed(struct sp_compare_stage *c, uint32_t slot)
{
    c->slots[slot].row->dirty = true;
    sp_cell_actor_list_row(c, slot);
}

uint32_t sp_cell_actor_store(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                             struct sp_signature *signature)
{
    if (!sp_compare_note(c, sp_contents_hold(c->contents, signature)))
        return NO_SLOT;
    uint32_t slot = sp_cell_actor_slot_new(c, cell, signature->content_hash);
    if (slot == NO_SLOT)
        return NO_SLOT;
    struct sp_row *row = sp_calloc(1, sizeof *row);
    row->others_known = true;
    c->slots[slot].row = row;
    c->cache_bytes += SP_ROW_BYTES;
    sp_cell_actor_row_changed(c, slot);
    sp_cell_actor_slot_enter(c, cell, slot);
    return slot;
}

enum sp_err sp_cell_actor_decode_row(struct sp_view value, uint32_t owners, struct sp_row *row)
{
    struct sp_reader r = sp_reader(value);
    row->first.page = sp_read_id(&r);
    row->first.content_version = (int64_t)sp_read_u64(&r);
    if (owners > 1) {
        row->second = sp_read_id(&r);
        row->last = sp_read_id(&r);
    }
    bool more = !sp_id_is_zero(row->second) && !sp_id_is_zero(row->last);
    return r.failed || sp_reader_left(&r) || more != (owners > 1) ? SP_CORRUPT : SP_OK;
}

struct sp_row *sp_cell_actor_row(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_slot *s = &c->slots[slot];
    if (s->row) {
        s->row->recently = true;
        return s->row;
    }
    struct sp_buf key = {0};
    struct sp_view value;
    sp_compare_row_key(s->cell, 'R', s->content, &key);
    struct sp_row *row = sp_calloc(1, sizeof *row);
    enum sp_err err = sp_store_get(c->store, sp_buf_view(&key), &value);
    if (err == SP_OK)
        err = sp_cell_actor_decode_row(value, s->owners, row);
    sp_buf_done(&key);
    if (err == SP_NOT_FOUND)
        err = SP_CORRUPT; /* the index knows a row that the store lacks */
    if (!sp_compare_note(c, err)) {
        sp_free(row);
        return NULL;
    }
    row->stored = row->recently = true;
    row->others_known = s->owners == 1;
    s->row = row;
    c->cache_bytes += SP_ROW_BYTES;
    c->stats.row_loads++;
    return row;
}

struct sp_signature *sp_cell_actor_signature(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_signature *s = NULL;
    sp_compare_note(c, sp_contents_get(c->contents, c->slots[slot].content, &s));
    return s;
}

void sp_cell_actor_expect_row(struct sp_compare_stage *c, uint32_t slot)
{
    sp_contents_expect(c->contents, c->slots[slot].content);
    if (c->slots[slot].row)
        return;
    struct sp_buf key = {0};
    sp_compare_row_key(c->slots[slot].cell, 'R', c->slots[slot].content, &key);
    sp_store_expect(c->store, sp_buf_view(&key));
    sp_buf_done(&key);
}

void sp_cell_actor_move_row(struct sp_compare_stage *c, uint32_t from, uint32_t to)
{
    c->slots[to].row = c->slots[from].row;
    c->slots[to].owners = c->slots[from].owners;
    c->slots[from].row = NULL;
    c->slots[from].owners = 0;
    c->slots[to].row->listed = false;
    sp_cell_actor_list_row(c, to);
}

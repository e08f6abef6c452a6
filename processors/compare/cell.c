/* Rows of a cell and the pages that own them; see cell.h for the layout, owners.c for the list. A
 * row with several owners keeps the others under keys of their own, so that a page joining content
 * that 100,000 pages have (an error page) costs one small write. */
#include "compare/cell.h"

#include "base/mem.h"

static const size_t ROW_BYTES = sizeof(struct row) + 32;

struct cell *cell_get(struct sp_compare *c, uint32_t number)
{
    struct cell **place = &c->cells[sp_cell_place(number)];
    if (!*place) {
        struct cell *cell = sp_calloc(1, sizeof *cell);
        cell->number = number;
        cell->free_slot = NO_SLOT;
        cell->index = sp_candidates_new(&c->rule);
        *place = cell;
    }
    return *place;
}

static void row_free(struct row *row)
{
    if (!row)
        return;
    sp_free(row->others);
    sp_free(row->changed);
    sp_free(row);
}

void cell_free(struct cell *cell)
{
    if (!cell)
        return;
    for (uint32_t i = 0; i < cell->slot_count; i++)
        row_free(cell->slots[i].row);
    sp_candidates_free(cell->index);
    sp_free(cell->slots);
    sp_free(cell->by_content);
    sp_free(cell->dirty);
    sp_free(cell->dropped);
    sp_free(cell);
}

static void row_key(const struct cell *cell, char kind, struct sp_id content, struct sp_buf *out)
{
    sp_buf_reset(out);
    sp_buf_put_u8(out, (uint8_t)kind);
    sp_buf_put_u8(out, (uint8_t)(cell->number >> 8));
    sp_buf_put_u8(out, (uint8_t)cell->number);
    sp_buf_put(out, &content, sizeof content);
}

/* ---- rows ------------------------------------------------------------------------------ */

static void mark_dirty(struct cell *cell, uint32_t slot, struct row *row)
{
    if (row->dirty || row->changed_count)
        return;
    if (cell->dirty_count == cell->dirty_cap) {
        cell->dirty_cap = cell->dirty_cap ? cell->dirty_cap * 2 : 256;
        cell->dirty = sp_realloc(cell->dirty, cell->dirty_cap * sizeof *cell->dirty);
    }
    cell->dirty[cell->dirty_count++] = slot;
}

uint32_t cell_store(struct sp_compare *c, struct cell *cell, struct sp_signature *signature)
{
    uint32_t slot = cell_find(cell, signature->content_hash);
    if (slot != NO_SLOT)
        return cell_row(c, cell, slot) ? slot : NO_SLOT;
    c->err = sp_contents_hold(c->contents, signature);
    if (c->err)
        return NO_SLOT;
    slot = cell_slot_new(cell, signature->content_hash);
    struct row *row = sp_calloc(1, sizeof *row);
    row->others_loaded = true;
    cell->slots[slot].row = row;
    c->cache_bytes += ROW_BYTES;
    mark_dirty(cell, slot, row);
    row->dirty = true;
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = sp_candidate_keys(&c->rule, signature, scratch, &count);
    sp_candidates_add(cell->index, slot, keys, count);
    return slot;
}

void cell_restore(struct cell *cell, struct sp_id content, const uint32_t *keys, uint32_t count)
{
    uint32_t slot = cell_slot_new(cell, content);
    cell->slots[slot].owners = 1;
    sp_candidates_add_later(cell->index, slot, keys, count);
}

static enum sp_err row_decode(struct sp_view value, struct row *row)
{
    struct sp_reader r = sp_reader(value);
    struct sp_view page = sp_read_bytes(&r, sizeof row->first.page);
    if (page.len)
        memcpy(&row->first.page, page.data, page.len);
    row->first.content_version = (int64_t)sp_read_u64(&r);
    return r.failed || sp_reader_left(&r) ? SP_CORRUPT : SP_OK;
}

struct row *cell_row(struct sp_compare *c, struct cell *cell, uint32_t slot)
{
    struct slot *s = &cell->slots[slot];
    if (s->row) {
        s->row->recently = true;
        return s->row;
    }
    struct sp_buf key = {0};
    struct sp_view value;
    row_key(cell, 'R', s->content, &key);
    struct row *row = sp_calloc(1, sizeof *row);
    c->err = sp_store_get(c->store, sp_buf_view(&key), &value);
    if (c->err == SP_OK)
        c->err = row_decode(value, row);
    sp_buf_done(&key);
    if (c->err == SP_NOT_FOUND)
        c->err = SP_CORRUPT; /* the index knows a row that the store lacks */
    if (c->err) {
        row_free(row);
        return NULL;
    }
    row->stored = row->recently = true;
    row->others_loaded = s->owners == 1;
    s->row = row;
    c->cache_bytes += ROW_BYTES;
    c->stats.row_loads++;
    return row;
}

struct sp_signature *cell_signature(struct sp_compare *c, const struct cell *cell, uint32_t slot)
{
    struct sp_signature *s = NULL;
    c->err = sp_contents_get(c->contents, cell->slots[slot].content, &s);
    return s;
}

void cell_expect_row(struct sp_compare *c, const struct cell *cell, uint32_t slot)
{
    sp_contents_expect(c->contents, cell->slots[slot].content);
    if (cell->slots[slot].row)
        return;
    struct sp_buf key = {0};
    row_key(cell, 'R', cell->slots[slot].content, &key);
    sp_store_expect(c->store, sp_buf_view(&key));
    sp_buf_done(&key);
}

/* ---- owners ---------------------------------------------------------------------------- */

static bool add_other(void *arg, struct sp_view key, struct sp_view value)
{
    struct row *row = arg;
    struct owner owner;
    if (key.len < sizeof owner.page || value.len != sizeof owner.content_version)
        return false;
    memcpy(&owner.page, key.data + key.len - sizeof owner.page, sizeof owner.page);
    memcpy(&owner.content_version, value.data, sizeof owner.content_version);
    owners_insert(row, row->other_count, owner);
    return true;
}

static bool load_others(struct sp_compare *c, struct cell *cell, uint32_t slot)
{
    struct row *row = cell->slots[slot].row;
    if (row->others_loaded)
        return true;
    struct sp_buf prefix = {0};
    row_key(cell, 'O', cell->slots[slot].content, &prefix);
    c->err = sp_store_scan(c->store, sp_buf_view(&prefix), sp_view(NULL, 0), add_other, row);
    sp_buf_done(&prefix);
    if (c->err)
        return false;
    if (row->other_count + 1 != cell->slots[slot].owners) {
        c->err = SP_CORRUPT;
        return false;
    }
    owners_sort(row);
    row->others_loaded = true;
    c->cache_bytes += row->other_count * sizeof *row->others;
    return true;
}

static void note_change(struct cell *cell, uint32_t slot, struct row *row, struct sp_id page)
{
    mark_dirty(cell, slot, row);
    if (row->changed_count == row->changed_cap) {
        row->changed_cap = row->changed_cap ? row->changed_cap * 2 : 4;
        row->changed = sp_realloc(row->changed, row->changed_cap * sizeof *row->changed);
    }
    row->changed[row->changed_count++] = page;
}

bool cell_add_owner(struct sp_compare *c, struct cell *cell, uint32_t slot, struct owner owner)
{
    struct slot *s = &cell->slots[slot];
    struct row *row = cell_row(c, cell, slot);
    if (!row)
        return false;
    if (s->owners == 0 || sp_id_eq(row->first.page, owner.page)) {
        mark_dirty(cell, slot, row);
        row->dirty = true;
        row->first = owner;
        s->owners += s->owners == 0;
        return true;
    }
    if (!load_others(c, cell, slot))
        return false;
    uint32_t at = owners_find(row, owner.page);
    if (at < row->other_count && sp_id_eq(row->others[at].page, owner.page)) {
        row->others[at] = owner;
    } else {
        owners_insert(row, at, owner);
        s->owners++;
        c->cache_bytes += sizeof owner;
    }
    note_change(cell, slot, row, owner.page);
    return false;
}

static void drop_slot(struct sp_compare *c, struct cell *cell, uint32_t slot)
{
    struct slot *s = &cell->slots[slot];
    struct row *row = s->row;
    const struct sp_signature *signature = cell_signature(c, cell, slot);
    if (!signature)
        return;
    if (cell->dropped_count == cell->dropped_cap) {
        cell->dropped_cap = cell->dropped_cap ? cell->dropped_cap * 2 : 64;
        cell->dropped = sp_realloc(cell->dropped, cell->dropped_cap * sizeof *cell->dropped);
    }
    if (row->stored)
        cell->dropped[cell->dropped_count++] = s->content;
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = sp_candidate_keys(&c->rule, signature, scratch, &count);
    sp_candidates_remove(cell->index, slot, keys, count);
    c->err = sp_contents_drop(c->contents, s->content);
    c->cache_bytes -= ROW_BYTES;
    cell_slot_forget(cell, s->content);
    row_free(row);
    s->row = NULL;
    s->owners = 0;
    s->next = cell->free_slot;
    cell->free_slot = slot;
    cell->used--;
}

static void others_remove(struct sp_compare *c, struct cell *cell, uint32_t slot, uint32_t at)
{
    struct row *row = cell->slots[slot].row;
    note_change(cell, slot, row, row->others[at].page);
    row->other_count--;
    memmove(row->others + at, row->others + at + 1, (row->other_count - at) * sizeof *row->others);
    cell->slots[slot].owners--;
    c->cache_bytes -= sizeof *row->others;
}

bool cell_remove_owner(struct sp_compare *c, struct cell *cell, uint32_t slot, struct sp_id page)
{
    struct row *row = cell_row(c, cell, slot);
    if (!row || !load_others(c, cell, slot))
        return false;
    if (!sp_id_eq(row->first.page, page)) {
        uint32_t at = owners_find(row, page);
        if (at < row->other_count && sp_id_eq(row->others[at].page, page))
            others_remove(c, cell, slot, at);
        return false;
    }
    if (row->other_count == 0 && row->changed_count == 0) {
        drop_slot(c, cell, slot);
        return false;
    }
    mark_dirty(cell, slot, row);
    row->dirty = true;
    if (row->other_count == 0) {
        cell->slots[slot].owners = 0; /* goes at the flush, with its stored owners */
        return false;
    }
    row->first = row->others[0];
    others_remove(c, cell, slot, 0);
    return true;
}

const struct owner *cell_others(struct sp_compare *c, struct cell *cell, uint32_t slot,
                                uint32_t *ret_count)
{
    *ret_count = 0;
    if (cell->slots[slot].owners < 2 || !cell_row(c, cell, slot) || !load_others(c, cell, slot))
        return NULL;
    *ret_count = cell->slots[slot].row->other_count;
    return cell->slots[slot].row->others;
}

bool cell_other_owner(struct sp_compare *c, struct cell *cell, uint32_t slot, struct sp_id page,
                      struct owner *ret_owner)
{
    struct row *row = cell_row(c, cell, slot);
    uint32_t owners = cell->slots[slot].owners;
    if (!row || owners == 0)
        return false;
    if (!sp_id_eq(row->first.page, page)) {
        *ret_owner = row->first;
        return true;
    }
    if (owners == 1 || !load_others(c, cell, slot))
        return false;
    *ret_owner = row->others[0];
    return true;
}

/* ---- to the store ---------------------------------------------------------------------- */

static void flush_others(struct sp_compare *c, struct row *row, struct sp_buf *key)
{
    size_t prefix = key->len;
    key->data[0] = 'O';
    for (uint32_t i = 0; i < row->changed_count; i++) {
        struct sp_id page = row->changed[i];
        key->len = prefix;
        sp_buf_put(key, &page, sizeof page);
        uint32_t at = owners_find(row, page);
        if (at < row->other_count && sp_id_eq(row->others[at].page, page))
            sp_store_put(c->store, sp_buf_view(key), sp_view(&row->others[at].content_version, 8));
        else
            sp_store_delete(c->store, sp_buf_view(key));
    }
    row->changed_count = 0;
}

/* A row's keys never change: they go with the row's first flush, and with the row. */
static void put_keys(struct sp_compare *c, const struct cell *cell, uint32_t slot,
                     struct sp_buf *key)
{
    const struct sp_signature *signature = cell_signature(c, cell, slot);
    if (!signature)
        return;
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = sp_candidate_keys(&c->rule, signature, scratch, &count);
    key->data[0] = 'K';
    sp_store_put(c->store, sp_buf_view(key), sp_view(keys, 4ull * count));
}

static void flush_slot(struct sp_compare *c, struct cell *cell, uint32_t slot, struct sp_buf *key,
                       struct sp_buf *value)
{
    struct row *row = cell->slots[slot].row;
    if (!row)
        return; /* dropped since, or listed twice */
    row_key(cell, 'R', cell->slots[slot].content, key);
    if (row->dirty && cell->slots[slot].owners) {
        sp_buf_reset(value);
        sp_buf_put(value, &row->first.page, sizeof row->first.page);
        sp_buf_put_u64(value, (uint64_t)row->first.content_version);
        sp_store_put(c->store, sp_buf_view(key), sp_buf_view(value));
        if (!row->stored)
            put_keys(c, cell, slot, key);
        row->stored = true;
    }
    row->dirty = false;
    flush_others(c, row, key);
    if (cell->slots[slot].owners == 0)
        drop_slot(c, cell, slot);
}

enum sp_err cell_flush(struct sp_compare *c, struct cell *cell)
{
    struct sp_buf key = {0}, value = {0};
    for (uint32_t i = 0; i < cell->dirty_count && !c->err; i++)
        flush_slot(c, cell, cell->dirty[i], &key, &value);
    cell->dirty_count = 0;
    for (uint32_t i = 0; i < cell->dropped_count; i++) {
        if (cell_find(cell, cell->dropped[i]) != NO_SLOT)
            continue; /* stored anew since */
        row_key(cell, 'R', cell->dropped[i], &key);
        sp_store_delete(c->store, sp_buf_view(&key));
        key.data[0] = 'K';
        sp_store_delete(c->store, sp_buf_view(&key));
    }
    cell->dropped_count = 0;
    sp_buf_done(&key);
    sp_buf_done(&value);
    return c->err;
}

static void evict_some(struct sp_compare *c, struct cell *cell)
{
    for (uint32_t steps = 2 * cell->slot_count; steps-- && c->cache_bytes > c->row_budget;) {
        cell->hand = cell->hand + 1 < cell->slot_count ? cell->hand + 1 : 0;
        struct row *row = cell->slots[cell->hand].row;
        if (!row || row->dirty || row->changed_count || cell->slots[cell->hand].owners == 0)
            continue;
        if (row->recently) {
            row->recently = false;
            continue;
        }
        c->cache_bytes -=
            ROW_BYTES + (row->others_loaded ? row->other_count * sizeof *row->others : 0);
        cell->slots[cell->hand].row = NULL;
        row_free(row);
    }
}

void cells_evict(struct sp_compare *c)
{
    size_t budget = c->row_budget;
    if (c->cache_bytes <= budget || c->cache_bytes <= c->evict_above)
        return;
    for (uint32_t i = 0; i < SP_CELL_PLACES && c->cache_bytes > budget; i++)
        if (c->cells[i])
            evict_some(c, c->cells[i]);
    c->evict_above = c->cache_bytes > budget ? c->cache_bytes + budget / 16 : 0;
}

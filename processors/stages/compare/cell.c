/* Rows of a cell and the pages that own them; see cell.h for the layout, owners.c for the list. A
 * row with several owners keeps the others under keys of their own, so that a page joining content
 * that 100,000 pages have (an error page) costs one small write. */
#include "compare/cell.h"

#include "base/mem.h"

static const size_t ROW_BYTES = sizeof(struct sp_row) + 32;
static const size_t OTHER_BYTES = sizeof(struct sp_other) + 24;

static void row_free(struct sp_row *row)
{
    if (!row)
        return;
    sp_owners_free(row);
    sp_free(row->changed);
    sp_free(row);
}

void sp_compare_rows_free(struct sp_compare_stage *c)
{
    for (uint32_t i = 0; i < c->slot_count; i++) {
        row_free(c->slots[i].row);
        sp_relied_free(c->slots[i].relied);
    }
    for (uint32_t i = 0; i < c->gone_count; i++)
        sp_free(c->gone[i].changed);
    sp_free(c->slots);
    sp_free(c->dirty);
    sp_free(c->gone);
}

static void row_key(uint32_t cell, char kind, struct sp_id content, struct sp_buf *out)
{
    sp_buf_reset(out);
    sp_buf_put_u8(out, (uint8_t)kind);
    sp_buf_put_u8(out, (uint8_t)(cell >> 8));
    sp_buf_put_u8(out, (uint8_t)cell);
    sp_buf_put(out, &content, sizeof content);
}

/* ---- rows ------------------------------------------------------------------------------ */

static void mark_dirty(struct sp_compare_stage *c, uint32_t slot, struct sp_row *row)
{
    if (row->dirty || row->changed_count)
        return;
    sp_grow(&c->dirty, &c->dirty_cap, c->dirty_count + 1);
    c->dirty[c->dirty_count++] = slot;
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
    row->others_loaded = true;
    c->slots[slot].row = row;
    c->cache_bytes += ROW_BYTES;
    mark_dirty(c, slot, row);
    row->dirty = true;
    sp_cell_actor_slot_enter(c, cell, slot);
    return slot;
}

static enum sp_err row_decode(struct sp_view value, struct sp_row *row)
{
    struct sp_reader r = sp_reader(value);
    struct sp_view page = sp_read_bytes(&r, sizeof row->first.page);
    if (page.len)
        memcpy(&row->first.page, page.data, page.len);
    row->first.content_version = (int64_t)sp_read_u64(&r);
    return r.failed || sp_reader_left(&r) ? SP_CORRUPT : SP_OK;
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
    row_key(s->cell, 'R', s->content, &key);
    struct sp_row *row = sp_calloc(1, sizeof *row);
    enum sp_err err = sp_store_get(c->store, sp_buf_view(&key), &value);
    if (err == SP_OK)
        err = row_decode(value, row);
    sp_buf_done(&key);
    if (err == SP_NOT_FOUND)
        err = SP_CORRUPT; /* the index knows a row that the store lacks */
    if (!sp_compare_note(c, err)) {
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
    row_key(c->slots[slot].cell, 'R', c->slots[slot].content, &key);
    sp_store_expect(c->store, sp_buf_view(&key));
    sp_buf_done(&key);
}

/* ---- owners ---------------------------------------------------------------------------- */

static bool other_decode(struct sp_view key, struct sp_view value, struct sp_other *ret_other)
{
    struct sp_reader r = sp_reader(value);
    *ret_other = (struct sp_other){0};
    if (key.len < sizeof ret_other->owner.page)
        return false;
    memcpy(&ret_other->owner.page, key.data + key.len - sizeof ret_other->owner.page,
           sizeof ret_other->owner.page);
    ret_other->owner.content_version = (int64_t)sp_read_u64(&r);
    ret_other->order = sp_read_u64(&r);
    return !r.failed && !sp_reader_left(&r);
}

static bool add_other(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_other other;
    return other_decode(key, value, &other) && sp_owners_restore(arg, &other);
}

static bool load_others(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_row *row = c->slots[slot].row;
    if (row->others_loaded)
        return true;
    struct sp_buf prefix = {0};
    row_key(c->slots[slot].cell, 'O', c->slots[slot].content, &prefix);
    enum sp_err err =
        sp_store_scan(c->store, sp_buf_view(&prefix), sp_view(NULL, 0), add_other, row);
    sp_buf_done(&prefix);
    if (err == SP_OK && row->others.count + 1 != c->slots[slot].owners)
        err = SP_CORRUPT;
    if (!sp_compare_note(c, err))
        return false;
    sp_owners_settle(row);
    row->others_loaded = true;
    c->cache_bytes += row->others.count * OTHER_BYTES;
    return true;
}

static void note_change(struct sp_compare_stage *c, uint32_t slot, struct sp_row *row,
                        struct sp_id page)
{
    mark_dirty(c, slot, row);
    sp_grow(&row->changed, &row->changed_cap, row->changed_count + 1);
    row->changed[row->changed_count++] = page;
}

enum sp_owners_change sp_cell_actor_add_owner(struct sp_compare_stage *c, uint32_t slot,
                                              struct sp_owner owner)
{
    struct sp_slot *s = &c->slots[slot];
    struct sp_row *row = sp_cell_actor_row(c, slot);
    if (!row)
        return SP_OWNERS_SAME;
    if (s->owners == 0 || sp_id_eq(row->first.page, owner.page)) {
        if (s->owners && row->first.content_version == owner.content_version)
            return SP_OWNERS_SAME;
        mark_dirty(c, slot, row);
        row->dirty = true;
        row->first = owner;
        s->owners += s->owners == 0;
        return SP_OWNERS_FIRST;
    }
    if (!load_others(c, slot))
        return SP_OWNERS_SAME;
    struct sp_other *other = sp_owners_find(row, owner.page);
    if (other) {
        other->owner = owner;
    } else {
        sp_owners_add(row, owner);
        s->owners++;
        c->cache_bytes += OTHER_BYTES;
    }
    note_change(c, slot, row, owner.page);
    return SP_OWNERS_ONE;
}

struct sp_other *sp_cell_actor_other(struct sp_compare_stage *c, uint32_t slot, struct sp_id page)
{
    struct sp_row *row = sp_cell_actor_row(c, slot);
    return row && load_others(c, slot) ? sp_owners_find(row, page) : NULL;
}

void sp_cell_actor_drop_row(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_slot *s = &c->slots[slot];
    struct sp_row *row = s->row;
    if (row->stored || row->changed_count) {
        sp_grow(&c->gone, &c->gone_cap, c->gone_count + 1);
        c->gone[c->gone_count++] =
            (struct sp_gone_row){s->cell, s->content, row->changed, row->changed_count};
        row->changed = NULL;
    }
    c->cache_bytes -= ROW_BYTES;
    row_free(row);
    s->row = NULL;
}

void sp_cell_actor_move_row(struct sp_compare_stage *c, uint32_t from, uint32_t to)
{
    c->slots[to].row = c->slots[from].row;
    c->slots[to].owners = c->slots[from].owners;
    c->slots[from].row = NULL;
    c->slots[from].owners = 0;
    sp_grow(&c->dirty, &c->dirty_cap, c->dirty_count + 1);
    c->dirty[c->dirty_count++] = to;
}

static void others_remove(struct sp_compare_stage *c, uint32_t slot, struct sp_other *other)
{
    struct sp_row *row = c->slots[slot].row;
    note_change(c, slot, row, other->owner.page);
    sp_owners_remove(row, other);
    c->slots[slot].owners--;
    c->cache_bytes -= OTHER_BYTES;
}

enum sp_owners_change sp_cell_actor_remove_owner(struct sp_compare_stage *c, uint32_t slot,
                                                 struct sp_id page, struct sp_other **ret_gap)
{
    struct sp_row *row = sp_cell_actor_row(c, slot);
    *ret_gap = NULL;
    if (!row || !load_others(c, slot))
        return SP_OWNERS_SAME;
    if (!sp_id_eq(row->first.page, page)) {
        struct sp_other *other = sp_owners_find(row, page);
        if (!other)
            return SP_OWNERS_SAME;
        *ret_gap = other->after;
        others_remove(c, slot, other);
        return SP_OWNERS_ONE;
    }
    if (!row->second) {
        c->slots[slot].owners = 0;
        return SP_OWNERS_NONE;
    }
    mark_dirty(c, slot, row);
    row->dirty = true;
    row->first = row->second->owner;
    others_remove(c, slot, row->second);
    return SP_OWNERS_FIRST;
}

const struct sp_shelf *sp_cell_actor_others(struct sp_compare_stage *c, uint32_t slot)
{
    if (c->slots[slot].owners < 2 || !sp_cell_actor_row(c, slot) || !load_others(c, slot))
        return NULL;
    return &c->slots[slot].row->others;
}

bool sp_cell_actor_other_owner(struct sp_compare_stage *c, uint32_t slot, struct sp_id page,
                               struct sp_owner *ret_owner)
{
    struct sp_row *row = sp_cell_actor_row(c, slot);
    uint32_t owners = c->slots[slot].owners;
    if (!row || owners == 0)
        return false;
    if (!sp_id_eq(row->first.page, page)) {
        *ret_owner = row->first;
        return true;
    }
    if (owners == 1 || !load_others(c, slot))
        return false;
    *ret_owner = row->second->owner;
    return true;
}

/* ---- to the store ---------------------------------------------------------------------- */

static void flush_others(struct sp_compare_stage *c, struct sp_row *row, struct sp_buf *key,
                         struct sp_buf *value)
{
    size_t prefix = key->len;
    key->data[0] = 'O';
    for (uint32_t i = 0; i < row->changed_count; i++) {
        struct sp_id page = row->changed[i];
        key->len = prefix;
        sp_buf_put(key, &page, sizeof page);
        const struct sp_other *other = sp_owners_find(row, page);
        if (!other) {
            sp_store_delete(c->store, sp_buf_view(key));
            continue;
        }
        sp_buf_reset(value);
        sp_buf_put_u64(value, (uint64_t)other->owner.content_version);
        sp_buf_put_u64(value, other->order);
        sp_store_put(c->store, sp_buf_view(key), sp_buf_view(value));
    }
    row->changed_count = 0;
}

static void flush_row(struct sp_compare_stage *c, uint32_t slot, struct sp_buf *key,
                      struct sp_buf *value)
{
    struct sp_row *row = c->slots[slot].row;
    if (!row)
        return; /* gone since, or in another slot */
    row_key(c->slots[slot].cell, 'R', c->slots[slot].content, key);
    if (row->dirty) {
        sp_buf_reset(value);
        sp_buf_put(value, &row->first.page, sizeof row->first.page);
        sp_buf_put_u64(value, (uint64_t)row->first.content_version);
        sp_store_put(c->store, sp_buf_view(key), sp_buf_view(value));
        row->stored = true;
    }
    row->dirty = false;
    flush_others(c, row, key, value);
}

/* Before rows of the same content are written that came since. */
static void flush_gone(struct sp_compare_stage *c, struct sp_gone_row *gone, struct sp_buf *key)
{
    row_key(gone->cell, 'R', gone->content, key);
    sp_store_delete(c->store, sp_buf_view(key));
    size_t prefix = key->len;
    key->data[0] = 'O';
    for (uint32_t i = 0; i < gone->changed_count; i++) {
        key->len = prefix;
        sp_buf_put(key, &gone->changed[i], sizeof gone->changed[i]);
        sp_store_delete(c->store, sp_buf_view(key));
    }
    sp_free(gone->changed);
}

enum sp_err sp_compare_rows_flush(struct sp_compare_stage *c)
{
    struct sp_buf key = {0}, value = {0};
    for (uint32_t i = 0; i < c->gone_count; i++)
        flush_gone(c, &c->gone[i], &key);
    for (uint32_t i = 0; i < c->dirty_count && !c->err; i++)
        flush_row(c, c->dirty[i], &key, &value);
    c->gone_count = c->dirty_count = 0;
    sp_buf_done(&key);
    sp_buf_done(&value);
    return c->err;
}

void sp_compare_stage_evict(struct sp_compare_stage *c)
{
    size_t budget = c->row_budget;
    if (c->cache_bytes <= budget || c->cache_bytes <= c->evict_above)
        return;
    for (uint64_t steps = 2ull * c->slot_count; steps-- && c->cache_bytes > budget;) {
        c->hand = c->hand + 1 < c->slot_count ? c->hand + 1 : 0;
        struct sp_row *row = c->slots[c->hand].row;
        if (!row || row->dirty || row->changed_count)
            continue;
        if (row->recently) {
            row->recently = false;
            continue;
        }
        c->cache_bytes -= ROW_BYTES + (row->others_loaded ? row->others.count * OTHER_BYTES : 0);
        c->slots[c->hand].row = NULL;
        row_free(row);
    }
    c->evict_above = c->cache_bytes > budget ? c->cache_bytes + budget / 16 : 0;
}

/* Writes rows to the store, and evicts them. */
#include "base/mem.h"
#include "base/tight.h"
#include "compare/cell.h"

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
    for (uint32_t i = 0; i < c->slot_count; i++)
        row_free(c->slots[i].row);
    sp_relied_free(c);
    for (uint32_t i = 0; i < c->gone_count; i++)
        sp_free(c->gone[i].changed);
    sp_tight_free(c->slots, c->slot_cap);
    sp_free(c->dirty);
    sp_free(c->gone);
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
    c->cache_bytes -= SP_ROW_BYTES + sp_owners_bytes(row);
    row_free(row);
    s->row = NULL;
}

/* ---- to the store */

static void row_encode(const struct sp_row *row, struct sp_buf *out)
{
    sp_buf_reset(out);
    sp_buf_put(out, &row->first.page, sizeof row->first.page);
    sp_buf_put_u64(out, (uint64_t)row->first.content_version);
    if (sp_id_is_zero(row->second))
        return;
    sp_buf_put(out, &row->second, sizeof row->second);
    sp_buf_put(out, &row->last, sizeof row->last);
}

static void flush_row(struct sp_compare_stage *c, uint32_t slot, struct sp_buf *key,
                      struct sp_buf *value)
{
    struct sp_row *row = c->slots[slot].row;
    if (!row || !row->listed)
        return; /* deleted since, or moved to another slot */
    sp_compare_row_key(c->slots[slot].cell, 'R', c->slots[slot].content, key);
    if (row->dirty) {
        row_encode(row, value);
        sp_store_put(c->store, sp_buf_view(key), sp_buf_view(value));
        row->stored = true;
    }
    row->dirty = row->listed = false;
    sp_owners_flush(c, row, key, value);
}

/* Must come before the writes, because a new row may have the same content. */
static void flush_gone(struct sp_compare_stage *c, struct sp_gone_row *gone, struct sp_buf *key)
{
    sp_compare_row_key(gone->cell, 'R', gone->content, key);
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

/* ---- eviction */

void sp_compare_stage_resize(struct sp_compare_stage *c, size_t cache_bytes)
{
    c->row_budget = cache_bytes;
}

void sp_compare_stage_evict(struct sp_compare_stage *c)
{
    size_t budget = c->row_budget;
    if (c->cache_bytes <= budget || c->cache_bytes <= c->evict_above)
        return;
    for (uint64_t steps = 2ull * c->slot_count; steps-- && c->cache_bytes > budget;) {
        c->hand = c->hand + 1 < c->slot_count ? c->hand + 1 : 0;
        struct sp_row *row = c->slots[c->hand].row;
        if (!row || row->listed)
            continue;
        if (row->recently) {
            row->recently = false;
            continue;
        }
        c->cache_bytes -= SP_ROW_BYTES + sp_owners_bytes(row);
        c->slots[c->hand].row = NULL;
        row_free(row);
    }
    c->evict_above = c->cache_bytes > budget ? c->cache_bytes + c->cache_bytes / 16 : 0;
}

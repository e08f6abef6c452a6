/* Pages and groups into the store: what changed since the last flush.
 *
 * A group of one, alone on its founder's partition, is no row of its own: it lies inside the
 * founder's page row, so a page without duplicates costs one small write. A small group lies in its
 * 'G' row; of a large one each member has a row, so that a change costs no more than that. */
#include "base/mem.h"
#include "base/prefetch.h"
#include "group/internal.h"

static bool is_inline(const struct group *g)
{
    return g->count == 1 && !g->forward.birth && sp_id_eq(g->members[0]->page, g->id.founder);
}

static void delete_member_row(struct sp_group *st, struct group *g, struct sp_id page)
{
    group_key(st, 'M', g->id);
    sp_buf_put(&st->key, &page, sizeof page);
    sp_store_delete(st->store, sp_buf_view(&st->key));
}

/* Keeps the group of one inside its founder's page row, or takes it out of there. */
static void flush_inline(struct sp_group *st, struct group *g, bool inlined)
{
    if (!inlined && !g->inlined)
        return;
    struct page *founder = page_get(st, g->id.founder);
    if (!founder)
        return;
    struct sp_reader r = sp_reader(sp_view(founder->inline_group, founder->inline_bytes));
    bool mine = founder->inline_bytes && sp_read_varint(&r) == g->id.birth;
    g->inlined = inlined;
    if (!inlined && !mine)
        return; /* another group of one took the place */
    sp_free(founder->inline_group);
    founder->inline_group = NULL;
    founder->inline_bytes = 0;
    if (inlined) {
        sp_buf_reset(&st->value);
        sp_buf_put_varint(&st->value, g->id.birth);
        member_encode(g->members[0], &st->value);
        founder->inline_group = sp_memdup(st->value.data, st->value.len);
        founder->inline_bytes = (uint32_t)st->value.len;
    }
    page_changed(st, founder);
}

static void flush_member(struct sp_group *st, struct group *g, struct member *m)
{
    sp_buf_reset(&st->value);
    member_encode(m, &st->value);
    group_key(st, 'M', g->id);
    sp_buf_put(&st->key, &m->page, sizeof m->page);
    sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    m->stored = true;
    m->dirty = false;
}

static void flush_row(struct sp_group *st, struct group *g, bool wanted, bool packed)
{
    bool as_before = !packed && !g->packed && !g->forward.birth;
    if (wanted == g->stored && (!wanted || as_before))
        return;
    group_key(st, 'G', g->id);
    if (wanted) {
        sp_buf_reset(&st->value);
        group_encode(g, packed, &st->value);
        sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    } else {
        sp_store_delete(st->store, sp_buf_view(&st->key));
    }
    g->stored = wanted;
    g->packed = packed;
}

static void flush_group(struct sp_group *st, struct group *g, bool drained)
{
    bool inlined = is_inline(g);
    bool wanted = !inlined && (g->count || (g->forward.birth && !drained));
    bool packed = wanted && g->count && g->count <= SP_PACKED_MEMBERS;
    bool rows = !inlined && !packed;
    g->dirty = false;
    for (uint32_t i = 0; i < g->gone_count; i++)
        if (!rows || !member_find(g, g->gone[i]))
            delete_member_row(st, g, g->gone[i]);
    g->gone_count = 0;
    flush_inline(st, g, inlined);
    flush_row(st, g, wanted, packed);
    for (uint32_t i = 0; i < g->count; i++) {
        struct member *m = g->members[i];
        if (rows && (m->dirty || !m->stored)) {
            flush_member(st, g, m);
        } else if (!rows) {
            if (m->stored)
                delete_member_row(st, g, m->page);
            m->stored = m->dirty = false;
        }
    }
    /* One that lies in its founder's row is made of that in no time: once in memory is enough. */
    bool again = inlined && g->inlined;
    if (again || (g->count == 0 && !wanted))
        group_free(st, g);
}

/* What was changed since the last flush is more than the processor's caches hold. */
static void prefetch_pages(const struct page *next)
{
    if (!next)
        return;
    sp_prefetch(next->url);
    sp_prefetch_bytes(next->inline_group, next->inline_bytes);
    if (next->next_dirty)
        sp_prefetch_bytes(next->next_dirty, sizeof *next);
}

static void prefetch_groups(const struct group *next)
{
    for (int depth = 0; next && depth < 4; depth++, next = next->next_dirty) {
        if (depth == 3)
            sp_prefetch_bytes(next, sizeof *next);
        else if (depth == 2)
            sp_prefetch(next->members);
        else if (depth == 1 && next->count)
            sp_prefetch_bytes(next->members[0], sizeof *next->members[0]);
        else if (depth == 0 && next->count)
            sp_prefetch(next->members[0]->url);
    }
}

static void flush_pages(struct sp_group *st)
{
    for (struct page *p = st->dirty_pages, *next; p; p = next) {
        next = p->next_dirty;
        prefetch_pages(next);
        p->dirty = false;
        sp_buf_reset(&st->value);
        page_encode(p, &st->value);
        page_key(st, p->id);
        sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    }
    st->dirty_pages = NULL;
}

static void flush_clock(struct sp_group *st)
{
    if (st->clock == st->stored_clock)
        return;
    sp_store_put(st->store, sp_view("B", 1), sp_view(&st->clock, sizeof st->clock));
    st->stored_clock = st->clock;
}

enum sp_err sp_group_flush(struct sp_group *st, bool drained)
{
    members_release(st);
    for (struct group *g = st->dirty_groups, *next; g && !st->err; g = next) {
        next = g->next_dirty;
        prefetch_groups(next);
        flush_group(st, g, drained);
    }
    st->dirty_groups = NULL;
    if (st->err)
        return st->err;
    flush_pages(st);
    flush_clock(st);
    if (st->own_contents)
        sp_contents_flush(st->own_contents);
    table_evict(st);
    st->page_ages.round++;
    st->group_ages.round++;
    return st->err;
}

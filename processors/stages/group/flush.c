/* Writes the pages and groups that changed since the last flush to the store.
 *
 * A group of only its founder has no row: it is stored inside the founder's page row, so that a
 * page without duplicates costs one small write. A group of few members is stored in its 'G' row,
 * because a scan for rows of members costs as much as many look-ups. In a larger one each member
 * has a row, so that a change of one member writes one row. */
#include "base/mem.h"
#include "base/prefetch.h"
#include "group/debt.h"
#include "group/departures.h"
#include "group/large.h"
#include "group/stored.h"

static bool fits_inline(const struct sp_group *g)
{
    return g->count == 1 && !g->large && g->level == 0 && !g->open_count && !g->parted &&
           sp_id_eq(g->members[0]->page, g->id.founder);
}

/* The founder if the group is, or was, in its row, else NULL. */
static struct sp_page_actor *founder_of(struct sp_group_stage *st, const struct sp_group *g)
{
    return fits_inline(g) || g->inlined ? sp_page_actor_get(st, g->id.founder) : NULL;
}

static void delete_member_row(struct sp_group_stage *st, struct sp_group *g, struct sp_id page)
{
    sp_group_key(st, 'M', g->id);
    sp_buf_put(&st->key, &page, sizeof page);
    sp_store_delete(st->store, sp_buf_view(&st->key));
}

/* Stores the single-member group inside its founder's page row, or removes it from there. */
static void flush_inline(struct sp_group_stage *st, struct sp_group *g,
                         struct sp_page_actor *founder, bool inlined)
{
    if (!founder)
        return;
    struct sp_reader r = sp_reader(sp_view(founder->inline_group, founder->inline_bytes));
    bool mine = founder->inline_bytes && sp_read_varint(&r) == g->id.birth;
    g->inlined = inlined;
    if (!inlined && !mine)
        return; /* another group has taken the place */
    sp_free(founder->inline_group);
    founder->inline_group = NULL;
    founder->inline_bytes = 0;
    if (inlined) {
        sp_buf_reset(&st->value);
        sp_buf_put_varint(&st->value, g->id.birth);
        sp_member_encode(g->members[0], &st->value);
        founder->inline_group = sp_memdup(st->value.data, st->value.len);
        founder->inline_bytes = (uint32_t)st->value.len;
    }
    sp_page_actor_changed(st, founder);
}

static void flush_member(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    sp_buf_reset(&st->value);
    sp_member_encode(m, &st->value);
    sp_group_key(st, 'M', g->id);
    sp_buf_put(&st->key, &m->page, sizeof m->page);
    sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    m->stored = true;
    m->dirty = false;
}

static void flush_row(struct sp_group_stage *st, struct sp_group *g, bool wanted, bool packed)
{
    bool as_before = !packed && !g->packed && g->level == g->stored_level && !g->opens_changed &&
                     !g->told_changed && g->parted == g->stored_parted &&
                     (g->large != NULL) == g->stored_large;
    if (wanted == g->stored && (!wanted || as_before))
        return;
    sp_group_key(st, 'G', g->id);
    if (wanted) {
        sp_buf_reset(&st->value);
        sp_group_encode(g, packed, &st->value);
        sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    } else {
        sp_store_delete(st->store, sp_buf_view(&st->key));
    }
    g->stored = wanted;
    g->packed = packed;
    g->stored_level = g->level;
    g->stored_parted = g->parted;
    g->stored_large = g->large != NULL;
    g->told_changed = false;
    g->opens_changed = false;
}

static void flush_large(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    for (uint32_t i = 0; i < l->dirty.count; i++)
        flush_member(st, g, l->dirty.members[i]);
    l->dirty.count = 0;
}

static uint32_t most_packed(const struct sp_group_stage *st)
{
    uint32_t most = st->options.packed_members;
    return most && most < SP_PACKED_MEMBERS ? most : SP_PACKED_MEMBERS;
}

/* The place in a founder's row is for the group that the page is in. Another one that it founded
 * can have it as a member, too, if a message with it was sent again by somebody else. */
static void flush_group(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_page_actor *founder = founder_of(st, g);
    bool inlined = founder && fits_inline(g) && sp_group_id_eq(founder->group, g->id);
    bool wanted = !inlined && (g->count || g->open_count);
    bool packed = wanted && !g->large && g->count <= most_packed(st);
    bool rows = !inlined && !packed;
    g->dirty = false;
    for (uint32_t i = 0; i < g->gone_count; i++)
        if (!rows || !sp_member_find(g, g->gone[i]))
            delete_member_row(st, g, g->gone[i]);
    g->gone_count = 0;
    flush_inline(st, g, founder, inlined);
    flush_row(st, g, wanted, packed);
    if (g->large)
        flush_large(st, g);
    for (uint32_t i = 0; i < g->count && !g->large; i++) {
        struct sp_member *m = g->members[i];
        if (rows && (m->dirty || !m->stored)) {
            flush_member(st, g, m);
        } else if (!rows) {
            if (m->stored)
                delete_member_row(st, g, m->page);
            m->stored = m->dirty = false;
        }
    }
    /* The founder's row holds the whole group, so it need not stay in memory. */
    bool again = inlined && g->inlined;
    if (again || (g->count == 0 && !wanted))
        sp_group_free(st, g);
}

/* Prefetches, because the changes since the last flush exceed the processor's caches. */
static void prefetch_page(const struct sp_page_actor *p, int step)
{
    if (step == 0) {
        sp_prefetch_bytes(p, sizeof *p);
        return;
    }
    sp_prefetch(p->url);
    sp_prefetch(p->winner_url);
    sp_prefetch_bytes(p->inline_group, p->inline_bytes);
}

static void prefetch_pages(const struct sp_page_actor *next)
{
    const struct sp_page_actor *second = next ? next->next_dirty : NULL;
    const struct sp_page_actor *third = second ? second->next_dirty : NULL;
    if (second)
        prefetch_page(second, 1);
    if (third)
        prefetch_page(third, 0);
}

static uint32_t few_members(const struct sp_group *g)
{
    return g->large ? 0 : g->count < SP_PACKED_MEMBERS ? g->count : SP_PACKED_MEMBERS;
}

/* What a flush of the group reads, in steps that follow one more pointer each. Each group comes a
 * step further with each group that is flushed before it. */
static void prefetch_group(const struct sp_group_stage *st, const struct sp_group *g, int step)
{
    uint32_t few = step > 0 ? few_members(g) : 0;
    if (step == 0) {
        sp_prefetch_bytes(g, sizeof *g);
    } else if (step == 1) {
        sp_prefetch_bytes(g->members, few * sizeof *g->members);
        sp_map_prefetch(&st->groups, g->key);
        sp_map_prefetch(&st->pages, g->id.founder);
    } else if (step == 2) {
        for (uint32_t i = 0; i < few; i++)
            sp_prefetch_bytes(g->members[i], sizeof *g->members[i]);
        sp_prefetch_bytes(sp_map_guess(&st->pages, g->id.founder), sizeof(struct sp_page_actor));
    } else {
        for (uint32_t i = 0; i < few; i++)
            sp_prefetch(g->members[i]->url);
        if (few == 1)
            sp_prefetch(g->members[0]->signature);
    }
}

static void prefetch_groups(const struct sp_group_stage *st, const struct sp_group *next)
{
    for (int step = 3; next && step >= 0; step--, next = next->next_dirty)
        prefetch_group(st, next, step);
}

static void flush_pages(struct sp_group_stage *st)
{
    for (struct sp_page_actor *p = st->dirty_pages, *next; p; p = next) {
        next = p->next_dirty;
        prefetch_pages(next);
        p->dirty = false;
        sp_page_actor_key(st, p->id);
        if (p->gone) {
            sp_store_delete(st->store, sp_buf_view(&st->key));
            sp_page_actor_evict(st, p);
            continue;
        }
        sp_buf_reset(&st->value);
        sp_page_actor_encode(p, &st->value);
        sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    }
    st->dirty_pages = NULL;
}

static void flush_head(struct sp_group_stage *st)
{
    struct sp_group_stage_head head = {st->clock, st->debt_paid, st->epochs};
    if (memcmp(&head, &st->stored_head, sizeof head) == 0)
        return;
    sp_store_put(st->store, sp_view("B", 1), sp_view(&head, sizeof head));
    st->stored_head = head;
}

enum sp_err sp_group_stage_flush(struct sp_group_stage *st)
{
    sp_group_stage_release(st);
    for (struct sp_group *g = st->dirty_groups, *next; g && !st->err; g = next) {
        next = g->next_dirty;
        prefetch_groups(st, next);
        flush_group(st, g);
    }
    st->dirty_groups = NULL;
    if (st->err)
        return st->err;
    flush_pages(st);
    sp_debts_flush(st);
    sp_departures_flush(st);
    flush_head(st);
    if (st->own_contents)
        sp_contents_flush(st->own_contents);
    sp_group_stage_evict(st);
    st->page_ages.round++;
    st->group_ages.round++;
    st->large_ages.round++;
    return st->err;
}

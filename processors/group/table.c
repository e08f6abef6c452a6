/* Pages and groups between memory and the store. Both are read when first needed, kept in
 * hash tables, written at the flush where they changed (flush.c), and dropped after the flush: the
 * oldest first, but for those that were used since they were last looked at (a clock). To mark one
 * as used touches no other, as moving it in a list would. */
#include "base/mem.h"
#include "base/prefetch.h"
#include "group/internal.h"

static const size_t PAGE_BYTES = sizeof(struct page) + 160;
static const size_t GROUP_BYTES = sizeof(struct group) + 64;

/* ---- pages --------------------------------------------------------------------------------- */

void page_key(struct sp_group *st, struct sp_id id)
{
    sp_buf_reset(&st->key);
    sp_buf_put_u8(&st->key, 'P');
    sp_buf_put(&st->key, &id, sizeof id);
}

void page_free(struct page *p)
{
    if (!p)
        return;
    sp_signature_unref(p->pending);
    sp_free(p->url);
    sp_free(p->target_url);
    sp_free(p->winner_url);
    sp_free(p->inline_group);
    sp_free(p);
}

static void page_enter(struct sp_group *st, struct page *p)
{
    sp_map_add(&st->pages, p);
    sp_ages_enter(&st->page_ages, &p->age);
    st->page_bytes += PAGE_BYTES;
}

struct page *page_get(struct sp_group *st, struct sp_id id)
{
    struct page *p = sp_map_get(&st->pages, id);
    if (p) {
        sp_ages_use(&st->page_ages, &p->age);
        return p;
    }
    struct sp_view value;
    page_key(st, id);
    enum sp_err err = sp_store_get(st->store, sp_buf_view(&st->key), &value);
    if (err == SP_NOT_FOUND)
        return NULL;
    p = sp_calloc(1, sizeof *p);
    p->id = id;
    if (err == SP_OK)
        err = page_decode(value, p);
    if (err != SP_OK) {
        st->err = err;
        page_free(p);
        return NULL;
    }
    page_enter(st, p);
    return p;
}

void page_expect(struct sp_group *st, struct sp_id id)
{
    const struct page *p = sp_map_get(&st->pages, id);
    if (!p) {
        page_key(st, id);
        sp_store_expect(st->store, sp_buf_view(&st->key));
    } else if (p->kind == SP_PAGE_CONTENT) {
        sp_contents_expect_change(st->contents, p->content); /* its group may drop it */
    }
}

struct page *page_make(struct sp_group *st, struct sp_id id, const char *url)
{
    struct page *p = sp_calloc(1, sizeof *p);
    p->id = id;
    p->url = sp_strdup(url);
    page_enter(st, p);
    page_changed(st, p);
    st->stats.pages++;
    return p;
}

void page_changed(struct sp_group *st, struct page *p)
{
    if (p->dirty)
        return;
    p->dirty = true;
    p->next_dirty = st->dirty_pages;
    st->dirty_pages = p;
}

/* ---- groups -------------------------------------------------------------------------------- */

static struct sp_id table_key(struct sp_group_id id)
{
    return sp_hash128(&id, sizeof id);
}

void group_key(struct sp_group *st, char kind, struct sp_group_id id)
{
    sp_buf_reset(&st->key);
    sp_buf_put_u8(&st->key, (uint8_t)kind);
    sp_buf_put_u64(&st->key, id.birth);
    sp_buf_put(&st->key, &id.founder, sizeof id.founder);
}

void group_changed(struct sp_group *st, struct group *g)
{
    if (g->dirty)
        return;
    g->dirty = true;
    g->next_dirty = st->dirty_groups;
    st->dirty_groups = g;
}

void group_free(struct sp_group *st, struct group *g)
{
    if (sp_map_remove(&st->groups, g->key) == g) {
        sp_ages_leave(&g->age);
        st->group_bytes -= GROUP_BYTES;
    }
    st->group_bytes -= g->count * (size_t)SP_MEMBER_BYTES;
    for (uint32_t i = 0; i < g->count; i++)
        member_free(g->members[i]);
    sp_free(g->members);
    sp_free(g->empty);
    sp_free(g->winners);
    sp_free(g->touched);
    sp_free(g->gone);
    sp_free(g);
}

struct loading {
    struct sp_group *st;
    struct group *g;
    struct sp_id *parents;
    uint32_t cap;
};

/* Takes the member, read with that result. */
static bool take_member(struct loading *l, struct member *m, struct sp_id parent, enum sp_err err)
{
    if (err == SP_OK && member_find(l->g, m->page))
        err = SP_CORRUPT;
    if (err != SP_OK) {
        l->st->err = err;
        member_free(m);
        return false;
    }
    if (l->g->count >= l->cap) {
        l->cap = l->cap ? l->cap * 2 : 4;
        l->parents = sp_realloc(l->parents, l->cap * sizeof *l->parents);
    }
    /* Keys come in byte order, members are kept in number order: carry the parent in the mark. */
    m->mark = l->g->count;
    l->parents[l->g->count] = parent;
    member_insert(l->st, l->g, m);
    return true;
}

static bool load_member(void *arg, struct sp_view key, struct sp_view value)
{
    struct member *m = sp_calloc(1, sizeof *m);
    struct sp_id parent = {0, 0};
    enum sp_err err = member_decode(key, value, m, &parent);
    m->stored = true;
    return take_member(arg, m, parent, err);
}

static bool resolve_members(struct loading *l)
{
    struct group *g = l->g;
    for (uint32_t i = 0; i < g->count; i++) {
        struct member *m = g->members[i];
        struct sp_id parent = l->parents[m->mark];
        if (!sp_id_is_zero(parent) && !(m->parent = member_find(g, parent)))
            return false;
        if (m->kind != SP_PAGE_CONTENT)
            continue;
        bool loser = m->said_status == SP_STATUS_LOSER;
        m->winner = loser ? member_find(g, m->said_winner) : m;
        if (!m->winner)
            return false;
        if (!loser)
            cover_restore_winner(l->st, g, m);
    }
    g->said_count = g->count;
    return true;
}

static void load_members(struct sp_group *st, struct group *g)
{
    struct loading l = {st, g, NULL, 0};
    group_key(st, 'M', g->id);
    enum sp_err err =
        sp_store_scan(st->store, sp_buf_view(&st->key), sp_view(NULL, 0), load_member, &l);
    if (err != SP_OK)
        st->err = err;
    else if (st->err == SP_OK && !resolve_members(&l))
        st->err = SP_CORRUPT;
    sp_free(l.parents);
}

static void load_packed(struct sp_group *st, struct group *g, struct sp_reader *r)
{
    struct loading l = {st, g, NULL, 0};
    g->packed = true;
    while (sp_reader_left(r) && !st->err) {
        struct member *m = sp_calloc(1, sizeof *m);
        struct sp_id parent = {0, 0};
        enum sp_err err = packed_member_read(r, m, &parent);
        take_member(&l, m, parent, err);
    }
    if (st->err == SP_OK && !resolve_members(&l))
        st->err = SP_CORRUPT;
    sp_free(l.parents);
}

/* Whether it lies inside its founder's row. */
static bool load_inline(struct sp_group *st, struct group *g, const struct page *founder)
{
    struct loading l = {st, g, NULL, 0};
    if (!founder || !founder->inline_bytes)
        return false;
    struct sp_reader r = sp_reader(sp_view(founder->inline_group, founder->inline_bytes));
    if (sp_read_varint(&r) != g->id.birth)
        return false;
    load_member(&l, sp_view(&founder->id, sizeof founder->id), sp_view(r.at, sp_reader_left(&r)));
    if (st->err == SP_OK && !resolve_members(&l))
        st->err = SP_CORRUPT;
    if (st->err == SP_OK)
        g->members[0]->stored = false;
    g->inlined = true;
    sp_free(l.parents);
    return true;
}

/* The group's row; SP_NOT_FOUND where it has none. */
static enum sp_err load_row(struct sp_group *st, struct group *g)
{
    struct sp_view value;
    group_key(st, 'G', g->id);
    enum sp_err err = sp_store_get(st->store, sp_buf_view(&st->key), &value);
    if (err != SP_OK)
        return err;
    struct sp_reader r = sp_reader(value);
    err = group_decode(&r, &g->forward);
    g->stored = true;
    if (err == SP_OK && sp_reader_left(&r))
        load_packed(st, g, &r);
    else if (err == SP_OK && !g->forward.birth)
        load_members(st, g);
    return err;
}

/* A founder that is in memory is asked first, else the store for a row of the group's own: most
 * often that saves one of two look-ups. */
static void group_load(struct sp_group *st, struct group *g)
{
    const struct page *founder = sp_map_get(&st->pages, g->id.founder);
    if (load_inline(st, g, founder))
        return;
    enum sp_err err = load_row(st, g);
    if (err == SP_NOT_FOUND) {
        if (!founder)
            founder = page_get(st, g->id.founder);
        load_inline(st, g, founder);
    } else if (err != SP_OK)
        st->err = err;
}

static struct group *group_new(struct sp_id key, struct sp_group_id id)
{
    struct group *g = sp_calloc(1, sizeof *g);
    g->key = key;
    g->id = id;
    return g;
}

static void group_enter(struct sp_group *st, struct group *g)
{
    sp_map_add(&st->groups, g);
    sp_ages_enter(&st->group_ages, &g->age);
    st->group_bytes += GROUP_BYTES;
}

struct group *group_make(struct sp_group *st, struct sp_group_id id)
{
    struct group *g = group_new(table_key(id), id);
    group_enter(st, g);
    return g;
}

struct group *group_get(struct sp_group *st, struct sp_group_id id)
{
    struct sp_id key = table_key(id);
    struct group *g = sp_map_get(&st->groups, key);
    if (g) {
        sp_ages_use(&st->group_ages, &g->age);
        return g;
    }
    g = group_new(key, id);
    group_load(st, g);
    group_enter(st, g);
    if (st->err) {
        group_free(st, g);
        return NULL;
    }
    return g;
}

/* ---- out of memory again ---- */

/* The walks below go from the oldest to the youngest. Each object is far from the one before it,
 * and what it points to is far again: so the next ones are fetched meanwhile, a pointer further
 * each time. */
static void prefetch_pages(const struct sp_group *st, const struct sp_age *age)
{
    if (!(age = sp_ages_younger(&st->page_ages, age)))
        return;
    sp_map_prefetch(&st->pages, SP_LRU_OBJECT(age, struct page, age)->id);
    if ((age = sp_ages_younger(&st->page_ages, age)))
        sp_prefetch_bytes(SP_LRU_OBJECT(age, struct page, age), sizeof(struct page));
}

static void prefetch_groups(const struct sp_group *st, const struct sp_age *age)
{
    enum { DEPTH = 3 };
    for (int depth = 0; depth <= DEPTH && (age = sp_ages_younger(&st->group_ages, age)); depth++) {
        const struct group *g = SP_LRU_OBJECT(age, struct group, age);
        if (depth == DEPTH)
            sp_prefetch_bytes(g, sizeof *g);
        else if (depth == 2)
            sp_prefetch(g->members);
        else if (depth == 1 && g->count)
            sp_prefetch_bytes(g->members[0], sizeof *g->members[0]);
        else if (depth == 0)
            sp_map_prefetch(&st->groups, g->key);
    }
}

static void evict_pages(struct sp_group *st, size_t budget)
{
    struct sp_age *oldest;
    while (st->page_bytes > budget && (oldest = sp_ages_oldest(&st->page_ages))) {
        prefetch_pages(st, oldest);
        if (sp_ages_spare(&st->page_ages, oldest))
            continue;
        struct page *p = SP_LRU_OBJECT(oldest, struct page, age);
        sp_map_remove(&st->pages, p->id);
        sp_ages_leave(oldest);
        st->page_bytes -= PAGE_BYTES;
        page_free(p);
    }
}

static void evict_groups(struct sp_group *st, size_t budget)
{
    struct sp_age *oldest;
    while (st->group_bytes > budget && (oldest = sp_ages_oldest(&st->group_ages))) {
        prefetch_groups(st, oldest);
        if (!sp_ages_spare(&st->group_ages, oldest))
            group_free(st, SP_LRU_OBJECT(oldest, struct group, age));
    }
}

/* A third for groups: most of them are of one page, and those are not kept. */
void table_evict(struct sp_group *st)
{
    evict_groups(st, st->cache_bytes / 3);
    evict_pages(st, st->cache_bytes - st->cache_bytes / 3);
}

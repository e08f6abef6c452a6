/* The cache of pages and groups. Both are read when first needed, kept in hash tables, written at
 * the flush if they changed (flush.c), and then evicted (evict.c). */
#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"
#include "group/stored.h"

static const size_t PAGE_BYTES = sizeof(struct sp_page_actor) + 160;
static const size_t GROUP_BYTES = sizeof(struct sp_group) + 64;

/* ---- pages ---- */

static void page_done(struct sp_page_actor *p)
{
    sp_signature_unref(p->pending);
    sp_free(p->url);
    sp_free(p->target_url);
    sp_free(p->winner_url);
    sp_free(p->contained_in);
    sp_free(p->inline_group);
}

void sp_page_actor_free(struct sp_page_actor *p)
{
    if (!p)
        return;
    page_done(p);
    sp_free(p);
}

/* Keeps its identity, so that it remains in the table and in the list of the flush. */
static void page_clear(struct sp_page_actor *p)
{
    page_done(p);
    *p = (struct sp_page_actor){
        .id = p->id, .age = p->age, .dirty = p->dirty, .next_dirty = p->next_dirty};
}

void sp_page_actor_drop(struct sp_group_stage *st, struct sp_page_actor *p)
{
    if (p->epoch > st->epochs)
        st->epochs = p->epoch;
    sp_page_actor_changed(st, p);
    page_clear(p);
    p->gone = true;
}

void sp_page_actor_evict(struct sp_group_stage *st, struct sp_page_actor *p)
{
    sp_map_remove(&st->pages, p->id);
    sp_ages_leave(&p->age);
    st->page_bytes -= PAGE_BYTES;
    sp_page_actor_free(p);
}

static void page_enter(struct sp_group_stage *st, struct sp_page_actor *p)
{
    sp_map_add(&st->pages, p);
    sp_ages_enter(&st->page_ages, &p->age);
    st->page_bytes += PAGE_BYTES;
}

struct sp_page_actor *sp_page_actor_get(struct sp_group_stage *st, struct sp_id id)
{
    struct sp_page_actor *p = sp_map_get(&st->pages, id);
    if (p) {
        sp_ages_use(&st->page_ages, &p->age);
        return p->gone ? NULL : p;
    }
    struct sp_view value;
    sp_page_actor_key(st, id);
    enum sp_err err = sp_store_get(st->store, sp_buf_view(&st->key), &value);
    if (err == SP_NOT_FOUND)
        return NULL;
    p = sp_calloc(1, sizeof *p);
    p->id = id;
    if (err == SP_OK)
        err = sp_page_actor_decode(value, p);
    if (err != SP_OK) {
        st->err = err;
        sp_page_actor_free(p);
        return NULL;
    }
    page_enter(st, p);
    return p;
}

struct sp_page_actor *sp_page_actor_make(struct sp_group_stage *st, struct sp_id id,
                                         const char *url)
{
    struct sp_page_actor *p = sp_map_get(&st->pages, id);
    if (p) { /* gone, and not flushed yet */
        page_clear(p);
    } else {
        p = sp_calloc(1, sizeof *p);
        p->id = id;
        page_enter(st, p);
    }
    p->url = sp_strdup(url);
    sp_page_actor_changed(st, p);
    st->stats.pages++;
    return p;
}

/* ---- groups ---- */

struct sp_id sp_group_table_key(struct sp_group_id id)
{
    return sp_hash128(&id, sizeof id);
}

void sp_group_free(struct sp_group_stage *st, struct sp_group *g)
{
    if (g->large)
        sp_large_free(st, g);
    if (sp_map_remove(&st->groups, g->key) == g) {
        sp_ages_leave(&g->age);
        st->group_bytes -= GROUP_BYTES;
    }
    st->group_bytes -= g->count * (size_t)SP_MEMBER_BYTES;
    for (uint32_t i = 0; i < g->count; i++)
        sp_member_free(g->members[i]);
    sp_free(g->members);
    sp_free(g->empty);
    sp_free(g->winners);
    sp_free(g->touched);
    sp_free(g->gone);
    sp_free(g->opens);
    sp_patterns_drop(g);
    sp_free(g);
}

/* Members in the order of their rows, with their parents. */
struct loading {
    struct sp_group_stage *st;
    struct sp_group *g;
    struct sp_id *parents; /* of the member whose `mark` is the index */
    uint32_t cap;
};

/* Appends the member, which was read with the result `err`, to the list, which is sorted at the
 * end. */
static bool take_member(struct loading *l, struct sp_member *m, struct sp_id parent,
                        enum sp_err err)
{
    struct sp_group *g = l->g;
    if (err != SP_OK) {
        l->st->err = err;
        sp_member_free(m);
        return false;
    }
    sp_grow(&l->parents, &l->cap, g->count + 1);
    sp_grow(&g->members, &g->cap, g->count + 1);
    SP_ASSERT(l->parents && g->members);
    m->mark = g->count;
    l->parents[g->count] = parent;
    g->members[g->count++] = m;
    l->st->group_bytes += SP_MEMBER_BYTES;
    return true;
}

static bool load_member(void *arg, struct sp_view key, struct sp_view value)
{
    struct loading *l = arg;
    struct sp_member *m = sp_calloc(1, sizeof *m);
    struct sp_id parent = {0, 0};
    struct sp_view pattern = {NULL, 0};
    enum sp_err err = sp_member_decode(key, value, m, &parent, &pattern);
    m->stored = true;
    if (err == SP_OK && pattern.len)
        sp_patterns_keep(l->g, m->content, pattern);
    return take_member(l, m, parent, err);
}

/* Checks the invariant of forest.c that following parents ends at a root: no walk meets itself.
 * Each member is passed once. */
static bool parents_end(const struct sp_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        g->members[i]->mark = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *m = g->members[i];
        for (; m && m->mark == 0; m = m->parent)
            m->mark = i + 1;
        if (m && m->mark == i + 1)
            return false;
    }
    return true;
}

/* `last`: the one found before; most losers of a large group name the same winner. */
static struct sp_member *find_winner(const struct sp_group *g, struct sp_id page,
                                     struct sp_member *last)
{
    return last && sp_id_eq(last->page, page) ? last : sp_member_find(g, page);
}

static bool resolve_members(struct loading *l)
{
    struct sp_group *g = l->g;
    struct sp_member *winner = NULL;
    if (!sp_members_sort(g))
        return false;
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *m = g->members[i];
        struct sp_id parent = l->parents[m->mark];
        if (!sp_id_is_zero(parent) && !(m->parent = sp_member_find(g, parent)))
            return false;
        if (m->kind != SP_PAGE_CONTENT ||
            sp_round_runs(g)) /* what it was told may be out of date */
            continue;
        bool loser = m->said_status == SP_STATUS_LOSER;
        m->winner = loser ? find_winner(g, m->said_winner, winner) : m;
        if (!m->winner)
            return false;
        winner = m->winner;
        if (!loser)
            sp_group_cover_restore_winner(l->st, g, m);
    }
    g->said_count = g->count;
    return parents_end(g);
}

static void load_members(struct sp_group_stage *st, struct sp_group *g)
{
    struct loading l = {st, g, NULL, 0};
    sp_group_key(st, 'M', g->id);
    enum sp_err err =
        sp_store_scan(st->store, sp_buf_view(&st->key), sp_view(NULL, 0), load_member, &l);
    if (err != SP_OK)
        st->err = err;
    else if (st->err == SP_OK && !resolve_members(&l))
        st->err = SP_CORRUPT;
    sp_free(l.parents);
}

static void load_packed(struct sp_group_stage *st, struct sp_group *g, struct sp_reader *r)
{
    struct loading l = {st, g, NULL, 0};
    g->packed = true;
    while (sp_reader_left(r) && !st->err) {
        struct sp_member *m = sp_calloc(1, sizeof *m);
        struct sp_id parent = {0, 0};
        enum sp_err err = sp_member_read_packed(r, m, &parent);
        take_member(&l, m, parent, err);
    }
    if (st->err == SP_OK && !resolve_members(&l))
        st->err = SP_CORRUPT;
    sp_free(l.parents);
}

/* Loads the group from its founder's row; false if it is not there. */
static bool load_inline(struct sp_group_stage *st, struct sp_group *g,
                        const struct sp_page_actor *founder)
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
    g->told_least = g->told_most = 1;
    sp_free(l.parents);
    return true;
}

/* Loads the group's row; SP_NOT_FOUND if it has none. */
static enum sp_err load_row(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_view value;
    sp_group_key(st, 'G', g->id);
    enum sp_err err = sp_store_get(st->store, sp_buf_view(&st->key), &value);
    if (err != SP_OK)
        return err;
    struct sp_reader r = sp_reader(value);
    err = sp_group_decode(&r, g);
    g->stored = true;
    if (err == SP_OK && sp_reader_left(&r))
        load_packed(st, g, &r);
    else if (err == SP_OK)
        load_members(st, g);
    return err;
}

/* Looks at a founder that is in memory first, otherwise at the group's own row: usually that saves
 * one of two look-ups. */
static void group_load(struct sp_group_stage *st, struct sp_group *g)
{
    const struct sp_page_actor *founder = sp_map_get(&st->pages, g->id.founder);
    if (load_inline(st, g, founder))
        return;
    enum sp_err err = load_row(st, g);
    if (err == SP_NOT_FOUND) {
        if (!founder)
            founder = sp_page_actor_get(st, g->id.founder);
        load_inline(st, g, founder);
    } else if (err != SP_OK)
        st->err = err;
}

static struct sp_group *group_new(struct sp_group_stage *st, struct sp_id key,
                                  struct sp_group_id id)
{
    struct sp_group *g = sp_calloc(1, sizeof *g);
    g->key = key;
    g->id = id;
    g->debt = sp_debt_find(st, id);
    return g;
}

static void group_enter(struct sp_group_stage *st, struct sp_group *g)
{
    sp_map_add(&st->groups, g);
    sp_ages_enter(&st->group_ages, &g->age);
    st->group_bytes += GROUP_BYTES;
}

struct sp_group *sp_group_make(struct sp_group_stage *st, struct sp_group_id id)
{
    struct sp_group *g = group_new(st, sp_group_table_key(id), id);
    group_enter(st, g);
    return g;
}

/* A large group has no forest of members. If a group was large and is now small, its forest is
 * built again. */
static void refit(struct sp_group_stage *st, struct sp_group *g)
{
    uint32_t roots = 0;
    sp_group_fit(st, g);
    for (uint32_t i = 0; i < g->count && !g->large; i++)
        roots += !g->members[i]->parent;
    if (roots > 1 && !g->open_count && sp_group_checks_departures(st))
        sp_group_forest_mend(st, g);
}

struct sp_group *sp_group_get(struct sp_group_stage *st, struct sp_group_id id)
{
    struct sp_id key = sp_group_table_key(id);
    struct sp_group *g = sp_map_get(&st->groups, key);
    if (g) {
        if (g->large)
            sp_large_use(st, g);
        else
            sp_ages_use(&st->group_ages, &g->age);
        return g;
    }
    g = group_new(st, key, id);
    group_load(st, g);
    group_enter(st, g);
    if (!st->err)
        refit(st, g);
    if (st->err) {
        sp_group_free(st, g);
        return NULL;
    }
    return g;
}

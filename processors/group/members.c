/* The members of a group: a list sorted by page id, so that look-ups are binary searches and every
 * walk over a group has one order, whatever its history; and those without content again, sorted by
 * what they redirect to, so that a page's redirects are found among any number of others. */
#include "base/mem.h"
#include "group/internal.h"

static uint32_t place_in(struct member *const *list, uint32_t count, struct sp_id page)
{
    uint32_t lo = 0, hi = count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (sp_id_cmp(list[mid]->page, page) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* By target, then by page. */
static uint32_t place_in_empty(const struct group *g, struct sp_id target, struct sp_id page)
{
    uint32_t lo = 0, hi = g->empty_count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        int order = sp_id_cmp(g->empty[mid]->target, target);
        if (order < 0 || (order == 0 && sp_id_cmp(g->empty[mid]->page, page) < 0))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void list_insert(struct member ***list, uint32_t *count, uint32_t *cap, uint32_t at,
                        struct member *m)
{
    if (*count == *cap) {
        *cap = *cap ? *cap * 2 : 1;
        *list = sp_realloc(*list, *cap * sizeof(struct member *));
    }
    memmove(*list + at + 1, *list + at, (*count - at) * sizeof(struct member *));
    (*list)[at] = m;
    ++*count;
}

static void list_remove(struct member **list, uint32_t *count, uint32_t at, const struct member *m)
{
    SP_ASSERT(at < *count && list[at] == m);
    --*count;
    memmove(list + at, list + at + 1, (*count - at) * sizeof(struct member *));
}

struct member *member_find(const struct group *g, struct sp_id page)
{
    uint32_t at = place_in(g->members, g->count, page);
    return at < g->count && sp_id_eq(g->members[at]->page, page) ? g->members[at] : NULL;
}

static void enter_empty(struct group *g, struct member *m)
{
    if (m->kind != SP_PAGE_CONTENT)
        list_insert(&g->empty, &g->empty_count, &g->empty_cap,
                    place_in_empty(g, m->target, m->page), m);
}

static void leave_empty(struct group *g, const struct member *m)
{
    if (m->kind != SP_PAGE_CONTENT)
        list_remove(g->empty, &g->empty_count, place_in_empty(g, m->target, m->page), m);
}

struct member *const *member_redirects(const struct group *g, struct sp_id page,
                                       uint32_t *ret_count)
{
    uint32_t first = place_in_empty(g, page, (struct sp_id){0, 0}), end = first;
    while (end < g->empty_count && sp_id_eq(g->empty[end]->target, page))
        end++;
    *ret_count = end - first;
    return g->empty + first;
}

void member_insert(struct sp_group *st, struct group *g, struct member *m)
{
    uint32_t at = place_in(g->members, g->count, m->page);
    SP_ASSERT(at == g->count || !sp_id_eq(g->members[at]->page, m->page));
    list_insert(&g->members, &g->count, &g->cap, at, m);
    enter_empty(g, m);
    st->group_bytes += SP_MEMBER_BYTES;
}

void member_remove(struct sp_group *st, struct group *g, struct member *m)
{
    list_remove(g->members, &g->count, place_in(g->members, g->count, m->page), m);
    leave_empty(g, m);
    st->group_bytes -= SP_MEMBER_BYTES;
}

void member_free(struct member *m)
{
    sp_signature_unref(m->signature);
    sp_free(m->url);
    sp_free(m);
}

void member_set_kind(struct group *g, struct member *m, enum sp_page_kind kind, struct sp_id target)
{
    leave_empty(g, m);
    m->kind = kind;
    m->target = target;
    enter_empty(g, m);
}

void member_changed(struct sp_group *st, struct group *g, struct member *m)
{
    m->dirty = true;
    group_changed(st, g);
}

static void note_holder(struct sp_group *st, struct group *g)
{
    if (g->holder)
        return;
    g->holder = true;
    if (st->holder_count == st->holder_cap) {
        st->holder_cap = st->holder_cap ? st->holder_cap * 2 : 64;
        st->holders = sp_realloc(st->holders, st->holder_cap * sizeof *st->holders);
    }
    st->holders[st->holder_count++] = g;
}

void content_hold(struct sp_group *st, struct sp_signature *signature)
{
    enum sp_err err = sp_contents_hold(st->contents, signature);
    st->err = st->err ? st->err : err;
}

void content_drop(struct sp_group *st, struct sp_id content)
{
    enum sp_err err = sp_contents_drop(st->contents, content);
    st->err = st->err ? st->err : err;
}

struct sp_signature *member_signature(struct sp_group *st, struct group *g, struct member *m)
{
    struct sp_signature *s;
    if (m->signature || m->kind != SP_PAGE_CONTENT)
        return m->signature;
    enum sp_err err = sp_contents_get(st->contents, m->content, &s);
    if (err != SP_OK) {
        st->err = st->err ? st->err : err;
        return NULL;
    }
    m->signature = sp_signature_ref(s);
    note_holder(st, g);
    return s;
}

void members_release(struct sp_group *st)
{
    for (uint32_t i = 0; i < st->holder_count; i++) {
        struct group *g = st->holders[i];
        g->holder = false;
        for (uint32_t k = 0; k < g->count; k++) {
            sp_signature_unref(g->members[k]->signature);
            g->members[k]->signature = NULL;
        }
    }
    st->holder_count = 0;
}

bool members_similar(struct sp_group *st, struct group *g, struct member *a, struct member *b,
                     double *ret_similarity)
{
    if (a->kind != SP_PAGE_CONTENT || b->kind != SP_PAGE_CONTENT)
        return false;
    st->stats.compared++;
    struct sp_signature *x = member_signature(st, g, a), *y = member_signature(st, g, b);
    return x && y && sp_similar(&st->options.similarity, x, y, ret_similarity);
}

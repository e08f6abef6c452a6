/* The members of a group: a list sorted by page id, so that look-ups are binary searches and every
 * walk over a group has one order, whatever its history. */
#include "base/mem.h"
#include "group/internal.h"

static uint32_t place_of(const struct group *g, struct sp_id page)
{
    uint32_t lo = 0, hi = g->count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (sp_id_cmp(g->members[mid]->page, page) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct member *member_find(const struct group *g, struct sp_id page)
{
    uint32_t at = place_of(g, page);
    return at < g->count && sp_id_eq(g->members[at]->page, page) ? g->members[at] : NULL;
}

void member_insert(struct sp_group *st, struct group *g, struct member *m)
{
    uint32_t at = place_of(g, m->page);
    SP_ASSERT(at == g->count || !sp_id_eq(g->members[at]->page, m->page));
    if (g->count == g->cap) {
        g->cap = g->cap ? g->cap * 2 : 1;
        g->members = sp_realloc(g->members, g->cap * sizeof *g->members);
    }
    memmove(g->members + at + 1, g->members + at, (g->count - at) * sizeof *g->members);
    g->members[at] = m;
    g->count++;
    g->redirects += m->kind != SP_PAGE_CONTENT;
    st->group_bytes += SP_MEMBER_BYTES;
}

void member_remove(struct sp_group *st, struct group *g, struct member *m)
{
    uint32_t at = place_of(g, m->page);
    SP_ASSERT(at < g->count && g->members[at] == m);
    g->count--;
    memmove(g->members + at, g->members + at + 1, (g->count - at) * sizeof *g->members);
    g->redirects -= m->kind != SP_PAGE_CONTENT;
    st->group_bytes -= SP_MEMBER_BYTES;
}

void member_free(struct member *m)
{
    sp_signature_unref(m->signature);
    sp_free(m->url);
    sp_free(m);
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

struct sp_signature *member_signature(struct sp_group *st, struct group *g, struct member *m)
{
    if (!m->signature && m->kind == SP_PAGE_CONTENT) {
        struct sp_signature *s = signature_get(st, m->content);
        if (s) {
            m->signature = sp_signature_ref(s);
            note_holder(st, g);
        }
    }
    return m->signature;
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

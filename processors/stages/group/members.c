/* The members of a group: a list sorted by page id, so that look-ups are binary searches and the
 * order of a walk does not depend on history. Members without content are also in a list sorted by
 * target, which finds the redirects to a page. */
#include <stdlib.h>

#include "base/mem.h"
#include "group/large.h"
#include "group/stored.h"

static uint32_t place_in(struct sp_member *const *list, uint32_t count, struct sp_id page)
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
static uint32_t place_in_empty(const struct sp_group *g, struct sp_id target, struct sp_id page)
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

static void list_insert(struct sp_member ***list, uint32_t *count, uint32_t *cap, uint32_t at,
                        struct sp_member *m)
{
    sp_grow(list, cap, *count + 1);
    memmove(*list + at + 1, *list + at, (*count - at) * sizeof(struct sp_member *));
    (*list)[at] = m;
    ++*count;
}

static void list_remove(struct sp_member **list, uint32_t *count, uint32_t at,
                        const struct sp_member *m)
{
    SP_ASSERT(at < *count && list[at] == m);
    --*count;
    memmove(list + at, list + at + 1, (*count - at) * sizeof(struct sp_member *));
}

struct sp_member *sp_member_find(const struct sp_group *g, struct sp_id page)
{
    if (g->large)
        return sp_large_find(g, page);
    uint32_t at = place_in(g->members, g->count, page);
    return at < g->count && sp_id_eq(g->members[at]->page, page) ? g->members[at] : NULL;
}

static void enter_empty(struct sp_group *g, struct sp_member *m)
{
    if (m->kind != SP_PAGE_CONTENT)
        list_insert(&g->empty, &g->empty_count, &g->empty_cap,
                    place_in_empty(g, m->target, m->page), m);
}

static void leave_empty(struct sp_group *g, const struct sp_member *m)
{
    if (m->kind != SP_PAGE_CONTENT)
        list_remove(g->empty, &g->empty_count, place_in_empty(g, m->target, m->page), m);
}

struct sp_member *const *sp_member_redirects(const struct sp_group *g, struct sp_id page,
                                             uint32_t *ret_count)
{
    uint32_t first = place_in_empty(g, page, (struct sp_id){0, 0}), end = first;
    while (end < g->empty_count && sp_id_eq(g->empty[end]->target, page))
        end++;
    *ret_count = end - first;
    return g->empty ? g->empty + first : NULL;
}

static int by_target(const void *a, const void *b)
{
    const struct sp_member *x = *(struct sp_member *const *)a, *y = *(struct sp_member *const *)b;
    int order = sp_id_cmp(x->target, y->target);
    return order ? order : sp_id_cmp(x->page, y->page);
}

bool sp_members_sort(struct sp_group *g)
{
    if (g->count) /* a damaged row may name none, and NULL must not be sorted */
        qsort(g->members, g->count, sizeof *g->members, sp_member_by_page);
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *m = g->members[i];
        if (i > 0 && sp_id_eq(m->page, g->members[i - 1]->page))
            return false;
        if (m->kind == SP_PAGE_CONTENT)
            continue;
        sp_grow(&g->empty, &g->empty_cap, g->empty_count + 1);
        g->empty[g->empty_count++] = m;
    }
    if (g->empty_count)
        qsort(g->empty, g->empty_count, sizeof *g->empty, by_target);
    return true;
}

static void note_level(struct sp_group *g)
{
    if (g->count >> g->level > 1)
        g->level++;
}

void sp_member_insert(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    if (g->large) {
        sp_large_insert(st, g, m);
        note_level(g);
        return;
    }
    uint32_t at = place_in(g->members, g->count, m->page);
    SP_ASSERT(at == g->count || !sp_id_eq(g->members[at]->page, m->page));
    list_insert(&g->members, &g->count, &g->cap, at, m);
    enter_empty(g, m);
    note_level(g);
    st->group_bytes += SP_MEMBER_BYTES;
}

/* The number of those in the sorted list that come before m. */
static uint32_t place_by(struct sp_member *const *list, uint32_t count, struct sp_member *m,
                         int (*order)(const void *a, const void *b))
{
    uint32_t lo = 0, hi = count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (order(&list[mid], &m) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Merges the sorted `fresh` into the sorted list, and moves what comes after the first of them. */
static void list_add(struct sp_group_stage *st, struct sp_member ***list, uint32_t *count,
                     uint32_t *cap, struct sp_member **fresh, uint32_t fresh_count,
                     int (*order)(const void *a, const void *b))
{
    uint32_t old = *count, at = old + fresh_count;
    if (!fresh_count)
        return;
    qsort(fresh, fresh_count, sizeof(struct sp_member *), order);
    sp_grow(list, cap, at);
    *count = at;
    while (fresh_count) {
        struct sp_member *m = fresh[--fresh_count];
        uint32_t place = place_by(*list, old, m, order), moved = old - place;
        memmove(*list + at - moved, *list + place, moved * sizeof **list);
        old = place;
        at -= moved + 1;
        (*list)[at] = m;
        st->stats.taking += moved + 1;
    }
}

void sp_members_add(struct sp_group_stage *st, struct sp_group *g, struct sp_member **fresh,
                    uint32_t count)
{
    uint32_t empty = 0;
    list_add(st, &g->members, &g->count, &g->cap, fresh, count, sp_member_by_page);
    while (g->count >> g->level > 1)
        g->level++;
    for (uint32_t i = 0; i < count; i++)
        if (fresh[i]->kind != SP_PAGE_CONTENT)
            fresh[empty++] = fresh[i];
    list_add(st, &g->empty, &g->empty_count, &g->empty_cap, fresh, empty, by_target);
    st->group_bytes += count * (size_t)SP_MEMBER_BYTES;
}

void sp_member_remove(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    list_remove(g->members, &g->count, place_in(g->members, g->count, m->page), m);
    leave_empty(g, m);
    st->group_bytes -= SP_MEMBER_BYTES;
}

void sp_member_set_kind(struct sp_group *g, struct sp_member *m, enum sp_page_kind kind,
                        struct sp_id target)
{
    if (!g->large)
        leave_empty(g, m);
    m->kind = kind;
    m->target = target;
    m->checked = false;
    if (!g->large)
        enter_empty(g, m);
}

void sp_group_stage_release(struct sp_group_stage *st)
{
    for (uint32_t i = 0; i < st->holder_count; i++) {
        struct sp_group *g = st->holders[i];
        g->holder = false;
        if (g->large)
            sp_hubs_release(g);
        for (uint32_t k = 0; k < g->count && !g->large; k++) {
            sp_signature_unref(g->members[k]->signature);
            g->members[k]->signature = NULL;
        }
    }
    st->holder_count = 0;
}

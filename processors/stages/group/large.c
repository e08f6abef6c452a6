/* See large.h. */
#include "group/large.h"

#include "base/mem.h"
#include "group/debt.h"

/* ---- orders */

static int page_order(const void *key, const void *object)
{
    return sp_id_cmp(((const struct sp_member *)object)->page, *(const struct sp_id *)key);
}

static int redirect_order(const void *key, const void *object)
{
    const struct sp_member *k = key, *m = object;
    int order = sp_id_cmp(m->target, k->target);
    return order ? order : sp_id_cmp(m->page, k->page);
}

static int target_order(const void *key, const void *object)
{
    int order = sp_id_cmp(((const struct sp_member *)object)->target, *(const struct sp_id *)key);
    return order ? order : 1;
}

static void remember(struct sp_large *l, struct sp_member *m)
{
    l->found[1] = l->found[0];
    l->found[0] = m;
}

/* The two ends of a new edge are looked up by each message about it. */
struct sp_member *sp_large_find(const struct sp_group *g, struct sp_id page)
{
    struct sp_large *l = g->large;
    struct sp_member *m = l->found[0], *second = l->found[1];
    if (m && sp_id_eq(m->page, page))
        return m;
    if (!second || !sp_id_eq(second->page, page)) {
        struct sp_shelf_place place = sp_shelf_find(&l->members, page_order, &page, page.hi);
        second = sp_shelf_next(&l->members, &place);
    }
    if (!second || !sp_id_eq(second->page, page))
        return NULL;
    remember(l, second);
    return second;
}

static void list_add(struct sp_member_list *list, struct sp_member *m)
{
    sp_grow(&list->members, &list->cap, list->count + 1);
    list->members[list->count++] = m;
}

/* ---- redirects */

static struct sp_shelf_place first_redirect(const struct sp_group *g, const struct sp_member *to)
{
    return sp_shelf_find(&g->large->redirects, target_order, &to->page, to->page.hi);
}

static struct sp_member *next_redirect(const struct sp_group *g, const struct sp_member *to,
                                       struct sp_shelf_place *place)
{
    struct sp_member *m = sp_shelf_next(&g->large->redirects, place);
    return m && sp_id_eq(m->target, to->page) ? m : NULL;
}

static struct sp_end *end_of(struct sp_member *m)
{
    if (!m->end)
        m->end = sp_end_new(m);
    return m->end;
}

static void set_loose(struct sp_group *g, struct sp_member *m, bool loose)
{
    if (m->loose == loose)
        return;
    m->loose = loose;
    if (loose)
        sp_shelf_add(&g->large->loose, page_order, &m->page, m->page.hi, m);
    else
        sp_shelf_remove(&g->large->loose, page_order, &m->page, m->page.hi);
}

/* Hangs a redirect on its target, unless the target is not a member or hangs on the redirect (a
 * loop). */
static void hang(struct sp_group *g, struct sp_member *m)
{
    struct sp_member *target = m->kind == SP_PAGE_REDIRECT ? sp_large_find(g, m->target) : NULL;
    bool hangs = target && sp_end_root(end_of(target)) != sp_end_root(end_of(m));
    if (hangs)
        sp_end_link(m->end, target->end);
    m->hangs = hangs;
    set_loose(g, m, !hangs && !m->hub);
}

/* If this opens a loop of which m was a part, its root can be hung on its target. */
void sp_large_unhang(struct sp_group *g, struct sp_member *m)
{
    if (!m->hangs)
        return;
    struct sp_member *root = sp_end_root(m->end)->member;
    sp_end_cut(m->end);
    m->hangs = false;
    hang(g, root);
}

struct sp_member *sp_large_end(struct sp_member *m)
{
    return m->end ? sp_end_root(m->end)->member : m;
}

uint32_t sp_large_size_behind(struct sp_member *m)
{
    return m->end ? sp_end_size(m->end) : 1;
}

void sp_large_behind(const struct sp_group *g, struct sp_member *m, struct sp_member_list *list)
{
    uint32_t at = list->count;
    list_add(list, m);
    for (; at < list->count; at++) {
        const struct sp_member *to = list->members[at];
        struct sp_shelf_place place = first_redirect(g, to);
        for (struct sp_member *r; (r = next_redirect(g, to, &place));) {
            g->large->stage->stats.hops++;
            if (r->hangs) /* else a loop ends here */
                list_add(list, r);
        }
    }
}

bool sp_large_has_redirects(const struct sp_group *g, const struct sp_member *to)
{
    struct sp_shelf_place place = first_redirect(g, to);
    return next_redirect(g, to, &place) != NULL;
}

void sp_large_touch_redirects(struct sp_group_stage *st, struct sp_group *g,
                              const struct sp_member *to)
{
    struct sp_shelf_place place = first_redirect(g, to);
    for (struct sp_member *r; (r = next_redirect(g, to, &place));) {
        if (!g->large->at_once) {
            sp_round_begin(st, g);
            return;
        }
        g->large->at_once--;
        sp_group_cover_touch(g, r);
    }
}

/* ---- members come, change and go */

/* Content with words has a hub. Content without words resembles nothing, not even equal content. */
static bool has_hub(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    if (m->kind != SP_PAGE_CONTENT)
        return false;
    if (!m->words && !sp_map_get(&g->large->hubs, m->content)) {
        const struct sp_signature *s = sp_member_signature(st, g, m);
        return m->words = s && sp_member_has_words(st, s);
    }
    return m->words = true;
}

static void hold(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    if (m->kind != SP_PAGE_CONTENT)
        sp_shelf_add(&g->large->redirects, redirect_order, m, m->target.hi, m);
    else if (has_hub(st, g, m))
        sp_hub_enter(g, m);
    sp_signature_unref(m->signature);
    m->signature = NULL;
    hang(g, m);
    sp_group_cover_touch(g, m);
}

/* The reverse of hold, except that it does not unhang. */
static void let_go(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    set_loose(g, m, false);
    if (m->hub)
        sp_hub_leave(st, g, m);
    if (m->kind != SP_PAGE_CONTENT)
        sp_shelf_remove(&g->large->redirects, redirect_order, m, m->target.hi);
}

void sp_large_out(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    sp_large_unhang(g, m);
    let_go(st, g, m);
}

void sp_large_in(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    hold(st, g, m);
    sp_bonds_settle(st, g);
}

void sp_large_rerank(struct sp_group *g, struct sp_member *m, struct sp_rank rank)
{
    if (m->hub)
        sp_hub_rerank(g, m, rank);
    else
        m->rank = rank;
    sp_group_cover_touch(g, m);
}

/* Hangs the redirects that came before their target. */
static void hang_those_before(struct sp_group *g, struct sp_member *m)
{
    struct sp_shelf_place place = first_redirect(g, m);
    for (struct sp_member *r; (r = next_redirect(g, m, &place));)
        if (!r->hangs)
            hang(g, r);
}

void sp_large_insert(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    sp_shelf_add(&g->large->members, page_order, &m->page, m->page.hi, m);
    remember(g->large, m);
    g->count++;
    st->grown = g;
    m->incumbent = sp_member_was_kept(m);
    hold(st, g, m);
    hang_those_before(g, m);
    sp_bonds_settle(st, g);
}

void sp_large_remove(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    sp_group_cover_untouch(g, m);
    let_go(st, g, m);
    sp_shelf_remove(&g->large->members, page_order, &m->page, m->page.hi);
    g->large->found[0] = g->large->found[1] = NULL;
    g->count--;
    sp_free(m->end);
    m->end = NULL;
    m->hangs = false;
    if (m->dirty)
        sp_member_clean(g, m);
}

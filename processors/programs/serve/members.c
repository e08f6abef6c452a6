/* See members.h. */
#include "serve/members.h"

#include <stdlib.h>

#include "base/mem.h"

static void member_done(struct sp_group_member *member)
{
    sp_free((char *)(uintptr_t)member->view.url);
    sp_signature_unref(member->signature);
    *member = (struct sp_group_member){0};
}

void sp_members_done(struct sp_members *m)
{
    for (size_t i = 0; i < m->count; i++)
        member_done(&m->list[i]);
    member_done(&m->other);
    sp_free(m->list);
    sp_free(m->by_page);
    *m = (struct sp_members){.page = m->page};
}

static void note_group(void *arg, const struct sp_page_view *page)
{
    struct sp_members *m = arg;
    m->group = page->group;
}

static bool note_member(void *arg, const struct sp_member_view *view)
{
    struct sp_members *m = arg;
    if (m->count == SP_MEMBERS_MAX) {
        m->more = true;
        return false;
    }
    sp_grow(&m->list, &m->cap, m->count + 1);
    struct sp_group_member *to = &m->list[m->count++];
    *to = (struct sp_group_member){.view = *view};
    to->view.url = sp_strdup(view->url);
    m->last = view->page;
    return true;
}

static int place(const struct sp_member_view *v)
{
    return v->status == SP_STATUS_LOSER || v->kind != SP_PAGE_CONTENT;
}

static int by_place_and_rank(const void *a, const void *b)
{
    const struct sp_member_view *x = &((const struct sp_group_member *)a)->view;
    const struct sp_member_view *y = &((const struct sp_group_member *)b)->view;
    if (place(x) != place(y))
        return place(x) - place(y);
    return sp_rank_cmp(&x->rank, x->page, &y->rank, y->page);
}

static int by_page(const void *a, const void *b)
{
    const struct sp_group_member *x = *(struct sp_group_member *const *)a;
    const struct sp_group_member *y = *(struct sp_group_member *const *)b;
    return sp_id_cmp(x->view.page, y->view.page);
}

void sp_members_order(struct sp_members *m, int (*order)(const void *a, const void *b))
{
    if (!m->count)
        return;
    qsort(m->list, m->count, sizeof *m->list, order);
    sp_free(m->by_page);
    m->by_page = sp_alloc(m->count * sizeof(struct sp_group_member *));
    for (size_t i = 0; i < m->count; i++)
        m->by_page[i] = &m->list[i];
    qsort(m->by_page, m->count, sizeof(struct sp_group_member *), by_page);
}

enum sp_err sp_members_read(struct sp_state_reader *r, struct sp_members *m)
{
    enum sp_err err = sp_state_page(r, m->page, note_group, m);
    if (err == SP_OK)
        err =
            m->group.birth ? sp_state_members(r, m->group, m->after, note_member, m) : SP_NOT_FOUND;
    if (err == SP_OK && m->count == 0 && sp_id_is_zero(m->after))
        err = SP_NOT_FOUND;
    if (err == SP_OK)
        sp_members_order(m, by_place_and_rank);
    return err;
}

struct sp_group_member *sp_members_find(const struct sp_members *m, struct sp_id page)
{
    struct sp_group_member like = {.view = {.page = page}}, *key = &like;
    struct sp_group_member **found =
        m->count ? bsearch(&key, m->by_page, m->count, sizeof(struct sp_group_member *), by_page)
                 : NULL;
    return found ? *found : NULL;
}

static void note_other(void *arg, const struct sp_page_view *page)
{
    struct sp_members *m = arg;
    if (page->group.birth != m->group.birth || !sp_id_eq(page->group.founder, m->group.founder))
        return; /* the page has left the group meanwhile */
    m->other.view = (struct sp_member_view){.page = page->page,
                                            .url = sp_strdup(page->url),
                                            .content_version = page->content_version,
                                            .kind = page->kind,
                                            .content = page->content,
                                            .target = page->target};
}

struct sp_group_member *sp_members_get(struct sp_state_reader *r, struct sp_members *m,
                                       struct sp_id page)
{
    struct sp_group_member *found = sp_members_find(m, page);
    if (found || sp_id_is_zero(page) || (sp_id_is_zero(m->after) && !m->more))
        return found;
    member_done(&m->other);
    return sp_state_page(r, page, note_other, m) == SP_OK && m->other.view.url ? &m->other : NULL;
}

const struct sp_signature *sp_members_signature(struct sp_state_reader *r, struct sp_members *m,
                                                struct sp_group_member *member)
{
    if (!member->signature && member->view.kind == SP_PAGE_CONTENT &&
        sp_state_signature(r, m->group, member->view.content, &member->signature) != SP_OK)
        member->signature = NULL;
    return member->signature;
}

/* One member: its content, and whether its row must be written. */
#include "base/mem.h"
#include "group/large.h"

int sp_member_by_page(const void *a, const void *b)
{
    return sp_id_cmp((*(struct sp_member *const *)a)->page, (*(struct sp_member *const *)b)->page);
}

void sp_member_free(struct sp_member *m)
{
    sp_signature_unref(m->signature);
    sp_free(m->url);
    sp_free(m);
}

/* ---- rows to write */

void sp_member_note_dirty(struct sp_group *g, struct sp_member *m)
{
    struct sp_member_list *dirty = &g->large->dirty;
    m->dirty_at = dirty->count;
    sp_grow(&dirty->members, &dirty->cap, dirty->count + 1);
    dirty->members[dirty->count++] = m;
}

void sp_member_clean(struct sp_group *g, struct sp_member *m)
{
    struct sp_member_list *dirty = &g->large->dirty;
    struct sp_member *last = dirty->members[--dirty->count];
    dirty->members[m->dirty_at] = last;
    last->dirty_at = m->dirty_at;
    m->dirty = false;
}

void sp_member_changed(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    if (!m->dirty && g->large)
        sp_member_note_dirty(g, m);
    m->dirty = true;
    sp_group_changed(st, g);
}

/* ---- content */

void sp_member_hold_content(struct sp_group_stage *st, struct sp_signature *signature)
{
    enum sp_err err = sp_contents_hold(st->contents, signature);
    sp_group_stage_note(st, err);
}

void sp_member_drop_content(struct sp_group_stage *st, struct sp_id content)
{
    enum sp_err err = sp_contents_drop(st->contents, content);
    sp_group_stage_note(st, err);
}

struct sp_signature *sp_member_signature(struct sp_group_stage *st, struct sp_group *g,
                                         struct sp_member *m)
{
    struct sp_signature *s;
    if (m->signature || m->kind != SP_PAGE_CONTENT)
        return m->signature;
    enum sp_err err = sp_contents_get(st->contents, m->content, &s);
    if (err != SP_OK) {
        sp_group_stage_note(st, err);
        return NULL;
    }
    m->signature = sp_signature_ref(s);
    sp_member_note_holder(st, g);
    return s;
}

bool sp_member_has_words(const struct sp_group_stage *st, const struct sp_signature *s)
{
    return sp_similar(&st->options.similarity, s, s, NULL);
}

bool sp_member_similar(struct sp_group_stage *st, struct sp_group *g, struct sp_member *a,
                       struct sp_member *b, double *ret_similarity)
{
    if (a->kind != SP_PAGE_CONTENT || b->kind != SP_PAGE_CONTENT)
        return false;
    st->stats.compared++;
    struct sp_signature *x = sp_member_signature(st, g, a), *y = sp_member_signature(st, g, b);
    return x && y && sp_similar(&st->options.similarity, x, y, ret_similarity);
}

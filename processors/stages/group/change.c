/* A member has changed: a new version with other content, a rank or a URL. It stays, or what it
 * held together comes apart (see actor.c). */
#include <string.h>

#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"

/* Whether the change leaves the content as it is: only the rank or the URL is new. */
static bool is_same_content(const struct sp_member *m, const struct sp_change *c)
{
    return c->content_version == m->content_version;
}

static void take_version(struct sp_member *m, const struct sp_change *c)
{
    m->version = c->version;
    m->rank = c->rank;
    if (c->url && strcmp(c->url, m->url) != 0) {
        sp_free(m->url);
        m->url = sp_strdup(c->url);
    }
}

static void set_content(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                        const struct sp_change *c)
{
    struct sp_id old = m->content;
    bool had = m->kind == SP_PAGE_CONTENT;
    sp_member_set_kind(g, m, c->page_kind, c->target);
    m->content_version = c->content_version;
    m->content = (struct sp_id){0, 0};
    m->words = false;
    sp_signature_unref(m->signature);
    m->signature = NULL;
    if (c->signature) {
        m->content = c->signature->content_hash;
        sp_member_hold_content(st, c->signature);
    }
    if (had)
        sp_member_drop_content(st, old);
}

/* Mode fast: a page similar to its representative stays without asking tier 2, any other leaves. */
static uint32_t fast_pieces(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                            const struct sp_id *target, const struct sp_signature *representative,
                            bool *ret_settled)
{
    bool stays = sp_fast_resembles(st, g, m, representative, ret_settled);
    if (sp_group_checks_departures(st))
        return sp_group_forest_check(st, g, m, target);
    /* If it had neither content nor a target here, all others are pages that redirect to it. */
    bool was_end = target && !sp_member_find(g, *target);
    return stays || was_end ? 1 : sp_fast_leave(st, g, m);
}

static void send_applied(struct sp_group_stage *st, const struct sp_member *m, bool settled)
{
    struct sp_message *a = sp_message_new(SP_MSG_APPLIED);
    a->page = m->page;
    a->applied.content_version = m->content_version;
    a->applied.settled = settled;
    sp_group_stage_send(st, a);
}

/* A member of a large group has new content. If it leaves without a check, the pages that redirect
 * to it leave with it; if these are many, they leave later, as in a group that is checked. */
static void new_content_large(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                              const struct sp_change *c)
{
    bool settled = false, stays = false;
    struct sp_signature *representative = sp_fast_representative(st, g, m);
    sp_large_out(st, g, m);
    take_version(m, c);
    set_content(st, g, m, c);
    if (st->options.mode == SP_MODE_FAST)
        stays = sp_fast_resembles(st, g, m, representative, &settled);
    sp_signature_unref(representative);
    if (st->err)
        return;
    sp_large_in(st, g, m);
    sp_member_changed(st, g, m);
    send_applied(st, m, settled);
    sp_group_forget_version(g, m);
    if (sp_group_checks_departures(st) || (!stays && !sp_large_leaves_at_once(st, m)))
        sp_debt_split(st, g, m->page);
    else if (!stays)
        sp_large_leave(st, g, m); /* sp_fast_recheck handles the doubts that are left */
}

static void new_content_small(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                              const struct sp_change *c, const struct sp_signature *representative)
{
    bool settled = false;
    struct sp_id before = m->target, *target = m->kind == SP_PAGE_CONTENT ? NULL : &before;
    set_content(st, g, m, c);
    if (st->err)
        return;
    uint32_t pieces = st->options.mode == SP_MODE_FAST
                          ? fast_pieces(st, g, m, target, representative, &settled)
                          : sp_group_forest_check(st, g, m, target);
    send_applied(st, m, settled);
    sp_group_forget_version(g, m);
    sp_group_cover_judge_later(g, m);
    if (pieces > 1)
        sp_group_split(st, g, pieces);
}

static void change_small(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                         const struct sp_change *c)
{
    bool same = is_same_content(m, c);
    struct sp_signature *representative = same ? NULL : sp_fast_representative(st, g, m);
    sp_group_cover_forget(g, m);
    take_version(m, c);
    sp_member_changed(st, g, m);
    if (same)
        sp_group_cover_judge_later(g, m);
    else
        new_content_small(st, g, m, c, representative);
    sp_signature_unref(representative);
}

static void change_large(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                         const struct sp_change *c)
{
    if (!is_same_content(m, c)) {
        new_content_large(st, g, m, c);
        return;
    }
    sp_large_rerank(g, m, c->rank);
    take_version(m, c);
    sp_member_changed(st, g, m);
}

/* Whether the change names a content whose signature is neither in the message nor in the group. A
 * page actor sends no such change, but another program could. */
static bool lacks_content(const struct sp_member *m, const struct sp_change *c)
{
    return c->page_kind == SP_PAGE_CONTENT && !c->signature &&
           (m->kind != SP_PAGE_CONTENT || !is_same_content(m, c));
}

/* Whether only the spelling of the URL has changed: no verdict depends on it. If a winner that is
 * spelled differently with each fetch were judged again, it would be held against its losers each
 * time. */
static bool is_respelled(const struct sp_member *m, const struct sp_change *c)
{
    return is_same_content(m, c) && sp_rank_cmp(&c->rank, m->page, &m->rank, m->page) == 0;
}

static void change(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                   const struct sp_message *message)
{
    const struct sp_change *c = &message->change;
    bool same = is_same_content(m, c);
    if (g->large)
        change_large(st, g, m, c);
    else
        change_small(st, g, m, c);
    if (!st->err)
        sp_group_cover_renew(st, g);
    if (!same)
        sp_fast_recheck(st, g, message->page);
    sp_group_cover_tell(st, g);
}

void sp_group_on_change(struct sp_group_stage *st, struct sp_message *message)
{
    const struct sp_change *c = &message->change;
    struct sp_group *g = sp_group_resolve(st, message);
    if (!g)
        return;
    struct sp_member *m = sp_member_find(g, message->page);
    if (!m) {
        sp_group_bounce(st, message);
        return;
    }
    bool late = c->version <= m->version; /* it was bounced */
    if (!late && is_respelled(m, c)) {
        take_version(m, c);
        sp_member_changed(st, g, m);
    } else if (!late && !lacks_content(m, c)) {
        change(st, g, m, message);
    }
    sp_message_free(message);
}

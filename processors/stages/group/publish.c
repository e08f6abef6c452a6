/* What a page publishes: a status event whenever its status is news for consumers
 * (docs/PROTOCOL.md, "What is published"). */
#include "base/mem.h"
#include "base/url.h"
#include "group/page_actor.h"

void sp_page_actor_publish(struct sp_group_stage *st, struct sp_page_actor *p)
{
    p->moved = false;
    struct sp_page_view view = sp_page_actor_view(p);
    struct sp_status_event e = sp_page_view_status(&view);
    st->outbox.publish(st->outbox.arg, &e);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether the two URLs, either of which may be NULL, are one page's, however they are spelled. */
static bool same_page(const char *a, const char *b)
{
    bool same = same_text(a, b);
    if (same || !a || !b)
        return same;
    struct sp_buf canonical = {0};
    struct sp_id x, y;
    same = sp_url_page(sp_view_str(a), &canonical, &x) == SP_OK &&
           sp_url_page(sp_view_str(b), &canonical, &y) == SP_OK && sp_id_eq(x, y);
    sp_buf_done(&canonical);
    return same;
}

/* Whether the status must be published: the verdict has changed, or for a kept page its group or
 * the group's size. A loser's group is in its winner's status, so a merge publishes nothing for
 * losers. */
static bool is_news(const struct sp_page_actor *p, const struct sp_verdict *v)
{
    if (p->status != v->status || p->reason != v->reason || p->similarity != v->similarity ||
        !same_page(p->winner_url, v->winner_url))
        return true;
    return sp_status_is_kept(v->status) && (p->moved || p->group_size != v->group_size);
}

void sp_page_actor_take_verdict(struct sp_group_stage *st, struct sp_page_actor *p,
                                struct sp_verdict *v)
{
    p->rule = v->rule; /* for the next event, for whatever reason that is published */
    if (!is_news(p, v))
        return;
    p->status = v->status;
    p->reason = v->reason;
    p->similarity = v->similarity;
    p->group_size = v->group_size;
    sp_free(p->winner_url);
    p->winner_url = v->winner_url;
    v->winner_url = NULL;
    sp_page_actor_publish(st, p);
}

enum sp_err sp_group_stage_contained(struct sp_group_stage *st, struct sp_id page, const char *url,
                                     float containment)
{
    struct sp_page_actor *p = sp_page_actor_get(st, page);
    if (!p || (same_text(p->contained_in, url) && p->containment == containment))
        return st->err;
    sp_free(p->contained_in);
    p->contained_in = sp_strdup(url);
    p->containment = containment;
    sp_page_actor_changed(st, p);
    if (sp_status_is_kept(p->status))
        sp_page_actor_publish(st, p);
    return st->err;
}

/* Forgets a page: see docs/PROTOCOL.md, "A page that is forgotten". page.c handles the rest like
 * any other change. */
#include "base/mem.h"
#include "group/page_actor.h"

/* Resets the page to one that was never fetched, except for its id, version and epoch. */
static void become_husk(struct sp_page_actor *p)
{
    sp_free(p->url);
    sp_free(p->target_url);
    sp_free(p->winner_url);
    sp_free(p->contained_in);
    p->target_url = p->winner_url = p->contained_in = NULL;
    p->containment = 0;
    sp_signature_unref(p->pending);
    p->pending = NULL;
    p->url = sp_strdup("");
    p->kind = SP_PAGE_UNSEEN;
    p->version += p->version < INT64_MAX;
    p->content_version = p->version;
    p->content = p->target = (struct sp_id){0, 0};
    p->rank = (struct sp_rank){0};
    p->announced = p->moved = false;
    p->status = SP_STATUS_NONE;
    p->reason = SP_REASON_NONE;
    p->rule = SP_RANK_NONE;
    p->similarity = 0;
    p->group_size = 0;
}

static void publish_erased(struct sp_group_stage *st, struct sp_id page, const char *url,
                           int64_t version)
{
    struct sp_status_event e = {.page = page, .url = url, .version_ms = version};
    st->outbox.publish(st->outbox.arg, &e);
}

struct sp_page_actor *sp_page_actor_erase(struct sp_group_stage *st, const struct sp_message *m)
{
    const struct sp_erase *e = &m->erase;
    struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    if (st->err)
        return NULL;
    bool known = p && (p->kind != SP_PAGE_UNSEEN || *p->url);
    publish_erased(st, m->page, e->url, known ? p->version : 0);
    if (!known) {
        st->stats.erased_unknown++;
        return NULL;
    }
    if (*p->url && strcmp(p->url, e->url) != 0)
        publish_erased(st, m->page, p->url, p->version);
    st->stats.erased++;
    become_husk(p);
    sp_page_actor_changed(st, p);
    return p;
}

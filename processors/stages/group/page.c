/* The page actor: a page's version, the signature that waits for its cell, and the pointer to its
 * group. It alone writes to the cells about its page, and publishes its status (publish.c): this
 * gives order.
 *
 * The path of a version: crawled -> (group: change -> applied) -> put into its cell -> matches ->
 * link. A version with unchanged content ends at once.
 *
 * Forgetting a page is like a version without content: its group hears of it, then it leaves its
 * cell. The husk that is left is dropped and deleted, but stays while others redirect to it. */
#include "base/mem.h"
#include "group/page_actor.h"

static bool leaves_out(const struct sp_group_stage *st, enum sp_canary canary)
{
    return st->options.canary == canary;
}

static void send_to_group(struct sp_group_stage *st, const struct sp_page_actor *p,
                          struct sp_message *m)
{
    *sp_message_group(m) = p->group;
    sp_group_stage_send(st, m);
}

/* ---- a new version ---- */

/* A 304: the fetch found a content again that is known, and does not have it. */
static bool is_again(const struct sp_crawled *c)
{
    return c->page_kind == SP_PAGE_UNSEEN;
}

/* Whether the content that such a fetch found again is the one that the page has here. Dates in
 * archives are in whole seconds. */
static bool has_content_again(const struct sp_page_actor *p, const struct sp_crawled *c)
{
    if (!p || p->kind != SP_PAGE_CONTENT || c->as_of == SP_AS_ELSEWHERE)
        return false;
    return c->as_of == 0 ||
           (c->as_of / 1000 >= p->content_version / 1000 && c->as_of <= p->version);
}

static bool same_content(const struct sp_page_actor *p, const struct sp_crawled *c)
{
    if (is_again(c))
        return true;
    if (p->kind != c->page_kind)
        return false;
    if (p->kind == SP_PAGE_CONTENT)
        return sp_id_eq(p->content, c->signature->content_hash);
    return p->kind != SP_PAGE_REDIRECT || sp_id_eq(p->target, c->target);
}

/* A fetch without a time is newer than all before it. If two different fetches have the same time,
 * the one read later is newer: many crawlers give seconds, and a page that redirects to itself with
 * a cookie is fetched twice in one second. Any fetch of a forgotten page is newer, because the page
 * is new. */
static int64_t version_of(const struct sp_page_actor *p, const struct sp_crawled *c)
{
    bool tie = c->version == p->version && p->kind != SP_PAGE_UNSEEN && !same_content(p, c);
    if (c->version > p->version || (c->version > 0 && !tie && !sp_page_actor_is_husk(p)))
        return c->version;
    return p->version < INT64_MAX ? p->version + 1 : p->version;
}

static bool same_rank(const struct sp_rank *a, const struct sp_rank *b)
{
    return a->popularity == b->popularity && a->url_bytes == b->url_bytes &&
           a->dynamic == b->dynamic && a->unfavoured == b->unfavoured;
}

static void take_content(struct sp_page_actor *p, struct sp_crawled *c)
{
    p->kind = c->page_kind;
    p->content_version = p->version;
    p->announced = false;
    p->status = SP_STATUS_NONE;
    sp_free(p->contained_in);
    p->contained_in = NULL;
    p->containment = 0;
    sp_signature_unref(p->pending);
    p->pending = c->signature;
    c->signature = NULL;
    p->content = p->pending ? p->pending->content_hash : (struct sp_id){0, 0};
    p->target = c->target;
    sp_free(p->target_url);
    p->target_url = c->page_kind == SP_PAGE_REDIRECT ? c->target_url : NULL;
    if (p->target_url)
        c->target_url = NULL;
}

/* Includes the signature as long as the group may not have applied this content: the next change
 * can overtake a bounced one and must then carry both. */
static void send_change(struct sp_group_stage *st, struct sp_page_actor *p)
{
    struct sp_message *m = sp_message_new(SP_MSG_CHANGE);
    struct sp_change *c = &m->change;
    m->page = p->id;
    c->version = p->version;
    c->content_version = p->content_version;
    c->page_kind = p->kind;
    c->target = p->target;
    c->rank = p->rank;
    c->url = sp_strdup(p->url);
    if (p->pending)
        c->signature = sp_signature_ref(p->pending);
    send_to_group(st, p, m);
}

static void announce(struct sp_group_stage *st, struct sp_page_actor *p, bool settled);

/* Crawlers that get a 304 often know no popularity: then the page keeps the one that it has. */
static double popularity_of(const struct sp_group_stage *st, const struct sp_page_actor *p,
                            const struct sp_crawled *c)
{
    double popularity = sp_popularity_class(c->rank.popularity, st->options.popularity_tolerance);
    return is_again(c) && popularity == 0 ? p->rank.popularity : popularity;
}

/* Takes what each fetch has. Returns whether the group must hear of it even if the content is the
 * same. */
static bool take_fetch(struct sp_page_actor *p, const struct sp_crawled *c, int64_t version)
{
    bool ranked_same = same_rank(&p->rank, &c->rank), spelled_same = strcmp(p->url, c->url) == 0;
    p->version = version;
    p->rank = c->rank;
    if (!spelled_same) {
        sp_free(p->url);
        p->url = sp_strdup(c->url);
    }
    return !ranked_same || !spelled_same;
}

/* A page that will soon found a group. */
static struct sp_page_actor *begin(struct sp_group_stage *st, struct sp_id id, const char *url)
{
    sp_group_found_prefetch(st, id);
    return sp_page_actor_make(st, id, url);
}

bool sp_group_stage_is_late(struct sp_group_stage *st, const struct sp_message *m)
{
    const struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    return p && !st->err && version_of(p, &m->crawled) <= p->version;
}

static void on_crawled(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_crawled *c = &m->crawled;
    struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    if (st->err)
        return;
    if (is_again(c) && !has_content_again(p, c)) {
        st->stats.again_unknown++;
        return;
    }
    c->rank.popularity = popularity_of(st, p, c);
    if (!p)
        p = begin(st, m->page, c->url);
    int64_t version = version_of(p, c);
    if (version <= p->version) {
        st->stats.late++;
        return;
    }
    bool same = p->kind != SP_PAGE_UNSEEN && same_content(p, c);
    sp_page_actor_changed(st, p);
    bool concerns_group = take_fetch(p, c, version);
    if (same) {
        st->stats.unchanged++;
        if (p->status != SP_STATUS_NONE)
            sp_page_actor_publish(st, p);
        if (concerns_group)
            send_change(st, p);
        return;
    }
    take_content(p, c);
    if (p->group.birth) { /* it is announced when the group has applied the change */
        send_change(st, p);
        if (leaves_out(st, SP_CANARY_EARLY_ANNOUNCE))
            announce(st, p, false);
        return;
    }
    sp_group_found(st, p);
    announce(st, p, false);
}

/* ---- pages look for edges only when their group holds the version ---- */

static void leave_cell(struct sp_group_stage *st, struct sp_page_actor *p)
{
    struct sp_message *m = sp_message_new(SP_MSG_REMOVE);
    m->page = p->id;
    m->remove.cell = p->cell;
    m->remove.content_version = p->content_version;
    m->remove.old_content = p->cell_content;
    p->in_cell = false;
    sp_group_stage_send(st, m);
}

static void put_into_cell(struct sp_group_stage *st, struct sp_page_actor *p, bool settled)
{
    uint32_t cell = sp_maps_cell(&st->options.maps, p->pending);
    if (p->in_cell && p->cell != cell)
        leave_cell(st, p);
    struct sp_message *m = sp_message_new(SP_MSG_PUT);
    m->page = p->id;
    m->put.cell = cell;
    m->put.content_version = p->content_version;
    m->put.settled = settled;
    if (p->in_cell)
        m->put.old_content = p->cell_content;
    m->put.signature = p->pending;
    p->pending = NULL;
    p->in_cell = true;
    p->cell = cell;
    p->cell_content = p->content;
    sp_group_stage_send(st, m);
}

/* The page does not keep the URL, so it need not hear of it if the target is erased. */
static void link_to_target(struct sp_group_stage *st, struct sp_page_actor *p)
{
    struct sp_message *m = sp_message_new(SP_MSG_LINK);
    m->page = p->id;
    m->link.content_version = p->content_version;
    m->link.url = p->target_url;
    p->target_url = NULL;
    m->link.edges = sp_calloc(1, sizeof *m->link.edges);
    m->link.edges[0] = (struct sp_edge){p->target, SP_NO_VERSION};
    m->link.edge_count = 1;
    send_to_group(st, p, m);
}

static void announce(struct sp_group_stage *st, struct sp_page_actor *p, bool settled)
{
    p->announced = true;
    sp_page_actor_changed(st, p);
    bool has_words = p->pending && p->pending->shingle_total > 0;
    if (p->kind == SP_PAGE_CONTENT && has_words) {
        put_into_cell(st, p, settled);
        return;
    }
    sp_signature_unref(p->pending);
    p->pending = NULL;
    if (p->in_cell)
        leave_cell(st, p);
    if (p->kind == SP_PAGE_REDIRECT)
        link_to_target(st, p);
}

static void on_applied(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    if (!p || m->applied.content_version != p->content_version || p->announced)
        return;
    announce(st, p, m->applied.settled);
    if (sp_page_actor_is_husk(p))
        p->version = p->content_version = 0;
}

/* The page's cell belongs to a map that is being replaced. A page that has moved already, or whose
 * next version is pending, need not move. Otherwise it looks for edges like a new page: a page that
 * was put into its cell meanwhile may have probed the old cell too late and the new one too
 * early. */
static void on_move(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    if (!p || !p->in_cell || !p->announced || m->move.content_version != p->content_version ||
        p->cell == sp_maps_cell(&st->options.maps, m->move.signature))
        return;
    p->pending = m->move.signature;
    m->move.signature = NULL;
    sp_page_actor_changed(st, p);
    put_into_cell(st, p, leaves_out(st, SP_CANARY_QUIET_MOVE));
    st->stats.moves++;
}

static void on_erase(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_page_actor *p = sp_page_actor_erase(st, m);
    if (p)
        send_change(st, p);
}

/* ---- edges ---- */

static void on_match(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    struct sp_link *link = &m->link;
    if (!p ||
        (link->content_version != p->content_version && !leaves_out(st, SP_CANARY_NO_VERSION))) {
        sp_message_free(m);
        return;
    }
    sp_message_turn(m, SP_MSG_LINK);
    send_to_group(st, p, m);
}

/* The far end has a newer version, which looks for its own edges. If it was the spokesman for pages
 * of equal content, its cell appoints the next one. */
static void stale_edge(struct sp_group_stage *st, struct sp_message *m)
{
    if (sp_message_next_edge(m)) {
        sp_message_turn(m, SP_MSG_MATCH);
        sp_group_stage_send(st, m);
    }
}

/* An edge from m->page ends at this page: passes the message on to this page's group. */
static void on_find_group(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_edge edge = m->link.edges[0];
    struct sp_page_actor *p = sp_page_actor_get(st, edge.page);
    if (st->err) {
        sp_message_free(m);
        return;
    }
    if (!p && edge.content_version != SP_NO_VERSION) { /* it was forgotten */
        stale_edge(st, m);
        return;
    }
    if (!p)
        p = begin(st, edge.page, m->link.url ? m->link.url : "");
    if (!p->group.birth)
        sp_group_found(st, p); /* the target of a redirect, never crawled */
    if (edge.content_version != SP_NO_VERSION && edge.content_version != p->content_version) {
        stale_edge(st, m);
        return;
    }
    sp_message_turn(m, SP_MSG_UNION);
    send_to_group(st, p, m);
}

/* ---- messages from the group ---- */

static void take_group(struct sp_group_stage *st, struct sp_page_actor *p, struct sp_group_id group,
                       uint64_t epoch)
{
    p->moved |= !sp_group_id_eq(p->group, group);
    p->group = group;
    p->epoch = epoch;
    sp_page_actor_changed(st, p);
}

/* Its group has dropped the page: either it has been crawled again, or nothing is left of it. */
static void on_dropped(struct sp_group_stage *st, struct sp_page_actor *p)
{
    if (p->kind != SP_PAGE_UNSEEN)
        sp_group_found(st, p);
    if (!p->announced)
        announce(st, p, false);
    if (p->kind == SP_PAGE_UNSEEN)
        sp_page_actor_drop(st, p);
}

static void on_assigned(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    if (p && (m->assigned.epoch > p->epoch || leaves_out(st, SP_CANARY_NO_EPOCH))) {
        take_group(st, p, m->assigned.far, m->assigned.epoch);
        if (!p->group.birth)
            on_dropped(st, p);
    }
}

/* Of a former group. One epoch is one membership: another group with the same one has the page from
 * a message that somebody else sent again. */
static bool is_outdated(const struct sp_page_actor *p, const struct sp_verdict *v)
{
    return v->epoch < p->epoch || (v->epoch == p->epoch && !sp_group_id_eq(v->far, p->group));
}

static void on_status(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_verdict *v = &m->verdict;
    struct sp_page_actor *p = sp_page_actor_get(st, m->page);
    if (!p || (is_outdated(p, v) && !leaves_out(st, SP_CANARY_NO_EPOCH)))
        return;
    take_group(st, p, v->far, v->epoch);
    if (v->content_version == p->content_version && p->kind != SP_PAGE_UNSEEN)
        sp_page_actor_take_verdict(st, p, v);
}

/* A group no longer holds a page of a message. It told the page its new group before it bounced the
 * message. */
static void on_bounce(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_page_actor *p = sp_page_actor_get(st, sp_message_home(m));
    m->bounced = false;
    bool of_before = p && m->kind == SP_MSG_CHANGE &&
                     (m->change.version > p->version ||
                      (sp_page_actor_is_husk(p) && m->change.version < p->version));
    if (of_before) { /* the page was forgotten since */
        sp_message_free(m);
    } else if (p && p->group.birth) {
        send_to_group(st, p, m);
    } else if (m->kind == SP_MSG_UNION) { /* with a page that was forgotten meanwhile */
        sp_message_turn(m, SP_MSG_FIND_GROUP);
        on_find_group(st, m);
    } else {
        sp_message_free(m);
    }
}

void sp_page_actor_step(struct sp_group_stage *st, struct sp_message *m)
{
    if (m->bounced) {
        on_bounce(st, m);
        return;
    }
    switch (m->kind) {
    case SP_MSG_MATCH:
        on_match(st, m);
        return;
    case SP_MSG_FIND_GROUP:
        on_find_group(st, m);
        return;
    case SP_MSG_CRAWLED:
        on_crawled(st, m);
        break;
    case SP_MSG_APPLIED:
        on_applied(st, m);
        break;
    case SP_MSG_ASSIGNED:
        on_assigned(st, m);
        break;
    case SP_MSG_STATUS:
        on_status(st, m);
        break;
    case SP_MSG_MOVE:
        on_move(st, m);
        break;
    case SP_MSG_ERASE:
        on_erase(st, m);
        break;
    case SP_MSG_CHANGE:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
    case SP_MSG_WAIT:
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        SP_ASSERT(!"a message for a page actor");
    }
    sp_message_free(m);
}

/* The page actor: a page's version, its content's signature on the way to its cell, the pointer to
 * its group. It alone speaks to the cells about its page, and it alone publishes the page's
 * status: one writer per key gives order.
 *
 * One version's way:  crawled -> (group: change -> applied) -> put into its cell -> matches ->
 * link. A version with unchanged content ends at once. */
#include "base/mem.h"
#include "group/internal.h"

static bool is(const struct sp_group *st, enum sp_canary canary)
{
    return st->options.canary == canary;
}

static void publish(struct sp_group *st, const struct page *p)
{
    struct sp_page_view view = page_view(p);
    struct sp_status_event e = sp_page_view_status(&view);
    st->outbox.publish(st->outbox.arg, &e);
}

static void send_to_group(struct sp_group *st, const struct page *p, struct sp_message *m)
{
    m->group = p->group;
    stage_send(st, m);
}

/* ---- a new version --------------------------------------------------------------------------- */

static bool same_content(const struct page *p, const struct sp_message *m)
{
    if (p->kind != m->page_kind)
        return false;
    if (p->kind == SP_PAGE_CONTENT)
        return sp_id_eq(p->content, m->signature->content_hash);
    return p->kind != SP_PAGE_REDIRECT || sp_id_eq(p->target, m->target);
}

static bool same_rank(const struct sp_rank *a, const struct sp_rank *b)
{
    return a->popularity == b->popularity && a->url_bytes == b->url_bytes &&
           a->dynamic == b->dynamic && a->unfavoured == b->unfavoured;
}

static void take_content(struct page *p, struct sp_message *m)
{
    p->kind = m->page_kind;
    p->content_version = p->version;
    p->announced = false;
    p->status = SP_STATUS_NONE;
    sp_signature_unref(p->pending);
    p->pending = m->signature;
    m->signature = NULL;
    p->content = p->pending ? p->pending->content_hash : (struct sp_id){0, 0};
    p->target = m->target;
    sp_free(p->target_url);
    p->target_url = m->page_kind == SP_PAGE_REDIRECT ? m->target_url : NULL;
    if (p->target_url)
        m->target_url = NULL;
}

/* The signature goes along as long as the group may not have applied this content: a change that
 * was bounced can be overtaken by the next one, which must then stand for both. */
static void send_change(struct sp_group *st, struct page *p)
{
    struct sp_message *c = sp_message_new(SP_MSG_CHANGE);
    c->page = p->id;
    c->version = p->version;
    c->content_version = p->content_version;
    c->page_kind = p->kind;
    c->target = p->target;
    c->rank = p->rank;
    c->url = sp_strdup(p->url);
    if (p->pending)
        c->signature = sp_signature_ref(p->pending);
    send_to_group(st, p, c);
}

static void announce(struct sp_group *st, struct page *p, bool settled);

static void on_crawled(struct sp_group *st, struct sp_message *m)
{
    struct page *p = page_get(st, m->page);
    if (st->err)
        return;
    if (!p)
        p = page_make(st, m->page, m->url);
    int64_t version = m->version > 0 ? m->version : p->version + 1;
    if (version <= p->version) {
        st->stats.late++;
        return;
    }
    bool same = p->kind != SP_PAGE_UNSEEN && same_content(p, m);
    bool ranked_same = same_rank(&p->rank, &m->rank);
    page_changed(st, p);
    p->version = version;
    p->rank = m->rank;
    if (strcmp(p->url, m->url) != 0) {
        sp_free(p->url);
        p->url = sp_strdup(m->url);
    }
    if (same) {
        st->stats.unchanged++;
        if (p->status != SP_STATUS_NONE)
            publish(st, p);
        if (!ranked_same)
            send_change(st, p);
        return;
    }
    take_content(p, m);
    if (p->group.birth) {
        send_change(st, p);
        if (is(st, SP_CANARY_EARLY_ANNOUNCE))
            announce(st, p, false);
        return;
    }
    group_found(st, p);
    announce(st, p, false);
}

/* ---- edges are looked for only when the group holds the version ---------------------------------
 */

static void leave_cell(struct sp_group *st, struct page *p)
{
    struct sp_message *m = sp_message_new(SP_MSG_REMOVE);
    m->cell = p->cell;
    m->page = p->id;
    m->content_version = p->content_version;
    m->old_content = p->cell_content;
    p->in_cell = false;
    stage_send(st, m);
}

static void put_into_cell(struct sp_group *st, struct page *p, bool settled)
{
    uint32_t cell = sp_maps_cell(&st->options.maps, p->pending->length);
    if (p->in_cell && p->cell != cell)
        leave_cell(st, p);
    struct sp_message *m = sp_message_new(SP_MSG_PUT);
    m->cell = cell;
    m->page = p->id;
    m->content_version = p->content_version;
    m->settled = settled;
    if (p->in_cell)
        m->old_content = p->cell_content;
    m->signature = p->pending;
    p->pending = NULL;
    p->in_cell = true;
    p->cell = cell;
    p->cell_content = p->content;
    stage_send(st, m);
}

static void announce(struct sp_group *st, struct page *p, bool settled)
{
    p->announced = true;
    page_changed(st, p);
    bool has_words = p->pending && p->pending->shingle_total > 0;
    if (p->kind == SP_PAGE_CONTENT && has_words) {
        put_into_cell(st, p, settled);
        return;
    }
    sp_signature_unref(p->pending);
    p->pending = NULL;
    if (p->in_cell)
        leave_cell(st, p);
    if (p->kind != SP_PAGE_REDIRECT)
        return;
    struct sp_message *m = sp_message_new(SP_MSG_LINK);
    m->page = p->id;
    m->content_version = p->content_version;
    m->url = sp_strdup(p->target_url);
    m->edges = sp_calloc(1, sizeof *m->edges);
    m->edges[0] = (struct sp_edge){p->target, SP_NO_VERSION};
    m->edge_count = 1;
    send_to_group(st, p, m);
}

static void on_applied(struct sp_group *st, struct sp_message *m)
{
    struct page *p = page_get(st, m->page);
    if (p && m->content_version == p->content_version && !p->announced)
        announce(st, p, m->settled);
}

/* The page's cell belongs to a map that is being replaced. A page that has moved on already, or
 * whose next version is on its way, needs no help. It looks for edges like a new page: another that
 * was put into its cell meanwhile may have asked the old cell too late and the new one too early.
 */
static void on_move(struct sp_group *st, struct sp_message *m)
{
    struct page *p = page_get(st, m->page);
    if (!p || !p->in_cell || !p->announced || m->content_version != p->content_version ||
        p->cell == sp_maps_cell(&st->options.maps, m->signature->length))
        return;
    p->pending = m->signature;
    m->signature = NULL;
    page_changed(st, p);
    put_into_cell(st, p, is(st, SP_CANARY_QUIET_MOVE));
    st->stats.moves++;
}

/* ---- edges ------------------------------------------------------------------------------------
 */

static void on_match(struct sp_group *st, struct sp_message *m)
{
    struct page *p = page_get(st, m->page);
    if (!p || (m->content_version != p->content_version && !is(st, SP_CANARY_NO_VERSION))) {
        sp_message_free(m);
        return;
    }
    m->kind = SP_MSG_LINK;
    if (m->edges[0].content_version == SP_NO_VERSION && !m->url)
        m->url = sp_strdup(p->target_url);
    send_to_group(st, p, m);
}

/* The far end has another version by now. It makes itself known to all that is similar to it, and
 * should it have spoken for other pages of equal content, its cell lets the next of them do so. */
static void stale_edge(struct sp_group *st, struct sp_message *m)
{
    if (sp_message_next_edge(m)) {
        m->kind = SP_MSG_MATCH;
        stage_send(st, m);
    }
}

/* An edge from m->page ends here: pass it on to the group that holds this page. */
static void on_find_group(struct sp_group *st, struct sp_message *m)
{
    struct sp_edge edge = m->edges[0];
    struct page *p = page_get(st, edge.page);
    if (st->err) {
        sp_message_free(m);
        return;
    }
    if (!p)
        p = page_make(st, edge.page, m->url ? m->url : "");
    if (!p->group.birth)
        group_found(st, p); /* the target of a redirect, never crawled */
    if (edge.content_version != SP_NO_VERSION && edge.content_version != p->content_version) {
        stale_edge(st, m);
        return;
    }
    m->kind = SP_MSG_UNION;
    send_to_group(st, p, m);
}

/* ---- what the group says ------------------------------------------------------------------------
 */

static void on_assigned(struct sp_group *st, struct sp_message *m)
{
    struct page *p = page_get(st, m->page);
    if (p && (m->epoch > p->epoch || is(st, SP_CANARY_NO_EPOCH))) {
        p->group = m->far;
        p->epoch = m->epoch;
        page_changed(st, p);
    }
}

static void on_status(struct sp_group *st, struct sp_message *m)
{
    struct page *p = page_get(st, m->page);
    if (!p || (m->epoch < p->epoch && !is(st, SP_CANARY_NO_EPOCH)))
        return;
    p->group = m->far;
    p->epoch = m->epoch;
    page_changed(st, p);
    if (m->content_version != p->content_version || p->kind == SP_PAGE_UNSEEN)
        return;
    p->status = m->status;
    p->reason = m->reason;
    p->similarity = m->similarity;
    p->group_size = m->group_size;
    sp_free(p->winner_url);
    p->winner_url = m->url;
    m->url = NULL;
    publish(st, p);
}

/* A group no longer holds a page it was asked about: it told the page its new group before it
 * sent this back. */
static void on_bounce(struct sp_group *st, struct sp_message *m)
{
    struct page *p = page_get(st, sp_message_home(m));
    m->bounced = false;
    if (!p || !p->group.birth)
        sp_message_free(m);
    else
        send_to_group(st, p, m);
}

void page_step(struct sp_group *st, struct sp_message *m)
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
    default:
        SP_ASSERT(!"a message for a page actor");
    }
    sp_message_free(m);
}

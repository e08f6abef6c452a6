/* The group actor: membership, merges and splits. Every page is a member of exactly one group at
 * any time, or moving between two. Its membership has an epoch that grows with each move.
 *
 *   a changed page stays    change, sp_group_forest_check finds one piece
 *   it leaves (split)       change, more pieces: sp_group_split
 *   it joins another group  link -> find_group -> union [-> dissolve] -> members
 *     (merge)
 *
 * Case 1 of Zhu et al. (section 5.1) is a changed page that leaves and may join another group;
 * Case 2 is a new page, which founds a group (page.c) and may join another one; Case 3 is a
 * redirect, which joins the group of its target.
 *
 * Of two merging groups the one of the lower level dissolves; on equal levels, the one whose
 * founder's hash is higher. Nothing is left of it: messages to it find no member and bounce to the
 * page actor, which knows the page's new group. Members that arrive later make it a group again,
 * and the edge that comes with them joins it to the group of the other end.
 *
 * Members move in parts (handover.c). Until the last part arrives, edges to the remaining members
 * are missing, and so is the edge that joins all of them to the group; so the group puts off what
 * could split or dissolve it. The wait is short, because all parts have been sent already. It ends
 * even if the last part does not come, because the sender is asked for a message behind it. */
#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"

/* ---- a member's change --------------------------------------------------------------------- */

static void bounce(struct sp_group_stage *st, struct sp_message *m)
{
    m->bounced = true;
    st->stats.bounces++;
    sp_group_stage_send(st, m);
}

/* Members are moving to the group. A change comes back through its page actor, which drops it if
 * the page was forgotten meanwhile: the group itself could not tell it from a later one. */
static void put_off(struct sp_group_stage *st, struct sp_message *m)
{
    st->stats.put_off++;
    if (m->kind == SP_MSG_CHANGE)
        bounce(st, m);
    else
        sp_group_stage_send(st, m);
}

/* The group; NULL if the store failed or the message was put off. */
static struct sp_group *resolve(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = sp_group_get(st, *sp_message_group(m));
    if (!g) {
        sp_message_free(m);
    } else if (g->open_count && m->kind != SP_MSG_MEMBERS &&
               st->options.canary != SP_CANARY_NO_OPENS) {
        put_off(st, m);
        g = NULL;
    }
    return g;
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

/* The same in a large group. A page that leaves unchecked takes the pages that redirect to it
 * along. */
static void change_in_large(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
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
    if (sp_group_checks_departures(st)) {
        sp_debt_split(st, g, m->page);
    } else if (!stays) {
        sp_large_leave(st, g, m);
    } /* sp_fast_recheck handles the doubts that are left */
}

static void change_content(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
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
    sp_group_cover_note(g, m);
    if (pieces > 1)
        sp_group_split(st, g, pieces);
}

static void change_small(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                         const struct sp_change *c)
{
    bool same = c->content_version == m->content_version;
    struct sp_signature *representative = same ? NULL : sp_fast_representative(st, g, m);
    sp_group_cover_forget(g, m);
    take_version(m, c);
    sp_member_changed(st, g, m);
    if (same)
        sp_group_cover_note(g, m);
    else
        change_content(st, g, m, c, representative);
    sp_signature_unref(representative);
}

static void change_large(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                         const struct sp_change *c)
{
    if (c->content_version != m->content_version) {
        change_in_large(st, g, m, c);
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
           (m->kind != SP_PAGE_CONTENT || c->content_version != m->content_version);
}

static void on_change(struct sp_group_stage *st, struct sp_message *message)
{
    const struct sp_change *c = &message->change;
    struct sp_group *g = resolve(st, message);
    if (!g)
        return;
    struct sp_member *m = sp_member_find(g, message->page);
    if (!m) {
        bounce(st, message);
        return;
    }
    if (c->version > m->version && !lacks_content(m, c)) {
        bool same = c->content_version == m->content_version;
        if (c->page_kind == SP_PAGE_UNSEEN)
            sp_group_erase_target(st, g, m);
        if (g->large)
            change_large(st, g, m, c);
        else
            change_small(st, g, m, c);
        if (!st->err)
            sp_group_cover_renew(st, g);
        if (!same)
            sp_fast_recheck(st, g, message->page);
        sp_group_cover_tell(st, g);
    } /* else: a bounced change can come late */
    sp_message_free(message);
}

/* ---- merges -------------------------------------------------------------------------------- */

/* Whether it is a member with that content; SP_NO_VERSION: with any. */
static bool is_held(const struct sp_member *m, int64_t content_version)
{
    return m && (content_version == SP_NO_VERSION || m->content_version == content_version);
}

/* An end has moved, so the asker's page actor looks for its edges again. */
static void relink(struct sp_group_stage *st, struct sp_message *m)
{
    if (st->options.canary == SP_CANARY_NO_RELINK) {
        sp_message_free(m);
        return;
    }
    st->stats.relinks++;
    sp_message_turn(m, SP_MSG_MATCH);
    sp_group_stage_send(st, m);
}

/* Asks for the group at the other end of the first edge. */
static void ask_group(struct sp_group_stage *st, const struct sp_group *g, struct sp_message *m)
{
    sp_message_turn(m, SP_MSG_FIND_GROUP);
    m->link.far = g->id;
    m->link.far_level = g->level;
    sp_group_stage_send(st, m);
}

/* Whether the group at the other end keeps its members and this one moves. At equal levels the
 * hashes of the founders decide. Ages would not do: if each page resembles the one before, each
 * group would move into the next one, which has itself moved away, and only the first two would
 * meet. */
static bool far_is_higher(const struct sp_group *g, const struct sp_link *link)
{
    if (link->far_level != g->level)
        return link->far_level > g->level;
    int order = sp_id_cmp(link->far.founder, g->id.founder);
    return (order ? order : sp_group_id_cmp(link->far, g->id)) < 0;
}

/* Drops the edges that lead to members; asks for the group of the first that does not. */
static void link_edges(struct sp_group_stage *st, struct sp_group *g, struct sp_message *m)
{
    struct sp_link *link = &m->link;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < link->edge_count; i++)
        if (!is_held(sp_member_find(g, link->edges[i].page), link->edges[i].content_version))
            link->edges[kept++] = link->edges[i];
    link->edge_count = kept;
    if (!kept) {
        sp_message_free(m);
        return;
    }
    ask_group(st, g, m);
}

static void on_link(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = resolve(st, m);
    if (!g)
        return;
    struct sp_member *asker = sp_member_find(g, m->page);
    if (!asker)
        bounce(st, m);
    else if (asker->content_version != m->link.content_version &&
             st->options.canary != SP_CANARY_NO_VERSION)
        sp_message_free(m);
    else
        link_edges(st, g, m);
}

/* The first edge is done: the asker is in this group. */
static void next_edges(struct sp_group_stage *st, struct sp_group *g, struct sp_message *m)
{
    if (sp_message_next_edge(m))
        link_edges(st, g, m);
}

/* If the group may be in pieces, it is split first: the pieces would move as one. The ends of the
 * edge may be elsewhere then, so the message comes again. */
static void dissolve(struct sp_group_stage *st, struct sp_group *g, struct sp_message *m)
{
    if (st->options.canary != SP_CANARY_DISSOLVE_PIECES && sp_debt_split_now(st, g))
        sp_group_stage_send(st, m);
    else
        sp_group_dissolve(st, g, m->link.far, m);
}

/* Asks the page actor at the end of the first edge, which knows the newer version. If the edge has
 * a newer version than the group, it is dropped instead: cells get a version only after the group,
 * so the member came again with an old message, and asking would never end. */
static void ask_end_again(struct sp_group_stage *st, const struct sp_member *end,
                          struct sp_message *m)
{
    if (m->link.edges[0].content_version > end->content_version && !sp_message_next_edge(m))
        return;
    sp_message_turn(m, SP_MSG_FIND_GROUP);
    sp_group_stage_send(st, m);
}

static void on_union(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = resolve(st, m);
    if (!g)
        return;
    struct sp_link *link = &m->link;
    struct sp_edge edge = link->edges[0];
    const struct sp_member *end = sp_member_find(g, edge.page);
    if (!end) {
        bounce(st, m);
    } else if (!is_held(end, edge.content_version) && st->options.canary != SP_CANARY_NO_VERSION) {
        ask_end_again(st, end, m);
    } else if (sp_member_find(g, m->page)) {
        sp_message_turn(m, SP_MSG_LINK);
        link->group = g->id;
        next_edges(st, g, m);
    } else if (sp_group_id_eq(link->far, g->id)) {
        relink(st, m); /* this group took over p's, but the asker has split off since */
    } else if (far_is_higher(g, link)) {
        dissolve(st, g, m);
    } else {
        sp_message_turn(m, SP_MSG_DISSOLVE);
        link->group = link->far;
        link->far = g->id;
        link->far_level = g->level;
        sp_group_stage_send(st, m);
    }
}

static void on_dissolve(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = resolve(st, m);
    if (!g)
        return;
    struct sp_link *link = &m->link;
    struct sp_edge edge = link->edges[0];
    struct sp_member *asker = sp_member_find(g, m->page);
    if (!asker) {
        relink(st, m); /* moved by a split, perhaps at the same version */
    } else if (asker->content_version != link->content_version) {
        sp_message_free(m);
    } else if (sp_member_find(g, edge.page)) {
        next_edges(st, g, m);
    } else if (sp_group_id_eq(link->far, g->id)) {
        relink(st, m);
    } else if (far_is_higher(g, link)) {
        dissolve(st, g, m);
    } else { /* it has grown meanwhile */
        ask_group(st, g, m);
    }
}

/* Whether the message has brought this page alone, so that nothing is tied to it yet. */
static bool came_alone(const struct sp_link *link, const struct sp_member *m)
{
    return link->row_count == 1 && sp_id_eq(link->rows[0].page, m->page) &&
           sp_id_is_zero(link->rows[0].parent);
}

/* Takes the edge that brought the members. False if it has become stale, or an end has moved at the
 * same version. */
static bool take_edge(struct sp_group_stage *st, struct sp_group *g, const struct sp_message *m)
{
    const struct sp_link *link = &m->link;
    struct sp_edge edge = link->edges[0];
    struct sp_member *a = sp_member_find(g, m->page), *b = sp_member_find(g, edge.page);
    if (!is_held(a, link->content_version) || !is_held(b, edge.content_version)) {
        g->unsure = true;
        return false;
    }
    bool apart = a != b && (came_alone(link, a) || came_alone(link, b));
    if (!g->large && (apart || !sp_group_forest_same(a, b)))
        sp_group_forest_link(st, g, a, b);
    return true;
}

/* Called when all members may have arrived: checks whether they are connected. */
static void settle(struct sp_group_stage *st, struct sp_group *g)
{
    if (!g->unsure || g->open_count)
        return;
    g->unsure = false;
    if (g->large) {
        sp_bonds_doubt_all(g);
        sp_bonds_split(st, g, NULL);
        sp_debt_whole(st, g);
        return;
    }
    /* Unchecked departures leave tree edges that no longer hold. */
    uint32_t pieces = sp_group_checks_departures(st) ? sp_group_forest_mend(st, g)
                                                     : sp_group_forest_rebuild(st, g);
    if (pieces > 1)
        sp_group_split(st, g, pieces);
}

/* No more members come. If their last part did not, the edge that joins them is missing, so the
 * group is checked. */
static void end_transfer(struct sp_group_stage *st, struct sp_group *g, struct sp_message *m)
{
    uint32_t before = g->open_count;
    sp_group_note_transfer(st, g, m->link.far, false);
    if (g->open_count < before) {
        settle(st, g);
        if (!st->err)
            sp_group_cover_publish(st, g);
    }
    sp_message_free(m);
}

static void on_members(struct sp_group_stage *st, struct sp_message *m)
{
    enum { FIT_AFTER = 16 };
    struct sp_group *g = resolve(st, m);
    struct sp_link *link = &m->link;
    if (!g)
        return;
    if (!link->row_count && !link->edge_count && !link->more) {
        end_transfer(st, g, m);
        return;
    }
    sp_group_take_rows(st, g, link);
    if (link->row_count > FIT_AFTER)
        sp_group_fit(st, g); /* before so many are compared */
    sp_group_plant(st, g, link);
    sp_group_note_transfer(st, g, link->far, link->more);
    bool fresh = !link->edge_count || st->err || take_edge(st, g, m);
    if (!link->edge_count && !link->more && sp_id_is_zero(m->page))
        sp_fast_part(st, g);
    if (!st->err)
        settle(st, g);
    if (g->large && !sp_debt_is_apart(g))
        sp_bonds_trust(g);
    if (!st->err)
        sp_group_cover_publish(st, g);
    for (uint32_t i = 0; i < link->row_count; i++)
        sp_member_row_done(&link->rows[i]);
    sp_free(link->rows); /* the message may travel on and carry others */
    link->rows = NULL;
    link->row_count = 0;
    if (!link->edge_count)
        sp_message_free(m);
    else if (fresh)
        next_edges(st, g, m);
    else
        relink(st, m);
}

void sp_group_actor_step(struct sp_group_stage *st, struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CHANGE:
        on_change(st, m);
        break;
    case SP_MSG_LINK:
        on_link(st, m);
        break;
    case SP_MSG_UNION:
        on_union(st, m);
        break;
    case SP_MSG_DISSOLVE:
        on_dissolve(st, m);
        break;
    case SP_MSG_MEMBERS:
        on_members(st, m);
        break;
    case SP_MSG_WAIT:
        sp_group_wait(st, m);
        break;
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
    case SP_MSG_ERASE:
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        SP_ASSERT(!"a message for a group actor");
    }
}

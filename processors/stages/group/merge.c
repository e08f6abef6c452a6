/* Merges: an edge leads to another group. Its end is looked for, one of the two groups moves into
 * the other, and the members arrive (see actor.c). */
#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"

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

void sp_group_on_link(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = sp_group_resolve(st, m);
    if (!g)
        return;
    struct sp_member *asker = sp_member_find(g, m->page);
    if (!asker)
        sp_group_bounce(st, m);
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

void sp_group_on_union(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = sp_group_resolve(st, m);
    if (!g)
        return;
    struct sp_link *link = &m->link;
    struct sp_edge edge = link->edges[0];
    const struct sp_member *end = sp_member_find(g, edge.page);
    if (!end) {
        sp_group_bounce(st, m);
    } else if (!is_held(end, edge.content_version) && st->options.canary != SP_CANARY_NO_VERSION) {
        ask_end_again(st, end, m);
    } else if (sp_member_find(g, m->page)) {
        sp_message_turn(m, SP_MSG_LINK);
        link->group = g->id;
        next_edges(st, g, m);
    } else if (sp_group_id_eq(link->far, g->id)) {
        /* This group has taken in the group of the asker, which has split off since. */
        relink(st, m);
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

void sp_group_on_dissolve(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = sp_group_resolve(st, m);
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
        sp_debt_check(st, g);
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

void sp_group_on_members(struct sp_group_stage *st, struct sp_message *m)
{
    enum { FIT_AFTER = 16 };
    struct sp_group *g = sp_group_resolve(st, m);
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
    bool edge_holds = !link->edge_count || st->err || take_edge(st, g, m);
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
    else if (edge_holds)
        next_edges(st, g, m);
    else
        relink(st, m);
}

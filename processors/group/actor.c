/* The group actor: membership, merges and splits. Every page is a member of exactly one group at
 * any time, and its membership carries an epoch that grows with each move.
 *
 *   Case 1 (Zhu et al., section 3: the page stays)   change, forest_check finds one piece
 *   Case 2 (it leaves: split)                        change, more pieces: hand_over
 *   Case 3 (it joins another: merge)                 link -> find_group -> union [-> dissolve] ->
 * members
 *
 * Of two merging groups the younger dissolves into the older, so forward pointers run from
 * younger to older and never in a circle. */
#include "base/mem.h"
#include "group/internal.h"

/* ---- moving members ----------------------------------------------------------------------------
 */

static void note_gone(struct group *g, const struct member *m)
{
    if (!m->stored)
        return;
    if (g->gone_count == g->gone_cap) {
        g->gone_cap = g->gone_cap ? g->gone_cap * 2 : 4;
        g->gone = sp_realloc(g->gone, g->gone_cap * sizeof *g->gone);
    }
    g->gone[g->gone_count++] = m->page;
}

/* m, out of all lists already, becomes a row of a members message and is freed. */
static struct sp_member_row move_out(struct sp_group *st, struct group *g, struct member *m,
                                     struct sp_group_id to)
{
    struct sp_signature *s = member_signature(st, g, m);
    struct sp_member_row row = {m->page,
                                m->version,
                                m->content_version,
                                m->kind,
                                m->target,
                                s ? sp_signature_ref(s) : NULL,
                                m->rank,
                                m->url,
                                m->epoch + 1,
                                m->parent ? m->parent->page : (struct sp_id){0, 0}};
    if (s)
        content_drop(st, m->content);
    struct sp_message *a = sp_message_new(SP_MSG_ASSIGNED);
    a->page = m->page;
    a->far = to;
    a->epoch = row.epoch;
    stage_send(st, a);
    note_gone(g, m);
    m->url = NULL;
    return row;
}

/* Sends the members to their new group, and with them the edge-bearing message that caused the move
 * (NULL for a split). They must not be winners here any more. */
static void hand_over(struct sp_group *st, struct group *g, struct member **leaving, uint32_t count,
                      struct sp_group_id to, struct sp_message *edge)
{
    struct sp_message *m = edge ? edge : sp_message_new(SP_MSG_MEMBERS);
    m->kind = SP_MSG_MEMBERS;
    m->far = g->id;
    m->group = to;
    m->rows = sp_alloc(count * sizeof *m->rows);
    for (uint32_t i = 0; i < count; i++)
        m->rows[i] = move_out(st, g, leaving[i], to);
    m->row_count = count;
    for (uint32_t i = 0; i < count; i++)
        member_free(leaving[i]);
    group_changed(st, g);
    stage_send(st, m);
}

static void dissolve_into(struct sp_group *st, struct group *g, struct sp_group_id older,
                          struct sp_message *edge)
{
    struct member **all = sp_memdup(g->members, g->count * sizeof *all);
    uint32_t count = g->count;
    st->group_bytes -= count * (size_t)SP_MEMBER_BYTES;
    g->count = g->empty_count = g->winner_count = g->touched_count = 0;
    g->forward = older;
    st->stats.merges++;
    hand_over(st, g, all, count, older, edge);
    sp_free(all);
}

/* Pieces other than 0 become groups of their own, named after their first page. */
static void split(struct sp_group *st, struct group *g, uint32_t pieces)
{
    struct member **leaving = sp_alloc(g->count * sizeof *leaving);
    cover_forget_pieces(g);
    for (uint32_t piece = 1; piece < pieces; piece++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < g->count; i++)
            if (g->members[i]->mark == piece)
                leaving[count++] = g->members[i];
        for (uint32_t i = 0; i < count; i++) {
            cover_untouch(g, leaving[i]);
            member_remove(st, g, leaving[i]);
        }
        struct sp_group_id id = {++st->clock, leaving[0]->page};
        st->stats.splits++;
        hand_over(st, g, leaving, count, id, NULL);
    }
    sp_free(leaving);
}

static struct member *take_in(struct sp_group *st, struct group *g, struct sp_member_row *row)
{
    struct member *m = sp_calloc(1, sizeof *m);
    m->page = row->page;
    m->version = row->version;
    m->content_version = row->content_version;
    m->kind = row->kind;
    m->target = row->target;
    m->rank = row->rank;
    m->url = row->url;
    m->epoch = row->epoch;
    row->url = NULL;
    if (row->signature) {
        m->content = row->signature->content_hash;
        content_hold(st, row->signature);
    }
    member_insert(st, g, m);
    member_changed(st, g, m);
    cover_note(g, m);
    return m;
}

void group_found(struct sp_group *st, struct page *p)
{
    p->group = (struct sp_group_id){++st->clock, p->id};
    p->epoch = 1;
    page_changed(st, p);
    struct group *g = group_make(st, p->group);
    struct sp_member_row row = {p->id,      p->version, p->content_version, p->kind, p->target,
                                p->pending, p->rank,    sp_strdup(p->url),  1,       {0, 0}};
    take_in(st, g, &row);
    cover_publish(st, g);
}

/* ---- a member's change
 * ---------------------------------------------------------------------------- */

/* The group's state, or NULL where it has dissolved: then the message follows it. */
static struct group *resolve(struct sp_group *st, struct sp_message *m)
{
    struct group *g = group_get(st, m->group);
    if (g && g->forward.birth) {
        m->group = g->forward;
        st->stats.forwards++;
        stage_send(st, m);
        return NULL;
    }
    if (!g)
        sp_message_free(m); /* the store failed */
    return g;
}

static void bounce(struct sp_group *st, struct sp_message *m)
{
    m->bounced = true;
    st->stats.bounces++;
    stage_send(st, m);
}

static void set_content(struct sp_group *st, struct group *g, struct member *m,
                        struct sp_message *c)
{
    struct sp_id old = m->content;
    bool had = m->kind == SP_PAGE_CONTENT;
    member_set_kind(g, m, c->page_kind, c->target);
    m->content_version = c->content_version;
    m->content = (struct sp_id){0, 0};
    sp_signature_unref(m->signature);
    m->signature = NULL;
    if (c->signature) {
        m->content = c->signature->content_hash;
        content_hold(st, c->signature);
    }
    if (had)
        content_drop(st, old);
}

/* Fast mode: the best-ranked content member other than m stands for the group. */
static struct member *representative(struct group *g, const struct member *m)
{
    struct member *best = NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        struct member *x = g->members[i];
        if (x != m && x->kind == SP_PAGE_CONTENT && (!best || rank_cmp(x, best, 0) < 0))
            best = x;
    }
    return best;
}

static bool redirects_to(const struct group *g, const struct member *x, const struct member *m)
{
    for (uint32_t hops = 0; x && x->kind == SP_PAGE_REDIRECT && hops <= g->empty_count; hops++) {
        x = member_find(g, x->target);
        if (x == m)
            return true;
    }
    return false;
}

/* m leaves, with those that redirect to it, and nobody checks whether the rest still hangs
 * together. */
static uint32_t leave_unchecked(struct sp_group *st, struct group *g, struct member *m)
{
    bool others = false;
    for (uint32_t i = 0; i < g->count; i++) {
        struct member *x = g->members[i];
        x->mark = x == m || redirects_to(g, x, m);
        others |= x->mark == 0;
    }
    if (!others)
        return 1;
    for (uint32_t i = 0; i < g->count; i++) {
        struct member *x = g->members[i];
        if (x->parent && x->parent->mark != x->mark) {
            x->parent = NULL;
            member_changed(st, g, x);
        }
    }
    return 2;
}

/* Fast mode (the paper's approximations): a page similar to its group's representative stays
 * without asking tier 2; any other leaves, and the rest is not re-checked. */
static uint32_t fast_pieces(struct sp_group *st, struct group *g, struct member *m,
                            bool *ret_settled)
{
    struct member *r = representative(g, m);
    bool stays = r && members_similar(st, g, m, r, NULL);
    *ret_settled = stays && !st->options.fast_asks_tier2;
    st->stats.settled += *ret_settled;
    if (st->options.fast_rechecks)
        return forest_check(st, g, m);
    return stays ? 1 : leave_unchecked(st, g, m);
}

static void send_applied(struct sp_group *st, const struct member *m, bool settled)
{
    struct sp_message *a = sp_message_new(SP_MSG_APPLIED);
    a->page = m->page;
    a->content_version = m->content_version;
    a->settled = settled;
    stage_send(st, a);
}

static void change_content(struct sp_group *st, struct group *g, struct member *m,
                           struct sp_message *c)
{
    bool settled = false;
    uint32_t pieces;
    set_content(st, g, m, c);
    if (st->err)
        return;
    if (st->options.mode == SP_MODE_FAST)
        pieces = fast_pieces(st, g, m, &settled);
    else
        pieces = forest_check(st, g, m);
    send_applied(st, m, settled);
    cover_note(g, m);
    if (pieces > 1)
        split(st, g, pieces);
}

static void on_change(struct sp_group *st, struct sp_message *c)
{
    struct group *g = resolve(st, c);
    if (!g)
        return;
    struct member *m = member_find(g, c->page);
    if (!m) {
        bounce(st, c);
        return;
    }
    if (c->version > m->version) {
        cover_forget(g, m);
        m->version = c->version;
        m->rank = c->rank;
        if (c->url && strcmp(c->url, m->url) != 0) {
            sp_free(m->url);
            m->url = sp_strdup(c->url);
        }
        member_changed(st, g, m);
        if (c->content_version == m->content_version)
            cover_note(g, m);
        else
            change_content(st, g, m, c);
        if (!st->err)
            cover_publish(st, g);
    } /* else: a bounced change can come late */
    sp_message_free(c);
}

/* ---- merges
 * -------------------------------------------------------------------------------------- */

static bool holds(const struct group *g, struct sp_id page, int64_t content_version)
{
    const struct member *m = member_find(g, page);
    return m && (content_version == SP_NO_VERSION || m->content_version == content_version);
}

/* The asker looks for its edges again, from its page actor: an end has moved. */
static void relink(struct sp_group *st, struct sp_message *m)
{
    if (st->options.canary == SP_CANARY_NO_RELINK) {
        sp_message_free(m);
        return;
    }
    st->stats.relinks++;
    m->kind = SP_MSG_MATCH;
    stage_send(st, m);
}

/* Drops the edges that lead to members; asks for the group of the first that does not. */
static void link_edges(struct sp_group *st, struct group *g, struct sp_message *m)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->edge_count; i++)
        if (!holds(g, m->edges[i].page, m->edges[i].content_version))
            m->edges[kept++] = m->edges[i];
    m->edge_count = kept;
    if (!kept) {
        sp_message_free(m);
        return;
    }
    m->kind = SP_MSG_FIND_GROUP;
    m->far = g->id;
    stage_send(st, m);
}

static void on_link(struct sp_group *st, struct sp_message *m)
{
    struct group *g = resolve(st, m);
    if (!g)
        return;
    struct member *asker = member_find(g, m->page);
    if (!asker)
        bounce(st, m);
    else if (asker->content_version != m->content_version &&
             st->options.canary != SP_CANARY_NO_VERSION)
        sp_message_free(m);
    else
        link_edges(st, g, m);
}

/* The first edge is done with: the asker's group is this one. */
static void next_edges(struct sp_group *st, struct group *g, struct sp_message *m)
{
    if (sp_message_next_edge(m))
        link_edges(st, g, m);
}

static void on_union(struct sp_group *st, struct sp_message *m)
{
    struct group *g = resolve(st, m);
    if (!g)
        return;
    struct sp_edge edge = m->edges[0];
    if (!member_find(g, edge.page)) {
        bounce(st, m);
    } else if (!holds(g, edge.page, edge.content_version) &&
               st->options.canary != SP_CANARY_NO_VERSION) {
        m->kind = SP_MSG_FIND_GROUP; /* its page actor knows the newer version */
        stage_send(st, m);
    } else if (member_find(g, m->page)) {
        m->kind = SP_MSG_LINK;
        m->group = g->id;
        next_edges(st, g, m);
    } else if (sp_group_id_eq(m->far, g->id)) {
        relink(st, m); /* this group took over p's, but the asker has split off since */
    } else if (sp_group_id_cmp(m->far, g->id) < 0) {
        dissolve_into(st, g, m->far, m);
    } else {
        m->kind = SP_MSG_DISSOLVE;
        m->group = m->far;
        m->far = g->id;
        stage_send(st, m);
    }
}

static void on_dissolve(struct sp_group *st, struct sp_message *m)
{
    struct group *g = resolve(st, m);
    if (!g)
        return;
    struct sp_edge edge = m->edges[0];
    struct member *asker = member_find(g, m->page);
    if (!asker) {
        relink(st, m); /* moved by a split, perhaps at the same version */
    } else if (asker->content_version != m->content_version) {
        sp_message_free(m);
    } else if (member_find(g, edge.page)) {
        next_edges(st, g, m);
    } else if (sp_group_id_eq(m->far, g->id)) {
        relink(st, m);
    } else if (sp_group_id_cmp(m->far, g->id) < 0) {
        dissolve_into(st, g, m->far, m);
    } else {
        m->kind = SP_MSG_FIND_GROUP;
        m->far = g->id;
        stage_send(st, m);
    }
}

/* Unchecked departures leave tree edges behind that no longer hold. */
static bool forest_trusted(const struct sp_group *st)
{
    return st->options.mode != SP_MODE_FAST || st->options.fast_rechecks;
}

static void plant(struct group *g, struct sp_message *m)
{
    for (uint32_t i = 0; i < m->row_count; i++) {
        struct sp_member_row *row = &m->rows[i];
        if (!sp_id_is_zero(row->parent))
            member_find(g, row->page)->parent = member_find(g, row->parent);
    }
}

static bool moved(const struct sp_message *m, struct sp_id page)
{
    for (uint32_t i = 0; i < m->row_count; i++)
        if (sp_id_eq(m->rows[i].page, page))
            return true;
    return false;
}

static void on_members(struct sp_group *st, struct sp_message *m)
{
    struct group *g = resolve(st, m);
    if (!g)
        return;
    for (uint32_t i = 0; i < m->row_count; i++)
        take_in(st, g, &m->rows[i]);
    plant(g, m);
    bool fresh = true;
    if (m->edge_count && !st->err) {
        struct member *a = member_find(g, m->page), *b = member_find(g, m->edges[0].page);
        fresh = holds(g, m->page, m->content_version) &&
                holds(g, m->edges[0].page, m->edges[0].content_version);
        if (fresh)
            moved(m, a->page) ? forest_link(st, g, a, b) : forest_link(st, g, b, a);
        else { /* the edge went stale while we merged, or one end moved on at the same version */
            uint32_t pieces = forest_trusted(st) ? forest_mend(st, g) : forest_rebuild(st, g);
            if (pieces > 1)
                split(st, g, pieces);
        }
    }
    if (!st->err)
        cover_publish(st, g);
    for (uint32_t i = 0; i < m->row_count; i++)
        sp_member_row_done(&m->rows[i]);
    sp_free(m->rows); /* the message may travel on and carry others */
    m->rows = NULL;
    m->row_count = 0;
    if (!m->edge_count)
        sp_message_free(m);
    else if (fresh)
        next_edges(st, g, m);
    else
        relink(st, m);
}

void group_step(struct sp_group *st, struct sp_message *m)
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
    default:
        SP_ASSERT(!"a message for a group actor");
    }
}

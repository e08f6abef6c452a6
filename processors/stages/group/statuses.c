/* Tells the pages of a group their status if it has changed, and winners the size of the group. */
#include "group/debt.h"
#include "group/large.h"
#include "winners/winners.h"

struct verdict {
    enum sp_page_status status;
    enum sp_reason reason;
    const struct sp_member *winner;
    float similarity;
};

/* What pages that redirect to a member were told: the winner, and the similarity to it. */
struct sight {
    struct sp_id winner; /* zero: none, it is gone */
    float similarity;
};

static struct sight seen_behind(const struct sp_member *m)
{
    if (sp_member_was_kept(m))
        return (struct sight){m->page, 1};
    if (m->said_status == SP_STATUS_LOSER)
        return (struct sight){m->said_winner, m->said_similarity};
    return (struct sight){{0, 0}, 0};
}

/* In a large group the hub has the verdict. */
static struct verdict verdict_of_content(const struct sp_group *g, const struct sp_member *m)
{
    struct sp_hub *h = m->hub;
    if (g->count == 1)
        return (struct verdict){.status = SP_STATUS_UNIQUE};
    if (!h || (h->winner == h && h->best == m))
        return (struct verdict){.status = SP_STATUS_WINNER};
    if (h->winner == h)
        return (struct verdict){SP_STATUS_LOSER, SP_REASON_EXACT, h->best,
                                sp_hub_own_similarity(h)};
    return (struct verdict){SP_STATUS_LOSER, SP_REASON_CONTENT, h->winner->best, h->similarity};
}

static struct verdict verdict_in_large(const struct sp_group *g, struct sp_member *m)
{
    if (m->kind == SP_PAGE_CONTENT)
        return verdict_of_content(g, m);
    const struct sp_member *end = sp_large_end(m);
    if (end->kind != SP_PAGE_CONTENT)
        return (struct verdict){.status = SP_STATUS_GONE};
    struct verdict v = verdict_of_content(g, end);
    if (v.winner)
        return (struct verdict){SP_STATUS_LOSER, SP_REASON_REDIRECT, v.winner, v.similarity};
    return (struct verdict){SP_STATUS_LOSER, SP_REASON_REDIRECT, end, 1};
}

/* In a small group: whether the status that the member was told holds at the end of this step. If
 * no page redirects to one whose status may have changed, all others know theirs. */
static bool is_settled(const struct sp_group *g, const struct sp_member *m)
{
    return m->told || (g->quiet && !m->touched && m->said_epoch == m->epoch);
}

/* Of a redirect to a page that ends at m. */
static struct verdict verdict_behind(const struct sp_group *g, const struct sp_member *m)
{
    const struct sp_member *winner = NULL;
    float similarity = 1;
    if (m->kind == SP_PAGE_CONTENT) {
        winner = m->winner;
        similarity = winner == m ? 1 : m->similarity;
    } else if (m->kind == SP_PAGE_REDIRECT) {
        struct sight seen = seen_behind(m);
        winner = sp_id_is_zero(seen.winner) ? NULL : sp_member_find(g, seen.winner);
        similarity = seen.similarity;
    }
    if (!winner)
        return (struct verdict){.status = SP_STATUS_GONE};
    return (struct verdict){SP_STATUS_LOSER, SP_REASON_REDIRECT, winner, similarity};
}

/* Follows the redirects to the page at their end, or to one that knows it. A loop has no end. */
static struct verdict verdict_of_redirect(struct sp_group_stage *st, const struct sp_group *g,
                                          const struct sp_member *m)
{
    const struct sp_member *x = m;
    for (uint32_t hops = 0; x && x->kind == SP_PAGE_REDIRECT && hops <= g->empty_count; hops++) {
        x = sp_member_find(g, x->target);
        st->stats.hops++;
        if (x && is_settled(g, x))
            return verdict_behind(g, x);
    }
    return x && x->kind == SP_PAGE_CONTENT ? verdict_behind(g, x)
                                           : (struct verdict){.status = SP_STATUS_GONE};
}

static struct verdict verdict_of(struct sp_group_stage *st, const struct sp_group *g,
                                 struct sp_member *m)
{
    if (g->large)
        return verdict_in_large(g, m);
    if (m->kind != SP_PAGE_CONTENT)
        return verdict_of_redirect(st, g, m);
    if (g->count == 1)
        return (struct verdict){.status = SP_STATUS_UNIQUE};
    if (m->winner == m)
        return (struct verdict){.status = SP_STATUS_WINNER};
    enum sp_reason reason =
        sp_id_eq(m->content, m->winner->content) ? SP_REASON_EXACT : SP_REASON_CONTENT;
    return (struct verdict){SP_STATUS_LOSER, reason, m->winner, m->similarity};
}

/* The rule that put the winner before the member. It is sent with a status, but a change of the
 * rule alone sends nothing: otherwise a winner that becomes more popular would cause an event for
 * each loser. */
static enum sp_rank_rule rule_of(const struct sp_member *m, const struct verdict *v)
{
    if (!v->winner || v->reason == SP_REASON_REDIRECT)
        return SP_RANK_NONE;
    return sp_rank_decided(&v->winner->rank, v->winner->page, &m->rank, m->page);
}

/* Called when a kept page is told the size of the group. */
static void note_size(struct sp_group *g)
{
    if (!g->told_least || g->count < g->told_least) {
        g->told_least = g->count;
        g->told_changed = true;
    }
    if (g->count > g->told_most) {
        g->told_most = g->count;
        g->told_changed = true;
    }
}

static struct sp_id winner_of(const struct verdict *v)
{
    return v->winner ? v->winner->page : (struct sp_id){0, 0};
}

static bool is_told(const struct sp_member *m, const struct verdict *v)
{
    return m->said_epoch == m->epoch && m->said_version == m->content_version &&
           m->said_status == v->status && m->said_reason == v->reason &&
           m->said_similarity == v->similarity && sp_id_eq(m->said_winner, winner_of(v));
}

bool sp_group_is_told(struct sp_group_stage *st, const struct sp_group *g, struct sp_member *m)
{
    struct verdict v = verdict_of(st, g, m);
    return is_told(m, &v);
}

bool sp_group_can_tell(struct sp_group_stage *st, const struct sp_group *g, struct sp_member *m)
{
    const struct sp_member *end = g->large ? sp_large_end(m) : m;
    return !end->hub || sp_cover_decide(st, end->hub);
}

bool sp_group_tell(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m, bool resized)
{
    if (!sp_group_can_tell(st, g, m)) {
        sp_round_begin(st, g);
        return false;
    }
    if (st->err)
        return false;
    struct verdict v = verdict_of(st, g, m);
    struct sp_id winner = winner_of(&v);
    if (!(resized && v.status == SP_STATUS_WINNER) && is_told(m, &v))
        return false;
    if (!v.winner && v.status != SP_STATUS_GONE)
        note_size(g);
    m->said_epoch = m->epoch;
    m->said_version = m->content_version;
    m->said_status = v.status;
    m->said_reason = v.reason;
    m->said_similarity = v.similarity;
    m->said_winner = winner;
    sp_member_changed(st, g, m);
    struct sp_message *s = sp_message_new(SP_MSG_STATUS);
    s->page = m->page;
    s->verdict = (struct sp_verdict){.far = g->id,
                                     .epoch = m->epoch,
                                     .content_version = m->content_version,
                                     .winner = winner,
                                     .winner_url = v.winner ? sp_strdup(v.winner->url) : NULL,
                                     .status = v.status,
                                     .reason = v.reason,
                                     .rule = rule_of(m, &v),
                                     .similarity = v.similarity,
                                     .group_size = g->count};
    sp_group_stage_send(st, s);
    return true;
}

/* Winners are told the size when it has doubled or halved compared with what one of them knows, so
 * this costs O(1) events for each member that came or went. */
static bool take_new_size(struct sp_group *g)
{
    if (g->count < 2 * (uint64_t)g->told_least && 2 * (uint64_t)g->count > g->told_most)
        return false;
    g->told_least = g->told_most = g->count;
    g->told_changed = true;
    return true;
}

/* Those that were not told in this step. */
static void touch_redirects(struct sp_group *g, const struct sp_member *target)
{
    uint32_t count;
    struct sp_member *const *redirects = sp_member_redirects(g, target->page, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!redirects[i]->told)
            sp_group_cover_touch(g, redirects[i]);
}

/* Whether no page redirects to one that is touched. */
static bool is_quiet(const struct sp_group *g)
{
    uint32_t redirects = 0;
    for (uint32_t i = 0; i < g->touched_count && !redirects; i++)
        sp_member_redirects(g, g->touched[i]->page, &redirects);
    return !redirects;
}

static bool sees_the_same(struct sight a, struct sight b)
{
    return sp_id_eq(a.winner, b.winner) && a.similarity == b.similarity;
}

/* Redirects to a member are told only if it is new or what they know of its end has changed, so
 * that a chain that grows tells nothing to its other pages. A page that left took its redirects
 * along, as they are in its piece. */
static void tell_small(struct sp_group_stage *st, struct sp_group *g, bool resized)
{
    if (g->count == 1 || g->said_count == 1)
        for (uint32_t i = 0; i < g->count; i++)
            sp_group_cover_touch(g, g->members[i]);
    for (uint32_t i = 0; resized && i < g->winner_count; i++)
        sp_group_cover_touch(g, g->winners[i]);
    g->quiet = is_quiet(g);
    for (uint32_t i = 0; i < g->touched_count; i++) {
        struct sp_member *m = g->touched[i];
        struct sight before = seen_behind(m);
        bool is_new = m->said_epoch != m->epoch;
        m->touched = false;
        sp_group_tell(st, g, m, resized);
        m->told = true;
        if (is_new || !sees_the_same(before, seen_behind(m)))
            touch_redirects(g, m);
    }
    for (uint32_t i = 0; i < g->touched_count; i++)
        g->touched[i]->told = false;
    g->quiet = false;
}

/* Redirects to a member are told only if what they know of its end has changed, so that a chain
 * that grows tells nothing to its other pages. */
static void tell_large(struct sp_group_stage *st, struct sp_group *g, bool resized)
{
    if (resized && !sp_cover_decide_all(st, g)) {
        sp_round_begin(st, g);
        sp_round_resize(st, g);
        resized = false;
    }
    struct sp_shelf_place place = sp_shelf_first(&g->large->winners);
    for (struct sp_hub *h; resized && (h = sp_shelf_next(&g->large->winners, &place));)
        sp_group_cover_touch(g, h->best);
    place = sp_shelf_first(&g->large->loose); /* content without words is held by no hub */
    for (struct sp_member *m; resized && (m = sp_shelf_next(&g->large->loose, &place));)
        sp_group_cover_touch(g, m);
    for (uint32_t i = 0; i < g->touched_count && !st->err; i++) {
        struct sp_member *m = g->touched[i];
        struct sight before = seen_behind(m);
        m->touched = false;
        sp_group_tell(st, g, m, resized);
        if (!sees_the_same(before, seen_behind(m)))
            sp_large_touch_redirects(st, g, m);
        if (sp_round_runs(g) && sp_large_has_redirects(g, m)) /* which may have been told a newer
                                                               * status than m */
            sp_round_begin(st, g);
    }
    for (uint32_t i = 0; i < g->touched_count; i++) /* not before: the verdicts of a step agree */
        sp_hub_stand(st, g->touched[i]);
}

void sp_group_cover_tell(struct sp_group_stage *st, struct sp_group *g)
{
    if (st->err)
        return;
    bool resized = take_new_size(g);
    if (resized)
        sp_round_resize(st, g);
    if (g->large)
        tell_large(st, g, resized);
    else
        tell_small(st, g, resized);
    g->touched_count = 0;
    g->said_count = g->count;
}

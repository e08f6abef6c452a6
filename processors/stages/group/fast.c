/* Mode fast: the approximations of tier 1. Source: Zhu et al., WWW 2012, sections 5.1 and 5.2.
 *
 * A page's representative is the signature of its winner before the change. So a changed winner, or
 * a page that is alone, is compared with its own former content. In a large group it is the winner
 * that the page was told last, because others may not be decided yet. A changed page that resembles
 * its representative stays, and its cell only stores it (`settled`). Any other page leaves the
 * group and asks tier 2.
 *
 * In the paper a group has one winner, whose signature is the group's representative signature R.
 * Here a group that is connected by a chain has several winners. A page resembles its own winner
 * but not always the best one; if it were compared with the best one, it would leave at each
 * change. A page that has just become content has no winner yet, and is compared with the group's
 * best page with words.
 *
 * The representative needs no storage of its own: it is the winner's content in the table of
 * signatures. So it is read without a search, moves with its page, and survives a restart.
 *
 * A page that is left alone has been parted from its group by the change of another page, so it has
 * not asked tier 2 since. It was only just unlike those pages, and often resembles them again as
 * soon as it gets the same change. So its next change asks tier 2, however small (`parted`). The
 * page whose change parted them asks at once.
 *
 * When a page stays, nobody checks whether the group is still connected. A group is connected as
 * long as all of its pages resemble its winner. So only a group with pages unlike the winner can
 * have come apart; the cover knows these pages, as they are winners themselves. If they are more
 * than a share of the group (fast.recheck_share), it is re-checked. In a small group that costs one
 * comparison for each member that has come or changed since the last one and for each of its
 * children in the forest, and for members that have come off one with each of the others
 * (forest.c). In a large group it costs a walk over its bonds but no comparison; with a share of 0,
 * only a walk over the smaller pieces (bonds.c). */
#include "group/debt.h"
#include "group/large.h"

static struct sp_signature *best_of_large(struct sp_group_stage *st, const struct sp_group *g)
{
    struct sp_shelf_place place = sp_shelf_first(&g->large->ranks);
    struct sp_hub *best = sp_shelf_next(&g->large->ranks, &place);
    return best ? sp_hub_signature(st, best) : NULL;
}

static struct sp_signature *best_of_small(struct sp_group_stage *st, struct sp_group *g)
{
    for (uint32_t i = 0; i < g->winner_count; i++) {
        struct sp_signature *s = sp_member_signature(st, g, g->winners[i]);
        if (!s || sp_member_has_words(st, s))
            return s;
    }
    return NULL;
}

/* The hub of the winner that the member was told last, which costs no decision; NULL if it was told
 * none in this group, or if that page no longer has content there. */
static struct sp_hub *told_winner(struct sp_group *g, const struct sp_member *m)
{
    if (m->said_epoch != m->epoch)
        return NULL;
    if (sp_id_is_zero(m->said_winner))
        return m->hub;
    const struct sp_member *w = sp_large_find(g, m->said_winner);
    return w ? w->hub : NULL;
}

/* NULL if it has no winner with words: a page without words resembles nothing, so it cannot be a
 * representative. */
static struct sp_signature *winner_of(struct sp_group_stage *st, struct sp_group *g,
                                      struct sp_member *m)
{
    if (m->kind != SP_PAGE_CONTENT)
        return NULL;
    if (m->hub) {
        struct sp_hub *winner = told_winner(g, m);
        return winner ? sp_hub_signature(st, winner) : NULL;
    }
    struct sp_signature *s = g->large || !m->winner ? NULL : sp_member_signature(st, g, m->winner);
    return s && sp_member_has_words(st, s) ? s : NULL;
}

static struct sp_signature *best_of(struct sp_group_stage *st, struct sp_group *g)
{
    return g->large ? best_of_large(st, g) : best_of_small(st, g);
}

struct sp_signature *sp_fast_representative(struct sp_group_stage *st, struct sp_group *g,
                                            struct sp_member *m)
{
    if (st->options.mode != SP_MODE_FAST)
        return NULL;
    struct sp_signature *s = winner_of(st, g, m);
    if (!s && !st->err)
        s = best_of(st, g);
    return s ? sp_signature_ref(s) : NULL;
}

/* Whether the changed page was left alone by its group and must ask tier 2. */
static bool seeks(struct sp_group_stage *st, struct sp_group *g)
{
    if (!g->parted)
        return false;
    g->parted = false;
    sp_group_changed(st, g);
    return sp_group_has_one_content(g) && st->options.canary != SP_CANARY_QUIET_ALONE;
}

bool sp_fast_resembles(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                       const struct sp_signature *representative, bool *ret_settled)
{
    struct sp_signature *s = sp_member_signature(st, g, m);
    if (st->options.canary == SP_CANARY_LATE_REPRESENTATIVE)
        representative = s;
    bool seeking = seeks(st, g);
    *ret_settled = false;
    if (!s || !representative)
        return false;
    st->stats.compared++;
    bool similar = sp_similar(&st->options.similarity, s, representative, NULL);
    *ret_settled = similar && !seeking && !st->options.fast_asks_tier2;
    st->stats.settled += *ret_settled;
    st->stats.left_alone += similar && seeking;
    return similar;
}

/* Marks m and all that redirect to it; returns how many these are. */
static uint32_t mark_behind(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    struct sp_member **list = sp_alloc(g->count * sizeof(struct sp_member *));
    uint32_t count = 0;
    m->mark = 1;
    list[count++] = m;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t redirects;
        struct sp_member *const *to_it = sp_member_redirects(g, list[at]->page, &redirects);
        st->stats.hops += redirects;
        for (uint32_t i = 0; i < redirects; i++) {
            if (to_it[i]->mark)
                continue; /* a loop ends here */
            to_it[i]->mark = 1;
            list[count++] = to_it[i];
        }
    }
    sp_free(list);
    return count;
}

uint32_t sp_fast_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    for (uint32_t i = 0; i < g->count; i++)
        g->members[i]->mark = 0;
    if (mark_behind(st, g, m) == g->count)
        return 1;
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *x = g->members[i];
        if (x->parent && x->parent->mark != x->mark) {
            x->parent = NULL;
            sp_member_changed(st, g, x);
        }
    }
    m->asks = true;
    return 2;
}

/* ---- the repair ---- */

/* The number of winners with words, and of pages with content, other than the group's best one. */
struct unlike {
    uint32_t winners;
    uint32_t others;
};

static struct unlike unlike_in_large(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    l->may_decide = UINT32_MAX;
    sp_cover_decide_all(st, g);
    uint32_t others = g->count - l->redirects.count;
    return (struct unlike){l->winners.count ? l->winners.count - 1 : 0, others ? others - 1 : 0};
}

static struct unlike unlike_in_small(struct sp_group_stage *st, struct sp_group *g)
{
    struct unlike n = {0, g->count - g->empty_count};
    for (uint32_t i = 0; i < g->winner_count && g->winner_count > 1; i++) {
        const struct sp_signature *s = sp_member_signature(st, g, g->winners[i]);
        n.winners += s && sp_member_has_words(st, s);
    }
    return (struct unlike){n.winners ? n.winners - 1 : 0, n.others ? n.others - 1 : 0};
}

/* With a share of 0, a large group is suspect unless it is known that one winner covers all others.
 * To find out would cost a comparison for each page whenever the winner leaves; to check the doubts
 * costs no more than in mode exact. */
static bool is_suspect(struct sp_group_stage *st, struct sp_group *g)
{
    if (st->options.canary == SP_CANARY_NO_RECHECK)
        return false;
    if (g->large && st->options.fast_recheck_share <= 0)
        return !sp_bonds_one_covers_all(g->large);
    struct unlike n = g->large ? unlike_in_large(st, g) : unlike_in_small(st, g);
    return !st->err && (double)n.winners > st->options.fast_recheck_share * n.others;
}

/* With a share of 0 every group was connected before the change: either it was re-checked after the
 * previous change, or all of it resembled its winner. */
static void recheck_large(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed)
{
    if (st->options.fast_recheck_share > 0)
        sp_bonds_doubt_all(g);
    sp_debt_split(st, g, changed);
}

static void recheck_small(struct sp_group_stage *st, struct sp_group *g)
{
    uint32_t pieces = sp_group_forest_verify(st, g);
    if (pieces > 1 && !st->err)
        sp_group_split(st, g, pieces);
}

void sp_fast_recheck(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed)
{
    if (sp_group_checks_departures(st) || sp_debt_is_apart(g) || st->err)
        return;
    uint64_t splits = st->stats.splits;
    if (is_suspect(st, g)) {
        st->stats.rechecks++;
        if (g->large)
            recheck_large(st, g, changed);
        else
            recheck_small(st, g);
    }
    if (g->large && !sp_debt_is_apart(g))
        sp_bonds_trust(g);
    if (!st->err && st->stats.splits != splits)
        sp_group_cover_renew(st, g);
}

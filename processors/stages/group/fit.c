/* A group becomes large or small. What large.h keeps is built from the members; a small group has
 * its members as a sorted list and a spanning forest. The winners are kept in both
 * directions, so that members need not be compared again. */
#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"

enum { LARGE_FROM = 64 };

/* ---- a group becomes large ---- */

static void restore_winner(struct sp_group *g, struct sp_hub *h)
{
    const struct sp_member *m = h->best;
    if (!m->winner || m->todo || (m->winner != m && !m->winner->hub))
        return;
    h->todo = false;
    sp_cover_restore(g->large, h, m->winner->hub, m->winner == m ? 0 : m->similarity);
    h->judged = UINT64_MAX; /* until restore_winners has counted the winners */
}

static void restore_winners(struct sp_group *g)
{
    struct sp_large *l = g->large;
    struct sp_hub_list todo = l->todo;
    l->todo = (struct sp_hub_list){0};
    for (uint32_t i = 0; i < todo.count; i++) {
        struct sp_hub *h = todo.hubs[i];
        restore_winner(g, h);
        if (h->todo)
            sp_hub_list_add(&l->todo, h);
    }
    for (uint32_t i = 0; i < todo.count; i++)
        if (todo.hubs[i]->judged)
            todo.hubs[i]->judged = l->wins;
    sp_free(todo.hubs);
}

static void clear_lists(struct sp_group *g)
{
    sp_free(g->members);
    sp_free(g->empty);
    sp_free(g->winners);
    g->members = g->empty = g->winners = NULL;
    g->count = g->cap = g->empty_count = g->empty_cap = g->winner_count = g->winner_cap = 0;
}

static void build(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_member **all = sp_memdup(g->members, g->count * sizeof *all);
    uint32_t count = g->count;
    st->group_bytes -= count * (size_t)SP_MEMBER_BYTES;
    clear_lists(g);
    sp_large_begin(st, g);
    for (uint32_t i = 0; i < count; i++) {
        bool touched = all[i]->touched;
        /* Its row names the parent, which can leave without touching this member. */
        all[i]->dirty |= !all[i]->stored || all[i]->parent;
        all[i]->parent = NULL;
        if (all[i]->dirty)
            sp_member_note_dirty(g, all[i]);
        sp_large_insert(st, g, all[i]);
        if (!touched)
            sp_group_cover_untouch(g, all[i]);
    }
    restore_winners(g);
    sp_patterns_restore(g);
    for (uint32_t i = 0; i < count; i++)
        all[i]->todo = false; /* hubs are judged, not members */
    /* If it was in pieces when it was written, all its hubs are in doubt. */
    if (!sp_debt_is_apart(g) || st->options.canary == SP_CANARY_TRUST_READ)
        sp_bonds_trust(g);
    g->large->changed.set = false; /* the order of insertion is arbitrary, so no page has won in
                                    * between */
    if (sp_round_runs(g))          /* read from the store: its winners are not known yet */
        sp_cover_forget_all(g);
    sp_free(all);
}

/* ---- a group becomes small ---- */

static void keep_winner(struct sp_member *m)
{
    struct sp_hub *h = m->hub;
    m->winner = !h ? m : sp_cover_is_decided(h) ? h->winner->best : NULL;
    m->incumbent = m->winner == m;
    if (!h || m->winner == m)
        m->similarity = 0;
    else
        m->similarity = h->winner == h ? sp_hub_own_similarity(h) : h->similarity;
}

static void make_small(struct sp_group_stage *st, struct sp_group *g)
{
    uint32_t count;
    bool apart = sp_debt_is_apart(g);
    sp_round_end(st, g);
    sp_debt_whole(st, g);
    struct sp_shelf_place place = sp_shelf_first(&g->large->members);
    for (struct sp_member *m; (m = sp_shelf_next(&g->large->members, &place));)
        keep_winner(m);
    struct sp_member **all = sp_large_take_all(st, g, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct sp_member *m = all[i];
        sp_member_insert(st, g, m);
        sp_group_cover_touch(g, m); /* all, so that their order does not depend on history */
        if (m->kind != SP_PAGE_CONTENT)
            m->winner = NULL;
        else if (!m->winner)
            sp_group_cover_judge_later(g, m);
        else if (m->winner == m)
            sp_group_cover_restore_winner(st, g, m);
    }
    sp_free(all);
    if (!sp_group_checks_departures(st) && !apart)
        return;
    uint32_t pieces = sp_group_forest_rebuild(st, g);
    if (pieces > 1)
        sp_group_split(st, g, pieces);
}

/* A group becomes small again at a quarter of the limit, so that it does not switch often. A group
 * that was large when it was written is made large when it is read, so that the result does not
 * depend on a restart. */
void sp_group_fit(struct sp_group_stage *st, struct sp_group *g)
{
    uint32_t from = st->options.large_from ? st->options.large_from : LARGE_FROM;
    bool small = g->count <= from / 4 || g->count <= 1;
    bool large = g->count > from || (g->was_large && !small);
    if (!g->large && large && !st->options.winner_relation)
        build(st, g);
    else if (g->large && small)
        make_small(st, g);
    g->was_large = false;
}

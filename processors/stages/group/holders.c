/* Which hub holds a member. A hub is made for the first member of a content, and goes when the last
 * has left. See large.h. */
#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"

/* The rank of a hub's member, in which an incumbent has winner.margin more popularity. */
static struct sp_rank standing_of(const struct sp_member *m)
{
    struct sp_rank rank = m->rank;
    rank.popularity += m->incumbent ? m->hub->group->large->stage->options.winner_margin : 0;
    return rank;
}

static int rank_order(const void *key, const void *object)
{
    const struct sp_member *k = key, *m = object;
    struct sp_rank a = standing_of(m), b = standing_of(k);
    return sp_rank_cmp(&a, m->page, &b, k->page);
}

static uint64_t head_of(const struct sp_member *m)
{
    struct sp_rank rank = standing_of(m);
    return sp_rank_head(&rank, m->page);
}

/* ---- the members of one hub */

static void hold(struct sp_hub *h, struct sp_member *m)
{
    sp_shelf_add(&h->several, rank_order, m, head_of(m), m);
}

/* Call before the member is counted. Most hubs have one member, which needs no list. */
static void hold_one_more(struct sp_hub *h, struct sp_member *m)
{
    if (h->holders && !h->several.count)
        hold(h, h->best);
    if (h->holders)
        hold(h, m);
}

static void let_go(struct sp_hub *h, const struct sp_member *m)
{
    if (h->several.count)
        sp_shelf_remove(&h->several, rank_order, m, head_of(m));
}

/* ---- hubs come and go */

static struct sp_hub *make(struct sp_group *g, struct sp_id content)
{
    struct sp_hub *h = sp_hub_new(g, content);
    sp_map_add(&g->large->hubs, h);
    sp_hub_wait_for_index(h);
    sp_bonds_doubt_new(h);
    return h;
}

/* The index tells which hubs it connected, unless it is known that the others do not need it. In an
 * index that is not settled, all members of a headless star are in doubt. */
static void unmake(struct sp_group_stage *st, struct sp_group *g, struct sp_hub *h)
{
    struct sp_large *l = g->large;
    bool whole = sp_bonds_one_covers_all(l);
    if (!whole)
        sp_hubs_index(st, g);
    sp_map_remove(&l->hubs, h->content);
    if (h->indexed && (!whole || sp_debt_is_apart(g)))
        sp_bonds_doubt(h);
    sp_hub_leave_index(st, h);
    if (!h->ghost)
        sp_hub_list_add(&l->gone, h);
}

/* ---- members enter and leave */

/* Sets the hub's best member; NULL: it has none. */
static void set_best(struct sp_group *g, struct sp_hub *h, struct sp_member *best)
{
    struct sp_large *l = g->large;
    if (h->best) {
        sp_cover_leave(g, h);
        sp_hub_unshelve(&l->ranks, h);
    }
    h->best = best;
    if (best) {
        h->rank = standing_of(best);
        h->page = best->page;
        sp_hub_shelve(&l->ranks, h);
    }
}

static void set_best_and_judge(struct sp_group *g, struct sp_hub *h, struct sp_member *best)
{
    set_best(g, h, best);
    sp_cover_judge_later(g->large, h);
}

void sp_hub_enter(struct sp_group *g, struct sp_member *m)
{
    struct sp_hub *h = sp_map_get(&g->large->hubs, m->content);
    if (!h)
        h = make(g, m->content);
    m->hub = h;
    hold_one_more(h, m);
    h->holders++;
    if (!h->best || rank_order(h->best, m) < 0)
        set_best_and_judge(g, h, m);
}

void sp_hub_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    struct sp_hub *h = m->hub;
    let_go(h, m);
    h->holders--;
    m->hub = NULL;
    if (h->best != m)
        return;
    if (h->holders) {
        struct sp_shelf_place place = {0, 0};
        set_best_and_judge(g, h, sp_hub_next(h, &place));
    } else {
        set_best(g, h, NULL);
        unmake(st, g, h);
    }
}

/* False: the hub's best member and its rank are as before. */
static bool reorder(struct sp_group *g, struct sp_member *m, struct sp_rank rank, bool incumbent)
{
    struct sp_hub *h = m->hub;
    bool several = h->several.count;
    let_go(h, m);
    if (h->best == m)
        set_best(g, h, NULL);
    m->rank = rank;
    m->incumbent = incumbent;
    if (several)
        hold(h, m);
    struct sp_shelf_place place = {0, 0};
    struct sp_member *best = several ? sp_hub_next(h, &place) : m;
    if (best == h->best)
        return false;
    set_best(g, h, best);
    return true;
}

void sp_hub_rerank(struct sp_group *g, struct sp_member *m, struct sp_rank rank)
{
    if (reorder(g, m, rank, m->incumbent))
        sp_cover_judge_later(g->large, m->hub);
}

/* The hub stays what its member was told, a winner or a loser. So the next step need not decide it,
 * which may take decisions on all hubs before it; a round tells whatever else has changed. */
bool sp_hub_stand(struct sp_group_stage *st, struct sp_member *m)
{
    bool kept = sp_member_was_kept(m), applies = st->options.winner_margin > 0 && m->hub;
    if (!applies || m->incumbent == kept || st->options.canary == SP_CANARY_NO_STANDING)
        return false;
    struct sp_group *g = m->hub->group;
    struct sp_rank_place changed = g->large->changed;
    bool again = reorder(g, m, m->rank, kept);
    g->large->changed = changed;
    if (!again)
        return false;
    sp_cover_open(g->large, m->hub);
    sp_round_begin(st, g);
    return true;
}

/* ---- at a flush, and at the end */

void sp_hubs_release(struct sp_group *g)
{
    struct sp_large *l = g->large;
    for (uint32_t i = 0; i < l->borrowed.count; i++) {
        struct sp_hub *h = l->borrowed.hubs[i];
        if (h->ghost) /* nothing else keeps the content of a ghost */
            continue;
        sp_signature_unref(h->signature);
        h->signature = NULL;
    }
    l->borrowed.count = 0;
    if (!l->gone.count)
        return;
    sp_hub_list_drop_gone(&l->todo);
    sp_hub_list_drop_gone(&l->doubts);
    sp_hub_list_drop_gone(&l->asking);
    for (uint32_t i = 0; i < l->gone.count; i++) {
        struct sp_hub *h = l->gone.hubs[i];
        sp_winning_forget(l, h);
        h->over = true;
        if (!h->followers)
            sp_hub_free(h);
    }
    l->gone.count = 0;
}

void sp_hubs_clear(struct sp_group *g)
{
    struct sp_large *l = g->large;
    sp_winning_end_lookup(l);
    for (uint32_t row = 0; row < l->row_count; row++) {
        struct sp_hub *h = l->rows[row];
        if (!h)
            continue;
        while (h->out)
            sp_bond_free(h->out);
        while (h->in)
            sp_bond_free(h->in);
        sp_hub_free(h);
    }
    sp_stars_domain_free(l->domain);
    sp_stars_free(l->stars);
    sp_free(l->unindexed.hubs);
    sp_free(l->rows);
    sp_free(l->free_rows);
    sp_free(l->todo.hubs);
    sp_free(l->recent.hubs);
    sp_free(l->near.hubs);
    sp_free(l->deposed.hubs);
    sp_free(l->doubts.hubs);
    sp_free(l->asking.hubs);
    sp_free(l->borrowed.hubs);
    sp_free(l->gone.hubs);
}

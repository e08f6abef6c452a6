/* See large.h. */
#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"

/* ---- orders */

static int rank_order(const void *key, const void *object)
{
    const struct sp_member *k = key, *m = object;
    return sp_rank_cmp(&m->rank, m->page, &k->rank, k->page);
}

/* ---- the members of one content */

static void hold(struct sp_hub *h, struct sp_member *m)
{
    sp_shelf_add(&h->several, rank_order, m, sp_rank_head(&m->rank, m->page), m);
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
        sp_shelf_remove(&h->several, rank_order, m, sp_rank_head(&m->rank, m->page));
}

static enum sp_err row_signature(void *arg, uint32_t row, const struct sp_signature **ret_signature)
{
    struct sp_large *l = arg;
    const struct sp_signature *s = sp_hub_signature(l->stage, sp_hub_at(l, row));
    if (!s)
        return l->stage->err;
    *ret_signature = s;
    return SP_OK;
}

static uint64_t row_name(void *arg, uint32_t row)
{
    const struct sp_large *l = arg;
    return sp_hub_at(l, row)->content.lo;
}

/* ---- rows of the index */

static void take_row(struct sp_large *l, struct sp_hub *h)
{
    if (l->free_row_count) {
        h->row = l->free_rows[--l->free_row_count];
    } else {
        h->row = l->row_count++;
        sp_grow(&l->rows, &l->row_cap, l->row_count);
    }
    l->rows[h->row] = h;
}

static void free_hub(struct sp_large *l, struct sp_hub *h)
{
    sp_grow(&l->free_rows, &l->free_row_cap, l->free_row_count + 1);
    l->free_rows[l->free_row_count++] = h->row;
    l->rows[h->row] = NULL;
    sp_pattern_forget(h);
    sp_shelf_done(&h->several);
    sp_signature_unref(h->signature);
    sp_free(h);
}

/* ---- which winner covers it */

static void unfollow(struct sp_hub *h)
{
    struct sp_hub *winner = h->winner;
    h->winner = NULL;
    if (!winner || winner == h)
        return;
    *h->at_follower = h->next_follower;
    if (h->next_follower)
        h->next_follower->at_follower = h->at_follower;
    if (--winner->followers == 0 && winner->over)
        free_hub(h->group->large, winner);
}

void sp_hub_follow(struct sp_hub *h, struct sp_hub *winner)
{
    if (winner == h->winner)
        return;
    unfollow(h);
    h->winner = winner;
    if (!winner || winner == h)
        return;
    winner->followers++;
    h->next_follower = winner->first_follower;
    h->at_follower = &winner->first_follower;
    if (h->next_follower)
        h->next_follower->at_follower = &h->next_follower;
    winner->first_follower = h;
}

/* ---- into the index and out of it */

static void make_index(struct sp_large *l)
{
    l->stars = sp_stars_new(&(struct sp_stars_options){.similarity = l->stage->options.similarity,
                                                       .signature = row_signature,
                                                       .name = row_name,
                                                       .arg = l});
    l->domain = sp_stars_domain_new(l->stars, 1, true);
}

bool sp_hubs_are_many(const struct sp_large *l)
{
    return l->unindexed.count > sp_bonds_at_once(l->stage);
}

static void wait_for_index(struct sp_large *l, struct sp_hub *h)
{
    h->place_in = l->unindexed.count;
    sp_hub_list_add(&l->unindexed, h);
    if (l->unready.next == &l->unready && sp_hubs_are_many(l))
        sp_lru_push(&l->stage->unready, &l->unready);
}

static void wait_no_longer(struct sp_large *l, struct sp_hub *h)
{
    struct sp_hub *last = l->unindexed.hubs[--l->unindexed.count];
    l->unindexed.hubs[h->place_in] = last;
    last->place_in = h->place_in;
}

/* Puts hubs into the index until so many are left outside. */
static void index_until(struct sp_group_stage *st, struct sp_group *g, uint32_t left)
{
    struct sp_large *l = g->large;
    uint32_t doubts = l->doubts.count;
    if (l->unindexed.count <= left || st->err)
        return;
    if (!l->stars)
        make_index(l);
    for (uint32_t i = left; i < l->unindexed.count; i++) {
        struct sp_hub *h = l->unindexed.hubs[i];
        h->indexed = true;
        if (sp_debt_is_apart(g))
            sp_bonds_doubt_one(h);
        if (!st->err)
            sp_hub_put_into_index(st, h);
    }
    l->unindexed.count = left;
    sp_bonds_settle(st, g);
    if (sp_debt_is_apart(g))
        return;
    while (l->doubts.count > doubts) /* no hub has left since, so those were connected */
        sp_bonds_trust_one(l->doubts.hubs[--l->doubts.count]);
}

void sp_hubs_index_now(struct sp_group_stage *st, struct sp_group *g)
{
    index_until(st, g, 0);
}

void sp_hubs_index(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_hubs_are_many(g->large))
        sp_hubs_index_now(st, g);
    else if (!sp_debt_is_apart(g))
        sp_bonds_check_later(st, g);
}

void sp_hubs_index_some(struct sp_group_stage *st, struct sp_group *g, uint32_t hubs)
{
    uint32_t outside = g->large->unindexed.count;
    index_until(st, g, outside > hubs ? outside - hubs : 0);
}

bool sp_group_stage_prepare(struct sp_group_stage *st, uint32_t contents)
{
    struct sp_lru *oldest = st->unready.prev;
    if (oldest == &st->unready || st->err)
        return false;
    struct sp_large *l = SP_LRU_OBJECT(oldest, struct sp_large, unready);
    sp_hubs_index_some(st, l->group, contents);
    if (!sp_hubs_are_many(l)) {
        sp_lru_remove(oldest);
        sp_lru_init(oldest);
    }
    return st->unready.prev != &st->unready && !st->err;
}

bool sp_hub_probe(struct sp_group_stage *st, struct sp_hub *h, struct sp_touches *ret_touches)
{
    const struct sp_signature *s = sp_hub_signature(st, h);
    *ret_touches = (struct sp_touches){0};
    if (!s)
        return false;
    st->stats.hub_probes++;
    enum sp_err err = sp_stars_probe(h->group->large->domain, s, h->row, ret_touches);
    if (err != SP_OK)
        sp_group_stage_note(st, err);
    return err == SP_OK;
}

void sp_hub_put_into_index(struct sp_group_stage *st, struct sp_hub *h)
{
    struct sp_touches touches = {0};
    const struct sp_signature *s = sp_hub_signature(st, h);
    if (!s)
        return;
    struct sp_large *l = h->group->large;
    st->stats.hub_probes++;
    enum sp_err err = sp_stars_insert(l->domain, h->row, s, &touches);
    if (err != SP_OK) {
        sp_group_stage_note(st, err);
        return;
    }
    sp_bonds_note(h, &touches);
    if (touches.risen != SP_STARS_NONE)
        sp_bonds_moved(sp_hub_at(l, touches.risen));
}

static struct sp_hub *make(struct sp_group *g, const struct sp_member *m)
{
    struct sp_hub *h = sp_calloc(1, sizeof *h);
    h->content = m->content;
    h->group = g;
    take_row(g->large, h);
    sp_map_add(&g->large->hubs, h);
    h->own_similarity = -1;
    wait_for_index(g->large, h);
    sp_bonds_doubt_new(h);
    return h;
}

/* Takes the hub out of the index, where it may still be used, as a ghost. */
static void take_out(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h)
{
    h->ghost = true;
    sp_bonds_drop(h);
    if (st->err || !sp_hub_signature(st, h))
        return;
    enum sp_err err = sp_stars_remove(l->domain, h->row, &h->ghost);
    if (err != SP_OK)
        sp_group_stage_note(st, err);
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
    if (h->indexed)
        take_out(st, l, h);
    else
        wait_no_longer(l, h);
    if (!h->ghost)
        sp_hub_list_add(&l->gone, h);
}

/* ---- members */

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
        h->rank = best->rank;
        h->page = best->page;
        sp_hub_shelve(&l->ranks, h);
        sp_cover_judge_later(l, h);
    }
}

void sp_hub_enter(struct sp_group *g, struct sp_member *m)
{
    struct sp_hub *h = sp_map_get(&g->large->hubs, m->content);
    if (!h)
        h = make(g, m);
    m->hub = h;
    hold_one_more(h, m);
    h->holders++;
    if (!h->best || rank_order(h->best, m) < 0)
        set_best(g, h, m);
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
        set_best(g, h, sp_hub_next(h, &place));
    } else {
        set_best(g, h, NULL);
        unmake(st, g, h);
    }
}

void sp_hub_rerank(struct sp_group *g, struct sp_member *m, struct sp_rank rank)
{
    struct sp_hub *h = m->hub;
    bool several = h->several.count;
    let_go(h, m);
    if (h->best == m)
        set_best(g, h, NULL);
    m->rank = rank;
    if (several)
        hold(h, m);
    struct sp_shelf_place place = {0, 0};
    struct sp_member *best = several ? sp_hub_next(h, &place) : m;
    if (best != h->best)
        set_best(g, h, best);
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
            free_hub(l, h);
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
        sp_pattern_forget(h);
        sp_shelf_done(&h->several);
        sp_signature_unref(h->signature);
        sp_free(h);
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

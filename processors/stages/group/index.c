/* The star index of the hubs of a large group. Hubs wait outside until it is needed; if many wait,
 * steps put in some each. */
#include "group/debt.h"
#include "group/large.h"

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
    return l->unindexed.count > sp_group_rows_at_once(l->stage);
}

/* ---- hubs wait and leave */

void sp_hub_wait_for_index(struct sp_hub *h)
{
    struct sp_large *l = h->group->large;
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

void sp_hub_leave_index(struct sp_group_stage *st, struct sp_hub *h)
{
    if (h->indexed)
        take_out(st, h->group->large, h);
    else
        wait_no_longer(h->group->large, h);
}

/* ---- hubs enter */

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
            sp_bonds_enter(st, h);
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

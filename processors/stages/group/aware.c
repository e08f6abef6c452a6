/* Chooses the members of a large group to which a step sends their status, besides those that have
 * changed.
 *
 * When winners have come or gone, the status of any member ranked behind the first of them may have
 * changed. A step looks at a few hubs there; a round (debt.h) tells the rest. */
#include "group/debt.h"
#include "group/large.h"

/* ---- whom a step tells */

enum { AT_ONCE = 2 };

/* Members, other than those that have changed, that do not know their status. */
struct unaware {
    struct sp_member *losers[AT_ONCE]; /* that were losers before */
    uint32_t loser_count;
    bool more;
};

static void tell(struct sp_large *l, struct sp_member *m, struct unaware *u)
{
    if (l->at_once) {
        l->at_once--;
        sp_group_cover_touch(m->hub->group, m);
    } else {
        u->more = true;
    }
}

static void find(struct sp_large *l, struct sp_member *m, struct unaware *u)
{
    if (sp_member_was_kept(m) || (m->hub->winner == m->hub && m->hub->best == m))
        tell(l, m, u);
    else if (u->loser_count < AT_ONCE)
        u->losers[u->loser_count++] = m;
    else
        u->more = true;
}

/* Looks at the first two untouched members only: if any member's status has changed, the status of
 * the former winner or of the first other member has. */
static void find_holders(struct sp_group_stage *st, struct sp_hub *h, struct unaware *u)
{
    enum { KINDS = 2 };
    uint32_t looked = 0, seen = 0;
    bool aware = true;
    struct sp_shelf_place place = {0, 0};
    sp_cover_decide(st, h);
    for (struct sp_member *m; !st->err && looked < KINDS && (m = sp_hub_next(h, &place)); seen++) {
        if (m->touched)
            continue;
        looked++;
        if (sp_group_is_told(st, h->group, m))
            continue;
        aware = false;
        find(h->group->large, m, u);
    }
    u->more |= !aware && seen < h->holders;
}

/* Looks at a few hubs after the first change: a former or new winner is usually among them. */
static void find_behind(struct sp_group_stage *st, struct sp_large *l, struct unaware *u)
{
    enum { NEXT = 8 };
    struct sp_shelf_place place = sp_cover_after(&l->ranks, &l->changed);
    struct sp_hub *h;
    for (uint32_t looked = 0; !st->err && (h = sp_shelf_next(&l->ranks, &place)); looked++) {
        if (looked == NEXT) {
            u->more = true;
            return;
        }
        find_holders(st, h, u);
    }
}

/* A running round begins again whatever has changed, because it has told some members a status in
 * between. */
void sp_aware_tell(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    struct unaware u = {.loser_count = 0};
    l->at_once = st->options.only_rounds ? 0 : AT_ONCE;
    for (uint32_t i = 0; i < l->todo.count && !st->err; i++)
        find_holders(st, l->todo.hubs[i], &u);
    if (l->changed.set)
        find_behind(st, l, &u);
    u.more |= u.loser_count > l->at_once;
    for (uint32_t i = 0; i < u.loser_count && !u.more; i++)
        tell(l, u.losers[i], &u);
    if (u.more || (l->changed.set && sp_round_runs(g)))
        sp_round_begin(st, g);
}

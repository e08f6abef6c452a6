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

/* The next member of the hub that is not touched, at `place`; NULL: there are no more. *seen counts
 * the members before and with it. */
static struct sp_member *next_untouched(const struct sp_hub *h, struct sp_shelf_place *place,
                                        uint32_t *seen)
{
    struct sp_member *m;
    while ((m = sp_hub_next(h, place)) && m->touched)
        (*seen)++;
    *seen += m != NULL;
    return m;
}

/* Untouched members of a hub that are looked at: if any member's status has changed, that of the
 * former winner or of the first other member has. */
enum { KINDS = 2 };

/* Whether nothing but a round tells the hub's members, once `more` is set: they lose, and lost
 * before. Invariant: a step tells the same whether such a hub is decided or not, because another
 * winner would leave them losers, whom a step tells only if `more` is not set. */
static bool can_wait(const struct sp_hub *h)
{
    struct sp_shelf_place place = {0, 0};
    const struct sp_member *m;
    uint32_t seen = 0;
    if (!sp_cover_loses(h))
        return false;
    for (int i = 0; i < KINDS && (m = next_untouched(h, &place, &seen)); i++)
        if (sp_member_was_kept(m))
            return false;
    return true;
}

static void find_holders(struct sp_group_stage *st, struct sp_hub *h, struct unaware *u)
{
    uint32_t seen = 0;
    bool aware = true;
    struct sp_shelf_place place = {0, 0};
    struct sp_member *m;
    if (u->more && can_wait(h))
        return;
    if (!sp_cover_decide(st, h)) {
        u->more = true;
        return;
    }
    for (int i = 0; i < KINDS && !st->err && (m = next_untouched(h, &place, &seen)); i++) {
        if (sp_group_is_told(st, h->group, m))
            continue;
        aware = false;
        find(h->group->large, m, u);
    }
    u->more |= !aware && seen < h->holders;
}

enum { NEXT = 8 }; /* hubs after the first change: a former or new winner is usually among them */

static bool has_more_than_next(const struct sp_large *l, struct sp_shelf_place place)
{
    for (int i = 0; i < NEXT; i++)
        if (!sp_shelf_next(&l->ranks, &place))
            return false;
    return sp_shelf_next(&l->ranks, &place);
}

static void find_behind(struct sp_group_stage *st, struct sp_large *l, struct unaware *u)
{
    struct sp_shelf_place place = sp_place_after(&l->ranks, &l->changed);
    struct sp_hub *h;
    u->more |= has_more_than_next(l, place);
    for (int i = 0; i < NEXT && !st->err && (h = sp_shelf_next(&l->ranks, &place)); i++)
        if (!u->more || l->at_once)
            find_holders(st, h, u);
}

/* A running round begins again whatever has changed, because it has told some members a status in
 * between. */
void sp_aware_touch(struct sp_group_stage *st, struct sp_group *g)
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

/* Splits of large groups, at once or when they are paid for: see debt.h. */
#include "base/order.h"
#include "group/debt.h"
#include "group/large.h"

/* Until the large pieces leave, that of a changed page leaves if it is small: the page may belong
 * to another group now, which must not join this one. */
void sp_debt_split(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed)
{
    if (sp_debt_is_apart(g)) {
        sp_large_part_around(st, g, changed);
        return;
    }
    uint32_t later = sp_bonds_split(st, g, &changed, sp_large_at_once(st));
    if (later && st->options.canary != SP_CANARY_NO_LATE_SPLIT)
        sp_debt_put_off(st, g, later);
    else if (sp_debt_is_apart(g))
        sp_large_part_around(st, g, changed);
}

/* While members are moving to the group, edges are missing: it is checked when all have arrived. */
static void split(struct sp_group_stage *st, struct sp_group *g, uint32_t most)
{
    enum { PIECES_PER_UNIT = 4 };
    uint32_t later = 0, paid = g->debt->paid, before = g->count;
    sp_debt_changed(st, g->debt);
    if (g->open_count)
        g->unsure = true;
    else if (g->large)
        later = sp_bonds_split(st, g, NULL, most);
    if (!later)
        sp_debt_whole(st, g);
    else if (g->count < before)
        g->debt->unpaid = sp_large_pieces_at_once(st, g->large) / PIECES_PER_UNIT;
    else
        g->debt->unpaid = later - paid > paid ? later - paid : paid;
}

/* Whether its index has too much to do for one step. */
static bool owes_many(const struct sp_group_stage *st, const struct sp_large *l)
{
    return sp_hubs_are_many(l) || sp_bonds_owed(l) > sp_group_rows_at_once(st);
}

static void settle_some(struct sp_group_stage *st, struct sp_group *g, uint32_t units)
{
    enum { PER_UNIT = 16, PART = 4 };
    uint32_t most = (sp_group_rows_at_once(st) + PART - 1) / PART;
    uint32_t rows = units < most / PER_UNIT ? PER_UNIT * units : most;
    if (sp_hubs_are_many(g->large))
        sp_hubs_index_some(st, g, rows);
    else
        sp_bonds_settle_some(st, g, rows);
}

/* Splits the group and publishes what has changed. False: its index has too much to do before, and
 * only a part of that is done. */
static bool split_if_ready(struct sp_group_stage *st, struct sp_group *g, uint32_t units,
                           uint32_t most)
{
    if (g->large && owes_many(st, g->large)) {
        settle_some(st, g, units);
        return false;
    }
    split(st, g, most);
    if (!st->err)
        sp_group_cover_publish(st, g);
    return true;
}

bool sp_debt_split_now(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_debt_is_apart(g))
        return false;
    split_if_ready(st, g, UINT32_MAX, UINT32_MAX);
    return true;
}

void sp_debt_check(struct sp_group_stage *st, struct sp_group *g)
{
    sp_bonds_check_later(st, g);
    if (g->large->ranks.count <= sp_group_rows_at_once(st))
        split(st, g, UINT32_MAX);
}

uint32_t sp_debt_pay_split(struct sp_group_stage *st, struct sp_debt *d, uint32_t units)
{
    uint32_t members = sp_min_u32(units, d->unpaid);
    if (!d->unpaid)
        return 0;
    sp_debt_changed(st, d);
    d->paid += members;
    if (members < d->unpaid) {
        d->unpaid -= members;
        return members;
    }
    struct sp_group *g = sp_group_get(st, d->group);
    if (g && !split_if_ready(st, g, units, d->paid))
        d->unpaid = 1;
    return members;
}

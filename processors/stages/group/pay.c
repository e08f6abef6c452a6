/* Pays debts (debt.h): with each crawled page, and when there is nothing else to do. */
#include "base/order.h"
#include "base/prefetch.h"
#include "group/debt.h"
#include "group/departures.h"
#include "group/large.h"

static int after_page(const void *key, const void *object)
{
    int order = sp_id_cmp(((const struct sp_member *)object)->page, *(const struct sp_id *)key);
    return order ? order : -1;
}

/* The members after the next one, which later units ask for, are scattered in memory. */
static void prefetch_after(const struct sp_shelf *members, struct sp_shelf_place place)
{
    const struct sp_member *second = sp_shelf_next(members, &place);
    const struct sp_member *third = second ? sp_shelf_next(members, &place) : NULL;
    if (third)
        sp_prefetch_bytes(third, sizeof *third);
    if (second && second->hub)
        sp_prefetch_bytes(second->hub, sizeof *second->hub);
}

/* The next member of the round, or NULL at its end. */
static struct sp_member *next_member(const struct sp_group *g, struct sp_debt *d)
{
    const struct sp_shelf *members = &g->large->members;
    for (;; d->lap = true, d->at = (struct sp_id){0, 0}) {
        struct sp_shelf_place place = sp_shelf_find(members, after_page, &d->at, d->at.hi);
        struct sp_member *m = sp_shelf_next(members, &place);
        bool in_lap = m && !(d->lap && sp_id_cmp(m->page, d->last) > 0);
        prefetch_after(members, place);
        if (in_lap || d->lap)
            return in_lap ? m : NULL;
    }
}

/* Returns how many members the round has visited. */
static uint32_t pay_group(struct sp_group_stage *st, struct sp_group *g, uint32_t members)
{
    enum { TOGETHER = 64, MOST = 32 };
    uint32_t visited = 0;
    sp_group_cover_publish(st, g); /* a group that was just read has no winners yet */
    if (!sp_round_runs(g))
        return 0;
    g->large->may_read = sp_group_rows_at_once(st);
    g->large->may_decide = sp_group_rows_at_once(st) * (1 + sp_min_u32(members / TOGETHER, MOST));
    for (; !st->err && sp_round_runs(g) && visited < members; visited++) {
        struct sp_member *m = next_member(g, g->debt);
        if (!m) {
            sp_round_end(st, g);
            break;
        }
        sp_debt_changed(st, g->debt); /* a new lap may have begun */
        if (!sp_group_can_tell(st, g, m))
            return members;
        g->debt->at = m->page;
        st->stats.told_later += sp_group_tell(st, g, m, g->debt->resized);
        if (sp_hub_stand(st, m))
            return members;
    }
    return visited;
}

static uint32_t pay_round(struct sp_group_stage *st, const struct sp_debt *d, uint32_t members)
{
    struct sp_group *g = d->running ? sp_group_get(st, d->group) : NULL;
    return g ? pay_group(st, g, members) : 0;
}

void sp_debt_pay_one(struct sp_group_stage *st)
{
    struct sp_debt *d = st->err ? NULL : sp_debt_next(st);
    if (!d)
        return;
    st->debt_paid = d->group;
    sp_debt_pay_split(st, d, 1);
    if (!d->fresh) {
        pay_round(st, d, 1);
        return;
    }
    d->fresh = false;
    sp_debt_changed(st, d);
}

bool sp_group_stage_work(struct sp_group_stage *st, uint32_t units)
{
    enum { UNITS_PER_PART = 128, MOST_PARTS = 16, UNITS_PER_GROUP = 16 };
    sp_group_stage_send_departed(st, sp_min_u32(1 + units / UNITS_PER_PART, MOST_PARTS));
    for (uint32_t groups = st->debts.count; groups > 0 && units > 0 && !st->err; groups--) {
        struct sp_debt *d = sp_debt_next(st);
        if (!d)
            break;
        st->debt_paid = d->group;
        uint32_t took = UNITS_PER_GROUP + sp_debt_pay_split(st, d, units);
        took += pay_round(st, d, units);
        units -= sp_min_u32(took, units);
    }
    return sp_group_stage_owes(st);
}

bool sp_group_stage_owes(const struct sp_group_stage *st)
{
    return (st->debts.count || st->departures) && !st->err;
}

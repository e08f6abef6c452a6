/* See debt.h. */
#include "group/debt.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/prefetch.h"
#include "group/departures.h"
#include "group/large.h"
#include "group/stored.h"

/* ---- orders */

static int group_order(const void *key, const void *object)
{
    return sp_group_id_cmp(((const struct sp_debt *)object)->group,
                           *(const struct sp_group_id *)key);
}

static int after_group(const void *key, const void *object)
{
    int order = group_order(key, object);
    return order ? order : -1;
}

static int after_page(const void *key, const void *object)
{
    int order = sp_id_cmp(((const struct sp_member *)object)->page, *(const struct sp_id *)key);
    return order ? order : -1;
}

/* ---- rounds */

static void changed(struct sp_group_stage *st, struct sp_debt *d)
{
    if (d->changed)
        return;
    d->changed = true;
    sp_grow(&st->debts_changed, &st->debts_changed_cap, st->debts_changed_count + 1);
    st->debts_changed[st->debts_changed_count++] = d;
}

struct sp_debt *sp_debt_find(const struct sp_group_stage *st, struct sp_group_id group)
{
    struct sp_shelf_place place = sp_shelf_find(&st->debts, group_order, &group, group.birth);
    struct sp_debt *d = sp_shelf_next(&st->debts, &place);
    return d && sp_group_id_eq(d->group, group) ? d : NULL;
}

static struct sp_debt *make(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_debt *d = g->debt;
    if (!d) {
        d = g->debt = sp_calloc(1, sizeof *d);
        d->group = g->id;
        sp_shelf_add(&st->debts, group_order, &d->group, d->group.birth, d);
    }
    changed(st, d);
    return d;
}

static void drop_if_done(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_debt *d = g->debt;
    changed(st, d);
    if (d->running || d->unpaid)
        return;
    g->debt = NULL;
    sp_shelf_remove(&st->debts, group_order, &d->group, d->group.birth);
    d->over = true;
}

void sp_round_begin(struct sp_group_stage *st, struct sp_group *g)
{
    if (st->options.canary == SP_CANARY_NO_ROUND ||
        (sp_round_runs(g) && st->options.canary == SP_CANARY_SHORT_ROUND))
        return;
    struct sp_debt *d = make(st, g);
    d->last = d->at;
    d->lap = false;
    d->fresh = true;
    d->running = true;
}

void sp_round_resize(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_round_runs(g))
        return;
    g->debt->resized = true;
    changed(st, g->debt);
}

void sp_round_end(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_round_runs(g))
        return;
    struct sp_debt *d = g->debt;
    d->running = d->lap = d->resized = false;
    d->at = d->last = (struct sp_id){0, 0};
    drop_if_done(st, g);
}

/* ---- splits */

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
        make(st, g)->unpaid = later;
    else if (sp_debt_is_apart(g))
        sp_large_part_around(st, g, changed);
}

void sp_debt_check_later(struct sp_group_stage *st, struct sp_group *g)
{
    uint32_t contents = g->large->ranks.count;
    if (!sp_debt_is_apart(g))
        make(st, g)->unpaid = contents ? contents : 1;
    sp_bonds_doubt_all(g);
}

void sp_debt_whole(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_debt_is_apart(g))
        return;
    g->debt->unpaid = g->debt->paid = 0;
    drop_if_done(st, g);
}

/* While members are moving to the group, edges are missing: it is checked when all have arrived. */
static void split(struct sp_group_stage *st, struct sp_group *g, uint32_t most)
{
    enum { PIECES_PER_UNIT = 4 };
    uint32_t later = 0, paid = g->debt->paid, before = g->count;
    changed(st, g->debt);
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
    return sp_hubs_are_many(l) || sp_bonds_owed(l) > sp_bonds_at_once(st);
}

static void settle_some(struct sp_group_stage *st, struct sp_group *g, uint32_t units)
{
    enum { PER_UNIT = 16, PART = 4 };
    uint32_t most = (sp_bonds_at_once(st) + PART - 1) / PART;
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
    sp_debt_check_later(st, g);
    if (g->large->ranks.count <= sp_bonds_at_once(st))
        split(st, g, UINT32_MAX);
}

/* Returns how many units it took. */
static uint32_t pay_split(struct sp_group_stage *st, struct sp_debt *d, uint32_t units)
{
    uint32_t members = sp_min_u32(units, d->unpaid);
    if (!d->unpaid)
        return 0;
    changed(st, d);
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

/* ---- paying */

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
    g->large->may_read = sp_bonds_at_once(st);
    g->large->may_decide = sp_bonds_at_once(st) * (1 + sp_min_u32(members / TOGETHER, MOST));
    for (; !st->err && sp_round_runs(g) && visited < members; visited++) {
        struct sp_member *m = next_member(g, g->debt);
        if (!m) {
            sp_round_end(st, g);
            break;
        }
        changed(st, g->debt); /* a new lap may have begun */
        if (!sp_group_can_tell(st, g, m))
            return members;
        g->debt->at = m->page;
        st->stats.told_later += sp_group_tell(st, g, m, g->debt->resized);
    }
    return visited;
}

/* The round after the one that was last paid for. */
static struct sp_debt *next_round(const struct sp_group_stage *st)
{
    struct sp_shelf_place place =
        sp_shelf_find(&st->debts, after_group, &st->debt_paid, st->debt_paid.birth);
    struct sp_debt *d = sp_shelf_next(&st->debts, &place);
    if (d)
        return d;
    place = sp_shelf_first(&st->debts);
    return sp_shelf_next(&st->debts, &place);
}

static uint32_t pay_round(struct sp_group_stage *st, const struct sp_debt *d, uint32_t members)
{
    struct sp_group *g = d->running ? sp_group_get(st, d->group) : NULL;
    return g ? pay_group(st, g, members) : 0;
}

void sp_debt_pay_one(struct sp_group_stage *st)
{
    struct sp_debt *d = st->err ? NULL : next_round(st);
    if (!d)
        return;
    st->debt_paid = d->group;
    pay_split(st, d, 1);
    if (!d->fresh) {
        pay_round(st, d, 1);
        return;
    }
    d->fresh = false;
    changed(st, d);
}

bool sp_group_stage_work(struct sp_group_stage *st, uint32_t units)
{
    enum { UNITS_PER_PART = 128, MOST_PARTS = 16, UNITS_PER_GROUP = 16 };
    sp_group_stage_send_departed(st, sp_min_u32(1 + units / UNITS_PER_PART, MOST_PARTS));
    for (uint32_t groups = st->debts.count; groups > 0 && units > 0 && !st->err; groups--) {
        struct sp_debt *d = next_round(st);
        if (!d)
            break;
        st->debt_paid = d->group;
        uint32_t took = UNITS_PER_GROUP + pay_split(st, d, units);
        took += pay_round(st, d, units);
        units -= sp_min_u32(took, units);
    }
    return sp_group_stage_owes(st);
}

bool sp_group_stage_owes(const struct sp_group_stage *st)
{
    return (st->debts.count || st->departures) && !st->err;
}

/* ---- stored */

enum { LAP = 1, FRESH = 2, RESIZED = 4, APART = 8, NO_ROUND = 16, PAID = 32 };

static bool load_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_group_stage *st = arg;
    struct sp_debt *d = sp_calloc(1, sizeof *d);
    struct sp_reader k = sp_reader(key), v = sp_reader(value);
    sp_read_u8(&k);
    d->group.birth = sp_read_u64(&k);
    d->group.founder = sp_read_id(&k);
    d->at = sp_read_id(&v);
    d->last = sp_read_id(&v);
    uint8_t bits = sp_read_u8(&v);
    d->lap = bits & LAP;
    d->fresh = bits & FRESH;
    d->resized = bits & RESIZED;
    d->unpaid = bits & APART ? sp_read_u32(&v) : 0;
    d->paid = bits & PAID ? sp_read_u32(&v) : 0;
    d->running = !(bits & NO_ROUND);
    d->stored = true;
    bool owes = d->running || d->unpaid;
    if (k.failed || v.failed || sp_reader_left(&k) || sp_reader_left(&v) || !owes) {
        sp_free(d);
        st->err = SP_CORRUPT;
        return false;
    }
    sp_shelf_add(&st->debts, group_order, &d->group, d->group.birth, d);
    return true;
}

enum sp_err sp_debts_load(struct sp_group_stage *st)
{
    enum sp_err err = sp_store_scan(st->store, sp_view("T", 1), sp_view(NULL, 0), load_row, st);
    return st->err ? st->err : err;
}

static void flush_row(struct sp_group_stage *st, struct sp_debt *d)
{
    sp_group_key(st, 'T', d->group);
    if (!d->over) {
        sp_buf_reset(&st->value);
        sp_buf_put_id(&st->value, d->at);
        sp_buf_put_id(&st->value, d->last);
        sp_buf_put_u8(&st->value, (uint8_t)((d->lap ? LAP : 0) | (d->fresh ? FRESH : 0) |
                                            (d->resized ? RESIZED : 0) | (d->unpaid ? APART : 0) |
                                            (d->running ? 0 : NO_ROUND) | (d->paid ? PAID : 0)));
        if (d->unpaid)
            sp_buf_put_u32(&st->value, d->unpaid);
        if (d->paid)
            sp_buf_put_u32(&st->value, d->paid);
        sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    } else if (d->stored) {
        sp_store_delete(st->store, sp_buf_view(&st->key));
    }
}

void sp_debts_flush(struct sp_group_stage *st)
{
    for (uint32_t i = 0; i < st->debts_changed_count; i++) {
        struct sp_debt *d = st->debts_changed[i];
        flush_row(st, d);
        d->changed = false;
        d->stored = true;
        if (d->over)
            sp_free(d);
    }
    st->debts_changed_count = 0;
}

void sp_debts_free(struct sp_group_stage *st)
{
    struct sp_shelf_place place = sp_shelf_first(&st->debts);
    for (uint32_t i = 0; i < st->debts_changed_count; i++)
        if (st->debts_changed[i]->over)
            sp_free(st->debts_changed[i]);
    for (struct sp_debt *d; (d = sp_shelf_next(&st->debts, &place));)
        sp_free(d);
    sp_shelf_done(&st->debts);
    sp_free(st->debts_changed);
}

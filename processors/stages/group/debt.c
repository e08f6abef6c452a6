/* See debt.h. */
#include "group/debt.h"

#include "base/mem.h"
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

/* ---- debts */

void sp_debt_changed(struct sp_group_stage *st, struct sp_debt *d)
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

/* The round after the one that was last paid for. */
struct sp_debt *sp_debt_next(const struct sp_group_stage *st)
{
    struct sp_shelf_place place =
        sp_shelf_find(&st->debts, after_group, &st->debt_paid, st->debt_paid.birth);
    struct sp_debt *d = sp_shelf_next(&st->debts, &place);
    if (d)
        return d;
    place = sp_shelf_first(&st->debts);
    return sp_shelf_next(&st->debts, &place);
}

static struct sp_debt *make(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_debt *d = g->debt;
    if (!d) {
        d = g->debt = sp_calloc(1, sizeof *d);
        d->group = g->id;
        sp_shelf_add(&st->debts, group_order, &d->group, d->group.birth, d);
    }
    sp_debt_changed(st, d);
    return d;
}

static void drop_if_done(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_debt *d = g->debt;
    sp_debt_changed(st, d);
    if (d->running || d->unpaid)
        return;
    g->debt = NULL;
    sp_shelf_remove(&st->debts, group_order, &d->group, d->group.birth);
    d->over = true;
}

/* ---- rounds */

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
    sp_debt_changed(st, g->debt);
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

void sp_debt_put_off(struct sp_group_stage *st, struct sp_group *g, uint32_t members)
{
    make(st, g)->unpaid = members;
}

void sp_debt_whole(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_debt_is_apart(g))
        return;
    g->debt->unpaid = g->debt->paid = 0;
    drop_if_done(st, g);
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

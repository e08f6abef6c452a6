/* See untold.h. */
#include "group/untold.h"

#include "base/mem.h"
#include "base/prefetch.h"
#include "group/large.h"
#include "group/stored.h"

/* ---- orders */

static int group_order(const void *key, const void *object)
{
    return sp_group_id_cmp(((const struct sp_untold *)object)->group,
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

static void changed(struct sp_group_stage *st, struct sp_untold *u)
{
    if (u->changed)
        return;
    u->changed = true;
    sp_grow(&st->untold_changed, &st->untold_changed_cap, st->untold_changed_count + 1);
    st->untold_changed[st->untold_changed_count++] = u;
}

struct sp_untold *sp_untold_find(const struct sp_group_stage *st, struct sp_group_id group)
{
    struct sp_shelf_place place = sp_shelf_find(&st->untold, group_order, &group, group.birth);
    struct sp_untold *u = sp_shelf_next(&st->untold, &place);
    return u && sp_group_id_eq(u->group, group) ? u : NULL;
}

static struct sp_untold *make(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_untold *u = g->untold;
    if (!u) {
        u = g->untold = sp_calloc(1, sizeof *u);
        u->group = g->id;
        sp_shelf_add(&st->untold, group_order, &u->group, u->group.birth, u);
    }
    changed(st, u);
    return u;
}

static void drop_if_done(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_untold *u = g->untold;
    changed(st, u);
    if (u->running || u->unpaid)
        return;
    g->untold = NULL;
    sp_shelf_remove(&st->untold, group_order, &u->group, u->group.birth);
    u->over = true;
}

void sp_untold_begin(struct sp_group_stage *st, struct sp_group *g)
{
    if (st->options.canary == SP_CANARY_NO_ROUND ||
        (sp_untold_runs(g) && st->options.canary == SP_CANARY_SHORT_ROUND))
        return;
    struct sp_untold *u = make(st, g);
    u->last = u->at;
    u->lap = false;
    u->fresh = true;
    u->running = true;
}

void sp_untold_resize(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_untold_runs(g))
        return;
    g->untold->resized = true;
    changed(st, g->untold);
}

void sp_untold_end(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_untold_runs(g))
        return;
    struct sp_untold *u = g->untold;
    u->running = u->lap = u->resized = false;
    u->at = u->last = (struct sp_id){0, 0};
    drop_if_done(st, g);
}

/* ---- splits */

/* Until the large pieces leave, that of a changed page leaves if it is small: the page may belong
 * to another group now, which must not join this one. */
void sp_untold_split(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed)
{
    if (sp_untold_is_apart(g)) {
        sp_bonds_part_from(st, g, changed);
        return;
    }
    uint32_t later = sp_bonds_split(st, g, &changed);
    if (later && st->options.canary != SP_CANARY_NO_LATE_SPLIT)
        make(st, g)->unpaid = later;
}

void sp_untold_whole(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_untold_is_apart(g))
        return;
    g->untold->unpaid = 0;
    drop_if_done(st, g);
}

/* While members are moving to the group, edges are missing: it is checked when all have arrived. */
bool sp_untold_split_now(struct sp_group_stage *st, struct sp_group *g)
{
    if (!sp_untold_is_apart(g))
        return false;
    if (g->open_count)
        g->unsure = true;
    else if (g->large)
        sp_bonds_split(st, g, NULL);
    sp_untold_whole(st, g);
    if (!st->err)
        sp_group_cover_publish(st, g);
    return true;
}

static void pay_split(struct sp_group_stage *st, struct sp_untold *u, uint32_t members)
{
    if (!u->unpaid)
        return;
    changed(st, u);
    if (members < u->unpaid) {
        u->unpaid -= members;
        return;
    }
    struct sp_group *g = sp_group_get(st, u->group);
    if (g)
        sp_untold_split_now(st, g);
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
static struct sp_member *next_member(const struct sp_group *g, struct sp_untold *u)
{
    const struct sp_shelf *members = &g->large->members;
    for (;; u->lap = true, u->at = (struct sp_id){0, 0}) {
        struct sp_shelf_place place = sp_shelf_find(members, after_page, &u->at, u->at.hi);
        struct sp_member *m = sp_shelf_next(members, &place);
        bool in_lap = m && !(u->lap && sp_id_cmp(m->page, u->last) > 0);
        prefetch_after(members, place);
        if (in_lap || u->lap)
            return in_lap ? m : NULL;
    }
}

static void pay_group(struct sp_group_stage *st, struct sp_group *g, uint32_t members)
{
    sp_group_cover_publish(st, g); /* a group that was just read has no winners yet */
    while (!st->err && sp_untold_runs(g) && members-- > 0) {
        struct sp_member *m = next_member(g, g->untold);
        if (!m) {
            sp_untold_end(st, g);
            return;
        }
        g->untold->at = m->page;
        changed(st, g->untold);
        st->stats.told_later += sp_group_tell(st, g, m, g->untold->resized);
    }
}

/* The round after the one that was last paid for. */
static struct sp_untold *next_round(const struct sp_group_stage *st)
{
    struct sp_shelf_place place =
        sp_shelf_find(&st->untold, after_group, &st->untold_paid, st->untold_paid.birth);
    struct sp_untold *u = sp_shelf_next(&st->untold, &place);
    if (u)
        return u;
    place = sp_shelf_first(&st->untold);
    return sp_shelf_next(&st->untold, &place);
}

static void pay_round(struct sp_group_stage *st, const struct sp_untold *u, uint32_t members)
{
    struct sp_group *g = u->running ? sp_group_get(st, u->group) : NULL;
    if (g)
        pay_group(st, g, members);
}

void sp_untold_pay_one(struct sp_group_stage *st)
{
    struct sp_untold *u = st->err ? NULL : next_round(st);
    if (!u)
        return;
    st->untold_paid = u->group;
    pay_split(st, u, 1);
    if (!u->fresh) {
        pay_round(st, u, 1);
        return;
    }
    u->fresh = false;
    changed(st, u);
}

bool sp_group_stage_work(struct sp_group_stage *st, uint32_t units)
{
    struct sp_untold *u = st->err ? NULL : next_round(st);
    if (u) {
        st->untold_paid = u->group;
        pay_split(st, u, units);
        pay_round(st, u, units);
    }
    return sp_group_stage_owes(st);
}

bool sp_group_stage_owes(const struct sp_group_stage *st)
{
    return st->untold.count && !st->err;
}

/* ---- stored */

enum { LAP = 1, FRESH = 2, RESIZED = 4, APART = 8, NO_ROUND = 16 };

static struct sp_id read_id(struct sp_reader *r)
{
    struct sp_id id = {0, 0};
    struct sp_view bytes = sp_read_bytes(r, sizeof id);
    if (!r->failed)
        memcpy(&id, bytes.data, sizeof id);
    return id;
}

static bool load_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_group_stage *st = arg;
    struct sp_untold *u = sp_calloc(1, sizeof *u);
    struct sp_reader k = sp_reader(key), v = sp_reader(value);
    sp_read_u8(&k);
    u->group.birth = sp_read_u64(&k);
    u->group.founder = read_id(&k);
    u->at = read_id(&v);
    u->last = read_id(&v);
    uint8_t bits = sp_read_u8(&v);
    u->lap = bits & LAP;
    u->fresh = bits & FRESH;
    u->resized = bits & RESIZED;
    u->unpaid = bits & APART ? sp_read_u32(&v) : 0;
    u->running = !(bits & NO_ROUND);
    u->stored = true;
    if (k.failed || v.failed || sp_reader_left(&k) || sp_reader_left(&v)) {
        sp_free(u);
        st->err = SP_CORRUPT;
        return false;
    }
    sp_shelf_add(&st->untold, group_order, &u->group, u->group.birth, u);
    return true;
}

enum sp_err sp_untold_load(struct sp_group_stage *st)
{
    enum sp_err err = sp_store_scan(st->store, sp_view("T", 1), sp_view(NULL, 0), load_row, st);
    return st->err ? st->err : err;
}

static void flush_row(struct sp_group_stage *st, struct sp_untold *u)
{
    sp_group_key(st, 'T', u->group);
    if (!u->over) {
        sp_buf_reset(&st->value);
        sp_buf_put(&st->value, &u->at, sizeof u->at);
        sp_buf_put(&st->value, &u->last, sizeof u->last);
        sp_buf_put_u8(&st->value, (uint8_t)((u->lap ? LAP : 0) | (u->fresh ? FRESH : 0) |
                                            (u->resized ? RESIZED : 0) | (u->unpaid ? APART : 0) |
                                            (u->running ? 0 : NO_ROUND)));
        if (u->unpaid)
            sp_buf_put_u32(&st->value, u->unpaid);
        sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
    } else if (u->stored) {
        sp_store_delete(st->store, sp_buf_view(&st->key));
    }
}

void sp_untold_flush(struct sp_group_stage *st)
{
    for (uint32_t i = 0; i < st->untold_changed_count; i++) {
        struct sp_untold *u = st->untold_changed[i];
        flush_row(st, u);
        u->changed = false;
        u->stored = true;
        if (u->over)
            sp_free(u);
    }
    st->untold_changed_count = 0;
}

void sp_untold_free(struct sp_group_stage *st)
{
    struct sp_shelf_place place = sp_shelf_first(&st->untold);
    for (uint32_t i = 0; i < st->untold_changed_count; i++)
        if (st->untold_changed[i]->over)
            sp_free(st->untold_changed[i]);
    for (struct sp_untold *u; (u = sp_shelf_next(&st->untold, &place));)
        sp_free(u);
    sp_shelf_done(&st->untold);
    sp_free(st->untold_changed);
}

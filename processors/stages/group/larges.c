/* The large groups in memory: makes and frees what each has. */
#include "base/mem.h"
#include "group/large.h"

void sp_large_use(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_lru *used = &g->large->used;
    if (used->next == used)
        sp_lru_push(&st->large_used, used);
    sp_ages_use(&st->large_ages, &g->age);
    g->large->used_round = st->large_ages.round;
    g->large->used_step = st->steps;
}

static void enter(struct sp_group_stage *st, struct sp_group *g)
{
    sp_ages_leave(&g->age);
    sp_ages_enter(&st->large_ages, &g->age);
    st->large_count++;
    sp_lru_init(&g->large->used);
    sp_lru_init(&g->large->unready);
    sp_large_use(st, g);
}

static void leave(struct sp_group_stage *st, struct sp_group *g)
{
    st->grown = st->grown == g ? NULL : st->grown;
    st->large_count--;
    st->large_bytes -= g->large->bytes;
    sp_lru_remove(&g->large->used);
    sp_lru_remove(&g->large->unready);
    sp_ages_leave(&g->age);
    sp_ages_enter(&st->group_ages, &g->age);
}

void sp_large_begin(struct sp_group_stage *st, struct sp_group *g)
{
    g->large = sp_calloc(1, sizeof *g->large);
    g->large->stage = st;
    g->large->group = g;
    enter(st, g);
}

/* By page; free the list. */
static struct sp_member **all_members(const struct sp_group *g, uint32_t *ret_count)
{
    struct sp_member **all = sp_alloc((g->count + 1) * sizeof *all), *m;
    struct sp_shelf_place place = sp_shelf_first(&g->large->members);
    *ret_count = 0;
    while ((m = sp_shelf_next(&g->large->members, &place)))
        all[(*ret_count)++] = m;
    return all;
}

struct sp_member **sp_large_take_all(struct sp_group_stage *st, struct sp_group *g,
                                     uint32_t *ret_count)
{
    struct sp_large *l = g->large;
    struct sp_member **all = all_members(g, ret_count);
    sp_hubs_clear(g);
    for (uint32_t i = 0; i < *ret_count; i++) {
        struct sp_member *m = all[i];
        sp_free(m->end);
        m->end = NULL;
        m->hub = NULL;
        m->hangs = m->loose = false;
    }
    sp_shelf_done(&l->members);
    sp_shelf_done(&l->ranks);
    sp_shelf_done(&l->winners);
    sp_shelf_done(&l->open);
    sp_shelf_done(&l->redirects);
    sp_shelf_done(&l->loose);
    sp_map_done(&l->hubs);
    sp_free(l->dirty.members);
    leave(st, g);
    sp_free(l);
    g->large = NULL;
    g->count = 0;
    return all;
}

void sp_large_free(struct sp_group_stage *st, struct sp_group *g)
{
    uint32_t count;
    struct sp_member **all = sp_large_take_all(st, g, &count);
    for (uint32_t i = 0; i < count; i++)
        sp_member_free(all[i]);
    sp_free(all);
}

/* Makes, steps and frees the group stage. The actors are in page.c and actor.c. */
#include <stddef.h>

#include "base/mem.h"
#include "group/debt.h"
#include "group/departures.h"
#include "group/stored.h"

struct sp_group_stage *sp_group_stage_new(const struct sp_group_stage_options *options,
                                          struct sp_store *store, const struct sp_outbox *outbox)
{
    struct sp_group_stage *st = sp_calloc(1, sizeof *st);
    st->options = *options;
    st->store = store;
    st->outbox = *outbox;
    sp_ages_init(&st->page_ages);
    sp_ages_init(&st->group_ages);
    sp_ages_init(&st->large_ages);
    sp_lru_init(&st->large_used);
    sp_lru_init(&st->unready);
    st->contents = options->contents;
    st->cache_bytes = options->cache_bytes;
    if (!st->contents) {
        st->cache_bytes = options->cache_bytes / 2;
        st->contents = st->own_contents = sp_contents_new(store, 1, options->cache_bytes / 2);
    }
    struct sp_view value = {0};
    enum sp_err err = sp_store_get(store, sp_view("B", 1), &value);
    if (err == SP_OK && value.len == sizeof st->stored_head)
        memcpy(&st->stored_head, value.data, value.len);
    else if (err != SP_NOT_FOUND && st->err == SP_OK)
        st->err = err == SP_OK ? SP_CORRUPT : err;
    st->clock = st->stored_head.clock;
    st->debt_paid = st->stored_head.debt_paid;
    st->epochs = st->stored_head.epochs;
    if (st->err == SP_OK)
        st->err = sp_debts_load(st);
    if (st->err == SP_OK)
        st->err = sp_departures_load(st);
    return st;
}

void sp_group_stage_free(struct sp_group_stage *st)
{
    if (!st)
        return;
    for (struct sp_age *oldest; (oldest = sp_ages_oldest(&st->large_ages));)
        sp_group_free(st, SP_LRU_OBJECT(oldest, struct sp_group, age));
    for (struct sp_age *oldest; (oldest = sp_ages_oldest(&st->group_ages));)
        sp_group_free(st, SP_LRU_OBJECT(oldest, struct sp_group, age));
    for (struct sp_age *oldest; (oldest = sp_ages_oldest(&st->page_ages));) {
        struct sp_page_actor *p = SP_LRU_OBJECT(oldest, struct sp_page_actor, age);
        sp_ages_leave(oldest);
        sp_page_actor_free(p);
    }
    sp_debts_free(st);
    sp_departures_free(st);
    sp_contents_free(st->own_contents);
    sp_map_done(&st->pages);
    sp_map_done(&st->groups);
    sp_buf_done(&st->key);
    sp_buf_done(&st->value);
    sp_free(st->holders);
    sp_free(st);
}

enum sp_err sp_group_stage_error(const struct sp_group_stage *st)
{
    return st->err;
}

enum sp_err sp_group_stage_step(struct sp_group_stage *st, struct sp_message *m)
{
    if (st->err) {
        sp_message_free(m);
        return st->err;
    }
    st->steps++;
    if (m->clock > st->clock)
        st->clock = m->clock;
    bool crawled = m->kind == SP_MSG_CRAWLED;
    switch (sp_message_actor(m)) {
    case SP_ACTOR_PAGE:
        sp_page_actor_step(st, m);
        break;
    case SP_ACTOR_GROUP:
        sp_group_actor_step(st, m);
        break;
    case SP_ACTOR_CELL:
        SP_ASSERT(!"a message of tier 1");
    }
    if (crawled)
        sp_debt_pay_one(st);
    sp_departures_step(st);
    return st->err;
}

size_t sp_group_stage_cache_bytes(const struct sp_group_stage *st)
{
    struct sp_contents_stats own = {0};
    if (st->own_contents)
        sp_contents_stats(st->own_contents, &own);
    return st->page_bytes + st->group_bytes + st->large_bytes + own.cache_bytes;
}

void sp_group_stage_stats(const struct sp_group_stage *st, struct sp_group_stage_stats *ret_stats)
{
    *ret_stats = st->stats;
    ret_stats->cache_bytes = sp_group_stage_cache_bytes(st);
}

/* What most files of the stage call. Calls none of them. */
#include "base/mem.h"
#include "group/large.h"
#include "group/page_actor.h"

void sp_group_stage_note(struct sp_group_stage *st, enum sp_err err)
{
    if (st->err == SP_OK)
        st->err = err;
}

bool sp_group_checks_departures(const struct sp_group_stage *st)
{
    return st->options.mode != SP_MODE_FAST || st->options.fast_rechecks;
}

uint32_t sp_group_rows_at_once(const struct sp_group_stage *st)
{
    enum { AT_ONCE = 1 << 10 };
    return st->options.settle_at_once ? st->options.settle_at_once : AT_ONCE;
}

void sp_group_stage_send(struct sp_group_stage *st, struct sp_message *m)
{
    m->clock = st->clock;
    st->outbox.send(st->outbox.arg, m);
}

void sp_page_actor_changed(struct sp_group_stage *st, struct sp_page_actor *p)
{
    if (p->dirty)
        return;
    p->dirty = true;
    p->next_dirty = st->dirty_pages;
    st->dirty_pages = p;
}

void sp_group_changed(struct sp_group_stage *st, struct sp_group *g)
{
    if (g->dirty)
        return;
    g->dirty = true;
    g->next_dirty = st->dirty_groups;
    st->dirty_groups = g;
}

void sp_member_note_holder(struct sp_group_stage *st, struct sp_group *g)
{
    if (g->holder)
        return;
    g->holder = true;
    sp_grow(&st->holders, &st->holder_cap, st->holder_count + 1);
    st->holders[st->holder_count++] = g;
}

bool sp_group_has_one_content(const struct sp_group *g)
{
    uint32_t without = g->large ? g->large->redirects.count : g->empty_count;
    return g->count - without == 1;
}

void sp_fast_part(struct sp_group_stage *st, struct sp_group *g)
{
    if (st->options.mode != SP_MODE_FAST || g->parted || !sp_group_has_one_content(g))
        return;
    g->parted = true;
    sp_group_changed(st, g);
}

/* Members leave a group for a higher one or for one of their own, as rows of `members` messages.
 * Each move increments the epoch of the membership and tells the page its new group. A forgotten
 * page is dropped instead. */
#include <stdlib.h>

#include "base/mem.h"
#include "group/debt.h"
#include "group/departures.h"
#include "group/large.h"

static void note_gone(struct sp_group *g, const struct sp_member *m)
{
    if (!m->stored)
        return;
    sp_grow(&g->gone, &g->gone_cap, g->gone_count + 1);
    g->gone[g->gone_count++] = m->page;
}

static int by_content(const void *a, const void *b)
{
    const struct sp_member *x = *(struct sp_member *const *)a, *y = *(struct sp_member *const *)b;
    int order = sp_id_cmp(x->content, y->content);
    return order ? order : sp_id_cmp(x->page, y->page);
}

/* Makes a row of the member, which is in no list any more; the row takes the URL. */
static struct sp_leaver take_out(struct sp_group *g, struct sp_member *m)
{
    struct sp_id none = {0, 0};
    struct sp_leaver l = sp_leaver_of(m, m->parent ? m->parent->page : none);
    l.row.epoch++;
    m->url = NULL;
    note_gone(g, m);
    return l;
}

/* Sends the members to their new group in messages of about options.message_bytes, each of which
 * can be read without the others. The last of them is `last`, with the edge that caused the move;
 * after a split it has none, and may be NULL. A message has each signature once. The members must
 * no longer be winners here. */
static void hand_over(struct sp_group_stage *st, struct sp_group *g, struct sp_member **leaving,
                      uint32_t count, struct sp_group_id to, struct sp_message *last)
{
    struct sp_leaver *leavers = sp_alloc(count * sizeof *leavers);
    qsort(leaving, count, sizeof(struct sp_member *), by_content);
    for (uint32_t i = 0; i < count; i++)
        leavers[i] = take_out(g, leaving[i]);
    for (uint32_t i = 0; i < count; i++) /* parents are among them */
        sp_member_free(leaving[i]);
    sp_group_changed(st, g);
    sp_depart(st, g->id, to, leavers, count, last);
}

void sp_group_dissolve(struct sp_group_stage *st, struct sp_group *g, struct sp_group_id higher,
                       struct sp_message *edge)
{
    uint32_t count = g->count;
    struct sp_member **all =
        g->large ? sp_large_take_all(st, g, &count) : sp_memdup(g->members, g->count * sizeof *all);
    st->group_bytes -= g->count * (size_t)SP_MEMBER_BYTES;
    g->count = g->empty_count = g->winner_count = g->touched_count = 0;
    g->level = 0;
    g->parted = false;
    sp_round_end(st, g);
    sp_debt_whole(st, g);
    st->stats.merges++;
    hand_over(st, g, all, count, higher, edge);
    sp_free(all);
}

/* Drops a forgotten member, which is in no list and to which no page redirects. */
static void drop(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    struct sp_message *a = sp_message_new(SP_MSG_ASSIGNED);
    a->page = m->page;
    a->assigned.epoch = m->epoch + 1;
    sp_group_stage_send(st, a);
    note_gone(g, m);
    sp_member_free(m);
    sp_group_changed(st, g);
}

bool sp_group_drop_last(struct sp_group_stage *st, struct sp_group *g)
{
    if (g->count != 1 || g->large || g->open_count || !sp_member_is_husk(g->members[0]))
        return false;
    struct sp_member *m = g->members[0];
    sp_group_cover_untouch(g, m);
    sp_member_remove(st, g, m);
    g->level = 0;
    sp_round_end(st, g);
    sp_debt_whole(st, g);
    drop(st, g, m);
    return true;
}

void sp_group_forget_version(struct sp_group *g, struct sp_member *m)
{
    uint32_t sources = 0;
    if (!sp_member_is_husk(m))
        return;
    if (g->large)
        sources = sp_large_has_redirects(g, m);
    else
        sp_member_redirects(g, m->page, &sources);
    if (sources)
        m->version = m->content_version = 0;
}

static bool has_content(struct sp_member *const *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (members[i]->kind == SP_PAGE_CONTENT)
            return true;
    return false;
}

/* The last message for a page that leaves because of its own change names it; NULL for other
 * pieces. */
static struct sp_message *of_change(struct sp_member *const *leaving, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (leaving[i]->asks) {
            struct sp_message *m = sp_message_new(SP_MSG_MEMBERS);
            m->page = leaving[i]->page;
            return m;
        }
    return NULL;
}

void sp_group_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member **leaving,
                    uint32_t count)
{
    if (count == 1 && sp_member_is_husk(leaving[0])) {
        drop(st, g, leaving[0]);
        return;
    }
    struct sp_group_id id = {++st->clock, leaving[0]->page};
    bool content = has_content(leaving, count);
    st->stats.splits++;
    hand_over(st, g, leaving, count, id, of_change(leaving, count));
    if (content)
        sp_fast_part(st, g);
}

void sp_group_split(struct sp_group_stage *st, struct sp_group *g, uint32_t pieces)
{
    struct sp_member **leaving = sp_alloc(g->count * sizeof *leaving);
    sp_group_cover_forget_pieces(g);
    for (uint32_t piece = 1; piece < pieces; piece++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < g->count; i++)
            if (g->members[i]->mark == piece)
                leaving[count++] = g->members[i];
        for (uint32_t i = 0; i < count; i++) {
            sp_group_cover_untouch(g, leaving[i]);
            sp_member_remove(st, g, leaving[i]);
        }
        sp_group_leave(st, g, leaving, count);
    }
    sp_free(leaving);
}

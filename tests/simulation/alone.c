/* Mode fast: a page that was parted from its group by the change of another page must look for
 * edges at its next change. Seen from outside, a `members` message without edges and without a page
 * of its own brings such a page, alone, to a new group. The page that stays behind is not seen. */
#include <string.h>

#include "state.h"

static void leave_none(struct world *w, uint32_t page)
{
    w->told[page].alone = (struct sp_group_id){0};
    w->told[page].version = 0;
}

static void note_members(struct world *w, const struct sp_message *m)
{
    const struct sp_link *link = &m->link;
    uint32_t first = sim_page_number(w, link->rows[0].page);
    bool others = false;
    w->tells = true;
    for (uint32_t i = 0; i < w->pages; i++) {
        if (sp_group_id_eq(w->told[i].alone, link->group))
            leave_none(w, i);                                                 /* another joins it */
        others |= i != first && sp_group_id_eq(w->told[i].came, link->group); /* an earlier part */
    }
    for (uint32_t i = 0; i < link->row_count; i++)
        w->told[sim_page_number(w, link->rows[i].page)] = (struct told_groups){.came = link->group};
    if (others || link->edge_count || link->more || link->row_count != 1 || !sp_id_is_zero(m->page))
        return;
    w->told[first].alone = link->group;
    w->told[first].version = link->rows[0].version;
}

/* Whether this version of the page is the first after the one that was left alone. If the first was
 * overtaken by the next, the group has seen both. */
static bool is_next(const struct world *w, uint32_t page, int64_t version)
{
    for (int64_t i = w->told[page].version + 1; i < version; i++)
        if (w->page_of[i - 1] == page)
            return false;
    return version > w->told[page].version;
}

void sim_check_alone(struct world *w, const struct sp_message *m)
{
    if (w->o.mode != SP_MODE_FAST)
        return;
    if (m->kind == SP_MSG_MEMBERS && m->link.row_count)
        note_members(w, m);
    if (m->kind != SP_MSG_PUT)
        return;
    uint32_t page = sim_page_number(w, m->page);
    if (!w->told[page].alone.birth || !is_next(w, page, m->put.content_version))
        return;
    if (m->put.settled)
        sim_fail(w, "a page that was left alone is settled");
    w->tells = true;
    leave_none(w, page);
}

void sim_alone_commit(struct world *w)
{
    if (w->tells)
        memcpy(w->told_before, w->told, w->pages * sizeof *w->told);
    w->tells = false;
}

/* A process sends messages to itself within a transaction: those of an aborted one were not sent.
 */
void sim_alone_abort(struct world *w)
{
    if (w->tells)
        memcpy(w->told, w->told_before, w->pages * sizeof *w->told);
    w->tells = false;
}

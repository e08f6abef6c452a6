/* Members leave a large group for one of their own. */
#include <stdlib.h>

#include "base/mem.h"
#include "group/large.h"

static bool is_pivot(const struct sp_member *m)
{
    return m->hub && m->hub->indexed &&
           sp_stars_pivot(m->hub->group->large->stars, m->hub->row) == m->hub->row;
}

void sp_large_part(struct sp_group_stage *st, struct sp_group *g, struct sp_member **leaving,
                   uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        leaving[i]->mark = 0;
    /* Kids leave before pivots, so that no kid is moved in vain. */
    for (int pivots = 0; pivots < 2; pivots++)
        for (uint32_t i = 0; i < count && !st->err; i++) {
            if (leaving[i]->mark || (!pivots && is_pivot(leaving[i])))
                continue;
            leaving[i]->mark = 1;
            sp_large_remove(st, g, leaving[i]);
        }
    sp_bonds_settle(st, g);
    if (!st->err)
        sp_group_leave(st, g, leaving, count);
}

void sp_large_part_list(struct sp_group_stage *st, struct sp_group *g,
                        struct sp_member_list *leaving)
{
    if (leaving->count && leaving->count < g->count) {
        qsort(leaving->members, leaving->count, sizeof *leaving->members, sp_member_by_page);
        sp_large_part(st, g, leaving->members, leaving->count);
    }
    sp_free(leaving->members);
}

void sp_large_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    struct sp_member_list leaving = {0};
    if (sp_large_size_behind(m) == g->count)
        return;
    sp_large_behind(g, m, &leaving);
    sp_large_unhang(g, m);
    m->asks = true;
    sp_large_part_list(st, g, &leaving);
}

/* Members have come, changed or left: brings the winners of their group up to date. */
#include "group/large.h"

void sp_group_cover_renew(struct sp_group_stage *st, struct sp_group *g)
{
    sp_group_fit(st, g);
    if (sp_group_drop_last(st, g))
        return;
    if (!g->large) {
        sp_group_cover_update(st, g);
        return;
    }
    sp_cover_update(st, g);
    sp_aware_touch(st, g);
    sp_cover_end_step(g);
}

void sp_group_cover_publish(struct sp_group_stage *st, struct sp_group *g)
{
    sp_group_cover_renew(st, g);
    sp_group_cover_tell(st, g);
}

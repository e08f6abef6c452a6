/* The group actor: membership, merges and splits. Every page is a member of exactly one group at
 * any time, or moving between two. Its membership has an epoch that grows with each move.
 *
 *   a changed page stays    change, sp_group_forest_check finds one piece
 *   it leaves (split)       change, more pieces: sp_group_split
 *   it joins another group  link -> find_group -> union [-> dissolve] -> members
 *     (merge)
 *
 * Case 1 of Zhu et al. (section 5.1) is a changed page that leaves and may join another group;
 * Case 2 is a new page, which founds a group (page.c) and may join another one; Case 3 is a
 * redirect, which joins the group of its target.
 *
 * Of two merging groups the one of the lower level dissolves; on equal levels, the one whose
 * founder's hash is higher. Nothing is left of it: messages to it find no member and bounce to the
 * page actor, which knows the page's new group. Members that arrive later make it a group again,
 * and the edge that comes with them joins it to the group of the other end.
 *
 * Members move in parts (handover.c). Until the last part arrives, edges to the remaining members
 * are missing, and so is the edge that joins all of them to the group; so the group puts off what
 * could split or dissolve it. The wait is short, because all parts have been sent already. It ends
 * even if the last part does not come, because the sender is asked for a message behind it. */
#include "group/members.h"

void sp_group_actor_step(struct sp_group_stage *st, struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CHANGE:
        sp_group_on_change(st, m);
        break;
    case SP_MSG_LINK:
        sp_group_on_link(st, m);
        break;
    case SP_MSG_UNION:
        sp_group_on_union(st, m);
        break;
    case SP_MSG_DISSOLVE:
        sp_group_on_dissolve(st, m);
        break;
    case SP_MSG_MEMBERS:
        sp_group_on_members(st, m);
        break;
    case SP_MSG_WAIT:
        sp_group_wait(st, m);
        break;
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
    case SP_MSG_ERASE:
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        SP_ASSERT(!"a message for a group actor");
    }
}

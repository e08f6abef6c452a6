/* Pages that are told later. A winner that changes concerns all that it wins: in a group of a
 * million pages, a million statuses, and again with the next change. So a step tells a few of them,
 * and begins a round over the members, by page, that tells each what has become of it by then. What
 * a round passes is told once, however often the winner has changed meanwhile.
 *
 * Each crawled page pays for a member of some round, but not of one that has just begun: where the
 * winner changes with each page, nobody is told in between. The rest is paid when nothing else is
 * left to do. Outside what is left of its round every member of a group knows its status.
 *
 * Stored as 'T' birth founder -> where the round is. Only large groups have rounds. Private to
 * group. */
#ifndef SP_GROUP_UNTOLD_H
#define SP_GROUP_UNTOLD_H

#include "group/members.h"

/* The members after `at`, then all from the first to `last`. */
struct sp_untold {
    struct sp_group_id group;
    struct sp_id at;   /* passed last */
    struct sp_id last; /* of the round */
    bool lap;          /* it has come to the end of the list, and has gone on from its beginning */
    bool fresh;        /* it has begun since a crawled page came to it last */
    bool resized;      /* winners are told the size of the group as well */
    bool changed;      /* since the last flush */
    bool stored;
    bool over;
};

/* Every member may have another status than it knows: the round goes all the way from where it is.
 */
void sp_untold_begin(struct sp_group_stage *st, struct sp_group *g);
/* What winners were told of the size of the group is no longer right. A winner that has lost, and
 * wins again before the round has come to it, knows nothing of what it was told in between. */
void sp_untold_resize(struct sp_group_stage *st, struct sp_group *g);
/* All know their status, or will be told in this step. */
void sp_untold_end(struct sp_group_stage *st, struct sp_group *g);
/* The group's, or NULL. */
struct sp_untold *sp_untold_find(const struct sp_group_stage *st, struct sp_group_id group);
/* What a crawled page pays. */
void sp_untold_pay_one(struct sp_group_stage *st);

/* From the store, and into it. */
enum sp_err sp_untold_load(struct sp_group_stage *st);
void sp_untold_flush(struct sp_group_stage *st);
void sp_untold_free(struct sp_group_stage *st);

#endif

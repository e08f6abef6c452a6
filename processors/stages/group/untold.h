/* Pages that are told their status later. If a winner changes, so does the status of all its
 * losers: a million statuses in a group of a million pages, and again with the next change. So a
 * step tells only a few members and begins a round over the members, by page, that tells each its
 * status at that time. A round tells each member once, however often the winner has changed.
 *
 * Each crawled page pays for one member of some round, but not of one that has just begun: if the
 * winner changes with each page, no member is told in between. The rest is paid when there is
 * nothing else to do. Invariant: only members that a round has still to visit may have an
 * out-of-date status.
 *
 * Stored as 'T' birth founder -> where the round is. Only large groups have rounds. Private to
 * group. */
#ifndef SP_GROUP_UNTOLD_H
#define SP_GROUP_UNTOLD_H

#include "group/members.h"

/* A round visits the members after `at`, then those from the first to `last`. */
struct sp_untold {
    struct sp_group_id group;
    struct sp_id at;   /* the member visited last */
    struct sp_id last; /* of the round */
    bool lap;          /* it has passed the end of the list and continued from the beginning */
    bool fresh;        /* it began after a crawled page last paid for it */
    bool resized;      /* winners are told the size of the group as well */
    bool changed;      /* since the last flush */
    bool stored;
    bool over;
};

/* Any member's status may be out of date: the round visits all members from where it is. */
void sp_untold_begin(struct sp_group_stage *st, struct sp_group *g);
/* The size that winners were told is out of date. A winner that lost and wins again before the
 * round visits it has missed the sizes in between. */
void sp_untold_resize(struct sp_group_stage *st, struct sp_group *g);
/* All members know their status, or are told in this step. */
void sp_untold_end(struct sp_group_stage *st, struct sp_group *g);
/* The group's round, or NULL. */
struct sp_untold *sp_untold_find(const struct sp_group_stage *st, struct sp_group_id group);
/* Pays for one member, as each crawled page does. */
void sp_untold_pay_one(struct sp_group_stage *st);

/* Reads rounds from the store, and writes them to it. */
enum sp_err sp_untold_load(struct sp_group_stage *st);
void sp_untold_flush(struct sp_group_stage *st);
void sp_untold_free(struct sp_group_stage *st);

#endif

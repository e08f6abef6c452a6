/* What large groups owe: statuses that are told later, and pieces that leave later.
 *
 * If a winner changes, so does the status of all its losers: a million statuses in a group of a
 * million pages, and again with the next change. So a step tells only a few members and begins a
 * round over the members, by page, that tells each its status at that time. A round tells each
 * member once, however often the winner has changed.
 *
 * Each crawled page pays for one member of some round, but not of one that has just begun: if the
 * winner changes with each page, no member is told in between. The rest is paid when there is
 * nothing else to do. Invariant: only members that a round has still to visit may have an
 * out-of-date status.
 *
 * A page that alone connects two parts of a group can leave and return again and again. If the
 * smaller part moved each time, the cost of such a page would be that of the part. So large pieces
 * leave when as many crawled pages have paid as members will move, or when there is nothing else to
 * do; whatever is connected again by then stays. If more have come apart meanwhile than was paid
 * for, all wait for that, and until twice as much is paid: so looking for them is paid for as well.
 *
 * The index of the group may have too much to do for one step: it lacks many contents, or a star of
 * many members has lost its pivot. Then a debt begins, although nobody knows whether anything has
 * to leave: one unit for each content, as each is visited when the group is checked. When it is
 * paid, each unit does a part of the work on the index, and then the group is checked. Of many
 * pieces, only some leave in one step.
 *
 * Stored as 'T' birth founder -> where the round is, and what is still to be paid for a split.
 * Private to group. */
#ifndef SP_GROUP_DEBT_H
#define SP_GROUP_DEBT_H

#include "group/members.h"

/* A round visits the members after `at`, then those from the first to `last`. */
struct sp_debt {
    struct sp_group_id group;
    uint32_t unpaid;   /* members to be paid for until the group is split; 0: it is in one piece */
    uint32_t paid;     /* so many more have been, but more would have had to leave */
    bool running;      /* there is a round */
    struct sp_id at;   /* the member visited last */
    struct sp_id last; /* of the round */
    bool lap;          /* it has passed the end of the list and continued from the beginning */
    bool fresh;        /* it began after a crawled page last paid for it */
    bool resized;      /* winners are told the size of the group as well */
    bool changed;      /* since the last flush */
    bool stored;
    bool over;
};

/* ---- debt.c */

/* What the group owes, or NULL. */
struct sp_debt *sp_debt_find(const struct sp_group_stage *st, struct sp_group_id group);
/* The debt after the one that was last paid for, or NULL: there is none. */
struct sp_debt *sp_debt_next(const struct sp_group_stage *st);
/* It differs from its row. */
void sp_debt_changed(struct sp_group_stage *st, struct sp_debt *d);

static inline bool sp_round_runs(const struct sp_group *g)
{
    return g->debt && g->debt->running;
}

/* Any member's status may be out of date: the round visits all members from where it is. */
void sp_round_begin(struct sp_group_stage *st, struct sp_group *g);
/* The size that winners were told is out of date. A winner that lost and wins again before the
 * round visits it has missed the sizes in between. */
void sp_round_resize(struct sp_group_stage *st, struct sp_group *g);
/* All members know their status, or are told in this step. */
void sp_round_end(struct sp_group_stage *st, struct sp_group *g);

/* Whether the group may be in pieces that leave later. */
static inline bool sp_debt_is_apart(const struct sp_group *g)
{
    return g->debt && g->debt->unpaid;
}

/* The group may be in pieces; it is split when so many members are paid for. */
void sp_debt_put_off(struct sp_group_stage *st, struct sp_group *g, uint32_t members);
/* The group is in one piece, or will be. */
void sp_debt_whole(struct sp_group_stage *st, struct sp_group *g);

/* Reads all debts from the store, and writes them to it. */
enum sp_err sp_debts_load(struct sp_group_stage *st);
void sp_debts_flush(struct sp_group_stage *st);
void sp_debts_free(struct sp_group_stage *st);

/* ---- splits.c */

/* Checks a large group after a page has changed. Small pieces leave, large ones are put off. */
void sp_debt_split(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed);
/* Checks a large group of which nothing is known, at once if it has few contents. */
void sp_debt_check(struct sp_group_stage *st, struct sp_group *g);
/* Splits the group, whatever was paid, if it may be in pieces, or does a part of the work. False if
 * it is in one piece; otherwise call it again in another step. */
bool sp_debt_split_now(struct sp_group_stage *st, struct sp_group *g);
/* Pays so many units for the split, and splits the group if all is paid. Returns how many units
 * that took. */
uint32_t sp_debt_pay_split(struct sp_group_stage *st, struct sp_debt *d, uint32_t units);

/* ---- pay.c */

/* Pays for one member of a round and one of a split, as each crawled page does. */
void sp_debt_pay_one(struct sp_group_stage *st);

#endif

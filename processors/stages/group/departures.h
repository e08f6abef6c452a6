/* Members that have left their group and are not sent yet.
 *
 * A group of a million pages can move with all its members, and each message needs the signatures
 * of those that it brings, read from the store: a gigabyte and more. So a step sends a few
 * messages, and the other members wait here. They are sent in the order in which they left: a part
 * in each unit of deferred work and one for every few messages that the stage handles, because some
 * of these may be messages that go round until the members arrive. To the receiver it looks as if
 * the messages had taken longer on their way. So what is sent later on the same channel and tells
 * that a transfer has ended must not overtake them: further members of the same group, and the
 * reply to a `wait`.
 *
 * Until the first flush they are in memory, then in the store, from where they are read in slices:
 *
 *   'D' number              -> the two groups, and the message that the last part becomes
 *   'L' number content page -> the row of a member ('M' in rows.c) that is not sent yet
 *
 * Private to group. */
#ifndef SP_GROUP_DEPARTURES_H
#define SP_GROUP_DEPARTURES_H

#include "group/members.h"

/* A row that has no signature yet. Owns the row's URL. */
struct sp_leaver {
    struct sp_member_row row;
    struct sp_id content;
};

/* The row of a member whose parent is that page. Borrows its URL. */
struct sp_leaver sp_leaver_of(const struct sp_member *m, struct sp_id parent);
/* Sends the members, ordered by content, from one group to another; takes the list. The last
 * message becomes `last`, with the edge that caused the move; NULL: without edges. */
void sp_depart(struct sp_group_stage *st, struct sp_group_id from, struct sp_group_id to,
               struct sp_leaver *leavers, uint32_t count, struct sp_message *last);
/* Whether members wait to be sent from one to the other. */
bool sp_departures_include(const struct sp_group_stage *st, struct sp_group_id from,
                           struct sp_group_id to);
/* A message was handled: sends one with members, if it is time. */
void sp_departures_step(struct sp_group_stage *st);

enum sp_err sp_departures_load(struct sp_group_stage *st);
void sp_departures_flush(struct sp_group_stage *st);
void sp_departures_free(struct sp_group_stage *st);

#endif

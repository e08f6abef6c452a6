/* Which pages are in which group, by their last status events. Private to this folder.
 *
 * A loser's group is the one in its winner's last event. So losers are linked in a ring of their
 * winner, all others in the ring of their group: a winner that moves to another group takes its
 * losers along, however many they are.
 *
 * A group that was asked for also has a roster: its members in the order of their ids, so that a
 * part of them is found without looking at the others. It follows the events: each costs a change
 * of the roster, and one that moves a winner as many as the winner has losers. If these are a large
 * part of the roster, it is dropped instead, and made again when the group is asked for.
 *
 * Thread rule: any threads may list members while none calls another function. */
#ifndef SP_SERVE_ROSTERS_H
#define SP_SERVE_ROSTERS_H

#include <pthread.h>

#include "base/map.h"
#include "page/message.h"

/* The last event of a page. */
struct sp_known_page {
    struct sp_id page;   /* key of the map: first */
    struct sp_id winner; /* of a loser; zero: none */
    struct sp_lru ring;
    struct sp_status_event event; /* its texts are owned */
};

struct sp_rosters {
    struct sp_map pages; /* of struct sp_known_page; the user of this module adds and frees them */
    struct sp_map rings;
    pthread_mutex_t lock; /* of what follows, and of each ring's roster */
    struct sp_lru used;   /* rosters, the last one used first */
    uint32_t count;
    uint64_t looked_at; /* members, to list some of them */
};

void sp_rosters_init(struct sp_rosters *r);
/* Frees rings and rosters, not the pages. */
void sp_rosters_clear(struct sp_rosters *r);
void sp_rosters_done(struct sp_rosters *r);

/* The page, which is in the map, has that event now, or leaves before it gets another one or is
 * forgotten. */
void sp_rosters_enter(struct sp_rosters *r, struct sp_known_page *k);
void sp_rosters_leave(struct sp_rosters *r, struct sp_known_page *k);
/* Whether it need not leave, and enter again, to get an event with that winner and group. */
bool sp_rosters_stays(const struct sp_known_page *k, struct sp_id winner, struct sp_group_id group);

/* The members after that page, in the order of their ids' bytes; zero: all. Until `each` returns
 * false. */
void sp_rosters_list(struct sp_rosters *r, struct sp_group_id group, struct sp_id after,
                     bool (*each)(void *arg, const struct sp_known_page *k), void *arg);

#endif

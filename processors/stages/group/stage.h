/* Shared by the actors, the table and the flush of the group stage. Private to group.
 *
 *   stage.c      makes, steps and frees the stage
 *   core.c       what most files of the stage call
 *   page.c       the page actor's steps                                      page_actor.h
 *   publish.c    what a page publishes, and when
 *   actor.c      the group actor's steps                                     members.h
 *   change.c     a member has changed
 *   merge.c      an edge leads to another group
 *   fast.c       mode fast: the representative, and the repair
 *   handover.c   members leave: merges, splits, and forgotten pages
 *   arrive.c     members arrive, and a page founds a group
 *   departures.c members that have left and are sent later                  departures.h
 *   transfer.c   open transfers: members that arrive in several messages
 *   forest.c     is the group still connected? (spanning forest)
 *   verdicts.c   which members win (the cover of winners/winners.h, kept up to date)
 *   renew.c      brings the winners of a group up to date
 *   statuses.c   sends pages their status
 *   debt.c       what is deferred: statuses told later, pieces that leave later   debt.h
 *   splits.c     splits of large groups, at once or later
 *   pay.c        does what was deferred, a part with each crawled page
 *   member.c     one member: its content, and whether its row must be written
 *   members.c    the members of a group as a sorted list
 *   erase.c      forgets pages on request
 *   large.h      groups of many members
 *   ends.c       ends of chains of redirects                                   ends.h
 *   table.c      the cache of pages and groups                                 stored.h
 *   evict.c      evicts pages and groups from memory
 *   flush.c      writes pages and groups to the store
 *   rows.c       their stored form
 *   ahead.c      prefetches, and lets the store read ahead
 *   report.c     reads a committed store, for reports and checks
 *
 * Lookups return NULL and set st->err if the store failed. */
#ifndef SP_GROUP_STAGE_H
#define SP_GROUP_STAGE_H

#include "base/ages.h"
#include "base/assert.h"
#include "base/shelf.h"
#include "group/group.h"

struct sp_group;
struct sp_page_actor;
struct sp_debt;
struct sp_departure;
struct sp_departed;

/* The 'B' row: no padding. */
struct sp_group_stage_head {
    uint64_t clock;
    struct sp_group_id debt_paid;
    uint64_t epochs; /* highest epoch of a forgotten page */
};

struct sp_group_stage {
    struct sp_group_stage_options options;
    struct sp_store *store;
    struct sp_contents *contents; /* options.contents, or own_contents */
    struct sp_contents *own_contents;
    struct sp_outbox outbox;
    struct sp_map pages;
    struct sp_map groups;
    struct sp_ages page_ages;  /* a round is from flush to flush */
    struct sp_ages group_ages; /* of small groups */
    struct sp_page_actor *dirty_pages;
    struct sp_group *dirty_groups;
    struct sp_ages large_ages;
    size_t cache_bytes; /* the budget for the next three */
    size_t page_bytes;
    size_t group_bytes;        /* of small groups, and what large ones need without members */
    size_t large_bytes;        /* of members of large groups, at the last flush */
    struct sp_lru large_used;  /* large groups used since then */
    uint32_t large_count;      /* in memory */
    uint64_t steps;            /* messages handled since the start */
    struct sp_group *grown;    /* the large group that a member joined last, or NULL */
    struct sp_lru unready;     /* large groups with many hubs that are not in their index */
    struct sp_group **holders; /* groups whose members borrowed signatures since the last flush */
    uint32_t holder_count;
    uint32_t holder_cap;
    struct sp_shelf debts;          /* by group (debt.h) */
    struct sp_debt **debts_changed; /* since the last flush */
    uint32_t debts_changed_count;
    uint32_t debts_changed_cap;
    struct sp_departure *departures; /* members that have left (departures.h), oldest first */
    struct sp_departure **departures_end;
    uint64_t departure_number;    /* of the last one */
    uint32_t departure_steps;     /* messages handled since one of them was sent */
    struct sp_departed *departed; /* stored, and sent since the last flush */
    uint32_t departed_count;
    uint32_t departed_cap;
    struct sp_group_id debt_paid; /* the group whose round was paid for last */
    uint64_t clock;               /* Lamport time: births of groups */
    uint64_t epochs;              /* highest of a forgotten page; new pages get higher ones */
    struct sp_group_stage_head stored_head;
    struct sp_buf key;
    struct sp_buf value;
    enum sp_err err;
    struct sp_group_stage_stats stats;
};

/* A step of the actor that the message is for; takes ownership of it. */
void sp_page_actor_step(struct sp_group_stage *st, struct sp_message *m);
void sp_group_actor_step(struct sp_group_stage *st, struct sp_message *m);
/* Keeps the first error; SP_OK changes nothing. */
void sp_group_stage_note(struct sp_group_stage *st, enum sp_err err);
/* Whether a group is checked when members leave it; fast mode may skip that. */
bool sp_group_checks_departures(const struct sp_group_stage *st);
/* So many rows of the index of a large group a step puts in, moves, probes or decides. */
uint32_t sp_group_rows_at_once(const struct sp_group_stage *st);
/* Sends the message with the stage's clock. */
void sp_group_stage_send(struct sp_group_stage *st, struct sp_message *m);

#endif

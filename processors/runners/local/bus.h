/* The local bus: the stages of both tiers in one thread of one process, connected by a queue.
 *
 * One record at a time: sp_local_bus_feed delivers a crawled page and everything that follows from
 * it, until no message is under way. So the result does not depend on when barriers come, and of
 * the events that one record causes only the last of each page is published.
 *
 * All partitions share one database: a commit is one atomic batch; and one table of signatures,
 * which are stored once for both tiers. Thread rule: one thread. */
#ifndef SP_LOCAL_BUS_H
#define SP_LOCAL_BUS_H

#include "compare/compare.h"
#include "contain/contain.h"
#include "group/group.h"
#include "local/layout.h"
#include "page/message.h"
#include "store/store.h"

struct sp_local_bus_options {
    struct sp_group_stage_options group;
    struct sp_compare_stage_options compare;
    uint32_t tier1; /* partitions, at least 1 */
    uint32_t tier2; /* partitions, at least 1; cell c is on the map's machine of c % tier2 */
    /* Signatures kept in memory. The bus sets `contents` of both stages' options itself. */
    size_t contents_cache_bytes;
    /* The caches shrink, to an eighth at most, so that they and the index of tier 2 together keep
     * to this. 0: whatever the index takes. */
    size_t memory_bytes;
    struct sp_contain_options contain; /* threshold 0: there is no such stage */
    /* NULL, or a function that replaces each message before it is delivered (tests: by the codec).
     * Takes the message over and returns its replacement. */
    struct sp_message *(*wire)(void *arg, struct sp_message *m);
    void *wire_arg;
};

struct sp_local_bus_stats {
    struct sp_group_stage_stats group; /* sums over partitions */
    struct sp_compare_stage_stats compare;
    struct sp_contents_stats contents;
    struct sp_contain_stats contain;
    uint64_t messages;
    uint64_t messages_by_kind[SP_MSG_KINDS];
    uint64_t edges_sent;      /* in all messages */
    uint64_t members_sent;    /* members that moved from group to group */
    uint64_t largest_message; /* edges and members in one */
};

struct sp_local_bus;

/* Rebuilds what the stages keep in memory from the database. `publish` is called at the end of each
 * feed, for each page that it (re)published a status of, in order of the last event. */
enum sp_err sp_local_bus_new(const struct sp_local_bus_options *options, struct sp_db *db,
                             void (*publish)(void *arg, const struct sp_status_event *event),
                             void *arg, struct sp_local_bus **ret_bus);
void sp_local_bus_free(struct sp_local_bus *bus);
/* In place of freeing it, in a process that is about to end: the system takes the memory back at
 * once, while freeing millions of small objects takes 2 % of a run. NULL is allowed. */
void sp_local_bus_leave(struct sp_local_bus *bus);

/* While there are two partition maps: lets up to about `max_pages` pages move to the cells of the
 * present one, to the last message. *ret_left: rows still in cells of the map before. */
enum sp_err sp_local_bus_move(struct sp_local_bus *bus, uint32_t max_pages, uint64_t *ret_left);

/* A record that will very soon be fed, or (`fed` false) expected; it stays the caller's. Brings
 * into the processor's caches what will be looked at. */
void sp_local_bus_prefetch(const struct sp_local_bus *bus, const struct sp_message *crawled,
                           bool fed);
/* The same for the objects that this page points to, one more pointer at each step: call with the
 * steps 0 to SP_LOCAL_BUS_STEPS - 1, a record apart. False at step 0: the page is new, so that the
 * other steps would do nothing. */
enum { SP_LOCAL_BUS_STEPS = SP_GROUP_FOLLOW_STEPS };
bool sp_local_bus_follow(const struct sp_local_bus *bus, const struct sp_message *crawled,
                         uint32_t step);
/* A record that will be fed soon; stays the caller's. Lets the store read ahead: call with the
 * steps 0 to SP_LOCAL_BUS_EXPECTS - 1, each so long after the one before that the rows have been
 * read meanwhile, because they lead to the next ones. Step 0 sets the trail, which the caller
 * keeps. */
enum { SP_LOCAL_BUS_EXPECTS = 3 };
struct sp_local_bus_trail {
    struct sp_compare_found found;
    struct sp_id pages[SP_COMPARE_FOUND]; /* of these rows; zero: not known */
};
void sp_local_bus_expect(struct sp_local_bus *bus, const struct sp_message *crawled, uint32_t step,
                         struct sp_local_bus_trail *trail);

/* Takes the message over. */
enum sp_err sp_local_bus_feed(struct sp_local_bus *bus, struct sp_message *crawled);

/* The same in parts, to see what delay does to the statuses: _put queues the record behind all that
 * is under way (and takes it over), _work delivers at most that many messages and then publishes
 * what they led to. */
void sp_local_bus_put(struct sp_local_bus *bus, struct sp_message *crawled);
enum sp_err sp_local_bus_work(struct sp_local_bus *bus, uint64_t messages_max);
/* Messages under way: 0 after a feed. */
uint64_t sp_local_bus_pending(const struct sp_local_bus *bus);

/* The signature of a content that some page has, borrowed until the next call; SP_NOT_FOUND. */
enum sp_err sp_local_bus_signature(struct sp_local_bus *bus, struct sp_id content,
                                   struct sp_signature **ret_signature);

/* Pays up to SP_LOCAL_BUS_UNITS in each stage of what messages have left to do
 * (sp_group_stage_work, sp_compare_stage_work), and says whether more is left. A barrier may follow
 * each call, so that no commit holds what all members of a large group were told. */
enum { SP_LOCAL_BUS_UNITS = 256 };
enum sp_err sp_local_bus_pay(struct sp_local_bus *bus, bool *ret_more);
/* Pays all of it. */
enum sp_err sp_local_bus_settle(struct sp_local_bus *bus);

/* Whether large groups have pages that are told their status later (sp_group_stage_work). */
bool sp_local_bus_owes(const struct sp_local_bus *bus);

/* Writes all stages' changes into the database's open batch; the caller commits it. A run can
 * continue from this state only if no message is under way. */
enum sp_err sp_local_bus_flush(struct sp_local_bus *bus);
/* Writes pages and groups only, for readers. A run cannot continue from this state. */
enum sp_err sp_local_bus_flush_pages(struct sp_local_bus *bus);
/* For a database in memory, where a flush makes no state safe: frees contents that no page has, if
 * there are many, without writing anything. Returns whether a flush is due, which frees the rest of
 * what the stages no longer need. `records` were fed since the last flush. */
bool sp_local_bus_sweep(struct sp_local_bus *bus, uint64_t records);

/* Whether the caches are so large that look-ups in small pages of memory miss the processor's cache
 * of address translations as well as the data (base/huge.h). */
bool sp_local_bus_is_large(const struct sp_local_bus *bus);

void sp_local_bus_stats(const struct sp_local_bus *bus, struct sp_local_bus_stats *ret_stats);

#endif

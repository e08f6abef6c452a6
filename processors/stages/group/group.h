/* The group stage (tier 1): page actors and group actors.
 *
 * Source: Zhu et al., WWW 2012, sections 3 and 5 (tier 1: group assignment, Cases 1-3, winners,
 * redirects). docs/PROTOCOL.md tells the protocol; page/message.h lists the messages.
 *
 * A pure step: a message in, messages and status events out, state changes kept in memory until
 * sp_group_stage_flush writes them to the store's open batch. No threads, no clock.
 *
 * After an error from step or flush the stage must be freed and made again from the store, with the
 * table of signatures that it shares: that is what a restart does. */
#ifndef SP_GROUP_GROUP_H
#define SP_GROUP_GROUP_H

#include "contents/contents.h"
#include "page/message.h"
#include "partition/maps.h"
#include "similarity/similarity.h"
#include "store/store.h"
#include "winners/winners.h"

enum sp_mode {
    SP_MODE_EXACT, /* drained, the groups equal the components computed from scratch */
    SP_MODE_FAST   /* the paper's approximations (sections 3.2 and 5) */
};

/* One rule of the protocol that a canary build leaves out; the simulation must notice. */
enum sp_canary {
    SP_CANARY_NONE,
    SP_CANARY_NO_RELINK,      /* an edge whose end has moved is forgotten */
    SP_CANARY_NO_VERSION,     /* a stale match links all the same */
    SP_CANARY_NO_EPOCH,       /* an old assignment wins over a new one */
    SP_CANARY_EARLY_ANNOUNCE, /* edges are looked for before the group holds the version */
    SP_CANARY_QUIET_MOVE,     /* a page that moves to another cell does not look for edges */
    SP_CANARY_NO_OPENS,       /* a group decides on a split while members are on their way to it */
    SP_CANARY_NO_ROUND,       /* pages that are not told at once are never told */
    SP_CANARY_LATE_REPRESENTATIVE, /* a changed winner is held against what it has become */
    SP_CANARY_NO_RECHECK,  /* a group of which pages are unlike its winner is not re-checked */
    SP_CANARY_SHORT_ROUND, /* a round under way does not begin again when something changes */
    SP_CANARY_STALE_COVER, /* a hub keeps its winner when those before it change */
    SP_CANARY_QUIET_LEAVE  /* only who was told that it wins is missed as a winner */
};

enum { SP_GROUP_MESSAGE_BYTES = 900 << 10 };

struct sp_group_stage_options {
    struct sp_similarity_options similarity;
    struct sp_maps maps; /* what they point to outlives the stage */
    enum sp_mode mode;
    /* In SP_MODE_FAST each approximation can be left out, to see what it costs. With both left out
     * the groups are those of SP_MODE_EXACT. */
    bool fast_asks_tier2; /* a page similar to its representative is compared all the same */
    bool fast_rechecks;   /* a group that a member may have left is re-checked all the same */
    /* Else it is re-checked where more than that share of it is unlike its winner. */
    double fast_recheck_share;
    double popularity_tolerance; /* of sp_popularity_class; 0: none */
    double winner_margin; /* popularity by which a living winner must be outranked; 0: none */
    const struct sp_relation *winner_relation; /* which winner may cover a page; outlives the stage;
                                                * NULL: any that is similar */
    uint32_t large_from; /* groups of more members are handled by content; 0: 64 */
    bool
        only_rounds; /* a step of these tells only pages that changed, as if it were at its limit */
    size_t message_bytes; /* of members that move, about; 0: SP_GROUP_MESSAGE_BYTES */
    size_t cache_bytes;   /* pages, groups and own signatures kept between flushes */
    /* The table of signatures that the stage shares with others of its thread: it outlives the
     * stage, and is flushed after it. NULL: a table of its own in `store`. */
    struct sp_contents *contents;
    enum sp_canary canary;
};

struct sp_group_stage_stats {
    uint64_t pages;     /* page actors made here, ever */
    uint64_t late;      /* versions discarded as replayed or late */
    uint64_t unchanged; /* versions settled by content equality alone */
    uint64_t
        again_unknown; /* fetches that found a content again which the page does not have here */
    uint64_t erased;   /* pages forgotten on request */
    uint64_t erased_unknown; /* such requests of pages that were not known */
    uint64_t settled;        /* versions settled by the representative (fast mode) */
    uint64_t rechecks;       /* groups re-checked as pages were unlike their winner (fast mode) */
    uint64_t merges;
    uint64_t splits;
    uint64_t put_off;    /* messages that waited for members on their way */
    uint64_t told_later; /* members that a round told their status */
    uint64_t bounces;
    uint64_t relinks;
    uint64_t moves;           /* of pages into the cells of another map */
    uint64_t compared;        /* pairs of members that F was evaluated for */
    uint64_t repairs;         /* changes after which a group's forest was in pieces */
    uint64_t repair_compared; /* of `compared`, those that asked whether a group is connected */
    uint64_t cache_bytes;
};

struct sp_group_stage;

/* Never NULL. Options are copied; store and outbox are borrowed. */
struct sp_group_stage *sp_group_stage_new(const struct sp_group_stage_options *options,
                                          struct sp_store *store, const struct sp_outbox *outbox);
void sp_group_stage_free(struct sp_group_stage *st);
/* SP_OK, or why the store cannot be used, which each step would answer: SP_STATE_FORMAT where an
 * older version wrote it. */
enum sp_err sp_group_stage_error(const struct sp_group_stage *st);

/* Handles one tier-1 message. It is taken over: the stage may pass it on or free it. */
enum sp_err sp_group_stage_step(struct sp_group_stage *st, struct sp_message *m);

/* What the contain stage says of a page (contain/contain.h): part of its status while it is kept,
 * which is published if that is news. */
enum sp_err sp_group_stage_contained(struct sp_group_stage *st, struct sp_id page, const char *url,
                                     float containment);

/* A crawled page that will be handled soon: lets the store read ahead what it will be asked for.
 * Changes nothing else; the message stays the caller's. */
void sp_group_stage_expect(struct sp_group_stage *st, const struct sp_message *crawled);
/* It will be expected or handled very soon: for the processor's caches. */
void sp_group_stage_prefetch(const struct sp_group_stage *st, const struct sp_message *crawled);

/* Pays up to so many units of what messages have left to do: members of large groups that do not
 * know their present status. False: nothing is left. Each crawled page pays for one; the rest is
 * paid when there is time, at the latest when nothing else is left to do. */
bool sp_group_stage_work(struct sp_group_stage *st, uint32_t units);
bool sp_group_stage_owes(const struct sp_group_stage *st);

/* Writes all changes since the last flush into the store's open batch, then shrinks the caches to
 * their budget. */
enum sp_err sp_group_stage_flush(struct sp_group_stage *st);

void sp_group_stage_stats(const struct sp_group_stage *st, struct sp_group_stage_stats *ret_stats);

/* What is stored of a page and its membership, for reports and for checking from scratch. Views are
 * valid during the call. */
struct sp_page_view {
    struct sp_id page;
    const char *url;
    int64_t version;
    enum sp_page_kind kind;
    struct sp_id target;
    struct sp_id content;
    struct sp_rank rank;
    struct sp_group_id group;
    enum sp_page_status status;
    const char *winner_url;
    float similarity;
    enum sp_reason reason;
    enum sp_rank_rule rule;
    int64_t content_version; /* since when content, target or kind are as they are */
    uint64_t epoch;
    uint32_t group_size; /* at its last status */
    bool in_cell;
    uint32_t cell;
    const char *contained_in; /* what was said of it when it was kept last */
    float containment;
};

/* Its last status as it was published; views as the page's. */
struct sp_status_event sp_page_view_status(const struct sp_page_view *page);

/* What is stored of a member of a group. Views are valid during the call. */
struct sp_member_view {
    struct sp_id page;
    const char *url;
    int64_t version;
    int64_t content_version;
    enum sp_page_kind kind;
    struct sp_id content;
    struct sp_id target; /* of a redirect */
    struct sp_rank rank;
    struct sp_id parent; /* the member it is linked to in the spanning forest; zero: a root */
    enum sp_page_status status;
    enum sp_reason reason;
    struct sp_id winner; /* of a loser */
    float similarity;    /* to its winner */
};

/* Calls `each` for every page of a committed store, by page id. */
enum sp_err sp_group_each_page(struct sp_store *store,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg);
/* Calls `each` once with that page of a committed store; SP_NOT_FOUND where there is none. */
enum sp_err sp_group_read_page(struct sp_store *store, struct sp_id page,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg);
/* Calls `each` for every member of the group that comes after that page, by page id's bytes (a zero
 * id: for all), until it returns false. A group without a row has no members. `store` is the
 * founder's partition. */
enum sp_err
sp_group_read_members_after(struct sp_store *store, struct sp_group_id group, struct sp_id after,
                            bool (*each)(void *arg, const struct sp_member_view *member),
                            void *arg);

#endif

/* The group stage (tier 1): page actors and group actors.
 *
 * Source: Zhu et al., WWW 2012, section 5 (tier 1: group assignment, Cases 1-3, winners,
 * redirects). docs/PROTOCOL.md describes the protocol; page/message.h lists the messages.
 *
 * A pure step: a message in, messages and status events out, state changes kept in memory until
 * sp_group_stage_flush writes them to the store's open batch. No threads, no clock.
 *
 * After an error from step or flush, free the stage and the table of signatures that it shares, and
 * make both again from the store, as a restart does. */
#ifndef SP_GROUP_GROUP_H
#define SP_GROUP_GROUP_H

#include "contents/contents.h"
#include "page/message.h"
#include "partition/maps.h"
#include "similarity/similarity.h"
#include "store/store.h"
#include "winners/winners.h"

enum sp_mode {
    SP_MODE_EXACT, /* when nothing is left to do, the groups equal the components computed from
                    * scratch */
    SP_MODE_FAST   /* the paper's approximations (sections 5.1 and 5.2) */
};

/* One rule of the protocol that a canary leaves out; the simulation must notice. */
enum sp_canary {
    SP_CANARY_NONE,
    SP_CANARY_NO_RELINK,           /* an edge whose end has moved is forgotten */
    SP_CANARY_NO_VERSION,          /* a stale match still links */
    SP_CANARY_NO_EPOCH,            /* an old assignment wins over a new one */
    SP_CANARY_EARLY_ANNOUNCE,      /* a page looks for edges before its group holds the version */
    SP_CANARY_QUIET_MOVE,          /* a page that moves to another cell does not look for edges */
    SP_CANARY_NO_OPENS,            /* a group decides on a split while members are moving to it */
    SP_CANARY_NO_ROUND,            /* pages that are not told at once are never told */
    SP_CANARY_LATE_REPRESENTATIVE, /* a changed winner is compared with its new content */
    SP_CANARY_NO_RECHECK,          /* a group with pages unlike its winner is not re-checked */
    SP_CANARY_QUIET_ALONE,     /* a page that its group has left alone is settled as any other */
    SP_CANARY_SHORT_ROUND,     /* a running round does not start again when something changes */
    SP_CANARY_STALE_COVER,     /* a hub keeps its winner when hubs before it change */
    SP_CANARY_QUIET_LEAVE,     /* only a page that was told that it wins counts as a winner when it
                                * leaves */
    SP_CANARY_NO_LATE_SPLIT,   /* pieces that do not leave at once never leave */
    SP_CANARY_DISSOLVE_PIECES, /* a group that may be in pieces is dissolved as if it were whole */
    SP_CANARY_TRUST_READ,      /* a group that was in pieces counts as whole when it is read */
    SP_CANARY_NO_WAIT,         /* a group does not ask whether more members are to come */
    SP_CANARY_EARLY_END,       /* the reply to a `wait` overtakes members that are sent later */
    SP_CANARY_OVERTAKE,        /* further members of the same group overtake them */
    SP_CANARY_NO_STANDING      /* a winner of a large group is ranked without winner.margin */
};

enum { SP_GROUP_MESSAGE_BYTES = 900 << 10 };

struct sp_group_stage_options {
    struct sp_similarity_options similarity;
    struct sp_maps maps; /* what they point to outlives the stage */
    enum sp_mode mode;
    /* In SP_MODE_FAST each approximation can be left out, to see what it costs. With both left out
     * the groups are those of SP_MODE_EXACT. */
    bool fast_asks_tier2; /* a page similar to its representative is still compared */
    bool fast_rechecks;   /* a group that a member may have left is still re-checked */
    /* If not fast_rechecks: a group is re-checked if more than this share of it is unlike its
     * winner. */
    double fast_recheck_share;
    double popularity_tolerance; /* of sp_popularity_class; 0: none */
    double winner_margin; /* popularity by which the present winner must be outranked; 0: none */
    const struct sp_relation *winner_relation; /* which winner may cover a page; must outlive the
                                                * stage; NULL: any similar one */
    uint32_t large_from; /* groups of more members are handled by content; 0: 64. Tests set it; then
                          * few winners are searched in all ways in which many are */
    uint32_t packed_members; /* groups of at most so many members are stored in one row; 0: 16, the
                              * most. Tests set it */
    uint32_t split_at_once;  /* a change in a large group moves at most so many members of pieces;
                              * 0: 64 */
    uint32_t settle_at_once; /* a step puts in or moves at most so many rows of the index of a large
                              * group, decides at most so many contents before one that it has to
                              * tell, and lets at most four times as many pieces leave, or one for
                              * each 64 contents; 0: 1,024 */
    bool only_rounds; /* a step in a large group tells only pages that changed, as if it were at its
                       * limit */
    size_t message_bytes;   /* approximate size of a message with members; 0:
                             * SP_GROUP_MESSAGE_BYTES */
    uint32_t parts_at_once; /* a step sends at most so many messages with members of one group;
                             * further members are sent later; 0: 4 */
    size_t cache_bytes;     /* pages, groups and own signatures kept between flushes */
    /* The table of signatures that the stage shares with others of its thread. It must outlive the
     * stage and be flushed after it. NULL: the stage has its own table in `store`. */
    struct sp_contents *contents;
    enum sp_canary canary;
};

struct sp_group_stage_stats {
    uint64_t pages;          /* page actors made here since the start */
    uint64_t late;           /* versions discarded as replayed or late */
    uint64_t unchanged;      /* versions whose content did not change */
    uint64_t again_unknown;  /* fetches that found known content (304) which the page does not have
                              * here */
    uint64_t erased;         /* pages forgotten on request */
    uint64_t erased_unknown; /* requests to forget pages that were not known */
    uint64_t settled;        /* versions settled by the representative (fast mode) */
    uint64_t left_alone;     /* versions that would have been settled if their page had not been
                              * left alone by its group (fast mode) */
    uint64_t rechecks;       /* groups re-checked because pages were unlike their winner (fast
                              * mode) */
    uint64_t merges;
    uint64_t splits;
    uint64_t put_off;     /* messages that waited for moving members */
    uint64_t told_later;  /* members whose status was sent by a round */
    uint64_t split_later; /* times that large pieces did not leave their group at once */
    uint64_t departed;    /* moving members that were sent later than they left */
    uint64_t bounces;
    uint64_t relinks;
    uint64_t moves;           /* of pages into the cells of another map */
    uint64_t compared;        /* pairs of members that F was evaluated for */
    uint64_t repairs;         /* changes that left a group's forest in pieces */
    uint64_t repair_compared; /* the part of `compared` that checked connectivity */
    uint64_t held_against;    /* winners that hubs of large groups were held against: ruled out by
                               * their patterns, or compared */
    uint64_t taking;     /* rows of moving members, and members of small groups that were passed
                          * or moved in lists to take them in */
    uint64_t hops;       /* redirects followed one by one: in small groups to the ends of chains, in
                          * large ones to find the pages that leave with a page */
    uint64_t searched;   /* hubs that searches for the pieces of large groups looked at */
    uint64_t hub_probes; /* of the indexes of large groups */
    uint64_t cache_bytes;
};

struct sp_group_stage;

/* Never NULL. Options are copied; store and outbox are borrowed. */
struct sp_group_stage *sp_group_stage_new(const struct sp_group_stage_options *options,
                                          struct sp_store *store, const struct sp_outbox *outbox);
void sp_group_stage_free(struct sp_group_stage *st);
/* SP_OK, or the error that each step would return because the store cannot be used: SP_STATE_FORMAT
 * if an older version wrote it. */
enum sp_err sp_group_stage_error(const struct sp_group_stage *st);

/* Handles one tier-1 message and takes ownership of it. */
enum sp_err sp_group_stage_step(struct sp_group_stage *st, struct sp_message *m);

/* Whether the fetch, a `crawled` message, is not newer than what is known of its page, so that a
 * step with it changes nothing. */
bool sp_group_stage_is_late(struct sp_group_stage *st, const struct sp_message *m);

/* Takes a result of the contain stage (contain/contain.h). It is part of the status of a kept page,
 * which is published if it has changed. */
enum sp_err sp_group_stage_contained(struct sp_group_stage *st, struct sp_id page, const char *url,
                                     float containment);

/* Announces a crawled page, so that the store reads ahead. Changes nothing else; the caller keeps
 * the message. */
void sp_group_stage_expect(struct sp_group_stage *st, const struct sp_message *crawled);
/* The second step, when the page's row has been read: announces the rows that this row names.
 * Returns whether the page will leave its row in tier 2, of *ret_content in *ret_cell; all are
 * guesses. */
bool sp_group_stage_expect_known(struct sp_group_stage *st, const struct sp_message *crawled,
                                 uint32_t *ret_cell, struct sp_id *ret_content);
/* Announces a page that a crawled one will probably be similar to. */
void sp_group_stage_expect_page(struct sp_group_stage *st, struct sp_id page);
/* The group of such a page, once its row has been read; a guess. False: it is not known yet, or the
 * group is in the page's own row. */
bool sp_group_stage_guess_group(struct sp_group_stage *st, struct sp_id page,
                                struct sp_group_id *ret_group);
/* Announces a group, to the stage that has it. */
void sp_group_stage_expect_group(struct sp_group_stage *st, struct sp_group_id group);
/* Prefetches into the processor's caches what handling it will read first. */
void sp_group_stage_prefetch(struct sp_group_stage *st, const struct sp_message *crawled);
/* Prefetches the objects that a known page points to (its group, members, ...): call with the steps
 * 0 to SP_GROUP_FOLLOW_STEPS - 1, each some time after the one before, because each follows one
 * more pointer. Returns at step 0 whether the page is known, and then whether it will leave its row
 * in tier 2, of *ret_content in *ret_cell; both are guesses. */
enum { SP_GROUP_FOLLOW_STEPS = 6 };
bool sp_group_stage_follow(const struct sp_group_stage *st, const struct sp_message *crawled,
                           uint32_t step, uint32_t *ret_cell, struct sp_id *ret_content);

/* Does up to `units` units of deferred work: each tells a member of a large group its present
 * status, or pays for one member that a split will move. Also sends at least one message with
 * members that have left a group, or one for each 128 units. Returns whether work is left. Each
 * crawled page does one unit; the caller does the rest when it has time, at the latest when there
 * is nothing else to do. */
bool sp_group_stage_work(struct sp_group_stage *st, uint32_t units);
bool sp_group_stage_owes(const struct sp_group_stage *st);
/* Part of this work: sends up to `parts` messages with members that have left a group. Until they
 * are sent, messages can go round that wait for them. The stage sends one for each 64 messages that
 * it handles; but the messages may be those of another stage. Returns whether there are more. */
bool sp_group_stage_send_departed(struct sp_group_stage *st, uint32_t parts);

/* Puts up to `contents` contents of a large group into its index, if many are not there. Until they
 * are, a page that changes leaves the group alone, even if its new text resembles it. Publishes
 * nothing. Returns whether there are more, in this or another group. */
bool sp_group_stage_prepare(struct sp_group_stage *st, uint32_t contents);

/* Sets the budget of the caches, which the options set first. For a stage whose signatures are in
 * the table of another owner. */
void sp_group_stage_resize(struct sp_group_stage *st, size_t cache_bytes);

/* Writes all changes since the last flush into the store's open batch, then shrinks the caches to
 * their budget. */
enum sp_err sp_group_stage_flush(struct sp_group_stage *st);

/* Releases the signatures that members borrowed, as a flush does. */
void sp_group_stage_release(struct sp_group_stage *st);

void sp_group_stage_stats(const struct sp_group_stage *st, struct sp_group_stage_stats *ret_stats);
/* One of them, in O(1): the memory of the caches in bytes. */
size_t sp_group_stage_cache_bytes(const struct sp_group_stage *st);

/* The stored state of a page and its membership, for reports and for the check from scratch. Views
 * are valid during the call. */
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
    int64_t content_version; /* when content, target or kind last changed */
    uint64_t epoch;
    uint32_t group_size; /* at its last status */
    bool in_cell;
    uint32_t cell;
    const char *contained_in; /* the last result while it was kept */
    float containment;
};

/* The last published status of the page; its views are as valid as those of the page. */
struct sp_status_event sp_page_view_status(const struct sp_page_view *page);

/* The stored state of a member of a group. Views are valid during the call. */
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
/* Calls `each` once with that page of a committed store; SP_NOT_FOUND if there is none. */
enum sp_err sp_group_read_page(struct sp_store *store, struct sp_id page,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg);
/* Calls `each` for the members of the group after the page `after`, in the order of the page ids'
 * bytes, until it returns false; a zero id starts at the first. A group without a row has no
 * members. `store` is the founder's partition. */
enum sp_err
sp_group_read_members_after(struct sp_store *store, struct sp_group_id group, struct sp_id after,
                            bool (*each)(void *arg, const struct sp_member_view *member),
                            void *arg);

#endif

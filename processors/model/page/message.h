/* The messages between the stages. docs/PROTOCOL.md explains the protocol; the simulation in
 * tests/simulation checks it.
 *
 * There are three kinds of actor:
 *
 *   page actor    owns a page's version, content and the pointer to its group; it alone
 *                 speaks to the cells about its page, and it alone publishes its status
 *   group actor   owns members and winners
 *   cell actor    owns rows of signatures and the index over them
 *
 * Page and group actors live in tier 1 on the partition of the page (of the group's
 * founder); cell actors live in tier 2.
 *
 * A message is a head, which every kind has, and one payload, which its kind names. To add a kind:
 * its line in enum sp_message_kind and in KINDS (message.c), its struct in the union, its record in
 * schemas/, and a case in each switch over kinds. The compiler asks for the line in KINDS and for
 * the cases (-Wswitch-enum, and no `default:`, which the test lint.kinds checks). */
#ifndef SP_PAGE_MESSAGE_H
#define SP_PAGE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "page/signature.h"

enum { SP_AS_ELSEWHERE = -1 };
enum { SP_NO_VERSION = 0 }; /* of a redirect edge, which is valid for any version of its target */

/* The id of a group, ordered by (birth, founder). Births are Lamport times, so no id is used twice;
 * wall-clock times play no part in it. */
struct sp_group_id {
    uint64_t birth; /* 0: no group */
    struct sp_id founder;
};

/* The level of a group is floor(log2 of the most members it has had). When two groups merge, the
 * one with the lower level dissolves, or at equal levels the one with the higher founder. So a
 * member moves O(log n) times. */
enum { SP_GROUP_LEVELS = 32 };

int sp_group_id_cmp(struct sp_group_id a, struct sp_group_id b);

static inline bool sp_group_id_eq(struct sp_group_id a, struct sp_group_id b)
{
    return a.birth == b.birth && sp_id_eq(a.founder, b.founder);
}

enum sp_page_kind {
    SP_PAGE_UNSEEN,   /* known only as the target of a redirect */
    SP_PAGE_CONTENT,  /* has a signature */
    SP_PAGE_REDIRECT, /* has a target */
    SP_PAGE_DEAD      /* the last fetch gave 404 or 410 */
};

enum sp_page_status {
    SP_STATUS_NONE,
    SP_STATUS_UNIQUE,
    SP_STATUS_WINNER,
    SP_STATUS_LOSER,
    SP_STATUS_GONE
};

/* Whether a page of this status is kept: no other page stands for it. */
static inline bool sp_status_is_kept(enum sp_page_status status)
{
    return status == SP_STATUS_UNIQUE || status == SP_STATUS_WINNER;
}

enum sp_reason { SP_REASON_NONE, SP_REASON_CONTENT, SP_REASON_REDIRECT, SP_REASON_EXACT };

/* The rule that ranks a loser's winner before it (winners/winners.h). */
enum sp_rank_rule {
    SP_RANK_NONE,       /* not a loser, or a redirect, which has no content to rank */
    SP_RANK_POPULARITY, /* the winner is more popular */
    SP_RANK_STATIC,     /* the winner's URL has no query */
    SP_RANK_SHORT,      /* the winner's URL is shorter */
    SP_RANK_MARKET,     /* the winner is of the market; no setting makes it decide */
    SP_RANK_ID,         /* nothing but the order of page ids */
    SP_RANK_OVERRIDE    /* none: the winner ranks lower; winner.relation or winner.margin decided */
};

/* What ranks the members of a group (winners/winners.h). */
struct sp_rank {
    double popularity;
    uint32_t url_bytes;
    uint8_t dynamic;    /* the URL has a query */
    uint8_t unfavoured; /* 0: the market rule prefers this page */
};

/* One member of a group as it moves between groups. */
struct sp_member_row {
    struct sp_id page;
    int64_t version;         /* of the last change that reached the group */
    int64_t content_version; /* when the content, target or kind last changed */
    enum sp_page_kind kind;
    struct sp_id target;            /* of a redirect */
    struct sp_signature *signature; /* of content; one reference. Rows of equal content share it,
                                     * and a message holds it once */
    struct sp_rank rank;
    char *url; /* owned */
    uint64_t epoch;
    struct sp_id parent; /* in the group's spanning forest; zero: a root */
};

struct sp_edge {
    struct sp_id page;
    int64_t content_version; /* SP_NO_VERSION: a redirect to `page` */
};

enum sp_actor { SP_ACTOR_PAGE, SP_ACTOR_GROUP, SP_ACTOR_CELL };
enum sp_tier { SP_TIER_1, SP_TIER_2 };

enum sp_message_kind {
    /* to a page actor (key: page; find_group: the page of its first edge) */
    SP_MSG_CRAWLED = 1, /* crawled: a fetch, from the signature stage */
    SP_MSG_APPLIED,     /* applied: the group holds that content of the page */
    SP_MSG_MATCH,       /* link: cells found these edges, or asks to find them again */
    SP_MSG_FIND_GROUP,  /* link: asks for the group of the first edge's page */
    SP_MSG_ASSIGNED,    /* assigned: the page is now in another group */
    SP_MSG_STATUS,      /* verdict: what the page is in its group */
    SP_MSG_MOVE,        /* move: the page must leave its cell */
    /* to a group actor (key: the group's founder; if bounced, as for a page actor) */
    SP_MSG_CHANGE,   /* change: the page has a new version */
    SP_MSG_LINK,     /* link: to the asker's group */
    SP_MSG_UNION,    /* link: to the group of the first edge's page; far: the asker's */
    SP_MSG_DISSOLVE, /* link: to the asker's group, the lower; far: the higher */
    SP_MSG_MEMBERS,  /* link: some rows of the group `far`, which move here; the last part has the
                      * edges; after a split it has none, and names the page whose change
                      * caused it if that page is among the rows */
    /* to a page actor (key: page) */
    SP_MSG_ERASE, /* erase: forget the page */
    /* to a group actor (key: the group's founder) */
    SP_MSG_WAIT, /* wait: members of the group came to the group `far`, and more were to follow; it
                  * asks for an empty `members` behind them */
    /* to a cell actor (key: cell) */
    SP_MSG_PUT,    /* put: store the signature, then look for edges */
    SP_MSG_REMOVE, /* remove: the page leaves its row */
    SP_MSG_PROBE,  /* probe: which rows are similar? */
    SP_MSG_AGAIN   /* again: probe the cell `from` with this row again */
};

enum { SP_MSG_KINDS = SP_MSG_AGAIN + 1 };

struct sp_crawled {
    int64_t version;
    /* Only of SP_PAGE_UNSEEN, which here means a fetch that found known content (a 304): the time
     * of the fetch that had this content. 0: the last fetch; SP_AS_ELSEWHERE: a fetch of another
     * page. */
    int64_t as_of;
    struct sp_signature *signature; /* one reference; of SP_PAGE_CONTENT, else NULL */
    char *url;                      /* owned */
    char *target_url;               /* owned; of SP_PAGE_REDIRECT */
    struct sp_id target;            /* of SP_PAGE_REDIRECT */
    struct sp_rank rank;
    enum sp_page_kind page_kind;
};

struct sp_applied {
    int64_t content_version;
    bool settled; /* fast mode: still similar to the representative, no probe wanted */
};

/* Edges of the asker, which is `page` of the head, at a version of its content. Actors work on the
 * first edge; the others travel with it, so that a page similar to a hundred members of one group
 * joins it in one round. One message goes from actor to actor and changes its kind on the way
 * (sp_message_turn). */
struct sp_link {
    struct sp_group_id group; /* the actor it goes to; unused in match and find_group */
    struct sp_group_id far;   /* the group at the other end; unused in match and link */
    uint32_t far_level;       /* its level; unused in members */
    bool more;                /* of members: further rows of `far` follow on the same channel. If
                               * false, and without rows and edges: no more follow */
    int64_t content_version;
    struct sp_edge *edges;      /* owned */
    struct sp_member_row *rows; /* owned, deep; of members */
    uint32_t edge_count;        /* at least one, except in members */
    uint32_t row_count;
    char *url; /* owned; of the target of the redirect among the edges, or NULL */
};

struct sp_assigned {
    struct sp_group_id far; /* the new group; none: the page was forgotten, its group dropped it */
    uint64_t epoch;
};

struct sp_verdict {
    struct sp_group_id far; /* the group that decided it */
    uint64_t epoch;
    int64_t content_version;
    struct sp_id winner; /* zero: none */
    char *winner_url;    /* owned, or NULL */
    enum sp_page_status status;
    enum sp_reason reason;
    enum sp_rank_rule rule;
    float similarity;
    uint32_t group_size;
};

struct sp_move {
    int64_t content_version;
    struct sp_signature *signature; /* one reference */
};

struct sp_change {
    struct sp_group_id group;
    int64_t version;
    int64_t content_version;
    struct sp_signature *signature; /* one reference, or NULL: the group has it already */
    char *url;                      /* owned, or NULL */
    struct sp_id target;
    struct sp_rank rank;
    enum sp_page_kind page_kind;
};

struct sp_erase {
    char *url; /* owned; as it is spelt in the request */
};

struct sp_wait {
    struct sp_group_id group; /* where the members come from */
    struct sp_group_id far;   /* which waits for them */
};

struct sp_put {
    uint32_t cell;
    bool settled; /* as in sp_applied */
    int64_t content_version;
    struct sp_signature *signature; /* one reference */
    struct sp_id old_content;       /* of the page's old row in this cell; zero: none */
};

struct sp_remove {
    uint32_t cell;
    int64_t content_version;
    struct sp_id old_content; /* of the row that the page leaves */
};

struct sp_probe {
    uint32_t cell;
    int64_t content_version;
    struct sp_signature *signature; /* one reference */
};

struct sp_again {
    uint32_t cell;
    uint32_t from;
    struct sp_id content; /* of the row */
};

struct sp_message {
    enum sp_message_kind kind;
    bool bounced;   /* change, link, union: the group no longer has the page; the message goes back
                     * to its page actor */
    uint64_t clock; /* Lamport time of the sender */
    struct sp_id page;
    struct sp_message *next; /* for the code that queues it */
    union {
        struct sp_crawled crawled;
        struct sp_applied applied;
        struct sp_link link;
        struct sp_assigned assigned;
        struct sp_verdict verdict;
        struct sp_move move;
        struct sp_change change;
        struct sp_erase erase;
        struct sp_wait wait;
        struct sp_put put;
        struct sp_remove remove;
        struct sp_probe probe;
        struct sp_again again;
    };
};

/* A zeroed message of that kind; from a free list of the calling thread. */
struct sp_message *sp_message_new(enum sp_message_kind kind);
/* Frees the message and all it owns; NULL is allowed. */
void sp_message_free(struct sp_message *m);
/* Gives back the calling thread's free list; a thread that made messages calls it at its end. */
void sp_message_thread_done(void);
/* Changes the kind of a message. Both kinds must hold a struct sp_link, which stays as it is. */
void sp_message_turn(struct sp_message *m, enum sp_message_kind kind);
/* Drops the first edge, and frees the message if none is left. Returns whether edges remain. */
bool sp_message_next_edge(struct sp_message *m);

/* The edges and members in the message; NULL if its kind has none. */
const struct sp_link *sp_message_link(const struct sp_message *m);
/* A lower-case word for logs and metrics; a literal. */
const char *sp_message_name(enum sp_message_kind kind);
/* The actor that handles it now; a bounced message goes to a page actor. */
enum sp_actor sp_message_actor(const struct sp_message *m);
enum sp_tier sp_message_tier(const struct sp_message *m);
/* The page whose partition a tier-1 message goes to: its page, or its group's founder. */
struct sp_id sp_message_home(const struct sp_message *m);
/* The cell that a tier-2 message goes to. */
uint32_t sp_message_cell(const struct sp_message *m);
/* The group that a message goes to, to be read or set. Only for kinds that go to a group actor. */
struct sp_group_id *sp_message_group(struct sp_message *m);

/* Frees what the row owns: its URL and its reference to the signature. */
void sp_member_row_done(struct sp_member_row *row);

/* What is published for a page. Borrowed views, valid during the call. SP_STATUS_NONE: the page was
 * forgotten, and what was published for it must be withdrawn; version 0 then means that the page
 * was not known. */
struct sp_status_event {
    struct sp_id page;
    const char *url;
    int64_t version_ms;
    enum sp_page_status status;
    const char *winner_url; /* NULL: none */
    float similarity;       /* of a loser to its winner (a redirect: of its target) */
    enum sp_reason reason;
    struct sp_group_id group;
    uint32_t group_size;
    uint64_t epoch;
    enum sp_rank_rule rule;   /* as of the group's last verdict to the page */
    const char *contained_in; /* of a kept page: the page that contains nearly all of its text;
                               * NULL: none */
    float containment;        /* the share that it contains; 0 without contained_in */
    struct sp_id content;     /* for the runner: not written; zero if there is none */
};

/* The words of status events; literals. */
const char *sp_status_name(enum sp_page_status status);
const char *sp_reason_name(enum sp_reason reason);     /* NULL for none */
const char *sp_rank_rule_name(enum sp_rank_rule rule); /* NULL for none */

/* Receives the effects of a stage. `send` takes ownership of the message. */
struct sp_outbox {
    void (*send)(void *arg, struct sp_message *m);
    void (*publish)(void *arg, const struct sp_status_event *event);
    void *arg;
};

#endif

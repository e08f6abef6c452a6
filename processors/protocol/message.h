/* What the stages say to one another. docs/PROTOCOL.md tells the story; the
 * simulation in tests/simulation is its judge.
 *
 * Three kinds of actor (design, section 5):
 *
 *   page actor    owns a page's version, content and the pointer to its group; it alone
 *                 speaks to the cells about its page, and it alone publishes its status
 *   group actor   owns members, winners, the forward pointer
 *   cell actor    owns rows of signatures and the index over them
 *
 * Page and group actors live in tier 1 on the partition of the page (of the group's
 * founder); cell actors live in tier 2.
 *
 * An edge-bearing message speaks of page `page` at content version `content_version` and of
 * a list of edges from it. The first edge is the one in work; the rest follows it on its
 * way, so that a page similar to a hundred others of one group joins it in one round. */
#ifndef SP_PROTOCOL_MESSAGE_H
#define SP_PROTOCOL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "signature/signature.h"

enum { SP_NO_VERSION = 0 }; /* of a redirect edge: it holds whatever its target's version is */

/* A group: ordered by (birth, founder). Births are Lamport times, so an id is never used
 * twice; the younger of two merging groups dissolves into the older. */
struct sp_group_id {
    uint64_t birth; /* 0: no group */
    struct sp_id founder;
};

int sp_group_id_cmp(struct sp_group_id a, struct sp_group_id b);

static inline bool sp_group_id_eq(struct sp_group_id a, struct sp_group_id b)
{
    return a.birth == b.birth && sp_id_eq(a.founder, b.founder);
}

enum sp_page_kind {
    SP_PAGE_UNSEEN,   /* known only as the target of a redirect */
    SP_PAGE_CONTENT,  /* has a signature */
    SP_PAGE_REDIRECT, /* has a target */
    SP_PAGE_DEAD      /* 404, 410: was there, or is said not to be */
};

enum sp_page_status {
    SP_STATUS_NONE,
    SP_STATUS_UNIQUE,
    SP_STATUS_WINNER,
    SP_STATUS_LOSER,
    SP_STATUS_GONE
};

enum sp_reason { SP_REASON_NONE, SP_REASON_CONTENT, SP_REASON_REDIRECT, SP_REASON_EXACT };

/* What ranks the members of a group (group/winners.h). */
struct sp_rank {
    double popularity;
    uint32_t url_bytes;
    uint8_t dynamic;    /* the URL has a query */
    uint8_t unfavoured; /* 0: the market rule prefers this page */
};

/* One member of a group as it moves between groups. */
struct sp_member_row {
    struct sp_id page;
    int64_t version;         /* of the last change the group heard of */
    int64_t content_version; /* since when the content, target or kind is as it is */
    enum sp_page_kind kind;
    struct sp_id target;            /* of a redirect */
    struct sp_signature *signature; /* of content; one reference */
    struct sp_rank rank;
    char *url; /* owned */
    uint64_t epoch;
    struct sp_id parent; /* in the group's spanning forest; zero: a root */
};

struct sp_edge {
    struct sp_id page;
    int64_t content_version; /* SP_NO_VERSION: a redirect to `page` */
};

enum sp_message_kind {
    /* to a page actor (key: page, but find_group: edges[0].page) */
    SP_MSG_CRAWLED = 1, /* page, version, page_kind, signature, target, rank, url, target_url */
    SP_MSG_APPLIED,     /* page, content_version, settled */
    SP_MSG_MATCH,       /* page, content_version, edges: cells found them, or look again */
    SP_MSG_FIND_GROUP,  /* edges[0].page is asked; far, page, content_version, edges, url */
    SP_MSG_ASSIGNED,    /* page, far (the new group), epoch */
    SP_MSG_STATUS,      /* page, far (the group), epoch, content_version, status … */
    SP_MSG_MOVE,        /* page, content_version, signature: its cell is to be left */
    /* to a group actor (key: group) */
    SP_MSG_CHANGE,   /* page, version, content_version, page_kind, signature, target, rank, url */
    SP_MSG_LINK,     /* page, content_version, edges, url */
    SP_MSG_UNION,    /* far, page, content_version, edges */
    SP_MSG_DISSOLVE, /* far, page, content_version, edges */
    SP_MSG_MEMBERS,  /* far (the old group), rows, page, content_version, edges (may be none) */
    /* to a cell actor (key: cell) */
    SP_MSG_PUT, /* page, content_version, signature, old_content (of the row to leave), settled */
    SP_MSG_REMOVE, /* page, content_version, old_content */
    SP_MSG_PROBE,  /* page, content_version, signature */
    SP_MSG_KINDS
};

enum sp_tier { SP_TIER_1, SP_TIER_2 };

struct sp_message {
    enum sp_message_kind kind;
    bool bounced; /* a group message on its way back over the page actor of its missing page */
    bool settled; /* fast mode: still similar to the representative, no probe wanted */
    uint32_t cell;
    uint64_t clock; /* Lamport time of the sender */
    struct sp_id page;
    struct sp_group_id group;
    struct sp_group_id far;
    int64_t version;
    int64_t content_version;
    uint64_t epoch;
    enum sp_page_kind page_kind;
    struct sp_id target;
    struct sp_id old_content;
    struct sp_rank rank;
    struct sp_signature *signature; /* one reference */
    char *url; /* owned: of page; of the target in LINK, FIND_GROUP; of the winner in STATUS */
    char *target_url;      /* owned: CRAWLED */
    struct sp_edge *edges; /* owned */
    uint32_t edge_count;
    uint32_t row_count;
    struct sp_member_row *rows; /* owned, deep */
    /* STATUS */
    enum sp_page_status status;
    enum sp_reason reason;
    struct sp_id winner;
    float similarity;
    uint32_t group_size;
    struct sp_message *next; /* for whoever queues it */
};

/* A zeroed message of that kind; from a free list of the calling thread. */
struct sp_message *sp_message_new(enum sp_message_kind kind);
/* Frees the message and all it owns; NULL is allowed. */
void sp_message_free(struct sp_message *m);
/* Gives back the calling thread's free list; a thread that made messages calls it at its end. */
void sp_message_thread_done(void);
/* Drops the first edge and frees the message if none is left. True: edges remain. */
bool sp_message_next_edge(struct sp_message *m);

const char *sp_message_name(enum sp_message_kind kind);
enum sp_tier sp_message_tier(const struct sp_message *m);
/* The page whose partition a tier-1 message goes to: its page, or its group's founder. */
struct sp_id sp_message_home(const struct sp_message *m);

void sp_member_row_done(struct sp_member_row *row);

/* What is published for a page. Borrowed views, valid during the call. */
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
};

const char *sp_status_name(enum sp_page_status status);
const char *sp_reason_name(enum sp_reason reason); /* NULL for none */

/* Where a stage's effects go. `send` takes the message over. */
struct sp_outbox {
    void (*send)(void *arg, struct sp_message *m);
    void (*publish)(void *arg, const struct sp_status_event *event);
    void *arg;
};

#endif

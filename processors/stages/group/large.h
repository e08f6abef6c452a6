/* Groups of many members: what a page costs does not grow with its group.
 *
 * Members lie in sorted lists of any length (base/shelf.h). Those of equal content share a hub, and
 * everything that asks for similarity is done by hubs: who wins (cover.c), whether the group still
 * hangs together (bonds.c; candidates from model/stars). Redirects hang in a forest (ends.h) whose
 * roots are their ends.
 *
 *   large.c   members come, go and change; a group becomes large or small
 *   hubs.c    the members of one content; rows of the star index
 *   bonds.c   edges between stars
 *   pieces.c  pieces that have come off
 *   cover.c   who wins, by content
 *
 * A group of which winner.margin or winner.relation choose the winners stays small, whatever its
 * size: those choices look at all members.
 *
 * All of it is made from the members when the group is read; nothing of it is stored. */
#ifndef SP_GROUP_LARGE_H
#define SP_GROUP_LARGE_H

#include "base/shelf.h"
#include "group/ends.h"
#include "group/members.h"
#include "stars/stars.h"

struct sp_hub;

/* `from` was found to be similar to `to`, a row of another star. */
struct sp_bond {
    struct sp_hub *from;
    struct sp_hub *to;
    struct sp_bond *next_out;
    struct sp_bond **at_out;
    struct sp_bond *next_in;
    struct sp_bond **at_in;
};

/* The members of one content, which has words. */
struct sp_hub {
    struct sp_id content; /* key of the table: first */
    struct sp_group *group;
    uint32_t row;
    uint32_t holders;
    struct sp_member *best; /* by rank; NULL: it has gone, its row is a ghost */
    struct sp_rank rank;    /* of the best, with its page: how hubs are ordered */
    struct sp_id page;
    struct sp_signature *signature; /* borrowed until the next flush; a ghost's until its end */
    struct sp_hub *winner;          /* that covers it, or itself: see sp_cover_decide; or NULL */
    uint32_t followers;             /* other hubs whose `winner` it is: it outlives its members */
    bool over;                      /* it is kept for those only */
    float similarity;               /* to the winner */
    float own_similarity;           /* of two members of it */
    uint64_t judged;                /* it was held against the winners up to that number */
    uint64_t won;                   /* its number as a winner */
    struct sp_bond *out;
    struct sp_bond *in;
    uint32_t label; /* scratch of bonds.c */
    bool todo;      /* in large->todo */
    bool doubted;   /* in large->doubts */
    bool asking;    /* in large->asking */
};

/* Behind a place in the order of ranks, if there is one. */
struct sp_rank_place {
    bool set;
    struct sp_rank rank;
    struct sp_id page;
};

struct sp_hub_list {
    struct sp_hub **hubs;
    uint32_t count;
    uint32_t cap;
};

struct sp_large {
    struct sp_map hubs;        /* by content */
    struct sp_shelf members;   /* by page */
    struct sp_shelf holders;   /* members of hubs, by content, rank and page */
    struct sp_shelf ranks;     /* hubs, by the rank and page of the best */
    struct sp_shelf winners;   /* of those */
    struct sp_shelf redirects; /* members without content, by target and page */
    struct sp_shelf loose;     /* members that hang on no hub: ends that have none, by page */
    struct sp_group_stage *stage;
    struct sp_stars *stars;
    struct sp_stars_domain *domain;
    struct sp_hub **rows; /* of each row there */
    uint32_t row_count;
    uint32_t row_cap;
    uint32_t *free_rows;
    uint32_t free_row_count;
    uint32_t free_row_cap;
    struct sp_hub_list todo;     /* to be judged */
    struct sp_hub_list recent;   /* winners in the order in which they came; NULL: no longer */
    uint64_t recent_from;        /* the number of the first of them */
    uint64_t wins;               /* the number of the last */
    struct sp_hub_list doubts;   /* do they still hang together? */
    struct sp_hub_list asking;   /* to be probed again */
    struct sp_hub_list borrowed; /* have a signature to give back */
    struct sp_hub_list gone;     /* to be freed at the next flush */
    struct sp_member **dirty;
    uint32_t dirty_count;
    uint32_t dirty_cap;
    uint32_t at_once;             /* further members that this step may tell */
    struct sp_rank_place decided; /* hubs ranked behind it may have other winners than they know */
    struct sp_rank_place changed; /* the first in this step behind which winners have changed */
    uint64_t used_round;          /* of st->group_ages */
};

/* ---- large.c */
void sp_large_free(struct sp_group_stage *st, struct sp_group *g);
void sp_large_insert(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
struct sp_member *sp_large_find(const struct sp_group *g, struct sp_id page);
void sp_large_dirty(struct sp_group *g, struct sp_member *m);
/* Takes the member out of all lists but that of members, before it changes, and back. */
void sp_large_out(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
void sp_large_in(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* The member's rank becomes another, its content stays. */
void sp_large_rerank(struct sp_group *g, struct sp_member *m, struct sp_rank rank);
/* Those leave, all pieces whole. */
void sp_large_part(struct sp_group_stage *st, struct sp_group *g, struct sp_member **leaving,
                   uint32_t count);
/* The member leaves, with all behind it, unless there are no others. */
void sp_large_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* m and all behind it, appended to the list. */
void sp_large_behind(const struct sp_group *g, struct sp_member *m, struct sp_member ***list,
                     uint32_t *count, uint32_t *cap);
uint32_t sp_large_size_behind(struct sp_member *m);
/* The group is no longer large, and has no members: they are the caller's, with the list. */
struct sp_member **sp_large_take_all(struct sp_group_stage *st, struct sp_group *g,
                                     uint32_t *ret_count);
/* Where the redirect ends; any other member itself. */
struct sp_member *sp_large_end(struct sp_member *m);
/* Those that redirect to it, by page; to be freed. */
struct sp_member **sp_large_redirects(const struct sp_group *g, const struct sp_member *to,
                                      uint32_t *ret_count);
bool sp_large_has_redirects(const struct sp_group *g, const struct sp_member *to);
/* Their status may have changed: told in this step, or in a round. */
void sp_large_touch_redirects(struct sp_group_stage *st, struct sp_group *g,
                              const struct sp_member *to);

/* ---- hubs.c */
int sp_hub_order(const void *key, const void *object); /* key: struct sp_member, the best */
struct sp_signature *sp_hub_signature(struct sp_group_stage *st, struct sp_hub *h);
void sp_hub_list_add(struct sp_hub_list *list, struct sp_hub *h);
/* Leaves those that have members. */
void sp_hub_list_drop_gone(struct sp_hub_list *list);
void sp_hub_enter(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
void sp_hub_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
void sp_hub_rerank(struct sp_group *g, struct sp_member *m, struct sp_rank rank);
/* Into the index: it notes bonds to what it resembles. */
void sp_hub_put_into_index(struct sp_group_stage *st, struct sp_hub *h);
/* Gives back what hubs borrowed, and frees those that have gone. */
void sp_hubs_release(struct sp_group *g);
/* NULL: none. */
void sp_hub_follow(struct sp_hub *h, struct sp_hub *winner);
/* Frees all hubs. */
void sp_hubs_clear(struct sp_group *g);
/* Each member of the hub, best first; `place` starts at sp_hub_first. */
struct sp_shelf_place sp_hub_first(const struct sp_hub *h);
struct sp_member *sp_hub_next(const struct sp_hub *h, struct sp_shelf_place *place);
/* The callback of the stage's star index. */
enum sp_err sp_hub_row_signature(void *arg, uint32_t row,
                                 const struct sp_signature **ret_signature);
struct sp_hub *sp_hub_at(const struct sp_large *l, uint32_t row);

/* ---- bonds.c */
void sp_bond_free(struct sp_bond *b);
void sp_bonds_note(struct sp_hub *h, const struct sp_touches *touches);
/* Before the hub leaves the index. */
void sp_bonds_drop(struct sp_hub *h);
/* Before a row leaves: what hung on it is in doubt. */
void sp_bonds_doubt(struct sp_hub *h);
/* Moves what the index wants moved, and probes again what relied on it. */
void sp_bonds_settle(struct sp_group_stage *st, struct sp_group *g);
void sp_bonds_doubt_one(struct sp_hub *h);
/* Nothing is. */
void sp_bonds_trust(struct sp_group *g);
/* Everything is in doubt. */
void sp_bonds_doubt_all(struct sp_group *g);
/* Pieces that no longer hang together become groups of their own; the largest stays. */
void sp_bonds_split(struct sp_group_stage *st, struct sp_group *g);

/* ---- cover.c */
/* Another member stands for the hub. */
void sp_cover_judge_later(struct sp_large *l, struct sp_hub *h);
/* The hub's best is about to stand for it no more. */
void sp_cover_leave(struct sp_group *g, struct sp_hub *h);
/* A winner known from before. */
void sp_cover_restore(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner,
                      float similarity);
/* Nobody knows who wins: each hub is decided when that is asked. */
void sp_cover_forget_all(struct sp_group *g);
/* Decides hubs of which the best has changed, and whom this step tells. */
void sp_cover_update(struct sp_group_stage *st, struct sp_group *g);
/* Makes h->winner and h->similarity what follows from the members as they are. */
void sp_cover_decide(struct sp_group_stage *st, struct sp_hub *h);
void sp_cover_decide_all(struct sp_group_stage *st, struct sp_group *g);
/* Whether it was decided, and nothing has changed before it since. */
bool sp_cover_is_decided(const struct sp_hub *h);

#endif

/* Groups of many members: the cost of a page does not grow with its group.
 *
 * Members are in sorted lists of any length (base/shelf.h). Everything that depends on similarity
 * works on hubs: which of them win, and whether the group is still connected.
 *
 *   hub       the members of one content, represented by the best of them by rank
 *   follower  a hub that another one, its winner, covers
 *   open      of a hub: its winner no longer wins, and it may become a winner itself
 *   bond      an edge from a hub to a hub in another star of the star index (model/stars)
 *   doubted   of a hub: it may no longer be connected with the rest of the group
 *   piece     a part of the group that is not connected with the rest
 *   end       the page at the end of a chain of redirects, which form a forest (ends.h)
 *
 *   large.c   adds, removes and changes members
 *   leave.c   members leave for a group of their own
 *   larges.c  makes and frees what a large group has
 *   fit.c     a group becomes large or small
 *   hub.c     one hub: its members, its signature; lists of hubs
 *   hubs.c    makes and frees hubs, which live while they have members or followers
 *   holders.c which hub holds a member
 *   index.c   hubs enter and leave the star index
 *   places.c  lists of hubs by rank, and places in that order
 *   bonds.c   bonds between stars: is the group still connected?
 *   search.c  searches along bonds: which stars are connected?       search.h
 *   pieces.c  finds the pieces, and lets them leave
 *   around.c  finds the piece of one page, if it is small, and lets it leave
 *   cover.c   decides which hubs win
 *   winning.c the winners, and the search for those that cover a hub
 *   patterns.c their bit patterns
 *   lacking.c narrows that search: by the shingles that winners lack
 *   sharing.c narrows that search: by the shingles that winners share
 *   lookup.c  narrows that search: by bit patterns
 *   aware.c   chooses the members that a step tells their status
 *
 * If winner.relation is set, a group of any size is handled as a small one, because which pages
 * lose to which depends on more than their contents.
 *
 * All of this is built from the members when the group is read; none of it is stored. */
#ifndef SP_GROUP_LARGE_H
#define SP_GROUP_LARGE_H

#include "base/shelf.h"
#include "group/ends.h"
#include "group/members.h"
#include "similarity/parity.h"
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
    bool indexed;            /* in the index; else in large->unindexed */
    uint32_t place_in;       /* large->unindexed */
    uint32_t holders;        /* members */
    struct sp_shelf several; /* those, by rank and page; empty until there are two */
    struct sp_member *best;  /* by rank; NULL: the hub has no members */
    struct sp_rank rank;     /* of the best, with its page: how hubs are ordered */
    struct sp_id page;
    struct sp_signature *signature; /* borrowed until the next flush; a ghost's until its end */
    struct sp_hub *winner;          /* the hub that covers it, or itself (sp_cover_decide); or
                                     * NULL */
    struct sp_pattern *pattern;     /* patterns.c; may be NULL */
    uint32_t followers;             /* other hubs whose `winner` it is; they keep it alive without
                                     * members */
    struct sp_hub *first_follower;  /* of those */
    struct sp_hub *next_follower;   /* of its winner */
    struct sp_hub **at_follower;
    uint32_t looked_up;        /* its seat in a bench of large->lookup, plus 1; 0: none */
    uint32_t lacking_seats[2]; /* in large->lacking and large->lacking_next, plus 1; 0: none */
    bool ghost;                /* it has left, but its row is a ghost */
    bool over;                 /* it is kept only for its followers */
    bool open;                 /* in large->open */
    float similarity;          /* to the winner */
    float own_similarity;      /* between two of its members; -1: not known yet */
    uint64_t judged;           /* it was compared with the winners up to that number */
    uint64_t won;              /* its number as a winner */
    uint64_t met;              /* the last search of large->sharing that met it */
    struct sp_bond *out;
    struct sp_bond *in;
    uint32_t label; /* of a pivot: the search that came to its star, plus 1 (search.c); of any hub:
                     * it was found (around.c); 0: none */
    bool todo;      /* in large->todo */
    bool doubted;   /* in large->doubts */
    bool fresh;     /* made since nothing was in doubt; nobody knows whether it is connected */
    bool asking;    /* in large->asking */
};

/* A place in the order of ranks, if set. */
struct sp_rank_place {
    bool set;
    struct sp_rank rank;
    struct sp_id page;
};

struct sp_member_list {
    struct sp_member **members;
    uint32_t count;
    uint32_t cap;
};

struct sp_hub_list {
    struct sp_hub **hubs;
    uint32_t count;
    uint32_t cap;
};

struct sp_large {
    struct sp_map hubs;         /* by content */
    struct sp_shelf members;    /* by page */
    struct sp_shelf ranks;      /* hubs, by the rank and page of the best */
    struct sp_shelf winners;    /* of those */
    struct sp_shelf open;       /* of those: have lost their winner and may win now */
    struct sp_member *found[2]; /* of `members`: those found last; or NULL */
    struct sp_shelf redirects;  /* members without content, by target and page */
    struct sp_shelf loose;      /* ends of chains that have no hub, by page */
    struct sp_group_stage *stage;
    struct sp_stars *stars; /* NULL: no hub is indexed */
    struct sp_stars_domain *domain;
    struct sp_hub_list unindexed; /* hubs that the index gets when it is needed (index.c) */
    struct sp_hub **rows;         /* of each row of the index */
    uint32_t row_count;
    uint32_t row_cap;
    uint32_t *free_rows;
    uint32_t free_row_count;
    uint32_t free_row_cap;
    struct sp_hub_list todo;   /* to be judged */
    struct sp_hub_list recent; /* winners in the order in which they became winners; NULL: no
                                * longer one */
    uint64_t recent_from;      /* the number of the first of them */
    uint64_t wins;             /* the number of the last */
    struct sp_lacking_winners *lacking;      /* lacking.c; NULL: not needed yet, or of no use */
    struct sp_lacking_winners *lacking_next; /* the same, until it has all winners; NULL: none */
    uint32_t lacking_from;                   /* winners with which it is tried again */
    struct sp_lookup *lookup;                /* lookup.c; NULL: not needed */
    struct sp_sharing *sharing;              /* sharing.c; NULL: not needed yet, or of no use */
    uint64_t sharing_from; /* it is tried again when a search by patterns costs this; 0: not yet */
    uint32_t examined;     /* winners, by searches in the lookup; earlier searches count less */
    uint32_t passed;       /* those of them that patterns did not rule out */
    uint32_t paid;         /* hubs that may be opened (cover.c) */
    uint32_t may_decide;   /* so many further hubs may be decided before one that this step needs */
    uint32_t may_read;     /* so many winners may be put into the indexes that are being made */
    struct sp_hub_list near;     /* scratch of winning.c */
    struct sp_hub_list deposed;  /* scratch of cover.c */
    struct sp_hub_list doubts;   /* may no longer be connected */
    bool all_doubted;            /* all hubs are among them */
    struct sp_hub_list asking;   /* to be probed again */
    struct sp_hub_list borrowed; /* hold a signature that they must release */
    struct sp_hub_list gone;     /* to be freed at the next flush */
    struct sp_member_list dirty;
    uint32_t at_once;             /* number of further members that this step may tell */
    struct sp_rank_place decided; /* the winners of hubs after it may be out of date */
    struct sp_rank_place changed; /* the first place after which winners have changed in this
                                   * step */
    struct sp_group *group;
    struct sp_lru unready; /* in st->unready, or alone */
    struct sp_lru used;    /* in st->large_used, or alone */
    size_t bytes;          /* in st->large_bytes */
    uint32_t used_round;   /* of st->large_ages */
    uint64_t used_step;    /* of st->steps */
};

/* ---- large.c */
void sp_large_insert(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
struct sp_member *sp_large_find(const struct sp_group *g, struct sp_id page);
/* Takes the member out of all lists except that of members before it changes, and puts it back. */
void sp_large_out(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
void sp_large_in(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* Changes the member's rank; its content stays. */
void sp_large_rerank(struct sp_group *g, struct sp_member *m, struct sp_rank rank);
/* Takes the member out of all lists; the redirects that hang on it must go, too. */
void sp_large_remove(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* A redirect no longer hangs on its target. */
void sp_large_unhang(struct sp_group *g, struct sp_member *m);
/* Appends m and all redirects that lead to it to the list. */
void sp_large_behind(const struct sp_group *g, struct sp_member *m, struct sp_member_list *list);
uint32_t sp_large_size_behind(struct sp_member *m);
/* The end of the redirect; any other member itself. */
struct sp_member *sp_large_end(struct sp_member *m);
bool sp_large_has_redirects(const struct sp_group *g, const struct sp_member *to);
/* Their status may have changed: they are told in this step or in a round. */
void sp_large_touch_redirects(struct sp_group_stage *st, struct sp_group *g,
                              const struct sp_member *to);

/* ---- leave.c */
/* These members leave and form a group; they must be whole pieces. */
void sp_large_part(struct sp_group_stage *st, struct sp_group *g, struct sp_member **leaving,
                   uint32_t count);
/* The same for members in any order, unless there are no others. Frees the list. */
void sp_large_part_list(struct sp_group_stage *st, struct sp_group *g,
                        struct sp_member_list *leaving);
/* The member leaves with all redirects that end at it, unless there are no other members. */
void sp_large_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);

/* ---- larges.c */
/* Gives the group what a large one has; it has no members yet. */
void sp_large_begin(struct sp_group_stage *st, struct sp_group *g);
/* Notes that the group is used, so that it stays in memory. */
void sp_large_use(struct sp_group_stage *st, struct sp_group *g);
void sp_large_free(struct sp_group_stage *st, struct sp_group *g);
/* Makes the group small and empty; the caller owns the members and the list. */
struct sp_member **sp_large_take_all(struct sp_group_stage *st, struct sp_group *g,
                                     uint32_t *ret_count);

/* ---- places.c */
/* Lists of hubs by rank: adds a hub, removes it, and finds the first hub that is not before a
 * place. A hub's rank must not change in between. */
void sp_hub_shelve(struct sp_shelf *hubs, struct sp_hub *h);
void sp_hub_unshelve(struct sp_shelf *hubs, struct sp_hub *h);
struct sp_shelf_place sp_hub_place(const struct sp_shelf *hubs, const struct sp_rank_place *at);
int sp_hub_by_rank(const void *a, const void *b); /* of a list of hubs, for qsort */
bool sp_hub_before(const struct sp_hub *a, const struct sp_hub *b); /* in rank order */
struct sp_rank_place sp_place_of(const struct sp_hub *h);
struct sp_rank_place sp_place_before_all(void);
/* Whether the place is set and the hub is ranked behind it. */
bool sp_place_precedes(const struct sp_rank_place *p, const struct sp_hub *h);
/* The first hub behind the place in a list of hubs by rank. */
struct sp_shelf_place sp_place_after(const struct sp_shelf *hubs, const struct sp_rank_place *p);
/* Puts a part of the winners, at most large->may_read, into an index that is being made, so that no
 * step reads the signatures of all: calls `put` for those behind the place *made, and moves it.
 * True: all are there, and the place is not set. False as well if there is an error, in the
 * stage. */
bool sp_place_visit_winners(struct sp_large *l, struct sp_rank_place *made,
                            void (*put)(struct sp_large *l, struct sp_hub *w));

/* ---- hub.c */
/* Each member of the hub, best first; `place` starts at zero. NULL: there are no more. */
struct sp_member *sp_hub_next(const struct sp_hub *h, struct sp_shelf_place *place);
struct sp_hub *sp_hub_at(const struct sp_large *l, uint32_t row);
struct sp_signature *sp_hub_signature(struct sp_group_stage *st, struct sp_hub *h);
/* Between two of its members. */
float sp_hub_own_similarity(struct sp_hub *h);
/* Finds what the hub touches in the index. False: an error, which is in the stage. */
bool sp_hub_probe(struct sp_group_stage *st, struct sp_hub *h, struct sp_touches *ret_touches);
void sp_hub_list_add(struct sp_hub_list *list, struct sp_hub *h);
/* Keeps only the hubs that have members. */
void sp_hub_list_drop_gone(struct sp_hub_list *list);

/* ---- hubs.c */
/* Makes a hub without members, which is not in the index. */
struct sp_hub *sp_hub_new(struct sp_group *g, struct sp_id content);
void sp_hub_free(struct sp_hub *h);
/* The winner covers the hub; NULL: none does. Frees the winner before it if nothing else keeps
 * it. */
void sp_hub_follow(struct sp_hub *h, struct sp_hub *winner);

/* ---- holders.c */
/* The member has come to the group, and leaves it. */
void sp_hub_enter(struct sp_group *g, struct sp_member *m);
void sp_hub_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* The member's rank changes. */
void sp_hub_rerank(struct sp_group *g, struct sp_member *m, struct sp_rank rank);
/* The member was told its status: if it wins, it is ranked with winner.margin from now on,
 * otherwise without. That changes no winner, but perhaps which of them others lose to: if it
 * returns true, a round tells them, and no member may be told before the next sp_cover_update. */
bool sp_hub_stand(struct sp_group_stage *st, struct sp_member *m);
/* Releases the borrowed signatures and frees the hubs that are gone. */
void sp_hubs_release(struct sp_group *g);
/* Frees all hubs. */
void sp_hubs_clear(struct sp_group *g);

/* ---- index.c */
/* The hub is new, and enters the index when it is needed. */
void sp_hub_wait_for_index(struct sp_hub *h);
/* Takes the hub out of the index, which may still use it, as a ghost; or lets it wait no longer. */
void sp_hub_leave_index(struct sp_group_stage *st, struct sp_hub *h);
/* Puts all hubs into the index that are not there; then settles it. If these are too many for one
 * step, it is done before the group is checked, later. */
void sp_hubs_index(struct sp_group_stage *st, struct sp_group *g);
/* The same in any case. */
void sp_hubs_index_now(struct sp_group_stage *st, struct sp_group *g);
/* The same for at most so many. */
void sp_hubs_index_some(struct sp_group_stage *st, struct sp_group *g, uint32_t hubs);
/* Whether too many for one step are not in the index. */
bool sp_hubs_are_many(const struct sp_large *l);

/* ---- bonds.c */
void sp_bond_free(struct sp_bond *b);
/* Puts the hub into the index and notes bonds to the hubs that it resembles. */
void sp_bonds_enter(struct sp_group_stage *st, struct sp_hub *h);
/* Call before the hub leaves the index. */
void sp_bonds_drop(struct sp_hub *h);
/* Call before a row leaves: the hubs that it connected are in doubt. */
void sp_bonds_doubt(struct sp_hub *h);
/* Whether one hub is known to be similar to all others, so that they are connected. */
bool sp_bonds_one_covers_all(const struct sp_large *l);
/* Lets the index move its rows, and probes the hubs that relied on them again. Not while pieces
 * wait to leave, nor if these are too many rows for one step: then it is done before they leave. */
void sp_bonds_settle(struct sp_group_stage *st, struct sp_group *g);
/* The same in any case. */
void sp_bonds_settle_now(struct sp_group_stage *st, struct sp_group *g);
/* The same for at most so many rows. */
void sp_bonds_settle_some(struct sp_group_stage *st, struct sp_group *g, uint32_t rows);
/* At least so many rows would be moved or probed. */
uint32_t sp_bonds_owed(const struct sp_large *l);
/* Takes the hub out of its star, and puts it into the index again. */
void sp_bonds_replace(struct sp_group_stage *st, struct sp_hub *h);
void sp_bonds_doubt_one(struct sp_hub *h);
/* The hub is new, so it may be connected to none of the others. */
void sp_bonds_doubt_new(struct sp_hub *h);
/* The hub is no longer in doubt; the caller takes it out of the list. */
void sp_bonds_trust_one(struct sp_hub *h);
/* Nothing is in doubt. */
void sp_bonds_trust(struct sp_group *g);
/* Everything is in doubt. */
void sp_bonds_doubt_all(struct sp_group *g);
/* The group may be in pieces, and to find out is too much for one step: it is checked when as many
 * crawled pages have paid as it has contents. */
void sp_bonds_check_later(struct sp_group_stage *st, struct sp_group *g);
/* If the group is no longer connected, its pieces become new groups; the largest one stays. But if
 * these have more than `most` members, only the piece of the page that has changed (or NULL)
 * leaves, if it has not. Returns the number of members that must leave later; then the doubts
 * stay. Returns 0 as well if a page has changed, and the index must be settled later. */
uint32_t sp_bonds_split(struct sp_group_stage *st, struct sp_group *g, const struct sp_id *changed,
                        uint32_t most);
/* Whether the member and all redirects that end at it are few enough to leave in one step. */
bool sp_large_leaves_at_once(const struct sp_group_stage *st, struct sp_member *m);
/* The number of members that leave in one step, even if larger pieces wait. */
uint32_t sp_large_at_once(const struct sp_group_stage *st);
/* The number of pieces that leave in one step, at least one for each 64 contents that the search
 * for them visits. */
uint32_t sp_large_pieces_at_once(const struct sp_group_stage *st, const struct sp_large *l);

/* ---- around.c */
/* The piece of this page leaves if it is a small one. Looks at a bounded number of rows. */
void sp_large_part_around(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed);

/* ---- winning.c */
void sp_winning_add(struct sp_large *l, struct sp_hub *h);
/* Takes the hub, which will be freed, out of the list of recent winners. */
void sp_winning_forget(struct sp_large *l, const struct sp_hub *h);
/* Its rank must still be that with which it was added. */
void sp_winning_remove(struct sp_large *l, struct sp_hub *h);
/* Frees what finds winners by their patterns. */
void sp_winning_end_lookup(struct sp_large *l);
/* Forgets the list of recent winners if it is much longer than that of the winners. Hubs judged
 * before that are judged in full. */
void sp_winning_trim(struct sp_large *l);
/* Whether the winner is similar to the hub. `tried`, at first 0, counts the winners that the hub is
 * held against: after the first, most are ruled out without a comparison. */
bool sp_winning_resembles(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner,
                          uint32_t *tried, double *ret_similarity);
/* The same, but compares in any case. */
bool sp_winning_compare(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner,
                        double *ret_similarity);
/* Winners in large->lacking or large->lookup that are still to be read. */
struct sp_lookup_range {
    const struct sp_hub *from; /* the first, by rank */
    const struct sp_hub *end;  /* by rank, all are before it; NULL: none */
    uint64_t after;            /* they became winners after that number */
    uint32_t at;               /* bench of large->lookup */
};

/* The decided winners that can be similar to the hub, in rank order, other than itself. Valid until
 * winners come or go. If there are many, costs a probe of the index and its touched stars, or the
 * number of winners, whichever is less. */
struct sp_winning_walk {
    struct sp_large *large;
    struct sp_hub *hub;
    const struct sp_hub *end; /* by rank, all winners of the walk are before it; NULL: none */
    uint64_t after;
    uint32_t *tried;
    bool near;       /* over large->near; otherwise over all */
    bool by_pattern; /* over large->near, which has the next of `range` */
    bool whole;      /* by_pattern: large->near has all of them */
    uint32_t passed;
    struct sp_lookup_range range; /* by_pattern: still to be read */
    uint32_t at;
    struct sp_shelf_place place;
};
/* Those ranked before `end` that became winners after number `after`. `tried`: as above. */
struct sp_winning_walk sp_winning_before(struct sp_large *l, struct sp_hub *h,
                                         const struct sp_hub *end, uint64_t after, uint32_t *tried);
/* Those ranked behind the hub, which is a winner. */
struct sp_winning_walk sp_winning_behind(struct sp_large *l, struct sp_hub *h, uint32_t *tried);
/* NULL: there are no more. */
struct sp_hub *sp_winning_next(struct sp_winning_walk *walk);

/* ---- patterns.c */
/* Whether the hub and the winner are certainly not similar. Makes their patterns. */
bool sp_pattern_rules_out(struct sp_large *l, struct sp_hub *h, struct sp_hub *w);
/* Folds the hub's pattern, which is made if it has none. False: an error, which is in the stage. */
bool sp_pattern_fold(struct sp_large *l, struct sp_hub *h, struct sp_parity_wide *ret_wide);
/* For a hub that does not win. */
void sp_pattern_forget(struct sp_hub *h);
/* Gives the winners the patterns that were read with the group. */
void sp_patterns_restore(struct sp_group *g);

/* ---- lacking.c */
/* The hub has become a winner, and is one no longer. */
void sp_lacking_winners_enter(struct sp_large *l, struct sp_hub *h);
void sp_lacking_winners_leave(struct sp_large *l, struct sp_hub *h);
/* Whether it can be searched; makes a part of it if it may be of use. */
bool sp_lacking_winners_serve(struct sp_large *l);
/* Fills l->near with those winners of the range, by rank, that can be similar to the hub. */
void sp_lacking_winners_near(struct sp_large *l, struct sp_hub *h,
                             const struct sp_lookup_range *range);
void sp_lacking_winners_end(struct sp_large *l);

/* ---- sharing.c */
/* The hub has become a winner, and is one no longer. */
void sp_sharing_enter(struct sp_large *l, struct sp_hub *h);
void sp_sharing_leave(struct sp_large *l, struct sp_hub *h);
/* Whether it can be searched. */
bool sp_sharing_is_whole(const struct sp_large *l);
/* The same, but makes a part of it if it may be of use. */
bool sp_sharing_serves(struct sp_large *l);
/* Fills l->near with those winners of the range, by rank, that can be similar to the hub. False:
 * they are too many. */
bool sp_sharing_near(struct sp_large *l, struct sp_hub *h, const struct sp_lookup_range *range);
void sp_sharing_end(struct sp_large *l);

/* ---- lookup.c */
/* The hub has become a winner, and is one no longer. */
void sp_lookup_enter(struct sp_large *l, struct sp_hub *h);
void sp_lookup_leave(struct sp_large *l, struct sp_hub *h);
/* The winners from one to before another, by rank; NULL: to the last. Only those that became
 * winners after that number. Valid until winners come or go. */
struct sp_lookup_range sp_lookup_between(struct sp_large *l, const struct sp_hub *from,
                                         const struct sp_hub *end, uint64_t after);
bool sp_lookup_is_in(const struct sp_lookup_range *range, const struct sp_hub *w);
/* Fills l->near with the next winners of the range, by rank, that the folded patterns do not rule
 * out for the hub; none: it has no more. */
void sp_lookup_near(struct sp_large *l, struct sp_hub *h, struct sp_lookup_range *range);
/* What a search costs on average: as much as to compare so many patterns. */
uint64_t sp_lookup_cost(const struct sp_large *l);
/* Frees the patterns. */
void sp_lookup_end(struct sp_large *l);

/* ---- cover.c */
/* Another member is the hub's best. */
void sp_cover_judge_later(struct sp_large *l, struct sp_hub *h);
/* The hub needs another winner, or becomes one. Unlike one that is judged later, it is decided in
 * the next update only if all hubs before it are. */
void sp_cover_open(struct sp_large *l, struct sp_hub *h);
/* The hub's best member is about to change or leave. */
void sp_cover_leave(struct sp_group *g, struct sp_hub *h);
/* Restores a winner known from before. */
void sp_cover_restore(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner,
                      float similarity);
/* Forgets all winners: each hub is decided when needed. */
void sp_cover_forget_all(struct sp_group *g);
/* Decides the hubs whose best member has changed. They stay in large->todo, and the first place
 * after which winners have changed in large->changed, until sp_cover_end_step. */
void sp_cover_update(struct sp_group_stage *st, struct sp_group *g);
void sp_cover_end_step(struct sp_group *g);
/* Brings h->winner and h->similarity up to date with the members. False: that needs more decisions
 * about other hubs than large->may_decide, and no error has occurred. Those that were made are
 * kept, so that further calls will succeed. */
bool sp_cover_decide(struct sp_group_stage *st, struct sp_hub *h);
/* The same for all hubs. */
bool sp_cover_decide_all(struct sp_group_stage *st, struct sp_group *g);
/* Whether the hub is decided and no winner that could cover it has come or gone since. */
bool sp_cover_is_decided(const struct sp_hub *h);
/* Whether it is known that another hub covers it, if not which one is the first that does. */
bool sp_cover_loses(const struct sp_hub *h);

/* ---- aware.c */
/* After sp_cover_update: touches present and former winners whose status has changed, and the
 * others as well if they are few; otherwise a round tells them. */
void sp_aware_touch(struct sp_group_stage *st, struct sp_group *g);

#endif

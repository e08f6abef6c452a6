/* A group: its members, who wins among them, whether they hang together. Private to group. */
#ifndef SP_GROUP_MEMBERS_H
#define SP_GROUP_MEMBERS_H

#include "group/stage.h"

struct sp_member {
    struct sp_id page;
    int64_t version;
    int64_t content_version;
    enum sp_page_kind kind;
    struct sp_id content;
    struct sp_id target;
    struct sp_signature *signature; /* NULL: not loaded */
    struct sp_rank rank;
    char *url;
    uint64_t epoch;
    struct sp_member *parent; /* in the spanning forest; NULL: a root */
    struct sp_member *winner; /* content only: itself, or the winner that covers it */
    float similarity;         /* to the winner */
    /* what was last said to the page */
    enum sp_page_status said_status;
    enum sp_reason said_reason;
    struct sp_id said_winner;
    float said_similarity;
    uint64_t said_epoch;
    int64_t said_version;
    uint32_t mark;  /* scratch of forest.c */
    bool incumbent; /* was a winner before this step (winner.margin) */
    bool todo;      /* scratch of verdicts.c */
    bool touched;   /* its status may have changed */
    bool dirty;
    bool stored;
    /* in a large group */
    bool hangs; /* on its target */
    bool loose; /* on no hub, and on no target */
    uint32_t dirty_at;
    uint32_t touched_at;
    struct sp_hub *hub;
    struct sp_end *end;
};

struct sp_group {
    struct sp_id key; /* key of the table: first */
    struct sp_age age;
    struct sp_group_id id;
    uint8_t level;        /* floor(log2 of the most members it has had) */
    uint8_t stored_level; /* in its 'G' row */
    bool opens_changed;   /* since the last flush */
    bool unsure;          /* its forest is to be mended when the last open transfer has ended */
    struct sp_group_id *opens; /* groups whose members have come in part */
    uint32_t open_count;
    uint32_t open_cap;
    struct sp_untold *untold;   /* a round that tells members, or NULL */
    struct sp_large *large;     /* NULL: small, and then */
    struct sp_member **members; /* sorted by page */
    uint32_t count;
    uint32_t cap;
    struct sp_member **empty; /* of these, those without content, by target */
    uint32_t empty_count;
    uint32_t empty_cap;
    struct sp_member **winners; /* sorted by rank */
    uint32_t winner_count;
    uint32_t winner_cap;
    struct sp_member **touched; /* whose status may have changed in this step */
    uint32_t touched_count;
    uint32_t touched_cap;
    uint32_t said_count; /* members at the last publication */
    uint32_t told_least; /* of the sizes that its winners have been told */
    uint32_t told_most;
    bool told_changed;  /* since the last flush */
    struct sp_id *gone; /* stored members that left since the last flush */
    uint32_t gone_count;
    uint32_t gone_cap;
    bool dirty;
    bool stored;  /* a 'G' row exists */
    bool packed;  /* it holds the members */
    bool inlined; /* lies inside its founder's stored page row */
    bool holder;  /* in st->holders */
    struct sp_group *next_dirty;
};

/* ---- table.c */
/* A group whose name is new. */
struct sp_group *sp_group_make(struct sp_group_stage *st, struct sp_group_id id);
/* The group, made empty where it is unknown. */
struct sp_group *sp_group_get(struct sp_group_stage *st, struct sp_group_id id);
void sp_group_changed(struct sp_group_stage *st, struct sp_group *g);

/* ---- members.c */
/* For qsort of struct sp_member *. */
int sp_member_by_page(const void *a, const void *b);
struct sp_member *sp_member_find(const struct sp_group *g, struct sp_id page);
/* Sorts members that were read in another order; false: a page is there twice. */
bool sp_members_sort(struct sp_group *g);
void sp_member_insert(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* Takes it out of the list, not out of the forest or the winners; it is not freed. */
void sp_member_remove(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
void sp_member_free(struct sp_member *m);
/* A page that was forgotten and is to be dropped: unlike one that was never fetched it has a
 * version. */
static inline bool sp_member_is_husk(const struct sp_member *m)
{
    return m->kind == SP_PAGE_UNSEEN && m->version > 0;
}
void sp_member_set_kind(struct sp_group *g, struct sp_member *m, enum sp_page_kind kind,
                        struct sp_id target);
/* Those that redirect to that page; valid until the group's next change. */
struct sp_member *const *sp_member_redirects(const struct sp_group *g, struct sp_id page,
                                             uint32_t *ret_count);
/* The same in any group, to be freed; how many there are. */
uint32_t sp_member_sources(const struct sp_group *g, const struct sp_member *to,
                           struct sp_member ***ret_sources);
void sp_member_changed(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* One more member has this content, or one less. */
void sp_member_hold_content(struct sp_group_stage *st, struct sp_signature *signature);
void sp_member_drop_content(struct sp_group_stage *st, struct sp_id content);
/* Signatures of the group's members are to be given back at the next flush. */
void sp_member_note_holder(struct sp_group_stage *st, struct sp_group *g);
/* Borrowed until the next flush. */
struct sp_signature *sp_member_signature(struct sp_group_stage *st, struct sp_group *g,
                                         struct sp_member *m);
bool sp_member_similar(struct sp_group_stage *st, struct sp_group *g, struct sp_member *a,
                       struct sp_member *b, double *ret_similarity);
enum { SP_MEMBER_BYTES = sizeof(struct sp_member) + 128 };

/* ---- large.c */
/* Makes the group large or small, as its size asks for. */
void sp_group_fit(struct sp_group_stage *st, struct sp_group *g);

/* ---- forest.c */
/* After m changed: cuts the tree edges that no longer hold and mends what can be
 * mended. Returns the number of pieces; each member's `mark` is its piece's number, piece 0 being
 * the largest (of equals the one with the smallest page). */
uint32_t sp_group_forest_check(struct sp_group_stage *st, struct sp_group *g,
                               struct sp_member *changed);
/* The same without any trust in the forest. */
uint32_t sp_group_forest_rebuild(struct sp_group_stage *st, struct sp_group *g);
/* The same, but the tree edges that hold are kept: nothing is written of a group that is whole. */
uint32_t sp_group_forest_verify(struct sp_group_stage *st, struct sp_group *g);
/* Trusts each tree edge, but not that there is one tree. */
uint32_t sp_group_forest_mend(struct sp_group_stage *st, struct sp_group *g);
/* Whether both hang from one root. */
bool sp_group_forest_same(const struct sp_member *a, const struct sp_member *b);
void sp_group_forest_link(struct sp_group_stage *st, struct sp_group *g, struct sp_member *child,
                          struct sp_member *parent);

/* ---- fast.c */
/* Mode fast, before a member changes: the signature that it is held against, that of its winner,
 * the caller's; NULL in mode exact, where no page of the group has words, and where the store
 * failed. */
struct sp_signature *sp_fast_representative(struct sp_group_stage *st, struct sp_group *g,
                                            struct sp_member *m);
/* Whether the member, changed, is similar to it, and whether that settles its version. */
bool sp_fast_resembles(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                       const struct sp_signature *representative, bool *ret_settled);
/* The member leaves, with those that redirect to it, and nobody checks whether the rest still hangs
 * together. Returns the number of pieces, as sp_group_forest_check does. For small groups. */
uint32_t sp_fast_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* A member's content has changed, and the cover is up to date: the group is re-checked where more
 * than the allowed share of it is unlike its winner. */
void sp_fast_recheck(struct sp_group_stage *st, struct sp_group *g);

/* ---- verdicts.c */
/* m is about to change or leave: what it won must find another winner. */
void sp_group_cover_forget(struct sp_group *g, struct sp_member *m);
/* All members of pieces other than 0 (by `mark`) are about to leave. */
void sp_group_cover_forget_pieces(struct sp_group *g);
/* m is new or has changed. */
void sp_group_cover_note(struct sp_group *g, struct sp_member *m);
/* m is about to be freed. */
void sp_group_cover_untouch(struct sp_group *g, struct sp_member *m);
/* Puts a winner known from the store back into its list. */
void sp_group_cover_restore_winner(struct sp_group_stage *st, struct sp_group *g,
                                   struct sp_member *m);
/* Its status may have changed. */
void sp_group_cover_touch(struct sp_group *g, struct sp_member *m);
/* Brings the cover of a small group up to date. */
void sp_group_cover_update(struct sp_group_stage *st, struct sp_group *g);

/* ---- statuses.c */
/* Brings the cover up to date; the group becomes large or small, as its size asks for. */
void sp_group_cover_renew(struct sp_group_stage *st, struct sp_group *g);
/* Tells the pages what changed for them. */
void sp_group_cover_tell(struct sp_group_stage *st, struct sp_group *g);
/* Both. */
void sp_group_cover_publish(struct sp_group_stage *st, struct sp_group *g);
/* Whether it knows its status. In a large group it has been decided: sp_cover_decide. */
bool sp_group_is_told(const struct sp_group *g, struct sp_member *m);
/* Tells it its status, and a winner the size of the group where that is another. False: it knows.
 */
bool sp_group_tell(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                   bool resized);

/* ---- handover.c */
/* All members go to the group `higher`, and with the last of them `edge`, the message that causes
 * it. */
void sp_group_dissolve(struct sp_group_stage *st, struct sp_group *g, struct sp_group_id higher,
                       struct sp_message *edge);
/* Pieces other than 0 (by `mark`) become groups of their own, named after their first page. */
void sp_group_split(struct sp_group_stage *st, struct sp_group *g, uint32_t pieces);
/* Those, by page, become a group of their own; they are in no list of g any more. A page that was
 * forgotten and is alone becomes nothing. */
void sp_group_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member **leaving,
                    uint32_t count);
/* The only member is a page that was forgotten: the group is empty now. */
bool sp_group_drop_last(struct sp_group_stage *st, struct sp_group *g);
/* A page that was forgotten stays where others redirect to it, as one that was never fetched; its
 * page does the same when it hears of it. */
void sp_group_forget_version(struct sp_group *g, struct sp_member *m);
/* Those that redirect to m are to forget its URL. */
void sp_group_erase_target(struct sp_group_stage *st, struct sp_group *g,
                           const struct sp_member *m);
/* The row's member joins the group, without a place in its forest; the row's URL is taken. */
void sp_group_take_in(struct sp_group_stage *st, struct sp_group *g, struct sp_member_row *row);

#endif

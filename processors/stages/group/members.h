/* A group: its members, their winners, and whether they are connected. Private to group. */
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
    /* the last status that was sent to the page */
    enum sp_page_status said_status;
    enum sp_reason said_reason;
    struct sp_id said_winner;
    float said_similarity;
    uint64_t said_epoch;
    int64_t said_version;
    uint32_t mark;  /* scratch: any function may use it; in forest.c the number of its piece */
    bool checked;   /* its tree edge to a parent that is checked too still holds */
    bool fresh;     /* came with the message that is being handled (sp_group_plant) */
    bool asks;      /* mode fast: leaves because of its own change, with which it asks tier 2 */
    bool incumbent; /* has winner.margin: it wins, or won until it changed in this step; in a large
                     * group, it was told last that it wins */
    bool todo;      /* in a small group: its winner must be chosen again (verdicts.c) */
    bool touched;   /* its status may have changed */
    bool told;      /* in this step (statuses.c) */
    bool dirty;
    bool stored;
    /* in a large group */
    bool hangs; /* on its target */
    bool loose; /* on no hub, and on no target */
    bool words; /* its content is known to have words. Stored, so that the signatures of a group
                 * that is read again are left unread */
    uint32_t dirty_at;
    uint32_t touched_at;
    struct sp_hub *hub;
    struct sp_end *end;
};

struct sp_group {
    struct sp_id key; /* key of the table: first */
    struct sp_age age;
    struct sp_group_id id;
    uint8_t level;             /* floor(log2 of the most members it has had) */
    uint8_t stored_level;      /* the level in its 'G' row */
    bool parted;               /* mode fast: the one page with content that it has was left alone by
                                * others, and has not changed since */
    bool stored_parted;        /* `parted` in its 'G' row */
    bool was_large : 1;        /* it was large when it was written, and has just been read */
    bool stored_large : 1;     /* whether its 'G' row says that it is large */
    bool opens_changed;        /* since the last flush */
    bool unsure;               /* its forest must be mended when the last open transfer ends */
    bool quiet;                /* scratch of statuses.c */
    struct sp_group_id *opens; /* groups of whose members only a part has arrived */
    uint32_t open_count;
    uint32_t open_cap;
    struct sp_debt *debt;       /* work that it has put off, or NULL */
    struct sp_large *large;     /* NULL: small, and the following lists are used */
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
    uint32_t told_least; /* least and largest size that its winners were told */
    uint32_t told_most;
    bool told_changed;                 /* since the last flush */
    struct sp_patterns_read *patterns; /* patterns.c; NULL: none, or the group is large */
    struct sp_id *gone;                /* stored members that left since the last flush */
    uint32_t gone_count;
    uint32_t gone_cap;
    bool dirty;
    bool stored;  /* a 'G' row exists */
    bool packed;  /* its row holds the members */
    bool inlined; /* lies inside its founder's stored page row */
    bool holder;  /* in st->holders */
    struct sp_group *next_dirty;
};

/* ---- table.c */
/* The key of the group in the table. */
struct sp_id sp_group_table_key(struct sp_group_id id);
/* Makes a group with a new id. */
struct sp_group *sp_group_make(struct sp_group_stage *st, struct sp_group_id id);
/* The group; an unknown one is made empty. */
struct sp_group *sp_group_get(struct sp_group_stage *st, struct sp_group_id id);

/* ---- core.c */
void sp_group_changed(struct sp_group_stage *st, struct sp_group *g);
/* Notes that members of the group borrow signatures, which the next flush releases. */
void sp_member_note_holder(struct sp_group_stage *st, struct sp_group *g);
bool sp_group_has_one_content(const struct sp_group *g); /* one member with content */
/* Call when pages with content have left the group, and when pages have arrived that were parted
 * from their group without a change of their own. If only one page with content is here, its next
 * change will not be settled. Does nothing in mode exact. */
void sp_fast_part(struct sp_group_stage *st, struct sp_group *g);

/* ---- change.c: takes ownership of the message, as the functions of merge.c do */
void sp_group_on_change(struct sp_group_stage *st, struct sp_message *m);

/* ---- merge.c */
void sp_group_on_link(struct sp_group_stage *st, struct sp_message *m);
void sp_group_on_union(struct sp_group_stage *st, struct sp_message *m);
void sp_group_on_dissolve(struct sp_group_stage *st, struct sp_message *m);
void sp_group_on_members(struct sp_group_stage *st, struct sp_message *m);

/* ---- member.c */
enum { SP_MEMBER_BYTES = sizeof(struct sp_member) + 128 };
/* A page that was forgotten and will be dropped. Unlike a page that was never fetched, it has a
 * version. */
static inline bool sp_member_is_husk(const struct sp_member *m)
{
    return m->kind == SP_PAGE_UNSEEN && m->version > 0;
}
/* Whether the page was told last that it is kept. */
static inline bool sp_member_was_kept(const struct sp_member *m)
{
    return sp_status_is_kept(m->said_status);
}
/* For qsort of struct sp_member *. */
int sp_member_by_page(const void *a, const void *b);
void sp_member_free(struct sp_member *m);
/* The member's row must be written. */
void sp_member_changed(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* In a large group: puts the member into the list of those whose rows must be written, and takes it
 * out. */
void sp_member_note_dirty(struct sp_group *g, struct sp_member *m);
void sp_member_clean(struct sp_group *g, struct sp_member *m);
/* Counts one member more, or one less, with this content. */
void sp_member_hold_content(struct sp_group_stage *st, struct sp_signature *signature);
void sp_member_drop_content(struct sp_group_stage *st, struct sp_id content);
/* Borrowed until the next flush. NULL: no content, or an error, which is in the stage. */
struct sp_signature *sp_member_signature(struct sp_group_stage *st, struct sp_group *g,
                                         struct sp_member *m);
/* A page without words resembles nothing, not even an equal one. */
bool sp_member_has_words(const struct sp_group_stage *st, const struct sp_signature *s);
bool sp_member_similar(struct sp_group_stage *st, struct sp_group *g, struct sp_member *a,
                       struct sp_member *b, double *ret_similarity);

/* ---- members.c */
/* The group's member of this page, or NULL. */
struct sp_member *sp_member_find(const struct sp_group *g, struct sp_id page);
/* Sorts members that were read in another order; false if a page is there twice. */
bool sp_members_sort(struct sp_group *g);
void sp_member_insert(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* The same for many, none of whose pages is a member yet, in a small group; sorts them. */
void sp_members_add(struct sp_group_stage *st, struct sp_group *g, struct sp_member **fresh,
                    uint32_t count);
/* Takes the member out of the list, but not out of the forest or the winners; does not free it. */
void sp_member_remove(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
void sp_member_set_kind(struct sp_group *g, struct sp_member *m, enum sp_page_kind kind,
                        struct sp_id target);
/* The members that redirect to the page; valid until the group's next change. */
struct sp_member *const *sp_member_redirects(const struct sp_group *g, struct sp_id page,
                                             uint32_t *ret_count);

/* ---- fit.c */
/* Makes the group large or small according to its size. */
void sp_group_fit(struct sp_group_stage *st, struct sp_group *g);

/* ---- forest.c */
/* After a member changed: cuts the tree edges that no longer hold and mends the forest where
 * possible. `target`: the one that it had before, if it had no content; then only its own edge and
 * that of its former target can be cut. NULL: it had content. Returns the number of pieces; each
 * member's `mark` is the number of its piece. Piece 0 is the largest, or among equals the one with
 * the smallest page. */
uint32_t sp_group_forest_check(struct sp_group_stage *st, struct sp_group *g,
                               struct sp_member *changed, const struct sp_id *target);
/* The same, but discards the whole forest. */
uint32_t sp_group_forest_rebuild(struct sp_group_stage *st, struct sp_group *g);
/* The same, but keeps the tree edges that hold, so that nothing is written if the group is whole.
 * Compares only those of members that have come, or have changed, since the last call. */
uint32_t sp_group_forest_verify(struct sp_group_stage *st, struct sp_group *g);
/* Trusts each tree edge, but not that there is one tree. */
uint32_t sp_group_forest_mend(struct sp_group_stage *st, struct sp_group *g);
/* Whether both have the same root. */
bool sp_group_forest_same(const struct sp_member *a, const struct sp_member *b);
void sp_group_forest_link(struct sp_group_stage *st, struct sp_group *g, struct sp_member *child,
                          struct sp_member *parent);

/* ---- fast.c */
/* Mode fast, before a member changes: returns the signature to compare it with, that of its winner,
 * with a reference. NULL in mode exact, if no page of the group has words, or if the store
 * failed. */
struct sp_signature *sp_fast_representative(struct sp_group_stage *st, struct sp_group *g,
                                            struct sp_member *m);
/* Whether the changed member is similar to it, and whether that settles its version. */
bool sp_fast_resembles(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                       const struct sp_signature *representative, bool *ret_settled);
/* The member leaves with those that redirect to it; does not check whether the rest is connected.
 * Returns the number of pieces, as sp_group_forest_check does. For small groups. */
uint32_t sp_fast_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m);
/* Call when a member's content has changed and the cover is up to date: re-checks the group if more
 * than the allowed share of it is unlike its winner. */
void sp_fast_recheck(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed);

/* ---- verdicts.c */
/* m is about to change or leave: its losers must find another winner. */
void sp_group_cover_forget(struct sp_group *g, struct sp_member *m);
/* All members of pieces other than 0 (by `mark`) are about to leave. */
void sp_group_cover_forget_pieces(struct sp_group *g);
/* m is new or has changed: chooses its winner in the next update, and tells it its status. */
void sp_group_cover_judge_later(struct sp_group *g, struct sp_member *m);
/* m is about to be freed. */
void sp_group_cover_untouch(struct sp_group *g, struct sp_member *m);
/* Puts a winner known from the store back into its list. */
void sp_group_cover_restore_winner(struct sp_group_stage *st, struct sp_group *g,
                                   struct sp_member *m);
/* Its status may have changed. */
void sp_group_cover_touch(struct sp_group *g, struct sp_member *m);
/* Brings the cover of a small group up to date. */
void sp_group_cover_update(struct sp_group_stage *st, struct sp_group *g);

/* ---- renew.c */
/* Brings the cover up to date, and makes the group large or small according to its size. */
void sp_group_cover_renew(struct sp_group_stage *st, struct sp_group *g);
/* The same; then tells the pages whose status has changed. */
void sp_group_cover_publish(struct sp_group_stage *st, struct sp_group *g);

/* ---- statuses.c */
/* Tells the pages whose status has changed. */
void sp_group_cover_tell(struct sp_group_stage *st, struct sp_group *g);
/* Whether the member knows its status. In a large group call sp_cover_decide first. */
bool sp_group_is_told(struct sp_group_stage *st, const struct sp_group *g, struct sp_member *m);
/* False: in a large group, too many decisions have to be made before (sp_cover_decide). */
bool sp_group_can_tell(struct sp_group_stage *st, const struct sp_group *g, struct sp_member *m);
/* Tells the member its status and, if `resized`, a winner the size of the group. False if it
 * knows, or if it is told later. */
bool sp_group_tell(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                   bool resized);

/* ---- transfer.c */
/* The group that the message is for; NULL if the store failed or the message was put off. */
struct sp_group *sp_group_resolve(struct sp_group_stage *st, struct sp_message *m);
/* The page is not a member: its page actor knows where it is. Takes ownership of the message. */
void sp_group_bounce(struct sp_group_stage *st, struct sp_message *m);
/* Members of the group `from` came; `more`: others are to follow. */
void sp_group_note_transfer(struct sp_group_stage *st, struct sp_group *g, struct sp_group_id from,
                            bool more);
/* Replies to the group that waits for more members; takes ownership of the message. */
void sp_group_wait(struct sp_group_stage *st, struct sp_message *m);

/* ---- handover.c */
/* Sends all members to the group `higher`, and with the last of them `edge`, the message that
 * caused the move. */
void sp_group_dissolve(struct sp_group_stage *st, struct sp_group *g, struct sp_group_id higher,
                       struct sp_message *edge);
/* Pieces other than 0 (by `mark`) become new groups, founded by their first page. */
void sp_group_split(struct sp_group_stage *st, struct sp_group *g, uint32_t pieces);
/* The members, sorted by page and already in no list of g, become a new group. A single forgotten
 * page is dropped instead. */
void sp_group_leave(struct sp_group_stage *st, struct sp_group *g, struct sp_member **leaving,
                    uint32_t count);
/* If the only member is a forgotten page, drops it; returns whether it did. */
bool sp_group_drop_last(struct sp_group_stage *st, struct sp_group *g);
/* A forgotten page to which others redirect stays, as a page that was never fetched. Its page actor
 * does the same when it gets `applied`. */
void sp_group_forget_version(struct sp_group *g, struct sp_member *m);

/* ---- arrive.c: also sp_group_found (page_actor.h) */
/* The members of the link's rows join the group, without a place in its forest; takes the URLs. A
 * row of one that is a member already, from a message that came twice, is freed and left out: it
 * would be a second member of that page, with the parent that it once had. */
void sp_group_take_rows(struct sp_group_stage *st, struct sp_group *g, struct sp_link *link);
/* Gives them their places. A parent can be in a part that is still to come, and members of a large
 * group have none. */
void sp_group_plant(struct sp_group_stage *st, struct sp_group *g, const struct sp_link *link);

#endif

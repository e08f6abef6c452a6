/* One cell: its rows, the pages that own each row, the row cache and the index.
 *
 *   slot   40 bytes in memory for each distinct content, as long as it has an owner, and a place in
 *          the table by content
 *   row    the owners of a slot, while cached or changed
 *   star   what the index knows of a slot (stars/stars.h): its number there is the slot's
 *
 * A page that has exactly the content of a row owns the row. The first owner is its spokesman:
 * matches name only this page. A row relies on the one row of a star to which it has an edge
 * (near.c). When that row leaves its star, the first one is recalled: it must probe again. Debt is
 * work that messages leave to later messages: kids to move, recalls.
 *
 * Stored as
 *   'P' slot                  -> cell, content, the star's pivot (form.c)
 *   'K' slot                  -> cell, content, a kid of a star (form.c)
 *   'R' cell content          -> first owner, its version; if there are more, the second and last
 *   'O' cell content page     -> version, the owners before and after it (each further owner)
 *   'E' slot cell content     -> that row relies on this slot (relied_rows.c)
 *   'Q' cell cell content mark -> that row must probe again (relied_rows.c)
 *
 * The signature is in the table of contents, which each row holds once.
 *
 *   compare.c  the steps of a cell: put, remove, probe, again
 *   cell.c     rows
 *   owners.c   the pages that own a row
 *   slots.c    which content has which slot
 *   near.c     puts rows into the index, removes them, and sends the edges that follow
 *   relied.c   which rows rely on which
 *   recalls.c  the queue of rows that must probe again
 *   relied_rows.c  the stored forms of reliance and recalls
 *   debt.c     deferred work
 *   flush.c    writes rows to the store, and evicts them
 *   form.c     stored forms of slots
 *   load.c     restores a stage from its store
 *   ahead.c    prefetches, and lets the store read ahead
 *   maps.c     the partition maps with which rows were stored
 *   move.c     moves pages out of the cells of a map that is being replaced
 *   core.c     helpers
 *
 * If the store fails, functions set c->err; those that return a pointer or a slot then return NULL
 * or NO_SLOT. */
#ifndef SP_COMPARE_CELL_H
#define SP_COMPARE_CELL_H

#include "base/shelf.h"
#include "compare/compare.h"
#include "stars/stars.h"

struct sp_owner {
    struct sp_id page;
    int64_t content_version;
};

/* An owner of a row other than the first, linked with its neighbours in the order in which they
 * came. */
struct sp_other {
    struct sp_owner owner;
    struct sp_id before; /* zero: the first owner */
    struct sp_id after;  /* zero: it is the last */
    bool changed;        /* not stored yet; the row is listed */
    bool gone;           /* no longer an owner; kept until that is stored */
};

struct sp_row {
    struct sp_owner first;
    struct sp_id second; /* zero: there is only one */
    struct sp_id last;
    struct sp_shelf others; /* struct sp_other, by page: those in memory */
    bool others_known;      /* all are in memory */
    bool dirty;             /* the row itself has unsaved changes */
    bool listed;            /* in c->dirty: the row or one of its owners changed */
    bool recently;          /* the clock's second chance */
    bool stored;            /* an 'R' row exists */
    struct sp_id *changed;  /* other owners that have changed since the last flush */
    uint32_t changed_count;
    uint32_t changed_cap;
};

enum { SP_ROW_BYTES = sizeof(struct sp_row) + 32 }; /* in memory, without the others */

/* A slot is free, has owners, or is a ghost: a pivot that left (stars/stars.h). */
struct sp_slot {
    struct sp_id content;
    struct sp_row *row; /* NULL: not cached */
    uint32_t owners;
    union {
        uint32_t anchor; /* the slot of its star to which it was last linked, or NO_SLOT */
        uint32_t next;   /* of a free slot: the next one */
    };
    uint32_t relied; /* its list of the rows that rely on it, or 0: relied.c */
    uint16_t cell;
    char stored; /* 'P', 'K': the kind of the stored row; 0: none */
    bool ghost : 1;
    bool reformed : 1; /* in c->reformed: its stored form has changed */
};

struct sp_cell_actor {
    uint32_t number;
    uint32_t used; /* slots with owners */
    uint32_t ghosts;
    uint32_t *by_content; /* open addressing: slot + 1 and bits of the content's hash, or 0 */
    uint32_t by_content_cap;
    struct sp_stars_domain *domain;
};

/* A row of cell `home` must probe again, because it relied on a row of cell `at` that has left its
 * star. */
struct sp_recall {
    uint32_t at; /* the cell to be probed; EVERYWHERE: all */
    uint32_t home;
    struct sp_id content;
    uint32_t mark; /* of that star, which is probed alone (sp_stars_mark); 0: all stars are */
};

/* A deleted row: what must be deleted from the store. */
struct sp_gone_row {
    uint32_t cell;
    struct sp_id content;
    struct sp_id *changed;
    uint32_t changed_count;
};

struct sp_compare_stage {
    struct sp_compare_stage_options options;
    struct sp_stars *stars;
    struct sp_store *store;
    struct sp_contents *contents; /* options.contents, or own_contents */
    struct sp_contents *own_contents;
    struct sp_outbox outbox;
    struct sp_cell_actor **cells; /* by sp_cell_place of the number; NULL: not met yet */
    uint32_t *targets;            /* scratch of the routing */
    struct sp_slot *slots;
    uint32_t slot_count;
    uint32_t slot_cap;
    uint32_t free_slot; /* NO_SLOT: none */
    uint32_t hand;      /* of the clock */
    uint32_t *dirty;    /* slots with unsaved owners (may repeat) */
    uint32_t dirty_count;
    uint32_t dirty_cap;
    struct sp_gone_row *gone;
    uint32_t gone_count;
    uint32_t gone_cap;
    uint32_t *changed; /* slots whose place in the index has changed (may repeat) */
    uint32_t changed_count;
    uint32_t changed_cap;
    uint32_t *reformed; /* slots whose stored form has changed */
    uint32_t reformed_count;
    uint32_t reformed_cap;
    struct sp_recall *queue; /* first in, first out */
    uint32_t queue_first;
    uint32_t queue_count; /* including those before queue_first */
    uint32_t queue_cap;
    struct sp_relied *relied; /* lists of relied.c */
    uint32_t relied_count;
    uint32_t relied_cap;
    uint32_t free_relied;  /* 0: none */
    struct sp_buf unsaved; /* writes of relied_rows.c for the next flush */
    uint32_t pay_cell;     /* where sp_compare_stage_work continues */
    uint32_t move_slot;    /* where sp_compare_stage_move continues */
    bool unsettled;        /* while loading: some stars owe */
    bool maps_noted;
    bool reads_ahead;    /* sp_compare_stage_expect does something */
    uint64_t seen_loads; /* at the last flush */
    uint64_t seen_probes;
    size_t row_budget;
    size_t by_content_bytes; /* of all cells */
    size_t cache_bytes;      /* of rows */
    size_t evict_above;      /* below it eviction is useless: the last time, all that was left was
                              * dirty */
    enum sp_err err;
    struct sp_compare_stage_stats stats;
};

enum { NO_SLOT = SP_STARS_NONE, EVERYWHERE = UINT32_MAX, SP_MARK_BYTES = 4 };

/* ---- core.c ---- */

struct sp_cell_actor *sp_cell_actor_get(struct sp_compare_stage *c, uint32_t number);
void sp_cell_actor_free(struct sp_cell_actor *cell);
/* The cell of that slot. */
struct sp_cell_actor *sp_cell_actor_of(const struct sp_compare_stage *c, uint32_t slot);
/* The slot's stored form must be written. */
void sp_form_changed(struct sp_compare_stage *c, uint32_t slot);
/* Keeps the first error. Returns whether `err` is SP_OK. */
bool sp_compare_note(struct sp_compare_stage *c, enum sp_err err);

/* ---- slots.c ---- */

/* The slot of the content, or NO_SLOT. */
uint32_t sp_cell_actor_find(const struct sp_compare_stage *c, const struct sp_cell_actor *cell,
                            struct sp_id content);
/* A free slot for a content of the cell, or NO_SLOT with an error if there are too many. */
uint32_t sp_cell_actor_slot_new(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                                struct sp_id content);
/* While loading: takes that slot, which must be free. Call sp_compare_slots_settle after the
 * last. */
bool sp_cell_actor_slot_take(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t slot,
                             struct sp_id content);
void sp_compare_slots_settle(struct sp_compare_stage *c);
/* Gives the content this slot, or takes its slot away. */
void sp_cell_actor_slot_enter(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                              uint32_t slot);
void sp_cell_actor_slot_forget(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                               struct sp_id content);
void sp_compare_slot_free(struct sp_compare_stage *c, uint32_t slot);
/* What sp_cell_actor_find will most likely return, without a look at the slot; use it only to
 * prefetch. */
uint32_t sp_cell_actor_guess(const struct sp_cell_actor *cell, struct sp_id content);
/* Prefetches into the processor's caches what a look-up of the content will read. */
void sp_cell_actor_prefetch(const struct sp_cell_actor *cell, struct sp_id content);

/* ---- cell.c ---- */

/* Makes a slot with an empty row for a content that has none, and holds its signature. */
uint32_t sp_cell_actor_store(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                             struct sp_signature *signature);
/* Decodes the stored form of a row with so many owners. */
enum sp_err sp_cell_actor_decode_row(struct sp_view value, uint32_t owners, struct sp_row *row);
/* The row of a slot with owners, and the signature of any slot in use, from memory or the store;
 * borrowed until the end of the step. */
struct sp_row *sp_cell_actor_row(struct sp_compare_stage *c, uint32_t slot);
struct sp_signature *sp_cell_actor_signature(struct sp_compare_stage *c, uint32_t slot);
/* Announces calls of both, so that the store reads ahead. */
void sp_cell_actor_expect_row(struct sp_compare_stage *c, uint32_t slot);
/* Moves the row to another slot of the same content. */
void sp_cell_actor_move_row(struct sp_compare_stage *c, uint32_t from, uint32_t to);
/* An owner of the row must be written; the row itself must be. */
void sp_cell_actor_list_row(struct sp_compare_stage *c, uint32_t slot);
void sp_cell_actor_row_changed(struct sp_compare_stage *c, uint32_t slot);
/* The key of a stored row of that kind; for 'O' the part before the page. */
void sp_compare_row_key(uint32_t cell, char kind, struct sp_id content, struct sp_buf *out);

/* ---- owners.c ---- */

/* How the owners of a row changed. */
enum sp_owners_change {
    SP_OWNERS_SAME,
    SP_OWNERS_FIRST, /* the first owner, the spokesman, is now another page or version */
    SP_OWNERS_ONE,   /* another owner came, changed or left */
    SP_OWNERS_NONE   /* the last owner has left: the caller takes the slot out of the index */
};
enum sp_owners_change sp_owners_add(struct sp_compare_stage *c, uint32_t slot,
                                    struct sp_owner owner);
/* *ret_gap: the owner that has another one before it now, or NULL. */
enum sp_owners_change sp_owners_remove(struct sp_compare_stage *c, uint32_t slot, struct sp_id page,
                                       const struct sp_other **ret_gap);
/* The page's entry; NULL if it is the first owner or not an owner. */
const struct sp_other *sp_owners_find(struct sp_compare_stage *c, uint32_t slot, struct sp_id page);
/* The second owner, and the owner after another one; NULL if there is none. */
const struct sp_other *sp_owners_second(struct sp_compare_stage *c, uint32_t slot);
const struct sp_other *sp_owners_after(struct sp_compare_stage *c, uint32_t slot,
                                       const struct sp_other *other);
/* The owner before it. */
bool sp_owners_before(struct sp_compare_stage *c, uint32_t slot, const struct sp_other *other,
                      struct sp_owner *ret_owner);
/* Some owner of the row other than `page`; false if there is none. */
bool sp_owners_other_than(struct sp_compare_stage *c, uint32_t slot, struct sp_id page,
                          struct sp_owner *ret_owner);
/* The memory of the cached owners. */
size_t sp_owners_bytes(const struct sp_row *row);
/* Writes the owners that have changed. `key` is the row's key, and scratch. */
void sp_owners_flush(struct sp_compare_stage *c, struct sp_row *row, struct sp_buf *key,
                     struct sp_buf *value);
void sp_owners_free(struct sp_row *row);
/* Checks the stored form of an owner; SP_STATE_FORMAT if an older version wrote it. */
enum sp_err sp_owners_check(struct sp_view value);

/* ---- flush.c ---- */

/* Drops the row of a slot without owners, and its stored form. */
void sp_cell_actor_drop_row(struct sp_compare_stage *c, uint32_t slot);
void sp_compare_rows_free(struct sp_compare_stage *c);
enum sp_err sp_compare_rows_flush(struct sp_compare_stage *c);
/* Evicts clean rows until the cache fits its budget. */
void sp_compare_stage_evict(struct sp_compare_stage *c);

/* ---- near.c ---- */

void sp_near_open(struct sp_compare_stage *c);
/* Puts the slot into the index. `to_tell`: its first owner is told what it is similar to. */
void sp_near_enter(struct sp_compare_stage *c, uint32_t slot, bool to_tell);
/* Takes the slot out of the index; returns whether it is a ghost now. */
bool sp_near_leave(struct sp_compare_stage *c, uint32_t slot);
/* Tells the asker which rows of the cell are similar; its row in cell `home` relies on them from
 * now on. */
void sp_near_probe(struct sp_compare_stage *c, struct sp_cell_actor *cell, struct sp_owner asker,
                   uint32_t home, const struct sp_signature *signature);
/* The same for a row of the cell itself, except for its own star. */
void sp_near_probe_own(struct sp_compare_stage *c, uint32_t slot);
/* The same among the members of one star. False: it is not known where they are. */
bool sp_near_probe_star(struct sp_compare_stage *c, uint32_t slot, uint32_t mark);
/* Probes all other cells that the row visits, or one of them, for its first owner. */
void sp_near_probe_others(struct sp_compare_stage *c, uint32_t slot);
void sp_near_probe_cell(struct sp_compare_stage *c, uint32_t slot, uint32_t cell);
/* Sends the page actor of `from` an edge to `to`. */
void sp_near_send_edge(struct sp_compare_stage *c, struct sp_owner from, struct sp_owner to);
/* Handles the rows that the index has changed: links rows that have a new anchor to it, and queues
 * rows that have left their star. */
void sp_near_follow(struct sp_compare_stage *c);

/* ---- relied.c ---- */

/* Notes that a row of cell `home` relies on the slot staying in its star. */
void sp_relied_add(struct sp_compare_stage *c, uint32_t slot, uint32_t home, struct sp_id content);
/* The slot has left the star of that mark, or an unknown one (0): queues all rows that rely on it.
 */
void sp_relied_end(struct sp_compare_stage *c, uint32_t slot, uint32_t mark);
/* The slot is about to be deleted. The same, unless it is alone in its star: then it connected
 * those that rely on it with no other row. */
void sp_relied_delete(struct sp_compare_stage *c, uint32_t slot);
void sp_relied_free(struct sp_compare_stage *c);
/* While loading. `clean_at`: as it was when the row was added. */
void sp_relied_put(struct sp_compare_stage *c, uint32_t slot, uint32_t home, struct sp_id content,
                   uint32_t clean_at);

/* ---- recalls.c ---- */

/* Queues a recall, which the next flush stores. */
void sp_recalls_add(struct sp_compare_stage *c, struct sp_recall recall);
/* Takes the recall that was queued first, which the next flush deletes; false if there is none. */
bool sp_recalls_take(struct sp_compare_stage *c, struct sp_recall *ret_recall);
/* While loading, in the order of the keys: queues a recall, which is stored already. Marks do not
 * outlast a restart, so the row probes all stars, once. */
void sp_recalls_restore(struct sp_compare_stage *c, struct sp_recall recall);

/* ---- relied_rows.c ---- */

/* The next flush puts or deletes the stored row of an entry of a slot's list, or of a recall. */
void sp_relied_note(struct sp_compare_stage *c, bool put, uint32_t slot, uint32_t home,
                    struct sp_id content, uint32_t clean_at);
void sp_recall_note(struct sp_compare_stage *c, bool put, const struct sp_recall *recall);
void sp_relied_flush(struct sp_compare_stage *c);
/* Reads a stored row. False: no stage wrote it. */
struct sp_relied_row {
    uint32_t slot;
    uint32_t home;
    struct sp_id content;
    uint32_t clean_at; /* of the slot's list */
};
bool sp_relied_decode(struct sp_view key, struct sp_view value, struct sp_relied_row *ret_row);
bool sp_recall_decode(struct sp_view key, struct sp_recall *ret_recall);

/* ---- debt.c ---- */

/* Does up to `units` units of work: recalls, and kids of this cell's stars. */
void sp_compare_debt_pay(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t units);

/* ---- form.c ---- */

void sp_form_flush(struct sp_compare_stage *c);
/* Loads a stored row; load all pivots before the kids. */
enum sp_err sp_form_load(struct sp_compare_stage *c, struct sp_view key, struct sp_view value);

/* ---- maps.c ---- */

/* SP_OK: the stage has that cell. SP_OTHER_MAP: it is one of another map. SP_CORRUPT: there is no
 * such cell. */
enum sp_err sp_compare_check_cell(const struct sp_compare_stage *c, uint32_t cell);
/* Whether it is a cell of the previous map, so that its pages must move. */
bool sp_cell_is_leaving(const struct sp_compare_stage *c, uint32_t cell);

/* Checks that the stored rows were made with the maps in use, or that the store is new. */
enum sp_err sp_compare_check_maps(struct sp_compare_stage *c);
/* Notes the maps in use, once. */
void sp_compare_flush_maps(struct sp_compare_stage *c);

#endif

/* One cell: its rows, the pages that own each row, the row cache and the index.
 *
 *   slot   4+28 bytes in memory for each distinct content, for ever
 *   row    the owners of a slot, while cached or changed
 *
 * Stored as
 *   'K' cell content          -> the candidate keys of its signature: all that the index needs
 *   'R' cell content          -> first owner, its version
 *   'O' cell content page     -> version             (each further owner)
 *
 * The signature is in the table of contents, which each row holds once.
 *
 * All functions set c->err and return NULL/0 where the store fails. */
#ifndef SP_COMPARE_CELL_H
#define SP_COMPARE_CELL_H

#include "compare/compare.h"

struct owner {
    struct sp_id page;
    int64_t content_version;
};

struct row {
    struct owner first;
    struct owner *others; /* loaded on demand, see others_loaded; sorted by page */
    uint32_t other_count;
    uint32_t other_cap;
    bool others_loaded;
    bool dirty;            /* the first owner is not stored as it is */
    bool recently;         /* the clock's second chance */
    bool stored;           /* an 'R' row exists */
    struct sp_id *changed; /* other owners added or removed since the last flush */
    uint32_t changed_count;
    uint32_t changed_cap;
};

struct slot {
    struct sp_id content;
    uint32_t owners; /* 0: the slot is free */
    uint32_t next;   /* next free slot */
    struct row *row; /* NULL: not cached */
};

struct cell {
    uint32_t number;
    struct slot *slots;
    uint32_t slot_count;
    uint32_t slot_cap;
    uint32_t free_slot; /* UINT32_MAX: none */
    uint32_t used;
    uint32_t *by_content; /* open addressing: slot + 1 and bits of the content's hash, or 0 */
    uint32_t by_content_cap;
    struct sp_candidates *index;
    uint32_t hand;   /* of the clock */
    uint32_t *dirty; /* slots with unsaved changes (may repeat) */
    uint32_t dirty_count;
    uint32_t dirty_cap;
    struct sp_id *dropped; /* contents whose stored row must go */
    uint32_t dropped_count;
    uint32_t dropped_cap;
};

struct sp_compare {
    struct sp_compare_options options;
    struct sp_candidate_rule rule;
    struct sp_store *store;
    struct sp_contents *contents; /* options.contents, or */
    struct sp_contents *own_contents;
    struct sp_outbox outbox;
    struct cell **cells; /* by sp_cell_place of the number; NULL: not met yet */
    uint32_t *targets;   /* scratch of the routing */
    uint32_t move_cell;  /* where sp_compare_move goes on */
    uint32_t move_slot;
    bool maps_noted;
    bool reads_ahead;    /* sp_compare_expect does something */
    uint64_t seen_loads; /* at the last flush */
    uint64_t seen_probes;
    size_t row_budget;
    size_t cache_bytes; /* of rows */
    size_t evict_above; /* no use trying below: everything left was dirty */
    enum sp_err err;
    struct sp_compare_stats stats;
};

enum { NO_SLOT = UINT32_MAX };

/* The list of others: where a page is in it or belongs; a new one there; into order again
 * (owners.c). */
uint32_t owners_find(const struct row *row, struct sp_id page);
void owners_insert(struct row *row, uint32_t at, struct owner owner);
void owners_sort(struct row *row);

struct cell *cell_get(struct sp_compare *c, uint32_t number);
void cell_free(struct cell *cell);

uint32_t cell_find(const struct cell *cell, struct sp_id content);
/* A slot for a content that has none; the content has none any more, the slot stays (slots.c). */
uint32_t cell_slot_new(struct cell *cell, struct sp_id content);
void cell_slot_forget(struct cell *cell, struct sp_id content);
/* For the processor's caches: a content that will be looked for, slots that will be looked at. */
void cell_prefetch(const struct cell *cell, struct sp_id content);
void cell_prefetch_slots(const struct cell *cell, const uint32_t *slots, size_t count);
/* The slot of that content, made where it is missing. */
uint32_t cell_store(struct sp_compare *c, struct cell *cell, struct sp_signature *signature);
/* Makes a slot for a stored row while loading; sp_candidates_settle(cell->index) after the last. */
void cell_restore(struct cell *cell, struct sp_id content, const uint32_t *keys, uint32_t count);
struct row *cell_row(struct sp_compare *c, struct cell *cell, uint32_t slot);
/* Borrowed until the end of the step. */
struct sp_signature *cell_signature(struct sp_compare *c, const struct cell *cell, uint32_t slot);
/* Both will be called soon. */
void cell_expect_row(struct sp_compare *c, const struct cell *cell, uint32_t slot);

/* True: the row's first owner, its spokesman, is now this page at this version. */
bool cell_add_owner(struct sp_compare *c, struct cell *cell, uint32_t slot, struct owner owner);
/* True: the row has another first owner now. The row goes with its last owner. */
bool cell_remove_owner(struct sp_compare *c, struct cell *cell, uint32_t slot, struct sp_id page);
/* All owners but the first; valid until the next call on this cell. */
const struct owner *cell_others(struct sp_compare *c, struct cell *cell, uint32_t slot,
                                uint32_t *ret_count);
/* Some owner of the row other than `page`; false where there is none. */
bool cell_other_owner(struct sp_compare *c, struct cell *cell, uint32_t slot, struct sp_id page,
                      struct owner *ret_owner);

/* The maps that the store's rows were made with are those in use, or the store is new (maps.c). */
enum sp_err maps_check(struct sp_compare *c);
/* Notes the maps in use, once. */
void maps_flush(struct sp_compare *c);

enum sp_err cell_flush(struct sp_compare *c, struct cell *cell);
/* Drops clean rows until the cache fits its budget again. */
void cells_evict(struct sp_compare *c);

#endif

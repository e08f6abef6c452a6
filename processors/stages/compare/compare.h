/* The compare stage (tier 2): cell actors.
 *
 * Source: Zhu et al., WWW 2012, section 5.1 (tier 2) and section 4 (cells). A cell stores
 * the signatures of the pages whose length vector falls into its box, one row for each distinct
 * content, with the pages that have it; and finds the rows that a probe is similar to.
 *
 * A pure step: a message in, messages out, state changes kept in memory until
 * sp_compare_stage_flush writes them to the store's open batch. No threads, no clock.
 *
 * After an error from step, load or flush, every further step and flush returns it. Free the stage
 * and the table of signatures that it shares, and make both again from the store, as a restart
 * does. */
#ifndef SP_COMPARE_COMPARE_H
#define SP_COMPARE_COMPARE_H

#include "contents/contents.h"
#include "page/message.h"
#include "partition/maps.h"
#include "similarity/similarity.h"
#include "store/store.h"

/* One rule that a canary leaves out; the simulation must notice. (For the last one, which needs
 * simhash, tests/unit/compare/test_connected.c must.) */
enum sp_compare_canary {
    SP_COMPARE_ALL_RULES,
    SP_COMPARE_NO_SUCCESSOR, /* when the spokesman leaves, no other owner speaks for the content */
    SP_COMPARE_NO_RELIANCE,  /* a row does not probe again when a row it relied on has left its
                              * star */
    SP_COMPARE_QUIET_RETURN, /* a row that leaves its star enters another one without telling */
    SP_COMPARE_NO_GAP,       /* the neighbours of an owner that leaves are not linked */
    SP_COMPARE_QUIET_STORE,  /* mode fast: similar rows of the own cell are not told */
    SP_COMPARE_QUIET_ANCHOR, /* a row with a new anchor is not linked to it */
    SP_COMPARE_NO_TWIN       /* a row does not probe again when its twin has left its star */
};

struct sp_compare_stage_options {
    struct sp_similarity_options similarity;
    struct sp_maps maps; /* what they point to outlives the stage */
    enum sp_routing routing;
    double rho;
    size_t cache_bytes; /* rows and own signatures kept in memory */
    /* The table of signatures that the stage shares with others of its thread. It must outlive the
     * stage and be flushed after it. NULL: the stage has its own table in `store`. */
    struct sp_contents *contents;
    uint32_t edges_per_match; /* at most; 0: 64 */
    uint32_t work_per_step;   /* largest number of units of deferred work in a step; 0: 64 */
    enum sp_compare_canary canary;
};

struct sp_compare_stage_stats {
    uint64_t rows;        /* distinct contents stored */
    uint64_t probes;      /* by cell */
    uint64_t star_probes; /* of one star, by rows that relied on a member that has left it */
    uint64_t contacts;    /* cells visited by pages, own cell included */
    uint64_t candidates;  /* rows compared with a probe */
    uint64_t postings;    /* entries of posting lists that probes read */
    uint64_t matches;
    uint64_t row_loads;    /* read from the store */
    uint64_t rows_to_move; /* rows in cells of the previous map */
    uint64_t index_bytes;
    uint64_t cache_bytes;
};

struct sp_compare_stage;

/* Never NULL. Options are copied; store and outbox are borrowed. */
struct sp_compare_stage *sp_compare_stage_new(const struct sp_compare_stage_options *options,
                                              struct sp_store *store,
                                              const struct sp_outbox *outbox);
void sp_compare_stage_free(struct sp_compare_stage *c);

/* Rebuilds the index from the stored rows; call once before the first step on a store that may hold
 * rows. SP_OTHER_MAP: some rows are in cells of a map that this stage does not have. */
enum sp_err sp_compare_stage_load(struct sp_compare_stage *c);

/* Handles one tier-2 message; the caller keeps it. SP_OTHER_MAP: it is for a cell of a map that
 * this stage does not have; nothing was changed, and a stage with that map can handle it. */
enum sp_err sp_compare_stage_step(struct sp_compare_stage *c, const struct sp_message *m);

/* Announces a put with this signature. The store reads ahead the rows that will be compared with
 * it, if recently many rows were not in memory. Changes nothing else. *ret_found: the first of
 * these rows, for calls of sp_compare_stage_expect_owner some time later. */
enum { SP_COMPARE_FOUND = 4 };
struct sp_compare_found {
    uint32_t rows[SP_COMPARE_FOUND];
    uint32_t count;
};
void sp_compare_stage_expect(struct sp_compare_stage *c, const struct sp_signature *signature,
                             struct sp_compare_found *ret_found);
/* The page that the put will be told of if it is similar to this row; a guess. False: not known. */
bool sp_compare_stage_expect_owner(struct sp_compare_stage *c, uint32_t row,
                                   const struct sp_signature *signature, struct sp_id *ret_page);
/* Announces that the page leaves its row of this content. */
void sp_compare_stage_expect_leave(struct sp_compare_stage *c, uint32_t cell, struct sp_id content,
                                   struct sp_id page);
/* Prefetches into the processor's caches what a put (or, if `put` is false, an announcement) of
 * this signature will read. */
void sp_compare_stage_prefetch(const struct sp_compare_stage *c,
                               const struct sp_signature *signature, bool put);

/* Prefetches the row of a content that the page will leave: call with the steps 0 to 4, each some
 * time after the one before, because each follows one more pointer. */
void sp_compare_stage_follow(const struct sp_compare_stage *c, uint32_t cell, struct sp_id content,
                             struct sp_id page, uint32_t step);

/* While there are two maps: asks about `max_pages` pages in cells of the previous map to move
 * (docs/PROTOCOL.md, "A new partition map"). It cycles through the remaining pages, so lost
 * messages do no harm. Returns the number of pages asked; 0: those cells are empty. Call it once a
 * batch. */
uint32_t sp_compare_stage_move(struct sp_compare_stage *c, uint32_t max_pages);

/* Does up to `units` units of deferred work: rows that probe again, or move between stars. Returns
 * whether work is left. Each message does some of it; the caller does the rest when it has time, at
 * the latest when there is nothing else to do. */
bool sp_compare_stage_work(struct sp_compare_stage *c, uint32_t units);
bool sp_compare_stage_owes(const struct sp_compare_stage *c);

/* Sets the budget of the cache of rows, which the options set first. For a stage whose signatures
 * are in the table of another owner. */
void sp_compare_stage_resize(struct sp_compare_stage *c, size_t cache_bytes);

/* Writes all changes since the last flush into the store's open batch. */
enum sp_err sp_compare_stage_flush(struct sp_compare_stage *c);

void sp_compare_stage_stats(const struct sp_compare_stage *c,
                            struct sp_compare_stage_stats *ret_stats);
/* Two of them, in O(1): the memory of the caches and of the index, in bytes. */
size_t sp_compare_stage_cache_bytes(const struct sp_compare_stage *c);
size_t sp_compare_stage_index_bytes(const struct sp_compare_stage *c);

#endif

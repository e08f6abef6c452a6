/* Commits that wait in memory until they are applied to the database together, and the open batch
 * behind them. The rows of a commit are a sorted *run*; runs of similar sizes are merged, so there
 * are few. Private to this folder. Thread rule: one thread at a time.
 *
 * Cost, for n rows: a commit O(log n) a row, amortised; a look-up of a row O(log n) a run, of a key
 * that is not there usually one word of a filter. */
#ifndef SP_STORE_HELD_H
#define SP_STORE_HELD_H

#include "store/batch.h"
#include "store/key_filter.h"

enum { SP_HELD_RUNS = 64 };

/* Initialise with zeros: then commits are applied at once, and no row is ever looked up. */
struct sp_held {
    struct sp_write_batch rows; /* the runs, oldest first, then the open batch */
    size_t ends[SP_HELD_RUNS];  /* of the runs, in rows.writes; each run is more than twice as long
                                   as the next */
    size_t runs;
    struct sp_write_batch_size size; /* of the runs */
    uint64_t *filter;                /* of the keys of all runs, or NULL */
    size_t filter_mask;              /* number of its words, less one */
};

/* Commits of up to about this many bytes will wait and be looked up. */
void sp_held_init(struct sp_held *h, uint64_t bytes);
void sp_held_done(struct sp_held *h);

/* The index of the first write of the open batch, which ends with the last write. */
size_t sp_held_open(const struct sp_held *h);
/* Drops the open batch. */
void sp_held_discard(struct sp_held *h);
/* The open batch becomes a run, and thereby committed; its keys are added to `present`. */
void sp_held_commit(struct sp_held *h, struct sp_key_filter *present);
/* Approximate memory of all runs. */
uint64_t sp_held_bytes(const struct sp_held *h);
/* The committed write to that key, whose hash (sp_hash64) the caller knows, or NULL; always NULL
 * without sp_held_init. */
const struct sp_write *sp_held_find(const struct sp_held *h, struct sp_view key, uint64_t hash);
/* Merges all runs into one. The open batch must be empty. */
void sp_held_merge(struct sp_held *h);
/* Drops everything. `rows` may be another batch by then. */
void sp_held_clear(struct sp_held *h);

#endif

/* Merges ordered runs of rows: those in RocksDB and those of commits that are not there yet. If
 * several runs have a key, the newest row counts. Private to this folder. */
#ifndef SP_STORE_MERGE_H
#define SP_STORE_MERGE_H

#include "store/held.h"

struct sp_merge_run {
    const struct sp_write_batch *batch; /* borrowed */
    size_t next;                        /* index of a write */
    size_t end;
};

struct sp_merge {
    rocksdb_iterator_t *stored;                 /* borrowed */
    struct sp_merge_run runs[SP_HELD_RUNS + 1]; /* newest first */
    size_t count;
};

/* Adds a run, which is older than all that were added before: the writes with these indices whose
 * key is not less than `from`. */
void sp_merge_add(struct sp_merge *m, const struct sp_write_batch *batch, size_t start, size_t end,
                  struct sp_view from);
/* Adds all committed rows. */
void sp_merge_add_held(struct sp_merge *m, const struct sp_held *held, struct sp_view from);
/* Gets the first of the remaining rows, which may be a deletion (*ret_erased). Views are valid
 * until the next call of sp_merge_next. False: there is none, or its key does not start with the
 * prefix. */
bool sp_merge_row(const struct sp_merge *m, struct sp_view prefix, struct sp_view *ret_key,
                  struct sp_view *ret_value, bool *ret_erased);
/* Moves all runs past that key, which is the one of the row above. */
void sp_merge_next(struct sp_merge *m, struct sp_view key);

#endif

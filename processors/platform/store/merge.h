/* Merges two ordered runs of rows: those in RocksDB and those of the batch under way. If both have
 * a key, the row of the batch counts. Private to this folder. */
#ifndef SP_STORE_MERGE_H
#define SP_STORE_MERGE_H

#include "store/batch.h"

struct sp_merge {
    rocksdb_iterator_t *stored;          /* borrowed, as is the batch */
    const struct sp_write_batch *coming; /* NULL: none */
    size_t next;                         /* index in `coming` */
};

/* Gets the first of the remaining rows, which may be a deletion (*ret_erased). Views are valid
 * until the next call of sp_merge_next. False: there is none, or its key does not start with the
 * prefix. */
bool sp_merge_row(const struct sp_merge *m, struct sp_view prefix, struct sp_view *ret_key,
                  struct sp_view *ret_value, bool *ret_erased);
/* Moves both runs past that key, which is the one of the row above. */
void sp_merge_next(struct sp_merge *m, struct sp_view key);

#endif

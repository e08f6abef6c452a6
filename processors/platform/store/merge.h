/* Merges two ordered runs of rows: those in RocksDB and those of the batch under way, which win for
 * a key that both have. Private to this folder. */
#ifndef SP_STORE_MERGE_H
#define SP_STORE_MERGE_H

#include "store/batch.h"

struct sp_merge {
    rocksdb_iterator_t *stored;
    const struct sp_write_batch *coming; /* NULL: nothing */
    size_t next;                         /* of `coming` */
};

/* The first row of either run; false: there is none, or it is behind the prefix. */
bool sp_merge_row(const struct sp_merge *m, struct sp_view prefix, struct sp_view *ret_key,
                  struct sp_view *ret_value, bool *ret_erased);
/* Behind that row, in both. */
void sp_merge_next(struct sp_merge *m, struct sp_view key);

#endif

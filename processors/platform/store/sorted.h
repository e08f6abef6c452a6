/* Writes a commit as a sorted file, which RocksDB ingests without write buffers or write-ahead log,
 * in one pass over the rows. For large batches only: each is one more file to search until
 * compactions have merged it. Private to this folder.
 *
 * RocksDB brings the file to the disk before its manifest names it, so a kill or a loss of power
 * leaves all of a commit or none. */
#ifndef SP_STORE_SORTED_H
#define SP_STORE_SORTED_H

#include "store/batch.h"

struct sp_sorted;

/* All is borrowed. */
struct sp_sorted *sp_sorted_new(rocksdb_t *handle, const rocksdb_options_t *options,
                                const char *directory);
/* NULL is allowed. */
void sp_sorted_free(struct sp_sorted *s);
/* NULL, or RocksDB's error (rocksdb_free): nothing of the batch is there. Waits where compactions
 * are far behind. */
char *sp_sorted_apply(struct sp_sorted *s, const struct sp_write_batch *batch);
/* Deletes what a process that was killed has left of its file. */
void sp_sorted_clear(const char *directory);

#endif

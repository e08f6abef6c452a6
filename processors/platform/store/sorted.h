/* Writes a commit as a sorted file, in one pass over the rows. RocksDB ingests the file without
 * write buffers or write-ahead log. This is for large batches only, because each file has to be
 * searched until compactions have merged it. While a database is filled, a thread ingests the
 * files: most of that is waiting for the disk, meanwhile the next ones are written. Private to this
 * folder. Thread rule: one thread at a time, but any may call sp_sorted_settle.
 *
 * RocksDB syncs the file before its manifest names it, so a kill or a loss of power leaves all of a
 * commit or none. */
#ifndef SP_STORE_SORTED_H
#define SP_STORE_SORTED_H

#include "store/batch.h"

struct sp_sorted;

/* The handle is borrowed; the name is copied. The file is in `directory`, the
 * state directory. `runs`: as in struct sp_apply. Never NULL. */
struct sp_sorted *sp_sorted_new(rocksdb_t *handle, const char *directory, bool runs);
/* NULL is allowed. */
void sp_sorted_free(struct sp_sorted *s);
/* With `on`, RocksDB does not merge files (sp_rocksdb_fill) until there are very many, and a thread
 * ingests them. Without, all are in the database afterwards. Returns as sp_sorted_settle. */
char *sp_sorted_fills(struct sp_sorted *s, bool on);
/* Applies a sorted batch; waits if compactions are far behind. Returns NULL, or RocksDB's error (to
 * be freed with rocksdb_free): nothing of the batch was applied, or of an earlier one. */
char *sp_sorted_apply(struct sp_sorted *s, const struct sp_write_batch *batch);
/* Waits until all batches that were applied can be read. Returns NULL, or RocksDB's error (to be
 * freed with rocksdb_free): batches from one of them on were lost. */
char *sp_sorted_settle(struct sp_sorted *s);
/* Deletes the files that a killed process may have left. */
void sp_sorted_clear(const char *directory);

#endif

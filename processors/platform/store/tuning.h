/* How the state's databases configure RocksDB; tuning.c has the reasons and measurements. Private
 * to this folder. */
#ifndef SP_STORE_TUNING_H
#define SP_STORE_TUNING_H

#include <rocksdb/c.h>

#include "store/store.h"

/* Of a file's filter, a key. */
enum { SP_ROCKSDB_FILTER_BITS = 10 };
/* With gathered commits, the filters of files also have the prefixes of so many bytes: the members
 * of a group (store, kind, birth, founder). A scan of such a prefix reads only files that may have
 * it. */
enum { SP_ROCKSDB_PREFIX_BYTES = 2 + 1 + 8 + 16 };

/* The options of a database; the caller destroys them. The cache is borrowed. */
rocksdb_options_t *sp_rocksdb_tuned_options(const struct sp_rocksdb_options *o,
                                            rocksdb_cache_t *cache);

/* Turns off RocksDB's performance counters, which nothing reads, for the calling thread. Each
 * thread that reads or writes calls it. */
void sp_rocksdb_tuned_thread(void);

/* While a database is filled with sorted files, RocksDB merges them only with `merge`. Returns
 * NULL, or the error (rocksdb_free), as does sp_rocksdb_filled. */
char *sp_rocksdb_fill(rocksdb_t *handle, bool merge);
/* Ends that. RocksDB merges the files in the background; their number does not slow down or stop
 * writing meanwhile. Call it after an open, too, without `filled`: the database may have been
 * closed before they were merged. */
char *sp_rocksdb_filled(rocksdb_t *handle, bool filled);

/* A property of the database that is a number. */
uint64_t sp_rocksdb_number(rocksdb_t *handle, const char *property, uint64_t otherwise);

/* How many files wait to be merged, and whether RocksDB is merging, or about to. */
uint64_t sp_rocksdb_files(rocksdb_t *handle);
bool sp_rocksdb_merges(rocksdb_t *handle);

/* Rewrites all files, also those in which RocksDB knows of nothing deleted; waits for it. Returns
 * NULL, or the error (rocksdb_free). *ret_broken becomes true if rewriting failed. */
char *sp_rocksdb_compact(rocksdb_t *handle, bool *ret_broken);

#endif

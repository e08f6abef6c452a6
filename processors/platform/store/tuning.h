/* RocksDB's options as rocksdb.c wants them. Private to this folder. */
#ifndef SP_STORE_TUNING_H
#define SP_STORE_TUNING_H

#include <rocksdb/c.h>

#include "store/store.h"

/* The caller's to destroy. The cache is borrowed. */
rocksdb_options_t *sp_rocksdb_tuned_options(const struct sp_rocksdb_options *o,
                                            rocksdb_cache_t *cache);

/* For each thread that reads or writes: RocksDB counts every comparison of keys, and nobody asks.
 */
void sp_rocksdb_tuned_thread(void);

/* While a database is filled with sorted files, RocksDB merges more of them at a time. NULL, or why
 * not: rocksdb_free it. */
char *sp_rocksdb_filled(rocksdb_t *handle, bool filled);
/* Whether so many files wait to be merged that another one must wait. */
bool sp_rocksdb_files_wait(rocksdb_t *handle);

/* Rewrites all files, also those that hold nothing deleted as far as RocksDB knows. NULL, or why
 * not: rocksdb_free it. *ret_broken: it has begun and failed. */
char *sp_rocksdb_compact(rocksdb_t *handle, bool *ret_broken);

#endif

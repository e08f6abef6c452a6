/* The part of struct sp_rocksdb_shared (store.h) that rocksdb.c uses. Private to this folder.
 * Thread rule: the thread that opens and closes databases. */
#ifndef SP_STORE_SHARED_H
#define SP_STORE_SHARED_H

#include <rocksdb/c.h>

#include "store/store.h"

/* The block cache; borrowed. */
rocksdb_cache_t *sp_rocksdb_shared_cache(struct sp_rocksdb_shared *s);
/* Returns the size of a write buffer, in bytes, for one more database, and reduces those of the
 * others if necessary. */
uint64_t sp_rocksdb_shared_memtable_bytes(struct sp_rocksdb_shared *s);
/* The present size of a write buffer; any thread may ask. */
uint64_t sp_rocksdb_shared_share(const struct sp_rocksdb_shared *s);
/* Adds an open database. If `s` is NULL, it does nothing. */
void sp_rocksdb_shared_join(struct sp_rocksdb_shared *s, rocksdb_t *handle);
/* Removes a database before it is closed. Does nothing if it was not added, or `s` is NULL. */
void sp_rocksdb_shared_leave(struct sp_rocksdb_shared *s, rocksdb_t *handle);

#endif

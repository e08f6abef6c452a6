/* What the databases of a process have in common, as rocksdb.c sees it. NULL: nothing. Private to
 * this folder. */
#ifndef SP_STORE_SHARED_H
#define SP_STORE_SHARED_H

#include <rocksdb/c.h>

#include "store/store.h"

rocksdb_cache_t *sp_rocksdb_shared_cache(struct sp_rocksdb_shared *s);
/* Bytes of a write buffer of one database more; the others give way. */
uint64_t sp_rocksdb_shared_memtable_bytes(struct sp_rocksdb_shared *s);
void sp_rocksdb_shared_join(struct sp_rocksdb_shared *s, rocksdb_t *handle);
/* Nothing where it has not joined. */
void sp_rocksdb_shared_leave(struct sp_rocksdb_shared *s, rocksdb_t *handle);

#endif

/* One block cache for the databases of a process, and one budget of write buffers. The C interface
 * of RocksDB 7.8 has no WriteBufferManager; but the size of a write buffer may be set while a
 * database is open, so the budget is divided again as databases come and go. */
#include "store/shared.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/mem.h"

enum { MEMTABLE_MIN_BYTES = 1 << 20 };

struct sp_rocksdb_shared {
    rocksdb_cache_t *cache;
    uint64_t memtable_bytes;
    uint64_t shares; /* atomic: each database has memtable_bytes / shares; at least one each */
    rocksdb_t **handles;
    size_t count;
    size_t cap;
};

struct sp_rocksdb_shared *sp_rocksdb_shared_new(const struct sp_rocksdb_options *options)
{
    struct sp_rocksdb_shared *s = sp_calloc(1, sizeof *s);
    s->cache = rocksdb_cache_create_lru(options->block_cache_bytes);
    s->memtable_bytes = options->memtable_bytes;
    s->shares = 1;
    return s;
}

void sp_rocksdb_shared_free(struct sp_rocksdb_shared *s)
{
    if (!s)
        return;
    SP_ASSERT(s->count == 0);
    rocksdb_cache_destroy(s->cache);
    sp_free(s->handles);
    sp_free(s);
}

rocksdb_cache_t *sp_rocksdb_shared_cache(struct sp_rocksdb_shared *s)
{
    return s->cache;
}

uint64_t sp_rocksdb_shared_share(const struct sp_rocksdb_shared *s)
{
    uint64_t shares = __atomic_load_n(&s->shares, __ATOMIC_RELAXED);
    SP_ASSERT(shares > 0);
    uint64_t bytes = s->memtable_bytes / shares;
    return bytes > MEMTABLE_MIN_BYTES ? bytes : MEMTABLE_MIN_BYTES;
}

/* Shares change only when the number of databases has doubled or halved, because each change writes
 * a file for each database. */
static void divide(struct sp_rocksdb_shared *s, size_t count)
{
    uint64_t shares = s->shares;
    while (shares < count)
        shares *= 2;
    while (shares > 1 && shares >= 4 * count)
        shares /= 2;
    if (shares == s->shares)
        return;
    __atomic_store_n(&s->shares, shares, __ATOMIC_RELAXED);
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, sp_rocksdb_shared_share(s));
    const char *const names[] = {"write_buffer_size"}, *const values[] = {text};
    for (size_t i = 0; i < s->count; i++) {
        char *error = NULL;
        rocksdb_set_options(s->handles[i], 1, names, values, &error);
        rocksdb_free(error); /* the database keeps the size that it has */
    }
}

uint64_t sp_rocksdb_shared_memtable_bytes(struct sp_rocksdb_shared *s)
{
    divide(s, s->count + 1);
    return sp_rocksdb_shared_share(s);
}

void sp_rocksdb_shared_join(struct sp_rocksdb_shared *s, rocksdb_t *handle)
{
    if (!s)
        return;
    sp_grow(&s->handles, &s->cap, s->count + 1);
    s->handles[s->count++] = handle;
}

void sp_rocksdb_shared_leave(struct sp_rocksdb_shared *s, rocksdb_t *handle)
{
    for (size_t i = 0; s && i < s->count; i++)
        if (s->handles[i] == handle) {
            s->handles[i] = s->handles[--s->count];
            divide(s, s->count);
            return;
        }
}

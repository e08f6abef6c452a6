/* The writes of one commit to RocksDB: in order of arrival, and then sorted, so that they can be
 * read until RocksDB has them. Private to this folder. */
#ifndef SP_STORE_BATCH_H
#define SP_STORE_BATCH_H

#include <rocksdb/c.h>

#include "store/store.h"

struct sp_write {
    uint64_t first; /* bytes of the key, as a number: tells most keys apart */
    uint64_t at;    /* in bytes: the key, then the value */
    uint32_t key_len;
    uint32_t value_len; /* SP_WRITE_ERASED: a deletion */
};

#define SP_WRITE_ERASED UINT32_MAX

struct sp_write_batch {
    struct sp_buf bytes;
    struct sp_write *writes;
    size_t count;
    size_t cap;
};

/* value.data NULL and erased: a deletion. Both are copied. */
void sp_write_batch_note(struct sp_write_batch *b, struct sp_view key, struct sp_view value,
                         bool erased);
void sp_write_batch_clear(struct sp_write_batch *b);
void sp_write_batch_done(struct sp_write_batch *b);

struct sp_view sp_write_batch_key(const struct sp_write_batch *b, const struct sp_write *w);
/* Empty for a deletion. */
struct sp_view sp_write_batch_value(const struct sp_write_batch *b, const struct sp_write *w);

/* By key; of several writes to one key only the last one stays. */
void sp_write_batch_sort(struct sp_write_batch *b);
/* Of a sorted batch: the number of the first write at or behind the key. */
size_t sp_write_batch_from(const struct sp_write_batch *b, struct sp_view key);
/* Of a sorted batch: the write to that key, or NULL. */
const struct sp_write *sp_write_batch_find(const struct sp_write_batch *b, struct sp_view key);
void sp_write_batch_fill(const struct sp_write_batch *b, rocksdb_writebatch_t *to);

#endif

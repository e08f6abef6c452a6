/* The writes of one commit to RocksDB: as they come, and then sorted, so that they can be read
 * while they are on their way. Private to this folder. */
#ifndef SP_STORE_BATCH_H
#define SP_STORE_BATCH_H

#include <rocksdb/c.h>

#include "store/store.h"

struct batch_write {
    uint64_t first; /* bytes of the key, as a number: tells most keys apart */
    uint64_t at;    /* in bytes: the key, then the value */
    uint32_t key_len;
    uint32_t value_len; /* BATCH_ERASED: a deletion */
};

#define BATCH_ERASED UINT32_MAX

struct batch {
    struct sp_buf bytes;
    struct batch_write *writes;
    size_t count;
    size_t cap;
};

/* value.data NULL and erased: a deletion. Both are copied. */
void batch_note(struct batch *b, struct sp_view key, struct sp_view value, bool erased);
void batch_clear(struct batch *b);
void batch_done(struct batch *b);

struct sp_view batch_key(const struct batch *b, const struct batch_write *w);
/* Empty for a deletion. */
struct sp_view batch_value(const struct batch *b, const struct batch_write *w);

/* By key; of several writes to one key only the last one stays. */
void batch_sort(struct batch *b);
/* Of a sorted batch: the number of the first write at or behind the key. */
size_t batch_from(const struct batch *b, struct sp_view key);
/* Of a sorted batch: the write to that key, or NULL. */
const struct batch_write *batch_find(const struct batch *b, struct sp_view key);
void batch_fill(const struct batch *b, rocksdb_writebatch_t *to);

#endif

/* The writes of one commit to RocksDB: first in order of arrival, then sorted by key, so that they
 * can be read until RocksDB has them. Private to this folder. Thread rule: one thread at a time. */
#ifndef SP_STORE_BATCH_H
#define SP_STORE_BATCH_H

#include <rocksdb/c.h>

#include "store/store.h"

struct sp_write {
    uint64_t first; /* the first bytes of the key, as a number; they differ for most keys */
    uint64_t at;    /* place of the key in `bytes`; the value follows it, or a pointer to it */
    uint32_t key_len : 31;
    uint32_t lent : 1;  /* the value is elsewhere */
    uint32_t value_len; /* SP_WRITE_ERASED: a deletion */
};

#define SP_WRITE_ERASED UINT32_MAX

/* What is called when a batch no longer needs a value that was lent to it. */
struct sp_lender {
    void (*release)(void *arg);
    void *arg;
};

struct sp_write_batch {
    struct sp_buf bytes;
    struct sp_write *writes;
    size_t count;
    size_t cap;
    struct sp_write *spare; /* room for sorting */
    size_t spare_cap;
    struct sp_lender *lenders;
    size_t lender_count;
    size_t lender_cap;
    uint64_t lent_bytes; /* of values */
};

/* Adds a write; key and value are copied. With `erased` it is a deletion, and the value is
 * ignored. */
void sp_write_batch_note(struct sp_write_batch *b, struct sp_view key, struct sp_view value,
                         bool erased);
/* The same, but the value is not copied: it must not change until `release` is called. */
void sp_write_batch_note_lent(struct sp_write_batch *b, struct sp_view key, struct sp_view value,
                              void (*release)(void *arg), void *arg);
/* The bytes of all keys and values, also of those that another write replaced. */
uint64_t sp_write_batch_bytes(const struct sp_write_batch *b);
void sp_write_batch_clear(struct sp_write_batch *b);
void sp_write_batch_done(struct sp_write_batch *b);

struct sp_view sp_write_batch_key(const struct sp_write_batch *b, const struct sp_write *w);
/* Empty for a deletion. */
struct sp_view sp_write_batch_value(const struct sp_write_batch *b, const struct sp_write *w);

/* The writes that are there now, as long as these are neither sorted nor merged. */
struct sp_write_batch_size {
    size_t bytes;
    size_t lenders;
    uint64_t lent_bytes;
};
struct sp_write_batch_size sp_write_batch_size(const struct sp_write_batch *b);
/* Drops all writes but the first `count`, which are those of that size. */
void sp_write_batch_cut(struct sp_write_batch *b, size_t count,
                        const struct sp_write_batch_size *size);

/* Sorts the writes from index `from` on by key, and keeps only the last of several to one key. */
void sp_write_batch_sort(struct sp_write_batch *b, size_t from);
/* Merges the sorted writes from `from` to `middle` with the sorted writes after these. If both have
 * a key, the later write is kept. */
void sp_write_batch_merge(struct sp_write_batch *b, size_t from, size_t middle);
/* Among the sorted writes from `start` to `end`, the index of the first whose key is not less, or
 * `end`. */
size_t sp_write_batch_from(const struct sp_write_batch *b, size_t start, size_t end,
                           struct sp_view key);
/* Among these, the write to that key, or NULL. */
const struct sp_write *sp_write_batch_find(const struct sp_write_batch *b, size_t start, size_t end,
                                           struct sp_view key);
/* Appends all writes to a batch of RocksDB. */
void sp_write_batch_fill(const struct sp_write_batch *b, rocksdb_writebatch_t *to);

#endif

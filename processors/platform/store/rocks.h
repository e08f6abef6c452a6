/* A RocksDB database, as rocksdb.c writes it and reading.c reads it. Private to this folder. Thread
 * rule: that of store.h. */
#ifndef SP_STORE_ROCKS_H
#define SP_STORE_ROCKS_H

#include "store/ahead.h"
#include "store/flight.h"
#include "store/held.h"
#include "store/impl.h"
#include "store/key_filter.h"

struct sp_rocks_db {
    struct sp_db db;
    struct sp_rocksdb_shared *process; /* NULL: shares nothing with other databases */
    int lock;
    rocksdb_t *handle;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_readoptions_t *scan;   /* also reads rows that are not to be cached */
    rocksdb_readoptions_t *narrow; /* for scans of prefixes that are in the files' filters */
    rocksdb_writeoptions_t *write;
    rocksdb_writebatch_t *writes;
    struct sp_held held;     /* the open batch, and before it commits that wait to be applied */
    bool gathers;            /* commits wait; otherwise each is applied at once */
    uint64_t memtable_bytes; /* of a write buffer, if it is not shared */
    uint64_t stored;         /* bytes in the database at the open, and applied since */
    struct sp_key_filter present; /* the keys of all commits; only if commits are gathered */
    struct sp_apply apply;
    char *directory;
    bool background;                 /* commits are applied by a flight, not only while filling */
    struct sp_flight *flight;        /* NULL: commits at once */
    struct sp_ahead *ahead;          /* NULL without a flight, and while filling */
    rocksdb_pinnableslice_t *pinned; /* the value that the last get returned */
    bool shared;                     /* all RocksDB objects belong to another handle */
    bool borrows_cache;
};

static inline struct sp_rocks_db *sp_rocks(struct sp_db *db)
{
    return (struct sp_rocks_db *)db;
}

extern const struct sp_db_ops sp_rocks_ops;

void sp_rocks_set_options(struct sp_rocks_db *r, const struct sp_rocksdb_options *o);
/* The size of a write buffer, which changes as other databases come and go. */
uint64_t sp_rocks_buffer_bytes(const struct sp_rocks_db *r);
/* The size of its files. */
uint64_t sp_rocks_files_bytes(const struct sp_rocks_db *r);
/* Drops the value that the last get returned. */
void sp_rocks_unpin(struct sp_rocks_db *r);

#endif

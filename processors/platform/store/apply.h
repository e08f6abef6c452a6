/* Applies a batch to RocksDB, after the files that must be on the disk before its rows
 * (sp_db_before_commits). Private to this folder.
 *
 * With a write-ahead log any commit may be on the disk as soon as it is applied. Without one its
 * rows stay in the write buffer until that is flushed. So buffers are flushed here, when they have
 * reached their size; only then, and not at each commit, the caller first syncs its own files.
 * RocksDB's own limit is twice that size, which only a very large commit reaches.
 *
 * RocksDB, as Debian builds it, may abort the process when it cannot write one of its files, above
 * all a log. So a commit starts only if the disk has room for it and for the write buffers. */
#ifndef SP_STORE_APPLY_H
#define SP_STORE_APPLY_H

#include "store/sorted.h"

struct sp_apply {
    rocksdb_t *handle;
    const rocksdb_writeoptions_t *options;
    struct sp_sorted *sorted; /* writes batches as sorted files, past write buffers and log; NULL:
                                 not used */
    bool log;                 /* the database has a write-ahead log */
    const char *directory;    /* the disk of this directory must have room; NULL: not checked */
    uint64_t memtable_bytes;
    enum sp_err (*before)(void *arg); /* NULL: nothing */
    void *before_arg;
    bool refused;  /* by it, once and for all */
    bool full;     /* there was no room, once and for all */
    char why[160]; /* why a commit failed, if the error is not RocksDB's */
};

/* See sp_db_before_commits. */
void sp_apply_before(struct sp_apply *a, enum sp_err (*before)(void *arg), void *arg);
/* Calls it; false: it has failed, now or earlier. */
bool sp_apply_prepare(struct sp_apply *a);
/* Applies a sorted batch, by way of `scratch`, which is empty before and behind. False: it failed,
 * with RocksDB's *ret_error (rocksdb_free), or with NULL and a->why. */
bool sp_apply(struct sp_apply *a, const struct sp_write_batch *batch, rocksdb_writebatch_t *scratch,
              char **ret_error);

#endif

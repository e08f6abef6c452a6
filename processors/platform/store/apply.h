/* Applies a batch to RocksDB, once the files that must be on the disk before its rows are there
 * (sp_db_before_commits). Private to this folder.
 *
 * With a write-ahead log any commit may be on the disk as soon as it is applied. Without one its
 * rows stay in the write buffer until the buffer is flushed. So buffers are flushed here, when they
 * have reached their size, and the caller syncs its own files before a flush and not at each
 * commit. RocksDB's own limit is twice that size; only a very large commit reaches it.
 *
 * RocksDB, as Debian builds it, may abort the process when it cannot write one of its files, in
 * particular a log. So a commit starts only if the disk has room for it and for the write buffers.
 *
 * Thread rule: one thread at a time; with a flight (flight.h) its thread, while a batch is under
 * way. */
#ifndef SP_STORE_APPLY_H
#define SP_STORE_APPLY_H

#include "store/sorted.h"

struct sp_apply {
    rocksdb_t *handle;
    const rocksdb_writeoptions_t *options;
    struct sp_sorted *sorted; /* if not NULL, batches become sorted files, without write buffers
                                 and log */
    bool fills;               /* it is a fill, which looks for room only for its batches */
    bool runs;                /* RocksDB may merge all files at once (tuning.c) */
    bool log;                 /* the database has a write-ahead log */
    const char *directory;    /* its disk must have room; NULL: not checked */
    uint64_t memtable_bytes;  /* of a write buffer */
    enum sp_err (*before)(void *arg); /* NULL: none */
    void *before_arg;
    bool refused;  /* `before` has failed; permanent */
    bool full;     /* there was no room; permanent */
    char why[160]; /* why a commit failed, if the error is not RocksDB's; otherwise empty */
};

/* Sets `before`; see sp_db_before_commits. */
void sp_apply_before(struct sp_apply *a, enum sp_err (*before)(void *arg), void *arg);
/* Calls `before`. False: it has failed, now or earlier. */
bool sp_apply_prepare(struct sp_apply *a);
/* Applies a sorted batch. `scratch` is empty before and after the call. False: it failed, either
 * with RocksDB's *ret_error (to be freed with rocksdb_free), or with NULL there and the reason in
 * a->why. */
bool sp_apply(struct sp_apply *a, const struct sp_write_batch *batch, rocksdb_writebatch_t *scratch,
              char **ret_error);

#endif

/* The RocksDB store: one database, one column family, one write-ahead log.
 *
 *   durability   without a write-ahead log (the default), write buffers reach the disk whole and in
 *                order, so after a kill or a crash of the machine the database is as some commit
 *                left it. A caller that commits state and input position together loses only time.
 *                With the log each commit is on disk at once, and a run takes a third more
 *                processor time
 *   values       of 512 bytes and more are in blob files, apart from their keys: signatures are
 *                random bytes that compactions cannot shrink, so they should not copy them
 *   order        a batch is applied in key order: in the memtable's skip list a search from the
 *                neighbour takes half the time of a search from the top
 *   gathering    commits wait in memory (held.h) until they would fill a write buffer, or until a
 *                sync or the close; then they become one sorted file (sorted.h). The memtable's
 *                skip list was a fifth of the time of a run
 *   look-ups     most miss (a page never seen): a filter of 10 bits a key decides those in memory
 *   filling      commits become sorted files (sorted.h) without a write buffer. Their values stay
 *                with the keys until a compaction moves the large ones to blob files
 *   sharing      background threads are RocksDB's default ones, which all databases of a process
 *                share; block cache and write buffers are shared if the caller says so
 *
 * Fails with SP_STORE and RocksDB's own message. After that every call fails, because RocksDB
 * becomes read-only. */
#include <errno.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/hash.h"
#include "store/directory.h"
#include "store/merge.h"
#include "store/rocks.h"
#include "store/shared.h"
#include "store/tuning.h"

/* Of commits that are gathered in a small state. */
enum { FIRST_BYTES = 32 << 20 };

void sp_rocksdb_options_default(struct sp_rocksdb_options *ret_options)
{
    *ret_options = (struct sp_rocksdb_options){
        .block_cache_bytes = 256ull << 20,
        .memtable_bytes = 64ull << 20,
        .background_threads = 2,
    };
}

void sp_rocks_unpin(struct sp_rocks_db *r)
{
    if (r->pinned)
        rocksdb_pinnableslice_destroy(r->pinned);
    r->pinned = NULL;
}

static enum sp_err failed(struct sp_rocks_db *r, char *error)
{
    snprintf(r->db.message, sizeof r->db.message, "RocksDB: %s", error);
    rocksdb_free(error);
    return SP_STORE;
}

static uint64_t hash_of(const struct sp_rocks_db *r, struct sp_view key)
{
    return r->gathers ? sp_hash64(key.data, key.len) : 0;
}

/* Waits until RocksDB has the files of a fill. */
static enum sp_err settle(struct sp_rocks_db *r)
{
    char *error = r->apply.fills ? sp_sorted_settle(r->apply.sorted) : NULL;
    return error ? failed(r, error) : SP_OK;
}

static enum sp_err rocks_get(struct sp_db *db, struct sp_view key, struct sp_view *ret_value)
{
    struct sp_rocks_db *r = sp_rocks(db);
    struct sp_ahead_value ahead;
    char *error = NULL;
    uint64_t hash = hash_of(r, key);
    sp_rocks_unpin(r);
    if (!sp_key_filter_may_have(&r->present, hash))
        return SP_NOT_FOUND; /* and rocks_expect has not read it ahead */
    bool found = r->ahead && sp_ahead_take(r->ahead, key, &ahead);
    if (found)
        r->pinned = ahead.value;
    const struct sp_write_batch *coming = &r->held.rows;
    const struct sp_write *w = sp_held_find(&r->held, key, hash);
    if (!w) {
        coming = found && !ahead.settled ? sp_flight_last(r->flight) : sp_flight_batch(r->flight);
        w = coming ? sp_write_batch_find(coming, 0, coming->count, key) : NULL;
    }
    if (w) {
        *ret_value = sp_write_batch_value(coming, w);
        return w->value_len == SP_WRITE_ERASED ? SP_NOT_FOUND : SP_OK;
    }
    enum sp_err err = settle(r);
    if (err != SP_OK)
        return err;
    if (!found)
        r->pinned = rocksdb_get_pinned(r->handle, db->uncached ? r->scan : r->read, key.data,
                                       key.len, &error);
    if (error)
        return failed(r, error);
    if (!r->pinned)
        return SP_NOT_FOUND;
    size_t len = 0;
    const char *data = rocksdb_pinnableslice_value(r->pinned, &len);
    *ret_value = sp_view(data, len);
    return SP_OK;
}

static bool rocks_may_have(struct sp_db *db, struct sp_view key)
{
    const struct sp_rocks_db *r = sp_rocks(db);
    return sp_key_filter_may_have(&r->present, hash_of(r, key));
}

static void rocks_prefetch(struct sp_db *db, struct sp_view key)
{
    const struct sp_rocks_db *r = sp_rocks(db);
    sp_key_filter_prefetch_all(&r->present, hash_of(r, key));
}

static void rocks_expect(struct sp_db *db, struct sp_view key)
{
    struct sp_rocks_db *r = sp_rocks(db);
    if (r->ahead && sp_key_filter_may_have(&r->present, hash_of(r, key)))
        sp_ahead_expect(r->ahead, key, db->uncached ? r->scan : r->read);
}

static bool rocks_peek(struct sp_db *db, struct sp_view key, struct sp_view *ret_value)
{
    struct sp_rocks_db *r = sp_rocks(db);
    uint64_t hash = hash_of(r, key);
    if (!r->ahead || !sp_key_filter_may_have(&r->present, hash))
        return false;
    const struct sp_write *w = sp_held_find(&r->held, key, hash);
    if (!w)
        return sp_ahead_peek(r->ahead, key, ret_value);
    *ret_value = sp_write_batch_value(&r->held.rows, w);
    return w->value_len != SP_WRITE_ERASED;
}

static void rocks_put(struct sp_db *db, struct sp_view key, struct sp_view value)
{
    sp_write_batch_note(&sp_rocks(db)->held.rows, key, value, false);
}

static void rocks_put_lent(struct sp_db *db, struct sp_view key, struct sp_view value,
                           void (*release)(void *arg), void *arg)
{
    sp_write_batch_note_lent(&sp_rocks(db)->held.rows, key, value, release, arg);
}

static void rocks_erase(struct sp_db *db, struct sp_view key)
{
    sp_write_batch_note(&sp_rocks(db)->held.rows, key, sp_view(NULL, 0), true);
}

static enum sp_err rocks_scan(struct sp_db *db, struct sp_view prefix, struct sp_view from,
                              bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                              void *arg)
{
    struct sp_rocks_db *r = sp_rocks(db);
    char *error = NULL;
    struct sp_view key, value;
    bool erased;
    struct sp_merge m;
    const struct sp_write_batch *coming = sp_flight_batch(r->flight);
    enum sp_err err = settle(r);
    if (err != SP_OK)
        return err;
    bool narrow = prefix.len == SP_ROCKSDB_PREFIX_BYTES && from.len >= prefix.len;
    m.stored = rocksdb_create_iterator(r->handle, narrow ? r->narrow : r->scan);
    m.count = 0;
    sp_merge_add_held(&m, &r->held, from);
    if (coming)
        sp_merge_add(&m, coming, 0, coming->count, from);
    for (rocksdb_iter_seek(m.stored, from.data, from.len);
         sp_merge_row(&m, prefix, &key, &value, &erased); sp_merge_next(&m, key))
        if (!erased && !each(arg, key, value))
            break;
    rocksdb_iter_get_error(m.stored, &error);
    rocksdb_iter_destroy(m.stored);
    return error ? failed(r, error) : SP_OK;
}

static void rocks_adopt(struct sp_db *db)
{
    (void)db;
    sp_rocksdb_tuned_thread();
}

static void rocks_discard(struct sp_db *db)
{
    sp_held_discard(&sp_rocks(db)->held);
}

/* Waits for the commit under way, and returns its error. */
static enum sp_err land(struct sp_rocks_db *r)
{
    const char *error = r->flight ? sp_flight_wait(r->flight) : NULL;
    if (error)
        snprintf(r->db.message, sizeof r->db.message, "%s%s",
                 *r->apply.why ? "" : "RocksDB: ", error);
    return error ? SP_STORE : SP_OK;
}

static enum sp_err refused(struct sp_rocks_db *r)
{
    snprintf(r->db.message, sizeof r->db.message, "%s", r->apply.why);
    return SP_STORE;
}

uint64_t sp_rocks_buffer_bytes(const struct sp_rocks_db *r)
{
    return r->process ? sp_rocksdb_shared_share(r->process) : r->memtable_bytes;
}

/* How many bytes of commits wait at most: a write buffer, but no more than the state has, or
 * FIRST_BYTES. Large files save merges, but what is gathered at the end is written while nothing
 * else is done, and of a small crawl that would be all. */
static uint64_t held_most(const struct sp_rocks_db *r)
{
    uint64_t most = sp_rocks_buffer_bytes(r);
    uint64_t grown = r->stored > FIRST_BYTES ? r->stored : FIRST_BYTES;
    return grown < most ? grown : most;
}

static bool has_open(const struct sp_rocks_db *r)
{
    return r->held.rows.count > sp_held_open(&r->held);
}

/* Applies the commits that wait, or lets the flight do so. */
static enum sp_err apply_held(struct sp_rocks_db *r)
{
    char *error = NULL;
    if (r->held.runs == 0)
        return SP_OK;
    SP_ASSERT(!has_open(r));
    sp_held_merge(&r->held);
    enum sp_err err = land(r);
    r->apply.memtable_bytes = sp_rocks_buffer_bytes(r);
    r->stored += sp_write_batch_bytes(&r->held.rows);
    if (err == SP_OK && r->flight) {
        sp_flight_start(r->flight, &r->held.rows);
        if (r->ahead)
            sp_ahead_commit(r->ahead);
    } else if (err == SP_OK && !sp_apply(&r->apply, &r->held.rows, r->writes, &error)) {
        err = error ? failed(r, error) : refused(r);
    }
    sp_held_clear(&r->held);
    return err;
}

static enum sp_err rocks_commit(struct sp_db *db)
{
    struct sp_rocks_db *r = sp_rocks(db);
    if (!has_open(r))
        return SP_OK;
    sp_rocks_unpin(r);
    bool waits = r->gathers && !r->apply.fills;
    sp_held_commit(&r->held, &r->present);
    return waits && sp_held_bytes(&r->held) < held_most(r) ? SP_OK : apply_held(r);
}

static void rocks_each_write(struct sp_db *db,
                             void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                          bool deleted),
                             void *arg)
{
    struct sp_rocks_db *r = sp_rocks(db);
    const struct sp_write_batch *rows = &r->held.rows;
    for (size_t i = sp_held_open(&r->held); i < rows->count; i++) {
        const struct sp_write *w = &rows->writes[i];
        each(arg, sp_write_batch_key(rows, w), sp_write_batch_value(rows, w),
             w->value_len == SP_WRITE_ERASED);
    }
}

static enum sp_err rocks_sync(struct sp_db *db)
{
    struct sp_rocks_db *r = sp_rocks(db);
    char *error = NULL;
    enum sp_err err = apply_held(r);
    if (err == SP_OK)
        err = land(r);
    if (err == SP_OK)
        err = settle(r);
    if (err != SP_OK)
        return err;
    if (!sp_apply_prepare(&r->apply))
        return refused(r);
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    rocksdb_flush(r->handle, options, &error);
    rocksdb_flushoptions_destroy(options);
    return error ? failed(r, error) : SP_OK;
}

uint64_t sp_rocks_files_bytes(const struct sp_rocks_db *r)
{
    return sp_rocksdb_number(r->handle, "rocksdb.total-sst-files-size", 0) +
           sp_rocksdb_number(r->handle, "rocksdb.total-blob-file-size", 0);
}

static enum sp_err rocks_compact(struct sp_db *db)
{
    struct sp_rocks_db *r = sp_rocks(db);
    sp_rocks_unpin(r);
    enum sp_err err = rocks_sync(db);
    bool broken = false;
    char *error = err == SP_OK ? sp_rocksdb_compact(r->handle, &broken) : NULL;
    if (error)
        return failed(r, error);
    if (broken)
        snprintf(r->db.message, sizeof r->db.message, "RocksDB: files could not be rewritten");
    return broken ? SP_STORE : err;
}

static enum sp_err fill_begin(struct sp_rocks_db *r)
{
    enum sp_err err = rocks_sync(&r->db); /* otherwise the first file would have to wait for it */
    char *error = err == SP_OK ? sp_rocksdb_fill(r->handle, false) : NULL;
    if (err != SP_OK || error)
        return error ? failed(r, error) : err;
    if (!r->apply.sorted)
        r->apply.sorted = sp_sorted_new(r->handle, r->directory, r->apply.runs);
    if ((error = sp_sorted_fills(r->apply.sorted, true)))
        return failed(r, error);
    r->apply.fills = true;
    if (!r->present.complete)
        sp_held_done(&r->held); /* its filter costs time, and no commit waits */
    if (!r->flight)
        r->flight = sp_flight_new(&r->apply);
    return SP_OK;
}

/* Frees the memory of the batches, which are large in a fill. */
static void shrink(struct sp_rocks_db *r)
{
    sp_held_done(&r->held);
    if (r->gathers)
        sp_held_init(&r->held, sp_rocks_buffer_bytes(r));
    if (r->ahead)
        return; /* it has the flight */
    sp_flight_free(r->flight);
    r->flight = r->background ? sp_flight_new(&r->apply) : NULL;
}

static enum sp_err fill_end(struct sp_rocks_db *r)
{
    enum sp_err err = land(r);
    shrink(r);
    r->apply.fills = false;
    char *error = sp_sorted_fills(r->apply.sorted, false);
    if (!r->gathers) {
        sp_sorted_free(r->apply.sorted);
        r->apply.sorted = NULL;
    }
    if (!error)
        error = sp_rocksdb_filled(r->handle, true);
    if (err == SP_OK && error)
        return failed(r, error);
    rocksdb_free(error);
    return err;
}

static enum sp_err rocks_fill(struct sp_db *db, bool on)
{
    struct sp_rocks_db *r = sp_rocks(db);
    SP_ASSERT(!has_open(r));
    sp_rocks_unpin(r);
    if (on == r->apply.fills)
        return SP_OK;
    return on ? fill_begin(r) : fill_end(r);
}

static void rocks_before_commits(struct sp_db *db, enum sp_err (*before)(void *arg), void *arg)
{
    struct sp_rocks_db *r = sp_rocks(db);
    land(r); /* the next commit returns its error */
    sp_apply_before(&r->apply, before, arg);
}

static void rocks_size(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes)
{
    struct sp_rocks_db *r = sp_rocks(db);
    const struct sp_write_batch *coming = sp_flight_batch(r->flight);
    uint64_t waits = sp_held_bytes(&r->held) + (coming ? sp_write_batch_bytes(coming) : 0);
    settle(r);
    *ret_disk_bytes =
        sp_rocks_files_bytes(r) +
        sp_rocksdb_number(r->handle, "rocksdb.cur-size-all-mem-tables", 0) + /* about the log's */
        waits;
    *ret_memory_bytes = sp_rocksdb_number(r->handle, "rocksdb.size-all-mem-tables", 0) + waits +
                        sp_rocksdb_number(r->handle, "rocksdb.estimate-table-readers-mem", 0);
}

static void rocks_close(struct sp_db *db)
{
    struct sp_rocks_db *r = sp_rocks(db);
    sp_rocks_unpin(r);
    if (r->shared)
        return;
    sp_ahead_free(r->ahead);
    r->ahead = NULL;
    sp_held_discard(&r->held);
    if (r->handle)
        apply_held(r); /* if it fails, its commits are lost, as in a kill */
    sp_flight_free(r->flight);
    sp_sorted_free(r->apply.sorted);
    if (r->handle)
        sp_rocksdb_shared_leave(r->process, r->handle);
    if (r->handle) {
        sp_apply_prepare(&r->apply); /* write buffers reach the disk now */
        rocksdb_close(r->handle);
    }
    rocksdb_writebatch_destroy(r->writes);
    sp_free(r->directory);
    sp_held_done(&r->held);
    sp_key_filter_done(&r->present);
    rocksdb_writeoptions_destroy(r->write);
    rocksdb_readoptions_destroy(r->narrow);
    rocksdb_readoptions_destroy(r->scan);
    rocksdb_readoptions_destroy(r->read);
    rocksdb_options_destroy(r->options);
    if (r->cache && !r->borrows_cache)
        rocksdb_cache_destroy(r->cache);
    if (r->lock >= 0)
        close(r->lock);
}

const struct sp_db_ops sp_rocks_ops = {
    .get = rocks_get,
    .may_have = rocks_may_have,
    .prefetch = rocks_prefetch,
    .expect = rocks_expect,
    .peek = rocks_peek,
    .put = rocks_put,
    .put_lent = rocks_put_lent,
    .erase = rocks_erase,
    .scan = rocks_scan,
    .commit = rocks_commit,
    .sync = rocks_sync,
    .compact = rocks_compact,
    .fill = rocks_fill,
    .before_commits = rocks_before_commits,
    .adopt = rocks_adopt,
    .discard = rocks_discard,
    .each_write = rocks_each_write,
    .size = rocks_size,
    .close = rocks_close,
};

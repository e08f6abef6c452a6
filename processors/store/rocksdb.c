/* The RocksDB store: one database, one column family, one write-ahead log.
 *
 *   durability   without a write-ahead log (the default): write buffers reach the disk whole and in
 *                order, so what a kill, or a crash of the machine, leaves is what some commit left.
 *                Whoever commits state and input position together loses nothing but time: the log
 *                took a seventh of a run's. With the log a commit survives the process at once
 *   values       of 512 bytes and more live in blob files, apart from their keys: signatures are
 *                random bytes that no compaction can shrink, so it should not copy them either
 *   order        a batch is applied in key order: neighbours in the memtable's skip list are found
 * from one another, in half the time of a search from its top
 *   look-ups     most miss (a page never seen): a filter of 10 bits a key answers those from memory
 *   bulk         write buffers are vectors, sorted when they go to the disk: no search at all. They
 *                get batches that are sorted already, without what the batch itself writes over
 *   sharing      background threads are RocksDB's default ones, which all databases of a process
 *                have in common; block cache and write buffers are, where the caller says so
 *
 * Fails with SP_STORE and RocksDB's own message; after that the handle answers nothing but
 * failures, because RocksDB turns read-only. */
#include <endian.h>
#include <errno.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "store/directory.h"
#include "store/impl.h"
#include "store/shared.h"
#include "store/tuning.h"

struct rocks_db {
    struct sp_db db;
    struct sp_rocksdb_shared *process; /* NULL: nothing in common with others */
    int lock;
    rocksdb_t *handle;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_readoptions_t *scan;
    rocksdb_writeoptions_t *write;
    rocksdb_writebatch_t *batch;
    struct sp_buf bytes;    /* keys and values of the open batch */
    struct pending *writes; /* of the open batch, as they came */
    size_t write_count;
    size_t write_cap;
    rocksdb_pinnableslice_t *pinned; /* the view that the last get gave out */
    bool shared;                     /* everything of RocksDB's is another handle's */
    bool borrows_cache;
};

/* One write of the open batch. */
struct pending {
    uint64_t first; /* bytes of the key, as a number: tells most keys apart */
    uint64_t at;    /* in bytes: the key, then the value */
    uint32_t key_len;
    uint32_t value_len; /* ERASED: a deletion */
};

#define ERASED UINT32_MAX

static struct rocks_db *rocks(struct sp_db *db)
{
    return (struct rocks_db *)db;
}

void sp_rocksdb_options_default(struct sp_rocksdb_options *ret_options)
{
    *ret_options = (struct sp_rocksdb_options){
        .block_cache_bytes = 256ull << 20,
        .memtable_bytes = 64ull << 20,
        .background_threads = 2,
    };
}

static void unpin(struct rocks_db *r)
{
    if (r->pinned)
        rocksdb_pinnableslice_destroy(r->pinned);
    r->pinned = NULL;
}

static enum sp_err failed(struct rocks_db *r, char *error)
{
    snprintf(r->db.message, sizeof r->db.message, "RocksDB: %s", error);
    rocksdb_free(error);
    return SP_STORE;
}

static enum sp_err rocks_get(struct sp_db *db, struct sp_view key, struct sp_view *ret_value)
{
    struct rocks_db *r = rocks(db);
    char *error = NULL;
    unpin(r);
    r->pinned = rocksdb_get_pinned(r->handle, r->read, key.data, key.len, &error);
    if (error)
        return failed(r, error);
    if (!r->pinned)
        return SP_NOT_FOUND;
    size_t len = 0;
    const char *data = rocksdb_pinnableslice_value(r->pinned, &len);
    *ret_value = sp_view(data, len);
    return SP_OK;
}

static uint64_t first_bytes(struct sp_view key)
{
    uint64_t bytes = 0;
    memcpy(&bytes, key.data, key.len < sizeof bytes ? key.len : sizeof bytes);
    return be64toh(bytes);
}

static void note_write(struct rocks_db *r, struct sp_view key, struct sp_view value,
                       uint32_t value_len)
{
    if (r->write_count == r->write_cap) {
        r->write_cap = r->write_cap ? r->write_cap * 2 : 1024;
        r->writes = sp_realloc(r->writes, r->write_cap * sizeof *r->writes);
    }
    r->writes[r->write_count++] =
        (struct pending){first_bytes(key), r->bytes.len, (uint32_t)key.len, value_len};
    sp_buf_put_view(&r->bytes, key);
    sp_buf_put_view(&r->bytes, value);
}

static void rocks_put(struct sp_db *db, struct sp_view key, struct sp_view value)
{
    SP_ASSERT(value.len < ERASED);
    note_write(rocks(db), key, value, (uint32_t)value.len);
}

static void rocks_erase(struct sp_db *db, struct sp_view key)
{
    note_write(rocks(db), key, sp_view(NULL, 0), ERASED);
}

static int by_key_then_age(const void *a, const void *b, void *bytes)
{
    const struct pending *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    uint32_t n = x->key_len < y->key_len ? x->key_len : y->key_len;
    int order = memcmp((const char *)bytes + x->at, (const char *)bytes + y->at, n);
    if (order)
        return order;
    if (x->key_len != y->key_len)
        return x->key_len < y->key_len ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Whether the next write, in key order, is to the same key: a later one. */
static bool is_written_over(const struct rocks_db *r, size_t i)
{
    if (i + 1 == r->write_count)
        return false;
    const struct pending *a = &r->writes[i], *b = a + 1;
    return a->first == b->first && a->key_len == b->key_len &&
           memcmp(r->bytes.data + a->at, r->bytes.data + b->at, a->key_len) == 0;
}

/* Of several writes to one key only the last one counts. */
static void fill_batch(struct rocks_db *r)
{
    if (r->write_count)
        qsort_r(r->writes, r->write_count, sizeof *r->writes, by_key_then_age, r->bytes.data);
    for (size_t i = 0; i < r->write_count; i++) {
        const struct pending *w = &r->writes[i];
        const char *key = r->bytes.data + w->at;
        if (is_written_over(r, i))
            continue;
        if (w->value_len == ERASED)
            rocksdb_writebatch_delete(r->batch, key, w->key_len);
        else
            rocksdb_writebatch_put(r->batch, key, w->key_len, key + w->key_len, w->value_len);
    }
}

static void drop_writes(struct rocks_db *r)
{
    rocksdb_writebatch_clear(r->batch);
    sp_buf_reset(&r->bytes);
    r->write_count = 0;
}

static bool starts_with(struct sp_view v, struct sp_view prefix)
{
    return v.len >= prefix.len && memcmp(v.data, prefix.data, prefix.len) == 0;
}

static enum sp_err rocks_scan(struct sp_db *db, struct sp_view prefix, struct sp_view from,
                              bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                              void *arg)
{
    struct rocks_db *r = rocks(db);
    char *error = NULL;
    rocksdb_iterator_t *it = rocksdb_create_iterator(r->handle, r->scan);
    for (rocksdb_iter_seek(it, from.data, from.len); rocksdb_iter_valid(it);
         rocksdb_iter_next(it)) {
        size_t key_len = 0, value_len = 0;
        const char *key = rocksdb_iter_key(it, &key_len);
        if (!starts_with(sp_view(key, key_len), prefix))
            break;
        const char *value = rocksdb_iter_value(it, &value_len);
        if (!each(arg, sp_view(key, key_len), sp_view(value, value_len)))
            break;
    }
    rocksdb_iter_get_error(it, &error);
    rocksdb_iter_destroy(it);
    return error ? failed(r, error) : SP_OK;
}

static void rocks_discard(struct sp_db *db)
{
    drop_writes(rocks(db));
}

static enum sp_err rocks_commit(struct sp_db *db)
{
    struct rocks_db *r = rocks(db);
    char *error = NULL;
    if (r->write_count == 0)
        return SP_OK;
    unpin(r);
    fill_batch(r);
    rocksdb_write(r->handle, r->write, r->batch, &error);
    drop_writes(r);
    return error ? failed(r, error) : SP_OK;
}

static void rocks_each_write(struct sp_db *db,
                             void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                          bool deleted),
                             void *arg)
{
    struct rocks_db *r = rocks(db);
    for (size_t i = 0; i < r->write_count; i++) {
        const struct pending *w = &r->writes[i];
        const char *key = r->bytes.data + w->at;
        bool deleted = w->value_len == ERASED;
        each(arg, sp_view(key, w->key_len), sp_view(key + w->key_len, deleted ? 0 : w->value_len),
             deleted);
    }
}

static enum sp_err rocks_sync(struct sp_db *db)
{
    struct rocks_db *r = rocks(db);
    char *error = NULL;
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    rocksdb_flush(r->handle, options, &error);
    rocksdb_flushoptions_destroy(options);
    return error ? failed(r, error) : SP_OK;
}

static uint64_t property(struct rocks_db *r, const char *name)
{
    uint64_t value = 0;
    return rocksdb_property_int(r->handle, name, &value) == 0 ? value : 0;
}

static void rocks_size(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes)
{
    struct rocks_db *r = rocks(db);
    *ret_disk_bytes = property(r, "rocksdb.total-sst-files-size") +
                      property(r, "rocksdb.total-blob-file-size") +
                      property(r, "rocksdb.cur-size-all-mem-tables"); /* as the log holds it */
    *ret_memory_bytes = property(r, "rocksdb.size-all-mem-tables") +
                        property(r, "rocksdb.estimate-table-readers-mem");
}

static void rocks_close(struct sp_db *db)
{
    struct rocks_db *r = rocks(db);
    unpin(r);
    if (r->shared)
        return;
    if (r->handle)
        shared_leave(r->process, r->handle);
    if (r->handle)
        rocksdb_close(r->handle);
    rocksdb_writebatch_destroy(r->batch);
    sp_buf_done(&r->bytes);
    sp_free(r->writes);
    rocksdb_writeoptions_destroy(r->write);
    rocksdb_readoptions_destroy(r->scan);
    rocksdb_readoptions_destroy(r->read);
    rocksdb_options_destroy(r->options);
    if (r->cache && !r->borrows_cache)
        rocksdb_cache_destroy(r->cache);
    if (r->lock >= 0)
        close(r->lock);
}

static const struct sp_db_ops rocks_ops = {
    .get = rocks_get,
    .put = rocks_put,
    .erase = rocks_erase,
    .scan = rocks_scan,
    .commit = rocks_commit,
    .sync = rocks_sync,
    .discard = rocks_discard,
    .each_write = rocks_each_write,
    .size = rocks_size,
    .close = rocks_close,
};

static void set_options(struct rocks_db *r, const struct sp_rocksdb_options *o)
{
    r->process = o->shared;
    if (!r->cache && !r->process)
        r->cache = rocksdb_cache_create_lru(o->block_cache_bytes);
    r->options = tuned_options(o, r->process ? shared_cache(r->process) : r->cache);
    r->read = rocksdb_readoptions_create();
    r->scan = rocksdb_readoptions_create();
    rocksdb_readoptions_set_fill_cache(r->scan, 0);
    r->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(r->write, 0);
    rocksdb_writeoptions_disable_WAL(r->write, !o->write_ahead_log);
    r->batch = rocksdb_writebatch_create();
}

enum sp_err sp_db_open_rocksdb(const char *directory, const char *fingerprint,
                               const struct sp_rocksdb_options *options, struct sp_db **ret_db,
                               const char **ret_message)
{
    static _Thread_local char message[4096];
    struct sp_rocksdb_options defaults;
    sp_rocksdb_options_default(&defaults);
    struct rocks_db *r = sp_calloc(1, sizeof *r);
    struct sp_buf path = {0};
    char *error = NULL;
    r->db.ops = &rocks_ops;
    r->lock = -1;
    set_options(r, options ? options : &defaults);
    *ret_message = message;
    enum sp_err err = sp_directory_open(directory, fingerprint, message, sizeof message, &r->lock);
    if (err == SP_OK) {
        sp_buf_put_str(&path, directory);
        sp_buf_put(&path, "/rocksdb", sizeof "/rocksdb");
        r->handle = rocksdb_open(r->options, path.data, &error);
        if (error) {
            snprintf(message, sizeof message,
                     "cannot open the state in %s: RocksDB: %s; restore it from a copy, or use "
                     "another --state directory",
                     directory, error);
            rocksdb_free(error);
            err = SP_STORE;
        }
    }
    sp_buf_done(&path);
    if (err == SP_OK) {
        shared_join(r->process, r->handle);
        *ret_db = &r->db;
    } else
        sp_db_close(&r->db);
    return err;
}

/* ---- reading along
 *
 * A secondary instance would be made for this, but those do not know blob files (facebook/rocksdb
 * issue 13296: they crash). So the database is opened anew, read-only, where its files have
 * changed: milliseconds, with the cache of blocks handed on. Every table stays open, because the
 * writer deletes files; a blob file that went is an error, and the next open does not want it. */

static rocksdb_t *open_read_only(struct rocks_db *r, const char *directory, const char *scratch,
                                 char **ret_error)
{
    struct sp_buf path = {0};
    sp_buf_put_str(&path, directory);
    sp_buf_put(&path, "/rocksdb", sizeof "/rocksdb");
    rocksdb_options_set_create_if_missing(r->options, 0);
    rocksdb_options_set_max_open_files(r->options, -1);
    rocksdb_options_set_db_log_dir(r->options, scratch);
    rocksdb_t *handle = rocksdb_open_for_read_only(r->options, path.data, 0, ret_error);
    sp_buf_done(&path);
    return handle;
}

enum sp_err sp_db_open_reading(const char *directory, const char *scratch,
                               const struct sp_rocksdb_options *options, struct sp_db *before,
                               struct sp_db **ret_db, const char **ret_message)
{
    static _Thread_local char message[4096];
    struct sp_rocksdb_options defaults;
    sp_rocksdb_options_default(&defaults);
    struct rocks_db *r = sp_calloc(1, sizeof *r);
    char *error = NULL;
    r->db.ops = &rocks_ops;
    r->lock = -1;
    if (before)
        r->cache = rocks(before)->cache;
    set_options(r, options ? options : &defaults);
    r->handle = open_read_only(r, directory, scratch, &error);
    r->borrows_cache = error && before;
    if (!error) {
        if (before)
            rocks(before)->borrows_cache = true;
        *ret_db = &r->db;
        return SP_OK;
    }
    snprintf(message, sizeof message,
             "cannot read the state in %s: RocksDB: %s; name the --state directory of a `samepage "
             "run`",
             directory, error);
    *ret_message = message;
    rocksdb_free(error);
    sp_db_close(&r->db);
    return SP_STORE;
}

struct sp_db *sp_db_reader(void)
{
    struct rocks_db *r = sp_calloc(1, sizeof *r);
    r->db.ops = &rocks_ops;
    r->lock = -1;
    r->shared = true;
    return &r->db;
}

void sp_db_reader_use(struct sp_db *reader, struct sp_db *db)
{
    struct rocks_db *r = rocks(reader), *of = rocks(db);
    SP_ASSERT(r->shared && (!db || db->ops == &rocks_ops));
    unpin(r);
    r->handle = db ? of->handle : NULL;
    r->read = db ? of->read : NULL;
    r->scan = db ? of->scan : NULL;
}

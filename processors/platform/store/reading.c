/* Reads a database that another process writes. Secondary instances are meant for this, but they
 * crash on blob files (facebook/rocksdb issue 13296). So the database is opened again, read-only,
 * when its files have changed. This takes milliseconds, because the block cache is kept. Every
 * table stays open, because the writer deletes files. A read from a deleted blob file fails, and
 * succeeds after the next open. */
#include <stdio.h>

#include "base/assert.h"
#include "store/rocks.h"

static rocksdb_t *open_read_only(struct sp_rocks_db *r, const char *directory, const char *scratch,
                                 char **ret_error)
{
    struct sp_buf path = {0};
    sp_buf_put_str(&path, directory);
    sp_buf_put(&path, "/rocksdb", sizeof "/rocksdb");
    rocksdb_options_set_create_if_missing(r->options, 0);
    rocksdb_options_set_max_open_files(r->options, -1);
    rocksdb_options_set_db_log_dir(r->options, scratch);
    /* If all rows are in one level and nothing has to be merged, RocksDB opens another
     * implementation (CompactedDBImpl), which does not find values in blob files. A merge operator
     * prevents this. */
    rocksdb_options_set_uint64add_merge_operator(r->options);
    rocksdb_t *handle = rocksdb_open_for_read_only(r->options, path.data, 0, ret_error);
    sp_buf_done(&path);
    return handle;
}

enum sp_err sp_db_open_reading(const char *directory, const char *scratch,
                               const struct sp_rocksdb_options *options, struct sp_db *before,
                               struct sp_db **ret_db, struct sp_fault *fault)
{
    struct sp_rocksdb_options defaults;
    sp_rocksdb_options_default(&defaults);
    struct sp_rocks_db *r = sp_calloc(1, sizeof *r);
    char *error = NULL;
    r->db.ops = &sp_rocks_ops;
    r->lock = -1;
    if (before)
        r->cache = sp_rocks(before)->cache;
    sp_rocks_set_options(r, options ? options : &defaults);
    r->handle = open_read_only(r, directory, scratch, &error);
    r->borrows_cache = error && before;
    if (!error) {
        if (before)
            sp_rocks(before)->borrows_cache = true;
        *ret_db = &r->db;
        return SP_OK;
    }
    sp_fault_set(
        fault, SP_STORE,
        "cannot read the state in %s: RocksDB: %s; name the --state directory of a `samepage "
        "run`",
        directory, error);
    rocksdb_free(error);
    sp_db_close(&r->db);
    return SP_STORE;
}

struct sp_db *sp_db_reader(void)
{
    struct sp_rocks_db *r = sp_calloc(1, sizeof *r);
    r->db.ops = &sp_rocks_ops;
    r->lock = -1;
    r->shared = true;
    return &r->db;
}

void sp_db_reader_use(struct sp_db *reader, struct sp_db *db)
{
    struct sp_rocks_db *r = sp_rocks(reader), *of = sp_rocks(db);
    SP_ASSERT(r->shared && (!db || db->ops == &sp_rocks_ops));
    sp_rocks_unpin(r);
    r->handle = db ? of->handle : NULL;
    r->read = db ? of->read : NULL;
    r->scan = db ? of->scan : NULL;
    r->narrow = db ? of->narrow : NULL;
}

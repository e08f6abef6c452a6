/* Opens a RocksDB database; rocksdb.c explains how it is used. */
#include <dirent.h>
#include <rocksdb/c.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "store/directory.h"
#include "store/rocks.h"
#include "store/shared.h"
#include "store/tuning.h"

void sp_rocks_set_options(struct sp_rocks_db *r, const struct sp_rocksdb_options *o)
{
    sp_rocksdb_tuned_thread();
    r->process = o->shared;
    if (!r->cache && !r->process)
        r->cache = rocksdb_cache_create_lru(o->block_cache_bytes);
    r->options =
        sp_rocksdb_tuned_options(o, r->process ? sp_rocksdb_shared_cache(r->process) : r->cache);
    r->read = rocksdb_readoptions_create();
    r->scan = rocksdb_readoptions_create();
    rocksdb_readoptions_set_fill_cache(r->scan, 0);
    rocksdb_readoptions_set_total_order_seek(r->scan, 1);
    r->narrow = rocksdb_readoptions_create();
    rocksdb_readoptions_set_fill_cache(r->narrow, 0);
    r->write = rocksdb_writeoptions_create();
    /* If a log continued in a new file before the old one was on the disk, a loss of power could
     * keep the new file and lose the old one, and RocksDB would replay the log with a gap. */
    rocksdb_writeoptions_set_sync(r->write, o->write_ahead_log);
    rocksdb_writeoptions_disable_WAL(r->write, !o->write_ahead_log);
    r->writes = rocksdb_writebatch_create();
    r->apply.log = o->write_ahead_log;
    r->memtable_bytes = r->apply.memtable_bytes = o->memtable_bytes;
}

static bool is_empty(const struct sp_rocks_db *r)
{
    char *error = NULL;
    rocksdb_iterator_t *rows = rocksdb_create_iterator(r->handle, r->scan);
    rocksdb_iter_seek_to_first(rows);
    bool found = rocksdb_iter_valid(rows);
    rocksdb_iter_get_error(rows, &error);
    rocksdb_iter_destroy(rows);
    bool failed = error != NULL;
    rocksdb_free(error);
    return !found && !failed;
}

/* Whether there are tables without the file that names them. RocksDB would begin an empty database
 * there. A kill while a database is made leaves no tables. */
static bool has_lost_current(const char *path)
{
    bool current = false, tables = false;
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));) {
        current |= strcmp(e->d_name, "CURRENT") == 0;
        tables |= sp_names_end_with(e->d_name, ".sst") || sp_names_end_with(e->d_name, ".blob");
    }
    if (d)
        closedir(d);
    return tables && !current;
}

static enum sp_err open_database(struct sp_rocks_db *r, const char *directory, const char *path,
                                 struct sp_fault *fault)
{
    static const char advice[] = "restore it from a copy, or use " SP_ANOTHER_DIRECTORY;
    char *error = NULL;
    if (has_lost_current(path))
        return sp_fault_set(fault, SP_STORE,
                            "cannot open the state in %s: rocksdb/CURRENT is missing; %s",
                            directory, advice);
    r->handle = rocksdb_open(r->options, path, &error);
    if (!error)
        return SP_OK;
    sp_fault_set(fault, SP_STORE, "cannot open the state in %s: RocksDB: %s; %s", directory, error,
                 advice);
    rocksdb_free(error);
    return SP_STORE;
}

enum sp_err sp_db_open_rocksdb(const char *directory, const char *fingerprint,
                               const struct sp_rocksdb_options *options, struct sp_db **ret_db,
                               struct sp_fault *fault)
{
    struct sp_rocksdb_options defaults;
    sp_rocksdb_options_default(&defaults);
    const struct sp_rocksdb_options *o = options ? options : &defaults;
    struct sp_rocks_db *r = sp_calloc(1, sizeof *r);
    struct sp_buf path = {0};
    r->db.ops = &sp_rocks_ops;
    r->lock = -1;
    sp_rocks_set_options(r, o);
    enum sp_err err = sp_directory_open(directory, fingerprint, &r->lock, fault);
    if (err == SP_OK) {
        sp_sorted_clear(directory);
        sp_buf_put_str(&path, directory);
        sp_buf_put(&path, "/rocksdb", sizeof "/rocksdb");
        err = open_database(r, directory, path.data, fault);
    }
    sp_buf_done(&path);
    if (err == SP_OK) {
        sp_rocksdb_shared_join(r->process, r->handle);
        rocksdb_free(sp_rocksdb_filled(r->handle, false)); /* without it, only speed is lost */
        r->apply.handle = r->handle;
        r->apply.options = r->write;
        r->directory = sp_strdup(directory);
        r->apply.directory = o->looks_for_room ? r->directory : NULL;
        r->gathers = o->gathers && !o->write_ahead_log;
        r->background = o->background;
        r->stored = sp_rocks_files_bytes(r);
        r->apply.runs = r->gathers && o->alone;
        if (r->gathers) {
            sp_held_init(&r->held, sp_rocks_buffer_bytes(r));
            r->apply.sorted = sp_sorted_new(r->handle, directory, r->apply.runs);
            if (o->alone && is_empty(r))
                sp_key_filter_begin(&r->present, SP_KEY_FILTER_LAYERS);
        }
        if (r->background)
            r->flight = sp_flight_new(&r->apply);
        if (r->flight && o->alone)
            r->ahead = sp_ahead_new(r->handle, r->flight);
        *ret_db = &r->db;
    } else
        sp_db_close(&r->db);
    return err;
}

/* See apply.h. */
#include "store/apply.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>

#include "store/tuning.h"

enum { ROW_BYTES = 128 };   /* at most, of a row in a write buffer, besides key and value */
enum { MERGED = 4 };        /* write buffers: the size of files that may be merged meanwhile */
enum { MERGED_SORTED = 8 }; /* the same if values are in the files, beside rows of the next level */

void sp_apply_before(struct sp_apply *a, enum sp_err (*before)(void *arg), void *arg)
{
    a->before = before;
    a->before_arg = arg;
    if (!before || a->log)
        return;
    char text[32], *error = NULL;
    snprintf(text, sizeof text, "%" PRIu64, 2 * a->memtable_bytes);
    const char *const names[] = {"write_buffer_size"}, *const values[] = {text};
    rocksdb_set_options(a->handle, 1, names, values, &error);
    if (error)
        a->log = true; /* RocksDB may flush at any time, so each commit counts as on disk */
    rocksdb_free(error);
}

bool sp_apply_prepare(struct sp_apply *a)
{
    a->refused = a->refused || (a->before && a->before(a->before_arg) != SP_OK);
    if (a->refused)
        snprintf(a->why, sizeof a->why, "data that it depends on could not be written to the disk");
    return !a->refused;
}

/* The size of files that may be written by merges. Sorted runs may all be merged into one. */
static uint64_t merged_bytes(const struct sp_apply *a, uint64_t coming_bytes)
{
    uint64_t few = (a->sorted ? MERGED_SORTED : MERGED) * a->memtable_bytes;
    uint64_t all = coming_bytes + sp_rocksdb_number(a->handle, "rocksdb.total-sst-files-size", 0);
    return a->runs || all < few ? all : few;
}

/* Checks for room on the disk before a commit, because write buffers may be flushed at any time. */
static bool has_room(struct sp_apply *a, uint64_t batch_bytes, bool adds_file)
{
    struct statvfs disk;
    if (a->full || !a->directory || statvfs(a->directory, &disk) != 0)
        return !a->full;
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    uint64_t memtables = sp_rocksdb_number(a->handle, "rocksdb.size-all-mem-tables", 0);
    uint64_t wanted = 2 * (batch_bytes + memtables);
    /* RocksDB merges files when one is added. If that filled the disk, it could not even write its
     * log, and would abort. */
    if (adds_file || sp_rocksdb_number(a->handle, "rocksdb.num-running-compactions", 0))
        wanted += merged_bytes(a, batch_bytes + memtables);
    a->full = room < wanted;
    if (a->full)
        snprintf(a->why, sizeof a->why,
                 "No space left on device: %" PRIu64 " bytes are free on the disk of the state, "
                 "%" PRIu64 " are wanted",
                 room, wanted);
    return !a->full;
}

/* Starts to write the full buffer to the disk; following commits go to the next buffer. */
static bool flush(struct sp_apply *a, char **ret_error)
{
    if (!sp_apply_prepare(a))
        return false;
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 0);
    rocksdb_flush(a->handle, options, ret_error);
    rocksdb_flushoptions_destroy(options);
    return !*ret_error;
}

bool sp_apply(struct sp_apply *a, const struct sp_write_batch *batch, rocksdb_writebatch_t *scratch,
              char **ret_error)
{
    *ret_error = NULL;
    uint64_t bytes = sp_write_batch_bytes(batch) + ROW_BYTES * (uint64_t)batch->count;
    bool large = bytes > a->memtable_bytes / 2, file = a->sorted != NULL;
    if (a->refused || !has_room(a, bytes, file && !a->fills) ||
        (a->before && (a->log || large || file) && !sp_apply_prepare(a)))
        return false;
    if (file) {
        *ret_error = sp_sorted_apply(a->sorted, batch);
        return !*ret_error;
    }
    sp_write_batch_fill(batch, scratch);
    rocksdb_write(a->handle, a->options, scratch, ret_error);
    rocksdb_writebatch_clear(scratch);
    if (*ret_error)
        return false;
    uint64_t buffered =
        sp_rocksdb_number(a->handle, "rocksdb.cur-size-active-mem-table", UINT64_MAX);
    return !a->before || a->log || buffered < a->memtable_bytes || flush(a, ret_error);
}

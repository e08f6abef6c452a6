/* See apply.h. */
#include "store/apply.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROW_BYTES = 128 }; /* that a row takes in a write buffer besides key and value, at most */

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
        a->log = true; /* RocksDB flushes when it likes: each commit counts as one on the disk */
    rocksdb_free(error);
}

bool sp_apply_prepare(struct sp_apply *a)
{
    a->refused = a->refused || (a->before && a->before(a->before_arg) != SP_OK);
    return !a->refused;
}

static uint64_t buffered(const struct sp_apply *a)
{
    uint64_t bytes = 0;
    bool known = rocksdb_property_int(a->handle, "rocksdb.cur-size-active-mem-table", &bytes) == 0;
    return known ? bytes : UINT64_MAX;
}

/* Starts to write the full buffer; the next one takes what comes. */
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
    bool large = batch->bytes.len + ROW_BYTES * (uint64_t)batch->count > a->memtable_bytes / 2;
    if (a->refused || (a->before && (a->log || large) && !sp_apply_prepare(a)))
        return false;
    sp_write_batch_fill(batch, scratch);
    rocksdb_write(a->handle, a->options, scratch, ret_error);
    rocksdb_writebatch_clear(scratch);
    if (*ret_error)
        return false;
    return !a->before || a->log || buffered(a) < a->memtable_bytes || flush(a, ret_error);
}

/* See sorted.h. */
#include "store/sorted.h"

#include <unistd.h>

#include "base/mem.h"
#include "store/tuning.h"

enum { WAIT_US = 5000, LINE_BYTES = 64, AHEAD_ROWS = 16, AHEAD_BYTES = 256 };

struct sp_sorted {
    rocksdb_t *handle;
    rocksdb_envoptions_t *files;
    rocksdb_sstfilewriter_t *writer;
    rocksdb_ingestexternalfileoptions_t *ingest;
    struct sp_buf path;
};

static const char *name_file(struct sp_buf *path, const char *directory)
{
    sp_buf_put_str(path, directory);
    sp_buf_put(path, "/rocksdb/sorted.sst", sizeof "/rocksdb/sorted.sst");
    return path->data;
}

void sp_sorted_clear(const char *directory)
{
    struct sp_buf path = {0};
    unlink(name_file(&path, directory));
    sp_buf_done(&path);
}

struct sp_sorted *sp_sorted_new(rocksdb_t *handle, const rocksdb_options_t *options,
                                const char *directory)
{
    struct sp_sorted *s = sp_calloc(1, sizeof *s);
    s->handle = handle;
    s->files = rocksdb_envoptions_create();
    s->writer = rocksdb_sstfilewriter_create(s->files, options);
    s->ingest = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(s->ingest, 1);
    rocksdb_ingestexternalfileoptions_set_snapshot_consistency(s->ingest, 0);
    name_file(&s->path, directory);
    return s;
}

void sp_sorted_free(struct sp_sorted *s)
{
    if (!s)
        return;
    rocksdb_ingestexternalfileoptions_destroy(s->ingest);
    rocksdb_sstfilewriter_destroy(s->writer);
    rocksdb_envoptions_destroy(s->files);
    sp_buf_done(&s->path);
    sp_free(s);
}

/* Rows are stored in order of arrival, so reading them in key order jumps through memory; without
 * prefetching, half of the time was waiting. */
static void fetch(const struct sp_write_batch *batch, size_t i)
{
    if (i >= batch->count)
        return;
    const char *row = batch->bytes.data + batch->writes[i].at;
    size_t bytes = batch->bytes.len - batch->writes[i].at;
    for (size_t at = 0; at < bytes && at < AHEAD_BYTES; at += LINE_BYTES)
        __builtin_prefetch(row + at);
}

static char *write_file(struct sp_sorted *s, const struct sp_write_batch *batch)
{
    char *error = NULL;
    rocksdb_sstfilewriter_open(s->writer, s->path.data, &error);
    for (size_t i = 0; i < batch->count && !error; i++) {
        const struct sp_write *w = &batch->writes[i];
        struct sp_view key = sp_write_batch_key(batch, w), value = sp_write_batch_value(batch, w);
        fetch(batch, i + AHEAD_ROWS);
        if (w->value_len == SP_WRITE_ERASED)
            rocksdb_sstfilewriter_delete(s->writer, key.data, key.len, &error);
        else
            rocksdb_sstfilewriter_put(s->writer, key.data, key.len, value.data, value.len, &error);
    }
    if (!error)
        rocksdb_sstfilewriter_finish(s->writer, &error);
    return error;
}

/* RocksDB links the file into the database under another name before this name is removed. A file
 * left over from a kill in between belongs to the database: this name must be removed, never
 * written to. */
char *sp_sorted_apply(struct sp_sorted *s, const struct sp_write_batch *batch)
{
    const char *const names[] = {s->path.data};
    while (sp_rocksdb_files_wait(s->handle))
        usleep(WAIT_US);
    unlink(s->path.data);
    char *error = write_file(s, batch);
    if (!error)
        rocksdb_ingest_external_file(s->handle, names, 1, s->ingest, &error);
    return error;
}

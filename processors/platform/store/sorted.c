/* See sorted.h. */
#include "store/sorted.h"

#include <unistd.h>

#include "base/mem.h"
#include "store/sorted_file.h"
#include "store/tuning.h"

/* Each look-up asks the filters of all files that are not merged. In a fill they are 32 MB. */
enum { WAIT_US = 5000, FILES = 48 };

struct sp_sorted {
    rocksdb_t *handle;
    struct sp_sorted_file *file;
    rocksdb_ingestexternalfileoptions_t *ingest;
    struct sp_buf path;
    bool fills;  /* RocksDB does not merge the files, */
    bool merges; /* until there were too many */
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

struct sp_sorted *sp_sorted_new(rocksdb_t *handle, const char *directory)
{
    struct sp_sorted *s = sp_calloc(1, sizeof *s);
    s->handle = handle;
    s->file = sp_sorted_file_new(SP_ROCKSDB_FILTER_BITS);
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
    sp_sorted_file_free(s->file);
    sp_buf_done(&s->path);
    sp_free(s);
}

void sp_sorted_fills(struct sp_sorted *s, bool on)
{
    s->fills = on;
    s->merges = false;
}

/* Starts merging when a fill has made many files, and waits while there are too many. */
static char *let_merge(struct sp_sorted *s)
{
    char *error = NULL;
    if (s->fills && !s->merges && sp_rocksdb_files(s->handle) >= FILES) {
        error = sp_rocksdb_fill(s->handle, true);
        s->merges = true;
    }
    uint64_t most = s->fills ? 2 * FILES : FILES;
    while (!error && sp_rocksdb_files(s->handle) >= most && sp_rocksdb_merges(s->handle))
        usleep(WAIT_US);
    return error;
}

/* RocksDB links the file into the database under another name before this name is removed. A file
 * left over from a kill in between belongs to the database: this name must be removed, never
 * written to. */
char *sp_sorted_apply(struct sp_sorted *s, const struct sp_write_batch *batch)
{
    const char *const names[] = {s->path.data};
    char *error = let_merge(s);
    unlink(s->path.data);
    if (!error)
        error = sp_sorted_file_write(s->file, s->path.data, batch);
    if (!error)
        rocksdb_ingest_external_file(s->handle, names, 1, s->ingest, &error);
    return error;
}

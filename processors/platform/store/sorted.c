/* See sorted.h. */
#include "store/sorted.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "store/sorted_file.h"
#include "store/tuning.h"

/* Each look-up asks the filters of all files that are not merged. In a fill they are 32 MB. */
enum { WAIT_US = 5000, FILES = 48 };
/* Each block costs a row of the index, a checksum, a write: with 16 KiB a file takes a tenth less
 * processor time than with RocksDB's 4. Merging, soon after a fill, makes small blocks again. */
enum { BLOCK_BYTES = 4 << 10, FILL_BLOCK_BYTES = 16 << 10 };
/* NAMES: as many files at most are written and not yet in the database. */
enum { NAMES = 4, SUFFIX_BYTES = 32 };

struct sp_sorted {
    rocksdb_t *handle;
    struct sp_sorted_file *file, *filling; /* writers; `filling` is NULL outside a fill */
    size_t prefix_bytes;                   /* of the prefixes in the files' filters */
    rocksdb_ingestexternalfileoptions_t *ingest;
    struct sp_buf paths[NAMES]; /* file i has name i % NAMES */
    bool fills;                 /* RocksDB does not merge the files, */
    bool merges;                /* until there were too many */
    pthread_t thread;           /* gives the files to RocksDB in a fill */
    bool running;
    pthread_mutex_t lock; /* of the following fields */
    pthread_cond_t changed;
    uint64_t written; /* files */
    uint64_t ingested;
    bool ending;
    char *error; /* of the thread; permanent */
};

static const char *name_file(struct sp_buf *path, const char *directory, int i)
{
    char suffix[SUFFIX_BYTES];
    int n =
        snprintf(suffix, sizeof suffix, i ? "/rocksdb/sorted-%d.sst" : "/rocksdb/sorted.sst", i);
    sp_buf_reset(path);
    sp_buf_put_str(path, directory);
    sp_buf_put(path, suffix, (size_t)n + 1);
    return path->data;
}

void sp_sorted_clear(const char *directory)
{
    struct sp_buf path = {0};
    for (int i = 0; i < NAMES; i++)
        unlink(name_file(&path, directory, i));
    sp_buf_done(&path);
}

struct sp_sorted *sp_sorted_new(rocksdb_t *handle, const char *directory, bool runs)
{
    struct sp_sorted *s = sp_calloc(1, sizeof *s);
    s->handle = handle;
    s->prefix_bytes = runs ? SP_ROCKSDB_PREFIX_BYTES : 0;
    s->file = sp_sorted_file_new(SP_ROCKSDB_FILTER_BITS, s->prefix_bytes, BLOCK_BYTES);
    s->ingest = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(s->ingest, 1);
    rocksdb_ingestexternalfileoptions_set_snapshot_consistency(s->ingest, 0);
    for (int i = 0; i < NAMES; i++)
        name_file(&s->paths[i], directory, i);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    return s;
}

/* ---- the thread ---- */

/* RocksDB syncs the files. It gives later ones higher sequence numbers. */
static char *ingest(struct sp_sorted *s, uint64_t from, uint64_t end)
{
    const char *names[NAMES];
    char *error = NULL;
    for (uint64_t i = from; i < end; i++)
        names[i - from] = s->paths[i % NAMES].data;
    rocksdb_ingest_external_file(s->handle, names, end - from, s->ingest, &error);
    return error;
}

static void *give(void *arg)
{
    struct sp_sorted *s = arg;
    sp_rocksdb_tuned_thread();
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->ingested == s->written && !s->ending)
            pthread_cond_wait(&s->changed, &s->lock);
        uint64_t from = s->ingested, end = s->written;
        if (from == end)
            break;
        bool good = !s->error;
        pthread_mutex_unlock(&s->lock);
        char *error = good ? ingest(s, from, end) : NULL;
        pthread_mutex_lock(&s->lock);
        s->error = good ? error : s->error;
        s->ingested = end;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Waits until at most so many files are not in the database. Returns the thread's error, to be
 * freed. */
static char *wait_for(struct sp_sorted *s, uint64_t most)
{
    pthread_mutex_lock(&s->lock);
    while (s->written - s->ingested > most)
        pthread_cond_wait(&s->changed, &s->lock);
    char *error = s->error ? sp_strdup(s->error) : NULL;
    pthread_mutex_unlock(&s->lock);
    return error;
}

char *sp_sorted_settle(struct sp_sorted *s)
{
    return wait_for(s, 0);
}

static void stop(struct sp_sorted *s)
{
    if (!s->running)
        return;
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->running = s->ending = false;
}

char *sp_sorted_fills(struct sp_sorted *s, bool on)
{
    struct sp_fault fault;
    s->fills = on;
    s->merges = false;
    sp_sorted_file_free(s->filling);
    s->filling =
        on ? sp_sorted_file_new(SP_ROCKSDB_FILTER_BITS, s->prefix_bytes, FILL_BLOCK_BYTES) : NULL;
    if (on && !s->running) /* without the thread, only speed is lost */
        s->running = sp_thread_start(&s->thread, give, s, &fault) == SP_OK;
    if (!on)
        stop(s);
    return sp_sorted_settle(s);
}

void sp_sorted_free(struct sp_sorted *s)
{
    if (!s)
        return;
    stop(s);
    rocksdb_ingestexternalfileoptions_destroy(s->ingest);
    sp_sorted_file_free(s->file);
    sp_sorted_file_free(s->filling);
    for (int i = 0; i < NAMES; i++)
        sp_buf_done(&s->paths[i]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    rocksdb_free(s->error);
    sp_free(s);
}

/* ---- writing ---- */

/* RocksDB merges no more after an error, which the next ingestion reports. */
static uint64_t background_errors(const struct sp_sorted *s)
{
    return sp_rocksdb_number(s->handle, "rocksdb.background-errors", 0);
}

/* Starts merging when a fill has made many files, and waits while there are too many. */
static char *let_merge(struct sp_sorted *s)
{
    char *error = NULL;
    if (s->fills && !s->merges && sp_rocksdb_files(s->handle) >= FILES) {
        error = sp_rocksdb_fill(s->handle, true);
        s->merges = true;
    }
    uint64_t most = s->fills ? 2 * FILES : FILES, errors = background_errors(s);
    while (!error && sp_rocksdb_files(s->handle) >= most && sp_rocksdb_merges(s->handle) &&
           background_errors(s) == errors)
        usleep(WAIT_US);
    return error;
}

static char *hand_over(struct sp_sorted *s)
{
    pthread_mutex_lock(&s->lock);
    s->written++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static char *ingest_at_once(struct sp_sorted *s)
{
    char *error = ingest(s, s->written, s->written + 1);
    s->ingested = ++s->written;
    return error;
}

/* RocksDB links the file into the database under another name before this name is removed. A file
 * left over from a kill in between belongs to the database: this name must be removed, never
 * written to. */
char *sp_sorted_apply(struct sp_sorted *s, const struct sp_write_batch *batch)
{
    const char *name = s->paths[s->written % NAMES].data;
    char *error = wait_for(s, NAMES - 1);
    if (!error)
        error = let_merge(s);
    unlink(name);
    if (!error)
        error = sp_sorted_file_write(s->filling ? s->filling : s->file, name, batch);
    if (error)
        return error;
    return s->running ? hand_over(s) : ingest_at_once(s);
}

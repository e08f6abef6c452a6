/* See flight.h. */
#include "store/flight.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/mem.h"
#include "store/tuning.h"

struct flight {
    rocksdb_t *handle;
    const rocksdb_writeoptions_t *options;
    rocksdb_writebatch_t *writes;
    struct batch batch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool busy; /* atomic to read, written with the lock */
    bool ending;
    char *error;
};

static void *work(void *arg)
{
    struct flight *f = arg;
    tuned_thread();
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!f->busy && !f->ending)
            pthread_cond_wait(&f->changed, &f->lock);
        if (!f->busy)
            break;
        pthread_mutex_unlock(&f->lock);
        char *error = NULL;
        batch_fill(&f->batch, f->writes);
        rocksdb_write(f->handle, f->options, f->writes, &error);
        rocksdb_writebatch_clear(f->writes);
        pthread_mutex_lock(&f->lock);
        if (f->error)
            rocksdb_free(error);
        else
            f->error = error;
        __atomic_store_n(&f->busy, false, __ATOMIC_RELEASE);
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

struct flight *flight_new(rocksdb_t *handle, const rocksdb_writeoptions_t *options)
{
    struct flight *f = sp_calloc(1, sizeof *f);
    f->handle = handle;
    f->options = options;
    f->writes = rocksdb_writebatch_create();
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    if (pthread_create(&f->thread, NULL, work, f) == 0)
        return f;
    rocksdb_writebatch_destroy(f->writes);
    sp_free(f);
    return NULL;
}

const char *flight_wait(struct flight *f)
{
    pthread_mutex_lock(&f->lock);
    while (f->busy)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
    return f->error;
}

void flight_start(struct flight *f, struct batch *batch)
{
    pthread_mutex_lock(&f->lock);
    SP_ASSERT(!f->busy);
    struct batch before = f->batch;
    f->batch = *batch;
    *batch = before;
    batch_clear(batch);
    __atomic_store_n(&f->busy, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

const struct batch *flight_batch(const struct flight *f)
{
    return f && __atomic_load_n(&f->busy, __ATOMIC_ACQUIRE) ? &f->batch : NULL;
}

const struct batch *flight_last(const struct flight *f)
{
    return &f->batch;
}

void flight_free(struct flight *f)
{
    if (!f)
        return;
    flight_wait(f);
    pthread_mutex_lock(&f->lock);
    f->ending = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    rocksdb_writebatch_destroy(f->writes);
    rocksdb_free(f->error);
    batch_done(&f->batch);
    sp_free(f);
}

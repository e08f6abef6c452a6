/* See flight.h. */
#include "store/flight.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/thread.h"
#include "store/tuning.h"

struct sp_flight {
    struct sp_apply *apply;
    rocksdb_writebatch_t *writes;
    struct sp_write_batch batch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool busy; /* atomic to read, written with the lock */
    bool ending;
    char *error;
};

static void *work(void *arg)
{
    struct sp_flight *f = arg;
    sp_rocksdb_tuned_thread();
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!f->busy && !f->ending)
            pthread_cond_wait(&f->changed, &f->lock);
        if (!f->busy)
            break;
        pthread_mutex_unlock(&f->lock);
        char *error = NULL;
        sp_apply(f->apply, &f->batch, f->writes, &error); /* sp_apply remembers a refusal itself */
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

struct sp_flight *sp_flight_new(struct sp_apply *apply)
{
    struct sp_flight *f = sp_calloc(1, sizeof *f);
    f->apply = apply;
    f->writes = rocksdb_writebatch_create();
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    struct sp_fault fault;
    if (sp_thread_start(&f->thread, work, f, &fault) == SP_OK)
        return f;
    rocksdb_writebatch_destroy(f->writes);
    sp_free(f);
    return NULL;
}

const char *sp_flight_wait(struct sp_flight *f)
{
    pthread_mutex_lock(&f->lock);
    while (f->busy)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
    return *f->apply->why ? f->apply->why : f->error;
}

void sp_flight_start(struct sp_flight *f, struct sp_write_batch *batch)
{
    pthread_mutex_lock(&f->lock);
    SP_ASSERT(!f->busy);
    struct sp_write_batch before = f->batch;
    f->batch = *batch;
    *batch = before;
    sp_write_batch_clear(batch);
    __atomic_store_n(&f->busy, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

const struct sp_write_batch *sp_flight_batch(const struct sp_flight *f)
{
    return f && __atomic_load_n(&f->busy, __ATOMIC_ACQUIRE) ? &f->batch : NULL;
}

const struct sp_write_batch *sp_flight_last(const struct sp_flight *f)
{
    return &f->batch;
}

void sp_flight_free(struct sp_flight *f)
{
    if (!f)
        return;
    sp_flight_wait(f);
    pthread_mutex_lock(&f->lock);
    f->ending = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    rocksdb_writebatch_destroy(f->writes);
    rocksdb_free(f->error);
    sp_write_batch_done(&f->batch);
    sp_free(f);
}

/* See desk.h. */
#include "serve/desk.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/thread.h"

struct sp_desk {
    void (*work)(void *arg, struct sp_desk_job *job);
    void *arg;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct sp_desk_job *first;
    struct sp_desk_job **last; /* where the next job is linked */
    bool closed;
    pthread_t *threads;
    uint32_t started;
};

static void *work_all(void *arg)
{
    struct sp_desk *d = arg;
    pthread_mutex_lock(&d->lock);
    for (;;) {
        while (!d->first && !d->closed)
            pthread_cond_wait(&d->changed, &d->lock);
        struct sp_desk_job *job = d->first;
        if (!job)
            break;
        d->first = job->next;
        if (!d->first)
            d->last = &d->first;
        pthread_mutex_unlock(&d->lock);
        d->work(d->arg, job);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

enum sp_err sp_desk_start(uint32_t threads, void (*work)(void *arg, struct sp_desk_job *job),
                          void *arg, struct sp_desk **ret_desk, struct sp_fault *fault)
{
    struct sp_desk *d = sp_calloc(1, sizeof *d);
    enum sp_err err = SP_OK;
    d->work = work;
    d->arg = arg;
    d->last = &d->first;
    d->threads = sp_calloc(threads, sizeof *d->threads);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    for (; d->started < threads && err == SP_OK; d->started += err == SP_OK)
        err = sp_thread_start(&d->threads[d->started], work_all, d, fault);
    if (err != SP_OK) {
        sp_desk_close(d);
        sp_desk_free(d);
        return err;
    }
    *ret_desk = d;
    return SP_OK;
}

bool sp_desk_put(struct sp_desk *d, struct sp_desk_job *job)
{
    pthread_mutex_lock(&d->lock);
    bool open = !d->closed;
    if (open) {
        job->next = NULL;
        *d->last = job;
        d->last = &job->next;
        pthread_cond_signal(&d->changed);
    }
    pthread_mutex_unlock(&d->lock);
    return open;
}

void sp_desk_close(struct sp_desk *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->closed = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    for (uint32_t i = 0; i < d->started; i++)
        pthread_join(d->threads[i], NULL);
    d->started = 0;
}

void sp_desk_free(struct sp_desk *d)
{
    if (!d)
        return;
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    sp_free(d->threads);
    sp_free(d);
}

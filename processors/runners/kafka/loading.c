/* Opens the stage of a partition, which loads its index from the local database: a million pages
 * take seconds in the compare stage, and a minute in the contain stage. So a thread does it, while
 * the worker says that it is alive and stays in its consumer group. A worker that is to stop does
 * not wait for it: its reads fail. */
#include "base/service.h"
#include "base/thread.h"
#include "kafka/internal.h"

enum { LOOK_MS = 50 };

struct loading {
    struct sp_worker *w;
    struct sp_task *task;
    enum sp_err err;
    bool over; /* under the lock of `waiting` */
    struct sp_service waiting;
};

static enum sp_err open_stage(struct sp_worker *w, struct sp_task *t)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_store *store = t->db ? sp_db_store(t->db, SP_TASK_STORE_STAGE) : NULL;
    return stage->open(stage->arg, w, store, &t->stage);
}

static bool is_stopped(void *arg)
{
    const struct sp_worker *w = arg;
    return *w->stop;
}

static void *load(void *arg)
{
    struct loading *l = arg;
    sp_db_adopt(l->task->db);
    enum sp_err err = open_stage(l->w, l->task);
    pthread_mutex_lock(&l->waiting.lock);
    l->err = err;
    l->over = true;
    sp_service_wake(&l->waiting);
    pthread_mutex_unlock(&l->waiting.lock);
    return NULL;
}

static void wait_for(struct loading *l)
{
    pthread_mutex_lock(&l->waiting.lock);
    while (!l->over) {
        sp_service_pause(&l->waiting, LOOK_MS);
        pthread_mutex_unlock(&l->waiting.lock);
        sp_worker_alive(l->w);
        rd_kafka_poll(l->w->consumer, 0); /* as in a restore */
        pthread_mutex_lock(&l->waiting.lock);
    }
    pthread_mutex_unlock(&l->waiting.lock);
}

enum sp_err sp_loading_run(struct sp_worker *w, struct sp_task *t)
{
    struct loading l = {.w = w, .task = t};
    struct sp_fault fault;
    pthread_t thread;
    if (!t->db)
        return open_stage(w, t);
    sp_service_init(&l.waiting);
    sp_db_interrupt(t->db, is_stopped, w);
    l.err = sp_thread_start(&thread, load, &l, &fault);
    if (l.err == SP_OK) {
        wait_for(&l);
        pthread_join(thread, NULL);
        sp_db_adopt(t->db);
    } else {
        sp_failure_note(&w->failure, l.err, "threads", fault.text);
    }
    sp_db_interrupt(t->db, NULL, NULL);
    sp_service_done(&l.waiting);
    return l.err;
}

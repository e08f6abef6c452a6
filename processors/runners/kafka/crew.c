/* See crew.h. The messages are in a ring: [taken, begun) are being read or are read, [begun, put)
 * wait for a thread. All three only grow. */
#include "kafka/crew.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

/* What threads can read during a commit of 10 ms. */
enum { MESSAGES = 1024, BYTES = 32 << 20 };

struct job {
    struct sp_crew_result result;
    bool done;
};

struct member {
    struct sp_crew *crew;
    void *reader;
    pthread_t thread;
    bool started;
};

struct sp_crew {
    const struct sp_worker_stage *stage;
    struct member *members;
    uint32_t count;
    size_t bytes;           /* of the messages in the ring; only the caller looks at it */
    pthread_mutex_t lock;   /* of all below */
    pthread_cond_t waiting; /* messages wait, or all ends */
    pthread_cond_t read;    /* nothing is missing, or no message is being read */
    uint64_t taken, begun, put;
    uint64_t wanted;  /* the caller waits for the messages before this one */
    uint64_t missing; /* of these, not read */
    uint32_t reading; /* threads */
    bool ending;
    struct job jobs[MESSAGES];
};

static struct job *job(struct sp_crew *c, uint64_t number)
{
    return &c->jobs[number % MESSAGES];
}

static void read_one(struct member *me, struct sp_crew_result *r)
{
    const rd_kafka_message_t *m = r->message;
    int64_t started_us = sp_clock_us();
    r->err = me->crew->stage->read(me->reader, sp_view(m->key, m->key_len),
                                   sp_view(m->payload, m->len), &r->reading);
    r->took_us = (uint64_t)(sp_clock_us() - started_us);
}

static void *run(void *arg)
{
    struct member *me = arg;
    struct sp_crew *c = me->crew;
    pthread_mutex_lock(&c->lock);
    while (!c->ending) {
        if (c->begun == c->put) {
            pthread_cond_wait(&c->waiting, &c->lock);
            continue;
        }
        uint64_t number = c->begun++;
        c->reading++;
        pthread_mutex_unlock(&c->lock);
        read_one(me, &job(c, number)->result);
        pthread_mutex_lock(&c->lock);
        c->reading--;
        job(c, number)->done = true;
        c->missing -= number < c->wanted;
        if (!c->missing || !c->reading)
            pthread_cond_signal(&c->read);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

enum sp_err sp_crew_start(const struct sp_worker_stage *stage, uint32_t threads,
                          struct sp_crew **ret_crew, struct sp_fault *fault)
{
    struct sp_crew *c = sp_calloc(1, sizeof *c);
    c->stage = stage;
    c->members = sp_calloc(threads, sizeof *c->members);
    c->count = threads;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->waiting, NULL);
    pthread_cond_init(&c->read, NULL);
    enum sp_err err = SP_OK;
    for (uint32_t i = 0; i < threads && err == SP_OK; i++) {
        struct member *me = &c->members[i];
        me->crew = c;
        me->reader = stage->reader_new(stage->arg);
        err = sp_thread_start(&me->thread, run, me, fault);
        me->started = err == SP_OK;
    }
    if (err == SP_OK)
        *ret_crew = c;
    else
        sp_crew_stop(c);
    return err;
}

size_t sp_crew_count(const struct sp_crew *c)
{
    return (size_t)(c->put - c->taken);
}

bool sp_crew_has_room(const struct sp_crew *c)
{
    return sp_crew_count(c) < MESSAGES && c->bytes < BYTES;
}

void sp_crew_put(struct sp_crew *c, rd_kafka_message_t *m)
{
    c->bytes += m->len;
    pthread_mutex_lock(&c->lock);
    *job(c, c->put++) = (struct job){.result = {.message = m}};
    pthread_cond_signal(&c->waiting);
    pthread_mutex_unlock(&c->lock);
}

void sp_crew_wait(struct sp_crew *c, bool all)
{
    pthread_mutex_lock(&c->lock);
    c->wanted = all ? c->put : c->taken + (c->put - c->taken + 1) / 2;
    for (uint64_t number = c->taken; number < c->wanted; number++)
        c->missing += !job(c, number)->done;
    while (c->missing)
        pthread_cond_wait(&c->read, &c->lock);
    c->wanted = 0;
    pthread_mutex_unlock(&c->lock);
}

static void forget(struct sp_crew *c, struct sp_crew_result *r)
{
    c->bytes -= r->message->len;
    c->taken++;
}

bool sp_crew_take(struct sp_crew *c, struct sp_crew_result *ret_result)
{
    pthread_mutex_lock(&c->lock);
    bool done = c->taken < c->begun && job(c, c->taken)->done;
    if (done) {
        *ret_result = job(c, c->taken)->result;
        forget(c, ret_result);
    }
    pthread_mutex_unlock(&c->lock);
    return done;
}

void sp_crew_drop(struct sp_crew *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    uint64_t begun = c->begun;
    c->begun = c->put; /* nobody begins another */
    while (c->reading)
        pthread_cond_wait(&c->read, &c->lock);
    while (c->taken < c->put) {
        struct sp_crew_result *r = &job(c, c->taken)->result;
        if (c->taken < begun && r->reading.message)
            sp_message_free(r->reading.message);
        rd_kafka_message_t *m = r->message;
        forget(c, r);
        rd_kafka_message_destroy(m);
    }
    pthread_mutex_unlock(&c->lock);
}

void sp_crew_stop(struct sp_crew *c)
{
    if (!c)
        return;
    sp_crew_drop(c);
    pthread_mutex_lock(&c->lock);
    c->ending = true;
    pthread_cond_broadcast(&c->waiting);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->members[i].started)
            pthread_join(c->members[i].thread, NULL);
        if (c->members[i].reader)
            c->stage->reader_free(c->members[i].reader);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->waiting);
    pthread_cond_destroy(&c->read);
    sp_free(c->members);
    sp_free(c);
}

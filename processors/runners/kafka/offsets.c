/* The offsets of a transaction. rd_kafka_send_offsets_to_transaction of librdkafka 2.0 waits for
 * the coordinator of the consumer group whatever its time-out is: without limit while that broker
 * is not reached, and for a minute where it does not reply. So the call runs in a thread, and the
 * worker waits no longer for it than for others. A call that is left behind keeps the producer,
 * which must not be destroyed under it, and destroys it at its end. */
#include <pthread.h>
#include <syslog.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kafka/internal.h"

struct sp_offsets_call {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    rd_kafka_t *producer;
    rd_kafka_topic_partition_list_t *offsets;
    rd_kafka_consumer_group_metadata_t *group;
    int timeout_ms;
    rd_kafka_error_t *error;
    bool ended;
    bool left; /* nobody waits for its end */
};

static void free_call(struct sp_offsets_call *c)
{
    rd_kafka_consumer_group_metadata_destroy(c->group);
    rd_kafka_topic_partition_list_destroy(c->offsets);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    sp_free(c);
}

static void *call(void *arg)
{
    struct sp_offsets_call *c = arg;
    rd_kafka_error_t *error =
        rd_kafka_send_offsets_to_transaction(c->producer, c->offsets, c->group, c->timeout_ms);
    pthread_mutex_lock(&c->lock);
    c->error = error;
    c->ended = true;
    bool left = c->left;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (!left)
        return NULL;
    rd_kafka_t *producer = c->producer;
    if (error)
        rd_kafka_error_destroy(error);
    free_call(c);
    rd_kafka_destroy(producer);
    return NULL;
}

/* Waits for the end of the call, for that long at most. */
static bool has_ended(struct sp_offsets_call *c, int64_t most_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + most_ms % 1000 * 1000000;
    until.tv_sec += most_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&c->lock);
    int code = 0;
    while (!c->ended && code == 0)
        code = pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC, &until);
    bool ended = c->ended;
    pthread_mutex_unlock(&c->lock);
    return ended;
}

enum sp_err sp_offsets_send(struct sp_worker *w, rd_kafka_topic_partition_list_t *offsets,
                            rd_kafka_consumer_group_metadata_t *group)
{
    enum { WAIT_MS = 1000 };
    struct sp_offsets_call *c = sp_calloc(1, sizeof *c);
    *c = (struct sp_offsets_call){.producer = w->producer,
                                  .offsets = offsets,
                                  .group = group,
                                  .timeout_ms = sp_worker_timeout_ms(w)};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, call, c) != 0) {
        free_call(c);
        return sp_failure_note(&w->failure, SP_BUSY, "offsets", "no thread could be started");
    }
    bool ended = false;
    int64_t until_ms = sp_clock_ms() + c->timeout_ms;
    for (int64_t now_ms; !ended && (now_ms = sp_clock_ms()) < until_ms;) {
        int64_t stop_ms = now_ms + sp_worker_timeout_ms(w);
        until_ms = stop_ms < until_ms ? stop_ms : until_ms;
        ended = has_ended(c, until_ms - now_ms < WAIT_MS ? until_ms - now_ms : WAIT_MS);
        sp_worker_alive(w);
    }
    if (!ended) {
        w->offsets_call = c;
        return sp_failure_note_cause(&w->failure, SP_ABORT_TIMEOUT, "offsets",
                                     "the coordinator of the consumer group does not reply; see "
                                     "whether the broker that it is on is up");
    }
    pthread_join(c->thread, NULL);
    rd_kafka_error_t *error = c->error;
    free_call(c);
    return sp_failure_check(&w->failure, w->producer, error, "offsets");
}

bool sp_offsets_leave(struct sp_worker *w)
{
    struct sp_offsets_call *c = w->offsets_call;
    if (!c)
        return false;
    w->offsets_call = NULL;
    pthread_mutex_lock(&c->lock);
    bool ended = c->ended;
    if (!ended) {
        c->left = true;
        pthread_detach(c->thread);
        rd_kafka_set_log_level(c->producer, LOG_EMERG); /* it may log after the stage has ended */
    }
    pthread_mutex_unlock(&c->lock);
    if (!ended)
        return true;
    pthread_join(c->thread, NULL);
    if (c->error)
        rd_kafka_error_destroy(c->error);
    free_call(c);
    return false;
}

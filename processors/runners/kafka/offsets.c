/* The offsets of a transaction. rd_kafka_send_offsets_to_transaction of librdkafka 2.0 waits for
 * the coordinator of the consumer group whatever its time-out is: without limit while that broker
 * is not reached, and for a minute where it does not reply. So the call runs in a thread, and the
 * worker waits no longer for it than for others. A call that is left behind keeps the producer,
 * which must not be destroyed under it and is destroyed after it. */
#include <pthread.h>
#include <syslog.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kafka/internal.h"

struct sp_offsets_call {
    pthread_t thread;
    rd_kafka_t *producer;
    rd_kafka_topic_partition_list_t *offsets;
    rd_kafka_consumer_group_metadata_t *group;
    int timeout_ms;
};

static void free_call(struct sp_offsets_call *c)
{
    rd_kafka_consumer_group_metadata_destroy(c->group);
    rd_kafka_topic_partition_list_destroy(c->offsets);
    sp_free(c);
}

static void *call(void *arg)
{
    const struct sp_offsets_call *c = arg;
    return rd_kafka_send_offsets_to_transaction(c->producer, c->offsets, c->group, c->timeout_ms);
}

/* Waits for the end of the call, for that long at most. Sets the error that it returned, or NULL.
 */
static bool has_ended(const struct sp_offsets_call *c, int64_t most_ms, void **ret_error)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + most_ms % 1000 * 1000000;
    until.tv_sec += most_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return pthread_clockjoin_np(c->thread, ret_error, CLOCK_MONOTONIC, &until) == 0;
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
    if (pthread_create(&c->thread, NULL, call, c) != 0) {
        free_call(c);
        return sp_failure_note(&w->failure, SP_BUSY, "offsets", "no thread could be started");
    }
    bool ended = false;
    void *error = NULL;
    int64_t until_ms = sp_clock_ms() + c->timeout_ms;
    for (int64_t now_ms; !ended && (now_ms = sp_clock_ms()) < until_ms;) {
        int64_t stop_ms = now_ms + sp_worker_timeout_ms(w);
        until_ms = stop_ms < until_ms ? stop_ms : until_ms;
        ended = has_ended(c, until_ms - now_ms < WAIT_MS ? until_ms - now_ms : WAIT_MS, &error);
        sp_worker_alive(w);
    }
    if (!ended) {
        w->offsets_call = c;
        return sp_failure_note_cause(&w->failure, SP_ABORT_TIMEOUT, "offsets",
                                     "the coordinator of the consumer group does not reply; see "
                                     "whether the broker that it is on is up");
    }
    free_call(c);
    return sp_failure_check(&w->failure, w->producer, error, "offsets");
}

static void drop(struct sp_offsets_call *c, rd_kafka_error_t *error)
{
    if (error)
        rd_kafka_error_destroy(error);
    free_call(c);
}

static void *close_after(void *arg)
{
    struct sp_offsets_call *c = arg;
    rd_kafka_t *producer = c->producer;
    void *error;
    pthread_join(c->thread, &error);
    drop(c, error);
    rd_kafka_destroy(producer);
    return NULL;
}

bool sp_offsets_leave(struct sp_worker *w)
{
    struct sp_offsets_call *c = w->offsets_call;
    pthread_t thread;
    void *error;
    if (!c)
        return false;
    w->offsets_call = NULL;
    if (pthread_tryjoin_np(c->thread, &error) == 0) {
        drop(c, error);
        return false;
    }
    rd_kafka_set_log_level(c->producer, LOG_EMERG); /* it may log after the stage has ended */
    if (pthread_create(&thread, NULL, close_after, c) == 0)
        pthread_detach(thread);
    return true;
}

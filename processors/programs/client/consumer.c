/* See consumer.h. */
#include "client/consumer.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* False: to be asked again. A topic that was just created may have no leader that is known to
 * clients. */
static bool is_final(rd_kafka_resp_err_t code)
{
    return code != RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION &&
           code != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE &&
           code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

/* Unlike rd_kafka_query_watermark_offsets of librdkafka 2.0, the call ends after that time if a
 * broker does not reply. */
static rd_kafka_resp_err_t ask_ends(rd_kafka_t *consumer, rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset = RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(consumer, list, SP_CONSUMER_ASK_MS);
    for (int i = 0; i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
        code = list->elems[i].err;
    return code;
}

static rd_kafka_resp_err_t find_ends(rd_kafka_t *consumer, rd_kafka_topic_partition_list_t *list)
{
    enum { PAUSE_US = 100000, TRIES = 50 };
    rd_kafka_resp_err_t code = ask_ends(consumer, list);
    for (int i = 1; i < TRIES && !is_final(code); i++) {
        usleep(PAUSE_US);
        code = ask_ends(consumer, list);
    }
    return code;
}

rd_kafka_resp_err_t sp_consumer_assign_all(rd_kafka_t *consumer,
                                           rd_kafka_topic_partition_list_t *list, const char *topic,
                                           int32_t partitions, bool end)
{
    for (int32_t p = 0; p < partitions; p++)
        rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_resp_err_t code = end ? find_ends(consumer, list) : RD_KAFKA_RESP_ERR_NO_ERROR;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_assign(consumer, list) : code;
}

rd_kafka_resp_err_t sp_consumer_commit(rd_kafka_t *consumer,
                                       const rd_kafka_topic_partition_list_t *offsets)
{
    rd_kafka_queue_t *replies = rd_kafka_queue_new(consumer);
    rd_kafka_resp_err_t code = rd_kafka_commit_queue(consumer, offsets, replies, NULL, NULL);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_event_t *reply = rd_kafka_queue_poll(replies, SP_CONSUMER_COMMIT_MS);
        code = reply ? rd_kafka_event_error(reply) : RD_KAFKA_RESP_ERR__TIMED_OUT;
        rd_kafka_event_destroy(reply);
    }
    rd_kafka_queue_destroy(replies);
    return code;
}

/* Everything that comes while the consumer closes. rd_kafka_queue_poll_callback would end the
 * process at a message. */
static void pass(rd_kafka_t *consumer, rd_kafka_event_t *event)
{
    if (rd_kafka_event_type(event) != RD_KAFKA_EVENT_REBALANCE)
        return;
    if (strcmp(rd_kafka_rebalance_protocol(consumer), "COOPERATIVE") == 0)
        rd_kafka_error_destroy(
            rd_kafka_incremental_unassign(consumer, rd_kafka_event_topic_partition_list(event)));
    else
        rd_kafka_assign(consumer, NULL);
}

static void *destroy(void *consumer)
{
    rd_kafka_destroy_flags(consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    return NULL;
}

/* Its threads end when the last request has timed out (socket.timeout.ms), and nobody waits for
 * that. */
static void leave_behind(rd_kafka_t *consumer)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, destroy, consumer) == 0)
        pthread_detach(thread);
    else
        destroy(consumer);
}

void sp_consumer_close(rd_kafka_t *consumer)
{
    enum { SLICE_MS = 100 };
    rd_kafka_queue_t *queue = rd_kafka_queue_new(consumer);
    rd_kafka_error_t *error = rd_kafka_consumer_close_queue(consumer, queue);
    int64_t end_ms = sp_clock_ms() + SP_CONSUMER_CLOSE_MS;
    while (!error && !rd_kafka_consumer_closed(consumer) && sp_clock_ms() < end_ms) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, SLICE_MS);
        pass(consumer, event);
        rd_kafka_event_destroy(event);
    }
    bool closed = rd_kafka_consumer_closed(consumer);
    rd_kafka_error_destroy(error);
    rd_kafka_queue_destroy(queue);
    if (closed)
        rd_kafka_destroy(consumer);
    else
        leave_behind(consumer);
}

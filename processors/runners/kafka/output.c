/* Gives messages to librdkafka. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "kafka/internal.h"

/* A retry would fail again, and leaving the message out would lose it: the stage ends. */
void sp_output_too_large(struct sp_worker *w, enum sp_topic topic, size_t bytes)
{
    char text[256];
    snprintf(text, sizeof text,
             "a message of %zu bytes is larger than kafka.message.max.bytes or the topic's "
             "max.message.bytes; set both above that and start again",
             bytes);
    sp_failure_note(&w->failure, SP_INVALID, w->topics[topic], text);
}

/* The message is one of many that were sent together, and may be small. */
void sp_output_batch_too_large(struct sp_worker *w, enum sp_topic topic, size_t bytes)
{
    char text[400];
    snprintf(text, sizeof text,
             "a message of %zu bytes was refused with its batch: the topic's max.message.bytes is "
             "less than the batches of this stage, which have up to %" PRIu64
             " bytes (kafka.batch.size); raise it to kafka.message.max.bytes (%" PRIu64
             "), see `samepage topics check`, and start again",
             bytes, w->batch_bytes, w->message_bytes);
    sp_failure_note(&w->failure, SP_INVALID, w->topics[topic], text);
}

/* Waits until the producer's queue has room, as long as any request to the broker may take, and
 * reports that the worker is alive. Batches that are not full have to be sent, too. Notes any other
 * error. */
static void wait_for_room(struct sp_worker *w, enum sp_topic topic, rd_kafka_resp_err_t code,
                          int64_t start_ms)
{
    enum { WAIT_MS = 100 };
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL || !sp_worker_left_ms(w, start_ms)) {
        sp_failure_note_kafka(&w->failure, w->producer, code, w->topics[topic],
                              rd_kafka_err2str(code));
        return;
    }
    sp_worker_alive(w);
    rd_kafka_flush(w->producer, WAIT_MS);
}

enum sp_err sp_output_try(struct sp_worker *w, const struct sp_outgoing *o)
{
    size_t bytes = o->key.len + o->value.len;
    int64_t start_ms = 0;
    struct sp_outlet *outlet = &w->outlets[o->topic][o->partition];
    while (w->failure.err == SP_OK) {
        rd_kafka_headers_t *copy = o->headers ? rd_kafka_headers_copy(o->headers) : NULL;
        rd_kafka_resp_err_t code = rd_kafka_producev(
            w->producer, RD_KAFKA_V_RKT(w->known[o->topic]), RD_KAFKA_V_PARTITION(o->partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(o->key.data, o->key.len),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)o->value.data, o->value.len),
            RD_KAFKA_V_OPAQUE(outlet), RD_KAFKA_V_HEADERS(copy), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            outlet->bytes += bytes;
            outlet->messages++;
            return SP_OK;
        }
        if (copy)
            rd_kafka_headers_destroy(copy);
        if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
            return SP_TOO_LARGE;
        start_ms = start_ms ? start_ms : sp_clock_ms();
        wait_for_room(w, o->topic, code, start_ms);
    }
    return w->failure.err;
}

void sp_output_give(struct sp_worker *w, const struct sp_outgoing *o)
{
    if (sp_output_try(w, o) == SP_TOO_LARGE)
        sp_output_too_large(w, o->topic, o->key.len + o->value.len);
}

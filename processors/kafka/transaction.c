/* One transaction: what the stages say, their changelogs with a marker each, and the offsets. The
 * local databases follow only after the commit (task.h). A commit whose outcome is not known is not
 * applied: the round ends, and the restore of the next one finds out. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kafka/internal.h"

/* ---- output ---- */

static void produce(struct sp_worker *w, const char *topic, int32_t partition, struct sp_view key,
                    struct sp_view value, rd_kafka_headers_t *headers, void *opaque)
{
    for (int attempt = 0; w->err == SP_OK; attempt++) {
        rd_kafka_headers_t *copy = headers ? rd_kafka_headers_copy(headers) : NULL;
        rd_kafka_resp_err_t code = rd_kafka_producev(
            w->producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data, key.len),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data, value.len), RD_KAFKA_V_OPAQUE(opaque),
            RD_KAFKA_V_HEADERS(copy), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            return;
        if (copy)
            rd_kafka_headers_destroy(copy);
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL || attempt > 600)
            worker_fail_kafka(w, code, topic, rd_kafka_err2str(code));
        else
            rd_kafka_poll(w->producer, 100);
    }
}

void sp_worker_emit(struct sp_worker *w, enum sp_topic topic, int32_t partition, struct sp_view key,
                    struct sp_view value)
{
    produce(w, w->topics[topic], partition, key, value, NULL, NULL);
    ADD(w, emitted, 1);
}

int32_t sp_worker_partitions(const struct sp_worker *w, enum sp_topic topic)
{
    return w->partitions[topic];
}

void transaction_dead_letter(struct sp_worker *w, const rd_kafka_message_t *m, enum sp_err err,
                             const char *why)
{
    char text[64];
    const char *topic = rd_kafka_topic_name(m->rkt);
    rd_kafka_headers_t *headers = rd_kafka_headers_new(6);
    rd_kafka_header_add(headers, "reason", -1, sp_err_name(err), -1);
    rd_kafka_header_add(headers, "detail", -1, why ? why : sp_err_text(err), -1);
    rd_kafka_header_add(headers, "topic", -1, topic, -1);
    snprintf(text, sizeof text, "%d", (int)m->partition);
    rd_kafka_header_add(headers, "partition", -1, text, -1);
    snprintf(text, sizeof text, "%" PRId64, m->offset);
    rd_kafka_header_add(headers, "offset", -1, text, -1);
    rd_kafka_header_add(headers, "stage", -1, w->options->stage.name, -1);
    produce(w, w->topics[SP_TOPIC_DEAD_LETTER], m->partition % w->partitions[SP_TOPIC_DEAD_LETTER],
            sp_view(m->key, m->key_len), sp_view(m->payload, m->len), headers, NULL);
    rd_kafka_headers_destroy(headers);
    ADD(w, dead_letters, 1);
    ADD(w, errors, 1);
}

void transaction_delivered(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg)
{
    struct sp_worker *w = arg;
    struct sp_task *marker_of = m->_private;
    (void)handle;
    if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        worker_fail_kafka(w, m->err, "a message was not delivered", rd_kafka_err2str(m->err));
    else if (marker_of)
        marker_of->marker_offset = m->offset;
}

/* ---- transactions ---- */

enum sp_err worker_check(struct sp_worker *w, rd_kafka_error_t *error, const char *what)
{
    if (!error)
        return SP_OK;
    worker_fail_kafka(w, rd_kafka_error_code(error), what, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return w->err;
}

enum sp_err transaction_begin(struct sp_worker *w)
{
    if (w->open)
        return SP_OK;
    w->open = worker_check(w, rd_kafka_begin_transaction(w->producer), "begin") == SP_OK;
    w->opened_ms = sp_clock_ms();
    w->handled = 0;
    return w->err;
}

void transaction_abort(struct sp_worker *w)
{
    if (!w->open)
        return;
    worker_alive(w);
    rd_kafka_error_t *error = rd_kafka_abort_transaction(w->producer, worker_timeout_ms(w));
    if (error)
        rd_kafka_error_destroy(error); /* fenced, or the broker is away: it expires by itself */
    w->open = false;
    ADD(w, aborts[w->cause], 1);
}

struct changelog {
    struct sp_worker *w;
    struct sp_task *task;
    uint64_t records;
};

static void on_write(void *arg, struct sp_view key, struct sp_view value, bool deleted)
{
    struct changelog *c = arg;
    produce(c->w, c->w->topics[c->w->options->stage.changelog], c->task->partition, key,
            deleted ? sp_view(NULL, 0) : value, NULL, NULL);
    c->records++;
}

/* The stage's changes and the marker. */
static enum sp_err write_changelog(struct sp_worker *w, struct sp_task *t)
{
    struct changelog c = {w, t, 0};
    if (w->options->stage.upkeep)
        t->upkept = w->options->stage.upkeep(t->stage);
    enum sp_err err = w->options->stage.flush(t->stage);
    if (err != SP_OK)
        return worker_fail(w, err, "the stage cannot write its state", sp_db_message(t->db));
    sp_db_each_write(t->db, on_write, &c);
    struct sp_buf marker = {0};
    sp_marker_put(&marker, t->handled_next, t->batch + 1);
    t->marker_offset = -1;
    produce(w, w->topics[w->options->stage.changelog], t->partition, sp_view("", 0),
            sp_buf_view(&marker), NULL, t);
    sp_buf_done(&marker);
    ADD(w, changelog_records, c.records + 1);
    return w->err;
}

static bool may_commit(struct sp_worker *w)
{
    char *member = rd_kafka_memberid(w->consumer);
    bool good = member && member[0] && !rd_kafka_assignment_lost(w->consumer);
    if (member)
        rd_kafka_mem_free(w->consumer, member);
    if (!good)
        worker_fail_for(w, SP_ABORT_REBALANCE, "commit", "the partitions are not ours any more");
    return good;
}

/* Without an answer nobody knows whether it is committed, and asking again might only time out
 * again: the next round finds out. */
static enum sp_err end_transaction(struct sp_worker *w)
{
    rd_kafka_error_t *error = rd_kafka_commit_transaction(w->producer, worker_timeout_ms(w));
    if (error && rd_kafka_error_is_retriable(error))
        worker_fail_for(w, SP_ABORT_UNKNOWN_OUTCOME, "commit", rd_kafka_error_string(error));
    return worker_check(w, error, "commit");
}

static enum sp_err commit_offsets(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(8);
    for (int32_t p = 0; p < w->partitions[stage->input]; p++)
        if (w->tasks[p] && w->tasks[p]->handled_next >= 0)
            rd_kafka_topic_partition_list_add(offsets, w->topics[stage->input], p)->offset =
                w->tasks[p]->handled_next;
    rd_kafka_consumer_group_metadata_t *metadata = rd_kafka_consumer_group_metadata(w->consumer);
    /* Messages may have waited long for their broker. Who left the group meanwhile has no member
     * id, and the broker takes offsets of nobody without a question. Asked after the metadata are
     * taken: they are a member's, if old ones, which the broker refuses, or we hear of it here. */
    if (may_commit(w))
        worker_check(w,
                     rd_kafka_send_offsets_to_transaction(w->producer, offsets, metadata,
                                                          worker_timeout_ms(w)),
                     "offsets");
    rd_kafka_consumer_group_metadata_destroy(metadata);
    rd_kafka_topic_partition_list_destroy(offsets);
    worker_alive(w);
    return w->err == SP_OK ? end_transaction(w) : w->err;
}

/* After the commit: the local database follows. */
static enum sp_err apply(struct sp_worker *w, struct sp_task *t)
{
    t->input_next = t->handled_next;
    t->handled_next = -1;
    if (!w->options->stage.stateful)
        return SP_OK;
    t->batch++;
    t->changelog_next = t->marker_offset + 1;
    sp_task_save(t);
    enum sp_err err = sp_db_commit(t->db);
    return err == SP_OK ? SP_OK : worker_fail(w, err, "local state", sp_db_message(t->db));
}

enum sp_err transaction_commit(struct sp_worker *w)
{
    if (!w->open || w->err != SP_OK || !may_commit(w))
        return w->err;
    int64_t start = sp_clock_ms();
    int32_t count = w->partitions[w->options->stage.input];
    for (int32_t p = 0; p < count && w->err == SP_OK; p++)
        if (w->tasks[p] && w->tasks[p]->handled_next >= 0 && w->options->stage.stateful)
            write_changelog(w, w->tasks[p]);
    if (w->err == SP_OK &&
        rd_kafka_flush(w->producer, worker_timeout_ms(w)) != RD_KAFKA_RESP_ERR_NO_ERROR)
        worker_fail_for(w, SP_ABORT_TIMEOUT, "commit", "messages could not be delivered in time");
    worker_alive(w);
    if (w->err != SP_OK || commit_offsets(w) != SP_OK)
        return w->err;
    w->open = false;
    for (int32_t p = 0; p < count && w->err == SP_OK; p++)
        if (w->tasks[p] && w->tasks[p]->handled_next >= 0)
            apply(w, w->tasks[p]);
    ADD(w, commits, 1);
    ADD(w, commit_microseconds, (uint64_t)(sp_clock_ms() - start) * 1000);
    return w->err;
}

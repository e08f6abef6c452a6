/* One transaction: the stage's output, its changelogs with a marker each, and the offsets. The
 * local databases follow only after the commit (task.h). A commit whose outcome is unknown is not
 * applied: the round ends, and the restore of the next one finds out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kafka/internal.h"

/* ---- output ---- */

enum { DEAD_VALUE_BYTES = 64 << 10, DEAD_KEY_BYTES = 4 << 10, DEAD_DETAIL_BYTES = 1000 };

/* Returns SP_TOO_LARGE if the topic does not accept it; then nothing is sent. */
static enum sp_err produce(struct sp_worker *w, const struct sp_outgoing *o)
{
    size_t bytes = o->key.len + o->value.len;
    if (w->earlier->limits[o->topic] && bytes > w->earlier->limits[o->topic])
        return SP_TOO_LARGE;
    if (sp_waiting_put(w, o, &w->outlets[o->topic][o->partition]))
        return w->failure.err;
    if (w->waits)
        sp_waiting_end(w);
    return sp_output_try(w, o);
}

/* Produces what cannot be left out. */
static void produce_surely(struct sp_worker *w, const struct sp_outgoing *o)
{
    if (produce(w, o) == SP_TOO_LARGE)
        sp_output_too_large(w, o->topic, o->key.len + o->value.len);
}

void sp_worker_emit(struct sp_worker *w, enum sp_topic topic, int32_t partition, struct sp_view key,
                    struct sp_view value)
{
    struct sp_outgoing o = {.topic = topic, .partition = partition, .key = key, .value = value};
    enum sp_err err = produce(w, &o);
    if (err == SP_TOO_LARGE && !w->options->stage.stateful) {
        /* The message that it was made from becomes a dead letter. */
        w->too_large = key.len + value.len;
        return;
    }
    if (err == SP_TOO_LARGE)
        sp_output_too_large(w, topic, key.len + value.len);
    ADD(w, emitted, 1);
    ADD(w, emitted_bytes, key.len + value.len);
    if (topic == SP_TOPIC_CONTAIN)
        ADD(w, contain_notes, 1);
    if (value.len > w->options->metrics->largest_message_bytes)
        SET(w, largest_message_bytes, value.len);
}

void sp_worker_count(struct sp_worker *w, enum sp_message_kind kind)
{
    ADD(w, messages[kind], 1);
}

int32_t sp_worker_partitions(const struct sp_worker *w, enum sp_topic topic)
{
    return w->partitions[topic];
}

static void add_header(rd_kafka_headers_t *headers, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    rd_kafka_header_add(headers, name, -1, text, -1);
}

static struct sp_view piece(const void *data, size_t len, size_t most)
{
    return sp_view(data, len < most ? len : most);
}

/* The first one, and those of which there have been twice as many: a broken writer could send
 * nothing else. */
static void say_dead_letter(struct sp_worker *w, const rd_kafka_message_t *m, const char *reason,
                            const char *detail)
{
    uint64_t count = w->options->metrics->dead_letters;
    if ((count & (count - 1)) == 0)
        sp_worker_say(w, "warning",
                      "%s [%d], offset %" PRId64 ": cannot be read: %s: %.1000s; the message is in "
                      "%s (%" PRIu64 " so far)",
                      w->topics[w->options->stage.input], (int)m->partition, m->offset, reason,
                      detail, w->topics[SP_TOPIC_DEAD_LETTER], count);
}

/* A dead letter is bounded, so that any message can become one: it has the beginning of the
 * message, and where all of it is. */
void sp_transaction_dead_letter(struct sp_worker *w, const rd_kafka_message_t *m, enum sp_err err,
                                const char *why)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(7);
    const char *detail = why ? why : sp_err_text(err);
    rd_kafka_header_add(headers, "reason", -1, sp_err_name(err), -1);
    rd_kafka_header_add(headers, "detail", -1, detail, (ssize_t)strnlen(detail, DEAD_DETAIL_BYTES));
    rd_kafka_header_add(headers, "topic", -1, rd_kafka_topic_name(m->rkt), -1);
    add_header(headers, "partition", m->partition);
    add_header(headers, "offset", m->offset);
    add_header(headers, "bytes", (int64_t)m->len);
    rd_kafka_header_add(headers, "stage", -1, w->options->stage.name, -1);
    struct sp_outgoing o = {.topic = SP_TOPIC_DEAD_LETTER,
                            .partition = m->partition % w->partitions[SP_TOPIC_DEAD_LETTER],
                            .key = piece(m->key, m->key_len, DEAD_KEY_BYTES),
                            .value = piece(m->payload, m->len, DEAD_VALUE_BYTES),
                            .headers = headers};
    produce_surely(w, &o);
    rd_kafka_headers_destroy(headers);
    ADD(w, dead_letters, 1);
    ADD(w, errors, 1);
    say_dead_letter(w, m, sp_err_name(err), detail);
}

void sp_transaction_open_outlets(struct sp_worker *w)
{
    for (int topic = 0; topic < SP_TOPICS; topic++) {
        if (w->partitions[topic] > 0)
            w->outlets[topic] = sp_calloc((size_t)w->partitions[topic], sizeof *w->outlets[topic]);
        for (int32_t p = 0; p < w->partitions[topic]; p++)
            w->outlets[topic][p] = (struct sp_outlet){.topic = (enum sp_topic)topic, .last = -1};
    }
    w->batch_bytes = sp_kafka_number(w->producer, "batch.size");
    w->batch_messages = sp_kafka_number(w->producer, "batch.num.messages");
    w->message_bytes = sp_kafka_number(w->producer, "message.max.bytes");
}

/* The broker's limit applies to batches. A batch of more than that is a single message, so the
 * topic's limit is below its size, which the next round takes into account. In a stage without
 * state the message that caused it becomes a dead letter. */
static void on_too_large(struct sp_worker *w, enum sp_topic topic, const rd_kafka_message_t *m)
{
    size_t bytes = m->key_len + m->len;
    if (bytes <= w->batch_bytes) {
        sp_output_batch_too_large(w, topic, bytes);
        return;
    }
    if (w->options->stage.stateful || topic == SP_TOPIC_DEAD_LETTER) {
        sp_output_too_large(w, topic, bytes);
        return;
    }
    w->earlier->limits[topic] = bytes - 1;
    sp_failure_note_kafka(
        &w->failure, NULL, m->err, w->topics[topic],
        "a message is too large for the topic: the message that led to it becomes a dead letter");
}

static const char *why_not(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP
               ? "the clock of this machine is further from the broker's than the topic's "
                 "message.timestamp.after.max.ms or message.timestamp.before.max.ms allows: set the "
                 "clocks"
               : rd_kafka_err2str(code);
}

static void note_offset(struct sp_worker *w, struct sp_outlet *outlet, int64_t offset)
{
    outlet->delivered++;
    if (offset > outlet->last)
        outlet->last = offset;
    else if (offset >= 0)
        sp_remade_doubt(w, outlet->topic);
    outlet->unknown |= offset < 0; /* librdkafka may not know that of a batch that it sent again */
}

void sp_transaction_delivered(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg)
{
    struct sp_worker *w = arg;
    struct sp_outlet *outlet = m->_private;
    (void)handle;
    outlet->bytes -= m->key_len + m->len;
    outlet->messages--;
    if (m->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        on_too_large(w, outlet->topic, m);
    else if (m->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
             m->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
        w->transaction.purged = true; /* because of another failure, which may be reported later */
    else if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        sp_failure_note_kafka(&w->failure, w->producer, m->err, "a message was not delivered",
                              why_not(m->err));
    else
        note_offset(w, outlet, m->offset);
}

/* ---- transactions ---- */

/* Most of what a commit costs the broker and librdkafka does not depend on what is in it, and the
 * stage stands still meanwhile. So where commits are slow, transactions become longer and fewer. */
static int64_t interval_ms(const struct sp_worker *w)
{
    enum { COMMIT_TIMES = 4 };
    int64_t shortest_ms = w->options->commit_interval_ms, most_ms = w->options->commit_behind_ms;
    int64_t slow_ms = COMMIT_TIMES * w->transaction.commit_ms;
    slow_ms = slow_ms < most_ms ? slow_ms : most_ms;
    return slow_ms > shortest_ms ? slow_ms : shortest_ms;
}

enum sp_err sp_transaction_begin(struct sp_worker *w)
{
    if (w->transaction.open)
        return SP_OK;
    w->transaction.open =
        sp_failure_check(&w->failure, w->producer, rd_kafka_begin_transaction(w->producer),
                         "begin") == SP_OK;
    w->transaction.opened_ms = sp_clock_ms();
    w->transaction.due_ms = w->transaction.opened_ms + interval_ms(w);
    w->transaction.handled = w->transaction.taken = 0;
    w->transaction.purged = false;
    sp_waiting_begin(w);
    return w->failure.err;
}

void sp_transaction_abort(struct sp_worker *w)
{
    if (!w->transaction.open)
        return;
    sp_worker_alive(w);
    rd_kafka_error_t *error = rd_kafka_abort_transaction(w->producer, sp_worker_timeout_ms(w));
    if (error)
        rd_kafka_error_destroy(error); /* fenced, or the broker is away: the transaction expires */
    w->transaction.open = false;
    ADD(w, aborts[w->failure.cause], 1);
}

struct changelog {
    struct sp_worker *w;
    struct sp_task *task;
    uint64_t records;
};

static void on_write(void *arg, struct sp_view key, struct sp_view value, bool deleted)
{
    struct changelog *c = arg;
    struct sp_outgoing o = {.topic = c->w->options->stage.changelog,
                            .partition = c->task->partition,
                            .key = key,
                            .value = deleted ? sp_view(NULL, 0) : value};
    produce_surely(c->w, &o);
    c->records++;
}

/* Writes the stage's changes and the marker. */
static enum sp_err write_changelog(struct sp_worker *w, struct sp_task *t)
{
    struct changelog c = {w, t, 0};
    enum sp_err err = w->options->stage.flush(t->stage);
    if (err != SP_OK)
        return sp_damage_note(w, t, err, "the stage cannot write its state", sp_err_text(err));
    sp_db_each_write(t->db, on_write, &c);
    struct sp_buf marker = {0};
    sp_task_live(t);
    sp_marker_put(&marker, &(struct sp_marker){t->handled_next, t->batch + 1, t->life});
    struct sp_outgoing o = {.topic = w->options->stage.changelog,
                            .partition = t->partition,
                            .key = sp_view("", 0),
                            .value = sp_buf_view(&marker)};
    produce_surely(w, &o);
    sp_buf_done(&marker);
    ADD(w, changelog_records, c.records + 1);
    return w->failure.err;
}

/* Those that may have work that no message causes; at least 1. */
static uint32_t count_unpaid(const struct sp_worker *w)
{
    uint32_t count = 0;
    for (int32_t p = 0; p < w->partitions[w->options->stage.input]; p++)
        count += w->tasks[p] && !w->tasks[p]->paid;
    return count ? count : 1;
}

/* Work that no message causes, and the messages that it sends to partitions of this instance. */
static void finish_steps(struct sp_worker *w)
{
    bool idle = w->transaction.handled == 0;
    uint32_t sharers = count_unpaid(w);
    for (int32_t p = 0; p < w->partitions[w->options->stage.input]; p++) {
        struct sp_task *t = w->tasks[p];
        if (w->options->stage.upkeep && t && t->handled_next >= 0)
            t->paid = t->upkept = w->options->stage.upkeep(t->stage, idle, sharers);
    }
    sp_direct_deliver(w);
    if (w->failure.err == SP_OK)
        sp_direct_post(w);
}

static bool has_full_batch(const struct sp_worker *w)
{
    for (int topic = 0; topic < SP_TOPICS; topic++)
        for (int32_t p = 0; w->outlets[topic] && p < w->partitions[topic]; p++)
            if (w->outlets[topic][p].bytes >= w->batch_bytes ||
                w->outlets[topic][p].messages >= w->batch_messages)
                return true;
    return false;
}

/* Sends what is queued. librdkafka 2.0 has one request of a partition on its way at a time. While
 * rd_kafka_flush waits and more is queued for that partition, the thread that sends polls its
 * socket without a pause: that was a sixth of a stage's processor time. So full batches, which are
 * sent without a flush, are waited for first, and the flush sends at most one more request of each
 * partition. */
static void deliver_all(struct sp_worker *w)
{
    enum { WAIT_MS = 100, FLUSH_MS = 1000 };
    sp_waiting_end(w);
    const int64_t start_ms = sp_clock_ms();
    while (w->failure.err == SP_OK && sp_worker_left_ms(w, start_ms) && has_full_batch(w)) {
        sp_worker_alive(w);
        rd_kafka_poll(w->producer, WAIT_MS);
    }
    bool delivered = false;
    for (int left_ms = 1; w->failure.err == SP_OK && !delivered && left_ms;) {
        left_ms = sp_worker_left_ms(w, start_ms);
        sp_worker_alive(w);
        delivered = rd_kafka_flush(w->producer, left_ms < FLUSH_MS ? left_ms : FLUSH_MS) ==
                    RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    if (w->failure.err == SP_OK && !delivered)
        sp_failure_note_cause(&w->failure, SP_ABORT_TIMEOUT, "commit",
                              "messages could not be delivered in time: " SP_KAFKA_UNDELIVERED);
    sp_worker_alive(w);
}

static bool may_commit(struct sp_worker *w)
{
    char *member = rd_kafka_memberid(w->consumer);
    bool good = member && member[0] && !rd_kafka_assignment_lost(w->consumer);
    if (member)
        rd_kafka_mem_free(w->consumer, member);
    if (!good)
        sp_failure_note_cause(&w->failure, SP_ABORT_REBALANCE, "commit",
                              "the partitions were assigned to another instance");
    return good;
}

/* Without a reply it is unknown whether the transaction was committed, and another attempt could
 * time out as well. The next round finds out from the changelog. */
static enum sp_err end_transaction(struct sp_worker *w)
{
    rd_kafka_error_t *error = rd_kafka_commit_transaction(w->producer, sp_worker_timeout_ms(w));
    if (error && rd_kafka_error_is_retriable(error))
        sp_failure_note_cause(&w->failure, SP_ABORT_UNKNOWN_OUTCOME, "commit",
                              rd_kafka_error_string(error));
    return sp_failure_check(&w->failure, w->producer, error, "commit");
}

static enum sp_err commit_offsets(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(8);
    for (int32_t p = 0; p < w->partitions[stage->input]; p++) {
        if (!w->tasks[p] || w->tasks[p]->handled_next < 0)
            continue;
        rd_kafka_topic_partition_t *next =
            rd_kafka_topic_partition_list_add(offsets, w->topics[stage->input], p);
        next->offset = w->tasks[p]->handled_next;
        sp_agreement_note(&w->agreement, next);
    }
    rd_kafka_consumer_group_metadata_t *metadata = rd_kafka_consumer_group_metadata(w->consumer);
    /* Messages may have waited long for their broker, and the worker may have left the group
     * meanwhile. It then has no member id, and the broker accepts offsets without a member id
     * unchecked. So may_commit is asked after the metadata were taken: either they are those of a
     * member, and the broker refuses them if they are old, or may_commit notices. */
    if (may_commit(w)) {
        sp_offsets_send(w, offsets, metadata);
    } else {
        rd_kafka_consumer_group_metadata_destroy(metadata);
        rd_kafka_topic_partition_list_destroy(offsets);
    }
    return w->failure.err == SP_OK ? end_transaction(w) : w->failure.err;
}

/* Applies the committed changes to the local database. */
static enum sp_err apply(struct sp_worker *w, struct sp_task *t)
{
    t->input_next = t->handled_next;
    t->handled_next = -1;
    if (!w->options->stage.stateful)
        return SP_OK;
    t->batch++;
    t->changelog_next = w->outlets[w->options->stage.changelog][t->partition].last + 1; /* marker */
    sp_task_save(t);
    enum sp_err err = sp_db_commit(t->db);
    return err == SP_OK ? SP_OK : sp_damage_note(w, t, err, "local state", sp_db_message(t->db));
}

enum sp_err sp_transaction_commit(struct sp_worker *w)
{
    if (!w->transaction.open || w->failure.err != SP_OK || sp_agreed_tiers(w) != SP_OK ||
        !may_commit(w))
        return w->failure.err;
    int64_t start_us = sp_clock_us();
    int32_t count = w->partitions[w->options->stage.input];
    finish_steps(w);
    int64_t finished_ms = sp_clock_ms();
    for (int32_t p = 0; p < count && w->failure.err == SP_OK; p++)
        if (w->tasks[p] && w->tasks[p]->handled_next >= 0 && w->options->stage.stateful)
            write_changelog(w, w->tasks[p]);
    /* Before the offsets: an instance that takes over restores up to the end that the changelog has
     * after the rebalance. The broker accepts offsets only before a rebalance, so if it accepts
     * them, all of this transaction lies before that end, and the restore waits for its outcome. */
    if (w->failure.err == SP_OK)
        deliver_all(w);
    if (w->failure.err == SP_OK && w->transaction.purged)
        sp_failure_note_kafka(&w->failure, w->producer, RD_KAFKA_RESP_ERR__PURGE_QUEUE,
                              "a message was not delivered",
                              rd_kafka_err2str(RD_KAFKA_RESP_ERR__PURGE_QUEUE));
    if (w->failure.err != SP_OK || sp_remade_check(w) != SP_OK || commit_offsets(w) != SP_OK)
        return w->failure.err;
    w->transaction.open = false;
    for (int32_t p = 0; p < count && w->failure.err == SP_OK; p++)
        if (w->tasks[p] && w->tasks[p]->handled_next >= 0)
            apply(w, w->tasks[p]);
    w->transaction.commit_ms = sp_clock_ms() - finished_ms;
    ADD(w, commits, 1);
    ADD(w, commit_microseconds, (uint64_t)(sp_clock_us() - start_us));
    return w->failure.err;
}

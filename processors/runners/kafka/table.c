/* See table.h. */
#include "kafka/table.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

enum { POLL_MS = 200, SILENCE_MS = 30000, FLUSH_MS = 60000, WAIT_MS = 50 };

/* ---- in memory ---- */

void sp_topic_table_done(struct sp_topic_table *t)
{
    for (size_t i = 0; i < t->rows.cap; i++) {
        struct sp_topic_row *row = t->rows.cells[i].object;
        if (!row)
            continue;
        sp_free(row->key);
        sp_free(row->value);
        sp_free(row);
    }
    sp_map_done(&t->rows);
}

void sp_topic_table_put(struct sp_topic_table *t, struct sp_view key, struct sp_view value)
{
    struct sp_id id = sp_hash128(key.data, key.len);
    struct sp_topic_row *row = sp_map_get(&t->rows, id);
    if (!row) {
        row = sp_calloc(1, sizeof *row);
        row->id = id;
        row->key = sp_view_dup(key);
        sp_map_add(&t->rows, row);
    }
    sp_free(row->value);
    row->value = value.data ? sp_view_dup(value) : NULL;
}

/* ---- from the topic ---- */

static enum sp_err read_all(rd_kafka_t *reader, int32_t partitions, struct sp_topic_table *t,
                            struct sp_fault *fault)
{
    int64_t heard_ms = sp_clock_ms();
    for (int32_t ended = 0; ended < partitions;) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, POLL_MS);
        if (!m && sp_clock_ms() - heard_ms > SILENCE_MS)
            return sp_kafka_no_reply(reader, fault);
        if (!m)
            continue;
        heard_ms = sp_clock_ms();
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            sp_topic_table_put(t, sp_view(m->key, m->key_len), sp_view(m->payload, m->len));
        else
            ended += m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        rd_kafka_message_destroy(m);
    }
    return SP_OK;
}

static enum sp_err find_topic(rd_kafka_t *handle, const char *name, int32_t *ret_partitions,
                              struct sp_fault *fault)
{
    enum sp_err err = sp_kafka_partitions(handle, name, ret_partitions);
    if (err == SP_NOT_FOUND)
        return sp_fault_set(fault, SP_INVALID,
                            "there is no topic %s; `samepage topics create` creates it", name);
    return err == SP_OK ? SP_OK : sp_kafka_no_reply(handle, fault);
}

enum sp_err sp_topic_table_read(const struct sp_kafka_options *options, enum sp_topic topic,
                                struct sp_topic_table *t, struct sp_fault *fault)
{
    char name[SP_TOPIC_NAME_MAX];
    rd_kafka_t *reader = NULL;
    int32_t partitions = 0;
    sp_topic_name(options, topic, name);
    enum sp_err err = sp_kafka_open(options, SP_KAFKA_READER, NULL, NULL, NULL, &reader, fault);
    if (err != SP_OK)
        return err;
    err = sp_kafka_reach(options, reader, fault);
    if (err == SP_OK)
        err = find_topic(reader, name, &partitions, fault);
    if (err == SP_OK) {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
        for (int32_t p = 0; p < partitions; p++)
            rd_kafka_topic_partition_list_add(list, name, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
        rd_kafka_assign(reader, list);
        rd_kafka_topic_partition_list_destroy(list);
        err = read_all(reader, partitions, t, fault);
    }
    rd_kafka_consumer_close(reader);
    rd_kafka_destroy(reader);
    return err;
}

/* ---- to the topic ---- */

struct writing {
    rd_kafka_t *producer;
    char topic[SP_TOPIC_NAME_MAX];
    rd_kafka_resp_err_t failed; /* the first delivery that did */
};

static void on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *m, void *arg)
{
    struct writing *w = arg;
    (void)producer;
    if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR && w->failed == RD_KAFKA_RESP_ERR_NO_ERROR)
        w->failed = m->err;
}

static void configure(rd_kafka_conf_t *conf, void *arg)
{
    rd_kafka_conf_set_opaque(conf, arg);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
}

static void produce(struct writing *w, const struct sp_topic_row *row, const char *value)
{
    for (;;) {
        rd_kafka_resp_err_t code = rd_kafka_producev(
            w->producer, RD_KAFKA_V_TOPIC(w->topic), RD_KAFKA_V_PARTITION(0),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(row->key, strlen(row->key)),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)value, value ? strlen(value) : 0), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            rd_kafka_poll(w->producer, WAIT_MS);
            continue;
        }
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR && w->failed == RD_KAFKA_RESP_ERR_NO_ERROR)
            w->failed = code;
        return;
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct sp_topic_row *const *)a)->key, (*(struct sp_topic_row *const *)b)->key);
}

/* The caller frees the array. */
static struct sp_topic_row **sorted(const struct sp_topic_table *t)
{
    struct sp_topic_row **rows = sp_alloc((t->rows.count + 1) * sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < t->rows.cap; i++)
        if (t->rows.cells[i].object)
            rows[count++] = t->rows.cells[i].object;
    qsort(rows, count, sizeof *rows, by_key);
    return rows;
}

static const char *value_in(const struct sp_topic_table *t, struct sp_id id)
{
    const struct sp_topic_row *row = sp_map_get(&t->rows, id);
    return row ? row->value : NULL;
}

static void send_changes(struct writing *w, const struct sp_topic_table *is,
                         const struct sp_topic_table *wanted, struct sp_topic_changes *changes)
{
    struct sp_topic_row **rows = sorted(wanted);
    for (size_t i = 0; i < wanted->rows.count; i++) {
        const char *before = value_in(is, rows[i]->id);
        bool same = before && rows[i]->value && strcmp(before, rows[i]->value) == 0;
        changes->unchanged += same;
        changes->written += !same && rows[i]->value;
        if (!same && rows[i]->value)
            produce(w, rows[i], rows[i]->value);
    }
    sp_free(rows);
    rows = sorted(is);
    for (size_t i = 0; i < is->rows.count; i++) {
        if (!rows[i]->value || value_in(wanted, rows[i]->id))
            continue;
        changes->deleted++;
        produce(w, rows[i], NULL);
    }
    sp_free(rows);
}

enum sp_err sp_topic_table_write(const struct sp_kafka_options *options, enum sp_topic topic,
                                 const struct sp_topic_table *is,
                                 const struct sp_topic_table *wanted,
                                 struct sp_topic_changes *ret_changes, struct sp_fault *fault)
{
    struct writing w = {.failed = RD_KAFKA_RESP_ERR_NO_ERROR};
    struct sp_topic_changes changes = {0};
    sp_topic_name(options, topic, w.topic);
    enum sp_err err =
        sp_kafka_open(options, SP_KAFKA_PRODUCER, NULL, configure, &w, &w.producer, fault);
    if (err != SP_OK)
        return err;
    send_changes(&w, is, wanted, &changes);
    if (rd_kafka_flush(w.producer, FLUSH_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        err = sp_kafka_no_reply(w.producer, fault);
    else if (w.failed != RD_KAFKA_RESP_ERR_NO_ERROR)
        err = sp_fault_set(fault, SP_BUSY, "%s: %s", w.topic, rd_kafka_err2str(w.failed));
    rd_kafka_destroy(w.producer);
    if (err == SP_OK)
        *ret_changes = changes;
    return err;
}

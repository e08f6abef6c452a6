/* See table.h. */
#include "kafka/table.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

enum { POLL_MS = 200, SILENCE_MS = 30000, FLUSH_MS = 60000, WAIT_MS = 50 };
/* A day, which is much less than the 30 days for which brokers keep a deletion
 * (delete.retention.ms). */
enum { STALE_MS = 24 * 3600 * 1000 };

/* ---- in memory ---- */

static void free_row(void *object)
{
    struct sp_topic_row *row = object;
    if (!row)
        return;
    sp_free(row->key);
    sp_free(row->value);
    sp_free(row);
}

static void clear(struct sp_topic_table *t)
{
    sp_map_free_objects_by(&t->rows, free_row);
    t->version++;
}

void sp_topic_table_done(struct sp_topic_table *t)
{
    clear(t);
    sp_free(t->next);
    sp_free(t->last);
}

void sp_topic_table_put(struct sp_topic_table *t, struct sp_view key, struct sp_view value)
{
    struct sp_id id = sp_hash128(key.data, key.len);
    t->version++;
    if (!value.data) {
        free_row(sp_map_remove(&t->rows, id));
        return;
    }
    struct sp_topic_row *row = sp_map_get(&t->rows, id);
    if (!row) {
        row = sp_calloc(1, sizeof *row);
        row->id = id;
        row->key = sp_view_dup(key);
        sp_map_add(&t->rows, row);
    }
    sp_free(row->value);
    row->value = sp_view_dup(value);
}

/* ---- from the topic ---- */

static void start_over(struct sp_topic_table *t, int32_t partitions)
{
    clear(t);
    sp_free(t->next);
    sp_free(t->last);
    t->next = sp_calloc((size_t)partitions + 1, sizeof *t->next);
    t->last = sp_calloc((size_t)partitions + 1, sizeof *t->last);
    t->partitions = partitions;
}

/* One reading of the topic. */
struct reading {
    rd_kafka_t *reader;
    const char *name;
    struct sp_topic_table *table;
    bool *unseen; /* by partition: the record that the table ended with is still to come */
    bool *at_end; /* by partition: so far; it ends again after each record that arrives meanwhile */
    int32_t ended;
};

/* From the last records that are known, where there are any. */
static void assign(struct reading *r)
{
    const struct sp_topic_table *t = r->table;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(t->partitions);
    r->ended = 0;
    for (int32_t p = 0; p < t->partitions; p++) {
        r->unseen[p] = sp_topic_last_is_known(&t->last[p]);
        r->at_end[p] = false;
        rd_kafka_topic_partition_list_add(list, r->name, p)->offset =
            r->unseen[p] ? t->last[p].offset
            : t->next[p] ? t->next[p]
                         : RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_assign(r->reader, list);
    rd_kafka_topic_partition_list_destroy(list);
}

/* False: the topic is another one, or no longer has the record that the table ended with. */
static bool enter(struct reading *r, const rd_kafka_message_t *m)
{
    struct sp_topic_table *t = r->table;
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_timestamp_type_t type;
        struct sp_topic_last is = sp_topic_last_read(m, &type);
        struct sp_topic_last *was = &t->last[m->partition];
        if (r->unseen[m->partition]) {
            r->unseen[m->partition] = false;
            return is.offset == was->offset && sp_id_eq(is.id, was->id) &&
                   (is.time_ms == was->time_ms || type != RD_KAFKA_TIMESTAMP_CREATE_TIME);
        }
        sp_topic_table_put(t, sp_view(m->key, m->key_len), sp_view(m->payload, m->len));
        *was = is;
        t->next[m->partition] = m->offset + 1;
        t->records++;
    } else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        t->next[m->partition] = m->offset;
        r->ended += !r->at_end[m->partition];
        r->at_end[m->partition] = true;
        return !r->unseen[m->partition];
    }
    return m->err != RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET;
}

static enum sp_err read_all(struct reading *r, struct sp_fault *fault)
{
    int64_t heard_ms = sp_clock_ms();
    assign(r);
    while (r->ended < r->table->partitions) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->reader, POLL_MS);
        if (!m && sp_clock_ms() - heard_ms > SILENCE_MS)
            return sp_kafka_no_reply(r->reader, fault);
        if (!m)
            continue;
        heard_ms = sp_clock_ms();
        enum sp_err err = SP_OK;
        if (sp_kafka_is_forbidden(m->err)) {
            err = sp_kafka_replied(fault, r->name, m->err, rd_kafka_message_errstr(m));
        } else if (!enter(r, m)) {
            start_over(r->table, r->table->partitions);
            assign(r);
        }
        rd_kafka_message_destroy(m);
        if (err != SP_OK)
            return err;
    }
    r->table->read_ms = sp_clock_ms();
    return SP_OK;
}

static enum sp_err find_topic(rd_kafka_t *handle, const char *name, int32_t *ret_partitions,
                              struct sp_fault *fault)
{
    enum sp_err err = sp_kafka_find_topic(handle, name, ret_partitions, fault);
    return err == SP_NOT_FOUND ? SP_INVALID : err;
}

/* With this, an offset that no longer exists is an error: records before it may be missing in the
 * table. */
static void no_reset(rd_kafka_conf_t *conf, void *arg)
{
    (void)arg;
    rd_kafka_conf_set(conf, "auto.offset.reset", "error", NULL, 0);
}

enum sp_err sp_topic_table_read(const struct sp_kafka_options *options, enum sp_topic topic,
                                struct sp_topic_table *t, struct sp_fault *fault)
{
    char name[SP_TOPIC_NAME_MAX];
    rd_kafka_t *reader = NULL;
    int32_t partitions = 0;
    sp_topic_name(options, topic, name);
    enum sp_err err = sp_kafka_open(options, SP_KAFKA_READER, NULL, no_reset, NULL, &reader, fault);
    if (err != SP_OK)
        return err;
    err = sp_kafka_reach(options, reader, fault);
    if (err == SP_OK)
        err = find_topic(reader, name, &partitions, fault);
    if (err == SP_OK) {
        if (partitions != t->partitions || sp_clock_ms() - t->read_ms > STALE_MS)
            start_over(t, partitions);
        size_t count = (size_t)partitions + 1;
        struct reading r = {reader, name, t, sp_calloc(count, 1), sp_calloc(count, 1), 0};
        err = read_all(&r, fault);
        sp_free(r.unseen);
        sp_free(r.at_end);
    }
    rd_kafka_consumer_close(reader);
    sp_kafka_close(reader);
    return err;
}

/* ---- to the topic ---- */

struct change {
    const char *key;
    const char *value; /* NULL: a deletion */
    bool acknowledged;
    int64_t offset; /* set when acknowledged; negative: unknown */
    int64_t time_ms;
};

struct writing {
    rd_kafka_t *producer;
    char topic[SP_TOPIC_NAME_MAX];
    struct change *changes; /* in the order of keys, deletions last */
    size_t count;
    rd_kafka_resp_err_t failed; /* the first failed delivery */
};

static void on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *m, void *arg)
{
    struct writing *w = arg;
    struct change *c = m->_private;
    (void)producer;
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        c->acknowledged = true;
        c->offset = m->offset;
    } else if (w->failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
        w->failed = m->err;
    }
}

static void produce(struct writing *w, struct change *c)
{
    c->time_ms = sp_clock_wall_ms();
    for (;;) {
        rd_kafka_resp_err_t code = rd_kafka_producev(
            w->producer, RD_KAFKA_V_TOPIC(w->topic), RD_KAFKA_V_PARTITION(0),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(c->key, strlen(c->key)),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)c->value, c->value ? strlen(c->value) : 0),
            RD_KAFKA_V_TIMESTAMP(c->time_ms), RD_KAFKA_V_OPAQUE(c), RD_KAFKA_V_END);
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
    uint64_t cursor = 0;
    for (struct sp_topic_row *row; (row = sp_map_next(&t->rows, &cursor));)
        rows[count++] = row;
    qsort(rows, count, sizeof *rows, by_key);
    return rows;
}

/* The caller frees the array of changes, which refers to both tables. */
static struct sp_topic_changes plan(const struct sp_topic_table *is,
                                    const struct sp_topic_table *wanted, struct writing *w)
{
    struct sp_topic_changes changes = {0};
    w->changes = sp_alloc((is->rows.count + wanted->rows.count + 1) * sizeof *w->changes);
    struct sp_topic_row **rows = sorted(wanted);
    for (size_t i = 0; i < wanted->rows.count; i++) {
        const struct sp_topic_row *before = sp_map_get(&is->rows, rows[i]->id);
        bool same = before && strcmp(before->value, rows[i]->value) == 0;
        changes.unchanged += same;
        changes.written += !same;
        if (!same)
            w->changes[w->count++] = (struct change){rows[i]->key, rows[i]->value, false, -1, 0};
    }
    sp_free(rows);
    rows = sorted(is);
    for (size_t i = 0; i < is->rows.count; i++) {
        if (sp_map_get(&wanted->rows, rows[i]->id))
            continue;
        changes.deleted++;
        w->changes[w->count++] = (struct change){rows[i]->key, NULL, false, -1, 0};
    }
    sp_free(rows);
    return changes;
}

static enum sp_err send_all(const struct sp_kafka_options *options, struct writing *w,
                            struct sp_fault *fault)
{
    enum sp_err err = sp_kafka_open_producer(options, on_delivery, w, &w->producer, fault);
    if (err != SP_OK)
        return err;
    for (size_t i = 0; i < w->count; i++)
        produce(w, &w->changes[i]);
    if (rd_kafka_flush(w->producer, FLUSH_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        err = sp_kafka_no_reply(w->producer, fault);
    else if (w->failed != RD_KAFKA_RESP_ERR_NO_ERROR)
        err = sp_fault_set(fault, SP_BUSY, "%s: %s", w->topic, rd_kafka_err2str(w->failed));
    sp_kafka_close(w->producer);
    return err;
}

/* Enters the acknowledged changes. If another writer's record comes first, the rest is read again.
 */
static void enter_own(struct sp_topic_table *is, const struct writing *w)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct change *c = &w->changes[i];
        if (!c->acknowledged)
            continue;
        struct sp_view key = sp_view_str(c->key);
        struct sp_view value = c->value ? sp_view_str(c->value) : sp_view(NULL, 0);
        if (is->partitions > 0 && c->offset == is->next[0]) {
            is->next[0]++;
            is->last[0] = sp_topic_last_of(c->offset, c->time_ms, key, value);
        }
        sp_topic_table_put(is, key, value);
    }
}

enum sp_err sp_topic_table_write(const struct sp_kafka_options *options, enum sp_topic topic,
                                 struct sp_topic_table *is, const struct sp_topic_table *wanted,
                                 struct sp_topic_changes *ret_changes, struct sp_fault *fault)
{
    struct writing w = {.failed = RD_KAFKA_RESP_ERR_NO_ERROR};
    sp_topic_name(options, topic, w.topic);
    struct sp_topic_changes changes = plan(is, wanted, &w);
    enum sp_err err = w.count > 0 ? send_all(options, &w, fault) : SP_OK;
    enter_own(is, &w);
    sp_free(w.changes);
    if (err == SP_OK)
        *ret_changes = changes;
    return err;
}

/* See task.h. */
#include "kafka/task.h"

#include <stdio.h>
#include <time.h>

#include "base/mem.h"

enum { FORMAT = 1, MARKER_FORMAT = 1, POLL_MS = 200, STALLED_SECONDS = 120 };
static const char KEY[] = "task";

void sp_marker_put(struct sp_buf *out, int64_t input_next, uint64_t batch)
{
    sp_buf_put_u8(out, MARKER_FORMAT);
    sp_buf_put_zigzag(out, input_next);
    sp_buf_put_varint(out, batch);
}

bool sp_marker_read(struct sp_view value, int64_t *ret_input_next, uint64_t *ret_batch)
{
    struct sp_reader r = sp_reader(value);
    if (sp_read_u8(&r) != MARKER_FORMAT)
        return false;
    *ret_input_next = sp_read_zigzag(&r);
    *ret_batch = sp_read_varint(&r);
    return !r.failed && sp_reader_left(&r) == 0;
}

enum sp_err sp_task_load(struct sp_task *t)
{
    struct sp_view value;
    t->input_next = -1;
    t->changelog_next = 0;
    t->batch = 0;
    enum sp_err err =
        sp_store_get(sp_db_store(t->db, SP_TASK_STORE_META), sp_view_str(KEY), &value);
    if (err == SP_NOT_FOUND)
        return SP_OK;
    if (err != SP_OK)
        return err;
    struct sp_reader r = sp_reader(value);
    uint8_t format = sp_read_u8(&r);
    t->input_next = sp_read_zigzag(&r);
    t->changelog_next = sp_read_zigzag(&r);
    t->batch = sp_read_varint(&r);
    return r.failed || format != FORMAT ? SP_CORRUPT : SP_OK;
}

void sp_task_save(struct sp_task *t)
{
    struct sp_buf value = {0};
    sp_buf_put_u8(&value, FORMAT);
    sp_buf_put_zigzag(&value, t->input_next);
    sp_buf_put_zigzag(&value, t->changelog_next);
    sp_buf_put_varint(&value, t->batch);
    sp_store_put(sp_db_store(t->db, SP_TASK_STORE_META), sp_view_str(KEY), sp_buf_view(&value));
    sp_buf_done(&value);
}

/* ---- restore ---- */

static enum sp_err fail(const char **ret_message, enum sp_err err, const struct sp_restore *r,
                        int32_t partition, const char *what)
{
    static _Thread_local char text[512];
    snprintf(text, sizeof text, "%s [%d]: %s", r->topic, (int)partition, what);
    *ret_message = text;
    return err;
}

/* A changelog key starts with the store's number, as stored keys do. */
static void apply(struct sp_task *t, const rd_kafka_message_t *m)
{
    const uint8_t *key = m->key;
    struct sp_store *store = sp_db_store(t->db, (uint16_t)(key[0] << 8 | key[1]));
    struct sp_view name = sp_view(key + 2, m->key_len - 2);
    if (m->payload)
        sp_store_put(store, name, sp_view(m->payload, m->len));
    else
        sp_store_delete(store, name);
}

static enum sp_err on_record(struct sp_task *t, const rd_kafka_message_t *m, uint64_t *applied)
{
    if (m->key_len >= 2) {
        apply(t, m);
        ++*applied;
        return SP_OK;
    }
    int64_t input_next;
    uint64_t batch;
    if (!sp_marker_read(sp_view(m->payload, m->len), &input_next, &batch))
        return SP_CORRUPT;
    t->input_next = input_next;
    t->batch = batch;
    t->changelog_next = m->offset + 1;
    sp_task_save(t);
    return sp_db_commit(t->db);
}

static enum sp_err read_to(struct sp_task *t, const struct sp_restore *r, int64_t high,
                           const char **ret_message)
{
    int64_t next = t->changelog_next, reported = 0;
    uint64_t applied = 0;
    time_t last = time(NULL);
    while (next < high) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->reader, POLL_MS);
        time_t now = time(NULL);
        enum sp_err err = SP_OK;
        if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            err = on_record(t, m, &applied);
            next = m->offset + 1;
            last = now;
        } else if (m && m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && m->offset > next) {
            next = m->offset; /* control records and aborted ones lay between */
            last = now;
        }
        if (m)
            rd_kafka_message_destroy(m);
        if (err != SP_OK)
            return fail(ret_message, err, r, t->partition, sp_err_text(err));
        if (now - last > STALLED_SECONDS)
            return fail(ret_message, SP_BUSY, r, t->partition, "the restore makes no progress");
        if (r->progress && (now != reported || next >= high)) {
            reported = now;
            if (!r->progress(r->arg, t->partition, applied, high - next))
                return fail(ret_message, SP_BUSY, r, t->partition, "the restore was stopped");
        }
    }
    sp_db_discard(t->db); /* what follows the last marker, if anything */
    return SP_OK;
}

enum sp_err sp_task_restore(struct sp_task *t, const struct sp_restore *r, const char **ret_message)
{
    enum { TIMEOUT_MS = 30000 };
    int64_t low = 0, high = 0;
    enum sp_err err = sp_task_load(t);
    if (err != SP_OK)
        return fail(ret_message, SP_STATE_FORMAT, r, t->partition, "the local state is damaged");
    if (rd_kafka_query_watermark_offsets(r->watcher, r->topic, t->partition, &low, &high,
                                         TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(ret_message, SP_BUSY, r, t->partition, "the broker does not say its offsets");
    bool fresh = t->input_next < 0;
    if (!fresh && (t->changelog_next < low || t->changelog_next > high))
        return fail(ret_message, SP_STATE_FORMAT, r, t->partition,
                    "the local state is not of this changelog");
    if (fresh && t->changelog_next < low)
        t->changelog_next = low;
    if (t->changelog_next >= high)
        return SP_OK;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, r->topic, t->partition)->offset = t->changelog_next;
    rd_kafka_resp_err_t code = rd_kafka_assign(r->reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(ret_message, SP_BUSY, r, t->partition, rd_kafka_err2str(code));
    err = read_to(t, r, high, ret_message);
    rd_kafka_assign(r->reader, NULL);
    return err;
}

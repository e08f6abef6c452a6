/* See task.h. */
#include "kafka/task.h"

#include <stdio.h>
#include <time.h>

#include "base/mem.h"

enum { FORMAT = 1, MARKER_FORMAT = 1, POLL_MS = 200, STALLED_SECONDS = 120, TIMEOUT_MS = 30000 };
enum { COMMIT_BYTES = 16 << 20, WAKE_BYTES = 24 << 20, WAKE_TIMEOUT_MS = 200 };
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

/* How far a reading of the changelog is. Several markers share a commit; a commit is cheaper than
 * as many as there were transactions. */
struct reading {
    const struct sp_restore *options;
    int64_t next;
    int64_t high;
    uint64_t applied;
    size_t uncommitted; /* bytes since the last commit */
    size_t unmarked;    /* records since the last marker */
    size_t drained;     /* bytes since the fetcher was woken */
    bool each_marker;   /* commits at each */
};

static enum sp_err on_record(struct sp_task *t, const rd_kafka_message_t *m, struct reading *g)
{
    g->uncommitted += m->key_len + m->len;
    if (m->key_len >= 2) {
        apply(t, m);
        g->applied++;
        g->unmarked++;
        return SP_OK;
    }
    int64_t input_next;
    uint64_t batch;
    if (!sp_marker_read(sp_view(m->payload, m->len), &input_next, &batch))
        return SP_CORRUPT;
    t->input_next = input_next;
    t->batch = batch;
    t->changelog_next = m->offset + 1;
    g->unmarked = 0;
    if (!g->each_marker && g->uncommitted < COMMIT_BYTES)
        return SP_OK;
    g->uncommitted = 0;
    sp_task_save(t);
    return sp_db_commit(t->db);
}

/* With a full queue librdkafka's fetcher sleeps for a second, or until it gets something to send
 * (worker.c): at twice the queue a second that would be half of a restore. */
static void wake_fetcher(struct reading *g, const rd_kafka_message_t *m)
{
    int64_t low, high;
    g->drained += m->len;
    if (g->drained < WAKE_BYTES)
        return;
    g->drained = 0;
    rd_kafka_query_watermark_offsets(g->options->reader, g->options->topic, m->partition, &low,
                                     &high, WAKE_TIMEOUT_MS);
}

static enum sp_err on_message(struct sp_task *t, const rd_kafka_message_t *m, struct reading *g)
{
    enum sp_err err = SP_OK;
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        err = on_record(t, m, g);
        g->next = m->offset + 1;
        wake_fetcher(g, m);
    } else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && m->offset > g->next) {
        g->next = m->offset; /* control records and aborted ones lay between */
    }
    return err;
}

static enum sp_err read_on(struct sp_task *t, struct reading *g, const char **ret_message)
{
    const struct sp_restore *r = g->options;
    time_t last = time(NULL), reported = 0;
    while (g->next < g->high) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->reader, POLL_MS);
        int64_t before = g->next;
        time_t now = time(NULL);
        enum sp_err err = m ? on_message(t, m, g) : SP_OK;
        if (m)
            rd_kafka_message_destroy(m);
        if (err != SP_OK)
            return fail(ret_message, err, r, t->partition, sp_err_text(err));
        if (g->next > before)
            last = now;
        if (now - last > STALLED_SECONDS)
            return fail(ret_message, SP_BUSY, r, t->partition, "the restore makes no progress");
        if (r->progress && (now != reported || g->next >= g->high)) {
            reported = now;
            if (!r->progress(r->arg, t->partition, g->applied,
                             g->next < g->high ? g->high - g->next : 0))
                return fail(ret_message, SP_BUSY, r, t->partition, "the restore was stopped");
        }
    }
    return SP_OK;
}

/* The end: what follows the last marker, if anything, is no part of the state. Where it lies in one
 * batch with what is, both are dropped, and *ret_again says that the end must be read once more. */
static enum sp_err finish(struct sp_task *t, const struct reading *g, bool *ret_again)
{
    *ret_again = g->unmarked && !g->each_marker;
    if (g->unmarked || !g->uncommitted) {
        sp_db_discard(t->db);
        return SP_OK;
    }
    sp_task_save(t);
    return sp_db_commit(t->db);
}

static enum sp_err read_from(struct sp_task *t, struct reading *g, bool *ret_again,
                             const char **ret_message)
{
    const struct sp_restore *r = g->options;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, r->topic, t->partition)->offset = t->changelog_next;
    rd_kafka_resp_err_t code = rd_kafka_assign(r->reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(ret_message, SP_BUSY, r, t->partition, rd_kafka_err2str(code));
    g->next = t->changelog_next;
    enum sp_err err = read_on(t, g, ret_message);
    if (err == SP_OK && finish(t, g, ret_again) != SP_OK)
        err = fail(ret_message, SP_STORE, r, t->partition, sp_db_message(t->db));
    rd_kafka_assign(r->reader, NULL);
    return err;
}

/* Where the changelog ends, and whether the database can go on from where it is. */
static enum sp_err look(struct sp_task *t, const struct sp_restore *r, int64_t *ret_high,
                        const char **ret_message)
{
    int64_t low = 0, high = 0;
    if (sp_task_load(t) != SP_OK)
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
    *ret_high = high;
    return SP_OK;
}

enum sp_err sp_task_behind(struct sp_task *t, const struct sp_restore *r, int64_t *ret_behind,
                           const char **ret_message)
{
    int64_t high = 0;
    enum sp_err err = look(t, r, &high, ret_message);
    if (err == SP_OK)
        *ret_behind = high - t->changelog_next;
    return err;
}

enum sp_err sp_task_restore(struct sp_task *t, const struct sp_restore *r, const char **ret_message)
{
    bool again = true;
    enum sp_err err = SP_OK;
    for (int round = 0; again && err == SP_OK; round++) {
        struct reading g = {.options = r, .each_marker = round > 0};
        again = false;
        err = look(t, r, &g.high, ret_message);
        if (err == SP_OK && t->changelog_next < g.high)
            err = read_from(t, &g, &again, ret_message);
    }
    return err;
}

/* See task.h. */
#include "kafka/task.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { FORMAT = 3, MARKER_FORMAT = 2, POLL_MS = 200, TIMEOUT_MS = 30000 };
enum { STALLED_MS = 120000, REPORT_MS = 1000 };
enum { COMMIT_BYTES = 16 << 20, WAKE_BYTES = 24 << 20, WAKE_TIMEOUT_MS = 200 };
static const char KEY[] = "task";

/* Not for secrets: two lives are to differ, and nobody is to wait for entropy. */
void sp_task_live(struct sp_task *t)
{
    if (!sp_id_is_zero(t->life))
        return;
    uint64_t drawn[2] = {0, 0};
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn ||
        (!drawn[0] && !drawn[1])) {
        drawn[0] = sp_mix64((uint64_t)sp_clock_us());
        drawn[1] = (uint64_t)getpid();
    }
    t->life = (struct sp_id){drawn[0], drawn[1]};
}

static void put_life(struct sp_buf *out, struct sp_id life)
{
    sp_buf_put(out, &life, sizeof life);
}

static struct sp_id read_life(struct sp_reader *r)
{
    struct sp_id life = {0};
    struct sp_view bytes = sp_read_bytes(r, sizeof life);
    if (bytes.len == sizeof life)
        memcpy(&life, bytes.data, sizeof life);
    return life;
}

void sp_marker_put(struct sp_buf *out, const struct sp_marker *m)
{
    sp_buf_put_u8(out, MARKER_FORMAT);
    sp_buf_put_zigzag(out, m->input_next);
    sp_buf_put_varint(out, m->batch);
    put_life(out, m->life);
}

bool sp_marker_read(struct sp_view value, struct sp_marker *ret_marker)
{
    struct sp_reader r = sp_reader(value);
    if (sp_read_u8(&r) != MARKER_FORMAT)
        return false;
    struct sp_marker m = {.input_next = sp_read_zigzag(&r), .batch = sp_read_varint(&r)};
    m.life = read_life(&r);
    if (r.failed || sp_reader_left(&r) > 0)
        return false;
    *ret_marker = m;
    return true;
}

enum sp_err sp_task_load(struct sp_task *t)
{
    struct sp_view value;
    t->input_next = -1;
    t->changelog_next = 0;
    t->batch = 0;
    t->life = (struct sp_id){0};
    t->partial = false;
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
    t->life = read_life(&r);
    t->partial = sp_read_u8(&r) != 0;
    return r.failed || format != FORMAT ? SP_CORRUPT : SP_OK;
}

void sp_task_save(struct sp_task *t)
{
    struct sp_buf value = {0};
    sp_buf_put_u8(&value, FORMAT);
    sp_buf_put_zigzag(&value, t->input_next);
    sp_buf_put_zigzag(&value, t->changelog_next);
    sp_buf_put_varint(&value, t->batch);
    put_life(&value, t->life);
    sp_buf_put_u8(&value, t->partial);
    sp_store_put(sp_db_store(t->db, SP_TASK_STORE_META), sp_view_str(KEY), sp_buf_view(&value));
    sp_buf_done(&value);
}

/* ---- restore ---- */

static enum sp_err fail(struct sp_fault *fault, enum sp_err err, const struct sp_restore *r,
                        int32_t partition, const char *what)
{
    return sp_fault_set(fault, err, "%s [%d]: %s", r->topic, (int)partition, what);
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
    int64_t from;       /* what lies before is in the database, and only looked at */
    uint64_t markers;
    bool each_marker; /* commits at each */
};

static size_t batch_bytes(const struct reading *g)
{
    return g->options->batch_bytes ? g->options->batch_bytes : COMMIT_BYTES;
}

/* Rows that wait for their marker do not wait in memory. Should it never come, the database is of
 * no use, and says so. */
static enum sp_err commit_part(struct sp_task *t, int64_t next, struct reading *g)
{
    struct sp_task part = *t;
    part.changelog_next = next;
    part.partial = t->partial = true;
    g->uncommitted = 0;
    sp_task_save(&part);
    return sp_db_commit(t->db);
}

static enum sp_err on_marker(struct sp_task *t, const rd_kafka_message_t *m, struct reading *g)
{
    struct sp_marker marker;
    if (!sp_marker_read(sp_view(m->payload, m->len), &marker))
        return SP_INVALID;
    if (t->input_next >= 0 && !sp_id_eq(t->life, marker.life))
        return SP_STATE_FORMAT;
    g->markers++;
    if (m->offset < g->from)
        return SP_OK;
    t->input_next = marker.input_next;
    t->batch = marker.batch;
    t->life = marker.life;
    t->changelog_next = m->offset + 1;
    g->unmarked = 0;
    if (!g->each_marker && !t->partial && g->uncommitted < batch_bytes(g))
        return SP_OK;
    t->partial = false;
    g->uncommitted = 0;
    sp_task_save(t);
    return sp_db_commit(t->db);
}

static enum sp_err on_record(struct sp_task *t, const rd_kafka_message_t *m, struct reading *g)
{
    if (m->offset >= g->from)
        g->uncommitted += m->key_len + m->len;
    if (m->key_len < 2)
        return on_marker(t, m, g);
    if (m->offset < g->from)
        return SP_OK;
    apply(t, m);
    g->applied++;
    g->unmarked++;
    return g->uncommitted < batch_bytes(g) ? SP_OK : commit_part(t, m->offset + 1, g);
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

static const char *why(const struct sp_task *t, enum sp_err err)
{
    switch ((int)err) {
    case SP_INVALID:
        return "a marker cannot be read: another version of samepage wrote it. Make topics of "
               "another topics.prefix, and send the pages again";
    case SP_STATE_FORMAT:
        return "the local state is of another changelog, which was here before";
    case SP_STORE:
        return sp_db_message(t->db);
    default:
        return sp_err_text(err);
    }
}

static enum sp_err read_on(struct sp_task *t, struct reading *g, struct sp_fault *fault)
{
    const struct sp_restore *r = g->options;
    int64_t moved_ms = sp_clock_ms(), reported_ms = 0;
    while (g->next < g->high) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->reader, POLL_MS);
        int64_t before = g->next;
        int64_t now_ms = sp_clock_ms();
        enum sp_err err = m ? on_message(t, m, g) : SP_OK;
        if (m)
            rd_kafka_message_destroy(m);
        if (err != SP_OK)
            return fail(fault, err, r, t->partition, why(t, err));
        if (g->next > before)
            moved_ms = now_ms;
        if (now_ms - moved_ms > STALLED_MS)
            return fail(fault, SP_BUSY, r, t->partition, "the restore makes no progress");
        if (r->progress && (now_ms - reported_ms >= REPORT_MS || g->next >= g->high)) {
            reported_ms = now_ms;
            if (!r->progress(r->arg, t->partition, g->applied,
                             g->next < g->high ? g->high - g->next : 0))
                return fail(fault, SP_BUSY, r, t->partition, "the restore was stopped");
        }
    }
    return SP_OK;
}

/* The end: what follows the last marker, if anything, is no part of the state. Where it lies in one
 * batch with what is, both are dropped, and *ret_again says that the end must be read once more. */
static enum sp_err finish(struct sp_task *t, const struct reading *g, bool *ret_again)
{
    if (g->unmarked && t->partial) { /* too many to take back: read no further than the marker */
        t->read_until = t->changelog_next;
        return SP_STATE_FORMAT;
    }
    *ret_again = g->unmarked && !g->each_marker;
    if (g->unmarked || !g->uncommitted) {
        sp_db_discard(t->db);
        return SP_OK;
    }
    sp_task_save(t);
    return sp_db_commit(t->db);
}

static enum sp_err read_from(struct sp_task *t, struct reading *g, bool *ret_again,
                             struct sp_fault *fault)
{
    const struct sp_restore *r = g->options;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    /* Where there is a state, the marker that it ends with says whether it is of this changelog. If
     * compaction took it away, there is a later one. */
    bool fresh = t->input_next < 0;
    g->from = t->changelog_next;
    g->next = fresh ? g->from : g->from - 1;
    rd_kafka_topic_partition_list_add(list, r->topic, t->partition)->offset = g->next;
    rd_kafka_resp_err_t code = rd_kafka_assign(r->reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(fault, SP_BUSY, r, t->partition, rd_kafka_err2str(code));
    enum sp_err err = read_on(t, g, fault);
    if (err == SP_OK && !fresh && g->markers == 0)
        err = fail(fault, SP_STATE_FORMAT, r, t->partition, why(t, SP_STATE_FORMAT));
    if (err == SP_OK && (err = finish(t, g, ret_again)) != SP_OK)
        fail(fault, err, r, t->partition,
             err == SP_STATE_FORMAT ? "its end belongs to a transaction that is not decided"
                                    : sp_db_message(t->db));
    if (err != SP_OK)
        sp_db_discard(t->db);
    rd_kafka_assign(r->reader, NULL);
    return err;
}

/* Where the changelog ends, and whether the database can go on from where it is. */
static enum sp_err look(struct sp_task *t, const struct sp_restore *r, int64_t *ret_high,
                        struct sp_fault *fault)
{
    int64_t low = 0, high = 0;
    if (sp_task_load(t) != SP_OK)
        return fail(fault, SP_STATE_FORMAT, r, t->partition, "the local state is damaged");
    if (rd_kafka_query_watermark_offsets(r->watcher, r->topic, t->partition, &low, &high,
                                         TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(fault, SP_BUSY, r, t->partition, "the broker does not say its offsets");
    bool fresh = t->input_next < 0;
    if (!fresh && (t->changelog_next < 1 || t->changelog_next < low || t->changelog_next > high))
        return fail(fault, SP_STATE_FORMAT, r, t->partition,
                    "the local state is not of this changelog");
    if (fresh && low > 0) /* compaction leaves the first offset where it is */
        return fail(fault, SP_INVALID, r, t->partition,
                    "the beginning of the changelog was deleted, and with it a part of the state: "
                    "make topics of another topics.prefix, and send the pages again");
    if (t->partial && sp_id_is_zero(t->life))
        return fail(fault, SP_STATE_FORMAT, r, t->partition,
                    "a restore was interrupted before its first marker");
    *ret_high = t->read_until && t->read_until < high ? t->read_until : high;
    return SP_OK;
}

enum sp_err sp_task_behind(struct sp_task *t, const struct sp_restore *r, int64_t *ret_behind,
                           struct sp_fault *fault)
{
    int64_t high = 0;
    enum sp_err err = look(t, r, &high, fault);
    if (err == SP_OK)
        *ret_behind = high - t->changelog_next;
    return err;
}

enum sp_err sp_task_restore(struct sp_task *t, const struct sp_restore *r, struct sp_fault *fault)
{
    bool again = true;
    enum sp_err err = SP_OK;
    for (int round = 0; again && err == SP_OK; round++) {
        struct reading g = {.options = r, .each_marker = round > 0};
        again = false;
        err = look(t, r, &g.high, fault);
        if (err == SP_OK && (t->input_next >= 0 || t->changelog_next < g.high))
            err = read_from(t, &g, &again, fault);
    }
    return err;
}

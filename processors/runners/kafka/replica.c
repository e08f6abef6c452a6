/* See replica.h. */
#include "kafka/replica.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "kafka/task.h"
#include "local/keeper.h"
#include "local/layout.h"

enum { FORMAT = 2, POLL_MS = 100, COMMIT_MS = 200, TIMEOUT_MS = 30000 };
enum { COMMIT_BYTES = 4 << 20, LANE_BYTES = 64 << 20 };
static const char KEY[] = SP_ROW_OF_COPY;

/* One partition of the changelog. */
struct lane {
    struct sp_buf records; /* since the last marker: length of key, length of value, key, value */
    int64_t next;          /* offset after the last marker that was applied */
    struct sp_id life;     /* of the changelog (task.h); zero: no marker was read yet */
    bool ended;            /* the end of the changelog was reached */
};

struct sp_replica {
    struct sp_replica_options options;
    char topic[SP_TOPIC_NAME_MAX];
    rd_kafka_t *reader;
    struct sp_db *db;
    struct lane *lanes;
    uint32_t behind;  /* lanes that have not ended yet; atomic */
    uint64_t records; /* atomic */
    size_t uncommitted;
    int64_t uncommitted_since_ms;
    pthread_t thread;
    bool running;
    bool ending;           /* atomic */
    struct sp_fault fault; /* of the thread that follows */
};

static enum sp_err fail(struct sp_replica *r, enum sp_err err, const char *what)
{
    return sp_fault_set(&r->fault, err, "topic %s: %s", r->topic, what);
}

/* What is wrong is the copy, not the topic. */
static enum sp_err fail_copy(struct sp_replica *r, enum sp_err err, const char *what)
{
    return sp_fault_set(&r->fault, err, "%s: %s", r->options.directory, what);
}

static enum sp_err no_reply(struct sp_replica *r)
{
    enum sp_err err = sp_kafka_no_reply(r->reader, &r->fault);
    return fail(r, err, r->fault.text);
}

/* ---- where it continues ---- */

static enum sp_err load_offsets(struct sp_replica *r)
{
    struct sp_view value;
    enum sp_err err = sp_store_get(sp_db_store(r->db, SP_BUS_STORE_META), sp_view_str(KEY), &value);
    if (err == SP_NOT_FOUND)
        return SP_OK;
    if (err != SP_OK)
        return fail_copy(r, err, sp_db_message(r->db));
    struct sp_reader in = sp_reader(value);
    bool good = sp_read_u8(&in) == FORMAT && sp_read_varint(&in) == r->options.partitions;
    for (uint32_t i = 0; i < r->options.partitions; i++) {
        r->lanes[i].next = sp_read_zigzag(&in);
        struct sp_view life = sp_read_bytes(&in, sizeof r->lanes[i].life);
        if (life.len == sizeof r->lanes[i].life)
            memcpy(&r->lanes[i].life, life.data, life.len);
    }
    return good && !in.failed ? SP_OK
                              : fail_copy(r, SP_STATE_FORMAT, "the copy is damaged: delete it");
}

static enum sp_err commit(struct sp_replica *r)
{
    struct sp_buf value = {0};
    sp_buf_put_u8(&value, FORMAT);
    sp_buf_put_varint(&value, r->options.partitions);
    for (uint32_t i = 0; i < r->options.partitions; i++) {
        sp_buf_put_zigzag(&value, r->lanes[i].next);
        sp_buf_put(&value, &r->lanes[i].life, sizeof r->lanes[i].life);
    }
    sp_store_put(sp_db_store(r->db, SP_BUS_STORE_META), sp_view_str(KEY), sp_buf_view(&value));
    sp_buf_done(&value);
    r->uncommitted = 0;
    enum sp_err err = sp_db_commit(r->db);
    return err == SP_OK ? SP_OK : fail_copy(r, err, sp_db_message(r->db));
}

/* The stored offsets must lie in the changelog. */
static enum sp_err check_offsets(struct sp_replica *r)
{
    for (uint32_t i = 0; i < r->options.partitions; i++) {
        int64_t low = 0, high = 0;
        rd_kafka_resp_err_t code =
            sp_kafka_watermarks(r->reader, r->topic, (int32_t)i, &low, &high, TIMEOUT_MS);
        if (sp_kafka_is_forbidden(code))
            return fail(r, SP_INVALID, SP_KAFKA_FORBIDDEN);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
            return no_reply(r);
        struct lane *lane = &r->lanes[i];
        if (lane->next == 0 && low > 0)
            return fail(r, SP_INVALID,
                        "the beginning of the changelog was deleted, and with it a part of the "
                        "state: copy the directory of a server that has all of it");
        if (lane->next < low || lane->next > high)
            return fail_copy(r, SP_STATE_FORMAT,
                             "the copy belongs to another changelog, or is too old: delete it");
    }
    return SP_OK;
}

/* ---- following ---- */

static void keep(struct lane *lane, const rd_kafka_message_t *m)
{
    sp_buf_put_varint(&lane->records, m->key_len);
    sp_buf_put_varint(&lane->records, m->payload ? m->len + 1 : 0); /* 0: deleted */
    sp_buf_put(&lane->records, m->key, m->key_len);
    if (m->payload)
        sp_buf_put(&lane->records, m->payload, m->len);
}

/* A changelog key starts with the number of the stage's own store; the copy numbers partitions. */
static void apply(struct sp_replica *r, uint32_t partition)
{
    struct lane *lane = &r->lanes[partition];
    struct sp_store *to = sp_db_store(r->db, (uint16_t)(SP_BUS_STORE_TIER1 + partition));
    struct sp_reader in = sp_reader(sp_buf_view(&lane->records));
    while (sp_reader_left(&in) > 0) {
        size_t key_len = sp_read_varint(&in), value_len = sp_read_varint(&in);
        struct sp_view key = sp_read_bytes(&in, key_len);
        struct sp_view value = sp_read_bytes(&in, value_len ? value_len - 1 : 0);
        SP_ASSERT(key.data && key.len >= 2); /* put() stores such keys only */
        struct sp_view name = sp_view(key.data + 2, key.len - 2);
        uint16_t store = (uint16_t)sp_get_big_endian(key.data, 2);
        if (store == SP_TASK_STORE_STAGE && value_len)
            sp_store_put(to, name, value);
        else if (store == SP_TASK_STORE_STAGE)
            sp_store_delete(to, name);
    }
    if (r->uncommitted == 0)
        r->uncommitted_since_ms = sp_clock_ms();
    r->uncommitted += lane->records.len + 1;
    sp_buf_reset(&lane->records);
}

static enum sp_err on_record(struct sp_replica *r, const rd_kafka_message_t *m)
{
    struct lane *lane = &r->lanes[m->partition];
    struct sp_marker marker;
    __atomic_add_fetch(&r->records, 1, __ATOMIC_RELAXED);
    if (m->key_len >= 2) {
        keep(lane, m);
        /* Compaction leaves long stretches without markers. Their rows are old and complete. */
        if (lane->records.len > LANE_BYTES)
            apply(r, (uint32_t)m->partition);
        return SP_OK;
    }
    if (!sp_marker_read(sp_view(m->payload, m->len), &marker))
        return fail(
            r, SP_CORRUPT,
            "a marker cannot be read: it was probably written by another version of samepage");
    if (!sp_id_is_zero(lane->life) && !sp_id_eq(lane->life, marker.life))
        return fail_copy(r, SP_STATE_FORMAT,
                         "the copy belongs to another changelog, which existed before: delete it");
    lane->life = marker.life;
    apply(r, (uint32_t)m->partition);
    lane->next = m->offset + 1;
    return SP_OK;
}

static enum sp_err on_message(struct sp_replica *r, const rd_kafka_message_t *m)
{
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        return on_record(r, m);
    if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && !r->lanes[m->partition].ended) {
        r->lanes[m->partition].ended = true;
        enum sp_err err = commit(r);
        __atomic_sub_fetch(&r->behind, 1, __ATOMIC_SEQ_CST);
        return err;
    }
    if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
        m->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE)
        return fail_copy(r, SP_STATE_FORMAT,
                         "the next records of the changelog have been deleted: delete the copy");
    if (sp_kafka_is_forbidden(m->err))
        return fail(r, SP_INVALID, SP_KAFKA_FORBIDDEN);
    return SP_OK; /* librdkafka retries */
}

static void *follow(void *arg)
{
    struct sp_replica *r = arg;
    enum sp_err err = SP_OK;
    while (!__atomic_load_n(&r->ending, __ATOMIC_RELAXED) && err == SP_OK) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->reader, POLL_MS);
        if (m) {
            err = on_message(r, m);
            rd_kafka_message_destroy(m);
        }
        bool due =
            r->uncommitted >= COMMIT_BYTES || sp_clock_ms() - r->uncommitted_since_ms >= COMMIT_MS;
        if (err == SP_OK && r->uncommitted && due)
            err = commit(r);
    }
    if (err != SP_OK && r->options.failed)
        r->options.failed(r->options.arg, r->fault.text);
    return NULL;
}

/* ---- start and stop ---- */

static enum sp_err open_topic(struct sp_replica *r)
{
    int32_t partitions = 0;
    char what[128];
    enum sp_err err =
        sp_kafka_open(&r->options.kafka, SP_KAFKA_READER, NULL, NULL, NULL, &r->reader, &r->fault);
    if (err != SP_OK)
        return fail(r, err, r->fault.text);
    err = sp_kafka_partitions(r->reader, r->topic, &partitions);
    if (err == SP_NOT_FOUND)
        return fail(r, err, "does not exist; `samepage topics create` creates it");
    if (err == SP_INVALID)
        return fail(r, err, SP_KAFKA_FORBIDDEN);
    if (err != SP_OK)
        return no_reply(r);
    snprintf(what, sizeof what, "has %d partitions, and tier1.partitions is %u", (int)partitions,
             r->options.partitions);
    return (uint32_t)partitions == r->options.partitions ? SP_OK : fail(r, SP_INVALID, what);
}

static enum sp_err open_copy(struct sp_replica *r)
{
    enum sp_err err = sp_db_open_rocksdb(r->options.directory, r->options.fingerprint,
                                         &r->options.store, &r->db, &r->fault);
    if (err != SP_OK)
        return err;
    err = sp_keeper_check(r->db, SP_KEEPER_COPY, r->options.directory, &r->fault);
    if (err == SP_OK)
        err = load_offsets(r);
    if (err == SP_OK)
        err = check_offsets(r);
    if (err == SP_OK)
        err = commit(r);
    if (err == SP_OK && sp_db_sync(r->db) != SP_OK) /* so that readers find a database to open */
        err = fail_copy(r, SP_STORE, sp_db_message(r->db));
    return err;
}

static enum sp_err assign(struct sp_replica *r)
{
    int count = (int)r->options.partitions;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int i = 0; i < count; i++) {
        /* The last marker, if compaction has left it, shows whether the changelog is still the
         * same. */
        bool known = !sp_id_is_zero(r->lanes[i].life);
        rd_kafka_topic_partition_list_add(list, r->topic, i)->offset = r->lanes[i].next - known;
    }
    rd_kafka_resp_err_t code = rd_kafka_assign(r->reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? SP_OK : fail(r, SP_BUSY, rd_kafka_err2str(code));
}

enum sp_err sp_replica_start(const struct sp_replica_options *options,
                             struct sp_replica **ret_replica, struct sp_fault *fault)
{
    struct sp_replica *r = sp_calloc(1, sizeof *r);
    r->options = *options;
    r->options.store.write_ahead_log = true; /* readers see only what is in the files */
    r->options.store.looks_for_room = true;
    r->behind = options->partitions;
    r->lanes = sp_calloc(options->partitions, sizeof *r->lanes);
    sp_topic_name(&options->kafka, SP_TOPIC_TIER1_CHANGELOG, r->topic);
    enum sp_err err = open_topic(r);
    if (err == SP_OK)
        err = open_copy(r);
    if (err == SP_OK)
        err = assign(r);
    if (err == SP_OK)
        err = sp_thread_start(&r->thread, follow, r, &r->fault);
    r->running = err == SP_OK;
    if (err == SP_OK) {
        *ret_replica = r;
        return SP_OK;
    }
    *fault = r->fault;
    sp_replica_stop(r);
    return err;
}

bool sp_replica_ready(const struct sp_replica *r, uint64_t *ret_records)
{
    *ret_records = __atomic_load_n(&r->records, __ATOMIC_RELAXED);
    return __atomic_load_n(&r->behind, __ATOMIC_SEQ_CST) == 0;
}

void sp_replica_stop(struct sp_replica *r)
{
    if (!r)
        return;
    if (r->running) {
        __atomic_store_n(&r->ending, true, __ATOMIC_RELAXED);
        pthread_join(r->thread, NULL);
    }
    if (r->reader) {
        rd_kafka_consumer_close(r->reader);
        sp_kafka_close(r->reader);
    }
    sp_db_close(r->db);
    for (uint32_t i = 0; i < r->options.partitions; i++)
        sp_buf_done(&r->lanes[i].records);
    sp_free(r->lanes);
    sp_free(r);
}

/* Restores the database of a task from its changelog; see task.h. */
#include "base/clock.h"
#include "kafka/fetcher.h"

enum { POLL_MS = 10 };
enum { TIMEOUT_MS = 30000, STALLED_MS = 120000, REPORT_MS = 200 };
/* With at least as many records to read, the database is filled (sorted files instead of write
 * buffers). */
enum { FILL_RECORDS = 50000, FILL_BYTES = 32 << 20, LAST_BYTES = 4 << 20 };
/* Half of what may be queued (client.c). */
enum { WAKE_BYTES = 8 << 20, WAKE_MS = 100, WAKE_TIMEOUT_MS = 200 };

static enum sp_err fail(struct sp_fault *fault, enum sp_err err, const struct sp_restore *r,
                        int32_t partition, const char *what)
{
    return sp_fault_set(fault, err, "%s [%d]: %s", r->topic, (int)partition, what);
}

/* The progress of reading the changelog. */
struct reading {
    const struct sp_restore *options;
    struct sp_task *task;
    enum sp_err err;
    int64_t next;
    int64_t high;
    bool forbidden;    /* to read it */
    uint64_t messages; /* taken, and their bytes */
    uint64_t bytes;
    bool ahead;  /* the reader has been assigned the partition from its beginning */
    bool tapers; /* the batches */
    bool wakes;  /* the fetcher, once the queue is empty */
    int64_t woken_ms;
    int64_t reported_ms;
    rd_kafka_queue_t *queue;
    struct sp_changelog applying;
};

/* librdkafka's fetcher sleeps for a second, or until it has something to send (worker.c): when its
 * queue is full, and often when a partition has just been assigned. A restore reads many times the
 * queue in a second, and one of a few records takes milliseconds. */
static void wake_fetcher(struct reading *g, int32_t partition)
{
    int64_t end;
    g->woken_ms = sp_clock_ms();
    sp_kafka_end(g->options->reader, g->options->topic, partition, RD_KAFKA_OFFSET_END, &end,
                 WAKE_TIMEOUT_MS);
}

static enum sp_err on_record(struct sp_task *t, const struct sp_changelog_record *record,
                             struct reading *g)
{
    g->next = record->offset + 1;
    g->messages++;
    g->bytes += record->key.len + record->value.len;
    return sp_changelog_apply(&g->applying, t, record);
}

static enum sp_err on_message(struct sp_task *t, const rd_kafka_message_t *m, struct reading *g)
{
    enum sp_err err = SP_OK;
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        struct sp_changelog_record record = {m->offset, sp_view(m->key, m->key_len),
                                             sp_view(m->payload, m->len)};
        err = on_record(t, &record, g);
    } else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && m->offset > g->next) {
        g->next = m->offset; /* control records and aborted records were between */
    } else if (sp_kafka_is_forbidden(m->err)) {
        g->forbidden = true;
        err = SP_INVALID;
    }
    return err;
}

static const char *why(const struct sp_task *t, enum sp_err err)
{
    switch ((int)err) {
    case SP_INVALID:
        return "a marker cannot be read: another version of samepage, or another program, wrote it. Create topics with another topics.prefix, and publish the pages again";
    case SP_STATE_FORMAT:
        return "the local state belongs to a former changelog";
    default:
        return sp_db_err_text(t->db, err);
    }
}

/* Called by librdkafka for each message. */
static void on_arrival(rd_kafka_message_t *m, void *arg)
{
    struct reading *g = arg;
    if (g->wakes)
        wake_fetcher(g, g->task->partition);
    g->wakes = false;
    if (g->err == SP_OK && g->next < g->high)
        g->err = on_message(g->task, m, g);
}

/* Takes all messages that are queued. They then no longer count as queued, so while they are
 * applied as many may arrive. librdkafka recommends rd_kafka_consume_batch_queue, but that takes a
 * lock for each message, and messages are freed later, when the processor's cache has lost them. */
static enum sp_err take(struct reading *g)
{
    uint64_t queued = rd_kafka_queue_length(g->queue);
    g->wakes = g->messages && queued * g->bytes / g->messages >= WAKE_BYTES;
    int count = rd_kafka_consume_callback_queue(g->queue, POLL_MS, on_arrival, g);
    if (count < 1 && sp_clock_ms() - g->woken_ms >= WAKE_MS)
        wake_fetcher(g, g->task->partition);
    return g->err;
}

/* A batch is sorted and written while the next one is read. The first batches are smaller, so that
 * writing begins soon, and so are the last ones, so that little is left to write when all has been
 * read. */
static void taper(struct reading *g)
{
    if (!g->tapers || !g->messages || g->next >= g->high)
        return;
    uint64_t left = (uint64_t)(g->high - g->next) * (g->bytes / g->messages);
    uint64_t least = left / 2 < g->bytes ? left / 2 : g->bytes;
    size_t bytes = least < FILL_BYTES ? (size_t)least : FILL_BYTES;
    g->applying.batch_bytes = bytes > LAST_BYTES ? bytes : LAST_BYTES;
}

static enum sp_err report(struct sp_task *t, struct reading *g, int64_t now_ms,
                          struct sp_fault *fault)
{
    const struct sp_restore *r = g->options;
    if (!r->progress || (now_ms - g->reported_ms < REPORT_MS && g->next < g->high))
        return SP_OK;
    g->reported_ms = now_ms;
    return r->progress(r->arg, t->partition, g->applying.applied,
                       g->next < g->high ? g->high - g->next : 0)
               ? SP_OK
               : fail(fault, SP_BUSY, r, t->partition, "the restore was stopped");
}

static enum sp_err read_on(struct sp_task *t, struct reading *g, struct sp_fault *fault)
{
    const struct sp_restore *r = g->options;
    int64_t moved_ms = sp_clock_ms();
    enum sp_err err = SP_OK;
    while (g->next < g->high && err == SP_OK) {
        int64_t before = g->next;
        err = take(g);
        int64_t now_ms = sp_clock_ms();
        if (err != SP_OK)
            return fail(fault, err, r, t->partition,
                        g->forbidden ? SP_KAFKA_FORBIDDEN : why(t, err));
        taper(g);
        if (g->next > before)
            moved_ms = now_ms;
        if (now_ms - moved_ms > STALLED_MS)
            return fail(fault, SP_BUSY, r, t->partition, "the restore makes no progress");
        err = report(t, g, now_ms, fault);
    }
    return err;
}

/* ---- without librdkafka ---- */

/* Asks for what follows before the records are applied, so that the broker works meanwhile. */
static bool fetch(struct reading *g, struct sp_fetcher *f, struct sp_batches *ret_batches)
{
    if (!sp_fetcher_take(f, ret_batches))
        return false;
    int64_t end = sp_batches_end(ret_batches->left, g->next);
    return end > g->next && (end >= g->high || sp_fetcher_ask(f, end));
}

/* Reads until the end, or until something is not as it expects it, which librdkafka then meets. */
static enum sp_err read_directly(struct sp_task *t, struct reading *g, struct sp_fetcher *f,
                                 struct sp_fault *fault)
{
    struct sp_batches batches;
    struct sp_changelog_record record;
    enum sp_err err = SP_OK;
    for (bool good = sp_fetcher_ask(f, g->next); good && g->next < g->high && err == SP_OK;) {
        if (!fetch(g, f, &batches))
            break;
        while (err == SP_OK && g->next < g->high && sp_batches_next(&batches, &record))
            err = on_record(t, &record, g);
        if (err != SP_OK)
            return fail(fault, err, g->options, t->partition, why(t, err));
        g->next = batches.next > g->next ? batches.next : g->next;
        good = !batches.strange;
        taper(g);
        err = report(t, g, sp_clock_ms(), fault);
    }
    return err;
}

static rd_kafka_resp_err_t assign(rd_kafka_t *reader, const char *topic, int32_t partition,
                                  int64_t offset)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
    rd_kafka_resp_err_t code = rd_kafka_assign(reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

bool sp_restore_ahead(rd_kafka_t *reader, const char *topic, int32_t partition)
{
    return assign(reader, topic, partition, 0) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

enum sp_err sp_restore_is_empty(rd_kafka_t *reader, const char *topic, int32_t partition,
                                bool *ret_empty)
{
    enum sp_err err = SP_BUSY;
    int64_t give_up_ms = sp_clock_ms() + TIMEOUT_MS;
    if (assign(reader, topic, partition, 0) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return err;
    while (err != SP_OK && sp_clock_ms() < give_up_ms) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, POLL_MS);
        if (!m)
            continue;
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR || m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            *ret_empty = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
            err = SP_OK;
        }
        rd_kafka_message_destroy(m);
    }
    rd_kafka_assign(reader, NULL);
    return err;
}

/* Reads until the end with librdkafka. */
static enum sp_err read_rest(struct sp_task *t, struct reading *g, struct sp_fault *fault)
{
    const struct sp_restore *r = g->options;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!g->ahead || g->next != 0)
        code = assign(r->reader, r->topic, t->partition, g->next);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(fault, SP_BUSY, r, t->partition, rd_kafka_err2str(code));
    g->queue = rd_kafka_queue_get_consumer(r->reader);
    enum sp_err err = read_on(t, g, fault);
    rd_kafka_queue_destroy(g->queue);
    rd_kafka_assign(r->reader, NULL);
    return err;
}

/* A state that lacks little is not worth a connection, which a standby copy would open once a
 * second. */
static enum sp_err read_all(struct sp_task *t, struct reading *g, struct sp_fault *fault)
{
    const struct sp_restore *r = g->options;
    int64_t left = g->high - g->next;
    struct sp_fetcher *f = NULL;
    enum sp_err err = SP_OK;
    if (left >= FILL_RECORDS || (g->next == 0 && left > 0))
        f = sp_fetcher_open(r->watcher, r->reader, r->topic, t->partition);
    if (f)
        err = read_directly(t, g, f, fault);
    sp_fetcher_close(f);
    return err == SP_OK && g->next < g->high ? read_rest(t, g, fault) : err;
}

static enum sp_err read_from(struct sp_task *t, struct reading *g, bool *ret_again,
                             struct sp_fault *fault)
{
    const struct sp_restore *r = g->options;
    /* The last marker of an existing state shows whether the state belongs to this changelog. If
     * compaction has removed that marker, a later one has the same life. */
    bool fresh = t->input_next < 0;
    g->applying.from = t->changelog_next;
    g->next = fresh ? t->changelog_next : t->changelog_next - 1;
    enum sp_err err = read_all(t, g, fault);
    if (err == SP_OK && !fresh && g->applying.markers == 0)
        err = fail(fault, SP_STATE_FORMAT, r, t->partition, why(t, SP_STATE_FORMAT));
    if (err == SP_OK && (err = sp_changelog_end(&g->applying, t, ret_again)) != SP_OK)
        fail(fault, err, r, t->partition,
             err == SP_STATE_FORMAT ? "its end belongs to a transaction that is still open"
                                    : sp_db_message(t->db));
    if (err != SP_OK)
        sp_db_discard(t->db);
    return err;
}

/* Where the changelog ends, and whether the database can continue from its own offset. */
static enum sp_err look(struct sp_task *t, const struct sp_restore *r, int64_t *ret_high,
                        struct sp_fault *fault)
{
    int64_t low = 0, high = 0;
    if (sp_task_load(t) != SP_OK)
        return fail(fault, SP_STATE_FORMAT, r, t->partition, "the local state is damaged");
    rd_kafka_resp_err_t code =
        sp_kafka_watermarks(r->watcher, r->topic, t->partition, &low, &high, TIMEOUT_MS);
    if (sp_kafka_is_forbidden(code))
        return fail(fault, SP_INVALID, r, t->partition, SP_KAFKA_FORBIDDEN);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(fault, SP_BUSY, r, t->partition, "the broker does not report its offsets");
    bool fresh = t->input_next < 0;
    bool foreign =
        !fresh && (t->changelog_next < 1 || t->changelog_next < low || t->changelog_next > high);
    /* Compaction leaves the first offset where it is. A foreign state is not wiped for a changelog
     * that could not fill it again. */
    if ((fresh || foreign) && low > 0)
        return fail(
            fault, SP_INVALID, r, t->partition,
            "the beginning of the changelog was deleted, and with it a part of the state: create "
            "topics with another topics.prefix, and publish the pages again");
    if (foreign)
        return fail(fault, SP_STATE_FORMAT, r, t->partition,
                    "the local state belongs to another changelog");
    if (t->partial && sp_id_is_zero(t->life))
        return fail(fault, SP_STATE_FORMAT, r, t->partition,
                    "a restore was interrupted before its first marker");
    *ret_high = t->read_until && t->read_until < high ? t->read_until : high;
    return SP_OK;
}

/* Fills the database: most of a long restore. */
static enum sp_err fill(struct sp_task *t, struct reading *g, bool *ret_again,
                        struct sp_fault *fault)
{
    enum sp_err err = sp_db_fill(t->db, true);
    if (err == SP_OK)
        err = read_from(t, g, ret_again, fault);
    else
        fail(fault, err, g->options, t->partition, sp_db_message(t->db));
    if (err != SP_OK)
        sp_db_fill(t->db, false);
    else if ((err = sp_db_fill(t->db, false)) != SP_OK)
        fail(fault, err, g->options, t->partition, sp_db_message(t->db));
    return err;
}

enum sp_err sp_task_restore(struct sp_task *t, const struct sp_restore *r, struct sp_fault *fault)
{
    bool again = true;
    enum sp_err err = SP_OK;
    for (int round = 0; again && err == SP_OK; round++) {
        struct reading g = {.options = r,
                            .task = t,
                            .ahead = r->ahead && round == 0,
                            .applying = {.batch_bytes = r->batch_bytes, .each_marker = round > 0}};
        again = false;
        err = look(t, r, &g.high, fault);
        bool much = round == 0 && g.high - t->changelog_next >= FILL_RECORDS;
        g.tapers = much && !r->batch_bytes;
        if (g.tapers)
            g.applying.batch_bytes = LAST_BYTES;
        if (err == SP_OK && much)
            err = fill(t, &g, &again, fault);
        else if (err == SP_OK && (t->input_next >= 0 || t->changelog_next < g.high))
            err = read_from(t, &g, &again, fault);
    }
    if (r->ahead) /* there may have been nothing to read */
        rd_kafka_assign(r->reader, NULL);
    return err;
}

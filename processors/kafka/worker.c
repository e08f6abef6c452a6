/* See worker.h. */
#include "kafka/worker.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "kafka/task.h"

enum { POLL_MS = 20, TIMEOUT_MS = 30000, RESTART_SECONDS = 2, LAG_INTERVAL_MS = 500 };

struct sp_worker {
    const struct sp_worker_options *options;
    const volatile sig_atomic_t *stop;
    const char **ret_message;
    rd_kafka_t *consumer;
    rd_kafka_t *producer;
    rd_kafka_t *reader;
    rd_kafka_t *watcher;
    rd_kafka_t *lag_of[2]; /* handles in the groups of tier 1 and tier 2 */
    char topics[SP_TOPICS][SP_TOPIC_NAME_MAX];
    int32_t partitions[SP_TOPICS];
    struct sp_task **tasks; /* by input partition; NULL: not ours */
    bool open;              /* a transaction */
    int64_t opened_ms;
    uint64_t handled; /* in it */
    int64_t lag_ms;   /* when the lag was looked at */
    enum sp_err err;  /* of anything since the start; ends the round */
    enum sp_err emit_err;
    char message[1024];
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void say(struct sp_worker *w, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct sp_worker *w, const char *level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->options->log(level, text);
}

/* Keeps the first error of a round, and its message. */
static enum sp_err fail(struct sp_worker *w, enum sp_err err, const char *what, const char *detail)
{
    if (w->err == SP_OK) {
        w->err = err;
        snprintf(w->message, sizeof w->message, "%s: %s", what, detail);
    }
    return w->err;
}

#define ADD(w, field, n) __atomic_add_fetch(&(w)->options->metrics->field, n, __ATOMIC_RELAXED)
#define SET(w, field, n) __atomic_store_n(&(w)->options->metrics->field, n, __ATOMIC_RELAXED)

/* ---- output ---- */

static void produce(struct sp_worker *w, const char *topic, int32_t partition, struct sp_view key,
                    struct sp_view value, rd_kafka_headers_t *headers, void *opaque)
{
    for (int attempt = 0; w->emit_err == SP_OK; attempt++) {
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
            w->emit_err = fail(w, SP_BUSY, topic, rd_kafka_err2str(code));
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

static void dead_letter(struct sp_worker *w, const rd_kafka_message_t *m, enum sp_err err,
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
}

static void on_delivery(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg)
{
    struct sp_worker *w = arg;
    struct sp_task *marker_of = m->_private;
    (void)handle;
    if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail(w, SP_BUSY, "a message was not delivered", rd_kafka_err2str(m->err));
    else if (marker_of)
        marker_of->marker_offset = m->offset;
}

/* ---- transactions ---- */

static enum sp_err check(struct sp_worker *w, rd_kafka_error_t *error, const char *what)
{
    if (!error)
        return SP_OK;
    fail(w, SP_BUSY, what, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return w->err;
}

static enum sp_err begin(struct sp_worker *w)
{
    if (w->open)
        return SP_OK;
    w->open = check(w, rd_kafka_begin_transaction(w->producer), "begin") == SP_OK;
    w->opened_ms = now_ms();
    w->handled = 0;
    return w->err;
}

static void abort_open(struct sp_worker *w)
{
    if (!w->open)
        return;
    rd_kafka_error_t *error = rd_kafka_abort_transaction(w->producer, TIMEOUT_MS);
    if (error)
        rd_kafka_error_destroy(error); /* fenced, or the broker is away: it expires by itself */
    w->open = false;
    ADD(w, aborts, 1);
}

struct changelog {
    struct sp_worker *w;
    struct sp_task *task;
};

static void on_write(void *arg, struct sp_view key, struct sp_view value, bool deleted)
{
    struct changelog *c = arg;
    produce(c->w, c->w->topics[c->w->options->stage.changelog], c->task->partition, key,
            deleted ? sp_view(NULL, 0) : value, NULL, NULL);
    c->task->changelog_records++;
}

/* The stage's changes and the marker. */
static enum sp_err write_changelog(struct sp_worker *w, struct sp_task *t)
{
    struct changelog c = {w, t};
    enum sp_err err = w->options->stage.flush(t->stage);
    if (err != SP_OK)
        return fail(w, err, "the stage cannot write its state", sp_db_message(t->db));
    t->changelog_records = 0;
    sp_db_each_write(t->db, on_write, &c);
    struct sp_buf marker = {0};
    sp_marker_put(&marker, t->handled_next, t->batch + 1);
    t->marker_offset = -1;
    produce(w, w->topics[w->options->stage.changelog], t->partition, sp_view("", 0),
            sp_buf_view(&marker), NULL, t);
    sp_buf_done(&marker);
    ADD(w, changelog_records, t->changelog_records + 1);
    return w->err;
}

static bool may_commit(struct sp_worker *w)
{
    char *member = rd_kafka_memberid(w->consumer);
    bool good = member && member[0] && !rd_kafka_assignment_lost(w->consumer);
    if (member)
        rd_kafka_mem_free(w->consumer, member);
    if (!good)
        fail(w, SP_BUSY, "commit", "the partitions are not ours any more");
    return good;
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
    check(w, rd_kafka_send_offsets_to_transaction(w->producer, offsets, metadata, TIMEOUT_MS),
          "offsets");
    rd_kafka_consumer_group_metadata_destroy(metadata);
    rd_kafka_topic_partition_list_destroy(offsets);
    if (w->err == SP_OK)
        check(w, rd_kafka_commit_transaction(w->producer, TIMEOUT_MS), "commit");
    return w->err;
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
    return err == SP_OK ? SP_OK : fail(w, err, "local state", sp_db_message(t->db));
}

static enum sp_err commit_open(struct sp_worker *w)
{
    if (!w->open || w->err != SP_OK || !may_commit(w))
        return w->err;
    int64_t start = now_ms();
    int32_t count = w->partitions[w->options->stage.input];
    for (int32_t p = 0; p < count && w->err == SP_OK; p++)
        if (w->tasks[p] && w->tasks[p]->handled_next >= 0 && w->options->stage.stateful)
            write_changelog(w, w->tasks[p]);
    if (w->err == SP_OK && rd_kafka_flush(w->producer, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail(w, SP_BUSY, "commit", "messages could not be delivered in time");
    if (w->err != SP_OK || commit_offsets(w) != SP_OK)
        return w->err;
    w->open = false;
    for (int32_t p = 0; p < count && w->err == SP_OK; p++)
        if (w->tasks[p] && w->tasks[p]->handled_next >= 0)
            apply(w, w->tasks[p]);
    ADD(w, commits, 1);
    ADD(w, commit_microseconds, (uint64_t)(now_ms() - start) * 1000);
    return w->err;
}

/* ---- tasks ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static bool on_restore(void *arg, int32_t partition, uint64_t applied, int64_t remaining)
{
    struct sp_worker *w = arg;
    SET(w, restore_remaining, (uint64_t)remaining);
    SET(w, last_poll_ms, now_ms());
    say(w, "info", "restoring partition %d: %" PRIu64 " records applied, %" PRId64 " to go",
        (int)partition, applied, remaining);
    return !*w->stop;
}

static enum sp_err open_database(struct sp_worker *w, struct sp_task *t, const char *directory)
{
    const char *message = "";
    enum sp_err err = sp_db_open_rocksdb(directory, w->options->fingerprint, &w->options->store,
                                         &t->db, &message);
    return err == SP_OK ? SP_OK : fail(w, err, "local state", message);
}

static enum sp_err open_state(struct sp_worker *w, struct sp_task *t)
{
    char directory[4096];
    const char *message = "";
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_restore restore = {.reader = w->reader,
                                 .watcher = w->watcher,
                                 .topic = w->topics[stage->changelog],
                                 .progress = on_restore,
                                 .arg = w};
    snprintf(directory, sizeof directory, "%s/%s-%d", w->options->state, stage->name,
             (int)t->partition);
    if (open_database(w, t, directory) != SP_OK)
        return w->err;
    enum sp_err err = sp_task_restore(t, &restore, &message);
    if (err == SP_STATE_FORMAT || err == SP_CORRUPT) {
        say(w, "warning", "wiping %s: %s", directory, message);
        sp_db_close(t->db);
        t->db = NULL;
        nftw(directory, remove_one, 32, FTW_DEPTH | FTW_PHYS);
        if (open_database(w, t, directory) != SP_OK)
            return w->err;
        err = sp_task_restore(t, &restore, &message);
    }
    SET(w, restore_remaining, 0);
    return err == SP_OK ? SP_OK : fail(w, err, "restore", message);
}

static void close_task(struct sp_worker *w, int32_t partition)
{
    struct sp_task *t = w->tasks[partition];
    if (!t)
        return;
    if (t->stage)
        w->options->stage.close(t->stage);
    if (t->db && w->err == SP_OK)
        sp_db_sync(t->db); /* else the changelog has it */
    sp_db_close(t->db);
    sp_free(t);
    w->tasks[partition] = NULL;
    ADD(w, tasks, -1);
}

static enum sp_err open_task(struct sp_worker *w, int32_t partition)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_task *t = sp_calloc(1, sizeof *t);
    t->partition = partition;
    t->input_next = t->handled_next = t->marker_offset = -1;
    w->tasks[partition] = t;
    ADD(w, tasks, 1);
    if (stage->stateful && open_state(w, t) != SP_OK)
        return w->err;
    struct sp_store *store = t->db ? sp_db_store(t->db, SP_TASK_STORE_STAGE) : NULL;
    enum sp_err err = stage->open(stage->arg, w, store, &t->stage);
    return err == SP_OK ? SP_OK : fail(w, err, "the stage cannot start", sp_err_text(err));
}

static void close_tasks(struct sp_worker *w)
{
    for (int32_t p = 0; w->tasks && p < w->partitions[w->options->stage.input]; p++)
        close_task(w, p);
}

static void on_rebalance(rd_kafka_t *consumer, rd_kafka_resp_err_t code,
                         rd_kafka_topic_partition_list_t *list, void *arg)
{
    struct sp_worker *w = arg;
    if (code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        SET(w, ready, 0);
        if (rd_kafka_assignment_lost(consumer))
            fail(w, SP_BUSY, "rebalance", "the partitions were lost");
        commit_open(w);
        if (w->open)
            abort_open(w);
        close_tasks(w);
        rd_kafka_assign(consumer, NULL);
        return;
    }
    for (int i = 0; i < list->cnt && w->err == SP_OK; i++) {
        int32_t p = list->elems[i].partition;
        if (open_task(w, p) == SP_OK)
            list->elems[i].offset =
                w->tasks[p]->input_next >= 0 ? w->tasks[p]->input_next : RD_KAFKA_OFFSET_STORED;
    }
    say(w, "info", "%d partitions assigned", list->cnt);
    rd_kafka_assign(consumer, w->err == SP_OK ? list : NULL);
    SET(w, ready, w->err == SP_OK);
}

/* ---- intake ---- */

/* Messages of the topic that the group has not handled yet; -1: not known. */
static int64_t lag_of(struct sp_worker *w, rd_kafka_t *handle, enum sp_topic topic)
{
    int64_t lag = 0;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (int32_t p = 0; p < w->partitions[topic]; p++)
        rd_kafka_topic_partition_list_add(list, w->topics[topic], p);
    if (rd_kafka_committed(handle, list, 5000) != RD_KAFKA_RESP_ERR_NO_ERROR)
        lag = -1;
    for (int i = 0; i < list->cnt && lag >= 0; i++) {
        int64_t low = 0, high = 0, at = list->elems[i].offset;
        if (rd_kafka_query_watermark_offsets(w->watcher, w->topics[topic], list->elems[i].partition,
                                             &low, &high, 5000) != RD_KAFKA_RESP_ERR_NO_ERROR)
            lag = -1;
        else
            lag += high - (at >= 0 ? at : low);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return lag;
}

/* The only inflow from outside waits while the tiers are behind; the loop between the tiers never
 * does, because a bounded loop can wait for itself. */
static void control_intake(struct sp_worker *w)
{
    int64_t t = now_ms();
    if (!w->options->max_lag || w->options->stage.stateful || t - w->lag_ms < LAG_INTERVAL_MS)
        return;
    w->lag_ms = t;
    int64_t tier1 = lag_of(w, w->lag_of[0], SP_TOPIC_TIER1);
    int64_t tier2 = lag_of(w, w->lag_of[1], SP_TOPIC_TIER2);
    if (tier1 < 0 || tier2 < 0)
        return;
    uint64_t lag = (uint64_t)(tier1 + tier2);
    bool paused = w->options->metrics->paused != 0;
    bool pause = paused ? lag > w->options->max_lag / 2 : lag > w->options->max_lag;
    if (pause == paused)
        return;
    rd_kafka_topic_partition_list_t *mine = NULL;
    if (rd_kafka_assignment(w->consumer, &mine) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (pause)
            rd_kafka_pause_partitions(w->consumer, mine);
        else
            rd_kafka_resume_partitions(w->consumer, mine);
        rd_kafka_topic_partition_list_destroy(mine);
        SET(w, paused, pause);
    }
}

static void handle(struct sp_worker *w, rd_kafka_message_t *m)
{
    struct sp_task *t = w->tasks[m->partition];
    const char *why = NULL;
    if (!t || begin(w) != SP_OK)
        return;
    enum sp_err err = w->options->stage.step(t->stage, sp_view(m->payload, m->len), &why);
    if (err != SP_OK && sp_err_class(err) == SP_CLASS_BAD_RECORD)
        dead_letter(w, m, err, why);
    else if (err != SP_OK)
        fail(w, err, "the stage failed", why ? why : sp_err_text(err));
    t->handled_next = m->offset + 1;
    w->handled++;
    ADD(w, received, 1);
}

static void run_until_stopped(struct sp_worker *w)
{
    const struct sp_worker_options *o = w->options;
    while (!*w->stop && w->err == SP_OK) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(w->consumer, POLL_MS);
        SET(w, last_poll_ms, now_ms());
        if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            handle(w, m);
        else if (m && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
            say(w, "warning", "%s", rd_kafka_message_errstr(m));
        if (m)
            rd_kafka_message_destroy(m);
        rd_kafka_poll(w->producer, 0);
        if (w->open &&
            (now_ms() - w->opened_ms >= o->commit_interval_ms || w->handled >= o->commit_messages))
            commit_open(w);
        control_intake(w);
    }
    if (w->err == SP_OK)
        commit_open(w);
}

/* ---- a round: from opening everything to closing it ---- */

static void configure_consumer(rd_kafka_conf_t *conf, void *arg)
{
    rd_kafka_conf_set_opaque(conf, arg);
    rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
}

static void configure_producer(rd_kafka_conf_t *conf, void *arg)
{
    rd_kafka_conf_set_opaque(conf, arg);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
}

static enum sp_err open_handle(struct sp_worker *w, enum sp_kafka_role role, const char *name,
                               void (*configure)(rd_kafka_conf_t *conf, void *arg),
                               rd_kafka_t **ret_handle)
{
    const char *message = "";
    enum sp_err err =
        sp_kafka_open(&w->options->kafka, role, name, configure, w, ret_handle, &message);
    return err == SP_OK ? SP_OK : fail(w, err, "configuration", message);
}

static enum sp_err look_at_topics(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    for (int topic = 0; topic < SP_TOPICS && w->err == SP_OK; topic++) {
        bool wanted = topic == (int)stage->input || topic == SP_TOPIC_DEAD_LETTER ||
                      (stage->stateful && topic == (int)stage->changelog) ||
                      (!stage->stateful && w->options->max_lag &&
                       (topic == SP_TOPIC_TIER1 || topic == SP_TOPIC_TIER2));
        for (size_t i = 0; i < stage->output_count; i++)
            wanted |= topic == (int)stage->outputs[i];
        sp_topic_name(&w->options->kafka, (enum sp_topic)topic, w->topics[topic]);
        if (!wanted)
            continue;
        enum sp_err err = sp_kafka_partitions(w->watcher, w->topics[topic], &w->partitions[topic]);
        if (err == SP_NOT_FOUND)
            fail(w, SP_INVALID, w->topics[topic],
                 "there is no such topic; `samepage topics create` makes it");
        else if (err != SP_OK)
            fail(w, SP_BUSY, w->topics[topic], "no broker answers");
    }
    if (w->err == SP_OK && stage->stateful &&
        w->partitions[stage->input] != w->partitions[stage->changelog])
        fail(w, SP_INVALID, w->topics[stage->changelog],
             "must have as many partitions as the input topic");
    return w->err;
}

static enum sp_err open_round(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    if (open_handle(w, SP_KAFKA_WATCHER, "watch", NULL, &w->watcher) != SP_OK ||
        look_at_topics(w) != SP_OK ||
        open_handle(w, SP_KAFKA_TRANSACTIONAL, stage->name, configure_producer, &w->producer) !=
            SP_OK)
        return w->err;
    w->tasks = sp_calloc((size_t)w->partitions[stage->input], sizeof *w->tasks);
    if (stage->stateful && open_handle(w, SP_KAFKA_READER, "restore", NULL, &w->reader) != SP_OK)
        return w->err;
    if (!stage->stateful && w->options->max_lag &&
        (open_handle(w, SP_KAFKA_WATCHER, "group", NULL, &w->lag_of[0]) != SP_OK ||
         open_handle(w, SP_KAFKA_WATCHER, "compare", NULL, &w->lag_of[1]) != SP_OK))
        return w->err;
    /* Ends what a predecessor of this name left open: before any partition is restored. */
    if (check(w, rd_kafka_init_transactions(w->producer, TIMEOUT_MS), "transactions") != SP_OK ||
        open_handle(w, SP_KAFKA_GROUP_CONSUMER, stage->name, configure_consumer, &w->consumer) !=
            SP_OK)
        return w->err;
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, w->topics[stage->input], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t code = rd_kafka_subscribe(w->consumer, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail(w, SP_BUSY, "subscribe", rd_kafka_err2str(code));
    return w->err;
}

static void close_handle(rd_kafka_t **handle)
{
    if (*handle)
        rd_kafka_destroy(*handle);
    *handle = NULL;
}

static void close_round(struct sp_worker *w)
{
    SET(w, ready, 0);
    if (w->err != SP_OK && w->producer)
        abort_open(w);
    if (w->consumer)
        rd_kafka_consumer_close(w->consumer); /* calls on_rebalance */
    close_tasks(w);
    close_handle(&w->consumer);
    close_handle(&w->producer);
    close_handle(&w->reader);
    close_handle(&w->watcher);
    close_handle(&w->lag_of[0]);
    close_handle(&w->lag_of[1]);
    sp_free(w->tasks);
    w->tasks = NULL;
    SET(w, paused, 0);
}

enum sp_err sp_worker_run(const struct sp_worker_options *options,
                          const volatile sig_atomic_t *stop, const char **ret_message)
{
    static _Thread_local char message[1100];
    enum sp_err err = SP_OK;
    *ret_message = message;
    while (!*stop && err == SP_OK) {
        struct sp_worker w = {.options = options, .stop = stop, .ret_message = ret_message};
        if (open_round(&w) == SP_OK)
            run_until_stopped(&w);
        close_round(&w);
        if (w.err == SP_OK)
            continue;
        snprintf(message, sizeof message, "%s", w.message);
        enum sp_err_class class = sp_err_class(w.err);
        if (class == SP_CLASS_RETRIABLE || class == SP_CLASS_ABORT) {
            say(&w, "warning", "starting again: %s", message);
            ADD(&w, restarts, 1);
            for (int i = 0; i < RESTART_SECONDS * 10 && !*stop; i++)
                usleep(100000);
        } else {
            err = w.err;
        }
    }
    return err;
}

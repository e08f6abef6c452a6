/* See worker.h. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kafka/internal.h"

enum { POLL_MS = 20, RESTART_MS = 2000, RESTART_SLICE_MS = 100, LAG_INTERVAL_MS = 500 };
enum { TIMEOUT_MS = 30000, AGAIN_MS = 60000 };
enum { WAKE_BYTES = 24 << 20, WAKE_TIMEOUT_MS = 200 };

void worker_alive(struct sp_worker *w)
{
    SET(w, last_poll_ms, sp_clock_ms());
}

void worker_say(struct sp_worker *w, const char *level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->options->log(level, text);
}

int worker_timeout_ms(const struct sp_worker *w)
{
    return w->options->timeout_ms ? (int)w->options->timeout_ms : TIMEOUT_MS;
}

/* ---- errors ---- */

const char *sp_abort_name(enum sp_abort cause)
{
    static const char *const names[SP_ABORT_COUNT] = {
#define X(name, lower) #lower,
        SP_ABORTS(X)
#undef X
    };
    return (unsigned)cause < SP_ABORT_COUNT ? names[cause] : "unknown";
}

/* Keeps the first error of a round, and its message. */
static enum sp_err keep(struct sp_worker *w, enum sp_err err, enum sp_abort cause, const char *what,
                        const char *detail)
{
    if (w->err == SP_OK) {
        w->err = err;
        w->cause = cause;
        snprintf(w->message, sizeof w->message, "%s: %s", what, detail);
    }
    return w->err;
}

enum sp_err worker_fail(struct sp_worker *w, enum sp_err err, const char *what, const char *detail)
{
    bool passes = sp_err_class(err) == SP_CLASS_RETRIABLE;
    return keep(w, err, passes ? SP_ABORT_BROKER : SP_ABORT_STAGE, what, detail);
}

enum sp_err worker_fail_for(struct sp_worker *w, enum sp_abort cause, const char *what,
                            const char *detail)
{
    return keep(w, SP_BUSY, cause, what, detail);
}

static enum sp_abort cause_of(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
        return SP_ABORT_FENCED;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        return SP_ABORT_TIMEOUT;
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
        return SP_ABORT_REBALANCE;
    default:
        return SP_ABORT_BROKER;
    }
}

enum sp_err worker_fail_kafka(struct sp_worker *w, rd_kafka_resp_err_t code, const char *what,
                              const char *detail)
{
    /* After a fatal error everything else fails because of it: messages are "purged" and so on. */
    char why[512] = "";
    rd_kafka_resp_err_t fatal = w->producer ? rd_kafka_fatal_error(w->producer, why, sizeof why)
                                            : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (fatal != RD_KAFKA_RESP_ERR_NO_ERROR)
        code = fatal, detail = why;
    return keep(w, SP_BUSY, cause_of(code), what, detail);
}

/* Fenced: another process has our name; or a transaction was open for too long; or the broker was
 * restarted during a rebalance, and remembers the members before it. */
static bool fenced(struct sp_worker *w)
{
    rd_kafka_resp_err_t fatal =
        w->consumer ? rd_kafka_fatal_error(w->consumer, NULL, 0) : RD_KAFKA_RESP_ERR_NO_ERROR;
    return w->err != SP_OK &&
           (w->cause == SP_ABORT_FENCED || fatal == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
}

/* Once proves nothing, but who starts again takes the name back. To lose it again at once is the
 * work of another process; two that go on would do this to each other for ever. */
static void give_way(struct sp_worker *w, bool fenced_before)
{
    char why[sizeof w->message];
    if (!fenced_before || !w->fenced || sp_clock_ms() - w->opened_round_ms > AGAIN_MS)
        return;
    snprintf(why, sizeof why, "%s", w->message);
    w->err = SP_INVALID;
    snprintf(w->message, sizeof w->message,
             "another %s with instance = %s has taken over; each process needs an instance of its "
             "own (%.400s)",
             w->options->stage.name, w->options->kafka.instance, why);
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
    int64_t t = sp_clock_ms();
    if (!w->options->max_lag || w->options->stage.stateful || t - w->lag_ms < LAG_INTERVAL_MS)
        return;
    w->lag_ms = t;
    int64_t tier1 = lag_of(w, w->lag_of[0], SP_TOPIC_TIER1);
    int64_t tier2 = lag_of(w, w->lag_of[1], SP_TOPIC_TIER2);
    if (tier1 < 0 || tier2 < 0)
        return;
    uint64_t lag = (uint64_t)(tier1 + tier2);
    bool pause = w->paused ? lag > w->options->max_lag / 2 : lag > w->options->max_lag;
    if (pause == w->paused)
        return;
    rd_kafka_topic_partition_list_t *mine = NULL;
    if (rd_kafka_assignment(w->consumer, &mine) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (pause)
            rd_kafka_pause_partitions(w->consumer, mine);
        else
            rd_kafka_resume_partitions(w->consumer, mine);
        rd_kafka_topic_partition_list_destroy(mine);
        w->paused = pause;
        SET(w, paused, pause);
    }
}

static void handle(struct sp_worker *w, rd_kafka_message_t *m)
{
    struct sp_task *t = w->tasks[m->partition];
    const char *why = NULL;
    if (!t || transaction_begin(w) != SP_OK)
        return;
    enum sp_err err = w->options->stage.step(t->stage, sp_view(m->payload, m->len), &why);
    if (err != SP_OK && sp_err_class(err) == SP_CLASS_BAD_RECORD)
        transaction_dead_letter(w, m, err, why);
    else if (err != SP_OK)
        worker_fail(w, err, "the stage failed", why ? why : sp_err_text(err));
    t->handled_next = m->offset + 1;
    w->handled++;
    ADD(w, received, 1);
}

/* With a full queue the thread of librdkafka that fetches sleeps for a second, or until it gets
 * something to send: any question to the partition's broker will do, the answer does not matter. */
static void wake_fetcher(struct sp_worker *w, const rd_kafka_message_t *m)
{
    int64_t low, high;
    w->drained += m->len;
    if (w->drained < WAKE_BYTES)
        return;
    w->drained = 0;
    rd_kafka_query_watermark_offsets(w->consumer, w->topics[w->options->stage.input], m->partition,
                                     &low, &high, WAKE_TIMEOUT_MS);
}

/* Most errors of a consumer pass. After a fatal one it never gets a message again. */
static void on_consumer_error(struct sp_worker *w, const rd_kafka_message_t *m)
{
    char text[512] = "";
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(w->consumer, text, sizeof text);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        worker_fail_kafka(w, code, "consumer", text);
    else
        worker_say(w, "warning", "%s", rd_kafka_message_errstr(m));
    ADD(w, errors, 1);
}

static void run_until_stopped(struct sp_worker *w)
{
    const struct sp_worker_options *o = w->options;
    while (!*w->stop && w->err == SP_OK) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(w->consumer, POLL_MS);
        worker_alive(w);
        if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            handle(w, m);
            wake_fetcher(w, m);
        } else if (m && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            on_consumer_error(w, m);
        }
        if (m)
            rd_kafka_message_destroy(m);
        rd_kafka_poll(w->producer, 0);
        if (w->open && (sp_clock_ms() - w->opened_ms >= o->commit_interval_ms ||
                        w->handled >= o->commit_messages))
            transaction_commit(w);
        control_intake(w);
        worker_upkeep(w);
        worker_measure(w);
    }
    if (w->err == SP_OK)
        transaction_commit(w);
}

/* ---- a round: from opening everything to closing it ---- */

static void configure_consumer(rd_kafka_conf_t *conf, void *arg)
{
    rd_kafka_conf_set_opaque(conf, arg);
    rd_kafka_conf_set_rebalance_cb(conf, assignment_changed);
}

static void configure_producer(rd_kafka_conf_t *conf, void *arg)
{
    rd_kafka_conf_set_opaque(conf, arg);
    rd_kafka_conf_set_dr_msg_cb(conf, transaction_delivered);
}

static enum sp_err open_handle(struct sp_worker *w, enum sp_kafka_role role, const char *name,
                               void (*configure)(rd_kafka_conf_t *conf, void *arg),
                               rd_kafka_t **ret_handle)
{
    const char *message = "";
    enum sp_err err =
        sp_kafka_open(&w->options->kafka, role, name, configure, w, ret_handle, &message);
    return err == SP_OK ? SP_OK : worker_fail(w, err, "configuration", message);
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
        worker_alive(w);
        enum sp_err err = sp_kafka_partitions(w->watcher, w->topics[topic], &w->partitions[topic]);
        if (err == SP_NOT_FOUND)
            worker_fail(w, SP_INVALID, w->topics[topic],
                        "there is no such topic; `samepage topics create` makes it");
        else if (err != SP_OK)
            worker_fail(w, SP_BUSY, w->topics[topic], sp_kafka_no_answer(w->watcher));
    }
    if (w->err == SP_OK && stage->stateful &&
        w->partitions[stage->input] != w->partitions[stage->changelog])
        worker_fail(w, SP_INVALID, w->topics[stage->changelog],
                    "must have as many partitions as the input topic");
    return w->err;
}

/* A producer asks for a topic that it has not met only at the next of its seconds: at a cold start
 * each hop would wait for that, and the first statuses took three seconds. */
static enum sp_err introduce_topics(struct sp_worker *w)
{
    const struct rd_kafka_metadata *metadata = NULL;
    for (int topic = 0; topic < SP_TOPICS; topic++)
        if (w->partitions[topic] > 0)
            w->known[topic] = rd_kafka_topic_new(w->producer, w->topics[topic], NULL);
    rd_kafka_resp_err_t code =
        rd_kafka_metadata(w->producer, 0, NULL, &metadata, worker_timeout_ms(w));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return worker_fail_kafka(w, code, "topics", rd_kafka_err2str(code));
    rd_kafka_metadata_destroy(metadata);
    return SP_OK;
}

static enum sp_err open_round(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    if (open_handle(w, SP_KAFKA_WATCHER, "watch", NULL, &w->watcher) != SP_OK ||
        look_at_topics(w) != SP_OK ||
        open_handle(w, SP_KAFKA_TRANSACTIONAL, stage->name, configure_producer, &w->producer) !=
            SP_OK ||
        introduce_topics(w) != SP_OK)
        return w->err;
    w->tasks = sp_calloc((size_t)w->partitions[stage->input], sizeof *w->tasks);
    if (stage->stateful && open_handle(w, SP_KAFKA_READER, "restore", NULL, &w->reader) != SP_OK)
        return w->err;
    if (!stage->stateful && w->options->max_lag &&
        (open_handle(w, SP_KAFKA_WATCHER, "group", NULL, &w->lag_of[0]) != SP_OK ||
         open_handle(w, SP_KAFKA_WATCHER, "compare", NULL, &w->lag_of[1]) != SP_OK))
        return w->err;
    worker_alive(w);
    /* Ends what a predecessor of this name left open: before any partition is restored. */
    if (worker_check(w, rd_kafka_init_transactions(w->producer, worker_timeout_ms(w)),
                     "transactions") != SP_OK ||
        open_handle(w, stage->stateful ? SP_KAFKA_GROUP_CONSUMER : SP_KAFKA_PASSING_CONSUMER,
                    stage->name, configure_consumer, &w->consumer) != SP_OK)
        return w->err;
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, w->topics[stage->input], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t code = rd_kafka_subscribe(w->consumer, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        worker_fail(w, SP_BUSY, "subscribe", rd_kafka_err2str(code));
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
    worker_alive(w);
    w->fenced = fenced(w);
    if (w->err != SP_OK && w->producer)
        transaction_abort(w);
    if (w->consumer)
        rd_kafka_consumer_close(w->consumer); /* calls assignment_changed */
    assignment_close(w);
    close_handle(&w->consumer);
    for (int topic = 0; topic < SP_TOPICS; topic++)
        if (w->known[topic])
            rd_kafka_topic_destroy(w->known[topic]);
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
    bool fenced_before = false;
    *ret_message = message;
    while (!*stop && err == SP_OK) {
        struct sp_worker w = {.options = options, .stop = stop, .opened_round_ms = sp_clock_ms()};
        if (open_round(&w) == SP_OK)
            run_until_stopped(&w);
        close_round(&w);
        give_way(&w, fenced_before);
        fenced_before = w.fenced;
        if (w.err == SP_OK)
            continue;
        snprintf(message, sizeof message, "%s", w.message);
        enum sp_err_class class = sp_err_class(w.err);
        if (class == SP_CLASS_RETRIABLE || class == SP_CLASS_ABORT) {
            worker_say(&w, "warning", "starting again: %s", message);
            ADD(&w, errors, 1);
            ADD(&w, restarts, 1);
            uint32_t ms = options->restart_ms ? options->restart_ms : RESTART_MS;
            for (uint32_t i = 0; i < ms && !*stop; i += RESTART_SLICE_MS)
                usleep(1000 * RESTART_SLICE_MS);
        } else {
            err = w.err;
        }
    }
    return err;
}

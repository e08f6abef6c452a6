/* See worker.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kafka/internal.h"

enum { POLL_MS = 20, RESTART_MS = 2000 };
enum { BEHIND_TIMES = 4 };
enum { AGAIN_MS = 60000, REGISTRY_WAIT_MAX_MS = 30000 };

/* ---- failures caused by another process ---- */

/* Whether the worker was fenced: another process has our name, or the broker was restarted during a
 * rebalance and remembers the members before it. */
static bool fenced(struct sp_worker *w)
{
    rd_kafka_resp_err_t fatal =
        w->consumer ? rd_kafka_fatal_error(w->consumer, NULL, 0) : RD_KAFKA_RESP_ERR_NO_ERROR;
    return w->failure.err != SP_OK &&
           (w->failure.cause == SP_ABORT_FENCED || fatal == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
}

static int64_t transaction_timeout_ms(rd_kafka_t *producer)
{
    char text[32] = "";
    size_t size = sizeof text;
    if (rd_kafka_conf_get(rd_kafka_conf(producer), "transaction.timeout.ms", text, &size) !=
        RD_KAFKA_CONF_OK)
        return INT64_MAX;
    return strtoll(text, NULL, 10);
}

/* The broker aborts a transaction that is open for too long and fences the producer, as if another
 * process had its name. */
static void find_true_cause(struct sp_worker *w)
{
    if (!w->transaction.open || w->failure.err == SP_OK || w->failure.cause != SP_ABORT_FENCED)
        return;
    int64_t open_ms = sp_clock_ms() - w->transaction.opened_ms;
    int64_t most_ms = transaction_timeout_ms(w->producer);
    char was[256];
    if (open_ms < most_ms)
        return;
    snprintf(was, sizeof was, "%.255s", w->failure.fault.text);
    w->failure.cause = SP_ABORT_TIMEOUT;
    sp_fault_set(&w->failure.fault, w->failure.err,
                 "the transaction was open for %" PRId64 " ms, and kafka.transaction.timeout.ms is "
                 "%" PRId64 ": the broker ended it (%s)",
                 open_ms, most_ms, was);
}

/* Being fenced once can have other causes, so the worker restarts and takes its name back. If it is
 * fenced again within AGAIN_MS, another process runs with the same name. This one must end, or the
 * two would fence each other without end. */
static void give_way(struct sp_worker *w, bool fenced_before)
{
    if (!fenced_before || !w->fenced || sp_clock_ms() - w->opened_round_ms > AGAIN_MS)
        return;
    w->failure.err = sp_fault_set(
        &w->failure.fault, SP_INVALID,
        "another %s with instance = %s has taken over; each process needs an instance of its "
        "own (%.400s)",
        w->options->stage.name, w->options->kafka.instance, w->failure.fault.text);
}

/* ---- the loop ---- */

/* Ends the round; the next one contacts the registry before it takes messages. */
static enum sp_err note_registry(struct sp_worker *w, enum sp_err err, const char *why)
{
    SET(w, registry_down, err == SP_BUSY);
    if (err == SP_BUSY)
        return sp_failure_note_cause(&w->failure, SP_ABORT_REGISTRY, "no schemas", why);
    return err == SP_OK ? SP_OK : sp_failure_note(&w->failure, err, "no schemas", why);
}

/* After a step: an error becomes a dead letter or ends the round. */
static void note_handled(struct sp_worker *w, struct sp_task *t, const rd_kafka_message_t *m,
                         enum sp_err err, const char *why)
{
    if (err == SP_OK && w->too_large)
        err = SP_TOO_LARGE, why = "its result is larger than the output topic of the stage accepts";
    if (err != SP_OK && sp_err_class(err) == SP_CLASS_BAD_RECORD)
        sp_transaction_dead_letter(w, m, err, why);
    else if (err == SP_BUSY)
        note_registry(w, err, why);
    else if (err != SP_OK && (err != SP_OTHER_MAP || !sp_worker_set_aside(w, t, m)))
        sp_damage_note(w, t, err, "the stage failed", why ? why : sp_err_text(err));
    t->handled_next = m->offset + 1;
    w->transaction.handled++;
    w->transaction.taken++;
    sp_direct_deliver(w);
    w->transaction.handled_ms = sp_clock_ms();
    ADD(w, received, 1);
}

static void handle(struct sp_worker *w, rd_kafka_message_t *m)
{
    struct sp_task *t = w->tasks[m->partition];
    const char *why = NULL;
    if (!t || sp_transaction_begin(w) != SP_OK)
        return;
    w->too_large = 0;
    struct sp_step step = sp_step_begin(w);
    enum sp_err err = w->options->stage.step(t->stage, sp_view(m->key, m->key_len),
                                             sp_view(m->payload, m->len), &why);
    sp_step_end(w, &step, t, m, NULL, 0);
    note_handled(w, t, m, err, why);
}

/* Handles a message that the crew has read. */
static void handle_read(struct sp_worker *w, const struct sp_crew_result *r)
{
    struct sp_task *t = w->tasks[r->message->partition];
    if (!t || sp_transaction_begin(w) != SP_OK) {
        if (r->reading.message)
            sp_message_free(r->reading.message);
        return;
    }
    w->too_large = 0;
    struct sp_step step = sp_step_begin(w);
    if (r->err == SP_OK)
        w->options->stage.pass(t->stage, &r->reading);
    sp_step_end(w, &step, t, r->message, NULL, r->took_us);
    note_handled(w, t, r->message, r->err, r->reading.why);
}

/* Takes what the crew has read, without a pause until the transaction must end. `idle`: no message
 * waits in the topic. */
static void take_read(struct sp_worker *w, bool idle)
{
    struct sp_crew_result r;
    if (!sp_crew_count(w->crew) || (!idle && sp_crew_has_room(w->crew)))
        return;
    sp_crew_wait(w->crew, idle);
    while (w->failure.err == SP_OK &&
           (!w->transaction.open || w->transaction.handled < w->options->commit_messages) &&
           sp_crew_take(w->crew, &r)) {
        handle_read(w, &r);
        rd_kafka_message_destroy(r.message);
    }
}

/* After a fatal error a consumer never gets a message again. It reports that in one message, which
 * a restore may take, because it polls, too. */
static bool is_dead(struct sp_worker *w)
{
    char text[512] = "";
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(w->consumer, text, sizeof text);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    sp_failure_note_kafka(&w->failure, w->producer, code, "consumer", text);
    return true;
}

/* Most errors of a consumer are temporary; missing rights and wrong settings are not. */
static void on_consumer_error(struct sp_worker *w, const rd_kafka_message_t *m)
{
    ADD(w, errors, 1);
    if (is_dead(w) || sp_remade_gone(w, m->err, rd_kafka_message_errstr(m)))
        return;
    if (sp_failure_lasts(m->err)) {
        sp_failure_note_kafka(&w->failure, NULL, m->err, "consumer", rd_kafka_message_errstr(m));
        return;
    }
    if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET && !w->options->stage.stateful)
        /* The next round finds where to go on, and what is lost. */
        sp_failure_note_cause(&w->failure, SP_ABORT_BROKER, w->topics[w->options->stage.input],
                              rd_kafka_message_errstr(m));
    else if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET && w->tasks[m->partition])
        sp_assignment_lost(w, m->partition);
    else
        sp_worker_say(w, "warning", "%s", rd_kafka_message_errstr(m));
}

/* Whether the transaction goes on after its interval: what waits will take several times as long as
 * it is open, so a commit now would make little of the crawl earlier, and each costs the broker a
 * dozen requests. Looks at the lag once an interval. */
static bool goes_on(struct sp_worker *w, int64_t now_ms)
{
    const struct sp_worker_options *o = w->options;
    if (now_ms - w->transaction.opened_ms >= o->commit_behind_ms ||
        sp_worker_lag(w) < BEHIND_TIMES * w->transaction.taken)
        return false;
    w->transaction.due_ms = now_ms + o->commit_interval_ms;
    return true;
}

/* Whether to commit. If no messages come, waiting longer would not make the transaction larger, and
 * other stages wait for its output: the last messages of a crawl pass a dozen stages, and lost 0.1
 * s in each. A transaction without a message is upkeep, which leaves most of an interval to the
 * stream. `empty`: no message was waiting; a worker that was slow is not idle. */
static bool is_due(struct sp_worker *w, bool empty)
{
    const struct sp_worker_options *o = w->options;
    if (!w->transaction.open)
        return false;
    int64_t now_ms = sp_clock_ms();
    return (now_ms >= w->transaction.due_ms && !goes_on(w, now_ms)) ||
           w->transaction.handled >= o->commit_messages ||
           (empty && o->commit_idle_ms && w->transaction.handled &&
            now_ms - w->transaction.handled_ms >= o->commit_idle_ms);
}

static int poll_ms(const struct sp_worker *w)
{
    uint32_t idle_ms = w->options->commit_idle_ms;
    if (w->crew && sp_crew_count(w->crew))
        return 0;
    return w->transaction.open && idle_ms && idle_ms < POLL_MS ? (int)idle_ms : POLL_MS;
}

/* `m`: the end of a partition, or NULL. */
static void note_end(struct sp_worker *w, const rd_kafka_message_t *m)
{
    struct sp_task *t = m ? w->tasks[m->partition] : NULL;
    if (t)
        t->read_to = m->offset;
}

static void run_until_stopped(struct sp_worker *w)
{
    while (!*w->stop && w->failure.err == SP_OK) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(w->consumer, poll_ms(w));
        sp_worker_alive(w);
        if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            sp_waker_taken(w->waker, m->partition, m->len);
            if (w->crew)
                sp_crew_put(w->crew, m);
            else
                handle(w, m);
        } else if (m && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            on_consumer_error(w, m);
        } else {
            note_end(w, m);
            is_dead(w);
        }
        bool empty = !m || m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (m && (m->err != RD_KAFKA_RESP_ERR_NO_ERROR || !w->crew))
            rd_kafka_message_destroy(m);
        if (w->crew)
            take_read(w, empty);
        rd_kafka_poll(w->producer, 0);
        if (is_due(w, empty))
            sp_transaction_commit(w);
        sp_intake_control(w);
        sp_worker_upkeep(w);
        sp_worker_measure(w);
    }
    if (w->failure.err == SP_OK)
        sp_transaction_commit(w);
}

/* ---- a round: from opening everything to closing it ---- */

static void configure_consumer(rd_kafka_conf_t *conf, void *arg)
{
    rd_kafka_conf_set_opaque(conf, arg);
    rd_kafka_conf_set_rebalance_cb(conf, sp_assignment_changed);
    rd_kafka_conf_set_error_cb(conf, sp_remade_error);
}

static void configure_producer(rd_kafka_conf_t *conf, void *arg)
{
    rd_kafka_conf_set_opaque(conf, arg);
    rd_kafka_conf_set_dr_msg_cb(conf, sp_transaction_delivered);
}

static enum sp_err open_handle(struct sp_worker *w, enum sp_kafka_role role, const char *name,
                               void (*configure)(rd_kafka_conf_t *conf, void *arg),
                               rd_kafka_t **ret_handle)
{
    struct sp_fault fault;
    enum sp_err err =
        sp_kafka_open(&w->options->kafka, role, name, configure, w, ret_handle, &fault);
    return err == SP_OK ? SP_OK : sp_failure_note(&w->failure, err, "configuration", fault.text);
}

/* Tells the producer its topics. A producer looks up a new topic only once a second: at a cold
 * start each hop would wait for that, and the first statuses took three seconds. */
static enum sp_err introduce_topics(struct sp_worker *w)
{
    const struct rd_kafka_metadata *metadata = NULL;
    for (int topic = 0; topic < SP_TOPICS; topic++)
        if (w->partitions[topic] > 0)
            w->known[topic] = rd_kafka_topic_new(w->producer, w->topics[topic], NULL);
    rd_kafka_resp_err_t code =
        rd_kafka_metadata(w->producer, 0, NULL, &metadata, sp_worker_timeout_ms(w));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return sp_failure_note_kafka(&w->failure, w->producer, code, "topics",
                                     rd_kafka_err2str(code));
    rd_kafka_metadata_destroy(metadata);
    return SP_OK;
}

static enum sp_err prepare(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_fault fault;
    sp_worker_alive(w);
    return stage->prepare ? note_registry(w, stage->prepare(stage->arg, &fault), fault.text)
                          : SP_OK;
}

static enum sp_err open_round(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    sp_agreement_of(w->options->fingerprint, &w->agreement);
    if (prepare(w) != SP_OK ||
        open_handle(w, SP_KAFKA_WATCHER, "watch", NULL, &w->watcher) != SP_OK ||
        sp_needs_look(w) != SP_OK ||
        open_handle(w, SP_KAFKA_TRANSACTIONAL, stage->name, configure_producer, &w->producer) !=
            SP_OK ||
        introduce_topics(w) != SP_OK)
        return w->failure.err;
    w->tasks = sp_calloc((size_t)w->partitions[stage->input], sizeof *w->tasks);
    sp_transaction_open_outlets(w);
    struct sp_fault fault;
    enum sp_err err = SP_OK;
    if (!stage->stateful)
        err = sp_lag_start(&w->options->kafka, w->partitions, &w->agreement, &w->lag, &fault);
    if (err != SP_OK)
        return sp_failure_note(&w->failure, err, "lag", fault.text);
    sp_worker_alive(w);
    /* Ends what an earlier process of this name left open, before any partition is restored. */
    if (sp_failure_check(&w->failure, w->producer,
                         rd_kafka_init_transactions(w->producer, sp_worker_timeout_ms(w)),
                         "transactions") != SP_OK ||
        open_handle(w, stage->stateful ? SP_KAFKA_GROUP_CONSUMER : SP_KAFKA_PASSING_CONSUMER,
                    stage->name, configure_consumer, &w->consumer) != SP_OK)
        return w->failure.err;
    err = sp_waker_start(w->consumer, w->topics[stage->input], &w->waker, &fault);
    if (err == SP_OK && stage->read && w->options->readers)
        err = sp_crew_start(stage, w->options->readers, &w->crew, &fault);
    if (err != SP_OK)
        return sp_failure_note(&w->failure, err, "threads", fault.text);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, w->topics[stage->input], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t code = rd_kafka_subscribe(w->consumer, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        sp_failure_note(&w->failure, SP_BUSY, "subscribe", rd_kafka_err2str(code));
    return w->failure.err;
}

static void close_handle(rd_kafka_t **handle)
{
    sp_kafka_close(*handle);
    *handle = NULL;
}

static void close_round(struct sp_worker *w)
{
    SET(w, ready, 0);
    sp_worker_alive(w);
    find_true_cause(w);
    w->fenced = fenced(w);
    if (w->failure.err != SP_OK && w->producer)
        sp_transaction_abort(w);
    sp_waker_stop(w->waker);
    w->waker = NULL;
    if (w->consumer)
        rd_kafka_consumer_close(w->consumer); /* calls sp_assignment_changed */
    sp_assignment_close(w);
    sp_crew_stop(w->crew);
    w->crew = NULL;
    close_handle(&w->consumer);
    for (int topic = 0; topic < SP_TOPICS; topic++)
        if (w->known[topic])
            rd_kafka_topic_destroy(w->known[topic]);
    if (sp_offsets_leave(w))
        w->producer = NULL;
    close_handle(&w->producer);
    if (w->policies.queue)
        rd_kafka_queue_destroy(w->policies.queue);
    sp_states_free(w->states);
    close_handle(&w->watcher);
    sp_lag_stop(w->lag);
    sp_free(w->tasks);
    w->tasks = NULL;
    for (int topic = 0; topic < SP_TOPICS; topic++)
        sp_free(w->outlets[topic]);
    sp_buf_done(&w->waiting);
    SET(w, paused, 0);
}

/* How long the next round waits: after a failure of the registry twice as long each time, because
 * it may be down for hours. */
static uint32_t wait_ms(const struct sp_worker *w, uint32_t *silences)
{
    uint32_t ms = w->options->restart_ms ? w->options->restart_ms : RESTART_MS;
    if (w->failure.cause != SP_ABORT_REGISTRY)
        return ms;
    for (uint32_t i = 0; i < *silences && ms < REGISTRY_WAIT_MAX_MS; i++)
        ms *= 2;
    ++*silences;
    return ms < REGISTRY_WAIT_MAX_MS ? ms : REGISTRY_WAIT_MAX_MS;
}

static bool is_not_stopped(void *arg)
{
    const struct sp_worker *w = arg;
    return !*w->stop;
}

enum sp_err sp_worker_run(const struct sp_worker_options *options,
                          const volatile sig_atomic_t *stop, struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    bool fenced_before = false;
    struct sp_earlier earlier = {0};
    uint32_t silences = 0;
    while (!*stop && err == SP_OK) {
        struct sp_worker w = {.options = options,
                              .stop = stop,
                              .earlier = &earlier,
                              .opened_round_ms = sp_clock_ms()};
        if (open_round(&w) == SP_OK) {
            silences = 0;
            run_until_stopped(&w);
        }
        close_round(&w);
        give_way(&w, fenced_before);
        fenced_before = w.fenced;
        if (w.failure.err == SP_OK)
            continue;
        if (sp_err_class(w.failure.err) == SP_CLASS_RETRIABLE) {
            const bool again = !*stop;
            sp_worker_say(&w, "warning", "%s: %s", again ? "starting again" : "ending",
                          w.failure.fault.text);
            ADD(&w, errors, 1);
            ADD(&w, restarts, again);
            sp_clock_pause(wait_ms(&w, &silences), is_not_stopped, &w);
        } else {
            err = w.failure.err;
            *fault = w.failure.fault;
        }
    }
    sp_free(earlier.lost);
    return err;
}

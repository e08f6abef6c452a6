/* What a worker does from time to time: it reads metrics that are not counted by messages, and runs
 * the stage's upkeep while no message arrives. */
#include "base/clock.h"
#include "kafka/internal.h"
#include "kafka/policy.h"

enum { MEASURE_INTERVAL_MS = 1000, POLICIES_INTERVAL_MS = 60000 };

/* The offset of the input before which nothing is left to handle. Each transaction of a producer
 * leaves a marker, and several may be after the last message. A reader passes them without a
 * message, and only hears of the end; the crew may still have messages before it. */
static int64_t passed(const struct sp_worker *w, const struct sp_task *t)
{
    int64_t next = t->handled_next >= 0 ? t->handled_next : t->input_next;
    if (next < t->read_from)
        next = t->read_from;
    return next < t->read_to && !(w->crew && sp_crew_count(w->crew)) ? t->read_to : next;
}

/* Counts the offsets that are not passed. librdkafka knows the end of the log from its last fetch.
 */
static uint64_t lag_of_task(const struct sp_worker *w, const struct sp_task *t)
{
    int64_t low = 0, high = 0, next = passed(w, t);
    if (rd_kafka_get_watermark_offsets(w->consumer, w->topics[w->options->stage.input],
                                       t->partition, &low, &high) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return 0;
    next = next < low ? low : next;
    return high > next ? (uint64_t)(high - next) : 0;
}

uint64_t sp_worker_lag(const struct sp_worker *w)
{
    uint64_t lag = 0;
    for (int32_t p = 0; p < w->partitions[w->options->stage.input]; p++)
        if (w->tasks[p] && w->tasks[p]->stage)
            lag += lag_of_task(w, w->tasks[p]);
    return lag;
}

static void measure_db(struct sp_db *db, uint64_t *ret_disk, struct sp_db_counts *sum)
{
    struct sp_db_counts counts;
    uint64_t memory = 0;
    sp_db_size(db, ret_disk, &memory);
    sp_db_counts(db, &counts);
    sum->rows_read += counts.rows_read;
    sum->bytes_read += counts.bytes_read;
    sum->rows_put += counts.rows_put;
    sum->rows_deleted += counts.rows_deleted;
    sum->bytes_written += counts.bytes_written;
}

/* An operator may change a policy at any time. A broker that does not tell is no reason to stop. */
static void look_at_policies(struct sp_worker *w, int64_t now_ms)
{
    struct sp_fault fault;
    if (!w->policies.queue &&
        (!w->policies.asked_ms || now_ms - w->policies.asked_ms >= POLICIES_INTERVAL_MS)) {
        w->policies.queue =
            sp_policy_ask(w->watcher, w->topics, w->partitions, sp_worker_timeout_ms(w));
        w->policies.asked_ms = now_ms;
    }
    enum sp_err err =
        w->policies.queue ? sp_policy_take(w->policies.queue, w->topics, &fault) : SP_NOT_FOUND;
    if (err == SP_NOT_FOUND)
        return;
    rd_kafka_queue_destroy(w->policies.queue);
    w->policies.queue = NULL;
    if (err == SP_INVALID)
        sp_failure_note(&w->failure, err, "topics", fault.text);
    else if (err != SP_OK && !w->policies.warned)
        sp_worker_say(w, "warning", "%s", fault.text);
    w->policies.warned = err != SP_OK;
}

/* Whether it may have work that no message causes. A partition that has never had a message has
 * none. */
static bool owes(const struct sp_worker_stage *stage, const struct sp_task *t)
{
    return stage->upkeep && t->stage && !t->upkept && t->input_next >= 0;
}

void sp_worker_measure(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_stage_measure sum = {0};
    struct sp_db_counts rows = {0};
    uint64_t state_bytes = 0, deferred = 0;
    int64_t t = sp_clock_ms();
    if (t - w->measured_ms < MEASURE_INTERVAL_MS)
        return;
    w->measured_ms = t;
    look_at_policies(w, t);
    for (int32_t p = 0; p < w->partitions[stage->input]; p++) {
        uint64_t disk = 0;
        const struct sp_task *task = w->tasks[p];
        if (!task || !task->stage)
            continue;
        if (stage->measure)
            stage->measure(task->stage, &sum);
        if (task->db)
            measure_db(task->db, &disk, &rows);
        state_bytes += disk;
        deferred += owes(stage, task);
    }
    SET(w, lag, sp_worker_lag(w));
    SET(w, state_bytes, state_bytes);
    SET(w, rows_read, rows.rows_read);
    SET(w, bytes_read, rows.bytes_read);
    SET(w, rows_written, rows.rows_put + rows.rows_deleted);
    SET(w, bytes_written, rows.bytes_written);
    SET(w, discarded, sum.discarded);
    SET(w, put_off, sum.put_off);
    SET(w, bounces, sum.bounces);
    SET(w, settled, sum.settled);
    SET(w, rechecks, sum.rechecks);
    SET(w, rows_to_move, sum.rows_to_move);
    SET(w, deferred, deferred);
    SET(w, aside, sum.aside);
    SET(w, cut, sum.cut);
    SET(w, contain_pages, sum.contain_pages);
    SET(w, contained, sum.contained);
    SET(w, contain_index_bytes, sum.contain_index_bytes);
}

/* A transaction must contain an offset: a task without a new message commits its old one again. */
void sp_worker_upkeep(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    if (!stage->upkeep || w->transaction.open || w->paused)
        return;
    for (int32_t p = 0; p < w->partitions[stage->input]; p++) {
        struct sp_task *t = w->tasks[p];
        if (t && owes(stage, t) && sp_transaction_begin(w) == SP_OK)
            t->handled_next = t->input_next;
    }
}

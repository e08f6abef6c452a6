/* Handles assigned and revoked partitions. Each partition has a database, which is restored to the
 * end of its changelog before the first message. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "kafka/internal.h"

/* ---- tasks ---- */

static bool on_restore(void *arg, uint64_t applied, int64_t remaining)
{
    enum { SAY_MS = 1000 };
    struct sp_worker *w = arg;
    int64_t now_ms = sp_clock_ms();
    SET(w, restore_remaining, (uint64_t)remaining);
    w->restored = applied;
    sp_worker_alive(w);
    rd_kafka_poll(w->consumer, 0); /* otherwise the broker removes it after max.poll.interval.ms */
    if (applied && now_ms - w->logged.restores_ms >= SAY_MS) {
        w->logged.restores_ms = now_ms;
        sp_worker_say(w, "info", "restoring: %" PRIu64 " records applied, %" PRId64 " to go",
                      applied, remaining);
    }
    return !*w->stop;
}

static void on_words(void *arg, const char *level, const char *text)
{
    sp_worker_say(arg, level, "%s", text);
}

/* Offsets are only ever committed together with a marker: if there are offsets and no marker, the
 * changelog was lost or replaced. */
#define NO_CHANGELOG "offsets are committed, and the changelog is empty"

static enum sp_err on_emptied(void *arg, int32_t partition, struct sp_fault *fault)
{
    struct sp_worker *w = arg;
    const char *topic = w->topics[w->options->stage.input];
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *p = rd_kafka_topic_partition_list_add(list, topic, partition);
    enum sp_err err = sp_kafka_committed(w->consumer, list, sp_worker_timeout_ms(w), fault);
    if (err == SP_OK && p->offset >= 0)
        err = sp_fault_set(fault, SP_INVALID,
                           "%s [%d]: " NO_CHANGELOG ". The local state is kept, but nothing can be "
                           "added to it: create topics with another topics.prefix, and publish the "
                           "pages again",
                           topic, (int)partition);
    rd_kafka_topic_partition_list_destroy(list);
    return err;
}

static struct sp_states_options states_options(struct sp_worker *w)
{
    return (struct sp_states_options){.kafka = &w->options->kafka,
                                      .store = &w->options->store,
                                      .fingerprint = w->options->fingerprint,
                                      .directory = w->options->state,
                                      .name = w->options->stage.name,
                                      .topic = w->topics[w->options->stage.changelog],
                                      .watcher = w->watcher,
                                      .emptied = on_emptied,
                                      .waiting = on_restore,
                                      .say = on_words,
                                      .arg = w};
}

static void open_states(struct sp_worker *w, struct sp_task *const *tasks, size_t count)
{
    struct sp_states_options options = states_options(w);
    struct sp_fault fault = {""};
    size_t failed = 0;
    if (!w->states)
        w->states = sp_states_new(&options);
    enum sp_err err = sp_states_open(w->states, tasks, count, &failed, &fault);
    SET(w, restore_remaining, 0);
    if (err != SP_OK)
        sp_damage_note(w, tasks[failed], err, "local state", fault.text);
}

/* ---- checking that the input is still there ---- */

static enum sp_err note_lost(struct sp_worker *w, const struct sp_task *t, const char *what)
{
    char name[SP_TOPIC_NAME_MAX + 16], text[320];
    snprintf(name, sizeof name, "%s [%d]", w->topics[w->options->stage.input], (int)t->partition);
    snprintf(
        text, sizeof text,
        "%s. The groups lack what is missing there, and it cannot be recovered: create topics with another topics.prefix, and publish the pages again",
        what);
    return sp_failure_note(&w->failure, SP_INVALID, name, text);
}

enum sp_err sp_assignment_lost(struct sp_worker *w, int32_t partition)
{
    struct sp_task *t = w->tasks[partition];
    int64_t low = -1, high = -1, next = t->handled_next >= 0 ? t->handled_next : t->input_next;
    char text[160];
    rd_kafka_resp_err_t code = sp_kafka_watermarks(w->watcher, w->topics[w->options->stage.input],
                                                   partition, &low, &high, sp_worker_timeout_ms(w));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return sp_failure_note_kafka(&w->failure, w->producer, code, "watermarks",
                                     rd_kafka_err2str(code));
    if (next < 0 || (next >= low && next <= high)) /* the partition itself may be gone */
        return sp_failure_note_cause(&w->failure, SP_ABORT_BROKER,
                                     w->topics[w->options->stage.input],
                                     "the offset to be read next was refused");
    snprintf(text, sizeof text,
             "offset %" PRId64 " is to be read next, and the topic has %" PRId64 " to %" PRId64,
             next, low, high);
    return note_lost(w, t, text);
}

/* Where the group has committed, in one request for all partitions. */
struct committed {
    rd_kafka_topic_partition_list_t *list; /* in the order of the assignment */
    enum sp_err err;                       /* else they are not known, and the fault says why */
    struct sp_fault fault;
};

static struct committed ask_committed(struct sp_worker *w,
                                      const rd_kafka_topic_partition_list_t *list)
{
    struct committed c = {rd_kafka_topic_partition_list_copy(list), SP_OK, {""}};
    if (list->cnt)
        c.err = sp_kafka_committed(w->consumer, c.list, sp_worker_timeout_ms(w), &c.fault);
    return c;
}

static enum sp_err note_unknown(struct sp_worker *w, const struct committed *c)
{
    return c->err == SP_OK ? SP_OK
                           : sp_failure_note(&w->failure, c->err,
                                             w->topics[w->options->stage.input], c->fault.text);
}

/* Counts offsets of the input as lost. Until something is committed, each assignment finds the same
 * ones. False: all of them were counted before. */
static bool count_lost(struct sp_worker *w, int32_t partition, int64_t from, int64_t to)
{
    struct sp_earlier *e = w->earlier;
    uint32_t had = e->lost_cap;
    sp_grow(&e->lost, &e->lost_cap, (uint32_t)partition + 1);
    memset(e->lost + had, 0, (e->lost_cap - had) * sizeof *e->lost);
    struct sp_offsets *last = &e->lost[partition];
    int64_t both_from = from > last->from ? from : last->from;
    int64_t both_to = to < last->to ? to : last->to;
    int64_t count = to - from - (both_to > both_from ? both_to - both_from : 0);
    *last = (struct sp_offsets){from, to};
    ADD(w, lost, (uint64_t)count);
    return count > 0;
}

/* Messages that were deleted before the first start cannot be told from a topic's past, so the
 * stage begins with what there is. */
static void say_beginning(struct sp_worker *w, int32_t partition, int64_t low)
{
    if (!count_lost(w, partition, 0, low))
        return;
    sp_worker_say(
        w, "error",
        "%s [%d]: begins at offset %" PRId64
        ", and this stage has no state yet: what was before was deleted before it was "
        "read. The groups lack that: create topics with another topics.prefix, and publish "
        "the pages again",
        w->topics[w->options->stage.input], (int)partition, low);
}

static enum sp_err check_fresh(struct sp_worker *w, const struct sp_task *t,
                               const struct committed *c, int64_t low)
{
    const rd_kafka_topic_partition_t *p = rd_kafka_topic_partition_list_find(
        c->list, w->topics[w->options->stage.input], t->partition);
    enum sp_err err = note_unknown(w, c);
    if (err == SP_OK && p->offset >= 0)
        return note_lost(w, t, NO_CHANGELOG);
    if (err == SP_OK && low > 0)
        say_beginning(w, t->partition, low);
    return err;
}

/* If there is a state, the input must continue where the state ends: no message in between may have
 * been deleted. Also notes what the input may hold of our partitions' messages (direct.c). */
static enum sp_err check_input(struct sp_worker *w, const struct sp_task *t,
                               const struct committed *c)
{
    int64_t low = 0, high = 0;
    rd_kafka_resp_err_t code =
        sp_kafka_watermarks(w->watcher, w->topics[w->options->stage.input], t->partition, &low,
                            &high, sp_worker_timeout_ms(w));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return sp_failure_note_kafka(&w->failure, w->producer, code, "watermarks",
                                     rd_kafka_err2str(code));
    /* All databases are restored, so the last transactions of the instances that had our partitions
     * before have ended, and their messages are below. */
    w->outlets[w->options->stage.input][t->partition].last = high - 1;
    struct sp_outlet *changelog = &w->outlets[w->options->stage.changelog][t->partition];
    changelog->first = t->changelog_next;
    changelog->last = t->changelog_next - 1;
    changelog->delivered = 0;
    if (t->input_next < 0)
        return check_fresh(w, t, c, low);
    return t->input_next < low || t->input_next > high ? sp_assignment_lost(w, t->partition)
                                                       : SP_OK;
}

/* A transaction commits the marker and the offset together. A broker that deletes a topic deletes
 * the offsets of its partitions, and a new topic of that name may have messages beyond ours. */
static void say_forgotten(struct sp_worker *w, const rd_kafka_topic_partition_t *p, int64_t next)
{
    if (next > 0)
        sp_worker_say(w, "warning",
                      "%s [%d]: the consumer group has no offset, but the state has handled all "
                      "before offset %" PRId64 " and goes on there. If the topic was deleted and "
                      "recreated, messages are lost: create topics with another topics.prefix, and "
                      "publish the pages again",
                      p->topic, (int)p->partition, next);
}

/* The marker of the changelog says where a stage with state goes on, and the offsets of the group
 * only repeat it. An operator who has reset them expects something else. */
static void say_reset(struct sp_worker *w, const struct committed *c)
{
    for (int i = 0; i < c->list->cnt && c->err == SP_OK; i++) {
        const rd_kafka_topic_partition_t *p = &c->list->elems[i];
        const struct sp_task *t = w->tasks[p->partition];
        if (t->input_next < 0 || p->offset == t->input_next)
            continue;
        if (p->offset < 0) {
            say_forgotten(w, p, t->input_next);
            continue;
        }
        sp_worker_say(w, "warning",
                      "%s [%d]: the consumer group's offset was set to %" PRId64
                      " by somebody else; it is ignored, because the state has handled all before "
                      "offset %" PRId64 " and goes on there. To process pages again, publish them "
                      "again",
                      p->topic, (int)p->partition, p->offset, t->input_next);
    }
}

/* ---- where to begin ---- */

/* What a stage without state says of an offset that does not exist any more. It goes on: unlike the
 * messages of a tier, pages can be published again. */
static void say_lost(struct sp_worker *w, int32_t partition, int64_t committed, int64_t low)
{
    if (!count_lost(w, partition, committed, low))
        return;
    sp_worker_say(w, "error",
                  "%s [%d]: what was at offsets %" PRId64 " to %" PRId64
                  " was deleted before it was read: publish those pages again. The topic's "
                  "retention.ms must be longer than any outage of this stage",
                  w->topics[w->options->stage.input], (int)partition, committed, low - 1);
}

/* The offset at which a stage without state continues. */
static int64_t passing_offset(struct sp_worker *w, int32_t partition, int64_t committed)
{
    const char *topic = w->topics[w->options->stage.input];
    int64_t low = 0, high = 0;
    if (committed < 0)
        return RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_resp_err_t code =
        sp_kafka_watermarks(w->watcher, topic, partition, &low, &high, sp_worker_timeout_ms(w));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        sp_failure_note_kafka(&w->failure, w->producer, code, "watermarks", rd_kafka_err2str(code));
    } else if (committed < low) {
        say_lost(w, partition, committed, low);
    } else if (committed > high) {
        sp_worker_say(w, "warning",
                      "%s [%d]: offset %" PRId64
                      " is to be read next, and the topic ends at %" PRId64
                      ": it is another topic of that name, which is read from its beginning",
                      topic, (int)partition, committed, high);
        return low;
    }
    return committed < low ? low : committed;
}

/* Unlike a stage with state, this one goes on where the offsets of its group are. If somebody else
 * has moved them forward (an operator, or another program in the group), pages were skipped. */
static void say_moved(struct sp_worker *w, const rd_kafka_topic_partition_t *p)
{
    if (p->offset >= 0 && sp_agreement_look(&w->agreement, p) == SP_NOTED_ELSEWHERE)
        sp_worker_say(w, "warning",
                      "%s [%d]: the consumer group's offset was set to %" PRId64
                      " by somebody else, or by an earlier samepage: this stage goes on there. "
                      "Publish the pages before it again if they may not have been read",
                      p->topic, (int)p->partition, p->offset);
}

static void begin_passing(struct sp_worker *w, rd_kafka_topic_partition_list_t *list,
                          const struct committed *c)
{
    note_unknown(w, c);
    for (int i = 0; i < list->cnt && w->failure.err == SP_OK; i++) {
        const rd_kafka_topic_partition_t *p = &c->list->elems[i];
        say_moved(w, p);
        list->elems[i].offset = passing_offset(w, p->partition, p->offset);
    }
}

/* ---- opening and closing ---- */

static void close_stage(struct sp_worker *w, struct sp_task *t)
{
    if (t->stage)
        w->options->stage.close(t->stage);
    t->stage = NULL;
}

static void close_task(struct sp_worker *w, int32_t partition)
{
    struct sp_task *t = w->tasks[partition];
    if (!t)
        return;
    sp_direct_drop(w, t);
    close_stage(w, t);
    if (t->db && w->failure.err == SP_OK)
        sp_db_sync(t->db); /* if this fails, the changelog has the rows */
    if (t->damaged || t->mistaken)
        sp_states_wipe(w->states, t, w->failure.fault.text);
    else
        sp_db_close(t->db);
    sp_free(t);
    w->tasks[partition] = NULL;
    ADD(w, tasks, -1);
}

static void add_task(struct sp_worker *w, int32_t partition)
{
    struct sp_task *t = sp_calloc(1, sizeof *t);
    t->partition = partition;
    t->input_next = t->handled_next = -1;
    w->tasks[partition] = t;
    ADD(w, tasks, 1);
}

static enum sp_err open_task(struct sp_worker *w, struct sp_task *t, const struct committed *c)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    if (stage->stateful && check_input(w, t, c) != SP_OK)
        return w->failure.err;
    enum sp_err err = sp_loading_run(w, t);
    if (err == SP_BUSY && *w->stop) {
        close_stage(w, t);
        return err;
    }
    const char *why = err == SP_STATE_FORMAT ? "its changelog was written by an older samepage; "
                                               "start again with topics of another topics.prefix"
                                             : sp_err_text(err);
    return err == SP_OK ? SP_OK : sp_damage_note(w, t, err, "the stage cannot start", why);
}

void sp_assignment_close(struct sp_worker *w)
{
    sp_crew_drop(w->crew);       /* no offset is behind its messages: they come again */
    sp_standby_stop(w->standby); /* any of its copies may be assigned next */
    w->standby = NULL;
    for (int32_t p = 0; w->tasks && p < w->partitions[w->options->stage.input]; p++)
        close_task(w, p);
}

/* Commits what was handled while the partitions still belong to this process, then closes
 * everything. */
static void give_back(struct sp_worker *w)
{
    sp_transaction_commit(w);
    if (w->transaction.open)
        sp_transaction_abort(w);
    sp_assignment_close(w);
}

/* False: the round is to end, and no further partition is opened, which may take minutes. */
static bool goes_on(const struct sp_worker *w)
{
    return w->failure.err == SP_OK && !*w->stop;
}

/* Sets the offsets at which the partitions are to be read. */
static void begin_all(struct sp_worker *w, struct sp_task *const *tasks,
                      rd_kafka_topic_partition_list_t *list)
{
    struct committed c = ask_committed(w, list);
    if (w->options->stage.stateful && c.err == SP_OK)
        sp_agreed_own(w, c.list);
    for (int i = 0; i < list->cnt && goes_on(w); i++)
        if (open_task(w, tasks[i], &c) == SP_OK)
            list->elems[i].offset =
                tasks[i]->input_next >= 0 ? tasks[i]->input_next : RD_KAFKA_OFFSET_BEGINNING;
    if (!w->options->stage.stateful && goes_on(w))
        begin_passing(w, list, &c);
    else if (goes_on(w))
        say_reset(w, &c);
    for (int i = 0; i < list->cnt && goes_on(w); i++)
        tasks[i]->read_from = list->elems[i].offset;
    if (goes_on(w))
        sp_remade_look(w);
    rd_kafka_topic_partition_list_destroy(c.list);
}

static void open_all(struct sp_worker *w, rd_kafka_topic_partition_list_t *list)
{
    struct sp_task **tasks = sp_calloc((size_t)list->cnt + 1, sizeof *tasks);
    if (w->options->stage.stateful)
        sp_agreed_before(w, list);
    for (int i = 0; i < list->cnt && w->failure.err == SP_OK; i++) {
        int32_t p = list->elems[i].partition;
        if (p >= w->partitions[w->options->stage.input]) {
            sp_failure_note_cause(&w->failure, SP_ABORT_REBALANCE,
                                  w->topics[w->options->stage.input],
                                  "has more partitions than before");
        } else {
            add_task(w, p);
            tasks[i] = w->tasks[p];
        }
    }
    if (w->options->stage.stateful && list->cnt > 0 && w->failure.err == SP_OK)
        open_states(w, tasks, (size_t)list->cnt);
    if (goes_on(w))
        begin_all(w, tasks, list);
    sp_free(tasks);
}

/* Follows states of other instances until partitions are assigned again. */
static void start_standby(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    char group[SP_TOPIC_NAME_MAX];
    char *member = rd_kafka_memberid(w->consumer);
    int32_t partitions = w->partitions[stage->input];
    bool *own = sp_calloc((size_t)partitions, sizeof *own);
    for (int32_t p = 0; p < partitions; p++)
        own[p] = w->tasks[p] != NULL;
    sp_group_name(&w->options->kafka, stage->name, group);
    struct sp_standby_options options = {
        .states = states_options(w),
        .group = group,
        .member = member ? member : "",
        .input = w->topics[stage->input],
        .partitions = partitions,
        .own = own,
        .replicas = w->options->standby_replicas,
        .room_bytes = 2ull * SP_ROOM_BUFFERS * w->options->store.memtable_bytes,
        .metric_wanted = &w->options->metrics->standby_wanted,
        .metric_copies = &w->options->metrics->standby_copies,
        .metric_rounds = &w->options->metrics->standby_rounds,
        .metric_remaining = &w->options->metrics->standby_remaining};
    w->standby = sp_standby_start(&options);
    if (member)
        rd_kafka_mem_free(w->consumer, member);
    sp_free(own);
}

/* A static member that was fenced and comes back can get partitions twice without giving them back
 * in between: they are opened again, because another instance may have added to their changelogs.
 */
void sp_assignment_changed(rd_kafka_t *consumer, rd_kafka_resp_err_t code,
                           rd_kafka_topic_partition_list_t *list, void *arg)
{
    struct sp_worker *w = arg;
    if (code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        SET(w, ready, 0);
        if (rd_kafka_assignment_lost(consumer))
            sp_failure_note_cause(&w->failure, SP_ABORT_REBALANCE, "rebalance",
                                  "the partitions were lost");
        give_back(w);
        rd_kafka_assign(consumer, NULL);
        return;
    }
    give_back(w);
    int64_t began_ms = sp_clock_ms();
    w->restored = 0;
    open_all(w, list);
    const bool open = goes_on(w);
    if (open)
        sp_worker_say(w, "info",
                      "%d partitions assigned; %" PRIu64 " changelog records read in %.1f s",
                      list->cnt, w->restored, (double)(sp_clock_ms() - began_ms) / 1000);
    rd_kafka_assign(consumer, open ? list : NULL);
    if (w->paused && open)
        rd_kafka_pause_partitions(consumer, list);
    SET(w, ready, open);
    if (w->options->standby_replicas && w->options->stage.stateful && open)
        start_standby(w);
}

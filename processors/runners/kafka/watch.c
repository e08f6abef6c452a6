/* See watch.h. */
#include "kafka/watch.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/url.h"
#include "codec/codec.h"
#include "kafka/asking.h"
#include "kafka/copies.h"
#include "kafka/reading.h"

enum { TIMEOUT_MS = 30000, ASK_MS = 5000, STALLED_MS = 60000, RESTART_MS = 2000 };
/* A batch is waited for until it is full. Meanwhile librdkafka sends a fetch every 20 ms, also if
 * there is nothing more: with 200 ms these took a fifth of the time of watch. */
enum { POLL_MS = 10 };
enum { SAID_MOST = 100, UNANSWERED_MOST = 60 };
enum { BATCH = 512 }; /* messages taken from librdkafka under one lock */
enum { TAIL = 16 };   /* offsets at the end of tier1 among which its last message is looked for */

/* A tier, and how far it must have come for the next look. */
struct tier {
    rd_kafka_t *group; /* of the group that reads the tier's topic, not a member */
    char topic[SP_TOPIC_NAME_MAX];
    int32_t partitions;
    int64_t *mark;
    int64_t committed; /* by the group when last asked, all partitions */
    bool stands;       /* that was what it had committed a lap before */
};

struct watch {
    const struct sp_watch_options *options;
    const volatile sig_atomic_t *stop;
    struct sp_fault *fault;
    struct sp_shadow *shadow;
    rd_kafka_t *reader;
    rd_kafka_queue_t *queue; /* of the reader */
    rd_kafka_t *watcher;     /* sees what is not committed yet */
    struct reading fetches;
    struct reading statuses;
    struct reading tail; /* of tier1, up to the mark */
    bool tail_is_read;
    struct tier tiers[2];
    struct sp_asking asking; /* of this round */
    bool found[SP_TOPICS];   /* the topic was there when a round began */
    uint32_t unanswered;     /* questions to the tiers' groups, since the last answer */
    bool remade;             /* topics were recreated, and nothing was judged by them since */
    int64_t *was[SP_TOPICS]; /* how far the last round had read them */
    int32_t was_partitions[SP_TOPICS];
    struct sp_copies copies;
    struct sp_shadow_counts before; /* of watches that an error ended */
    struct sp_buf text;
    struct sp_buf url;
    uint64_t said;
};

#define METRIC(w, field, n)                                                                        \
    __atomic_store_n(&(w)->options->metrics->field, (uint64_t)(n), __ATOMIC_RELAXED)

__attribute__((format(printf, 3, 4))) static void say(const struct watch *w, const char *level,
                                                      const char *format, ...)
{
    char text[4096];
    va_list args;
    if (!w->options->log)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->options->log(level, text);
}

static bool ends(const struct watch *w)
{
    return *w->stop != 0;
}

/* ---- what was found ---- */

static void on_alarm(void *arg, const struct sp_shadow_alarm *alarm)
{
    struct watch *w = arg;
    if (w->said++ < SAID_MOST)
        say(w, "error", "%s: %s: %s%s%s (similarity %.3f)",
            alarm->kind == SP_SHADOW_MISSING ? "missing" : "wrong", alarm->what, alarm->url,
            alarm->other_url ? " and " : "", alarm->other_url ? alarm->other_url : "",
            alarm->similarity);
}

static void measure(struct watch *w)
{
    struct sp_shadow_counts now;
    sp_shadow_counts(w->shadow, &now);
    METRIC(w, audit_missing, w->before.missing + now.missing);
    METRIC(w, audit_wrong, w->before.wrong + now.wrong);
    METRIC(w, audit_judged, w->before.judged + now.judged);
    METRIC(w, audit_pages, now.pages);
    METRIC(w, audit_late_ms, now.late_ms > w->before.late_ms ? now.late_ms : w->before.late_ms);
}

static void say_nothing_is_copied(const struct watch *w)
{
    say(w, "warning",
        "%lld pages were processed since the start and no copy arrived in topic %s, so no page is "
        "watched: set audit.share of the signature stage to %g, as it is here, and start it again. "
        "If it is, it is of an earlier version, or the crawl has too few pages for this share",
        (long long)w->copies.handled, w->fetches.topic, w->options->audit.share);
}

/* ---- messages ---- */

/* Its key is the page's id. Without a value the page is erased. */
static void on_fetch(struct watch *w, struct sp_view key, struct sp_view value)
{
    struct sp_message *m = NULL;
    struct sp_id page;
    if (!value.data && key.len == sizeof page) {
        memcpy(&page, key.data, sizeof page);
        sp_shadow_forget(w->shadow, page);
    }
    if (!value.data || sp_message_peek(value) != SP_MSG_CRAWLED ||
        sp_message_decode(value, &m) != SP_OK)
        return; /* the group stage reports messages that cannot be read */
    w->copies.copies++;
    sp_shadow_fetch(w->shadow, m);
    sp_message_free(m);
}

/* Its key is the page's canonical URL: most statuses are of pages that are not watched, and are not
 * decoded. */
static void on_status(struct watch *w, struct sp_view key, struct sp_view value)
{
    w->copies.statuses++;
    if (!value.data || (key.len && !sp_shadow_watches(w->shadow, sp_hash128(key.data, key.len))))
        return;
    struct sp_wire_format format = sp_wire_format_seen(value);
    struct sp_status_event e;
    if (sp_status_decode(value, &format, &w->text, &e) != SP_OK)
        return;
    if (sp_url_page(sp_view_str(e.url), &w->url, &e.page) == SP_OK)
        sp_shadow_status(w->shadow, &e);
}

/* Topics are deleted and recreated together, and another one of them may have grown longer than it
 * was, so one is enough. What is read too much is not judged. */
static enum sp_err check(struct watch *w, const char *topic, const int64_t *read,
                         const int64_t *ends, int32_t partitions)
{
    enum sp_err err = sp_reading_check(topic, read, ends, partitions, w->fault);
    w->remade |= err != SP_OK;
    return err;
}

static enum sp_err ask_end(struct watch *w, rd_kafka_t *handle, struct reading *r)
{
    enum sp_err err = sp_kafka_ends(handle, r->topic, r->partitions, r->end, TIMEOUT_MS, w->fault);
    return err == SP_OK ? check(w, r->topic, r->next, r->end, r->partitions) : err;
}

/* `each` may be NULL: only offsets matter. */
static enum sp_err take(struct watch *w, struct reading *r, const rd_kafka_message_t *m,
                        void (*each)(struct watch *w, struct sp_view key, struct sp_view value))
{
    bool is_new = false, remade = false;
    enum sp_err err = sp_reading_take(r, m, &is_new, &remade, w->fault);
    w->remade |= remade;
    if (err != SP_OK || !is_new || !each)
        return err;
    __atomic_add_fetch(&w->options->metrics->received, 1, __ATOMIC_RELAXED);
    each(w, sp_view(m->key, m->key_len), sp_view(m->payload, m->len));
    return SP_OK;
}

/* ---- a lap ---- */

static enum sp_err take_batch(struct watch *w, struct reading *r,
                              void (*each)(struct watch *w, struct sp_view key,
                                           struct sp_view value))
{
    rd_kafka_message_t *batch[BATCH];
    enum sp_err err = SP_OK;
    ssize_t count =
        rd_kafka_consume_batch_queue(w->queue, POLL_MS, batch, sp_reading_left(r, BATCH));
    for (ssize_t i = 0; i < count; i++) {
        if (err == SP_OK)
            err = take(w, r, batch[i], each);
        rd_kafka_message_destroy(batch[i]);
    }
    return err;
}

static enum sp_err read_to_end(struct watch *w, struct reading *r,
                               void (*each)(struct watch *w, struct sp_view key,
                                            struct sp_view value))
{
    if (!sp_reading_has_more(r))
        return SP_OK;
    enum sp_err err = sp_reading_assign(r, w->reader, w->fault);
    int64_t moved_ms = sp_clock_ms(), at = sp_reading_sum(r);
    while (err == SP_OK && sp_reading_has_more(r) && !ends(w)) {
        err = take_batch(w, r, each);
        int64_t now_ms = sp_clock_ms();
        METRIC(w, last_poll_ms, now_ms);
        if (sp_reading_sum(r) > at) {
            at = sp_reading_sum(r);
            moved_ms = now_ms;
        }
        if (err == SP_OK && now_ms - moved_ms > STALLED_MS)
            err = sp_fault_set(w->fault, SP_BUSY, "%s: no progress for a minute", r->topic);
    }
    rd_kafka_assign(w->reader, NULL);
    return err;
}

/* A mark behind the end of a tier that was recreated would not be passed until the tier is as long
 * as before. */
static enum sp_err check_mark(struct watch *w, const struct tier *t)
{
    int64_t *ends = sp_calloc((size_t)t->partitions, sizeof *ends);
    enum sp_err err =
        sp_kafka_ends(w->watcher, t->topic, t->partitions, ends, TIMEOUT_MS, w->fault);
    if (err == SP_OK)
        err = check(w, t->topic, t->mark, ends, t->partitions);
    sp_free(ends);
    return err;
}

/* Whether the group has committed everything that was there at the last mark. For a while it may
 * not be known (sp_kafka_committed): then no look follows, which is no error. */
static enum sp_err has_passed(struct watch *w, struct tier *t, bool *ret_passed)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(t->partitions);
    for (int32_t p = 0; p < t->partitions; p++)
        rd_kafka_topic_partition_list_add(list, t->topic, p);
    enum sp_err err = sp_kafka_committed(t->group, list, ASK_MS, w->fault);
    int64_t committed = 0;
    *ret_passed = err == SP_OK;
    for (int i = 0; i < list->cnt && err == SP_OK; i++) {
        int64_t at = list->elems[i].offset;
        committed += at > 0 ? at : 0;
        *ret_passed &= (at > 0 ? at : 0) >= t->mark[i];
    }
    rd_kafka_topic_partition_list_destroy(list);
    t->stands = err == SP_OK && committed == t->committed;
    t->committed = committed;
    w->unanswered = err == SP_OK ? 0 : w->unanswered + 1;
    if (err == SP_OK && t->stands && !*ret_passed)
        return check_mark(w, t);
    return err == SP_INVALID || w->unanswered > UNANSWERED_MOST ? err : SP_OK;
}

/* Moves the mark of tier1 from the end of its log to after its last message, by reading the last
 * offsets: many producers may have left control records there. If all that is read are such
 * records, the last message is before them. Once for each look, and only where the group does not
 * go on: in a crawl that runs, it soon passes the end. */
static enum sp_err read_tail(struct watch *w)
{
    struct reading *r = &w->tail;
    if (!w->tiers[0].stands || w->tail_is_read)
        return SP_OK;
    for (int32_t p = 0; p < r->partitions; p++) {
        int64_t from = r->end[p] > TAIL ? r->end[p] - TAIL : 0;
        r->next[p] = r->next[p] > from ? r->next[p] : from;
        r->data[p] = r->data[p] > from ? r->data[p] : from;
    }
    w->tail_is_read = true;
    enum sp_err err = read_to_end(w, r, NULL);
    memcpy(w->tiers[0].mark, r->data, (size_t)r->partitions * sizeof *r->data);
    return err;
}

/* How far the groups must have committed. For tier1: the end of the log, or less (read_tail). For
 * tier2: the end of the log less the control records after the last message. At most two are
 * allowed for, because a waiting message and its control record take three. If more than two
 * producers end there, looks wait for the next message. */
static enum sp_err mark(struct watch *w)
{
    enum { CONTROL_MOST = 2 };
    struct tier *tier2 = &w->tiers[1];
    enum sp_err err = sp_kafka_ends(w->reader, w->tail.topic, w->tail.partitions, w->tail.end,
                                    TIMEOUT_MS, w->fault);
    memcpy(w->tiers[0].mark, w->tail.end, (size_t)w->tail.partitions * sizeof *w->tail.end);
    w->tail_is_read = false;
    if (err == SP_OK)
        err = sp_kafka_ends(w->watcher, tier2->topic, tier2->partitions, tier2->mark, TIMEOUT_MS,
                            w->fault);
    for (int32_t p = 0; p < tier2->partitions; p++)
        tier2->mark[p] -= CONTROL_MOST;
    return err;
}

/* The end of the fetches is that of what is written, committed or not: a transaction's end reaches
 * each of its topics at its own time, so the group stage may have handled a fetch whose copy is not
 * to be read yet. Reading waits for it. */
static enum sp_err lap(struct watch *w)
{
    double share = w->options->audit.share;
    bool passed[2] = {false, false};
    enum sp_err err = has_passed(w, &w->tiers[0], &passed[0]);
    if (err == SP_OK)
        err = passed[0] ? has_passed(w, &w->tiers[1], &passed[1]) : read_tail(w);
    if (err == SP_OK)
        sp_copies_ask(&w->copies, share);
    if (err == SP_OK)
        err = ask_end(w, w->reader, &w->statuses);
    if (err == SP_OK)
        err = ask_end(w, w->watcher, &w->fetches);
    if (err == SP_OK)
        err = read_to_end(w, &w->fetches, on_fetch);
    if (err == SP_OK && !ends(w) && sp_copies_missing(&w->copies, share))
        say_nothing_is_copied(w);
    if (err == SP_OK)
        err = read_to_end(w, &w->statuses, on_status);
    if (err == SP_OK && passed[0] && passed[1] && !ends(w)) {
        sp_shadow_judge(w->shadow, false);
        __atomic_add_fetch(&w->options->metrics->audit_looks, 1, __ATOMIC_RELAXED);
        w->remade = false;
        err = mark(w);
    }
    measure(w);
    return err;
}

/* ---- start and stop ---- */

static bool goes_on(void *arg)
{
    const struct watch *w = arg;
    METRIC(w, last_poll_ms, sp_clock_ms());
    return !ends(w);
}

static void say_text(void *arg, const char *level, const char *text)
{
    say(arg, level, "%s", text);
}

static enum sp_err count_partitions(struct watch *w, enum sp_topic topic, char *name,
                                    int32_t *ret_count)
{
    sp_topic_name(&w->options->kafka, topic, name);
    enum sp_err err = sp_asking_partitions(&w->asking, w->reader, topic, name, ret_count, w->fault);
    return err == SP_OK ? SP_OK : sp_fault_set(w->fault, err, "%s: %s", name, w->fault->text);
}

static enum sp_err open_reading(struct watch *w, struct reading *r, enum sp_topic topic)
{
    int32_t partitions = 0;
    enum sp_err err = count_partitions(w, topic, r->topic, &partitions);
    if (err != SP_OK)
        return err;
    sp_reading_open(r, topic, partitions, topic != SP_TOPIC_TIER1);
    err = sp_kafka_ends(w->reader, r->topic, r->partitions, r->next, TIMEOUT_MS, w->fault);
    if (err == SP_OK && w->was_partitions[topic] == r->partitions)
        check(w, r->topic, w->was[topic], r->next, r->partitions);
    return err;
}

static enum sp_err open_tier(struct watch *w, struct tier *t, enum sp_topic topic,
                             const char *group)
{
    enum sp_err err = count_partitions(w, topic, t->topic, &t->partitions);
    if (err != SP_OK)
        return err;
    t->mark = sp_calloc((size_t)t->partitions, sizeof *t->mark);
    return sp_kafka_open(&w->options->kafka, SP_KAFKA_WATCHER, group, NULL, NULL, &t->group,
                         w->fault);
}

/* Reads the ends of the statuses first: no later status is about a fetch that was skipped. */
static enum sp_err open_all(struct watch *w)
{
    struct sp_shadow_options audit = w->options->audit;
    audit.alarm = on_alarm;
    audit.streaming = true;
    audit.arg = w;
    w->shadow = sp_shadow_new(&audit);
    w->unanswered = 0;
    w->asking.count = 0;
    enum sp_err err =
        sp_kafka_open(&w->options->kafka, SP_KAFKA_READER, NULL, NULL, NULL, &w->reader, w->fault);
    if (err == SP_OK)
        w->queue = rd_kafka_queue_get_consumer(w->reader);
    if (err == SP_OK)
        err = sp_kafka_open(&w->options->kafka, SP_KAFKA_WATCHER, NULL, NULL, NULL, &w->watcher,
                            w->fault);
    if (err == SP_OK)
        err = open_reading(w, &w->statuses, SP_TOPIC_STATUS);
    if (err == SP_OK)
        err = open_reading(w, &w->fetches, SP_TOPIC_AUDIT);
    if (err == SP_OK)
        err = open_reading(w, &w->tail, SP_TOPIC_TIER1);
    if (err == SP_OK)
        err = open_tier(w, &w->tiers[0], SP_TOPIC_TIER1, "group");
    if (err == SP_OK)
        err = open_tier(w, &w->tiers[1], SP_TOPIC_TIER2, "compare");
    if (err == SP_OK && w->remade) {
        sp_reading_rewind(&w->statuses);
        sp_reading_rewind(&w->fetches);
    }
    if (err == SP_OK)
        err = sp_copies_open(&w->copies, &w->options->kafka, w->fault);
    return err == SP_OK ? mark(w) : err;
}

static void close_reading(struct watch *w, struct reading *r)
{
    if (r->next) {
        sp_free(w->was[r->id]);
        w->was[r->id] = r->next;
        w->was_partitions[r->id] = r->partitions;
        r->next = NULL;
    }
    sp_reading_close(r);
}

static void close_all(struct watch *w)
{
    struct sp_shadow_counts now;
    sp_shadow_counts(w->shadow, &now);
    w->before.missing += now.missing;
    w->before.wrong += now.wrong;
    w->before.judged += now.judged;
    w->before.late_ms = now.late_ms > w->before.late_ms ? now.late_ms : w->before.late_ms;
    sp_shadow_free(w->shadow);
    w->shadow = NULL;
    for (int i = 0; i < 2; i++) {
        sp_free(w->tiers[i].mark);
        sp_kafka_close(w->tiers[i].group);
        w->tiers[i] = (struct tier){0};
    }
    sp_copies_close(&w->copies);
    if (w->queue)
        rd_kafka_queue_destroy(w->queue);
    w->queue = NULL;
    if (w->reader) {
        rd_kafka_consumer_close(w->reader);
        sp_kafka_close(w->reader);
        w->reader = NULL;
    }
    sp_kafka_close(w->watcher);
    w->watcher = NULL;
    close_reading(w, &w->fetches);
    close_reading(w, &w->statuses);
    close_reading(w, &w->tail);
}

static enum sp_err round_of_laps(struct watch *w)
{
    enum sp_err err = open_all(w);
    if (err == SP_OK) {
        METRIC(w, ready, 1);
        say(w, "info", "watches from now on");
    }
    while (err == SP_OK && !ends(w)) {
        err = lap(w);
        if (err == SP_OK)
            sp_clock_pause(w->options->interval_ms, goes_on, w);
    }
    METRIC(w, ready, 0);
    close_all(w);
    return err;
}

enum sp_err sp_watch_run(const struct sp_watch_options *options, const volatile sig_atomic_t *stop,
                         struct sp_fault *fault)
{
    struct watch w = {.options = options, .stop = stop, .fault = fault};
    w.asking = (struct sp_asking){w.found, 0, goes_on, say_text, &w};
    enum sp_err err = SP_OK;
    while (!ends(&w) && err != SP_INVALID) {
        err = round_of_laps(&w);
        if (err == SP_OK || err == SP_INVALID || ends(&w))
            break;
        say(&w, "warning", "%s; begins again", fault->text);
        __atomic_add_fetch(&options->metrics->errors, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&options->metrics->restarts, 1, __ATOMIC_RELAXED);
        sp_clock_pause(options->restart_ms ? options->restart_ms : RESTART_MS, goes_on, &w);
    }
    say(&w, w.before.missing + w.before.wrong ? "error" : "info",
        "%llu similar pairs judged: %llu missing, %llu wrong", (unsigned long long)w.before.judged,
        (unsigned long long)w.before.missing, (unsigned long long)w.before.wrong);
    sp_buf_done(&w.text);
    sp_buf_done(&w.url);
    for (int topic = 0; topic < SP_TOPICS; topic++)
        sp_free(w.was[topic]);
    return err == SP_INVALID ? err : SP_OK;
}

/* What a stage says and does if a topic is deleted and recreated while it runs. The new topic's
 * offsets begin at 0 again, and nothing else tells: a producer sends on as if nothing had happened.
 * A low offset alone does not prove it. If the broker says of a batch that was sent again that it
 * has it already, librdkafka does not know its offset, and numbers the messages from -1001 on; and
 * it may report such a batch late. So the broker is asked where the partition ends.
 *
 * A recreated changelog lacks most of the state. With a transaction in it, a restore without a
 * local state would take what it has for all of it. Before, a restore finds out: the local state
 * belongs to another changelog, and there are committed offsets and no marker (restore.c,
 * assignment.c). A recreated tier is noticed by the stage that reads it (assignment.c). */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "kafka/internal.h"

#define START_OVER "create topics with another topics.prefix, and publish the pages again"

static const char *loss(enum sp_topic topic)
{
    switch ((int)topic) {
    case SP_TOPIC_TIER1:
    case SP_TOPIC_TIER2:
    case SP_TOPIC_CONTAIN:
        return "messages that were not handled yet are lost, and pages may be in the wrong "
               "groups: " START_OVER;
    case SP_TOPIC_STATUS:
        return "it lacks the statuses of pages that have not changed since. A page gets its status "
               "again with its next fetch; to have all of them at once, " START_OVER;
    default:
        return "what it had before is gone";
    }
}

void sp_remade_doubt(struct sp_worker *w, enum sp_topic topic)
{
    w->recreated.doubted[topic] = !w->recreated.logged[topic];
}

/* Where a partition ends at least. `delivered` counts if a new changelog has grown beyond the old
 * one by the time it is asked about: what it has came in this transaction, so it lacks `first` and
 * the transactions before. */
static int64_t least_end(const struct sp_outlet *outlet)
{
    int64_t counted = outlet->first + outlet->delivered, seen = outlet->last + 1;
    return counted > seen ? counted : seen;
}

static void note_remade(struct sp_worker *w, enum sp_topic topic, int32_t partition, int64_t end)
{
    bool ends = w->options->stage.stateful && topic == w->options->stage.changelog;
    char text[512];
    snprintf(
        text, sizeof text,
        "was deleted and recreated while this stage ran, or has lost its end (partition %d ended "
        "at offset %" PRId64 " or later, and ends at %" PRId64 " now): %s",
        (int)partition, least_end(&w->outlets[topic][partition]), end,
        ends ? "nothing is committed to it until a restore has read it" : loss(topic));
    if (ends) {
        sp_failure_note_cause(&w->failure, SP_ABORT_BROKER, w->topics[topic], text);
        return;
    }
    w->recreated.logged[topic] = true;
    ADD(w, errors, 1);
    sp_worker_say(w, "error", "%s: %s", w->topics[topic], text);
}

static void judge(struct sp_worker *w, enum sp_topic topic, const int64_t *ends)
{
    for (int32_t p = 0; p < w->partitions[topic]; p++)
        if (ends[p] < least_end(&w->outlets[topic][p])) {
            note_remade(w, topic, p, ends[p]);
            return;
        }
}

/* The changelog comes first, because nothing may be committed to another one. */
static enum sp_topic most_urgent(const struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    int topic = 0;
    if (stage->stateful && w->recreated.doubted[stage->changelog])
        return stage->changelog;
    while (topic < SP_TOPICS && !w->recreated.doubted[topic])
        topic++;
    return (enum sp_topic)topic;
}

enum sp_err sp_remade_check(struct sp_worker *w)
{
    enum sp_topic topic = most_urgent(w);
    struct sp_fault fault;
    if (topic == SP_TOPICS)
        return SP_OK;
    w->recreated.doubted[topic] = false;
    sp_worker_alive(w);
    int64_t *ends = sp_calloc((size_t)w->partitions[topic], sizeof *ends);
    enum sp_err err = sp_kafka_ends(w->watcher, w->topics[topic], w->partitions[topic], ends,
                                    sp_worker_timeout_ms(w), &fault);
    sp_worker_alive(w);
    if (err == SP_OK)
        judge(w, topic, ends);
    else
        sp_failure_note(&w->failure, err, "whether a topic was recreated is not known", fault.text);
    sp_free(ends);
    return w->failure.err;
}

static bool has_tasks(const struct sp_worker *w)
{
    for (int32_t p = 0; w->tasks && p < w->partitions[w->options->stage.input]; p++)
        if (w->tasks[p])
            return true;
    return false;
}

/* Before partitions are assigned, the broker that replies may not know of a new topic yet. */
bool sp_remade_gone(struct sp_worker *w, rd_kafka_resp_err_t code, const char *reason)
{
    bool gone = code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
                code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
                code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (!gone || !has_tasks(w))
        return false;
    sp_failure_note_cause(&w->failure, SP_ABORT_BROKER, w->topics[w->options->stage.input], reason);
    return true;
}

void sp_remade_error(rd_kafka_t *consumer, int code, const char *reason, void *arg)
{
    if (!sp_remade_gone(arg, (rd_kafka_resp_err_t)code, reason))
        sp_kafka_error(consumer, code, reason, NULL);
}

/* Whether the stage has state, and writes statuses. */
static bool has_statuses(const struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    bool writes = false, any = false;
    for (size_t i = 0; i < stage->output_count; i++)
        writes |= stage->outputs[i] == SP_TOPIC_STATUS;
    for (int32_t p = 0; p < w->partitions[stage->input]; p++)
        any |= w->tasks[p] && w->tasks[p]->input_next > 0;
    return writes && any;
}

/* Says what the ends of the partitions of the statuses show. */
static void judge_statuses(struct sp_worker *w, const int64_t *ends, int32_t count)
{
    enum { MANY = 100 }; /* for each partition: then chance leaves none of them empty */
    int64_t sum = 0;
    bool any_empty = false;
    for (int32_t p = 0; p < count; p++) {
        sum += ends[p];
        any_empty |= ends[p] == 0;
    }
    if (sum == 0)
        sp_worker_say(
            w, "warning",
            "%s: is empty, although there is a state. If it was deleted and recreated, %s",
            w->topics[SP_TOPIC_STATUS], loss(SP_TOPIC_STATUS));
    else if (any_empty && sum >= (int64_t)MANY * count)
        sp_worker_say(
            w, "warning",
            "%s: a partition is empty, and all have %" PRId64
            " offsets together. If partitions were added, the earlier statuses of many "
            "pages stay in others, and readers may take them for the last ones: " START_OVER,
            w->topics[SP_TOPIC_STATUS], sum);
}

void sp_remade_look(struct sp_worker *w)
{
    int32_t count = w->partitions[SP_TOPIC_STATUS];
    struct sp_fault ignored;
    if (w->failure.err != SP_OK || !has_statuses(w))
        return;
    sp_worker_alive(w);
    int64_t *ends = sp_calloc((size_t)count, sizeof *ends);
    if (sp_kafka_ends(w->watcher, w->topics[SP_TOPIC_STATUS], count, ends, sp_worker_timeout_ms(w),
                      &ignored) == SP_OK)
        judge_statuses(w, ends, count);
    sp_free(ends);
}

/* What a stage says and does if a topic is deleted and recreated while it runs. The new topic's
 * offsets begin at 0 again, and nothing else tells: a producer sends on as if nothing had happened.
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

void sp_remade_delivered(struct sp_worker *w, const struct sp_outlet *outlet, int32_t partition,
                         int64_t offset)
{
    enum sp_topic topic = outlet->topic;
    bool ends = w->options->stage.stateful && topic == w->options->stage.changelog;
    char text[512];
    snprintf(
        text, sizeof text,
        "was deleted and recreated while this stage ran, or has lost its end (partition %d had "
        "offset %" PRId64 ", and then %" PRId64 "): %s",
        (int)partition, outlet->last, offset,
        ends ? "nothing is committed to it until a restore has read it" : loss(topic));
    if (ends) {
        sp_failure_note_cause(&w->failure, SP_ABORT_BROKER, w->topics[topic], text);
    } else if (!w->remade[topic]) {
        w->remade[topic] = true;
        ADD(w, errors, 1);
        sp_worker_say(w, "error", "%s: %s", w->topics[topic], text);
    }
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
    int64_t *ends = sp_calloc((size_t)count, sizeof *ends);
    if (sp_kafka_ends(w->watcher, w->topics[SP_TOPIC_STATUS], count, ends, sp_worker_timeout_ms(w),
                      &ignored) == SP_OK)
        judge_statuses(w, ends, count);
    sp_free(ends);
}

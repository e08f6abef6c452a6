/* The topics that a stage needs: whether they are as they must be when a round starts. A stage ends
 * if one is missing or has a wrong number of partitions. policy.c checks their settings. */
#include <stdio.h>

#include "kafka/internal.h"

/* A broker that has just started replies before it has heard of all topics. Without these questions
 * a stage that starts again because of that would end. At the first start a topic that is missing
 * is a mistake of the operator, who should see it at once. */
enum { AGAIN_MOST = 30, AGAIN_MS = 1000 };

static bool is_wanted(const struct sp_worker *w, enum sp_topic topic)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    bool wanted = topic == stage->input || topic == SP_TOPIC_DEAD_LETTER ||
                  (stage->stateful && topic == stage->changelog) || w->options->must_have[topic];
    for (size_t i = 0; i < stage->output_count; i++)
        wanted |= topic == stage->outputs[i];
    return wanted || (!stage->stateful && w->options->max_lag &&
                      (topic == SP_TOPIC_TIER1 || topic == SP_TOPIC_TIER2));
}

/* An actor's partition depends on the number of partitions: with another number, messages would go
 * to a partition without that actor. */
static void check_partitions(struct sp_worker *w, enum sp_topic topic)
{
    int32_t must = w->options->must_have[topic], have = w->partitions[topic];
    char text[256];
    if (!must || must == have)
        return;
    if (topic == SP_TOPIC_CONTAIN) {
        sp_failure_note(
            &w->failure, SP_INVALID, w->topics[topic],
            "must have one partition: all that is contained in one another meets there");
        return;
    }
    if (topic == SP_TOPIC_AUDIT) {
        sp_failure_note(&w->failure, SP_INVALID, w->topics[topic],
                        "must have one partition, the only one that is written");
        return;
    }
    snprintf(text, sizeof text,
             "has %d partitions, and %s.partitions is %d; the number cannot change while there is "
             "state: create topics with another topics.prefix, and publish the pages again",
             (int)have, topic == SP_TOPIC_TIER1 ? "tier1" : "tier2", (int)must);
    sp_failure_note(&w->failure, SP_INVALID, w->topics[topic], text);
}

static void note_changelog(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    char text[2 * SP_TOPIC_NAME_MAX];
    snprintf(text, sizeof text,
             "has %d partitions, and %s has %d: it must have as many. Create topics with another "
             "topics.prefix, and publish the pages again",
             (int)w->partitions[stage->changelog], w->topics[stage->input],
             (int)w->partitions[stage->input]);
    sp_failure_note(&w->failure, SP_INVALID, w->topics[stage->changelog], text);
}

/* `again`: questions that this round has repeated, for all topics. */
static enum sp_err count_partitions(struct sp_worker *w, enum sp_topic topic, int *again)
{
    bool *found = &w->earlier->found[topic];
    sp_worker_alive(w);
    enum sp_err err = sp_kafka_partitions(w->watcher, w->topics[topic], &w->partitions[topic]);
    while (err == SP_NOT_FOUND && *found && *again < AGAIN_MOST && !*w->stop) {
        if ((*again)++ == 0)
            sp_worker_say(w, "warning",
                          "%s: the broker does not know this topic any more; the stage asks again "
                          "for %d s",
                          w->topics[topic], AGAIN_MOST * AGAIN_MS / 1000);
        sp_worker_pause(w, AGAIN_MS);
        sp_worker_alive(w);
        err = sp_kafka_partitions(w->watcher, w->topics[topic], &w->partitions[topic]);
    }
    *found |= err == SP_OK;
    return err;
}

enum sp_err sp_needs_look(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_fault fault;
    int again = 0;
    for (int topic = 0; topic < SP_TOPICS && w->failure.err == SP_OK; topic++) {
        sp_topic_name(&w->options->kafka, (enum sp_topic)topic, w->topics[topic]);
        if (!is_wanted(w, (enum sp_topic)topic))
            continue;
        enum sp_err err = count_partitions(w, (enum sp_topic)topic, &again);
        if (err == SP_NOT_FOUND && *w->stop)
            sp_failure_note(&w->failure, SP_BUSY, w->topics[topic], "the stage was stopped");
        else if (err == SP_NOT_FOUND)
            sp_failure_note(&w->failure, SP_INVALID, w->topics[topic],
                            "there is no such topic; `samepage topics create` creates it");
        else if (err == SP_INVALID)
            sp_failure_note(&w->failure, err, w->topics[topic], SP_KAFKA_FORBIDDEN);
        else if (err != SP_OK)
            sp_failure_note(&w->failure, sp_kafka_no_reply(w->watcher, &fault), w->topics[topic],
                            fault.text);
        else
            check_partitions(w, (enum sp_topic)topic);
    }
    if (w->failure.err == SP_OK && stage->stateful &&
        w->partitions[stage->input] != w->partitions[stage->changelog])
        note_changelog(w);
    return w->failure.err;
}

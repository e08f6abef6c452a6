/* The topics that a stage needs: whether they are as they must be when a round starts. A stage ends
 * if one is missing or has a wrong number of partitions. policy.c checks their settings. */
#include <stdio.h>

#include "kafka/asking.h"
#include "kafka/internal.h"

static bool is_wanted(const struct sp_worker *w, enum sp_topic topic)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    bool wanted = topic == stage->input || topic == SP_TOPIC_DEAD_LETTER ||
                  (stage->stateful && topic == stage->changelog) || w->options->must_have[topic];
    for (size_t i = 0; i < stage->output_count; i++)
        wanted |= topic == stage->outputs[i];
    return wanted || (!stage->stateful && (topic == SP_TOPIC_TIER1 || topic == SP_TOPIC_TIER2));
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

static bool goes_on(void *arg)
{
    struct sp_worker *w = arg;
    sp_worker_alive(w);
    return !*w->stop;
}

static void say(void *arg, const char *level, const char *text)
{
    sp_worker_say(arg, level, "%s", text);
}

enum sp_err sp_needs_look(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_fault fault;
    struct sp_asking asking = {
        .found = w->earlier->found, .goes_on = goes_on, .say = say, .arg = w};
    for (int topic = 0; topic < SP_TOPICS && w->failure.err == SP_OK; topic++) {
        sp_topic_name(&w->options->kafka, (enum sp_topic)topic, w->topics[topic]);
        if (!is_wanted(w, (enum sp_topic)topic))
            continue;
        enum sp_err err = sp_asking_partitions(&asking, w->watcher, (enum sp_topic)topic,
                                               w->topics[topic], &w->partitions[topic], &fault);
        if (err != SP_OK)
            sp_failure_note(&w->failure, err, w->topics[topic], fault.text);
        else
            check_partitions(w, (enum sp_topic)topic);
    }
    if (w->failure.err == SP_OK && stage->stateful &&
        w->partitions[stage->input] != w->partitions[stage->changelog])
        note_changelog(w);
    return w->failure.err;
}

/* See topics.h. Which topic is what:
 *
 *   pages, tier1, tier2, dead-letter   logs, deleted after their retention
 *   status                             compacted, keyed by URL: the last event of each is kept
 *   changelogs                         compacted, one partition for each of their tier's */
#include "kafka/topics.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { TIMEOUT_MS = 30000 };
static const char MONTH_MS[] = "2592000000";

struct wanted {
    char name[SP_TOPIC_NAME_MAX];
    int32_t partitions;
    const char *policy;
};

static void plan_topics(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                        struct wanted wanted[SP_TOPICS])
{
    const int32_t partitions[SP_TOPICS] = {plan->pages_partitions,
                                           plan->tier1_partitions,
                                           plan->tier2_partitions,
                                           plan->status_partitions,
                                           1,
                                           plan->tier1_partitions,
                                           plan->tier2_partitions};
    for (int t = 0; t < SP_TOPICS; t++) {
        bool compacted = t == SP_TOPIC_STATUS || t >= SP_TOPIC_TIER1_CHANGELOG;
        sp_topic_name(o, (enum sp_topic)t, wanted[t].name);
        wanted[t].partitions = partitions[t];
        wanted[t].policy = compacted ? "compact" : "delete";
    }
}

static enum sp_err fail(const char **ret_message, const char *what)
{
    static _Thread_local char text[512];
    snprintf(text, sizeof text, "Kafka: %s", what);
    *ret_message = text;
    return SP_BUSY;
}

static rd_kafka_event_t *wait_for(rd_kafka_queue_t *queue)
{
    return rd_kafka_queue_poll(queue, TIMEOUT_MS);
}

static rd_kafka_NewTopic_t *new_topic(const struct wanted *w, int32_t replication)
{
    char error[256];
    rd_kafka_NewTopic_t *t =
        rd_kafka_NewTopic_new(w->name, w->partitions, replication, error, sizeof error);
    if (!t)
        return NULL;
    rd_kafka_NewTopic_set_config(t, "cleanup.policy", w->policy);
    rd_kafka_NewTopic_set_config(t, "max.message.bytes", "20000000");
    /* A standstill shorter than this loses nothing, and local state that was out of use for less
     * can be trusted: compaction has not yet forgotten what was deleted meanwhile. */
    rd_kafka_NewTopic_set_config(
        t, strcmp(w->policy, "compact") == 0 ? "delete.retention.ms" : "retention.ms", MONTH_MS);
    if (replication >= 3)
        rd_kafka_NewTopic_set_config(t, "min.insync.replicas", "2");
    return t;
}

/* A topic is in a broker's metadata a moment after it was created; whoever asks before that is told
 * that there is none. */
static void wait_until_known(rd_kafka_t *handle, const struct wanted wanted[SP_TOPICS])
{
    enum { TRIES = 50, PAUSE_MS = 100 };
    int32_t partitions;
    for (int t = 0; t < SP_TOPICS; t++)
        for (int i = 0;
             i < TRIES && sp_kafka_partitions(handle, wanted[t].name, &partitions) == SP_NOT_FOUND;
             i++)
            usleep(1000 * PAUSE_MS);
}

enum sp_err sp_topics_create(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                             void (*say)(void *arg, const char *topic, const char *text), void *arg,
                             const char **ret_message)
{
    struct wanted wanted[SP_TOPICS];
    rd_kafka_NewTopic_t *topics[SP_TOPICS] = {NULL};
    rd_kafka_t *handle = NULL;
    enum sp_err err = sp_kafka_open(o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, ret_message);
    if (err != SP_OK)
        return err;
    plan_topics(o, plan, wanted);
    for (int t = 0; t < SP_TOPICS; t++)
        if (!(topics[t] = new_topic(&wanted[t], plan->replication)))
            err = fail(ret_message, "a topic's name or partition count is not possible");
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_event_t *event = NULL;
    if (err == SP_OK) {
        rd_kafka_CreateTopics(handle, topics, SP_TOPICS, NULL, queue);
        event = wait_for(queue);
    }
    const rd_kafka_CreateTopics_result_t *result =
        event ? rd_kafka_event_CreateTopics_result(event) : NULL;
    size_t count = 0;
    const rd_kafka_topic_result_t **results =
        result ? rd_kafka_CreateTopics_result_topics(result, &count) : NULL;
    if (err == SP_OK && count == 0)
        err = fail(ret_message,
                   event ? rd_kafka_event_error_string(event) : sp_kafka_no_answer(handle));
    for (size_t i = 0; i < count; i++) {
        rd_kafka_resp_err_t code = rd_kafka_topic_result_error(results[i]);
        const char *name = rd_kafka_topic_result_name(results[i]);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            say(arg, name, "created");
        else if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
            say(arg, name, "is there already");
        else
            err = fail(ret_message, rd_kafka_topic_result_error_string(results[i]));
    }
    if (err == SP_OK)
        wait_until_known(handle, wanted);
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    for (int t = 0; t < SP_TOPICS; t++)
        if (topics[t])
            rd_kafka_NewTopic_destroy(topics[t]);
    rd_kafka_destroy(handle);
    return err;
}

/* The value of cleanup.policy of each topic, in the order asked for, into `policies`. */
static enum sp_err read_policies(rd_kafka_t *handle, const struct wanted wanted[SP_TOPICS],
                                 char policies[SP_TOPICS][32], const char **ret_message)
{
    rd_kafka_ConfigResource_t *resources[SP_TOPICS];
    for (int t = 0; t < SP_TOPICS; t++)
        resources[t] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, wanted[t].name);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_DescribeConfigs(handle, resources, SP_TOPICS, NULL, queue);
    rd_kafka_event_t *event = wait_for(queue);
    const rd_kafka_DescribeConfigs_result_t *result =
        event ? rd_kafka_event_DescribeConfigs_result(event) : NULL;
    size_t count = 0;
    const rd_kafka_ConfigResource_t **answers =
        result ? rd_kafka_DescribeConfigs_result_resources(result, &count) : NULL;
    enum sp_err err = count ? SP_OK : fail(ret_message, sp_kafka_no_answer(handle));
    for (size_t i = 0; i < count; i++) {
        size_t entries = 0;
        const rd_kafka_ConfigEntry_t **entry =
            rd_kafka_ConfigResource_configs(answers[i], &entries);
        for (size_t k = 0; k < entries; k++)
            for (int t = 0; t < SP_TOPICS; t++)
                if (strcmp(rd_kafka_ConfigResource_name(answers[i]), wanted[t].name) == 0 &&
                    strcmp(rd_kafka_ConfigEntry_name(entry[k]), "cleanup.policy") == 0)
                    snprintf(policies[t], sizeof policies[t], "%s",
                             rd_kafka_ConfigEntry_value(entry[k]));
    }
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_ConfigResource_destroy_array(resources, SP_TOPICS);
    return err;
}

static void judge(const struct wanted *w, const rd_kafka_metadata_topic_t *found,
                  const char *policy, int32_t replication, char *text, size_t size)
{
    int replicas = found && found->partition_cnt > 0 ? found->partitions[0].replica_cnt : 0;
    text[0] = 0;
    if (!found || found->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        snprintf(text, size, "is missing");
    else if (found->partition_cnt != w->partitions)
        snprintf(text, size, "has %d partitions, configured are %d", found->partition_cnt,
                 (int)w->partitions);
    else if (replicas != replication)
        snprintf(text, size, "has %d replicas, configured are %d", replicas, (int)replication);
    else if (strcmp(policy, w->policy) != 0)
        snprintf(text, size, "has cleanup.policy %s, it must be %s", policy, w->policy);
}

enum sp_err sp_topics_check(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                            void (*say)(void *arg, const char *topic, const char *text), void *arg,
                            uint32_t *ret_wrong, const char **ret_message)
{
    struct wanted wanted[SP_TOPICS];
    char policies[SP_TOPICS][32] = {{0}};
    rd_kafka_t *handle = NULL;
    const rd_kafka_metadata_t *metadata = NULL;
    enum sp_err err = sp_kafka_open(o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, ret_message);
    if (err != SP_OK)
        return err;
    *ret_wrong = 0;
    plan_topics(o, plan, wanted);
    if (rd_kafka_metadata(handle, 1, NULL, &metadata, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        err = fail(ret_message, sp_kafka_no_answer(handle));
    if (err == SP_OK)
        err = read_policies(handle, wanted, policies, ret_message);
    for (int t = 0; t < SP_TOPICS && err == SP_OK; t++) {
        const rd_kafka_metadata_topic_t *found = NULL;
        char text[256];
        for (int i = 0; i < metadata->topic_cnt; i++)
            if (strcmp(metadata->topics[i].topic, wanted[t].name) == 0)
                found = &metadata->topics[i];
        judge(&wanted[t], found, policies[t], plan->replication, text, sizeof text);
        *ret_wrong += text[0] != 0;
        say(arg, wanted[t].name, text[0] ? text : "is as configured");
    }
    if (metadata)
        rd_kafka_metadata_destroy(metadata);
    rd_kafka_destroy(handle);
    return err;
}

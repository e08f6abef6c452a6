/* See policy.h. A topic that a broker created by itself has the broker's own policy, and an
 * operator may change one at any time: the loss would only be noticed when the state has to be
 * restored, or never. */
#include "kafka/policy.h"

#include <stdlib.h>
#include <string.h>

const char *sp_policy_objection(enum sp_topic topic, const char *policy)
{
    switch ((int)topic) {
    case SP_TOPIC_TIER1:
    case SP_TOPIC_TIER2:
    case SP_TOPIC_CONTAIN:
        return strstr(policy, "compact") ? "deletes messages before they are read; set it to delete"
                                         : NULL;
    case SP_TOPIC_TIER1_CHANGELOG:
    case SP_TOPIC_TIER2_CHANGELOG:
    case SP_TOPIC_CONTAIN_CHANGELOG:
        return strstr(policy, "delete") ? "deletes the state after a time; set it to compact"
                                        : NULL;
    default:
        return NULL;
    }
}

const char *sp_policy_doubt(enum sp_topic topic, const char *name, const char *value)
{
    const long long day_ms = 24LL * 3600 * 1000;
    if (topic == SP_TOPIC_STATUS && strcmp(name, "cleanup.policy") == 0 && strstr(value, "delete"))
        return "deletes the statuses of pages that have not changed for a time, and readers that "
               "begin later miss them; unless that is meant, set it to compact";
    if ((topic == SP_TOPIC_TIER1_CHANGELOG || topic == SP_TOPIC_TIER2_CHANGELOG ||
         topic == SP_TOPIC_CONTAIN_CHANGELOG) &&
        strcmp(name, "delete.retention.ms") == 0 && strtoll(value, NULL, 10) < day_ms)
        return "is less than a day: rows that were deleted come back in the state of an instance "
               "that is away for longer; raise it, then look at `samepage topics check`";
    return NULL;
}

static enum sp_topic topic_of(char topics[SP_TOPICS][SP_TOPIC_NAME_MAX], const char *name)
{
    int topic = 0;
    while (topic < SP_TOPICS && strcmp(topics[topic], name) != 0)
        topic++;
    return (enum sp_topic)topic;
}

static enum sp_err judge(enum sp_topic topic, const rd_kafka_ConfigResource_t *resource,
                         struct sp_fault *fault)
{
    size_t count = 0;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    const char *name = rd_kafka_ConfigResource_name(resource);
    if (rd_kafka_ConfigResource_error(resource) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return sp_fault_set(fault, SP_BUSY, "the settings of %s cannot be checked: %s", name,
                            rd_kafka_ConfigResource_error_string(resource));
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < count; i++) {
        const char *key = rd_kafka_ConfigEntry_name(entries[i]);
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        bool is_policy = strcmp(key, "cleanup.policy") == 0;
        const char *objection = is_policy && value ? sp_policy_objection(topic, value) : NULL;
        const char *doubt = value ? sp_policy_doubt(topic, key, value) : NULL;
        if (objection)
            return sp_fault_set(fault, SP_INVALID,
                                "%s: its cleanup.policy is %s, which %s, then look at `samepage "
                                "topics check`",
                                name, value, objection);
        if (doubt)
            err =
                sp_fault_set(fault, SP_BUSY, "%s: its %s is %s, which %s", name, key, value, doubt);
    }
    return err;
}

static enum sp_err judge_all(rd_kafka_event_t *event, char topics[SP_TOPICS][SP_TOPIC_NAME_MAX],
                             struct sp_fault *fault)
{
    size_t count = 0;
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return sp_fault_set(fault, SP_BUSY, "the settings of topics cannot be checked: %s",
                            rd_kafka_event_error_string(event));
    const rd_kafka_ConfigResource_t **found = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count);
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < count && err != SP_INVALID; i++) {
        struct sp_fault one;
        enum sp_err is =
            judge(topic_of(topics, rd_kafka_ConfigResource_name(found[i])), found[i], &one);
        if (is != SP_OK)
            err = is, *fault = one;
    }
    return err;
}

rd_kafka_queue_t *sp_policy_ask(rd_kafka_t *handle, char topics[SP_TOPICS][SP_TOPIC_NAME_MAX],
                                const int32_t partitions[SP_TOPICS], int timeout_ms)
{
    rd_kafka_ConfigResource_t *resources[SP_TOPICS];
    size_t count = 0;
    for (int t = 0; t < SP_TOPICS; t++)
        if (partitions[t] > 0)
            resources[count++] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topics[t]);
    if (!count)
        return NULL;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, NULL, 0);
    rd_kafka_DescribeConfigs(handle, resources, count, options, queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ConfigResource_destroy_array(resources, count);
    return queue;
}

enum sp_err sp_policy_take(rd_kafka_queue_t *queue, char topics[SP_TOPICS][SP_TOPIC_NAME_MAX],
                           struct sp_fault *fault)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 0);
    if (!event)
        return SP_NOT_FOUND;
    enum sp_err err = judge_all(event, topics, fault);
    rd_kafka_event_destroy(event);
    return err;
}

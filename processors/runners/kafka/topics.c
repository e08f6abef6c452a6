/* See topics.h. */
#include "kafka/topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { TIMEOUT_MS = 30000 };

static enum sp_err fail(struct sp_fault *fault, enum sp_err err, const char *what)
{
    return sp_fault_set(fault, err, "Kafka: %s", what);
}

/* SP_BUSY: the same request may succeed later. SP_INVALID: settings or rights must be changed
 * first. */
static enum sp_err err_of(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
        return SP_BUSY;
    default:
        return SP_INVALID;
    }
}

static enum sp_err no_reply(rd_kafka_t *handle, struct sp_fault *fault)
{
    sp_kafka_no_reply(handle, fault);
    return sp_fault_set(fault, SP_BUSY, "Kafka: %s", fault->text);
}

static rd_kafka_event_t *wait_for(rd_kafka_queue_t *queue)
{
    return rd_kafka_queue_poll(queue, TIMEOUT_MS);
}

static rd_kafka_NewTopic_t *new_topic(const struct sp_topic_description *d)
{
    char error[256];
    rd_kafka_NewTopic_t *t =
        rd_kafka_NewTopic_new(d->name, d->partitions, d->replicas, error, sizeof error);
    for (size_t i = 0; t && i < d->entry_count; i++)
        rd_kafka_NewTopic_set_config(t, d->entries[i].key, d->entries[i].value);
    return t;
}

/* A topic appears in a broker's metadata a moment after it was created; until then a query says
 * that it does not exist. */
static void wait_until_known(rd_kafka_t *handle,
                             const struct sp_topic_description wanted[SP_TOPICS])
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
                             struct sp_fault *fault)
{
    struct sp_topic_description wanted[SP_TOPICS];
    rd_kafka_NewTopic_t *topics[SP_TOPICS] = {NULL};
    rd_kafka_t *handle = NULL;
    enum sp_err err = sp_kafka_open(o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, fault);
    if (err != SP_OK)
        return err;
    sp_topics_describe(o, plan, wanted);
    for (int t = 0; t < SP_TOPICS; t++)
        if (!(topics[t] = new_topic(&wanted[t])))
            err = fail(fault, SP_INVALID,
                       "the name or the number of partitions of a topic is not possible");
    if (err == SP_OK)
        err = sp_kafka_reach(o, handle, fault);
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
        err = event ? fail(fault, err_of(rd_kafka_event_error(event)),
                           rd_kafka_event_error_string(event))
                    : no_reply(handle, fault);
    for (size_t i = 0; i < count; i++) {
        rd_kafka_resp_err_t code = rd_kafka_topic_result_error(results[i]);
        const char *name = rd_kafka_topic_result_name(results[i]);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            say(arg, name, "created");
        else if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
            say(arg, name, "is there already");
        else
            err = fail(fault, err_of(code), rd_kafka_topic_result_error_string(results[i]));
    }
    if (err == SP_OK)
        wait_until_known(handle, wanted);
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    for (int t = 0; t < SP_TOPICS; t++)
        if (topics[t])
            rd_kafka_NewTopic_destroy(topics[t]);
    sp_kafka_close(handle);
    return err;
}

static void keep(const struct sp_topic_description *wanted, const rd_kafka_ConfigEntry_t *entry,
                 struct sp_topic_found *ret_found)
{
    const char *value = rd_kafka_ConfigEntry_value(entry);
    for (size_t i = 0; i < wanted->entry_count; i++)
        if (strcmp(rd_kafka_ConfigEntry_name(entry), wanted->entries[i].key) == 0)
            snprintf(ret_found->values[i], sizeof ret_found->values[i], "%s", value ? value : "");
}

static enum sp_err read_settings(rd_kafka_t *handle,
                                 const struct sp_topic_description wanted[SP_TOPICS],
                                 struct sp_topic_found found[SP_TOPICS], struct sp_fault *fault)
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
    const rd_kafka_ConfigResource_t **replies =
        result ? rd_kafka_DescribeConfigs_result_resources(result, &count) : NULL;
    enum sp_err err = count ? SP_OK : no_reply(handle, fault);
    for (size_t i = 0; i < count; i++) {
        size_t entries = 0;
        const rd_kafka_ConfigEntry_t **entry =
            rd_kafka_ConfigResource_configs(replies[i], &entries);
        for (int t = 0; t < SP_TOPICS; t++)
            if (strcmp(rd_kafka_ConfigResource_name(replies[i]), wanted[t].name) == 0)
                for (size_t k = 0; k < entries; k++)
                    keep(&wanted[t], entry[k], &found[t]);
    }
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_ConfigResource_destroy_array(resources, SP_TOPICS);
    return err;
}

bool sp_topic_entry_holds(const struct sp_topic_entry *wanted, const char *value)
{
    char *end;
    long long least = strtoll(wanted->value, &end, 10), is = strtoll(value, NULL, 10);
    if (end == wanted->value)
        return strcmp(value, wanted->value) == 0;
    return value[0] && (is == -1 || (least != -1 && is >= least));
}

void sp_topic_compare(const struct sp_topic_description *d, const rd_kafka_metadata_topic_t *topic,
                      const struct sp_topic_found *found, char *text, size_t size)
{
    int replicas = topic && topic->partition_cnt > 0 ? topic->partitions[0].replica_cnt : 0;
    text[0] = 0;
    if (!topic || topic->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        snprintf(text, size, "is missing");
    } else if (topic->partition_cnt != d->partitions) {
        snprintf(text, size, "has %d partitions, configured are %d", topic->partition_cnt,
                 (int)d->partitions);
    } else if (replicas != d->replicas) {
        snprintf(text, size, "has %d replicas, configured are %d", replicas, (int)d->replicas);
    } else {
        for (size_t i = 0; i < d->entry_count && !text[0]; i++)
            if (!sp_topic_entry_holds(&d->entries[i], found->values[i]))
                snprintf(text, size, "has %.60s %.60s, it must be %.60s", d->entries[i].key,
                         found->values[i][0] ? found->values[i] : "unset", d->entries[i].value);
    }
}

const rd_kafka_metadata_topic_t *sp_topic_find(const rd_kafka_metadata_t *metadata,
                                               const char *name)
{
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (strcmp(metadata->topics[i].topic, name) == 0)
            return &metadata->topics[i];
    return NULL;
}

enum sp_err sp_topics_check(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                            void (*say)(void *arg, const char *topic, const char *text), void *arg,
                            uint32_t *ret_wrong, struct sp_fault *fault)
{
    struct sp_topic_description wanted[SP_TOPICS];
    struct sp_topic_found settings[SP_TOPICS] = {0};
    rd_kafka_t *handle = NULL;
    const rd_kafka_metadata_t *metadata = NULL;
    enum sp_err err = sp_kafka_open(o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, fault);
    if (err == SP_OK && (err = sp_kafka_reach(o, handle, fault)) != SP_OK)
        sp_kafka_close(handle);
    if (err != SP_OK)
        return err;
    *ret_wrong = 0;
    sp_topics_describe(o, plan, wanted);
    if (rd_kafka_metadata(handle, 1, NULL, &metadata, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        err = no_reply(handle, fault);
    if (err == SP_OK)
        err = read_settings(handle, wanted, settings, fault);
    for (int t = 0; t < SP_TOPICS && err == SP_OK; t++) {
        char text[256];
        sp_topic_compare(&wanted[t], sp_topic_find(metadata, wanted[t].name), &settings[t], text,
                         sizeof text);
        *ret_wrong += text[0] != 0;
        say(arg, wanted[t].name, text[0] ? text : "is as configured");
    }
    if (metadata)
        rd_kafka_metadata_destroy(metadata);
    sp_kafka_close(handle);
    return err;
}

/* Creating and checking the topics. */
#ifndef SP_KAFKA_TOPICS_H
#define SP_KAFKA_TOPICS_H

#include "kafka/client.h"

struct sp_topic_plan {
    int32_t pages_partitions;
    int32_t tier1_partitions;
    int32_t tier2_partitions;
    int32_t status_partitions;
    int32_t replication;
};

/* A setting of a topic. Numbers are lower bounds: more, and -1 for no bound at all, will do. */
struct sp_topic_entry {
    const char *key;
    const char *value;
};

enum { SP_TOPIC_ENTRIES = 6 };

struct sp_topic_description {
    char name[SP_TOPIC_NAME_MAX];
    int32_t partitions;
    int32_t replicas;
    size_t entry_count;
    struct sp_topic_entry entries[SP_TOPIC_ENTRIES];
};

/* Whether a topic that has this value ("" if it says none) is as wanted. */
bool sp_topic_entry_holds(const struct sp_topic_entry *wanted, const char *value);

/* The topic of that name in what the broker reports; NULL if it has none. Borrowed. */
const rd_kafka_metadata_topic_t *sp_topic_find(const rd_kafka_metadata_t *metadata,
                                               const char *name);

/* What a topic has of the settings it is to have, in their order; "" if it has none. */
struct sp_topic_found {
    char values[SP_TOPIC_ENTRIES][32];
};

/* Fills `text` with the first difference from what is wanted; empty: there is none. `topic`: what
 * the broker reports; NULL: nothing. */
void sp_topic_compare(const struct sp_topic_description *wanted,
                      const rd_kafka_metadata_topic_t *topic, const struct sp_topic_found *found,
                      char *text, size_t size);

/* What each topic is to be: the one place that says so. */
void sp_topics_describe(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                        struct sp_topic_description ret_topics[SP_TOPICS]);

/* Creates what is missing; existing topics are left as they are. Calls `say` for each topic with
 * what was done. */
enum sp_err sp_topics_create(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                             void (*say)(void *arg, const char *topic, const char *text), void *arg,
                             struct sp_fault *fault);

/* Compares partition counts, replication and settings with the plan. Calls `say` for each
 * topic; *ret_wrong counts those that are missing or different. */
enum sp_err sp_topics_check(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                            void (*say)(void *arg, const char *topic, const char *text), void *arg,
                            uint32_t *ret_wrong, struct sp_fault *fault);

#endif

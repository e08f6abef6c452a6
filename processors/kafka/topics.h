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

/* Creates what is missing; existing topics are left as they are. Calls `say` for each topic with
 * what was done. */
enum sp_err sp_topics_create(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                             void (*say)(void *arg, const char *topic, const char *text), void *arg,
                             const char **ret_message);

/* Compares partition counts, replication and clean-up policy with the plan. Calls `say` for each
 * topic; *ret_wrong counts those that are missing or different. */
enum sp_err sp_topics_check(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                            void (*say)(void *arg, const char *topic, const char *text), void *arg,
                            uint32_t *ret_wrong, const char **ret_message);

#endif

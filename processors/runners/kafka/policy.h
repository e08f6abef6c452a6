/* Whether the broker cleans up the topics of a stage in a way that loses what the stage needs. */
#ifndef SP_KAFKA_POLICY_H
#define SP_KAFKA_POLICY_H

#include "kafka/client.h"

/* What is wrong with a topic whose cleanup.policy has that value; NULL: nothing. */
const char *sp_policy_objection(enum sp_topic topic, const char *policy);
/* What may be wrong with a topic whose setting `name` has that value, though it may be meant; NULL:
 * nothing. */
const char *sp_policy_doubt(enum sp_topic topic, const char *name, const char *value);

/* Asks for the policies of the topics that have partitions; does not wait. The reply comes to the
 * queue within `timeout_ms`. NULL: there are none. */
rd_kafka_queue_t *sp_policy_ask(rd_kafka_t *handle, char topics[SP_TOPICS][SP_TOPIC_NAME_MAX],
                                const int32_t partitions[SP_TOPICS], int timeout_ms);

/* SP_NOT_FOUND: no reply has come yet. SP_INVALID: a policy would lose messages or state; the fault
 * says which and what to do. SP_BUSY: the broker does not tell, or there is a doubt; the fault says
 * why. */
enum sp_err sp_policy_take(rd_kafka_queue_t *queue, char topics[SP_TOPICS][SP_TOPIC_NAME_MAX],
                           struct sp_fault *fault);

#endif

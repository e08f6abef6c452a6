/* What the client asks of librdkafka in steps, so that no call waits without end for a broker that
 * does not reply. Private to this folder. Thread rule: as librdkafka's consumers. */
#ifndef SP_CLIENT_CONSUMER_H
#define SP_CLIENT_CONSUMER_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

enum { SP_CONSUMER_ASK_MS = 10000, SP_CONSUMER_COMMIT_MS = 10000, SP_CONSUMER_CLOSE_MS = 10000 };

/* Assigns all partitions to a reader without a group, from auto.offset.reset on, as librdkafka does
 * for groups. The end is queried now, so that events after this call are new to the caller as well.
 */
rd_kafka_resp_err_t sp_consumer_assign_all(rd_kafka_t *consumer,
                                           rd_kafka_topic_partition_list_t *list, const char *topic,
                                           int32_t partitions, bool end);

/* Like rd_kafka_commit, which waits as long as a broker does not reply. __TIMED_OUT: no reply
 * within SP_CONSUMER_COMMIT_MS; the commit may still happen. */
rd_kafka_resp_err_t sp_consumer_commit(rd_kafka_t *consumer,
                                       const rd_kafka_topic_partition_list_t *offsets);

/* Leaves the group and destroys the consumer. rd_kafka_consumer_close waits for the replies to all
 * commits, as long as that takes; after SP_CONSUMER_CLOSE_MS this one returns without having left
 * the group, and the consumer ends by itself. */
void sp_consumer_close(rd_kafka_t *consumer);

#endif

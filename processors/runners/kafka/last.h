/* The last message that was read or written of a partition. If the topic has another one at its
 * offset, it was deleted and made again, also where it has grown longer than it was; librdkafka 2.0
 * does not tell the ids of topics. Private to this folder. */
#ifndef SP_KAFKA_LAST_H
#define SP_KAFKA_LAST_H

#include "base/hash.h"
#include "kafka/client.h"

struct sp_topic_last {
    int64_t offset;
    int64_t time_ms; /* when it was made */
    struct sp_id id; /* of key and value; zero: there was none */
};

struct sp_topic_last sp_topic_last_of(int64_t offset, int64_t time_ms, struct sp_view key,
                                      struct sp_view value);
struct sp_topic_last sp_topic_last_read(const rd_kafka_message_t *m,
                                        rd_kafka_timestamp_type_t *ret_type);

#endif

/* The last message that was read or written of a partition. If the topic has another one at its
 * offset, it was deleted and recreated, even if it is longer by now; librdkafka 2.0
 * does not tell the ids of topics. */
#ifndef SP_KAFKA_LAST_H
#define SP_KAFKA_LAST_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "base/hash.h"

struct sp_topic_last {
    int64_t offset;
    int64_t time_ms; /* when it was made */
    struct sp_id id; /* of key and value; zero: there was none */
};

static inline struct sp_topic_last sp_topic_last_of(int64_t offset, int64_t time_ms,
                                                    struct sp_view key, struct sp_view value)
{
    struct sp_id parts[] = {sp_hash128(key.data, key.len),
                            value.data ? sp_hash128(value.data, value.len) : (struct sp_id){0, 0}};
    return (struct sp_topic_last){offset, time_ms, sp_hash128(parts, sizeof parts)};
}

static inline struct sp_topic_last sp_topic_last_read(const rd_kafka_message_t *m,
                                                      rd_kafka_timestamp_type_t *ret_type)
{
    int64_t time_ms = rd_kafka_message_timestamp(m, ret_type);
    return sp_topic_last_of(m->offset, time_ms, sp_view(m->key, m->key_len),
                            sp_view(m->payload, m->len));
}

static inline bool sp_topic_last_is_known(const struct sp_topic_last *last)
{
    return !sp_id_is_zero(last->id);
}

/* Whether both are one message. */
static inline bool sp_topic_last_is(const struct sp_topic_last *was, const struct sp_topic_last *is)
{
    return is->offset == was->offset && is->time_ms == was->time_ms && sp_id_eq(is->id, was->id);
}

#endif

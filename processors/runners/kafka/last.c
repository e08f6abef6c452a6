/* See last.h. */
#include "kafka/last.h"

struct sp_topic_last sp_topic_last_of(int64_t offset, int64_t time_ms, struct sp_view key,
                                      struct sp_view value)
{
    struct sp_id parts[] = {sp_hash128(key.data, key.len),
                            value.data ? sp_hash128(value.data, value.len) : (struct sp_id){0, 0}};
    return (struct sp_topic_last){offset, time_ms, sp_hash128(parts, sizeof parts)};
}

struct sp_topic_last sp_topic_last_read(const rd_kafka_message_t *m,
                                        rd_kafka_timestamp_type_t *ret_type)
{
    int64_t time_ms = rd_kafka_message_timestamp(m, ret_type);
    return sp_topic_last_of(m->offset, time_ms, sp_view(m->key, m->key_len),
                            sp_view(m->payload, m->len));
}

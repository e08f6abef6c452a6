/* A compacted topic as a table of texts: keys with their last values. Thread rule: one thread. */
#ifndef SP_KAFKA_TABLE_H
#define SP_KAFKA_TABLE_H

#include "base/hash.h"
#include "base/map.h"
#include "kafka/client.h"

struct sp_topic_row {
    struct sp_id id; /* of the key; key of the map: first */
    char *key;
    char *value; /* NULL: deleted */
};

struct sp_topic_table {
    struct sp_map rows;
};

/* What writing came to. */
struct sp_topic_changes {
    uint64_t written;
    uint64_t deleted;
    uint64_t unchanged;
};

void sp_topic_table_done(struct sp_topic_table *t);
/* Copies both. `value` without data: deleted. */
void sp_topic_table_put(struct sp_topic_table *t, struct sp_view key, struct sp_view value);

/* Adds what is in the topic, up to its present end. SP_INVALID: there is no such topic; SP_BUSY: no
 * broker replies. The fault says so. */
enum sp_err sp_topic_table_read(const struct sp_kafka_options *options, enum sp_topic topic,
                                struct sp_topic_table *t, struct sp_fault *fault);
/* Makes the topic equal to `wanted`; `is` is what it contains now. Writes new and changed values
 * and deletes keys that are not wanted, in order of keys. SP_OK: the brokers have all of it.
 * SP_BUSY: they may have part of it; calling it again does no harm. */
enum sp_err sp_topic_table_write(const struct sp_kafka_options *options, enum sp_topic topic,
                                 const struct sp_topic_table *is,
                                 const struct sp_topic_table *wanted,
                                 struct sp_topic_changes *ret_changes, struct sp_fault *fault);

#endif

/* A compacted topic as a table of texts: keys with their last values. A table that was read
 * remembers how far, so that it can be kept equal to its topic: another reading adds only what was
 * written since, and its own writes are entered as the brokers acknowledge them. Thread rule: one
 * thread. */
#ifndef SP_KAFKA_TABLE_H
#define SP_KAFKA_TABLE_H

#include "base/map.h"
#include "kafka/client.h"
#include "kafka/last.h"

struct sp_topic_row {
    struct sp_id id; /* of the key; key of the map: first */
    char *key;
    char *value;
};

/* All zero: empty, nothing read. */
struct sp_topic_table {
    struct sp_map rows;
    int64_t *next;              /* the offset that each partition is read from next time */
    struct sp_topic_last *last; /* of each partition */
    int32_t partitions;
    int64_t read_ms;  /* when it was last read to the end */
    uint64_t records; /* read so far */
    uint64_t version; /* grows when rows may have changed */
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

/* Adds what is in the topic, up to its present end: all of it the first time, then the records from
 * where the table ends. Starts over if the topic no longer has that offset or the last record
 * before it (it was recreated), or has other partitions, or a day after the last reading (the
 * brokers keep a deletion for a limited time). SP_INVALID: there is no such topic, or
 * the broker refuses us or the reading; SP_BUSY: no broker replies. The fault says so; the table
 * can be read on. */
enum sp_err sp_topic_table_read(const struct sp_kafka_options *options, enum sp_topic topic,
                                struct sp_topic_table *t, struct sp_fault *fault);
/* Makes the topic equal to `wanted`; `is` is what it contains now, read to the end. Writes new and
 * changed values and deletes keys that are not wanted, in order of keys, and enters in `is` what
 * the brokers acknowledged. If there were no other writers, `is` then ends after these records, and
 * the next reading does not return them; otherwise it does, in their order. SP_OK: the brokers have
 * all of it. SP_BUSY: they may have part of it; reading and writing again does no harm. */
enum sp_err sp_topic_table_write(const struct sp_kafka_options *options, enum sp_topic topic,
                                 struct sp_topic_table *is, const struct sp_topic_table *wanted,
                                 struct sp_topic_changes *ret_changes, struct sp_fault *fault);

#endif

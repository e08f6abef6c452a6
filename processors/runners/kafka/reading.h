/* The positions of a monitor (watch.h) in a topic. Private to this folder. */
#ifndef SP_KAFKA_READING_H
#define SP_KAFKA_READING_H

#include "kafka/client.h"
#include "kafka/last.h"

/* By partition: how far a topic was read, and where a lap ends. */
struct reading {
    enum sp_topic id;
    char topic[SP_TOPIC_NAME_MAX];
    int32_t partitions;
    int64_t *next;
    int64_t *end;
    int64_t *data;              /* offset after the last message */
    struct sp_topic_last *last; /* the last message; NULL: not every message is read */
    bool *unseen;               /* the last message is still to be found in its place */
};

/* Allocates the arrays of so many partitions. `each`: every message is read. */
void sp_reading_open(struct reading *r, enum sp_topic id, int32_t partitions, bool each);
void sp_reading_close(struct reading *r);
/* All partitions are read from their beginning. */
void sp_reading_rewind(struct reading *r);

/* SP_BUSY: a partition ends before what was `read` of it: the topic was deleted and recreated. */
enum sp_err sp_reading_check(const char *topic, const int64_t *read, const int64_t *ends,
                             int32_t partitions, struct sp_fault *fault);
/* Assigns the partitions that have more, where every message is read from their last one on: if it
 * is not in its place, the topic was deleted and recreated, and may have grown longer than before.
 */
enum sp_err sp_reading_assign(struct reading *r, rd_kafka_t *reader, struct sp_fault *fault);
/* Whether this is a message of the lap that was not read before; it then counts as read. SP_BUSY:
 * the topic was deleted and recreated (*ret_remade), or librdkafka reports an error. */
enum sp_err sp_reading_take(struct reading *r, const rd_kafka_message_t *m, bool *ret_new,
                            bool *ret_remade, struct sp_fault *fault);
bool sp_reading_has_more(const struct reading *r);
/* How many messages the lap has at most, and not more than `most`. */
size_t sp_reading_left(const struct reading *r, size_t most);
/* Of the offsets of all partitions: how far it has come. */
int64_t sp_reading_sum(const struct reading *r);

#endif

/* How far a monitor (watch.h) has read a topic. Private to this folder. */
#ifndef SP_KAFKA_READING_H
#define SP_KAFKA_READING_H

#include "kafka/client.h"

/* By partition: how far a topic was read, and where a lap ends. */
struct reading {
    enum sp_topic id;
    char topic[SP_TOPIC_NAME_MAX];
    int32_t partitions;
    int64_t *next;
    int64_t *end;
    int64_t *data; /* offset after the last message */
};

/* SP_BUSY: a partition ends before what was `read` of it: the topic was deleted and made again. */
enum sp_err sp_reading_check(const char *topic, const int64_t *read, const int64_t *ends,
                             int32_t partitions, struct sp_fault *fault);
/* The partition was read to that offset. */
void sp_reading_pass(struct reading *r, int32_t partition, int64_t to);
bool sp_reading_has_more(const struct reading *r);
/* How many messages the lap has at most, and not more than `most`. */
size_t sp_reading_left(const struct reading *r, size_t most);
/* Of the offsets of all partitions: how far it has come. */
int64_t sp_reading_sum(const struct reading *r);

#endif

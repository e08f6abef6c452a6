/* Checks that the signature stage copies the fetches of the audit's sample to the topic audit.
 * Without copies, `watch` watches nothing and finds no fault, as in a system without faults. The
 * check: of the fetches that the stage has handled since the start, the sample by URL alone must
 * contain some. Thread rule: one thread. */
#ifndef SP_KAFKA_COPIES_H
#define SP_KAFKA_COPIES_H

#include "kafka/client.h"

/* All zero: nothing is known. */
struct sp_copies {
    char topic[SP_TOPIC_NAME_MAX]; /* of pages */
    rd_kafka_t *handle;            /* of the signature stage's group, not a member */
    int32_t partitions;            /* 0: unknown, nothing is concluded */
    int64_t before;                /* committed by the group at the start, or when that was known */
    uint32_t unanswered;           /* questions for that */
    int64_t handled;               /* fetches that it has handled since */
    uint64_t statuses;             /* read since then; the caller counts them */
    uint64_t copies;               /* read since the start; the caller counts them */
    bool said;                     /* that they are missing; until a start after there were some */
};

/* At each start. If the broker does not say how far the signature stage is, it is asked again in
 * the next laps, and then each time that copies would be expected by the number of statuses. A
 * fault: the options are wrong. sp_copies_close also after a fault. */
enum sp_err sp_copies_open(struct sp_copies *c, const struct sp_kafka_options *options,
                           struct sp_fault *fault);
void sp_copies_close(struct sp_copies *c);
/* In each lap, before the end of the topic audit is asked for. Once it is known how far the stage
 * was, it sends a request only if there are so many statuses that copies are to be expected, and
 * none was read. */
void sp_copies_ask(struct sp_copies *c, double share);
/* After the topic audit was read to that end: whether copies are missing. True once. */
bool sp_copies_missing(struct sp_copies *c, double share);

#endif

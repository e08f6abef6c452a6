/* The number of partitions of a topic that a process needs, asked for at the start of each of its
 * rounds. At the first start a topic that is missing is a mistake of the operator, who should see
 * it at once. Later a broker may have just started: it replies before it has heard of all topics,
 * and a process that ended because of that would have to be started again by hand. So a topic that
 * was there is asked for again for a while. Private to this folder. */
#ifndef SP_KAFKA_ASKING_H
#define SP_KAFKA_ASKING_H

#include "kafka/client.h"

/* For all topics of a round together. */
enum { SP_ASKING_MOST = 30, SP_ASKING_MS = 1000 };

/* One round. The functions get `arg`. */
struct sp_asking {
    bool *found; /* by topic: it was there in this round or an earlier one; outlives the round */
    int count;   /* questions that this round has repeated */
    /* Called before each question and at least ten times a second between two, so that the process
     * can note that it is alive. False: it is to stop. */
    bool (*goes_on)(void *arg);
    void (*say)(void *arg, const char *level, const char *text);
    void *arg;
};

/* The fault does not name the topic. SP_INVALID: it is missing, or the broker's ACLs refuse the
 * question; SP_BUSY: no broker replies, or the process is to stop. */
enum sp_err sp_asking_partitions(struct sp_asking *asking, rd_kafka_t *handle, enum sp_topic topic,
                                 const char *name, int32_t *ret_count, struct sp_fault *fault);

#endif

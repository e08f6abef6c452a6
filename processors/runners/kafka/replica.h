/* A copy of the group stage's state, kept up to date from its changelog: for readers that need more
 * of a page than its status, without disturbing the stage.
 *
 * It is laid out as the state of a `samepage run`, so that a reader of such a state can read this
 * one. Each transaction of the stage is applied as a whole.
 *
 *   stored row (meta)  "replica" -> next changelog offset of each partition
 *
 * Thread rule: start, ready and stop in one thread; the following is done in another. */
#ifndef SP_KAFKA_REPLICA_H
#define SP_KAFKA_REPLICA_H

#include "kafka/client.h"
#include "store/store.h"

struct sp_replica_options {
    struct sp_kafka_options kafka;
    const char *directory;   /* made if it is missing */
    const char *fingerprint; /* see sp_db_open_rocksdb: the stage's */
    struct sp_rocksdb_options store;
    uint32_t partitions; /* of tier 1 */
    /* Called once, from the following thread, when it had to give up; the message lives until the
     * stop. */
    void (*failed)(void *arg, const char *message);
    void *arg;
};

struct sp_replica;

/* The options' texts are borrowed until the stop. SP_NOT_FOUND, SP_BUSY: the topic is not there, or
 * no broker is reachable; SP_INVALID: it has another number of partitions; SP_STATE_FORMAT: the
 * directory is not a copy of this changelog; errors of sp_db_open_rocksdb. The fault says what to
 * do. */
enum sp_err sp_replica_start(const struct sp_replica_options *options,
                             struct sp_replica **ret_replica, struct sp_fault *fault);
/* Whether all that stood in the changelog at the start has been applied; *ret_records: how many
 * records until now. */
bool sp_replica_ready(const struct sp_replica *replica, uint64_t *ret_records);
/* NULL is allowed. */
void sp_replica_stop(struct sp_replica *replica);

#endif

/* A worker with a toy stage that adds numbers, against librdkafka's mock cluster. Only one world at
 * a time, because the log callback has no argument. Failed checks are CUnit assertions.
 *
 * The mock forgets the offsets of a transaction and shows aborted records to every reader. Tests
 * therefore look at the local database before the worker restarts, and tools/chaos tests
 * exactly-once processing with a real broker. */
#ifndef SP_TEST_MOCK_WORLD_H
#define SP_TEST_MOCK_WORLD_H

#include <pthread.h>

#include "kafka/internal.h"

#include <librdkafka/rdkafka_mock.h>

enum { BROKERS = 3, INPUT_BROKER = 1, OUTPUT_BROKER = 2, OTHER_BROKER = 3 };
enum { PARTITIONS = 2, MESSAGES = 50, PATIENCE_MS = 180000, TIMEOUT_MS = 4000 };
/* API keys of requests: kafka.apache.org/protocol. */
enum { PRODUCE = 0, FETCH = 1, JOIN_GROUP = 11, HEARTBEAT = 12 };
enum { INIT_PRODUCER = 22, ADD_PARTITIONS = 24 };
enum { ADD_OFFSETS = 25, END_TRANSACTION = 26, COMMIT_OFFSETS = 28 };

struct world {
    rd_kafka_t *host; /* also produces the input */
    rd_kafka_mock_cluster_t *cluster;
    char directory[64];
    struct sp_config_property properties[8];
    struct sp_worker_metrics metrics;
    struct sp_worker_options options;
    bool stop_at_restart;
    uint64_t corruptions;   /* number of times the toy reports damaged state on adding 7 */
    uint64_t silences;      /* number of times the registry does not respond when the toy adds 9 */
    void (*on_open)(void);  /* NULL, or called by the toy for each partition */
    void (*on_step)(void);  /* NULL, or called by the toy for each message */
    void (*on_flush)(void); /* NULL, or called by the toy in each commit */
    uint64_t interrupted;   /* loads of the toy whose reads failed because the worker stops */
    bool deletes;           /* the toy deletes its sum instead of storing it */
    uint64_t wipes;         /* number of wipes of the state */
    char restarted[1024];   /* the reason of the last restart */
    uint64_t assignments;   /* number of assignments */
    uint64_t losses;        /* number of log lines about messages that were not read */
    uint64_t unknown;       /* number of log lines about topics that the broker no longer knows */
    uint64_t sum;           /* the toy's in partition 0, from its last message above 0 */
    uint64_t retries;       /* number of log lines about something that librdkafka retries */
    uint64_t slow;          /* number of log lines about messages that took long */
    char slowest[1024];     /* the last of them */
    volatile sig_atomic_t stop;
    pthread_t thread;
    enum sp_err result;
    char message[1024];
};

extern struct world world;

/* Creates a cluster, its topics, and the options of a worker, which world_start runs in a thread.
 * Its requests may take PATIENCE_MS, as on the busiest machine. */
void world_create(bool stateful);
void world_start(void);
/* The worker joins its group more than once; before world_start. Each time the mock waits for
 * nearly the session time-out, which is therefore short: where the machine stalls for longer, it
 * expels the worker. */
void world_will_join_again(void);
/* From now on the worker's requests may take TIMEOUT_MS only. */
void world_lose_patience(void);
/* Sets a librdkafka property of the worker; before world_start. The texts are not copied. */
void world_set(const char *key, const char *value);
/* Waits for the worker to end, by itself or on request; fails after a time-out. */
enum sp_err world_join(void);
/* Stops the worker and waits for it. */
enum sp_err world_stop(void);
void world_destroy(void);

/* Produces the numbers first, first + 1, … to a partition. */
void world_feed_topic(const char *topic, int32_t partition, int first, int count);
/* Produces one message of that many bytes, all of them `fill`. The toy reads a digit as a number
 * and emits it again; a letter is malformed. */
void world_feed_large(const char *topic, int32_t partition, char fill, size_t bytes);
/* Reads that many messages of a partition with a consumer of its own; `each`, or NULL, receives
 * them. */
void world_read_each(const char *topic, int32_t partition, int count,
                     void (*each)(const rd_kafka_message_t *m));
void world_read_topic(const char *topic, int32_t partition, int count);
/* Commits the offset of a group in partition 0. */
void world_commit_offset(const char *group, const char *topic, int64_t offset);
/* Produces to partition 0 of the toy's input. */
void world_feed(int first, int count);

/* Deletes the worker's local state of the toy's partitions. */
void world_forget_state(void);

uint64_t world_count_of(const uint64_t *metric);
uint64_t world_aborts(void);
/* Waits until the metric is at least `least`; false: it did not get there in time. */
bool world_wait_for(const uint64_t *metric, uint64_t least);
/* Waits until that many messages are handled and their transaction is committed. */
void world_wait_committed(uint64_t received);

/* Waits until the toy has added all numbers below `count`, whatever was handled before an abort;
 * partition 1 may only have got zeros. */
void world_wait_handled(int64_t count);

/* Moves all partitions of a topic to a broker. */
void world_lead(const char *topic, int32_t broker);
/* The next requests of this kind fail with this error; for produce requests, on the output broker
 * only. */
void world_inject(int16_t request, size_t count, rd_kafka_resp_err_t err);
/* Checks the database of partition 0: it holds the sum of all numbers below `count`; -1: no sum. */
void world_check_applied(int64_t count);

#endif

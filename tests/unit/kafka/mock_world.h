/* A worker with a toy stage, which adds numbers up, against librdkafka's mock cluster. One at a
 * time: the log has no argument. What does not hold is a failed assertion of CUnit.
 *
 * What the mock cannot say: it forgets the offsets of a transaction and shows aborted records to
 * everybody. So what is in the local database is looked at before the worker starts again, and
 * exactly once is proved on a real broker (tools/chaos), not here. */
#ifndef SP_TEST_MOCK_WORLD_H
#define SP_TEST_MOCK_WORLD_H

#include <pthread.h>

#include "kafka/internal.h"

#include <librdkafka/rdkafka_mock.h>

enum { BROKERS = 3, INPUT_BROKER = 1, OUTPUT_BROKER = 2 };
enum { PARTITIONS = 2, MESSAGES = 50, PATIENCE_MS = 30000, TIMEOUT_MS = 1500 };
/* Numbers of requests: kafka.apache.org/protocol. */
enum { PRODUCE = 0, FETCH = 1, HEARTBEAT = 12, INIT_PRODUCER = 22, ADD_PARTITIONS = 24 };
enum { ADD_OFFSETS = 25, END_TRANSACTION = 26, COMMIT_OFFSETS = 28 };

struct world {
    rd_kafka_t *host; /* also feeds the input */
    rd_kafka_mock_cluster_t *cluster;
    char directory[64];
    struct sp_config_property properties[8];
    struct sp_worker_metrics metrics;
    struct sp_worker_options options;
    bool stop_at_restart;
    uint64_t corruptions; /* so often the toy finds its state damaged when it adds 7 */
    uint64_t wipes;       /* how often state was wiped */
    char restarted[1024]; /* why it started again last */
    uint64_t assignments; /* how often partitions were assigned */
    volatile sig_atomic_t stop;
    pthread_t thread;
    enum sp_err result;
    char message[1024];
};

extern struct world world;

/* A cluster, its topics, and the options of a worker that world_start runs in a thread. */
void world_create(bool stateful);
void world_start(void);
/* One more property of librdkafka for the worker; before world_start. The texts are kept as they
 * are. */
void world_set(const char *key, const char *value);
/* Waits until the worker ends by itself, or because it was told to; never long. */
enum sp_err world_join(void);
/* Tells it to stop, and waits. */
enum sp_err world_stop(void);
void world_destroy(void);

/* Numbers first, first + 1, … into a partition. */
void world_feed_topic(const char *topic, int32_t partition, int first, int count);
/* One message of that many bytes, all of them `fill`: a digit is a number to the toy, which says it
 * again; a letter is not. */
void world_feed_large(const char *topic, int32_t partition, char fill, size_t bytes);
/* Reads that many messages of a partition, as anybody may. `each`, or NULL, sees them. */
void world_read_each(const char *topic, int32_t partition, int count,
                     void (*each)(const rd_kafka_message_t *m));
void world_read_topic(const char *topic, int32_t partition, int count);
/* What a group has read of partition 0. */
void world_commit_offset(const char *group, const char *topic, int64_t offset);
/* Into partition 0 of the toy's input. */
void world_feed(int first, int count);

/* Deletes what the worker keeps of the toy's partitions. */
void world_forget_state(void);

uint64_t world_count_of(const uint64_t *metric);
uint64_t world_aborts(void);
/* Waits until a metric is that large; false: it does not get there. */
bool world_wait_for(const uint64_t *metric, uint64_t least);
/* Waits until so many messages are handled and their transaction is committed. */
void world_wait_committed(uint64_t received);

/* The next requests of this kind are answered so; those to produce only where output goes. */
void world_inject(int16_t request, size_t count, rd_kafka_resp_err_t err);
/* The database of partition 0: numbers below `count` were added up and no other; -1: none. */
void world_check_applied(int64_t count);

#endif

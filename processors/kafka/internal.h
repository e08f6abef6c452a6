/* What the files of the worker share. Private to this folder.
 *
 *   worker.c        rounds, intake, the loop
 *   assignment.c    partitions come and go: databases, restores
 *   transaction.c   begin, output, changelog, commit, abort
 *   meter.c         metrics that are read off; upkeep */
#ifndef SP_KAFKA_INTERNAL_H
#define SP_KAFKA_INTERNAL_H

#include "kafka/task.h"
#include "kafka/worker.h"

struct sp_worker {
    const struct sp_worker_options *options;
    const volatile sig_atomic_t *stop;
    rd_kafka_t *consumer;
    rd_kafka_t *producer;
    rd_kafka_t *reader;
    rd_kafka_t *watcher;
    rd_kafka_t *lag_of[2];              /* handles in the groups of tier 1 and tier 2 */
    rd_kafka_topic_t *known[SP_TOPICS]; /* to the producer */
    char topics[SP_TOPICS][SP_TOPIC_NAME_MAX];
    int32_t partitions[SP_TOPICS];
    struct sp_task **tasks; /* by input partition; NULL: not ours */
    bool open;              /* a transaction */
    int64_t opened_ms;
    uint64_t handled; /* in it */
    int64_t lag_ms;   /* when the lag was looked at */
    int64_t measured_ms;
    size_t drained; /* bytes taken from the consumer's queue since its fetcher was woken */
    int64_t opened_round_ms;
    bool fenced;         /* somebody else has its name; set at the end of the round */
    bool paused;         /* intake: also for partitions that come */
    enum sp_err err;     /* of anything since the start; ends the round */
    enum sp_abort cause; /* of err */
    char message[1024];
};

#define ADD(w, field, n) __atomic_add_fetch(&(w)->options->metrics->field, n, __ATOMIC_RELAXED)
#define SET(w, field, n) __atomic_store_n(&(w)->options->metrics->field, n, __ATOMIC_RELAXED)

/* Notes that the worker goes on: at each poll, and between waits, none of which takes a minute. */
void worker_alive(struct sp_worker *w);
void worker_say(struct sp_worker *w, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Keeps the first error of a round, and its message; answers it. */
enum sp_err worker_fail(struct sp_worker *w, enum sp_err err, const char *what, const char *detail);
/* The same for an error of librdkafka. */
enum sp_err worker_fail_kafka(struct sp_worker *w, rd_kafka_resp_err_t code, const char *what,
                              const char *detail);
/* The same, with the cause named. */
enum sp_err worker_fail_for(struct sp_worker *w, enum sp_abort cause, const char *what,
                            const char *detail);
int worker_timeout_ms(const struct sp_worker *w);
/* Takes the error over; NULL is none. */
enum sp_err worker_check(struct sp_worker *w, rd_kafka_error_t *error, const char *what);

/* Once a second; needs the tasks. */
void worker_measure(struct sp_worker *w);
/* Opens a transaction where the stage has work that no message causes. */
void worker_upkeep(struct sp_worker *w);

enum sp_err transaction_begin(struct sp_worker *w);
enum sp_err transaction_commit(struct sp_worker *w);
void transaction_abort(struct sp_worker *w);
void transaction_dead_letter(struct sp_worker *w, const rd_kafka_message_t *m, enum sp_err err,
                             const char *why);
/* Of the producer: notes where markers went, and what could not be delivered. */
void transaction_delivered(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg);

/* Of the consumer. */
void assignment_changed(rd_kafka_t *consumer, rd_kafka_resp_err_t code,
                        rd_kafka_topic_partition_list_t *list, void *arg);
void assignment_close(struct sp_worker *w);

#endif

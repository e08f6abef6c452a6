/* One process of one stage on Kafka: consume, step, produce, in transactions.
 *
 * Source: KIP-98, KIP-447 (exactly once with consumer groups).
 *
 *   begin    with the first message after a commit
 *   step     the stage handles messages; its messages and statuses go to the output topics
 *   commit   the stage flushes; its changes and a marker go to the changelog; all of this and the
 *            input offsets are committed in one transaction; only then are the changes applied to
 *            the local database
 *
 * Every failure aborts the transaction, closes everything and starts again from what is committed,
 * as after a kill. A round is the time from one start to the next. Thread rule: one thread; the
 * metrics may be read by others. */
#ifndef SP_KAFKA_WORKER_H
#define SP_KAFKA_WORKER_H

#include <signal.h>

#include "kafka/client.h"
#include "page/message.h"
#include "store/store.h"

struct sp_worker;

/* Sends a message of the stage in the open transaction. `value` without data deletes the key. */
void sp_worker_emit(struct sp_worker *w, enum sp_topic topic, int32_t partition, struct sp_view key,
                    struct sp_view value);
/* Takes over a message for a partition of the stage's input that this worker has: it reaches that
 * partition's `take`, or its `post`, before the transaction ends. False: the caller emits it. */
bool sp_worker_keep(struct sp_worker *w, enum sp_topic topic, int32_t partition,
                    struct sp_message *m);
/* Counts a message between the stages that is about to be sent. */
void sp_worker_count(struct sp_worker *w, enum sp_message_kind kind);
int32_t sp_worker_partitions(const struct sp_worker *w, enum sp_topic topic);

/* Counts of the stage, summed over its partitions, since they were opened. */
struct sp_stage_measure {
    uint64_t discarded;     /* versions that came late or twice, or found again what is not known */
    uint64_t put_off;       /* messages that waited for members on their way */
    uint64_t bounces;       /* messages for a page that had left its group */
    uint64_t settled;       /* mode fast: versions that tier 2 only stored */
    uint64_t rechecks;      /* mode fast: groups */
    uint64_t rows_to_move;  /* rows in cells of the partition map before */
    uint64_t aside;         /* messages for cells of a newer map, which wait for it */
    uint64_t cut;           /* pages of which only text.max_bytes were read */
    uint64_t contain_pages; /* this and the next two: of the contain stage, see contain.h */
    uint64_t contained;
    uint64_t contain_index_bytes;
};

/* What a stage found in a message before it looks at its state. */
struct sp_worker_reading {
    struct sp_message *message; /* NULL: the message needs nothing */
    const char *why;            /* after an error: a sentence, or NULL */
    uint64_t cut;               /* 1: only text.max_bytes were read */
};

struct sp_worker_stage {
    const char *name; /* of the consumer group and the transactional ids */
    enum sp_topic input;
    bool stateful;
    enum sp_topic changelog;
    enum sp_topic outputs[4];
    size_t output_count;
    /* NULL, or what must be there before any partition is opened, asked at the start of each round.
     * SP_BUSY: the schema registry does not respond. */
    enum sp_err (*prepare)(void *arg, struct sp_fault *fault);
    /* An instance for one input partition; `store` is NULL for a stateless stage. */
    enum sp_err (*open)(void *arg, struct sp_worker *w, struct sp_store *store, void **ret_stage);
    /* `value` without data: a deletion of that key. SP_CLASS_BAD_RECORD: the message goes to the
     * dead letters with *ret_why. SP_BUSY: the schema registry does not respond; the message comes
     * again. */
    enum sp_err (*step)(void *stage, struct sp_view key, struct sp_view value,
                        const char **ret_why);
    /* NULL, or the first part of `step`, for which a thread needs only a reader of its own. Fails
     * as `step`. */
    enum sp_err (*read)(void *reader, struct sp_view key, struct sp_view value,
                        struct sp_worker_reading *ret_reading);
    /* The other part of `step`, in the worker's thread; owns the message. */
    void (*pass)(void *stage, const struct sp_worker_reading *reading);
    void *(*reader_new)(void *arg);
    void (*reader_free)(void *reader);
    /* NULL, or puts aside a message that `step` refused with SP_OTHER_MAP, until the stage is
     * opened with the map. False: there is no room, and the stage ends. */
    bool (*set_aside)(void *stage, struct sp_view value);
    /* NULL: all messages go through the topic. Else handles one that this worker has kept, which it
     * owns. Fails as `step`, but no message of our own is a bad record. */
    enum sp_err (*take)(void *stage, struct sp_message *m);
    /* Emits one that was kept, which it owns. */
    void (*post)(void *stage, struct sp_message *m);
    /* NULL, or work that no message causes, done in each transaction before the flush. True: none
     * is left for now. While some is left, transactions are made without messages, too; `idle`:
     * this is one of them, so there is time for more. `sharers`: the partitions of this instance
     * that may have such work, which share what one transaction has time for. */
    bool (*upkeep)(void *stage, bool idle, uint32_t sharers);
    void (*measure)(void *stage, struct sp_stage_measure *sum); /* adds to it; may be NULL */
    /* Writes all changes into the open batch of the store. */
    enum sp_err (*flush)(void *stage);
    void (*close)(void *stage);
    void *arg;
};

/* Why a transaction was aborted: name, and the value of the label `reason` in /metrics. */
#define SP_ABORTS(X)                                                                               \
    X(REBALANCE, rebalance)             /* the partitions went to another instance */              \
    X(TIMEOUT, timeout)                 /* the broker did not reply in time */                     \
    X(FENCED, fenced)                   /* another process has this name, or it expired */         \
    X(BROKER, broker)                   /* any other error of the broker */                        \
    X(UNKNOWN_OUTCOME, unknown_outcome) /* unknown whether the commit happened */                  \
    X(STAGE, stage)                     /* the stage or its local database failed */               \
    X(REGISTRY, registry)               /* the schema registry does not respond */

enum sp_abort {
#define X(name, lower) SP_ABORT_##name,
    SP_ABORTS(X)
#undef X
        SP_ABORT_COUNT
};

/* A stable lower-case word; never NULL. */
const char *sp_abort_name(enum sp_abort cause);

struct sp_worker_metrics {
    uint64_t received;
    uint64_t emitted;
    uint64_t emitted_bytes;          /* keys and values */
    uint64_t largest_message_bytes;  /* of the values emitted */
    uint64_t longest_step_us;        /* the longest that the stage took with a message */
    uint64_t messages[SP_MSG_KINDS]; /* sent to the tiers */
    uint64_t direct;                 /* of these, handled without the topic */
    uint64_t errors;
    uint64_t discarded;
    uint64_t put_off;
    uint64_t bounces;
    uint64_t settled;
    uint64_t rechecks;
    uint64_t rows_to_move;
    uint64_t deferred; /* partitions whose stage has work left that no message causes */
    uint64_t aside;
    uint64_t cut;
    uint64_t contain_notes; /* sent to the contain stage */
    uint64_t contain_pages; /* of the contain stage, as the next two: see contain.h */
    uint64_t contained;
    uint64_t contain_index_bytes;
    uint64_t lag;
    uint64_t state_bytes;
    uint64_t rows_read; /* this and the next three: of the databases open now, see sp_db_counts */
    uint64_t bytes_read;
    uint64_t rows_written; /* put and deleted */
    uint64_t bytes_written;
    uint64_t dead_letters;
    uint64_t lost; /* offsets of the input that were deleted before they were read */
    uint64_t commits;
    uint64_t commit_microseconds;
    uint64_t aborts[SP_ABORT_COUNT];
    uint64_t restarts;
    uint64_t changelog_records;
    uint64_t restore_remaining;
    uint64_t standby_wanted;    /* copies of states of other instances; 1: or not known yet */
    uint64_t standby_copies;    /* of these, up to date */
    uint64_t standby_rounds;    /* times that all of them were brought up to date */
    uint64_t standby_remaining; /* changelog offsets that they lack */
    uint64_t tasks;
    uint64_t paused;        /* 1: intake waits, for the tiers or for room on the disk */
    uint64_t disk_full;     /* 1: there is no room for the state */
    uint64_t registry_down; /* 1: the schema registry does not respond */
    uint64_t ready;         /* 1: partitions are assigned, and nothing is being restored */
    uint64_t audit_missing; /* of a monitor (watch.h), as these: see shadow/shadow.h */
    uint64_t audit_wrong;
    uint64_t audit_judged;
    uint64_t audit_pages;
    uint64_t audit_late_ms;
    uint64_t audit_looks;
    int64_t last_poll_ms; /* by the monotonic clock */
};

struct sp_worker_options {
    struct sp_kafka_options kafka;
    struct sp_worker_stage stage;
    const char *state;       /* directory for the databases of a stateful stage */
    const char *fingerprint; /* see sp_db_open_rocksdb */
    struct sp_rocksdb_options store;
    uint32_t commit_interval_ms;
    uint32_t commit_idle_ms; /* without a message for that long, a commit comes earlier; 0: never */
    /* How long a transaction may be while the input is behind: while four times as many messages
     * wait as it has taken; or while commits are slow: four times as long as the last one took.
     * Below commit_interval_ms: no longer than that. */
    uint32_t commit_behind_ms;
    uint64_t commit_messages; /* or after so many */
    uint32_t timeout_ms;      /* of each question to the broker; 0: 30,000 */
    uint32_t stop_ms;         /* of all questions together once the worker is to stop; 0: 15,000 */
    uint32_t restart_ms;      /* between an error and the next try; 0: 2,000 */
    /* How many partitions a topic must have at the start; 0: any. All that a stage writes to or
     * asks for is looked at, and the topics of both tiers. */
    int32_t must_have[SP_TOPICS];
    uint32_t standby_replicas; /* see standby.h; 0: no copies */
    uint32_t readers; /* threads that read, if the stage has `read`; 0: the worker's own thread */
    uint64_t max_lag; /* stateless: intake pauses while the tiers are further behind; 0: never */
    void (*log)(const char *level, const char *text);
    struct sp_worker_metrics *metrics;
};

/* Runs until *stop is set, then finishes the open transaction and leaves the group. Restarts by
 * itself after any failure that may pass. SP_INVALID, SP_STATE_FORMAT, …: it cannot continue; the
 * fault says why. One of these is another process of the same name that has taken over twice: the
 * two would fence each other without end. */
enum sp_err sp_worker_run(const struct sp_worker_options *options,
                          const volatile sig_atomic_t *stop, struct sp_fault *fault);

#endif

/* What the files of the worker share. Private to this folder. docs/ARCHITECTURE.md, "On Kafka",
 * says what each file does. */
#ifndef SP_KAFKA_INTERNAL_H
#define SP_KAFKA_INTERNAL_H

#include "base/clock.h"
#include "kafka/crew.h"
#include "kafka/failure.h"
#include "kafka/lag.h"
#include "kafka/standby.h"
#include "kafka/states.h"
#include "kafka/task.h"
#include "kafka/waker.h"
#include "kafka/worker.h"

/* A stage with state takes no messages while the disk has less room than so many write buffers, and
 * follows no copies while it has less than twice as much. */
enum { SP_ROOM_BUFFERS = 8 };

/* What the producer has been given for one partition. */
struct sp_outlet {
    enum sp_topic topic;
    uint64_t bytes; /* keys and values that are not delivered yet */
    uint64_t messages;
    int64_t last;      /* the offset of the last one that was delivered; -1: not known */
    bool unknown;      /* of one that was delivered since it was assigned, it is not known */
    int64_t first;     /* where the partition ended when it was assigned; 0: not known */
    int64_t delivered; /* messages since then */
    bool begun;        /* of waiting.c */
};

/* A message to be sent. */
struct sp_outgoing {
    enum sp_topic topic;
    int32_t partition;
    struct sp_view key;
    struct sp_view value;        /* without data: deletes the key */
    rd_kafka_headers_t *headers; /* NULL, or copied */
};

struct sp_offsets {
    int64_t from;
    int64_t to; /* after the last one */
};

/* What a process remembers of its earlier rounds. */
struct sp_earlier {
    uint32_t wipes;             /* how often state was wiped because a stage found it damaged */
    uint64_t limits[SP_TOPICS]; /* bytes of the largest message it may take; 0: not known */
    bool found[SP_TOPICS];      /* the topic was there when a round started */
    struct sp_offsets *lost;    /* of the input, by partition: those that were counted last */
    uint32_t lost_cap;
};

struct sp_worker {
    const struct sp_worker_options *options;
    const volatile sig_atomic_t *stop;
    struct sp_earlier *earlier;
    rd_kafka_t *consumer;
    rd_kafka_t *producer;
    rd_kafka_t *watcher;
    struct sp_states *states;           /* NULL: none was opened yet */
    struct sp_standby *standby;         /* NULL: nothing of other instances is followed */
    struct sp_lag *lag;                 /* NULL: of a stage with state */
    struct sp_waker *waker;             /* of the consumer */
    struct sp_crew *crew;               /* NULL: the worker reads messages itself */
    rd_kafka_topic_t *known[SP_TOPICS]; /* to the producer */
    struct sp_agreement agreement;      /* on the fixed settings */
    bool agreed;                        /* with those of the group stage, as far as needed */
    char topics[SP_TOPICS][SP_TOPIC_NAME_MAX];
    int32_t partitions[SP_TOPICS];
    struct sp_task **tasks; /* by input partition, as many as there were at the start of the round;
                               NULL: not ours */
    /* By topic and partition; NULL: not a topic of this stage. Of the input, `last` is the last
     * offset that may hold a message of one of our partitions; see direct.c. */
    struct sp_outlet *outlets[SP_TOPICS];
    uint64_t batch_bytes;    /* what librdkafka sends of a partition in one request, at most: */
    uint64_t batch_messages; /* whichever is reached first */
    uint64_t message_bytes;  /* the largest message that librdkafka takes */
    struct sp_buf waiting;   /* messages of the open transaction; see waiting.c */
    bool waits;              /* more are added to them */
    size_t kept;             /* messages, of all tasks */
    size_t too_large; /* bytes of the last output of a stateless stage that no topic takes; 0 */
    struct {
        bool open;
        bool purged; /* librdkafka gave up messages of it */
        int64_t opened_ms;
        int64_t due_ms;     /* when to look whether it ends */
        int64_t commit_ms;  /* what the last commit took, without the steps before it */
        uint64_t handled;   /* messages in it */
        uint64_t taken;     /* of these, from the topic */
        int64_t handled_ms; /* when the last of them was taken */
    } transaction;
    struct sp_offsets_call *offsets_call; /* NULL: none has lasted too long in this round */
    struct {
        rd_kafka_queue_t *queue; /* of the reply; NULL: none is waited for */
        int64_t asked_ms;        /* when the topics were last asked about; 0: never */
        bool warned; /* the last request failed, or found a doubtful setting: logged once */
    } policies;
    struct {
        bool doubted[SP_TOPICS]; /* ask the broker whether the topic was recreated */
        bool logged[SP_TOPICS];  /* it was logged that the topic was recreated */
    } recreated;
    struct {
        uint64_t step_us;    /* the longest step that was logged */
        int64_t restores_ms; /* when the progress of restores was logged */
    } logged;
    uint64_t set_aside; /* messages, in this round */
    int64_t measured_ms;
    uint64_t restored; /* records that the last restore has applied */
    int64_t room_ms;   /* when the room on the disk was looked at */
    int64_t opened_round_ms;
    int64_t stopped_ms; /* when a wait first noticed that the worker is to stop; 0: not yet */
    bool fenced;        /* another process has its name; set at the end of the round */
    bool paused;        /* intake: also for partitions that come */
    struct sp_failure failure; /* of anything since the start; ends the round */
};

#define ADD(w, field, n) __atomic_add_fetch(&(w)->options->metrics->field, n, __ATOMIC_RELAXED)
#define SET(w, field, n) __atomic_store_n(&(w)->options->metrics->field, n, __ATOMIC_RELAXED)

/* Notes that the worker is alive: at each poll, and between waits, each of which is shorter than a
 * minute. */
static inline void sp_worker_alive(struct sp_worker *w)
{
    SET(w, last_poll_ms, sp_clock_ms());
}

/* ---- patience.c ---- */

/* How long a wait for the broker that began at `start_ms` may still last; 0: no longer. Less as
 * soon as the worker is to stop: its supervisor kills it after a minute, and all waits that are
 * still to come have a part of that. */
int sp_worker_left_ms(struct sp_worker *w, int64_t start_ms);
/* The same for a question to the broker that is asked now, which gets some seconds in any case. */
int sp_worker_timeout_ms(struct sp_worker *w);

/* ---- log.c ---- */

/* Logs a line of up to 1,023 bytes at that level, as printf would write it. */
void sp_worker_say(struct sp_worker *w, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- needs.c ---- */

/* At the start of a round: the partitions of the topics that the stage needs. The round ends if one
 * cannot be used as it is or is missing. One that was there in an earlier round is asked for again
 * for half a minute first. */
enum sp_err sp_needs_look(struct sp_worker *w);

/* ---- assignment.c: callbacks and errors of the consumer ---- */

/* Partitions were assigned or revoked. */
void sp_assignment_changed(rd_kafka_t *consumer, rd_kafka_resp_err_t code,
                           rd_kafka_topic_partition_list_t *list, void *arg);
/* Closes the databases and stages of all tasks, and gives up the copies. What was not committed is
 * lost, and its messages are read again. */
void sp_assignment_close(struct sp_worker *w);
/* The broker has refused the next offset of a partition that is ours: notes what is missing, if it
 * does not exist any more. */
enum sp_err sp_assignment_lost(struct sp_worker *w, int32_t partition);

/* ---- agreed.c: each ends the round if fixed settings differ ---- */

/* A stage with state, before databases are made for these partitions, because they would refuse the
 * right settings afterwards. */
void sp_agreed_before(struct sp_worker *w, const rd_kafka_topic_partition_list_t *list);
/* The same with what its group has committed. */
void sp_agreed_own(struct sp_worker *w, const rd_kafka_topic_partition_list_t *committed);
/* Compare and contain, before a commit. Asks until the group stage has noted its settings. */
enum sp_err sp_agreed_tiers(struct sp_worker *w);
/* The signature stage, in each turn of the loop. */
void sp_agreed_signatures(struct sp_worker *w);

/* ---- loading.c ---- */

/* Opens the stage of a task, whose database is restored. */
enum sp_err sp_loading_run(struct sp_worker *w, struct sp_task *t);

/* ---- intake.c ---- */

/* Pauses and resumes; in each turn of the loop. */
void sp_intake_control(struct sp_worker *w);

/* ---- step.c ---- */

/* The handling of one message, and what the worker had sent before it. */
struct sp_step {
    int64_t started_us;
    uint64_t emitted;
    uint64_t emitted_bytes;
    size_t kept;
};

struct sp_step sp_step_begin(const struct sp_worker *w);
/* Notes how long it took, of which threads of the crew took `read_us`. One that takes a second, and
 * twice as long as the last one that was logged, is logged with what it did. `m`: NULL if the
 * message was handled without the topic. `what`: a word for it, or NULL. */
void sp_step_end(struct sp_worker *w, const struct sp_step *step, const struct sp_task *t,
                 const rd_kafka_message_t *m, const char *what, uint64_t read_us);

/* ---- aside.c ---- */

/* A message that the stage refused with SP_OTHER_MAP. False: it cannot be put aside (aside.h). */
bool sp_worker_set_aside(struct sp_worker *w, struct sp_task *t, const rd_kafka_message_t *m);

/* ---- direct.c ---- */

/* Delivers what is kept for tasks that have caught up, and what follows from it. */
void sp_direct_deliver(struct sp_worker *w);
/* Sends the rest to the topic. */
void sp_direct_post(struct sp_worker *w);
/* Of a task that is closed. */
void sp_direct_drop(struct sp_worker *w, struct sp_task *t);

/* ---- transaction.c ---- */

/* Once the topics are known and the producer is open. */
void sp_transaction_open_outlets(struct sp_worker *w);
/* Begins a transaction unless one is open. Returns the failure of the round. */
enum sp_err sp_transaction_begin(struct sp_worker *w);
/* Commits the open transaction, if there is one, and then the local databases. After a failure the
 * transaction may be left open: abort it. Returns the failure of the round. */
enum sp_err sp_transaction_commit(struct sp_worker *w);
/* Aborts the open transaction, if there is one. An error does not matter: the broker ends it after
 * transaction.timeout.ms. */
void sp_transaction_abort(struct sp_worker *w);
/* Sends the beginning of a message that cannot be handled to the dead letters. `why`: NULL, or a
 * sentence, else that of the error. */
void sp_transaction_dead_letter(struct sp_worker *w, const rd_kafka_message_t *m, enum sp_err err,
                                const char *why);
/* Of the producer: notes where messages went, and what could not be delivered. */
void sp_transaction_delivered(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg);

/* ---- offsets.c ---- */

/* Adds the offsets to the open transaction, and takes both objects over. Returns the failure of the
 * round: SP_ABORT_TIMEOUT if the call takes longer than any question to the broker may. */
enum sp_err sp_offsets_send(struct sp_worker *w, rd_kafka_topic_partition_list_t *offsets,
                            rd_kafka_consumer_group_metadata_t *group);
/* At the end of the round. True: a call still uses the producer, which is destroyed after it. */
bool sp_offsets_leave(struct sp_worker *w);

/* ---- waiting.c ---- */

/* A transaction has begun: its messages wait, if the stage has state. */
void sp_waiting_begin(struct sp_worker *w);
/* False: this message does not wait. */
bool sp_waiting_put(struct sp_worker *w, const struct sp_outgoing *o, struct sp_outlet *outlet);
/* Gives librdkafka what waits. What comes later in the transaction does not wait. */
void sp_waiting_end(struct sp_worker *w);

/* ---- output.c ---- */

/* Gives a message to librdkafka. SP_TOO_LARGE: it does not accept it, and nothing was given. */
enum sp_err sp_output_try(struct sp_worker *w, const struct sp_outgoing *o);
/* The same, and the stage ends if the message is too large. */
void sp_output_give(struct sp_worker *w, const struct sp_outgoing *o);
/* Ends the stage: a message of so many bytes, or the batch that it is in, is larger than the topic
 * accepts. */
void sp_output_too_large(struct sp_worker *w, enum sp_topic topic, size_t bytes);
void sp_output_batch_too_large(struct sp_worker *w, enum sp_topic topic, size_t bytes);

/* ---- remade.c ---- */

/* A message was delivered at an offset that is not above the last one of its partition: notes that
 * the topic may be another one. */
void sp_remade_doubt(struct sp_worker *w, enum sp_topic topic);
/* Before a commit, when all messages of the transaction are delivered: asks the broker for the ends
 * of a topic of which that was noted. If one is less than it was, the topic was deleted and
 * recreated, or has lost its end. If it is the changelog, the round ends, and the next restore
 * compares it with the local state; otherwise this is logged, once a round. The round also ends if
 * the broker does not reply. Asks once at most: another topic's turn is the next commit. */
enum sp_err sp_remade_check(struct sp_worker *w);
/* An error of the consumer. True, and the round ends, if it says that a topic or partition that is
 * read does not exist any more: the next round finds out what has become of it. */
bool sp_remade_gone(struct sp_worker *w, rd_kafka_resp_err_t code, const char *reason);
/* The error callback of the consumer: librdkafka reports a partition that is gone there. */
void sp_remade_error(rd_kafka_t *consumer, int code, const char *reason, void *arg);
/* Once the tasks are open: warns if the statuses are gone. */
void sp_remade_look(struct sp_worker *w);

/* ---- damage.c ---- */

/* Whether files of a database are damaged, so that a new database would help. It would not help
 * against a full disk, or one that cannot be written to. `text`: the database's error message. */
bool sp_damage_is(enum sp_err err, const char *text);
/* A failure of a stage or its database. Where that is damaged, it is wiped at the end of the round,
 * and the next one restores it. */
enum sp_err sp_damage_note(struct sp_worker *w, struct sp_task *t, enum sp_err err,
                           const char *what, const char *detail);

/* ---- meter.c ---- */

/* Offsets of the input that are not handled yet, of all partitions, as of the last fetches; needs
 * the tasks. */
uint64_t sp_worker_lag(const struct sp_worker *w);
/* Once a second; needs the tasks. */
void sp_worker_measure(struct sp_worker *w);
/* Opens a transaction if the stage has work that no message causes. */
void sp_worker_upkeep(struct sp_worker *w);

#endif

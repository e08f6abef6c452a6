/* One input partition of a stage that keeps state: its database, its changelog partition, and how
 * one is restored from the other.
 *
 *   stored row  (meta)  "task" -> next input offset, next changelog offset, batch number, life
 *   changelog   key = stored key, value = stored value (null: deleted); the last record of each
 *               transaction is a marker, key empty: next input offset, batch number, life
 *
 * The life is a number drawn when the first marker of a changelog is written. Offsets alone cannot
 * distinguish a changelog from a topic that was created in its place; a database of another life is
 * wiped.
 *
 * The database is written only after the transaction that carries its changelog is committed, so it
 * is never ahead of the changelog; a restore applies what lies between the two. */
#ifndef SP_KAFKA_TASK_H
#define SP_KAFKA_TASK_H

#include "base/hash.h"
#include "kafka/client.h"
#include "store/store.h"

struct sp_message;

struct sp_task {
    int32_t partition;
    struct sp_db *db;
    void *stage;
    int64_t input_next;     /* committed: the next message to handle */
    int64_t read_from;      /* of the input, in this assignment; below 0: from its beginning */
    int64_t read_to;        /* of the input, when its end was last reached; 0: not yet */
    int64_t changelog_next; /* committed */
    uint64_t batch;
    struct sp_id life;  /* of the changelog; zero: no marker was written yet */
    bool partial;       /* the database holds rows that a marker must follow */
    int64_t read_until; /* of the changelog, where its end cannot be read yet; 0: all */
    /* of the open transaction */
    int64_t handled_next;    /* -1: nothing handled */
    struct sp_message *kept; /* for this partition; see direct.c */
    struct sp_message *kept_last;
    bool damaged;  /* the database: it is of no use any more */
    bool mistaken; /* the same, with its settings; nothing was committed to it */
    bool upkept;   /* the stage had no work beside messages in the last transaction */
    bool paid;     /* the same, whatever messages have come since */
};

enum { SP_TASK_STORE_META = 0, SP_TASK_STORE_STAGE = 1 };

/* Reads the stored row; a new database gives offsets -1, 0. */
enum sp_err sp_task_load(struct sp_task *t);
/* Appends the stored row for the state after the open transaction to the database's open batch. */
void sp_task_save(struct sp_task *t);

/* Draws the life of a changelog that has none. */
void sp_task_live(struct sp_task *t);

struct sp_marker {
    int64_t input_next;
    uint64_t batch;
    struct sp_id life;
};

/* The marker's value, and back; false: not a marker's value. */
void sp_marker_put(struct sp_buf *out, const struct sp_marker *m);
bool sp_marker_read(struct sp_view value, struct sp_marker *ret_marker);

struct sp_restore {
    rd_kafka_t *reader;  /* SP_KAFKA_RESTORER */
    rd_kafka_t *watcher; /* SP_KAFKA_WATCHER */
    const char *topic;
    bool ahead; /* sp_restore_ahead was called for this partition, and the reader not used since */
    size_t batch_bytes; /* of rows in memory, of which there are two; 0: 16 MiB, 32 where the
                           database is filled */
    /* Called now and then: records applied, offsets still to read. May be NULL. Returns false to
     * give up (the process is to stop). */
    bool (*progress)(void *arg, int32_t partition, uint64_t applied, int64_t remaining);
    void *arg;
};

/* Begins to read a changelog partition from its first record, while a database is still being
 * created for it. The reader's other partitions are dropped. False: it could not. */
bool sp_restore_ahead(rd_kafka_t *reader, const char *topic, int32_t partition);
/* Whether a changelog partition has no committed record. Uses the reader as above. SP_BUSY: the
 * broker does not tell. */
enum sp_err sp_restore_is_empty(rd_kafka_t *reader, const char *topic, int32_t partition,
                                bool *ret_empty);

/* Brings the task's database up to the last marker of its changelog; fills it (sp_db_fill) where
 * much is missing. Memory: two batches of rows, however far apart markers are (compaction leaves
 * one). SP_STATE_FORMAT: the database
 * cannot be trusted (it is not of this changelog): wipe it and call again with a new one.
 * SP_BUSY: gave up, or no progress for too long. */
enum sp_err sp_task_restore(struct sp_task *t, const struct sp_restore *r, struct sp_fault *fault);

#endif

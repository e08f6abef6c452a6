/* One input partition of a stage that keeps state: its database, its changelog partition, and the
 * way from one to the other.
 *
 *   stored row  (meta)  "task" -> next input offset, next changelog offset, batch number
 *   changelog   key = stored key, value = stored value (null: deleted); the last record of each
 *               transaction is a marker, key empty: next input offset, batch number
 *
 * The database is written only after the transaction that carries its changelog is committed, so it
 * is never ahead of the changelog; a restore applies what lies between the two. */
#ifndef SP_KAFKA_TASK_H
#define SP_KAFKA_TASK_H

#include "kafka/client.h"
#include "store/store.h"

struct sp_task {
    int32_t partition;
    struct sp_db *db;
    void *stage;
    int64_t input_next;     /* committed: the next message to handle */
    int64_t changelog_next; /* committed */
    uint64_t batch;
    /* of the open transaction */
    int64_t handled_next;  /* -1: nothing handled */
    int64_t marker_offset; /* of the marker, once delivered; -1 */
    bool upkept;           /* the stage had no work beside messages in the last transaction */
};

enum { SP_TASK_STORE_META = 0, SP_TASK_STORE_STAGE = 1 };

/* Reads the stored row; a new database gives offsets -1, 0. */
enum sp_err sp_task_load(struct sp_task *t);
/* Appends the stored row for the state after the open transaction to the database's open batch. */
void sp_task_save(struct sp_task *t);

/* The marker's value, and back; false: not a marker's value. */
void sp_marker_put(struct sp_buf *out, int64_t input_next, uint64_t batch);
bool sp_marker_read(struct sp_view value, int64_t *ret_input_next, uint64_t *ret_batch);

struct sp_restore {
    rd_kafka_t *reader;  /* SP_KAFKA_READER */
    rd_kafka_t *watcher; /* SP_KAFKA_WATCHER */
    const char *topic;
    /* Called now and then: records applied, offsets still to read. May be NULL. Answers false to
     * give up (the process is to stop). */
    bool (*progress)(void *arg, int32_t partition, uint64_t applied, int64_t remaining);
    void *arg;
};

/* How many offsets of the changelog the task's database lacks; fails as sp_task_restore does. */
enum sp_err sp_task_behind(struct sp_task *t, const struct sp_restore *r, int64_t *ret_behind,
                           const char **ret_message);
/* Brings the task's database up to the last marker of its changelog. SP_STATE_FORMAT: the database
 * cannot be trusted (its offset is not in the changelog): wipe it and call again with a new one.
 * SP_BUSY: gave up, or no progress for too long. */
enum sp_err sp_task_restore(struct sp_task *t, const struct sp_restore *r,
                            const char **ret_message);

#endif

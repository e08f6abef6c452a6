/* The databases of the partitions that a stage has got: opened and brought up to their changelogs,
 * several at a time, each by a thread with a reader of its own. Private to this folder. */
#ifndef SP_KAFKA_STATES_H
#define SP_KAFKA_STATES_H

#include "kafka/task.h"

struct sp_states;

/* All is borrowed. */
struct sp_states_options {
    const struct sp_kafka_options *kafka;
    const struct sp_rocksdb_options *store;
    size_t lanes; /* so many at a time; 0: the store's background_threads */
    const char *fingerprint;
    const char *directory; /* partition P is in directory/name-P */
    const char *name;
    const char *topic;   /* of the changelog */
    rd_kafka_t *watcher; /* SP_KAFKA_WATCHER */
    /* Called by the thread that waits in sp_states_open, several times a second, with sums over all
     * partitions: records applied, offsets still to read. Returns false to give up. */
    bool (*waiting)(void *arg, uint64_t applied, int64_t remaining);
    /* "warning" or "error", by any thread. */
    void (*say)(void *arg, const char *level, const char *text);
    /* NULL, or asked by any thread before a state is wiped whose changelog is empty. Not SP_OK: the
     * state is kept, and this is the failure. */
    enum sp_err (*emptied)(void *arg, int32_t partition, struct sp_fault *fault);
    void *arg;
};

struct sp_states *sp_states_new(const struct sp_states_options *options);
/* Closes the readers; databases are the tasks' own. NULL is allowed. */
void sp_states_free(struct sp_states *s);

/* Opens the databases of these tasks, but for those that are open, and restores them
 * (sp_task_restore); if one is damaged, or of another changelog, it is wiped and restored from
 * the start. The first failure ends the others,
 * too: *ret_failed is its index. Afterwards the databases belong to the calling thread. */
enum sp_err sp_states_open(struct sp_states *s, struct sp_task *const *tasks, size_t count,
                           size_t *ret_failed, struct sp_fault *fault);
/* Whether there is a directory for the database of a partition of the stage `name`. */
bool sp_states_kept(const char *directory, const char *name, int32_t partition);
/* Closes the database of a task and deletes its rows. */
void sp_states_wipe(struct sp_states *s, struct sp_task *t, const char *why);

#endif

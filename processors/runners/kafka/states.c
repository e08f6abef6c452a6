/* See states.h. */
#include "kafka/states.h"

#include <stdio.h>
#include <unistd.h>

#include "base/huge.h"
#include "base/mem.h"
#include "base/service.h"
#include "base/thread.h"
#include "kafka/fetcher.h"
#include "kafka/internal.h"
#include "local/keeper.h"

enum { LANES_MOST = 16, WAIT_MS = 100, PATH_BYTES = 4096 };

/* A thread, and its reader, which is kept for the next time. */
struct lane {
    struct sp_states *states;
    pthread_t thread;
    bool started;
    rd_kafka_t *reader; /* NULL: not needed yet */
};

/* The progress of a partition; both fields are atomic. */
struct step {
    uint64_t applied;
    int64_t remaining;
};

struct sp_states {
    struct sp_states_options options;
    struct lane lanes[LANES_MOST];
    pthread_mutex_t
        opening; /* databases that share write buffers are opened and closed one at a time */
    struct sp_service
        waiting;    /* of the caller, for the lanes; its lock is that of the next fields */
    size_t working; /* number of lanes at work */
    enum sp_err err;
    size_t failed;
    struct sp_fault fault;
    /* while tasks are opened */
    struct sp_task *const *tasks;
    struct step *steps;
    size_t count;
    size_t next; /* atomic */
    bool ending; /* atomic */
};

/* ---- one database ---- */

static void name_state(const char *directory, const char *name, int32_t partition,
                       char ret_directory[PATH_BYTES])
{
    snprintf(ret_directory, PATH_BYTES, "%s/%s-%d", directory, name, (int)partition);
}

static void name_directory(const struct sp_states *s, const struct sp_task *t,
                           char ret_directory[PATH_BYTES])
{
    name_state(s->options.directory, s->options.name, t->partition, ret_directory);
}

bool sp_states_kept(const char *directory, const char *name, int32_t partition)
{
    char path[PATH_BYTES];
    name_state(directory, name, partition, path);
    return access(path, F_OK) == 0;
}

static void close_database(struct sp_states *s, struct sp_task *t)
{
    pthread_mutex_lock(&s->opening);
    sp_db_close(t->db);
    pthread_mutex_unlock(&s->opening);
    t->db = NULL;
}

void sp_states_wipe(struct sp_states *s, struct sp_task *t, const char *why)
{
    char directory[PATH_BYTES], text[2 * PATH_BYTES];
    struct sp_fault fault;
    name_directory(s, t, directory);
    snprintf(text, sizeof text, "wiping %s: %s", directory, why);
    s->options.say(s->options.arg, "warning", text);
    close_database(s, t);
    enum sp_err err = t->mistaken ? sp_db_remove(directory, &fault) : sp_db_wipe(directory, &fault);
    if (err != SP_OK)
        s->options.say(s->options.arg, "error", fault.text);
}

static bool on_progress(void *arg, int32_t partition, uint64_t applied, int64_t remaining)
{
    struct sp_states *s = arg;
    for (size_t i = 0; i < s->count; i++)
        if (s->tasks[i]->partition == partition) {
            __atomic_store_n(&s->steps[i].applied, applied, __ATOMIC_RELAXED);
            __atomic_store_n(&s->steps[i].remaining, remaining, __ATOMIC_RELAXED);
        }
    return !__atomic_load_n(&s->ending, __ATOMIC_RELAXED);
}

static enum sp_err bring_up(struct lane *lane, struct sp_task *t, bool *ret_useless,
                            struct sp_fault *fault)
{
    struct sp_states *s = lane->states;
    char directory[PATH_BYTES];
    struct sp_restore restore = {.reader = lane->reader,
                                 .watcher = s->options.watcher,
                                 .topic = s->options.topic,
                                 .progress = on_progress,
                                 .arg = s};
    enum sp_err err = SP_OK;
    bool adopted = t->db != NULL;
    if (adopted) {
        sp_db_adopt(t->db);
    } else {
        name_directory(s, t, directory);
        /* It takes as long to create a database as to find the changelog's broker and connect. */
        restore.ahead = access(directory, F_OK) != 0 && !sp_fetcher_may(lane->reader) &&
                        sp_restore_ahead(lane->reader, s->options.topic, t->partition);
        pthread_mutex_lock(&s->opening);
        err =
            sp_db_open_rocksdb(directory, s->options.fingerprint, s->options.store, &t->db, fault);
        pthread_mutex_unlock(&s->opening);
    }
    bool opened = err == SP_OK;
    if (opened && !adopted)
        err = sp_keeper_check(t->db, SP_KEEPER_STAGE, directory, fault);
    if (err == SP_OK)
        err = sp_task_restore(t, &restore, fault);
    /* State of other settings is refused by the open; state of another changelog is found here. */
    *ret_useless = sp_damage_is(err, fault->text) || (opened && err == SP_STATE_FORMAT);
    return err;
}

/* Before a database that belongs to another changelog is wiped: it may be all that is left. */
static enum sp_err check_changelog(struct lane *lane, const struct sp_task *t,
                                   struct sp_fault *fault)
{
    const struct sp_states_options *o = &lane->states->options;
    bool empty = false;
    if (!o->emptied)
        return SP_OK;
    if (sp_restore_is_empty(lane->reader, o->topic, t->partition, &empty) != SP_OK)
        return sp_fault_set(fault, SP_BUSY, "%s [%d]: the broker does not tell whether it is empty",
                            o->topic, (int)t->partition);
    return empty ? o->emptied(o->arg, t->partition, fault) : SP_OK;
}

static enum sp_err open_state(struct lane *lane, struct sp_task *t, struct sp_fault *fault)
{
    struct sp_states *s = lane->states;
    bool useless = false;
    enum sp_err err = lane->reader ? SP_OK
                                   : sp_kafka_open(s->options.kafka, SP_KAFKA_RESTORER, "restore",
                                                   NULL, NULL, &lane->reader, fault);
    if (err != SP_OK)
        return err;
    err = bring_up(lane, t, &useless, fault);
    if (err != SP_OK && useless) {
        struct sp_fault kept;
        if (err == SP_STATE_FORMAT && (err = check_changelog(lane, t, &kept)) != SP_OK) {
            *fault = kept;
            return err;
        }
        sp_states_wipe(s, t, fault->text);
        err = bring_up(lane, t, &useless, fault);
    }
    return err;
}

/* ---- all of them ---- */

static void note_failure(struct sp_states *s, enum sp_err err, size_t i,
                         const struct sp_fault *fault)
{
    pthread_mutex_lock(&s->waiting.lock);
    if (s->err == SP_OK) { /* tasks that are ended by this error report that they were stopped */
        s->err = err;
        s->failed = i;
        s->fault = *fault;
    }
    pthread_mutex_unlock(&s->waiting.lock);
    __atomic_store_n(&s->ending, true, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
    struct lane *lane = arg;
    struct sp_states *s = lane->states;
    sp_huge_thread();
    while (!__atomic_load_n(&s->ending, __ATOMIC_RELAXED)) {
        size_t i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);
        struct sp_fault fault = {""};
        if (i >= s->count)
            break;
        enum sp_err err = open_state(lane, s->tasks[i], &fault);
        if (err != SP_OK)
            note_failure(s, err, i, &fault);
    }
    pthread_mutex_lock(&s->waiting.lock);
    s->working--;
    sp_service_wake(&s->waiting);
    pthread_mutex_unlock(&s->waiting.lock);
    return NULL;
}

static void start(struct sp_states *s)
{
    size_t lanes =
        s->options.lanes ? s->options.lanes : (size_t)s->options.store->background_threads;
    lanes = lanes < s->count ? lanes : s->count;
    lanes = lanes < LANES_MOST ? lanes : LANES_MOST;
    for (size_t i = 0; i < lanes; i++) {
        struct lane *lane = &s->lanes[i];
        struct sp_fault fault;
        lane->states = s;
        pthread_mutex_lock(&s->waiting.lock);
        s->working++;
        pthread_mutex_unlock(&s->waiting.lock);
        enum sp_err err = sp_thread_start(&lane->thread, work, lane, &fault);
        lane->started = err == SP_OK;
        if (lane->started)
            continue;
        pthread_mutex_lock(&s->waiting.lock);
        s->working--;
        pthread_mutex_unlock(&s->waiting.lock);
        if (i == 0)
            note_failure(s, err, 0, &fault);
        break;
    }
}

static void report(struct sp_states *s)
{
    uint64_t applied = 0;
    int64_t remaining = 0;
    for (size_t i = 0; i < s->count; i++) {
        applied += __atomic_load_n(&s->steps[i].applied, __ATOMIC_RELAXED);
        remaining += __atomic_load_n(&s->steps[i].remaining, __ATOMIC_RELAXED);
    }
    if (!s->options.waiting(s->options.arg, applied, remaining))
        __atomic_store_n(&s->ending, true, __ATOMIC_RELAXED);
}

static void wait_for_all(struct sp_states *s)
{
    pthread_mutex_lock(&s->waiting.lock);
    while (s->working > 0) {
        sp_service_pause(&s->waiting, WAIT_MS);
        pthread_mutex_unlock(&s->waiting.lock);
        report(s);
        pthread_mutex_lock(&s->waiting.lock);
    }
    pthread_mutex_unlock(&s->waiting.lock);
    for (size_t i = 0; i < LANES_MOST; i++)
        if (s->lanes[i].started) {
            pthread_join(s->lanes[i].thread, NULL);
            s->lanes[i].started = false;
        }
}

enum sp_err sp_states_open(struct sp_states *s, struct sp_task *const *tasks, size_t count,
                           size_t *ret_failed, struct sp_fault *fault)
{
    s->tasks = tasks;
    s->count = count;
    s->steps = sp_calloc(count ? count : 1, sizeof *s->steps);
    s->next = 0;
    s->ending = false;
    s->err = SP_OK;
    start(s);
    wait_for_all(s);
    report(s);
    if (s->err == SP_OK && s->ending && s->next < count) /* no lane was there to report it */
        s->err = sp_fault_set(&s->fault, SP_BUSY, "the restore was stopped");
    for (size_t i = 0; i < count && s->err == SP_OK; i++)
        sp_db_adopt(tasks[i]->db);
    sp_free(s->steps);
    if (s->err != SP_OK) {
        *ret_failed = s->failed < count ? s->failed : 0;
        *fault = s->fault;
    }
    return s->err;
}

struct sp_states *sp_states_new(const struct sp_states_options *options)
{
    struct sp_states *s = sp_calloc(1, sizeof *s);
    s->options = *options;
    pthread_mutex_init(&s->opening, NULL);
    sp_service_init(&s->waiting);
    return s;
}

void sp_states_free(struct sp_states *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < LANES_MOST; i++)
        sp_kafka_close(s->lanes[i].reader);
    sp_service_done(&s->waiting);
    pthread_mutex_destroy(&s->opening);
    sp_free(s);
}

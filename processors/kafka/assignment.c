/* Partitions come and go: a database for each, brought up to its changelog before the first
 * message. */
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "kafka/internal.h"

/* From that many records on a restore fills the database in bulk. */
enum { BULK_RECORDS = 50000 };

/* ---- tasks ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static bool on_restore(void *arg, int32_t partition, uint64_t applied, int64_t remaining)
{
    struct sp_worker *w = arg;
    SET(w, restore_remaining, (uint64_t)remaining);
    worker_alive(w);
    rd_kafka_poll(w->consumer, 0); /* else it is thought dead after max.poll.interval.ms */
    worker_say(w, "info", "restoring partition %d: %" PRIu64 " records applied, %" PRId64 " to go",
               (int)partition, applied, remaining);
    return !*w->stop;
}

static enum sp_err open_database(struct sp_worker *w, struct sp_task *t, const char *directory,
                                 bool bulk)
{
    const char *message = "";
    struct sp_rocksdb_options options = w->options->store;
    options.bulk = bulk;
    enum sp_err err =
        sp_db_open_rocksdb(directory, w->options->fingerprint, &options, &t->db, &message);
    return err == SP_OK ? SP_OK : worker_fail(w, err, "local state", message);
}

static void close_database(struct sp_task *t)
{
    sp_db_close(t->db);
    t->db = NULL;
}

/* Most of a long restore; what came meanwhile is left. */
static enum sp_err restore_in_bulk(struct sp_worker *w, struct sp_task *t,
                                   const struct sp_restore *restore, const char *directory,
                                   const char **ret_message)
{
    close_database(t);
    if (open_database(w, t, directory, true) != SP_OK)
        return w->err;
    enum sp_err err = sp_task_restore(t, restore, ret_message);
    if (err == SP_OK && sp_db_sync(t->db) != SP_OK)
        return worker_fail(w, SP_STORE, "local state", sp_db_message(t->db));
    if (err != SP_OK)
        return err;
    close_database(t);
    return open_database(w, t, directory, false);
}

static enum sp_err restore_state(struct sp_worker *w, struct sp_task *t,
                                 const struct sp_restore *restore, const char *directory,
                                 const char **ret_message)
{
    int64_t behind = 0;
    enum sp_err err = sp_task_behind(t, restore, &behind, ret_message);
    if (err == SP_OK && behind >= BULK_RECORDS)
        err = restore_in_bulk(w, t, restore, directory, ret_message);
    return err == SP_OK ? sp_task_restore(t, restore, ret_message) : err;
}

static enum sp_err open_state(struct sp_worker *w, struct sp_task *t)
{
    char directory[4096];
    const char *message = "";
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_restore restore = {.reader = w->reader,
                                 .watcher = w->watcher,
                                 .topic = w->topics[stage->changelog],
                                 .progress = on_restore,
                                 .arg = w};
    snprintf(directory, sizeof directory, "%s/%s-%d", w->options->state, stage->name,
             (int)t->partition);
    if (open_database(w, t, directory, false) != SP_OK)
        return w->err;
    enum sp_err err = restore_state(w, t, &restore, directory, &message);
    if (w->err == SP_OK && (err == SP_STATE_FORMAT || err == SP_CORRUPT)) {
        worker_say(w, "warning", "wiping %s: %s", directory, message);
        close_database(t);
        nftw(directory, remove_one, 32, FTW_DEPTH | FTW_PHYS);
        if (open_database(w, t, directory, false) != SP_OK)
            return w->err;
        err = restore_state(w, t, &restore, directory, &message);
    }
    SET(w, restore_remaining, 0);
    return err == SP_OK ? SP_OK : worker_fail(w, err, "restore", message);
}

static void close_task(struct sp_worker *w, int32_t partition)
{
    struct sp_task *t = w->tasks[partition];
    if (!t)
        return;
    if (t->stage)
        w->options->stage.close(t->stage);
    if (t->db && w->err == SP_OK)
        sp_db_sync(t->db); /* else the changelog has it */
    sp_db_close(t->db);
    sp_free(t);
    w->tasks[partition] = NULL;
    ADD(w, tasks, -1);
}

static enum sp_err open_task(struct sp_worker *w, int32_t partition)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_task *t = sp_calloc(1, sizeof *t);
    t->partition = partition;
    t->input_next = t->handled_next = t->marker_offset = -1;
    w->tasks[partition] = t;
    ADD(w, tasks, 1);
    if (stage->stateful && open_state(w, t) != SP_OK)
        return w->err;
    struct sp_store *store = t->db ? sp_db_store(t->db, SP_TASK_STORE_STAGE) : NULL;
    enum sp_err err = stage->open(stage->arg, w, store, &t->stage);
    const char *why = err == SP_STATE_FORMAT ? "its changelog was written by an older samepage; "
                                               "begin anew, with topics of another topics.prefix"
                                             : sp_err_text(err);
    return err == SP_OK ? SP_OK : worker_fail(w, err, "the stage cannot start", why);
}

void assignment_close(struct sp_worker *w)
{
    for (int32_t p = 0; w->tasks && p < w->partitions[w->options->stage.input]; p++)
        close_task(w, p);
}

/* What was handled is committed while the partitions are still ours, then everything is closed. */
static void give_back(struct sp_worker *w)
{
    transaction_commit(w);
    if (w->open)
        transaction_abort(w);
    assignment_close(w);
}

/* A static member that was fenced and comes back can get partitions twice without giving them back
 * in between: they are opened anew, as their logs may have grown by another's hand. */
void assignment_changed(rd_kafka_t *consumer, rd_kafka_resp_err_t code,
                        rd_kafka_topic_partition_list_t *list, void *arg)
{
    struct sp_worker *w = arg;
    if (code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        SET(w, ready, 0);
        if (rd_kafka_assignment_lost(consumer))
            worker_fail_for(w, SP_ABORT_REBALANCE, "rebalance", "the partitions were lost");
        give_back(w);
        rd_kafka_assign(consumer, NULL);
        return;
    }
    give_back(w);
    for (int i = 0; i < list->cnt && w->err == SP_OK; i++) {
        int32_t p = list->elems[i].partition;
        if (open_task(w, p) == SP_OK)
            list->elems[i].offset =
                w->tasks[p]->input_next >= 0 ? w->tasks[p]->input_next : RD_KAFKA_OFFSET_STORED;
    }
    worker_say(w, "info", "%d partitions assigned", list->cnt);
    rd_kafka_assign(consumer, w->err == SP_OK ? list : NULL);
    if (w->paused && w->err == SP_OK)
        rd_kafka_pause_partitions(consumer, list);
    SET(w, ready, w->err == SP_OK);
}

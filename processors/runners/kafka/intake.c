/* Pauses a stage's intake. The only inflow from outside waits while the tiers are behind. (The loop
 * between the tiers never waits, because a bounded loop could wait for itself.) A stage with state
 * waits while the disk has too little room. A paused stage continues to poll, so it stays in its
 * group. */
#include <inttypes.h>
#include <sys/statvfs.h>

#include "kafka/internal.h"

enum { ROOM_INTERVAL_MS = 1000 };

/* If the lag may not be known, nothing would hold back what comes in. */
static void check_lag(struct sp_worker *w)
{
    const char *refused = sp_lag_refused(w->lag);
    if (refused)
        sp_failure_note(&w->failure, SP_INVALID, "flow control", refused);
}

static bool is_behind(const struct sp_worker *w)
{
    int64_t lag = sp_lag(w->lag);
    if (!w->options->max_lag)
        return false;
    if (lag < 0)
        return w->paused;
    uint64_t behind = (uint64_t)lag, most = w->options->max_lag;
    return w->paused ? behind > most / 2 : behind > most;
}

/* Returns the room that must be free: all commits that wait may be written at any time, and the
 * files be merged with those on disk. */
static uint64_t reserve(const struct sp_worker *w)
{
    uint64_t bytes = SP_ROOM_BUFFERS * w->options->store.memtable_bytes;
    return w->paused ? bytes + bytes / 4 : bytes;
}

static bool is_full(struct sp_worker *w)
{
    struct statvfs disk;
    int64_t now_ms = sp_clock_ms();
    if (now_ms - w->room_ms < ROOM_INTERVAL_MS)
        return w->paused;
    w->room_ms = now_ms;
    if (statvfs(w->options->state, &disk) != 0)
        return false; /* the database reports errors of its directory itself */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    bool full = room < reserve(w);
    if (full != w->paused)
        sp_worker_say(w, full ? "error" : "info",
                      "%s: %" PRIu64 " bytes are free on the disk of the state, %" PRIu64
                      " are wanted",
                      full ? "waiting for room" : "going on", room, reserve(w));
    SET(w, disk_full, full);
    return full;
}

void sp_intake_control(struct sp_worker *w)
{
    sp_agreed_signatures(w);
    check_lag(w);
    bool pause = w->options->stage.stateful ? is_full(w) : is_behind(w);
    if (pause == w->paused)
        return;
    if (pause && w->options->stage.stateful)
        /* Otherwise the transaction would wait for the next message and time out. */
        sp_transaction_commit(w);
    rd_kafka_topic_partition_list_t *mine = NULL;
    if (rd_kafka_assignment(w->consumer, &mine) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    if (pause)
        rd_kafka_pause_partitions(w->consumer, mine);
    else
        rd_kafka_resume_partitions(w->consumer, mine);
    rd_kafka_topic_partition_list_destroy(mine);
    w->paused = pause;
    SET(w, paused, pause);
}

/* See lag.h. */
#include "kafka/lag.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

enum { INTERVAL_MS = 500, TIMEOUT_MS = 5000 };

struct tier {
    rd_kafka_t *handle; /* in the group that reads it */
    char topic[SP_TOPIC_NAME_MAX];
    char group[SP_TOPIC_NAME_MAX];
    int32_t partitions;
};

struct sp_lag {
    struct tier tiers[2];
    const struct sp_agreement *agreement;
    const char *unlike; /* atomic */
    int64_t lag;        /* atomic */
    struct sp_fault refusal;
    bool refused; /* atomic; the refusal no longer changes */
    bool ending;  /* atomic */
    bool running;
    pthread_t thread;
};

static bool ends(const struct sp_lag *l)
{
    return __atomic_load_n(&l->ending, __ATOMIC_RELAXED);
}

static bool goes_on(void *arg)
{
    return !ends(arg);
}

/* Where the group will continue in a partition: at its beginning, if it has committed nothing. */
static int64_t next_of(const struct tier *t, const rd_kafka_topic_partition_t *committed)
{
    int64_t low = 0;
    if (committed->offset >= 0)
        return committed->offset;
    return sp_kafka_end(t->handle, t->topic, committed->partition, RD_KAFKA_OFFSET_BEGINNING, &low,
                        TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR
               ? low
               : -1;
}

static int64_t sum_of(const struct sp_lag *l, const struct tier *t,
                      const rd_kafka_topic_partition_list_t *committed, const int64_t *high)
{
    int64_t lag = 0;
    for (int i = 0; i < committed->cnt; i++) {
        int64_t next = ends(l) ? -1 : next_of(t, &committed->elems[i]);
        if (next < 0)
            return -1;
        lag += high[committed->elems[i].partition] - next;
    }
    return lag;
}

static void look_at_notes(struct sp_lag *l, const struct tier *t,
                          const rd_kafka_topic_partition_list_t *committed)
{
    for (int i = 0; i < committed->cnt; i++)
        if (committed->elems[i].offset >= 0 &&
            sp_agreement_look(l->agreement, &committed->elems[i]) == SP_NOTED_SIGNATURES)
            __atomic_store_n(&l->unlike, t->topic, __ATOMIC_RELAXED);
}

/* Every other attempt is refused as well. */
static void note_refusal(struct sp_lag *l, const struct tier *t, const char *why)
{
    if (sp_lag_refused(l))
        return;
    sp_fault_set(&l->refusal, SP_INVALID, "%s: %s", t->group, why);
    __atomic_store_n(&l->refused, true, __ATOMIC_RELEASE);
}

/* Two requests, whatever the number of partitions. */
static int64_t lag_of(struct sp_lag *l, const struct tier *t)
{
    struct sp_fault fault;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(t->partitions);
    int64_t *high = sp_calloc((size_t)t->partitions, sizeof *high);
    for (int32_t p = 0; p < t->partitions; p++)
        rd_kafka_topic_partition_list_add(list, t->topic, p);
    enum sp_err err = sp_kafka_committed_by(t->handle, list, TIMEOUT_MS, &fault);
    if (err == SP_OK)
        err = sp_kafka_ends(t->handle, t->topic, t->partitions, high, TIMEOUT_MS, &fault);
    int64_t lag = err == SP_OK ? sum_of(l, t, list, high) : -1;
    if (err == SP_OK)
        look_at_notes(l, t, list);
    else if (err == SP_INVALID)
        note_refusal(l, t, fault.text);
    sp_free(high);
    rd_kafka_topic_partition_list_destroy(list);
    return lag;
}

static void *look(void *arg)
{
    struct sp_lag *l = arg;
    while (!ends(l)) {
        int64_t a = lag_of(l, &l->tiers[0]), b = a < 0 ? a : lag_of(l, &l->tiers[1]);
        if (b >= 0)
            __atomic_store_n(&l->lag, a + b, __ATOMIC_RELAXED);
        sp_clock_pause(INTERVAL_MS, goes_on, l);
    }
    return NULL;
}

enum sp_err sp_lag_start(const struct sp_kafka_options *options,
                         const int32_t partitions[SP_TOPICS], const struct sp_agreement *agreement,
                         struct sp_lag **ret_lag, struct sp_fault *fault)
{
    static const char *const groups[] = {"group", "compare"};
    static const enum sp_topic topics[] = {SP_TOPIC_TIER1, SP_TOPIC_TIER2};
    struct sp_lag *l = sp_calloc(1, sizeof *l);
    enum sp_err err = SP_OK;
    l->lag = -1;
    l->agreement = agreement;
    for (int i = 0; i < 2 && err == SP_OK; i++) {
        sp_topic_name(options, topics[i], l->tiers[i].topic);
        sp_group_name(options, groups[i], l->tiers[i].group);
        l->tiers[i].partitions = partitions[topics[i]];
        err = sp_kafka_open(options, SP_KAFKA_WATCHER, groups[i], NULL, NULL, &l->tiers[i].handle,
                            fault);
    }
    if (err == SP_OK)
        err = sp_thread_start(&l->thread, look, l, fault);
    l->running = err == SP_OK;
    if (err == SP_OK)
        *ret_lag = l;
    else
        sp_lag_stop(l);
    return err;
}

int64_t sp_lag(const struct sp_lag *lag)
{
    return lag ? __atomic_load_n(&lag->lag, __ATOMIC_RELAXED) : -1;
}

const char *sp_lag_unlike(const struct sp_lag *lag)
{
    return lag ? __atomic_load_n(&lag->unlike, __ATOMIC_RELAXED) : NULL;
}

const char *sp_lag_refused(const struct sp_lag *lag)
{
    return lag && __atomic_load_n(&lag->refused, __ATOMIC_ACQUIRE) ? lag->refusal.text : NULL;
}

void sp_lag_stop(struct sp_lag *lag)
{
    if (!lag)
        return;
    __atomic_store_n(&lag->ending, true, __ATOMIC_RELAXED);
    if (lag->running)
        pthread_join(lag->thread, NULL);
    for (int i = 0; i < 2; i++)
        sp_kafka_close(lag->tiers[i].handle);
    sp_free(lag);
}

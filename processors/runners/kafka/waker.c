/* See waker.h. */
#include "kafka/waker.h"

#include <stdbool.h>

#include "base/mem.h"
#include "base/thread.h"

enum { WAKE_BYTES = 24 << 20, WAKE_TIMEOUT_MS = 200 };
enum { NOBODY = -1 };

struct sp_waker {
    rd_kafka_t *consumer;
    const char *topic;
    size_t taken; /* bytes since the last request */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int32_t partition; /* whose broker to ask; NOBODY */
    bool ending;
};

static void *run(void *arg)
{
    struct sp_waker *k = arg;
    pthread_mutex_lock(&k->lock);
    while (!k->ending) {
        int64_t low, high;
        int32_t partition = k->partition;
        if (partition == NOBODY) {
            pthread_cond_wait(&k->changed, &k->lock);
            continue;
        }
        k->partition = NOBODY;
        pthread_mutex_unlock(&k->lock);
        rd_kafka_query_watermark_offsets(k->consumer, k->topic, partition, &low, &high,
                                         WAKE_TIMEOUT_MS); /* the reply does not matter */
        pthread_mutex_lock(&k->lock);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

enum sp_err sp_waker_start(rd_kafka_t *consumer, const char *topic, struct sp_waker **ret_waker,
                           struct sp_fault *fault)
{
    struct sp_waker *k = sp_calloc(1, sizeof *k);
    *k = (struct sp_waker){.consumer = consumer,
                           .topic = topic,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER,
                           .partition = NOBODY};
    enum sp_err err = sp_thread_start(&k->thread, run, k, fault);
    if (err == SP_OK)
        *ret_waker = k;
    else
        sp_free(k);
    return err;
}

void sp_waker_taken(struct sp_waker *k, int32_t partition, size_t bytes)
{
    k->taken += bytes;
    if (k->taken < WAKE_BYTES)
        return;
    k->taken = 0;
    pthread_mutex_lock(&k->lock);
    k->partition = partition;
    pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

void sp_waker_stop(struct sp_waker *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    k->ending = true;
    pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
    pthread_join(k->thread, NULL);
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->changed);
    sp_free(k);
}

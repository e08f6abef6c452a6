/* See waker.h. */
#include "kafka/waker.h"

#include <stdbool.h>

#include "base/mem.h"
#include "base/service.h"
#include "kafka/client.h"

enum { WAKE_BYTES = 24 << 20, WAKE_TIMEOUT_MS = 200 };
enum { NOBODY = -1 };

struct sp_waker {
    rd_kafka_t *consumer;
    const char *topic;
    size_t taken; /* bytes since the last request */
    struct sp_service service;
    int32_t partition; /* whose broker to ask; NOBODY; under the lock */
};

static void *run(void *arg)
{
    struct sp_waker *k = arg;
    pthread_mutex_lock(&k->service.lock);
    while (k->partition == NOBODY ? sp_service_pause(&k->service, SP_SERVICE_NO_LIMIT)
                                  : !k->service.ending) {
        int64_t end;
        int32_t partition = k->partition;
        if (partition == NOBODY)
            continue;
        k->partition = NOBODY;
        pthread_mutex_unlock(&k->service.lock);
        sp_kafka_end(k->consumer, k->topic, partition, RD_KAFKA_OFFSET_END, &end,
                     WAKE_TIMEOUT_MS); /* the reply does not matter */
        pthread_mutex_lock(&k->service.lock);
    }
    pthread_mutex_unlock(&k->service.lock);
    return NULL;
}

enum sp_err sp_waker_start(rd_kafka_t *consumer, const char *topic, struct sp_waker **ret_waker,
                           struct sp_fault *fault)
{
    struct sp_waker *k = sp_calloc(1, sizeof *k);
    *k = (struct sp_waker){.consumer = consumer, .topic = topic, .partition = NOBODY};
    sp_service_init(&k->service);
    enum sp_err err = sp_service_start(&k->service, run, k, fault);
    if (err == SP_OK)
        *ret_waker = k;
    else
        sp_waker_stop(k);
    return err;
}

void sp_waker_taken(struct sp_waker *k, int32_t partition, size_t bytes)
{
    k->taken += bytes;
    if (k->taken < WAKE_BYTES)
        return;
    k->taken = 0;
    pthread_mutex_lock(&k->service.lock);
    k->partition = partition;
    sp_service_wake(&k->service);
    pthread_mutex_unlock(&k->service.lock);
}

void sp_waker_stop(struct sp_waker *k)
{
    if (!k)
        return;
    sp_service_done(&k->service);
    sp_free(k);
}

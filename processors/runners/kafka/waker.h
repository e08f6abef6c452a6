/* Keeps a consumer's fetching thread awake while its queue is full. Private to this folder.
 *
 * When the queue is full (queued.max.messages.kbytes), librdkafka's fetching thread sleeps for a
 * second, or until it has something to send (before 2.2 always). Any request to the partition's
 * broker wakes it. The request waits 10 to 100 ms behind the fetch that is under way, so a thread
 * of its own makes it; such waits would cost the worker a fifth of its time. */
#ifndef SP_KAFKA_WAKER_H
#define SP_KAFKA_WAKER_H

#include <librdkafka/rdkafka.h>

#include "base/fault.h"

struct sp_waker;

/* Both are borrowed until the stop. SP_IO: there are no more threads. */
enum sp_err sp_waker_start(rd_kafka_t *consumer, const char *topic, struct sp_waker **ret_waker,
                           struct sp_fault *fault);
/* Notes that a message of so many bytes was taken from the queue; wakes the fetcher when there is
 * room for a good deal more. Does not wait. Thread rule: one thread. */
void sp_waker_taken(struct sp_waker *waker, int32_t partition, size_t bytes);
/* Waits for a request that is under way, 0.2 s at most. NULL is allowed. */
void sp_waker_stop(struct sp_waker *waker);

#endif

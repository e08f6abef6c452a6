/* Threads that read messages for a worker: what a stage does first with each, as far as it needs
 * neither state nor the worker. Results come back in the order of the messages. Private to this
 * folder.
 *
 * With one thread, signatures would be made on one core only, and none while a transaction is being
 * committed. */
#ifndef SP_KAFKA_CREW_H
#define SP_KAFKA_CREW_H

#include <stdbool.h>

#include "base/fault.h"
#include "kafka/worker.h"

struct sp_crew;

/* A message that was read. */
struct sp_crew_result {
    rd_kafka_message_t *message; /* the caller destroys it */
    struct sp_worker_reading reading;
    enum sp_err err; /* of `read` */
    uint64_t took_us;
};

/* `stage` is borrowed until the stop. SP_IO: there are no more threads. */
enum sp_err sp_crew_start(const struct sp_worker_stage *stage, uint32_t threads,
                          struct sp_crew **ret_crew, struct sp_fault *fault);
/* Whether another message may be put. */
bool sp_crew_has_room(const struct sp_crew *crew);
/* Messages that were put and not taken. */
size_t sp_crew_count(const struct sp_crew *crew);
/* Takes over a message; there must be room. */
void sp_crew_put(struct sp_crew *crew, rd_kafka_message_t *m);
/* Waits until half of the messages are read, or all of them. The threads have the other half to
 * read while the caller deals with the first, and nobody wakes for each message. */
void sp_crew_wait(struct sp_crew *crew, bool all);
/* The first message that was put, if it is read. Does not wait. */
bool sp_crew_take(struct sp_crew *crew, struct sp_crew_result *ret_result);
/* Drops all messages; waits for those that are being read. NULL is allowed. */
void sp_crew_drop(struct sp_crew *crew);
/* Drops all messages and ends the threads. NULL is allowed. */
void sp_crew_stop(struct sp_crew *crew);

#endif

/* A first-in first-out list of messages, which it owns. All zeros is an empty list. */
#ifndef SP_TESTS_SIMULATION_QUEUE_H
#define SP_TESTS_SIMULATION_QUEUE_H

#include "page/message.h"

struct queue {
    struct sp_message *first;
    struct sp_message *last;
};

void queue_push(struct queue *q, struct sp_message *m);
/* The caller owns the message; NULL: the queue is empty. */
struct sp_message *queue_pop(struct queue *q);
/* Puts the messages of `first`, which is empty then, before those of `q`. */
void queue_put_before(struct queue *q, struct queue *first);
void queue_clear(struct queue *q);

#endif

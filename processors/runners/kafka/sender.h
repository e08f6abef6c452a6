/* What the stages of the two tiers send: messages and statuses, each to its partition. Private to
 * kafka. */
#ifndef SP_KAFKA_SENDER_H
#define SP_KAFKA_SENDER_H

#include "codec/codec.h"
#include "kafka/worker.h"
#include "partition/maps.h"

struct sp_sender {
    struct sp_worker *worker;
    const struct sp_maps *maps;
    struct sp_wire_format statuses;
    bool contains;       /* notes go to the contain stage */
    struct sp_buf bytes; /* of the last message that was sent to a topic */
    struct sp_buf key;
};

/* `worker` and `maps` are set by the caller, and outlive it. Frees only memory. */
void sp_sender_done(struct sp_sender *sender);

/* As in struct sp_outbox, with the sender as `arg`. */
void sp_sender_send(void *arg, struct sp_message *m);
void sp_sender_publish(void *arg, const struct sp_status_event *event);

/* Sends the message to its topic even if this worker could handle it itself; takes ownership. */
void sp_sender_post(struct sp_sender *sender, struct sp_message *m);

/* Tells the contain stage, which there must be, of a `crawled` message. A fetch that found the page
 * unchanged does not concern it. */
void sp_sender_note_fetch(struct sp_sender *sender, const struct sp_message *m);

#endif

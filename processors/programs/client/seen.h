/* How far a client has read each partition of its topic, and whether it is still the same topic.
 * Private to this folder. */
#ifndef SP_CLIENT_SEEN_H
#define SP_CLIENT_SEEN_H

#include "kafka/last.h"

struct sp_seen_place;

/* Initialise with zeros. */
struct sp_seen {
    struct sp_seen_place *places; /* by partition */
    int32_t count;
};

enum sp_seen_as {
    SP_SEEN_NEW,      /* the next message of its partition */
    SP_SEEN_AGAIN,    /* the last one, which was read again */
    SP_SEEN_DOUBT,    /* read the partition from sp_seen_last on: this message comes again */
    SP_SEEN_BEGUN,    /* the first message that is read of another topic of this name */
    SP_SEEN_REPLACED, /* the same, and there may be messages before it */
};

void sp_seen_done(struct sp_seen *s);
/* What to do with the message. */
enum sp_seen_as sp_seen_take(struct sp_seen *s, const rd_kafka_message_t *m, int64_t now_ms);
/* The offset of the last message of a partition that has one. */
int64_t sp_seen_last(const struct sp_seen *s, int32_t partition);
/* The end of the partition was reached. */
void sp_seen_ended(struct sp_seen *s, int32_t partition, int64_t now_ms);
/* Something failed: the topic may have been recreated since the last messages. */
void sp_seen_interrupted(struct sp_seen *s);
/* The partition was assigned or taken away: another reader of the group may have read on. */
void sp_seen_moved(struct sp_seen *s, int32_t partition);
/* The group begins here from now on, or later. */
void sp_seen_committed(struct sp_seen *s, int32_t partition, int64_t next);

#endif

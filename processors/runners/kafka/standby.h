/* Copies of states whose partitions belong to other instances, kept up to date from their
 * changelogs, so that a take-over reads only the rest. Private to this folder.
 *
 * Source: standby tasks of Kafka Streams. There an assignor places them; here each instance asks
 * the broker who the members of its group are, and follows what the range assignor would give to it
 * if some of them left.
 *
 * A copy is the database that the owner of the partition would have, in the same place: taking over
 * is opening it and restoring the rest. It is restored again and again, so the same rules hold for
 * it, and a kill at any time does no harm.
 *
 * Thread rule: start and stop in one thread; the following is done in others. */
#ifndef SP_KAFKA_STANDBY_H
#define SP_KAFKA_STANDBY_H

#include "kafka/states.h"

struct sp_standby;

/* The states' texts, `input` and the metrics are borrowed until the stop, the rest for the call. */
struct sp_standby_options {
    /* Its directory and name are those of the owned states. `waiting` is not used. */
    struct sp_states_options states;
    const char *group;          /* of consumers */
    const char *member;         /* our id in it */
    const char *input;          /* the topic whose partitions the group divides */
    int32_t partitions;         /* of it */
    const bool *own;            /* by partition: assigned to us, not to be touched */
    uint32_t replicas;          /* how many members may leave at once */
    uint64_t room_bytes;        /* with less on the disk nothing is followed */
    uint64_t *metric_wanted;    /* set, atomically: copies to keep; 1 until it is known which */
    uint64_t *metric_copies;    /* set, atomically: copies that are up to date */
    uint64_t *metric_rounds;    /* raised, atomically, each time that all copies are up to date */
    uint64_t *metric_remaining; /* offsets still to be read by a copy that is behind */
};

/* NULL if no thread can be started, which is logged. */
struct sp_standby *sp_standby_start(const struct sp_standby_options *options);
/* Closes the copies, after a moment. NULL is allowed. */
void sp_standby_stop(struct sp_standby *standby);

/* Marks the partitions that the member at `position` gets from the range assignor if 1 to
 * `replicas` others leave, whichever these are. */
void sp_standby_choose(int32_t partitions, size_t members, size_t position, size_t replicas,
                       bool *ret_chosen);

/* The lowest partition of the topic in an assignment as members of a group get it (the protocol of
 * consumers); INT32_MAX: none. What it holds is not trusted. */
int32_t sp_standby_first(struct sp_view assignment, const char *topic);

#endif

/* What is read ahead of the records: rows of the store, if `store` is set, and what the processor's
 * caches will need. It affects only the speed. Thread rule: that of the bus. */
#ifndef SP_LOCAL_AHEAD_H
#define SP_LOCAL_AHEAD_H

#include "local/bus.h"
#include "local/pipeline.h"

enum { SP_RECORDS_SEEN = 512 /* a power of two */ };

/* The next records, as far as they are ready. */
struct sp_records_ahead {
    struct sp_local_bus *bus;
    struct sp_pipeline *pipeline;
    bool store;
    uint64_t next;                           /* number of the record that is fed next */
    uint64_t expected[SP_LOCAL_BUS_EXPECTS]; /* the records before it have done this step */
    uint64_t seen;                           /* records before it are in the ring */
    const struct sp_message *messages[SP_RECORDS_SEEN]; /* by number; NULL: the record has none */
    struct sp_local_bus_trail trails[SP_RECORDS_SEEN];
    uint64_t batch_number;        /* of the batch of record `seen` */
    const struct sp_batch *batch; /* that batch; NULL: it was not ready yet */
    size_t at;                    /* the record in it */
    uint32_t known;               /* bit k: the page of record `next` + k is known */
};

/* `pipeline` has not handed out a batch yet. */
struct sp_records_ahead sp_records_ahead(struct sp_local_bus *bus, struct sp_pipeline *pipeline,
                                         bool store);
/* When the pipeline has handed out the next batch. */
void sp_records_ahead_begin(struct sp_records_ahead *ahead);
/* Before each of its records is fed. */
void sp_records_ahead_next(struct sp_records_ahead *ahead);

#endif

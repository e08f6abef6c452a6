/* What is read ahead of the records of a batch: rows of the store, if `store` is set, and what the
 * processor's caches will need. It affects only the speed. Thread rule: that of the bus. */
#ifndef SP_LOCAL_AHEAD_H
#define SP_LOCAL_AHEAD_H

#include "local/bus.h"
#include "local/pipeline.h"

struct sp_records_ahead {
    struct sp_local_bus *bus;
    bool store;
    uint32_t known; /* bit k: the page of the record `at` + k is known */
};

/* Before the first record of the batch. */
void sp_records_ahead_begin(struct sp_records_ahead *ahead, const struct sp_batch *batch);
/* Before the record with the index `at` is fed. */
void sp_records_ahead_next(struct sp_records_ahead *ahead, const struct sp_batch *batch, size_t at);

#endif

/* See ahead.h. */
#include "local/ahead.h"

/* How many records ahead the store reads rows, and how many records ahead they are prefetched into
 * the processor's caches. */
enum { EXPECTED_RECORDS = 256, PREFETCHED_RECORDS = 8 };
_Static_assert((int)SP_LOCAL_BUS_STEPS < (int)PREFETCHED_RECORDS, "steps come after the prefetch");

static const struct sp_message *message_at(const struct sp_batch *batch, size_t at)
{
    return at < batch->count ? batch->items[at].message : NULL;
}

static void prefetch(const struct sp_local_bus *bus, const struct sp_message *crawled, bool fed)
{
    if (crawled)
        sp_local_bus_prefetch(bus, crawled, fed);
}

/* Tells the stages of a record some time before it is fed. */
static void expect(struct sp_local_bus *bus, const struct sp_batch *batch, size_t at)
{
    const struct sp_message *crawled = message_at(batch, at);
    prefetch(bus, message_at(batch, at + PREFETCHED_RECORDS), false);
    if (crawled)
        sp_local_bus_expect(bus, crawled);
}

void sp_records_ahead_begin(struct sp_records_ahead *ahead, const struct sp_batch *batch)
{
    ahead->known = 0;
    for (size_t i = 0; ahead->store && i < EXPECTED_RECORDS && i < batch->count; i++)
        expect(ahead->bus, batch, i);
}

/* Pages that are not known have nothing to follow. */
static void follow(struct sp_records_ahead *ahead, const struct sp_batch *batch, size_t at)
{
    const struct sp_message *first = message_at(batch, at + SP_LOCAL_BUS_STEPS);
    bool known = first && sp_local_bus_follow(ahead->bus, first, 0);
    ahead->known = ahead->known >> 1 | (uint32_t)known << SP_LOCAL_BUS_STEPS;
    for (uint32_t step = 1; step < SP_LOCAL_BUS_STEPS && ahead->known; step++) {
        uint32_t distance = SP_LOCAL_BUS_STEPS - step;
        if (ahead->known >> distance & 1)
            sp_local_bus_follow(ahead->bus, batch->items[at + distance].message, step);
    }
}

void sp_records_ahead_next(struct sp_records_ahead *ahead, const struct sp_batch *batch, size_t at)
{
    if (ahead->store && at + EXPECTED_RECORDS < batch->count)
        expect(ahead->bus, batch, at + EXPECTED_RECORDS);
    prefetch(ahead->bus, message_at(batch, at + PREFETCHED_RECORDS), true);
    follow(ahead, batch, at);
}

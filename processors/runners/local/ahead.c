/* See ahead.h. */
#include "local/ahead.h"

/* How many records ahead the store reads rows, and how many records ahead they are prefetched into
 * the processor's caches. */
enum { EXPECTED_RECORDS = 256, STEP_RECORDS = 96, PREFETCHED_RECORDS = 8 };
/* A batch that is not ready is looked for again after so many records. */
enum { LOOKED_FOR = 16 };
_Static_assert((int)SP_LOCAL_BUS_STEPS < (int)PREFETCHED_RECORDS, "steps come after the prefetch");
_Static_assert(EXPECTED_RECORDS + PREFETCHED_RECORDS < SP_RECORDS_SEEN, "they are in the ring");

struct sp_records_ahead sp_records_ahead(struct sp_local_bus *bus, struct sp_pipeline *pipeline,
                                         bool store)
{
    return (struct sp_records_ahead){.bus = bus, .pipeline = pipeline, .store = store};
}

/* NULL: it is not ready, or has no message. */
static const struct sp_message *message_at(const struct sp_records_ahead *ahead, uint64_t number)
{
    return number < ahead->seen ? ahead->messages[number % SP_RECORDS_SEEN] : NULL;
}

static void prefetch(const struct sp_records_ahead *ahead, uint64_t number, bool fed)
{
    const struct sp_message *crawled = message_at(ahead, number);
    if (crawled)
        sp_local_bus_prefetch(ahead->bus, crawled, fed);
}

/* Called right after the batch's last record, because the batch is valid only until that record has
 * been fed. */
static void leave_batch(struct sp_records_ahead *ahead)
{
    ahead->batch = NULL;
    ahead->batch_number++;
    ahead->at = 0;
}

static bool find_batch(struct sp_records_ahead *ahead)
{
    while (!ahead->batch) {
        ahead->batch = sp_pipeline_batch(ahead->pipeline, ahead->batch_number);
        if (!ahead->batch)
            return false;
        if (ahead->batch->count == 0)
            leave_batch(ahead);
    }
    return true;
}

/* Brings the records up to this step, in time for the store to read what it announces. */
static void expect(struct sp_records_ahead *ahead, uint32_t step)
{
    uint64_t end = ahead->next + EXPECTED_RECORDS - (uint64_t)step * STEP_RECORDS;
    uint64_t *at = &ahead->expected[step];
    for (; *at < end && *at < ahead->seen; ++*at) {
        const struct sp_message *crawled = *at < ahead->next ? NULL : message_at(ahead, *at);
        if (crawled)
            sp_local_bus_expect(ahead->bus, crawled, step, &ahead->trails[*at % SP_RECORDS_SEEN]);
    }
}

/* Takes the records of batches that are ready into the ring, and tells the store of them. */
static void look_ahead(struct sp_records_ahead *ahead)
{
    uint64_t end = ahead->next + EXPECTED_RECORDS + PREFETCHED_RECORDS;
    while (ahead->seen < end && find_batch(ahead)) {
        ahead->messages[ahead->seen++ % SP_RECORDS_SEEN] = ahead->batch->items[ahead->at++].message;
        if (ahead->store)
            prefetch(ahead, ahead->seen - 1, false);
        if (ahead->at == ahead->batch->count)
            leave_batch(ahead);
    }
    for (uint32_t step = 0; ahead->store && step < SP_LOCAL_BUS_EXPECTS; step++)
        expect(ahead, step);
}

void sp_records_ahead_begin(struct sp_records_ahead *ahead)
{
    look_ahead(ahead);
}

/* Pages that are not known have nothing to follow. */
static void follow(struct sp_records_ahead *ahead)
{
    const struct sp_message *first = message_at(ahead, ahead->next + SP_LOCAL_BUS_STEPS);
    bool known = first && sp_local_bus_follow(ahead->bus, first, 0);
    ahead->known = ahead->known >> 1 | (uint32_t)known << SP_LOCAL_BUS_STEPS;
    for (uint32_t step = 1; step < SP_LOCAL_BUS_STEPS && ahead->known; step++) {
        uint32_t distance = SP_LOCAL_BUS_STEPS - step;
        if (ahead->known >> distance & 1)
            sp_local_bus_follow(ahead->bus, message_at(ahead, ahead->next + distance), step);
    }
}

void sp_records_ahead_next(struct sp_records_ahead *ahead)
{
    if (ahead->batch || ahead->next % LOOKED_FOR == 0)
        look_ahead(ahead);
    prefetch(ahead, ahead->next + PREFETCHED_RECORDS, true);
    follow(ahead);
    ahead->next++;
}

/* See reading.h. */
#include "kafka/reading.h"

/* A topic that was deleted and made again ends before what was read of it. Its first messages would
 * never be read, and the others only where it has grown longer. */
enum sp_err sp_reading_check(const char *topic, const int64_t *read, const int64_t *ends,
                             int32_t partitions, struct sp_fault *fault)
{
    for (int32_t p = 0; p < partitions; p++)
        if (ends[p] < read[p])
            return sp_fault_set(fault, SP_BUSY,
                                "%s [%d]: was read to offset %lld and ends at %lld, so it was "
                                "deleted and made again, and is read from its beginning",
                                topic, (int)p, (long long)read[p], (long long)ends[p]);
    return SP_OK;
}

/* Offsets have gaps where control records and aborted messages are. Messages after the end of the
 * lap were read too early: the next lap reads them again. */
void sp_reading_pass(struct reading *r, int32_t partition, int64_t to)
{
    r->next[partition] = to < r->end[partition] ? to : r->end[partition];
}

bool sp_reading_has_more(const struct reading *r)
{
    for (int32_t p = 0; p < r->partitions; p++)
        if (r->next[p] < r->end[p])
            return true;
    return false;
}

size_t sp_reading_left(const struct reading *r, size_t most)
{
    int64_t count = 0;
    for (int32_t p = 0; p < r->partitions; p++)
        count += r->end[p] > r->next[p] ? r->end[p] - r->next[p] : 0;
    return (uint64_t)count < most ? (size_t)count : most;
}

int64_t sp_reading_sum(const struct reading *r)
{
    int64_t sum = 0;
    for (int32_t p = 0; p < r->partitions; p++)
        sum += r->next[p];
    return sum;
}

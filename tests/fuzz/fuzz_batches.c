/* links: sp_kafka sp_store sp_base */
/* Any bytes as record batches: the reader returns parts of them, in bounded time, and says where it
 * ended. The first byte is the number of aborted transactions, modulo 4, whose producers and
 * offsets are small numbers. */
#include "base/assert.h"
#include "kafka/batches.h"

enum { ABORTED = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_part(struct sp_view part, struct sp_view whole)
{
    SP_ASSERT(!part.data || (part.data >= whole.data && part.len <= whole.len &&
                             part.data + part.len <= whole.data + whole.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_aborted aborted[ABORTED];
    struct sp_changelog_record record;
    if (size < 1)
        return 0;
    for (int64_t i = 0; i < ABORTED; i++)
        aborted[i] = (struct sp_aborted){i % 2, i, false};
    struct sp_view bytes = sp_view(data + 1, size - 1);
    struct sp_batches b = sp_batches(bytes, aborted, data[0] % ABORTED, 0);
    int64_t end = sp_batches_end(bytes, 0);
    size_t count = 0;
    while (sp_batches_next(&b, &record)) {
        check_part(record.key, bytes);
        check_part(record.value, bytes);
        SP_ASSERT(record.offset >= 0 && record.offset < b.next);
        count++;
    }
    SP_ASSERT(count <= size && end >= 0 && b.next >= 0);
    SP_ASSERT(b.strange || b.next == end);
    return 0;
}

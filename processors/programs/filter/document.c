/* Documents as sorted vectors of hashes: see samepage/filter.h.
 *
 * Packed form: the text "spd1", u32 total, u32 count, then the hashes, ascending; little-endian.
 * Reading checks everything that other code relies on. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/order.h"
#include "filter/internal.h"

static const char magic[4] = {'s', 'p', 'd', '1'};

enum { HEADER_BYTES = 12 };

static struct samepage_document *of_sorted(const uint32_t *hashes, size_t count, size_t total)
{
    struct samepage_document *d = sp_alloc(sizeof *d + count * sizeof *d->hashes);
    d->refs = 1;
    d->count = (uint32_t)count;
    d->total = (uint32_t)total;
    d->complete = count == total;
    if (count)
        memcpy(d->hashes, hashes, count * sizeof *hashes);
    d->digest = sp_hash128(d->hashes, count * sizeof *hashes);
    d->digest.lo ^= sp_mix64(total);
    return d;
}

static void sort(uint32_t *hashes, size_t count)
{
    if (count)
        qsort(hashes, count, sizeof *hashes, sp_by_u32);
}

static bool ascends(const uint32_t *hashes, size_t count)
{
    bool descends = false;
    for (size_t i = 1; i < count; i++)
        descends |= hashes[i - 1] > hashes[i];
    return !descends;
}

struct samepage_document *samepage_document_from_hashes(const uint32_t *hashes, size_t count,
                                                        size_t total, size_t keep)
{
    if (keep == 0 || keep > SAMEPAGE_DOCUMENT_HASHES || total < count || total > UINT32_MAX ||
        (count == 0 && total > 0))
        return NULL;
    size_t kept = count < keep ? count : keep;
    if (ascends(hashes, count))
        return of_sorted(hashes, kept, total);
    uint32_t *sorted = sp_memdup(hashes, count * sizeof *hashes);
    sort(sorted, count);
    struct samepage_document *d = of_sorted(sorted, kept, total);
    sp_free(sorted);
    return d;
}

size_t samepage_document_pack(const struct samepage_document *d, void *out, size_t size)
{
    size_t bytes = HEADER_BYTES + (size_t)d->count * sizeof *d->hashes;
    char *at = out;
    if (size < bytes)
        return bytes;
    memcpy(at, magic, sizeof magic);
    memcpy(at + 4, &d->total, 4);
    memcpy(at + 8, &d->count, 4);
    memcpy(at + HEADER_BYTES, d->hashes, (size_t)d->count * sizeof *d->hashes);
    return bytes;
}

struct samepage_document *samepage_document_unpack(const void *bytes, size_t size)
{
    struct sp_reader r = sp_reader(sp_view(bytes, size));
    struct sp_view first = sp_read_bytes(&r, sizeof magic);
    uint32_t total = sp_read_u32(&r), count = sp_read_u32(&r);
    if (r.failed || memcmp(first.data, magic, sizeof magic) != 0 ||
        count > SAMEPAGE_DOCUMENT_HASHES || total < count || (count == 0 && total > 0) ||
        sp_reader_left(&r) != (size_t)count * sizeof(uint32_t))
        return NULL;
    uint32_t *hashes = sp_memdup(r.at, (size_t)count * sizeof *hashes); /* aligned */
    struct samepage_document *d = ascends(hashes, count) ? of_sorted(hashes, count, total) : NULL;
    sp_free(hashes);
    return d;
}

struct samepage_document *samepage_document_share(const struct samepage_document *document)
{
    struct samepage_document *d = (struct samepage_document *)(uintptr_t)document;
    if (d)
        __atomic_add_fetch(&d->refs, 1, __ATOMIC_RELAXED);
    return d;
}

void samepage_document_free(struct samepage_document *d)
{
    if (d && __atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL) == 0)
        sp_free(d);
}

size_t samepage_document_hashes(const struct samepage_document *d)
{
    return d->count;
}

size_t samepage_document_bytes(const struct samepage_document *d)
{
    return sizeof *d + (size_t)d->count * sizeof *d->hashes;
}

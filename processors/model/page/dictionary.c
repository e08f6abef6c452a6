/* See dictionary.h. The table is at most half full: most words are not in it, and one or two probes
 * should show that. */
#include "page/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

static bool well_formed(uint32_t dims, const uint32_t *sorted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t sub = sorted[i] & 3;
        if (sub < 1 || sub > dims || (i > 0 && sorted[i] >> 2 == sorted[i - 1] >> 2))
            return false;
    }
    return true;
}

static uint32_t fingerprint(const struct sp_dictionary *d)
{
    if (d->dims == SP_DIMS && d->count == 0)
        return 0;
    uint64_t hash = sp_hash64(d->words, d->count * sizeof *d->words);
    return (uint32_t)sp_mix64(hash + d->dims) | 1;
}

enum sp_err sp_dictionary_init(uint32_t dims, const uint32_t *entries, size_t count,
                               struct sp_dictionary *ret_dictionary)
{
    struct sp_dictionary d = {.dims = dims, .count = (uint32_t)count};
    if (dims < 1 || dims > SP_DIMS || count > SP_MAX_DICTIONARY_WORDS)
        return SP_INVALID;
    d.words = sp_alloc(count * sizeof *entries + 1);
    if (count > 0) {
        memcpy(d.words, entries, count * sizeof *entries);
        qsort(d.words, count, sizeof *d.words, sp_by_u32);
    }
    if (!well_formed(dims, d.words, count)) {
        sp_free(d.words);
        return SP_INVALID;
    }
    size_t size = 64;
    while (size < 2 * count)
        size *= 2;
    d.mask = (uint32_t)size - 1;
    d.slots = sp_calloc(size, sizeof *d.slots);
    for (size_t i = 0; i < count; i++) {
        uint32_t at = d.words[i] >> 2 & d.mask;
        while (d.slots[at])
            at = (at + 1) & d.mask;
        d.slots[at] = d.words[i];
    }
    d.fingerprint = fingerprint(&d);
    *ret_dictionary = d;
    return SP_OK;
}

void sp_dictionary_done(struct sp_dictionary *d)
{
    sp_free(d->words);
    sp_free(d->slots);
    *d = (struct sp_dictionary){0};
}

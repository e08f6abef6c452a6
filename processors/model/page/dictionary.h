/* Sub-dictionaries: which of up to SP_DIMS dimensions of the length vector a word counts for.
 *
 * Source: Zhu et al., WWW 2012, section 4.1. Frequent words are assigned by training
 * (partition/words.h), all others by their hash; the routing bound holds for any assignment, so
 * words are known by 30 bits of their hash: that two share them harms nothing.
 *
 * Thread rule: read-only once made; any thread. */
#ifndef SP_PAGE_DICTIONARY_H
#define SP_PAGE_DICTIONARY_H

#include <stdint.h>

#include "base/err.h"
#include "page/signature.h"

enum { SP_MAX_DICTIONARY_WORDS = 1 << 18 };

struct sp_dictionary {
    uint32_t dims;        /* sub-dictionaries, 1 to SP_DIMS; lengths above stay 0 */
    uint32_t fingerprint; /* of all of this; 0: SP_DIMS thirds by hash, no words */
    uint32_t count;
    uint32_t *words; /* entries, ascending */
    uint32_t *slots; /* hash table of entries; 0: free */
    uint32_t mask;   /* of the table */
};

/* An entry: a word's 30 bits, and its sub-dictionary in the low two as 1 to SP_DIMS. */
static inline uint32_t sp_dictionary_entry(uint64_t word, uint32_t sub)
{
    return (uint32_t)(word >> 34) << 2 | (sub + 1);
}

/* The words are copied, in any order. SP_INVALID, with nothing made: dims, a sub-dictionary or the
 * count are out of range, or a word is given twice. */
enum sp_err sp_dictionary_init(uint32_t dims, const uint32_t *entries, size_t count,
                               struct sp_dictionary *ret_dictionary);
void sp_dictionary_done(struct sp_dictionary *d);

/* The share of the range of hashes that the word falls into. */
static inline uint32_t sp_dictionary_by_hash(uint32_t dims, uint64_t word)
{
    const uint64_t half = UINT64_MAX / 2, third = UINT64_MAX / 3;
    if (dims == 3)
        return (word >= third) + (word >= 2 * third);
    return dims == 2 ? word >= half : 0;
}

/* The sub-dictionary of a word: 0 to dims - 1. NULL: by hash. */
static inline uint32_t sp_dictionary_sub(const struct sp_dictionary *d, uint64_t word)
{
    if (!d)
        return sp_dictionary_by_hash(SP_DIMS, word);
    uint32_t key = (uint32_t)(word >> 34);
    for (uint32_t at = key & d->mask; d->count && d->slots[at]; at = (at + 1) & d->mask)
        if (d->slots[at] >> 2 == key)
            return (d->slots[at] & 3) - 1;
    return sp_dictionary_by_hash(d->dims, word);
}

#endif

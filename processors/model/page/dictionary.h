/* Sub-dictionaries: they assign each word to one of up to SP_DIMS dimensions of the length vector.
 *
 * Source: Zhu et al., WWW 2012, section 4.1. Frequent words are assigned by training
 * (partition/words.h), all others by their hash. Words are identified by 30 bits of their hash: a
 * collision does no harm, because the routing bound holds for any assignment.
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

/* For tests: the entry of a word. An entry holds 30 bits of a word's hash, and in the two low bits
 * its sub-dictionary, 1 to SP_DIMS. */
static inline uint32_t sp_dictionary_entry(uint64_t word, uint32_t sub)
{
    return (uint32_t)(word >> 34) << 2 | (sub + 1);
}

/* Copies the entries, which may be in any order. SP_INVALID, and nothing to free, if dims, a
 * sub-dictionary or the count is out of range, or a word is given twice. */
enum sp_err sp_dictionary_init(uint32_t dims, const uint32_t *entries, size_t count,
                               struct sp_dictionary *ret_dictionary);
void sp_dictionary_done(struct sp_dictionary *d);

/* Splits the range of hashes into `dims` equal parts; returns the part of the word. */
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

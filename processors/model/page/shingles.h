/* Turns words into shingles: the numeric part of the builder. Private to this folder and its
 * tests. */
#ifndef SP_PAGE_SHINGLES_H
#define SP_PAGE_SHINGLES_H

#include <stddef.h>
#include <stdint.h>

#include "page/dictionary.h"
#include "page/signature.h"

/* Writes the hash of the shingle that starts at each of `count` words. words[count … count + k - 2]
 * are the padding and must be readable. */
void sp_shingles_hash(const uint64_t *words, size_t count, uint32_t *ret_shingles);
/* The same without vector instructions. */
void sp_shingles_hash_portable(const uint64_t *words, size_t count, uint32_t *ret_shingles);

/* Counts the words of each sub-dictionary; `dictionary` NULL: by hash. */
void sp_shingles_lengths(const uint64_t *words, size_t count,
                         const struct sp_dictionary *dictionary, uint32_t ret_length[SP_DIMS]);
/* By hash, without vector instructions. */
void sp_shingles_thirds_portable(const uint64_t *words, size_t count, uint32_t ret_length[SP_DIMS]);

/* Keeps the first occurrence of each shingle, in the page's order, and counts the kept ones by the
 * sub-dictionary of their first word. `table` has room for sp_shingles_table(count). Returns the
 * number of kept shingles. `words` and `shingles` have `count` elements each; shingle i starts at
 * word i. */
size_t sp_shingles_once(const uint64_t *words, uint32_t *shingles, size_t count, uint32_t *table,
                        const struct sp_dictionary *dictionary, uint32_t ret_length[SP_DIMS]);
/* The number of elements that a table for `count` shingles must have. */
size_t sp_shingles_table(size_t count);

/* The same, but keeps the first words of these shingles; overwrites `words` with them. */
size_t sp_shingles_first_words(uint64_t *words, const uint32_t *shingles, size_t count,
                               uint32_t *table);

/* Sorts in ascending order; `scratch` has room for `count`. */
void sp_shingles_sort(uint32_t *shingles, uint32_t *scratch, size_t count);

/* Replaces the second and later occurrences of a shingle by hashes of their own (the labels of
 * Broder 1997). Input and result are sorted; `scratch` has room for `count`. */
void sp_shingles_label(uint32_t *shingles, uint32_t *scratch, size_t count);

#endif

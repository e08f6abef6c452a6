/* A lower bound of the number of shingles that only one of two signatures has, from a pattern of a
 * few words for each.
 *
 * Each shingle flips one bit of its pattern, so each bit in which two patterns differ means at
 * least one shingle that only one of the signatures has. Patterns of different sizes are compared
 * after folding the larger one. The more bits there are for a shingle, the fewer flip back. Our
 * own; odd sketches (Mitzenmacher, Pagh, Pham 2014) estimate J from the same pattern, and bitmap
 * filters (Sandes, Teodoro, Melo 2020) rule out pairs by it. */
#ifndef SP_SIMILARITY_PARITY_H
#define SP_SIMILARITY_PARITY_H

#include <stdint.h>

#include "page/signature.h"

enum {
    SP_PARITY_WORDS_MAX = 1024,
    SP_PARITY_WIDE = 8,     /* words of patterns that lie side by side */
    SP_PARITY_AT_ONCE = 64, /* patterns that one call compares */
    SP_PARITY_BRIEF = 2     /* words of a pattern that rules out most of what the whole one does */
};

/* The number of words of a pattern: a power of two, with at least that many bits for each shingle,
 * at most SP_PARITY_WORDS_MAX. */
uint32_t sp_parity_words(uint32_t shingles, uint32_t bits_each);
/* Writes the pattern of `count` shingles: `words` words, a power of two up to SP_PARITY_WORDS_MAX.
 */
void sp_parity_of_shingles(const uint32_t *shingles, uint32_t count, uint32_t words,
                           uint64_t *ret_words);
/* The same without vector instructions. */
void sp_parity_of_portable(const uint32_t *shingles, uint32_t count, uint32_t words,
                           uint64_t *ret_words);
/* The pattern of a signature's shingles. */
static inline void sp_parity_of(const struct sp_signature *x, uint32_t words, uint64_t *ret_words)
{
    sp_parity_of_shingles(x->hashes, x->shingle_count, words, ret_words);
}
/* Folds a pattern of at least SP_PARITY_BRIEF words. */
void sp_parity_brief(const uint64_t *pattern, uint32_t words, uint64_t ret_words[SP_PARITY_BRIEF]);
/* A lower bound from two folded patterns: at most that from the whole ones. */
uint32_t sp_parity_brief_distance(const uint64_t a[SP_PARITY_BRIEF],
                                  const uint64_t b[SP_PARITY_BRIEF]);
/* A folded pattern, for a list of them. */
struct sp_parity_wide {
    uint64_t words[SP_PARITY_WIDE];
    double most; /* bits: two patterns that differ in more than both allow are not similar */
};

/* Folds a pattern of at least SP_PARITY_WIDE words. */
void sp_parity_widen(const uint64_t *pattern, uint32_t words, uint64_t ret_words[SP_PARITY_WIDE]);
/* Folded patterns, word by word, so that eight are compared at once: item i is the (i % 8)th of the
 * eight number i / 8. What a search reads first lies together: of short texts, the patterns folded
 * once more rule out nearly all, and the others are not read. */
struct sp_parity_list {
    uint64_t briefs[SP_PARITY_AT_ONCE / 8][SP_PARITY_BRIEF][8];
    double largest_most; /* of all items so far */
    uint64_t words[SP_PARITY_AT_ONCE / 8][SP_PARITY_WIDE][8];
    double most[SP_PARITY_AT_ONCE / 8][8];
};

void sp_parity_put(struct sp_parity_list *list, uint32_t item,
                   const struct sp_parity_wide *pattern);
void sp_parity_get(const struct sp_parity_list *list, uint32_t item,
                   struct sp_parity_wide *ret_pattern);
/* Which of the first `count` items are not ruled out for x: a bit for each. */
uint64_t sp_parity_near(const struct sp_parity_wide *x, const struct sp_parity_list *list,
                        uint32_t count);
uint64_t sp_parity_near_portable(const struct sp_parity_wide *x, const struct sp_parity_list *list,
                                 uint32_t count);
/* The lower bound from two patterns; shingles that are repeated count each time. */
uint32_t sp_parity_distance(const uint64_t *a, uint32_t a_words, const uint64_t *b,
                            uint32_t b_words);
/* The same without vector instructions. */
uint32_t sp_parity_distance_portable(const uint64_t *a, uint32_t a_words, const uint64_t *b,
                                     uint32_t b_words);

#endif

/* A lower bound of how many shingles two signatures do not share, from a few words a star: each
 * shingle flips one bit, so each bit in which two patterns differ stands for at least one shingle
 * that only one side has. Patterns of different sizes are compared after folding the larger one. */
#include <string.h>

#include "stars/internal.h"

/* A power of two, at least one bit for each shingle. */
uint32_t sp_star_parity_words(uint32_t shingles)
{
    uint32_t words = 1;
    while (words * 64 < shingles && words < PARITY_WORDS_MAX)
        words *= 2;
    return words;
}

void sp_star_parity_of(const struct sp_signature *x, uint64_t *ret_words)
{
    uint32_t bits = 64 * sp_star_parity_words(x->shingle_count);
    memset(ret_words, 0, bits / 8);
    for (uint32_t i = 0; i < x->shingle_count; i++) {
        uint32_t at = (x->hashes[i] * 2654435761u >> 4) & (bits - 1);
        ret_words[at / 64] ^= 1ull << at % 64;
    }
}

uint32_t sp_star_parity_distance(const uint64_t *a, uint32_t a_words, const uint64_t *b,
                                 uint32_t b_words)
{
    const uint64_t *large = a_words > b_words ? a : b, *small = a_words > b_words ? b : a;
    uint32_t most = a_words > b_words ? a_words : b_words;
    uint32_t least = a_words > b_words ? b_words : a_words, distance = 0;
    for (uint32_t i = 0; i < least; i++) {
        uint64_t folded = small[i];
        for (uint32_t k = i; k < most; k += least)
            folded ^= large[k];
        distance += (uint32_t)__builtin_popcountll(folded);
    }
    return distance;
}

/* Turns words into the features that methods other than shingles compare. Private to this folder
 * and its tests.
 *
 * Sources: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002
 * (section 3: the signs of random projections; two bits are equal with probability 1 - angle / pi);
 * Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007 (64 bits). */
#ifndef SP_PAGE_FEATURES_H
#define SP_PAGE_FEATURES_H

#include <stddef.h>
#include <stdint.h>

struct sp_term {
    uint64_t word;
    uint32_t count;
};

/* The distinct words with their counts, ordered by the upper half of the hash, which is the part a
 * signature keeps, then by the lower. Sorts `words`. Returns the number of terms. */
size_t sp_features_terms(uint64_t *words, size_t count, struct sp_term *ret_terms);

/* The 64 signs of the sum of the distinct words' +-1 vectors; bit i is 1 where sum i is positive.
 * The paper weighs words by how rare they are, which a stream does not know. If each occurrence
 * counted, the most common words of a language would decide: on 2,500 short articles with 20
 * near-duplicate pairs, k = 3 then finds 200 pairs, 180 of them wrong. If each word counts once, it
 * finds 18 of the 20 and no wrong pair. Recall among longer pages suffers; README.md has the
 * figures of both. */
uint64_t sp_features_simhash(const struct sp_term *terms, size_t count);

/* SP_SIGN_WORDS * 32 signs of projections of the count vector. */
void sp_features_signs(const struct sp_term *terms, size_t count, uint32_t *ret_signs);

/* Sorts the sentences. The second and later occurrences of one become different sentences, so that
 * two pages share it as often as both repeat it. */
void sp_features_occurrences(uint32_t *sentences, size_t count);

#endif

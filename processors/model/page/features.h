/* Words to the features that methods other than shingles compare. Private to this folder and its
 * tests.
 *
 * Sources: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002
 * (section 3: the signs of random projections; two bits are equal with probability 1 - angle / pi);
 * Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007 (64 bits);
 * Huang, Wang, Li, "Achieving both high precision and high recall in near-duplicate detection",
 * CIKM 2008 (minimal sentence hashes in m buckets, n of each). */
#ifndef SP_PAGE_FEATURES_H
#define SP_PAGE_FEATURES_H

#include <stddef.h>
#include <stdint.h>

struct sp_term {
    uint64_t word;
    uint32_t count;
};

/* The distinct words with their counts, ascending by the upper half of the hash, which is what a
 * signature keeps of a word, then by the lower. Sorts `words`. Returns how many. */
size_t sp_features_terms(uint64_t *words, size_t count, struct sp_term *ret_terms);

/* The 64 signs of the sum of the distinct words' +-1 vectors; bit i is 1 where sum i is positive.
 * The paper weighs words by how rare they are, which a stream does not know. Counting each
 * occurrence instead lets a language's commonest words decide: of 2,500 short articles with 20 near
 * duplicates k = 3 then calls 200 pairs the same, 180 of them wrongly; with each word once none
 * wrongly, and 18 of the 20. It costs recall among longer pages: README.md has both sides. */
uint64_t sp_features_simhash(const struct sp_term *terms, size_t count);

/* SP_SIGN_WORDS * 32 signs of projections of the count vector. */
void sp_features_signs(const struct sp_term *terms, size_t count, uint32_t *ret_signs);

/* The SP_MINIMA_EACH smallest of each of SP_MINIMA_BUCKETS buckets of sentences, ascending; a
 * sentence's further occurrences count as sentences of their own, so that pages share them as often
 * as both repeat them. Changes `sentences`. Returns how many, at most SP_MINIMA. */
size_t sp_features_minima(uint32_t *sentences, size_t count, uint32_t *ret_minima);

#endif

/* See features.h. The +-1 coordinates of 64 projections are the bits of one mix of the word's hash.
 * Their 64 sums are computed side by side, which compilers turn into vector code. Weights are
 * integers, so the signs are the same on every machine. */
#include "page/features.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/order.h"
#include "page/method.h"

/* sums[i] += bit i of h ? weight : -weight */
static inline void add_signs(uint64_t h, int32_t weight, int32_t sums[64])
{
    for (int i = 0; i < 64; i++)
        sums[i] += (h >> i & 1) ? weight : -weight;
}

static uint64_t positive(const int32_t sums[64])
{
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(sums[i] > 0) << i;
    return bits;
}

size_t sp_features_terms(uint64_t *words, size_t count, struct sp_term *ret_terms)
{
    size_t terms = 0;
    if (count)
        qsort(words, count, sizeof *words, sp_by_u64);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || words[i] != words[i - 1])
            ret_terms[terms++] = (struct sp_term){words[i], 0};
        ret_terms[terms - 1].count++;
    }
    return terms;
}

uint64_t sp_features_simhash(const struct sp_term *terms, size_t count)
{
    int32_t sums[64] = {0};
    for (size_t i = 0; i < count; i++)
        add_signs(sp_mix64(terms[i].word), 1, sums);
    return positive(sums);
}

void sp_features_signs(const struct sp_term *terms, size_t count, uint32_t *ret_signs)
{
    for (uint64_t part = 0; part < SP_SIGN_WORDS / 2; part++) {
        int32_t sums[64] = {0};
        uint64_t seed = sp_mix64(part + 1);
        for (size_t i = 0; i < count; i++)
            add_signs(sp_mix64(terms[i].word ^ seed), (int32_t)terms[i].count, sums);
        uint64_t bits = positive(sums);
        ret_signs[2 * part] = (uint32_t)bits;
        ret_signs[2 * part + 1] = (uint32_t)(bits >> 32);
    }
}

void sp_features_occurrences(uint32_t *sentences, size_t count)
{
    uint32_t last = 0, occurrence = 0;
    if (count == 0)
        return;
    qsort(sentences, count, sizeof *sentences, sp_by_u32);
    for (size_t i = 0; i < count; i++) {
        uint32_t sentence = sentences[i];
        occurrence = i > 0 && sentence == last ? occurrence + 1 : 0;
        last = sentence;
        if (occurrence)
            sentences[i] = (uint32_t)(sp_mix64((uint64_t)occurrence << 32 | sentence) >> 32);
    }
    qsort(sentences, count, sizeof *sentences, sp_by_u32);
}

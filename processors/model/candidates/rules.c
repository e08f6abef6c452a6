/* The candidate rule of each method; candidates.h has the arguments. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/order.h"
#include "candidates/candidates.h"

static const double MISS_MAX = 1e-6;
static const double SIGN_MISS_MAX = 1e-4; /* of cosine: a smaller one would need shorter, more
                                           * common keys */

enum {
    MINIMA_SURE = 12, /* minima that a page with at least SP_MINIMA sentences can be expected to
                       * have */
    SIMHASH_BITS = 64,
    SIMHASH_BLOCKS_MAX = 8 /* their square is the number of keys */
};

/* P(binomial(k, p) < m) */
static double binomial_below(unsigned k, unsigned m, double p)
{
    double sum = 0, term = pow(1 - p, k);
    if (p >= 1)
        return m > k ? 1 : 0;
    for (unsigned i = 0; i < m; i++) {
        sum += term;
        term *= (double)(k - i) / (i + 1) * p / (1 - p);
    }
    return sum;
}

/* The largest number of the k hashes that all pairs but a share of miss_max have in common; at
 * least 1. */
static uint32_t shared_by_nearly_all(uint32_t k, double threshold, double miss_max)
{
    uint32_t shared = 1;
    while (shared < k && binomial_below(k, shared + 1, threshold) <= miss_max)
        shared++;
    return shared;
}

/* The widest band, in bits, with which all pairs but a share of SIGN_MISS_MAX have an equal
 * band. */
static uint32_t band_bits(double cosine)
{
    double bit = 1 - acos(cosine < 1 ? cosine : 1) / M_PI;
    uint32_t bits = 1;
    while (bits < SP_SIGN_BITS && pow(1 - pow(bit, bits + 1), SP_SIGN_BANDS) <= SIGN_MISS_MAX)
        bits++;
    return bits;
}

struct sp_candidate_rule sp_candidate_rule(enum sp_method method, double threshold)
{
    struct sp_candidate_rule rule = {
        .method = method, .threshold = threshold, .sketch = SP_SKETCH, .shared_min = 1};
    switch (method) {
    case SP_METHOD_SIMHASH:
        rule.blocks = (uint32_t)((1 - threshold) * SIMHASH_BITS + 1e-9) + 1;
        if (rule.blocks > SIMHASH_BLOCKS_MAX)
            rule.blocks = SIMHASH_BLOCKS_MAX;
        rule.sketch = rule.blocks * rule.blocks;
        break;
    case SP_METHOD_COSINE:
        rule.bits = band_bits(threshold);
        rule.sketch = SP_SIGN_BANDS;
        break;
    case SP_METHOD_LCS:
        rule.sketch = SP_MINIMA;
        rule.shared_min = shared_by_nearly_all(MINIMA_SURE, threshold, MISS_MAX * 100);
        break;
    case SP_METHOD_SHINGLES:
    case SP_METHOD_SENTENCES:
    case SP_METHOD_COMBINED:
    case SP_METHOD_COUNT:
        while (rule.sketch < SP_SKETCH_MAX && binomial_below(rule.sketch, 1, threshold) > MISS_MAX)
            rule.sketch++;
        rule.shared_min = shared_by_nearly_all(rule.sketch, threshold, MISS_MAX);
    }
    return rule;
}

uint32_t sp_candidate_needed(const struct sp_candidate_rule *rule, uint32_t larger_total)
{
    if (rule->method == SP_METHOD_LCS)
        return larger_total >= SP_MINIMA ? rule->shared_min : 1;
    /* Pages with J >= tau share at least tau times the larger one's shingles; do not ask short
     * pages for more. */
    double all = ceil(rule->threshold * larger_total - 1e-9);
    return all < rule->shared_min ? (uint32_t)(all < 1 ? 1 : all) : rule->shared_min;
}

/* ---- keys ---- */

static uint64_t low_bits(unsigned count)
{
    return count < 64 ? (1ull << count) - 1 : UINT64_MAX;
}

/* Block i when the `width` low bits of x are cut into `blocks` nearly equal blocks. */
static uint64_t block(uint64_t x, unsigned width, uint32_t blocks, uint32_t i)
{
    unsigned from = width * i / blocks, to = width * (i + 1) / blocks;
    return x >> from & low_bits(to - from);
}

/* If fewer than `blocks` bits differ, one block of the first cut is equal; when the other bits are
 * cut again, one of those blocks is equal as well. This pair of blocks is a key of both. */
static uint32_t simhash_keys(uint64_t bits, uint32_t blocks, uint32_t *ret_keys)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        unsigned from = SIMHASH_BITS * i / blocks, to = SIMHASH_BITS * (i + 1) / blocks;
        uint64_t first = block(bits, SIMHASH_BITS, blocks, i);
        uint64_t rest = to < SIMHASH_BITS ? bits >> to << from : 0;
        rest |= bits & low_bits(from);
        for (uint32_t k = 0; k < blocks; k++) {
            uint64_t second = block(rest, SIMHASH_BITS - (to - from), blocks, k);
            uint64_t place = (uint64_t)i * SIMHASH_BLOCKS_MAX + k;
            ret_keys[count++] =
                (uint32_t)(sp_mix64(sp_mix64(sp_mix64(place + 1) + first) + second) >> 32);
        }
    }
    qsort(ret_keys, count, sizeof *ret_keys, sp_by_u32);
    return count;
}

/* The keys ascend because the high bits are the band's number. */
static uint32_t sign_keys(const uint32_t *signs, uint32_t bits, uint32_t *ret_keys)
{
    const uint8_t *bytes = (const uint8_t *)signs;
    for (uint32_t i = 0; i < SP_SIGN_BANDS; i++) {
        const uint8_t *at = bytes + (size_t)i * (SP_SIGN_BITS / 8);
        uint32_t band = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
        ret_keys[i] = i << SP_SIGN_BITS | (band & (uint32_t)low_bits(bits));
    }
    return SP_SIGN_BANDS;
}

/* The SP_MINIMA_EACH smallest hashes in each of SP_MINIMA_BUCKETS buckets, ascending. */
static uint32_t minima_of(const struct sp_signature *s, uint32_t *ret_keys)
{
    uint32_t taken[SP_MINIMA_BUCKETS] = {0}, count = 0;
    for (uint32_t i = 0; i < s->shingle_count && count < SP_MINIMA; i++)
        if (taken[s->hashes[i] % SP_MINIMA_BUCKETS]++ < SP_MINIMA_EACH)
            ret_keys[count++] = s->hashes[i];
    return count;
}

const uint32_t *sp_candidate_keys(const struct sp_candidate_rule *rule,
                                  const struct sp_signature *s, uint32_t scratch[SP_SKETCH_MAX],
                                  uint32_t *ret_count)
{
    const uint32_t *sequence = sp_signature_sentences(s);
    uint64_t bits;
    *ret_count = 0;
    switch (rule->method) {
    case SP_METHOD_SIMHASH:
        if (sp_signature_simhash(s, &bits))
            *ret_count = simhash_keys(bits, rule->blocks, scratch);
        return scratch;
    case SP_METHOD_COSINE:
        if (s->shingle_total && s->sentence_count >= SP_SIGN_WORDS)
            *ret_count = sign_keys(sequence, rule->bits, scratch);
        return scratch;
    case SP_METHOD_LCS:
        *ret_count = minima_of(s, scratch);
        return scratch;
    case SP_METHOD_SHINGLES:
    case SP_METHOD_SENTENCES:
    case SP_METHOD_COMBINED:
    case SP_METHOD_COUNT:
        break;
    }
    *ret_count = s->shingle_count < rule->sketch ? s->shingle_count : rule->sketch;
    return sp_signature_shingles(s);
}

bool sp_candidate_pair(const struct sp_candidate_rule *rule, const struct sp_signature *a,
                       const struct sp_signature *b)
{
    uint32_t a_keys[SP_SKETCH_MAX], b_keys[SP_SKETCH_MAX], n, m, shared = 0;
    const uint32_t *x = sp_candidate_keys(rule, a, a_keys, &n);
    const uint32_t *y = sp_candidate_keys(rule, b, b_keys, &m);
    for (uint32_t i = 0, j = 0; i < n && j < m;) {
        shared += x[i] == y[j];
        uint32_t xi = x[i], yj = y[j];
        i += xi <= yj;
        j += yj <= xi;
    }
    uint32_t larger = a->shingle_total > b->shingle_total ? a->shingle_total : b->shingle_total;
    return shared >= sp_candidate_needed(rule, larger);
}

/* The candidate rules of the other methods: they miss no pairs, or few enough, and the index finds
 * every pair that they accept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "candidates/candidates.h"
#include "harness.h"
#include "made_up.h"
#include "page/builder.h"

enum { ITEMS_MAX = 120 };

static uint64_t state = 7;

static uint64_t draw(uint64_t below)
{
    state = sp_mix64(state + 0x9e3779b97f4a7c15ull);
    return state % below;
}

static struct sp_signature *simhash_of(uint64_t bits)
{
    return made_up_simhash((struct sp_id){0, bits}, bits, 100);
}

static uint64_t flip(uint64_t bits, unsigned count)
{
    uint64_t flipped = 0;
    while ((unsigned)__builtin_popcountll(flipped) < count)
        flipped |= 1ull << draw(64);
    return bits ^ flipped;
}

TEST(no_simhash_within_k_bits_is_missed)
{
    for (unsigned k = 0; k <= 7; k++) {
        struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SIMHASH, 1 - (double)k / 64);
        size_t far = 0;
        CU_ASSERT_EQUAL(rule.sketch, (k + 1) * (k + 1));
        for (int round = 0; round < 5000; round++) {
            uint64_t bits = sp_mix64(draw(UINT64_MAX));
            struct sp_signature *a = simhash_of(bits), *b = simhash_of(flip(bits, draw(k + 1))),
                                *c = simhash_of(sp_mix64(bits));
            CU_ASSERT(sp_candidate_pair(&rule, a, b));
            CU_ASSERT(sp_candidate_pair(&rule, b, a));
            far += sp_candidate_pair(&rule, a, c);
            sp_signature_unref(a);
            sp_signature_unref(b);
            sp_signature_unref(c);
        }
        CU_ASSERT(far < (k <= 3 ? 5 : 100)); /* unrelated pairs */
    }
}

/* Signs items as words and as one-word sentences. */
static struct sp_signature *sign(enum sp_method method, const uint64_t *items, size_t count)
{
    struct sp_signature_options o = {
        .max_shingles = 1024, .method = method, .max_sentences = ITEMS_MAX};
    struct sp_builder *b = sp_builder_new(&o);
    sp_builder_begin(b);
    for (size_t i = 0; i < count; i++) {
        sp_builder_words(b, items + i, 1);
        sp_builder_sentence_end(b);
    }
    struct sp_signature *s = sp_builder_finish(b, 0);
    sp_builder_free(b);
    return s;
}

/* b is a with `changed` items replaced. */
static void make_pair(size_t count, size_t changed, uint64_t *ret_a, uint64_t *ret_b)
{
    for (size_t i = 0; i < count; i++)
        ret_a[i] = ret_b[i] = sp_mix64(draw(UINT64_MAX));
    for (size_t i = 0; i < changed; i++)
        ret_b[i * count / changed] = sp_mix64(draw(UINT64_MAX));
}

TEST(of_cosines_at_the_threshold_hardly_any_is_missed)
{
    static const double thresholds[] = {0.8, 0.9, 0.95};
    size_t missed = 0, pairs = 0;
    for (int round = 0; round < 6000; round++) {
        uint64_t a[ITEMS_MAX], b[ITEMS_MAX];
        double tau = thresholds[round % 3];
        struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_COSINE, tau);
        size_t count = 40 + draw(3) * 20;
        /* n items of which c changed: the cosine is 1 - c / n */
        make_pair(count, (size_t)floor((1 - tau) * (double)count + 1e-9), a, b);
        struct sp_signature *x = sign(SP_METHOD_COSINE, a, count),
                            *y = sign(SP_METHOD_COSINE, b, count);
        missed += !sp_candidate_pair(&rule, x, y);
        pairs++;
        sp_signature_unref(x);
        sp_signature_unref(y);
    }
    CU_ASSERT_EQUAL(pairs, 6000);
    CU_ASSERT(missed <= 3); /* expected: 0.6 */
}

TEST(of_sequences_at_the_threshold_hardly_any_is_missed)
{
    static const double thresholds[] = {0.5, 0.7, 0.8, 0.9};
    size_t missed = 0;
    for (int round = 0; round < 40000; round++) {
        uint64_t a[ITEMS_MAX], b[ITEMS_MAX];
        double tau = thresholds[round % 4];
        struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_LCS, tau);
        size_t count = 1 + draw(ITEMS_MAX);
        /* n items of which c changed: the ratio is (n - c) / (n + c) */
        make_pair(count, (size_t)floor((1 - tau) / (1 + tau) * (double)count + 1e-9), a, b);
        struct sp_signature *x = sign(SP_METHOD_LCS, a, count), *y = sign(SP_METHOD_LCS, b, count);
        missed += !sp_candidate_pair(&rule, x, y);
        sp_signature_unref(x);
        sp_signature_unref(y);
    }
    CU_ASSERT(missed <= 8); /* expected: 4, at 1e-4 */
}

TEST(minima_are_the_smallest_of_their_buckets)
{
    uint64_t items[ITEMS_MAX];
    for (size_t i = 0; i < ITEMS_MAX; i++)
        items[i] = sp_mix64(i / 2 + 1); /* each twice */
    struct sp_signature *s = sign(SP_METHOD_LCS, items, ITEMS_MAX);
    CU_ASSERT_EQUAL(s->shingle_total, ITEMS_MAX);
    CU_ASSERT_EQUAL(s->sentence_count, ITEMS_MAX);
    CU_ASSERT_EQUAL(s->shingle_count, ITEMS_MAX);
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_LCS, 0.5);
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = sp_candidate_keys(&rule, s, scratch, &count);
    CU_ASSERT_EQUAL_FATAL(count, SP_MINIMA);
    unsigned in_bucket[SP_MINIMA_BUCKETS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        in_bucket[keys[i] % SP_MINIMA_BUCKETS]++;
        CU_ASSERT(i == 0 || keys[i - 1] < keys[i]);
    }
    for (size_t i = 0; i < SP_MINIMA_BUCKETS; i++)
        CU_ASSERT_EQUAL(in_bucket[i], SP_MINIMA_EACH);
    /* A sentence outside the sketch is larger than the minimum of its bucket. */
    for (uint32_t i = 0; i < ITEMS_MAX; i += 2) {
        uint32_t sentence = sp_signature_sentences(s)[i];
        bool kept = false;
        uint32_t largest = 0;
        for (uint32_t k = 0; k < count; k++) {
            kept |= keys[k] == sentence;
            if (keys[k] % SP_MINIMA_BUCKETS == sentence % SP_MINIMA_BUCKETS)
                largest = keys[k];
        }
        CU_ASSERT(kept || sentence > largest);
    }
    sp_signature_unref(s);
}

/* Flipping one sign changes the key of its band and no other; signs that belong to no band change
 * none. */
TEST(each_sign_that_counts_is_in_the_key_of_its_band)
{
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_COSINE, 0.9);
    struct sp_signature *s = sp_signature_alloc(0, SP_SIGN_WORDS);
    uint32_t scratch[SP_SKETCH_MAX], before[SP_SIGN_BANDS], count;
    s->shingle_total = 100;
    for (uint32_t i = 0; i < SP_SIGN_WORDS; i++)
        s->hashes[i] = (uint32_t)sp_mix64(i);
    memcpy(before, sp_candidate_keys(&rule, s, scratch, &count), sizeof before);
    CU_ASSERT_EQUAL_FATAL(count, SP_SIGN_BANDS);
    CU_ASSERT_FATAL(rule.bits > 8 && rule.bits < SP_SIGN_BITS);
    for (uint32_t bit = 0; bit < SP_SIGN_WORDS * 32; bit++) {
        s->hashes[bit / 32] ^= 1u << bit % 32;
        const uint32_t *keys = sp_candidate_keys(&rule, s, scratch, &count);
        for (uint32_t i = 0; i < SP_SIGN_BANDS; i++) {
            bool counts = i == bit / SP_SIGN_BITS && bit % SP_SIGN_BITS < rule.bits;
            CU_ASSERT_EQUAL(keys[i] != before[i], counts);
        }
        s->hashes[bit / 32] ^= 1u << bit % 32;
    }
    sp_signature_unref(s);
}

static void check_index(enum sp_method method, double threshold)
{
    enum { SLOTS = 100, COUNT = 30 };
    struct sp_candidate_rule rule = sp_candidate_rule(method, threshold);
    struct sp_candidates *c = sp_candidates_new(&rule);
    struct sp_signature *rows[SLOTS];
    uint64_t items[COUNT];
    uint32_t scratch[SP_SKETCH_MAX], count;
    size_t accepted = 0;
    make_pair(COUNT, COUNT, items, items);
    for (uint32_t s = 0; s < SLOTS; s++) {
        items[draw(COUNT)] = sp_mix64(draw(UINT64_MAX)); /* resembles the ones before it */
        rows[s] = sign(method, items, COUNT);
        const uint32_t *keys = sp_candidate_keys(&rule, rows[s], scratch, &count);
        sp_candidates_add(c, s, keys, count);
    }
    for (uint32_t a = 0; a < SLOTS; a++) {
        const uint32_t *found, *keys = sp_candidate_keys(&rule, rows[a], scratch, &count);
        size_t n = sp_candidates_find(c, keys, count, rows[a]->shingle_total, &found), at = 0;
        for (uint32_t b = 0; b < SLOTS; b++) {
            bool there = at < n && found[at] == b;
            at += there;
            CU_ASSERT(there || !sp_candidate_pair(&rule, rows[a], rows[b]));
            accepted += sp_candidate_pair(&rule, rows[a], rows[b]);
        }
    }
    CU_ASSERT(accepted > 2 * SLOTS || method == SP_METHOD_SIMHASH);
    CU_ASSERT(accepted >= SLOTS);
    for (uint32_t s = 0; s < SLOTS; s++)
        sp_signature_unref(rows[s]);
    sp_candidates_free(c);
}

TEST(the_index_finds_what_each_rule_accepts)
{
    check_index(SP_METHOD_SHINGLES, 0.8);
    check_index(SP_METHOD_SIMHASH, 57.0 / 64);
    check_index(SP_METHOD_SIMHASH, 61.0 / 64);
    check_index(SP_METHOD_COSINE, 0.9);
    check_index(SP_METHOD_LCS, 0.5);
    check_index(SP_METHOD_LCS, 0.9);
    check_index(SP_METHOD_COMBINED, 0.7);
}

/* The distance bound from bit patterns, against the true differences of made-up signatures. */
#include <math.h>

#include "harness.h"
#include "similarity/parity.h"

enum { SHARED = 90 };

/* Shingles 1 to SHARED of every series, and `own` of its own. */
static struct sp_signature *make(uint32_t series, uint32_t own)
{
    struct sp_signature *s = sp_signature_alloc(SHARED + own, 0);
    for (uint32_t i = 0; i < SHARED; i++)
        s->hashes[i] = (uint32_t)sp_mix64(i + 1);
    for (uint32_t i = 0; i < own; i++)
        s->hashes[SHARED + i] = (uint32_t)sp_mix64(1000000 * series + i);
    return s;
}

static uint32_t distance(const struct sp_signature *a, uint32_t a_words,
                         const struct sp_signature *b, uint32_t b_words)
{
    uint64_t x[SP_PARITY_WORDS_MAX], y[SP_PARITY_WORDS_MAX];
    sp_parity_of(a, a_words, x);
    sp_parity_of(b, b_words, y);
    uint32_t d = sp_parity_distance(x, a_words, y, b_words);
    CU_ASSERT_EQUAL(sp_parity_distance(y, b_words, x, a_words), d);
    CU_ASSERT_EQUAL(sp_parity_distance_portable(x, a_words, y, b_words), d);
    return d;
}

TEST(patterns_have_the_bits_that_are_asked_for)
{
    CU_ASSERT_EQUAL(sp_parity_words(0, 4), 1);
    CU_ASSERT_EQUAL(sp_parity_words(64, 1), 1);
    CU_ASSERT_EQUAL(sp_parity_words(65, 1), 2);
    CU_ASSERT_EQUAL(sp_parity_words(100, 4), 8);
    CU_ASSERT_EQUAL(sp_parity_words(UINT32_MAX, 4), SP_PARITY_WORDS_MAX);
}

TEST(a_distance_is_never_more_than_the_difference_and_mostly_close_to_it)
{
    const uint32_t words[] = {1, 2, 8, 64};
    uint32_t close = 0, pairs = 0;
    for (uint32_t series = 1; series <= 20; series++)
        for (uint32_t own = 0; own <= 20; own++) {
            struct sp_signature *a = make(2 * series, own), *b = make(2 * series + 1, 20 - own);
            for (int i = 0; i < 4; i++)
                for (int k = 0; k < 4; k++) {
                    uint32_t d = distance(a, words[i], b, words[k]);
                    CU_ASSERT_TRUE(d <= 20);
                    CU_ASSERT_EQUAL(d % 2, 0); /* two shingles on the same bit cancel out */
                }
            close += distance(a, 8, b, 8) >= 18;
            pairs++;
            CU_ASSERT_EQUAL(distance(a, 8, a, 8), 0);
            sp_signature_unref(a);
            sp_signature_unref(b);
        }
    CU_ASSERT_TRUE(close > pairs * 3 / 4);
}

TEST(a_folded_pattern_gives_no_more_than_the_whole_one_and_rules_out_what_is_far)
{
    enum { WORDS = 8 };
    uint64_t x[WORDS], y[WORDS], a[SP_PARITY_BRIEF], b[SP_PARITY_BRIEF];
    uint32_t far = 0, pairs = 100;
    for (uint32_t series = 1; series <= pairs; series++) {
        struct sp_signature *one = make(2 * series, 30), *other = make(2 * series + 1, 30);
        sp_parity_of(one, WORDS, x);
        sp_parity_of(other, WORDS, y);
        sp_parity_brief(x, WORDS, a);
        sp_parity_brief(y, WORDS, b);
        uint32_t d = sp_parity_brief_distance(a, b);
        CU_ASSERT_TRUE(d <= sp_parity_distance(x, WORDS, y, WORDS));
        CU_ASSERT_EQUAL(sp_parity_brief_distance(b, a), d);
        CU_ASSERT_EQUAL(sp_parity_brief_distance(a, a), 0);
        sp_parity_of(one, SP_PARITY_BRIEF,
                     x); /* folding a pattern gives the pattern of that size */
        CU_ASSERT_EQUAL(memcmp(x, a, sizeof a), 0);
        far += d > 26; /* a ninth of the shingles of both: not similar at 0.8 */
        sp_signature_unref(one);
        sp_signature_unref(other);
    }
    CU_ASSERT_TRUE(far > pairs * 9 / 10);
}

TEST(vector_and_portable_code_make_the_same_patterns)
{
    uint64_t x[SP_PARITY_WORDS_MAX], y[SP_PARITY_WORDS_MAX];
    for (uint32_t words = 1; words <= SP_PARITY_WORDS_MAX; words *= 2)
        for (uint32_t own = 0; own < 3000; own = 3 * own + 1) {
            struct sp_signature *s = make(words, own);
            sp_parity_of(s, words, x);
            sp_parity_of_portable(s->hashes, s->shingle_count, words, y);
            CU_ASSERT_EQUAL(memcmp(x, y, words * sizeof *x), 0);
            sp_signature_unref(s);
        }
}

TEST(a_shingle_that_repeats_counts_each_time)
{
    struct sp_signature *once = make(1, 1), *thrice = make(1, 3);
    thrice->hashes[SHARED + 1] = thrice->hashes[SHARED + 2] = thrice->hashes[SHARED];
    once->hashes[SHARED] = thrice->hashes[SHARED];
    CU_ASSERT_EQUAL(distance(once, 8, thrice, 8), 0); /* a bound, not the distance */
    thrice->hashes[SHARED + 2] = 77;
    CU_ASSERT_EQUAL(distance(once, 8, thrice, 8), 2);
    sp_signature_unref(once);
    sp_signature_unref(thrice);
}

/* Checks both kernels for lists of every length. */
static void check_near(const struct sp_parity_wide *x, const struct sp_parity_wide *items,
                       uint32_t count)
{
    struct sp_parity_list list;
    uint64_t near = 0;
    memset(&list, 0, sizeof list); /* the free items are as near as can be */
    for (uint32_t i = 0; i < count; i++) {
        struct sp_parity_wide same;
        uint32_t d = sp_parity_distance(x->words, SP_PARITY_WIDE, items[i].words, SP_PARITY_WIDE);
        near |= (uint64_t)(d <= x->most + items[i].most) << i;
        sp_parity_put(&list, i, &items[i]);
        sp_parity_get(&list, i, &same);
        CU_ASSERT_EQUAL(memcmp(&same, &items[i], sizeof same), 0);
    }
    CU_ASSERT_EQUAL(sp_parity_near(x, &list, count), near);
    CU_ASSERT_EQUAL(sp_parity_near_portable(x, &list, count), near);
}

TEST(of_a_list_of_patterns_those_within_the_bound_remain)
{
    enum { WORDS = 16, ITEMS = SP_PARITY_AT_ONCE };
    uint64_t pattern[WORDS], folded[SP_PARITY_WIDE];
    struct sp_parity_wide items[ITEMS], x;
    for (uint32_t i = 0; i < ITEMS; i++) {
        struct sp_signature *s = make(i + 1, 2 * (i * 7 % 40));
        sp_parity_of(s, WORDS, pattern);
        sp_parity_widen(pattern, WORDS, items[i].words);
        sp_parity_of(s, SP_PARITY_WIDE, folded);
        CU_ASSERT_EQUAL(memcmp(folded, items[i].words, sizeof folded), 0);
        items[i].most = s->shingle_count / 9.0;
        sp_signature_unref(s);
    }
    x = items[0];
    for (uint32_t count = 0; count <= ITEMS; count++)
        check_near(&x, items, count);
    for (x.most = 0; x.most < 64; x.most++) /* brief patterns rule out others, and then none */
        check_near(&x, items, ITEMS - 1);
    x = items[0];
    struct sp_parity_list list;
    for (uint32_t i = 0; i < ITEMS; i++)
        sp_parity_put(&list, i, &items[i]);
    int near = __builtin_popcountll(sp_parity_near(&x, &list, ITEMS));
    CU_ASSERT_TRUE(near > 2 && near < ITEMS / 2);
    x.most = (double)INFINITY;
    check_near(&x, items, ITEMS - 3);
    CU_ASSERT_EQUAL(sp_parity_near(&x, &list, ITEMS), UINT64_MAX);
}

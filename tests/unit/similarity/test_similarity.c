/* F and its parts against their definitions. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "harness.h"
#include "similarity/intersect.h"
#include "similarity/lcs.h"
#include "similarity/similarity.h"

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state += 0x9e3779b97f4a7c15ull;
    return sp_mix64(state) % below;
}

/* Sorted values below `range`; a small range repeats some. */
static struct sp_signature *random_signature(uint32_t count, uint32_t total, uint32_t range)
{
    struct sp_signature *s = sp_signature_alloc(count, 0);
    s->params = 1;
    s->content_hash = (struct sp_id){draw(1u << 30), draw(1u << 30)};
    s->shingle_total = total;
    s->language = 0;
    s->length[0] = total / 2;
    s->length[1] = total / 3;
    s->length[2] = total - s->length[0] - s->length[1];
    for (uint32_t i = 0; i < count; i++)
        s->hashes[i] = (uint32_t)draw(range);
    qsort(s->hashes, count, sizeof *s->hashes, sp_by_u32);
    return s;
}

static size_t shared_by_definition(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    size_t i = 0, k = 0, shared = 0;
    while (i < na && k < nb) {
        if (a[i] == b[k])
            shared++, i++, k++;
        else if (a[i] < b[k])
            i++;
        else
            k++;
    }
    return shared;
}

TEST(every_kernel_counts_what_two_sets_share)
{
    static const char *const kernels[] = {"portable", "avx2", "avx512"};
    const char *before = sp_similarity_kernel();
    for (size_t kernel = 0; kernel < 3; kernel++) {
        if (!sp_similarity_use(kernels[kernel]))
            continue; /* not supported by this machine */
        for (int round = 0; round < 4000; round++) {
            uint32_t range = round % 3 == 0 ? 200 : round % 3 == 1 ? 3000 : 1u << 31;
            uint32_t na = (uint32_t)draw(120), nb = (uint32_t)draw(120);
            struct sp_signature *a = random_signature(na, na, range);
            struct sp_signature *b = random_signature(nb, nb, range);
            for (uint32_t i = 0; i < nb && i < na; i += 2)
                b->hashes[i] = a->hashes[i];
            qsort(b->hashes, nb, sizeof *b->hashes, sp_by_u32);
            size_t want = shared_by_definition(a->hashes, na, b->hashes, nb);
            CU_ASSERT_EQUAL(sp_intersect(a->hashes, na, b->hashes, nb, 0), want);
            CU_ASSERT_EQUAL(sp_intersect(b->hashes, nb, a->hashes, na, want), want);
            CU_ASSERT(sp_intersect(a->hashes, na, b->hashes, nb, want + 1) <= want);
            CU_ASSERT(sp_intersect_reaches(a->hashes, na, b->hashes, nb, want));
            CU_ASSERT(!sp_intersect_reaches(a->hashes, na, b->hashes, nb, want + 1));
            sp_signature_unref(a);
            sp_signature_unref(b);
        }
    }
    CU_ASSERT(sp_similarity_use(before));
    CU_ASSERT(!sp_similarity_use("abacus"));
}

static size_t difference_by_definition(const uint32_t *a, size_t na, const uint32_t *b, size_t nb,
                                       uint32_t *ret_values)
{
    size_t count = 0;
    for (size_t i = 0; i < na; i++) {
        bool has = false;
        for (size_t k = 0; k < nb; k++)
            has |= a[i] == b[k];
        if (!has && (count == 0 || ret_values[count - 1] != a[i]))
            ret_values[count++] = a[i];
    }
    return count;
}

TEST(every_kernel_finds_what_only_one_of_two_sets_has)
{
    enum { MOST = 120 };
    static const char *const kernels[] = {"portable", "avx2", "avx512"};
    const char *before = sp_similarity_kernel();
    for (size_t kernel = 0; kernel < 3; kernel++) {
        if (!sp_similarity_use(kernels[kernel]))
            continue; /* not supported by this machine */
        for (int round = 0; round < 6000; round++) {
            /* Many repeats, a few, none. */
            uint32_t range = round % 3 == 0 ? 60 : round % 3 == 1 ? 500 : 1u << 31;
            uint32_t na = (uint32_t)draw(MOST), nb = (uint32_t)draw(MOST);
            uint32_t want[MOST], found[MOST + 1];
            struct sp_signature *a = random_signature(na, na, range);
            struct sp_signature *b = random_signature(nb, nb, range);
            for (uint32_t i = 0; i < nb && i < na; i += 1 + (uint32_t)round % 4)
                b->hashes[i] = a->hashes[i];
            if (nb > 0)
                qsort(b->hashes, nb, sizeof *b->hashes, sp_by_u32);
            size_t count = difference_by_definition(a->hashes, na, b->hashes, nb, want);
            found[na] = 42;
            CU_ASSERT_EQUAL_FATAL(sp_difference(a->hashes, na, b->hashes, nb, found), count);
            CU_ASSERT_EQUAL(memcmp(found, want, count * sizeof *want), 0);
            CU_ASSERT_EQUAL(found[na], 42); /* it has room for na */
            sp_signature_unref(a);
            sp_signature_unref(b);
        }
    }
    CU_ASSERT(sp_similarity_use(before));
}

TEST(every_kernel_takes_null_for_no_shingles)
{
    static const char *const kernels[] = {"portable", "avx2", "avx512"};
    const char *before = sp_similarity_kernel();
    for (size_t kernel = 0; kernel < 3; kernel++) {
        if (!sp_similarity_use(kernels[kernel]))
            continue;
        uint32_t values[] = {3, 3, 7}, found[3] = {0};
        CU_ASSERT_EQUAL(sp_difference(NULL, 0, NULL, 0, NULL), 0);
        CU_ASSERT_EQUAL(sp_difference(NULL, 0, values, 3, NULL), 0);
        CU_ASSERT_EQUAL(sp_difference(values, 3, NULL, 0, found), 2);
        CU_ASSERT_TRUE(found[0] == 3 && found[1] == 7);
        CU_ASSERT_EQUAL(sp_intersect(NULL, 0, NULL, 0, 0), 0);
        CU_ASSERT_EQUAL(sp_intersect(NULL, 0, values, 3, 0), 0);
        CU_ASSERT_EQUAL(sp_intersect(values, 3, NULL, 0, 0), 0);
    }
    CU_ASSERT(sp_similarity_use(before));
}

TEST(what_two_pages_share_decides_as_their_signatures_do)
{
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    for (int round = 0; round < 20000; round++) {
        o.threshold = (double)(1 + draw(20)) / 20;
        uint32_t n = (uint32_t)draw(60), m = (uint32_t)draw(60);
        struct sp_signature *a = random_signature(n, n, 80), *b = random_signature(m, m, 80);
        size_t shared = sp_intersect(a->hashes, n, b->hashes, m, 0);
        double similarity = -1, got = -1;
        a->length[0] = n;
        b->length[0] = m;
        bool similar = sp_similar(&o, a, b, &similarity);
        CU_ASSERT_EQUAL(sp_similar_sharing(&o, a, b, shared, &got), similar);
        CU_ASSERT_EQUAL(got, similarity);
        if (!similar && shared)
            CU_ASSERT_FALSE(sp_similar_sharing(&o, a, b, shared - 1, NULL));
        CU_ASSERT_EQUAL(sp_similar(&o, a, a, &got), n > 0);
        CU_ASSERT_TRUE(n == 0 || got == 1);
        sp_signature_unref(a);
        sp_signature_unref(b);
    }
}

TEST(jaccard_at_least_agrees_with_jaccard_to_the_last_bit)
{
    static const double thresholds[] = {0.5, 0.75, 0.8, 0.9, 1.0};
    for (int round = 0; round < 20000; round++) {
        uint32_t n = 1 + (uint32_t)draw(60), m = 1 + (uint32_t)draw(60);
        bool capped = round % 4 == 0;
        struct sp_signature *a = random_signature(n, capped ? n + 20 : n, 100);
        struct sp_signature *b = random_signature(m, m, 100);
        double j = sp_jaccard(a, b), got = -1;
        CU_ASSERT_EQUAL(j, sp_jaccard(b, a));
        for (size_t t = 0; t < 5; t++) {
            bool reached = sp_jaccard_at_least(a, b, thresholds[t], &got);
            CU_ASSERT_EQUAL(reached, j + 1e-9 >= thresholds[t] && j > 0);
            if (reached)
                CU_ASSERT_EQUAL(got, j);
            CU_ASSERT_EQUAL(sp_jaccard_reaches(a, b, thresholds[t]), reached);
        }
        sp_signature_unref(a);
        sp_signature_unref(b);
    }
}

TEST(four_fifths_reach_a_threshold_of_four_fifths)
{
    struct sp_signature *a = random_signature(9, 9, 1u << 31),
                        *b = random_signature(9, 9, 1u << 31);
    for (uint32_t i = 0; i < 9; i++) {
        a->hashes[i] = i * 10;
        b->hashes[i] = i == 8 ? 999 : i * 10;
    }
    struct sp_similarity_options o;
    double j = 0;
    sp_similarity_options_default(&o);
    CU_ASSERT(sp_similar(&o, a, b, &j));
    CU_ASSERT_DOUBLE_EQUAL(j, 0.8, 1e-15);
    sp_signature_unref(a);
    sp_signature_unref(b);
}

/* About one in 4 billion pairs of texts has equal hashes of different shingles. */
TEST(texts_of_one_shingle_are_compared_by_their_content)
{
    static const enum sp_method methods[] = {SP_METHOD_SHINGLES, SP_METHOD_COMBINED};
    struct sp_signature *a = random_signature(1, 1, 1000), *b = random_signature(1, 1, 1000);
    struct sp_signature *two = random_signature(2, 2, 1000);
    memcpy(b->length, a->length, sizeof a->length);
    memcpy(two->length, a->length, sizeof a->length);
    two->length[0]++;
    a->hashes[0] = b->hashes[0] = 7;
    two->hashes[0] = 7;
    two->hashes[1] = 8;
    for (size_t i = 0; i < 2; i++) {
        struct sp_similarity_options o = {.method = methods[i], .threshold = 0.5};
        CU_ASSERT(!sp_similar(&o, a, b, NULL));
        CU_ASSERT_EQUAL(sp_similarity(&o, a, b), 0);
        CU_ASSERT(sp_similar(&o, a, a, NULL));
        CU_ASSERT(sp_similar(&o, a, two, NULL));
        CU_ASSERT(sp_similar(&o, two, b, NULL));
    }
    struct sp_similarity_options o = {.method = SP_METHOD_SHINGLES, .threshold = 0.5};
    CU_ASSERT(!sp_similar_sharing(&o, a, b, 1, NULL));
    CU_ASSERT(sp_similar_sharing(&o, a, two, 1, NULL));
    o.method = SP_METHOD_SENTENCES; /* two contents can have the same sentence */
    CU_ASSERT(sp_similar(&o, a, b, NULL));
    b->content_hash = a->content_hash;
    o.method = SP_METHOD_SHINGLES;
    CU_ASSERT(sp_similar(&o, a, b, NULL));
    sp_signature_unref(a);
    sp_signature_unref(b);
    sp_signature_unref(two);
}

TEST(a_page_without_words_resembles_nothing)
{
    struct sp_signature *a = random_signature(0, 0, 10), *b = random_signature(5, 5, 1000);
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    CU_ASSERT_EQUAL(sp_jaccard(a, a), 0);
    CU_ASSERT(!sp_similar(&o, a, a, NULL));
    CU_ASSERT(!sp_similar(&o, a, b, NULL));
    CU_ASSERT(sp_similar(&o, b, b, NULL));
    b->params = 2;
    struct sp_signature *c = random_signature(5, 5, 1000);
    memcpy(c->hashes, b->hashes, sizeof *c->hashes * 5);
    CU_ASSERT(!sp_similar(&o, b, c, NULL)); /* signatures of other parameters are never similar */
    sp_signature_unref(a);
    sp_signature_unref(b);
    sp_signature_unref(c);
}

TEST(the_estimate_of_capped_signatures_is_close)
{
    /* Two pages of 20,000 shingles, nine tenths of each shared, capped at 1,024. */
    enum { N = 20000, KEPT = 1024 };
    double worst = 0;
    for (int round = 0; round < 20; round++) {
        struct sp_signature *a = random_signature(N, N, 1u << 31);
        struct sp_signature *b = random_signature(N, N, 1u << 31);
        memcpy(b->hashes, a->hashes, N * sizeof *a->hashes);
        for (uint32_t i = 0; i < N; i += 10)
            b->hashes[i] = (uint32_t)draw(1u << 31);
        qsort(b->hashes, N, sizeof *b->hashes, sp_by_u32);
        double exact = sp_jaccard(a, b);
        a->shingle_count = b->shingle_count = KEPT;
        double error = fabs(sp_jaccard(a, b) - exact);
        worst = error > worst ? error : worst;
        sp_signature_unref(a);
        sp_signature_unref(b);
    }
    CU_ASSERT(worst < 0.05); /* four standard deviations */
    CU_ASSERT(worst > 0);
}

/* A page of so many shingles of `from`, the first ones or any, and of others below `range`; it
 * keeps the smallest `cap`. */
static struct sp_signature *changed(const uint32_t *from, uint32_t count, uint32_t others,
                                    uint32_t range, uint32_t cap)
{
    struct sp_signature *s = random_signature(count + others, count + others, range);
    for (uint32_t i = 0; i < count; i++)
        s->hashes[i] = from[i];
    for (uint32_t i = 0; i < others; i++)
        s->hashes[count + i] = (uint32_t)draw(range);
    qsort(s->hashes, count + others, sizeof *s->hashes, sp_by_u32);
    s->shingle_count = s->shingle_total < cap ? s->shingle_total : cap;
    return s;
}

TEST(similar_signatures_differ_in_no_more_shingles_than_both_allow)
{
    enum { CAP = 60, MOST = 150 };
    static const double thresholds[] = {0.3, 0.5, 0.8, 0.9, 1};
    for (size_t t = 0; t < sizeof thresholds / sizeof *thresholds; t++) {
        double tau = thresholds[t], fullest[3] = {0};
        uint32_t pairs[3] = {0};
        for (int round = 0; round < 20000; round++) {
            uint32_t from[MOST], n = 20 + (uint32_t)draw(MOST - 20),
                                 less = (uint32_t)((1 - tau) * n) + 1;
            for (uint32_t i = 0; i < n; i++)
                from[i] = (uint32_t)draw(UINT32_MAX);
            if (draw(2))
                qsort(from, n, sizeof *from, sp_by_u32);
            uint32_t range = UINT32_MAX >> draw(4), count = n - (uint32_t)draw(less);
            struct sp_signature *x = changed(from, n, 0, 1, CAP),
                                *y = changed(from, count, (uint32_t)draw(less), range, CAP);
            double j;
            if (sp_jaccard_at_least(x, y, tau, &j)) {
                size_t capped = (size_t)(x->shingle_total > CAP) + (y->shingle_total > CAP);
                double apart = x->shingle_count + y->shingle_count -
                               2.0 * (double)shared_by_definition(x->hashes, x->shingle_count,
                                                                  y->hashes, y->shingle_count);
                double allowed = sp_jaccard_apart(tau, x) + sp_jaccard_apart(tau, y);
                CU_ASSERT(apart <= allowed);
                fullest[capped] = fmax(fullest[capped], apart / allowed);
                pairs[capped]++;
            }
            sp_signature_unref(x);
            sp_signature_unref(y);
        }
        printf("at %.1f: %u, %u and %u pairs, up to %.2f, %.2f and %.2f of what is allowed\n", tau,
               pairs[0], pairs[1], pairs[2], fullest[0], fullest[1], fullest[2]);
        CU_ASSERT(pairs[0] > 100 && pairs[1 + (tau == 1)] > 100);
        CU_ASSERT(tau == 1 || fullest[0] > 0.9);
        CU_ASSERT(tau == 1 || fullest[1] > 0.6);
    }
}

static size_t lcs_by_definition(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    size_t table[32][32] = {{0}};
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++)
            table[i][k] = a[i - 1] == b[k - 1]                ? table[i - 1][k - 1] + 1
                          : table[i - 1][k] > table[i][k - 1] ? table[i - 1][k]
                                                              : table[i][k - 1];
    return table[n][m];
}

TEST(the_longest_common_subsequence_is_that_of_the_definition)
{
    for (int round = 0; round < 20000; round++) {
        uint32_t a[31], b[31];
        size_t n = draw(31), m = draw(31);
        for (size_t i = 0; i < n; i++)
            a[i] = (uint32_t)draw(1 + round % 9);
        for (size_t i = 0; i < m; i++)
            b[i] = (uint32_t)draw(1 + round % 9);
        CU_ASSERT_EQUAL(sp_lcs_length(a, n, b, m, 0), lcs_by_definition(a, n, b, m));
    }
}

TEST(inside_the_band_the_sentences_decide)
{
    struct sp_signature *a = sp_signature_alloc(10, 4), *b = sp_signature_alloc(10, 4);
    for (uint32_t i = 0; i < 10; i++)
        a->hashes[i] = b->hashes[i] = i;
    b->hashes[9] = 99; /* J = 9/11 */
    for (uint32_t i = 0; i < 4; i++) {
        a->hashes[10 + i] = 100 + i;
        b->hashes[10 + i] = 100 + 3 - i; /* the same sentences in reverse: LCS 1 of 4 */
    }
    a->params = b->params = 1;
    a->shingle_total = b->shingle_total = 10;
    for (size_t d = 0; d < SP_DIMS; d++)
        a->length[d] = b->length[d] = d == 0 ? 10 : 0;
    struct sp_similarity_options o;
    sp_similarity_options_default(&o);
    CU_ASSERT_DOUBLE_EQUAL(sp_lcs_ratio(a, b), 1.0 / 7, 1e-15);
    CU_ASSERT(sp_similar(&o, a, b, NULL)); /* only `combined` uses the sentences */
    o.method = SP_METHOD_COMBINED;
    o.band = 0;
    CU_ASSERT(sp_similar(&o, a, b, NULL));
    o.band = 0.1;
    CU_ASSERT(!sp_similar(&o, a, b, NULL));
    o.band = 0.01; /* 9/11 is above the band */
    CU_ASSERT(sp_similar(&o, a, b, NULL));
    sp_signature_unref(a);
    sp_signature_unref(b);
}

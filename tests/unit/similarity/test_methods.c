/* Each method against a direct computation on small random texts, and the guarantees that hold for
 * all methods. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "candidates/candidates.h"
#include "harness.h"
#include "page/builder.h"
#include "similarity/similarity.h"

enum { WORDS_MAX = 400, SENTENCES_MAX = 60, SENTENCE_WORDS = 6 };

/* A text: words as numbers, and the number of words in each sentence. */
struct text {
    uint64_t words[WORDS_MAX];
    size_t word_count;
    size_t sentences[SENTENCES_MAX];
    size_t sentence_count;
};

static uint64_t state = 99;

static uint64_t draw(uint64_t below)
{
    state = sp_mix64(state + 0x9e3779b97f4a7c15ull);
    return state % below;
}

static void add_sentence(struct text *t)
{
    size_t n = 1 + draw(SENTENCE_WORDS);
    if (t->sentence_count == SENTENCES_MAX || t->word_count + n > WORDS_MAX)
        return;
    for (size_t i = 0; i < n; i++)
        t->words[t->word_count++] = sp_mix64(1 + draw(draw(2) ? 12 : 300));
    t->sentences[t->sentence_count++] = n;
}

static void random_text(struct text *t)
{
    *t = (struct text){0};
    for (size_t n = draw(40); n > 0; n--)
        add_sentence(t);
}

/* A copy of `of` with some sentences changed, dropped or added. */
static void edit(const struct text *of, struct text *ret_text)
{
    const uint64_t *words = of->words;
    uint64_t rarely = 2 + draw(20);
    *ret_text = (struct text){0};
    for (size_t s = 0; s < of->sentence_count; words += of->sentences[s++]) {
        if (draw(rarely) == 0)
            add_sentence(ret_text);
        size_t n = of->sentences[s];
        if (draw(rarely) == 0 || ret_text->sentence_count == SENTENCES_MAX ||
            ret_text->word_count + n > WORDS_MAX)
            continue;
        memcpy(ret_text->words + ret_text->word_count, words, n * sizeof *words);
        if (draw(rarely) == 0)
            ret_text->words[ret_text->word_count] = sp_mix64(1000 + draw(100));
        ret_text->word_count += n;
        ret_text->sentences[ret_text->sentence_count++] = n;
    }
}

static struct sp_signature *sign(enum sp_method method, uint32_t kept, const struct text *t)
{
    struct sp_signature_options o = {
        .max_shingles = kept, .method = method, .max_sentences = SENTENCES_MAX};
    struct sp_builder *b = sp_builder_new(&o);
    const uint64_t *words = t->words;
    sp_builder_begin(b);
    for (size_t s = 0; s < t->sentence_count; words += t->sentences[s++]) {
        sp_builder_words(b, words, t->sentences[s]);
        for (size_t i = 0; i < t->sentences[s]; i++)
            sp_builder_stem(b, words[i]);
        sp_builder_sentence_end(b);
    }
    struct sp_signature *s = sp_builder_finish(b, 0);
    sp_builder_free(b);
    return s;
}

/* ---- direct computations ---- */

static bool contains(const uint64_t *names, size_t count, uint64_t name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

static int simhash_sum(const struct text *t, int bit)
{
    int sum = 0;
    for (size_t i = 0; i < t->word_count; i++)
        if (!contains(t->words, i, t->words[i]))
            sum += sp_mix64(t->words[i]) >> bit & 1 ? 1 : -1;
    return sum;
}

static double simhash_by_definition(const struct text *a, const struct text *b)
{
    int equal = 0;
    for (int bit = 0; bit < 64; bit++)
        equal += (simhash_sum(a, bit) > 0) == (simhash_sum(b, bit) > 0);
    return a->word_count && b->word_count ? equal / 64.0 : 0;
}

/* Each pair of equal words adds one to the product: n words that occur c times each add c * c. */
static double equal_words(const struct text *a, const struct text *b)
{
    double pairs = 0;
    for (size_t i = 0; i < a->word_count; i++)
        for (size_t k = 0; k < b->word_count; k++)
            pairs += a->words[i] == b->words[k];
    return pairs;
}

static double cosine_by_definition(const struct text *a, const struct text *b)
{
    double norms = equal_words(a, a) * equal_words(b, b);
    return norms > 0 ? equal_words(a, b) / sqrt(norms) : 0;
}

static size_t sentences_of(const struct text *t, uint64_t *ret_names)
{
    const uint64_t *words = t->words;
    for (size_t s = 0; s < t->sentence_count; words += t->sentences[s++])
        ret_names[s] = sp_hash64(words, t->sentences[s] * sizeof *words);
    return t->sentence_count;
}

static double sentences_by_definition(const struct text *a, const struct text *b)
{
    uint64_t x[SENTENCES_MAX], y[SENTENCES_MAX];
    size_t n = sentences_of(a, x), m = sentences_of(b, y);
    double shared = 0, all = 0;
    for (size_t i = 0; i < n; i++)
        if (!contains(x, i, x[i])) {
            shared += contains(y, m, x[i]);
            all++;
        }
    for (size_t i = 0; i < m; i++)
        all += !contains(y, i, y[i]) && !contains(x, n, y[i]);
    return all > 0 ? shared / all : 0;
}

static double lcs_of(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    static size_t table[SENTENCES_MAX + 1][SENTENCES_MAX + 1];
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++)
            table[i][k] = a[i - 1] == b[k - 1]                ? table[i - 1][k - 1] + 1
                          : table[i - 1][k] > table[i][k - 1] ? table[i - 1][k]
                                                              : table[i][k - 1];
    return n && m ? (double)table[n][m] : 0;
}

static double ratio_by_definition(const struct text *a, const struct text *b)
{
    uint64_t x[SENTENCES_MAX], y[SENTENCES_MAX];
    size_t n = sentences_of(a, x), m = sentences_of(b, y);
    double lcs = lcs_of(x, n, y, m);
    return n + m ? lcs / ((double)(n + m) - lcs) : 0;
}

static double lcs_by_definition(const struct text *a, const struct text *b)
{
    uint64_t x[SENTENCES_MAX], y[SENTENCES_MAX];
    size_t n = sentences_of(a, x), m = sentences_of(b, y);
    if (n == 0 || m == 0)
        return 0;
    double least = ratio_by_definition(a, b);
    double of_a = lcs_of(x + n / 4, n - n / 4 * 2, y, m) / (double)(n - n / 4 * 2);
    double of_b = lcs_of(y + m / 4, m - m / 4 * 2, x, n) / (double)(m - m / 4 * 2);
    return fmin(least, fmin(of_a, of_b));
}

static bool same_shingle(const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, SP_SHINGLE_WORDS * sizeof *a) == 0;
}

/* Both texts have at least one shingle. */
static double shingles_by_definition(const struct text *a, const struct text *b)
{
    double shared = 0, all = 0;
    for (int side = 0; side < 2; side++) {
        const struct text *t = side ? b : a, *other = side ? a : b;
        for (size_t i = 0; i + SP_SHINGLE_WORDS <= t->word_count; i++) {
            bool before = false, there = false;
            for (size_t k = 0; k < i; k++)
                before |= same_shingle(t->words + i, t->words + k);
            for (size_t k = 0; k + SP_SHINGLE_WORDS <= other->word_count; k++)
                there |= same_shingle(t->words + i, other->words + k);
            all += !before && (side == 0 || !there);
            shared += !before && there && side == 0;
        }
    }
    return all > 0 ? shared / all : 0;
}

/* ---- the tests ---- */

static double by_definition(enum sp_method method, const struct text *a, const struct text *b)
{
    switch (method) {
    case SP_METHOD_SIMHASH:
        return simhash_by_definition(a, b);
    case SP_METHOD_COSINE:
        return cosine_by_definition(a, b);
    case SP_METHOD_SENTENCES:
        return sentences_by_definition(a, b);
    case SP_METHOD_LCS:
        return lcs_by_definition(a, b);
    case SP_METHOD_SHINGLES:
    case SP_METHOD_COMBINED: /* differs only through its band, which has a test of its own */
    case SP_METHOD_COUNT:
        break;
    }
    return shingles_by_definition(a, b);
}

static void random_pair(struct text *ret_a, struct text *ret_b)
{
    do
        random_text(ret_a);
    while (ret_a->word_count < SP_SHINGLE_WORDS);
    do {
        if (draw(5))
            edit(ret_a, ret_b);
        else
            random_text(ret_b);
    } while (ret_b->word_count < SP_SHINGLE_WORDS);
}

TEST(each_measure_is_that_of_the_definition)
{
    for (enum sp_method method = 0; method < SP_METHOD_COUNT; method++) {
        struct sp_similarity_options o = {.method = method, .threshold = 0.5, .lcs_min = 0.5};
        size_t between = 0;
        for (int round = 0; round < 400; round++) {
            struct text a, b;
            random_pair(&a, &b);
            struct sp_signature *x = sign(method, 1024, &a), *y = sign(method, 1024, &b);
            double want = by_definition(method, &a, &b), got = sp_similarity(&o, x, y);
            CU_ASSERT_DOUBLE_EQUAL(got, want, 1e-12);
            CU_ASSERT_EQUAL(got, sp_similarity(&o, y, x));
            between += got > 0.1 && got < 1;
            sp_signature_unref(x);
            sp_signature_unref(y);
        }
        CU_ASSERT(between > 100);
    }
}

/* Symmetry, identity, early termination, and that F is the product of its parts. */
static void check_f(const struct sp_similarity_options *o, const struct sp_signature *a,
                    const struct sp_signature *b, size_t *ret_similar)
{
    double ab = -1, ba = -1;
    struct sp_candidate_rule rule = sp_candidate_rule(o->method, o->threshold);
    bool similar = sp_similar(o, a, b, &ab);
    bool want = a->shingle_total && b->shingle_total &&
                sp_similarity(o, a, b) + 1e-9 >= o->threshold &&
                (!sp_method_info(o->method)->by_candidates || sp_candidate_pair(&rule, a, b) ||
                 sp_id_eq(a->content_hash, b->content_hash));
    CU_ASSERT_EQUAL(similar, want);
    CU_ASSERT_EQUAL(sp_similar(o, b, a, &ba), similar);
    CU_ASSERT_EQUAL(ab, ba);
    CU_ASSERT_EQUAL(sp_similar(o, a, b, NULL), similar);
    CU_ASSERT_EQUAL(sp_similar(o, b, a, NULL), similar);
    CU_ASSERT_EQUAL(similar, ab >= 0);
    CU_ASSERT_EQUAL(sp_similar(o, a, a, NULL), a->shingle_total > 0);
    *ret_similar += similar;
}

TEST(f_is_symmetric_reflexive_and_its_measure_at_the_threshold)
{
    for (enum sp_method method = 0; method < SP_METHOD_COUNT; method++) {
        const struct sp_method_info *info = sp_method_info(method);
        size_t similar = 0;
        for (int round = 0; round < 1000; round++) {
            struct text a, b;
            random_text(&a);
            edit(&a, &b);
            double span = (double)draw(101) / 100 * (1 - info->least);
            struct sp_similarity_options o = {.method = method,
                                              .threshold = info->least + span,
                                              .band = (double)draw(4) / 10,
                                              .lcs_min = (double)draw(11) / 10};
            uint32_t kept = draw(3) ? 1024 : 40; /* capped at 40: an estimate */
            struct sp_signature *x = sign(method, kept, &a), *y = sign(method, kept, &b);
            check_f(&o, x, y, &similar);
            sp_signature_unref(x);
            sp_signature_unref(y);
        }
        CU_ASSERT(similar > 100);
        CU_ASSERT(similar < 900);
    }
}

TEST(the_band_of_combined_is_decided_by_the_sentences)
{
    size_t inside = 0, refused = 0;
    struct sp_similarity_options o = {
        .method = SP_METHOD_COMBINED, .threshold = 0.4, .band = 0.3, .lcs_min = 0.65};
    for (int round = 0; round < 2000; round++) {
        struct text a, b;
        random_pair(&a, &b);
        struct sp_signature *x = sign(o.method, 1024, &a), *y = sign(o.method, 1024, &b);
        double j = shingles_by_definition(&a, &b), lcs = ratio_by_definition(&a, &b);
        bool in_band = j >= 0.4 && j < 0.7;
        CU_ASSERT_EQUAL(sp_similar(&o, x, y, NULL),
                        fmin(j, sp_length_bound(x->length, y->length)) + 1e-9 >= 0.4 &&
                            (j >= 0.7 || lcs >= 0.65));
        inside += in_band;
        refused += in_band && lcs < 0.65;
        sp_signature_unref(x);
        sp_signature_unref(y);
    }
    CU_ASSERT(refused > 20);
    CU_ASSERT(inside > refused + 20);
}

TEST(a_capped_cosine_is_close)
{
    struct text a, b;
    struct sp_similarity_options o = {.method = SP_METHOD_COSINE, .threshold = 0.9};
    double worst = 0;
    for (int round = 0; round < 200; round++) {
        random_pair(&a, &b);
        struct sp_signature *x = sign(o.method, 100, &a), *y = sign(o.method, 100, &b);
        if (x->shingle_count < x->shingle_total)
            worst = fmax(worst, fabs(sp_similarity(&o, x, y) - cosine_by_definition(&a, &b)));
        sp_signature_unref(x);
        sp_signature_unref(y);
    }
    CU_ASSERT(worst < 0.1);
}

TEST(settings_that_a_method_cannot_keep_are_refused)
{
    for (enum sp_method method = 0; method < SP_METHOD_COUNT; method++) {
        const struct sp_method_info *info = sp_method_info(method);
        struct sp_similarity_options o = {.method = method, .threshold = info->threshold};
        struct sp_fault fault = {""};
        CU_ASSERT_EQUAL(sp_similarity_check(&o, 1, &fault), SP_OK);
        CU_ASSERT_EQUAL(sp_similarity_check(&o, 8, &fault), info->jaccard ? SP_OK : SP_INVALID);
        if (!info->jaccard)
            CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "partition.cells"));
        o.threshold = info->least - 0.01;
        CU_ASSERT_EQUAL(sp_similarity_check(&o, 1, &fault), SP_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "similarity.threshold"));
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, info->name));
        o.threshold = 1.01;
        CU_ASSERT_EQUAL(sp_similarity_check(&o, 1, &fault), SP_INVALID);
    }
}

/* Patterns by cosine and combined never rule out a similar page, and rule out nearly all that only
 * share a template, or only their shingles. */
#include "base/mem.h"
#include "harness.h"
#include "page/builder.h"
#include "stars/patterns.h"

enum { WORDS_MAX = 4000 };

static uint64_t state = 7;

static uint64_t draw(uint64_t below)
{
    state = sp_mix64(state + 0x9e3779b97f4a7c15ull);
    return state % below;
}

static struct sp_signature *sign_sentences(enum sp_method method, const uint64_t *words,
                                           size_t count, size_t each)
{
    struct sp_signature_options o = {
        .max_shingles = 1024, .method = method, .max_sentences = WORDS_MAX};
    struct sp_builder *b = sp_builder_new(&o);
    sp_builder_begin(b);
    for (size_t at = 0; at < count; at += each) {
        size_t n = count - at < each ? count - at : each;
        sp_builder_words(b, words + at, n);
        for (size_t i = 0; i < n; i++)
            sp_builder_stem(b, words[at + i]);
        sp_builder_sentence_end(b);
    }
    struct sp_signature *s = sp_builder_finish(b, 0);
    sp_builder_free(b);
    return s;
}

static struct sp_signature *sign(enum sp_method method, const uint64_t *words, size_t count)
{
    return sign_sentences(method, words, count, 8);
}

static enum sp_err no_signature(void *arg, uint32_t row, const struct sp_signature **ret)
{
    (void)arg, (void)row, (void)ret;
    return SP_STORE;
}

static uint64_t no_name(void *arg, uint32_t row)
{
    (void)arg, (void)row;
    return 0;
}

static struct sp_stars *stars_at(enum sp_method method, double threshold)
{
    struct sp_stars_options options = {.signature = no_signature, .name = no_name};
    sp_similarity_options_default(&options.similarity);
    options.similarity.method = method;
    options.similarity.threshold = threshold;
    return sp_stars_new(&options);
}

static bool excludes(struct sp_stars *s, const struct sp_signature *x, const struct sp_signature *y)
{
    const struct pattern_kind *kind = s->pattern_kind;
    if (!kind->possible(x) || !kind->possible(y))
        return false;
    void *pattern = kind->make(y);
    s->probe_known = 0;
    bool excluded = kind->exclude(s, x, y->shingle_count, pattern);
    sp_free(pattern);
    return excluded;
}

/* Some words occur often; those of the copy were replaced, dropped or repeated. */
static size_t random_words(uint64_t *words)
{
    size_t count = 1 + draw(draw(2) ? 40 : WORDS_MAX / 2), few = 1 + draw(20);
    for (size_t i = 0; i < count; i++)
        words[i] = sp_mix64(draw(3) ? draw(few) : draw(2000));
    return count;
}

static size_t edit(const uint64_t *words, size_t count, uint64_t *ret_words)
{
    uint64_t rarely = 2 + draw(200);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t way = draw(rarely);
        if (way != 0)
            ret_words[n++] = way == 1 ? sp_mix64(5000 + draw(500)) : words[i];
        if (way == 2)
            ret_words[n++] = words[i];
    }
    return n;
}

static bool is_similar(const struct sp_stars *s, const struct sp_signature *x,
                       const struct sp_signature *y)
{
    const struct sp_similarity_options *o = &s->options.similarity;
    return o->method == SP_METHOD_COSINE ? sp_similarity(o, x, y) >= o->threshold - 1e-9
                                         : sp_similar(o, x, y, NULL);
}

static void check(enum sp_method method, double threshold)
{
    struct sp_stars *s = stars_at(method, threshold);
    uint32_t similar = 0, excluded = 0;
    for (uint32_t round = 0; round < 400; round++) {
        uint64_t a[WORDS_MAX], b[WORDS_MAX];
        size_t n = random_words(a), m = draw(8) ? edit(a, n, b) : random_words(b);
        struct sp_signature *x = sign(method, a, n), *y = sign(method, b, m);
        bool out = excludes(s, x, y), near = is_similar(s, x, y);
        CU_ASSERT_FALSE(out && near);
        similar += near;
        excluded += out;
        sp_signature_unref(x);
        sp_signature_unref(y);
    }
    sp_stars_free(s);
    printf("at %.2f: %u similar, %u excluded\n", threshold, similar, excluded);
    CU_ASSERT(similar > 10 && excluded > 10);
}

TEST(a_pattern_excludes_no_similar_page)
{
    static const double cosines[] = {0.3, 0.7, 0.9, 0.98, 1}, combined[] = {0.3, 0.6, 0.7, 0.9};
    for (size_t i = 0; i < sizeof cosines / sizeof *cosines; i++)
        check(SP_METHOD_COSINE, cosines[i]);
    for (size_t i = 0; i < sizeof combined / sizeof *combined; i++)
        check(SP_METHOD_COMBINED, combined[i]);
}

/* J is 0.75, and each sentence of one page has a word that the other page does not have. */
TEST(patterns_exclude_nearly_all_pages_of_which_only_shingles_are_similar)
{
    enum { WORDS = 560, REPLACED = 16 };
    struct sp_stars *s = stars_at(SP_METHOD_COMBINED, 0.7);
    uint32_t kept = 0;
    for (uint32_t round = 0; round < 100; round++) {
        struct sp_signature *pages[2];
        uint64_t words[WORDS];
        double j;
        for (size_t i = 0; i < WORDS; i++)
            words[i] = sp_mix64(draw(UINT64_MAX));
        for (int page = 0; page < 2; page++) {
            for (size_t i = 0; page == 1 && i < REPLACED; i++)
                words[i * WORDS / REPLACED] = sp_mix64(draw(UINT64_MAX));
            pages[page] = sign_sentences(SP_METHOD_COMBINED, words, WORDS, WORDS / REPLACED);
        }
        j = sp_jaccard(pages[0], pages[1]);
        CU_ASSERT(j > 0.72 && j < 0.78);
        CU_ASSERT_FALSE(sp_similar(&s->options.similarity, pages[0], pages[1], NULL));
        kept += !excludes(s, pages[0], pages[1]);
        sp_signature_unref(pages[0]);
        sp_signature_unref(pages[1]);
    }
    printf("%u of 100 pairs not excluded\n", kept);
    CU_ASSERT(kept <= 10);
    sp_stars_free(s);
}

TEST(patterns_exclude_nearly_all_pages_that_share_three_quarters_of_their_words)
{
    static const size_t sizes[] = {20, 100, 500, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct sp_stars *s = stars_at(SP_METHOD_COSINE, 0.98);
        uint64_t words[WORDS_MAX];
        size_t count = sizes[i];
        uint32_t kept = 0;
        for (uint32_t round = 0; round < 100; round++) {
            struct sp_signature *pages[2];
            for (int page = 0; page < 2; page++) {
                for (size_t w = 0; w < count; w++)
                    words[w] = sp_mix64(w < count * 3 / 4 ? w : draw(UINT64_MAX));
                pages[page] = sign(SP_METHOD_COSINE, words, count);
            }
            kept += !excludes(s, pages[0], pages[1]);
            sp_signature_unref(pages[0]);
            sp_signature_unref(pages[1]);
        }
        printf("%u of 100 pairs of %zu words not excluded\n", kept, count);
        CU_ASSERT(kept <= 1);
        sp_stars_free(s);
    }
}

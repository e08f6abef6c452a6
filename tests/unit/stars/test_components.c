/* Components by the index of stars: those that comparing all finds (similarity/connected.h), with
 * comparisons that do not grow with the collection where sp_connected compares the members of each
 * component with those of the others. */
#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"
#include "page/builder.h"
#include "similarity/connected.h"
#include "stars/components.h"

static void check_equal(const struct sp_similarity_options *o, struct sp_signature *const *pages,
                        size_t count, uint64_t *ret_together)
{
    uint32_t *expected = sp_alloc((count + 1) * sizeof *expected);
    uint32_t *found = sp_alloc((count + 1) * sizeof *found);
    CU_ASSERT_EQUAL(sp_connected(o, pages, count, expected, NULL), SP_OK);
    CU_ASSERT_EQUAL(sp_stars_components(o, pages, count, found, NULL), SP_OK);
    CU_ASSERT(memcmp(found, expected, count * sizeof *found) == 0);
    for (size_t i = 0; i < count; i++)
        *ret_together += found[i] != i;
    sp_free(expected);
    sp_free(found);
}

/* ---- texts that copy one another ---- */

enum { PAGES = 600, WORDS_MOST = 120 };

static void make_copies(uint64_t seed, enum sp_method method, uint32_t max_shingles,
                        struct sp_signature **pages)
{
    static uint64_t words[PAGES][WORDS_MOST];
    size_t lengths[PAGES];
    struct sp_signature_options o = {.method = method, .max_shingles = max_shingles};
    struct sp_builder *b = sp_builder_new(&o);
    uint64_t random = sp_mix64(seed + 1);
    for (size_t p = 0; p < PAGES; p++) {
        random = sp_mix64(random + p);
        size_t source = p ? random % p : 0;
        bool copy = p > 0 && random >> 60 < 13;
        lengths[p] = copy                ? lengths[source]
                     : random >> 32 & 15 ? 10 + (random >> 40) % (WORDS_MOST - 10)
                                         : 0;
        uint64_t edits = random >> 20 & 31;
        for (size_t i = 0; i < lengths[p]; i++) {
            uint64_t r = sp_mix64(random + i * 77);
            bool edited = copy && r % 100 < edits / 5;
            words[p][i] = copy && !edited ? words[source][i] : sp_mix64((r >> 20) % 400);
        }
        sp_builder_begin(b);
        sp_builder_words(b, words[p], lengths[p]);
        pages[p] = sp_builder_finish(b, 0);
    }
    sp_builder_free(b);
}

static void check_copies(enum sp_method method, double threshold, uint32_t max_shingles)
{
    struct sp_similarity_options o = {.method = method, .threshold = threshold, .lcs_min = 0.5};
    uint64_t together = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct sp_signature *pages[PAGES];
        make_copies(seed, method, max_shingles, pages);
        check_equal(&o, pages, PAGES, &together);
        for (size_t i = 0; i < PAGES; i++)
            sp_signature_unref(pages[i]);
    }
    CU_ASSERT(together > 100);
}

TEST(components_are_those_of_a_comparison_from_scratch)
{
    check_copies(SP_METHOD_SHINGLES, 0.8, 1024);
    check_copies(SP_METHOD_SHINGLES, 0.5, 1024);
    check_copies(SP_METHOD_SHINGLES, 1.0, 1024);
    check_copies(SP_METHOD_SHINGLES, 0.8, 24);
    check_copies(SP_METHOD_SIMHASH, 61.0 / 64, 1024);
    check_copies(SP_METHOD_COSINE, 0.9, 1024);
}

TEST(no_pages_are_no_components)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    CU_ASSERT_EQUAL(sp_stars_components(&o, NULL, 0, NULL, NULL), SP_OK);
}

/* ---- edited in two of nine places ---- */

enum { WORDS = 200, PLACES = 9, RUN = 6, APART = RUN + 4, FEW = 1500 };

/* Pages with runs of own words at two places of one text, similar if both places are equal: 36
 * components. */
static struct sp_signature **make_edited(size_t count)
{
    struct sp_signature **pages = sp_alloc(count * sizeof(struct sp_signature *));
    struct sp_signature_options o = {.max_shingles = 1024};
    struct sp_builder *b = sp_builder_new(&o);
    uint64_t words[WORDS];
    for (size_t p = 0; p < count; p++) {
        size_t pair = sp_mix64(p + 1) % (PLACES * (PLACES - 1) / 2), second = 1;
        for (; pair >= second; second++)
            pair -= second;
        for (size_t i = 0; i < WORDS; i++)
            words[i] = sp_mix64(i);
        for (size_t i = 0; i < RUN; i++) {
            words[WORDS / 2 + pair * APART + i] = sp_mix64(p << 32 | i);
            words[WORDS / 2 + second * APART + i] = sp_mix64(p << 32 | (RUN + i));
        }
        sp_builder_begin(b);
        sp_builder_words(b, words, WORDS);
        pages[p] = sp_builder_finish(b, 0);
    }
    sp_builder_free(b);
    return pages;
}

TEST(members_of_many_components_of_one_text_are_not_compared_with_one_another)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    double compared[2] = {0};
    for (int k = 0; k < 2; k++) {
        size_t count = k ? 4 * FEW : FEW, components = 0;
        struct sp_signature **pages = make_edited(count);
        uint32_t *first = sp_alloc(count * sizeof *first);
        struct sp_stars_stats stats;
        CU_ASSERT_EQUAL(sp_stars_components(&o, pages, count, first, &stats), SP_OK);
        for (size_t i = 0; i < count; i++)
            components += first[i] == i;
        CU_ASSERT_EQUAL(components, PLACES * (PLACES - 1) / 2);
        compared[k] = (double)stats.verified / (double)count;
        printf("%.1f compared a page of %zu\n", compared[k], count);
        for (size_t i = 0; i < count; i++)
            sp_signature_unref(pages[i]);
        sp_free(pages);
        sp_free(first);
    }
    CU_ASSERT(compared[1] <= 40);
    CU_ASSERT(compared[1] <= 1.2 * compared[0] + 4);
}

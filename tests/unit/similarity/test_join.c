/* The exact join against a comparison of all pairs. */
#include <stdlib.h>

#include "base/mem.h"
#include "harness.h"
#include "page/builder.h"
#include "similarity/join.h"

enum { PAGES = 220 };

struct pairs {
    uint8_t found[PAGES][PAGES];
    size_t count;
};

static void note(void *arg, size_t i, size_t j, double similarity)
{
    struct pairs *p = arg;
    CU_ASSERT(i < j && similarity > 0);
    CU_ASSERT(!p->found[i][j]); /* reported only once */
    p->found[i][j] = 1;
    p->count++;
}

/* Texts of a small vocabulary that copy one another, so that there are pairs of every similarity.
 */
static void make_pages(uint64_t seed, uint32_t max_shingles, struct sp_signature **pages)
{
    static uint64_t words[PAGES][120];
    size_t lengths[PAGES];
    struct sp_signature_options o = {.max_shingles = max_shingles,
                                     .repeats = seed % 2 ? SP_REPEATS_ONCE : SP_REPEATS_LABELLED};
    struct sp_builder *b = sp_builder_new(&o);
    uint64_t random = sp_mix64(seed + 1);
    for (size_t p = 0; p < PAGES; p++) {
        random = sp_mix64(random + p);
        size_t source = p ? random % p : 0;
        bool copy = p > 0 && random >> 60 < 11;
        lengths[p] = copy ? lengths[source] : random >> 32 & 15 ? 10 + (random >> 40) % 110 : 0;
        uint64_t edits = random >> 20 & 31;
        for (size_t i = 0; i < lengths[p]; i++) {
            uint64_t r = sp_mix64(random + i * 77);
            bool edited = copy && r % 100 < edits / 4;
            words[p][i] = copy && !edited ? words[source][i] : sp_mix64((r >> 20) % 400);
        }
        sp_builder_begin(b);
        sp_builder_words(b, words[p], lengths[p]);
        pages[p] = sp_builder_finish(b, 0);
    }
    sp_builder_free(b);
}

static void check(double threshold, uint32_t max_shingles)
{
    static struct pairs all, some;
    struct sp_similarity_options o = {.threshold = threshold, .lcs_min = 0.5};
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct sp_signature *pages[PAGES];
        size_t expected = 0;
        memset(&all, 0, sizeof all);
        memset(&some, 0, sizeof some);
        make_pages(seed, max_shingles, pages);
        CU_ASSERT_EQUAL(sp_join(&o, pages, PAGES, false, note, &all), SP_OK);
        CU_ASSERT_EQUAL(sp_join(&o, pages, PAGES, true, note, &some), SP_OK);
        for (size_t i = 0; i < PAGES; i++)
            for (size_t j = i + 1; j < PAGES; j++) {
                bool similar = sp_similar(&o, pages[i], pages[j], NULL);
                expected += similar;
                CU_ASSERT_EQUAL(similar, all.found[i][j]);
                CU_ASSERT(!some.found[i][j] || similar);
            }
        CU_ASSERT_EQUAL(all.count, expected);
        CU_ASSERT(expected > 20);
        CU_ASSERT(some.count <= all.count);
        for (size_t i = 0; i < PAGES; i++)
            sp_signature_unref(pages[i]);
    }
}

TEST(the_join_finds_exactly_the_pairs_that_comparing_all_finds)
{
    check(0.8, 1024);
    check(0.5, 1024);
    check(0.9, 1024);
    check(1.0, 1024);
}

TEST(the_join_is_exact_for_capped_signatures_too)
{
    check(0.8, 24);
    check(0.6, 40);
}

TEST(an_empty_join_has_no_pairs)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    CU_ASSERT_EQUAL(sp_join(&o, NULL, 0, false, note, NULL), SP_OK);
}

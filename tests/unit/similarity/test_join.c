/* The exact join, the components and the look-up, each against a comparison of all pairs. */
#include <stdlib.h>

#include "base/mem.h"
#include "harness.h"
#include "page/builder.h"
#include "similarity/connected.h"
#include "similarity/finder.h"
#include "similarity/join.h"
#include "similarity/prefix.h"

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
static void make_pages(uint64_t seed, enum sp_method method, uint32_t max_shingles,
                       struct sp_signature **pages)
{
    static uint64_t words[PAGES][120];
    size_t lengths[PAGES];
    struct sp_signature_options o = {.method = method,
                                     .max_shingles = max_shingles,
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
    static struct pairs all;
    struct sp_similarity_options o = {.threshold = threshold, .lcs_min = 0.5};
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct sp_signature *pages[PAGES];
        size_t expected = 0;
        memset(&all, 0, sizeof all);
        make_pages(seed, SP_METHOD_SHINGLES, max_shingles, pages);
        CU_ASSERT_EQUAL(sp_join(&o, pages, PAGES, note, &all, NULL), SP_OK);
        for (size_t i = 0; i < PAGES; i++)
            for (size_t j = i + 1; j < PAGES; j++) {
                bool similar = sp_similar(&o, pages[i], pages[j], NULL);
                expected += similar;
                CU_ASSERT_EQUAL(similar, all.found[i][j]);
            }
        CU_ASSERT_EQUAL(all.count, expected);
        CU_ASSERT(expected > 20);
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
    CU_ASSERT_EQUAL(sp_join(&o, NULL, 0, note, NULL, NULL), SP_OK);
}

/* Pages of a template: of 150 words, all but the last 24 are shared, so J = 0.72. */
static uint64_t comparisons_of_template(size_t count)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    struct sp_signature *pages[PAGES];
    struct sp_builder *b = sp_builder_new(&(struct sp_signature_options){.max_shingles = 1024});
    struct sp_join_stats stats = {0};
    for (size_t p = 0; p < count; p++) {
        uint64_t words[150];
        for (size_t i = 0; i < 150; i++)
            words[i] = sp_mix64(i < 126 ? i : 1000 * (p + 1) + i);
        sp_builder_begin(b);
        sp_builder_words(b, words, 150);
        pages[p] = sp_builder_finish(b, 0);
    }
    CU_ASSERT_EQUAL(sp_join(&o, pages, count, note, NULL, &stats), SP_OK);
    for (size_t p = 0; p < count; p++)
        sp_signature_unref(pages[p]);
    sp_builder_free(b);
    return stats.compared;
}

TEST(pages_that_share_a_template_below_the_threshold_are_not_compared)
{
    CU_ASSERT_EQUAL(comparisons_of_template(50), 0);
    CU_ASSERT_EQUAL(comparisons_of_template(200), 0);
}

/* ---- components ---- */

static uint32_t root(const uint32_t *set, uint32_t page)
{
    while (set[page] != page)
        page = set[page];
    return page;
}

/* The first page of each component, from all pairs. Returns how many pages are not alone. */
static size_t components(const struct sp_similarity_options *o, struct sp_signature *const *pages,
                         uint32_t *ret_first)
{
    size_t together = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        ret_first[i] = i;
    for (uint32_t i = 0; i < PAGES; i++)
        for (uint32_t j = i + 1; j < PAGES; j++)
            if (sp_similar(o, pages[i], pages[j], NULL)) {
                uint32_t a = root(ret_first, i), b = root(ret_first, j);
                ret_first[a > b ? a : b] = a > b ? b : a;
            }
    for (uint32_t i = 0; i < PAGES; i++) {
        ret_first[i] = root(ret_first, i);
        together += ret_first[i] != i;
    }
    return together;
}

static void check_components(enum sp_method method, double threshold, uint32_t max_shingles)
{
    struct sp_similarity_options o = {.method = method, .threshold = threshold, .lcs_min = 0.5};
    size_t together = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct sp_signature *pages[PAGES];
        uint32_t expected[PAGES], found[PAGES];
        struct sp_connected_stats stats = {0};
        make_pages(seed, method, max_shingles, pages);
        together += components(&o, pages, expected);
        CU_ASSERT_EQUAL(sp_connected(&o, pages, PAGES, found, &stats), SP_OK);
        CU_ASSERT(memcmp(found, expected, sizeof found) == 0);
        CU_ASSERT(stats.compared < PAGES * PAGES / 2);
        for (size_t i = 0; i < PAGES; i++)
            sp_signature_unref(pages[i]);
    }
    CU_ASSERT(together > 100);
}

TEST(the_components_are_those_of_all_pairs)
{
    check_components(SP_METHOD_SHINGLES, 0.8, 1024);
    check_components(SP_METHOD_SHINGLES, 0.5, 1024);
    check_components(SP_METHOD_SHINGLES, 0.9, 1024);
    check_components(SP_METHOD_SHINGLES, 1.0, 1024);
    check_components(SP_METHOD_SHINGLES, 0.8, 24);
    check_components(SP_METHOD_SHINGLES, 0.6, 40);
    check_components(SP_METHOD_SIMHASH, 61.0 / 64, 1024);
    check_components(SP_METHOD_COSINE, 0.9, 1024);
}

TEST(no_pages_have_no_components)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    CU_ASSERT_EQUAL(sp_connected(&o, NULL, 0, NULL, NULL), SP_OK);
}

/* ---- look-up ---- */

static void check_lookup(enum sp_method method, double threshold, uint32_t max_shingles)
{
    struct sp_similarity_options o = {.method = method, .threshold = threshold, .lcs_min = 0.5};
    size_t found = 0, similar = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct sp_signature *pages[PAGES];
        uint32_t all[PAGES];
        make_pages(seed, method, max_shingles, pages);
        for (uint32_t i = 0; i < PAGES; i++)
            all[i] = i;
        struct sp_finder *l = sp_finder_new(&o, pages, PAGES);
        CU_ASSERT_EQUAL(sp_finder_begin(l, all, PAGES), SP_OK);
        for (uint32_t i = 0; i < PAGES; i++) {
            const uint32_t *added;
            size_t count = sp_finder_find(l, i, &added), at = 0;
            for (uint32_t j = 0; j < i; j++) {
                bool listed = at < count && added[at] == j;
                CU_ASSERT(listed || !sp_similar(&o, pages[i], pages[j], NULL));
                similar += sp_similar(&o, pages[i], pages[j], NULL);
                at += listed;
            }
            CU_ASSERT_EQUAL(at, count); /* ascending, each once */
            found += count;
            sp_finder_add(l, i);
        }
        sp_finder_free(l);
        for (size_t i = 0; i < PAGES; i++)
            sp_signature_unref(pages[i]);
    }
    CU_ASSERT(similar > 20);
    CU_ASSERT(found < 6 * PAGES * PAGES / 4);
}

TEST(a_lookup_misses_no_similar_page)
{
    check_lookup(SP_METHOD_SHINGLES, 0.8, 1024);
    check_lookup(SP_METHOD_SHINGLES, 0.8, 24);
    check_lookup(SP_METHOD_SIMHASH, 61.0 / 64, 1024);
}

/* Of shingles that are equally rare, those with the smallest hashes are posted, so nearly all keys
 * of unlike pages lie in one part of their range. A table that keeps that order needs 10^10 steps
 * here, and this test would not end in time. */
TEST(an_index_has_room_for_shingles_of_one_part_of_their_range)
{
    enum { KEYS = 1 << 18 };
    struct sp_prefix_index x;
    sp_prefix_index_init(&x, KEYS);
    for (uint32_t i = 0; i < KEYS; i++)
        CU_ASSERT_EQUAL(sp_prefix_index_add(&x, 64 * i, i), 0);
    for (uint32_t i = 0; i < KEYS; i++)
        CU_ASSERT_EQUAL(sp_prefix_index_find(&x, 64 * i), i + 1);
    CU_ASSERT_EQUAL(sp_prefix_index_find(&x, 1), 0);
    sp_prefix_index_done(&x);
}

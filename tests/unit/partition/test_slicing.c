/* The paper's slicing and packing, and sub-dictionaries from words. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "harness.h"
#include "partition/grid.h"
#include "partition/train.h"
#include "partition/words.h"

TEST(fine_intervals_are_those_of_the_papers_example)
{
    static const uint32_t want[] = {1, 2, 3, 4, 6, 8, 11}; /* … [6,8) [8,10] */
    uint32_t edges[SP_GRID_FINE + 1];
    CU_ASSERT_EQUAL_FATAL(sp_grid_fine(1, 10, 0.8, edges), 6);
    CU_ASSERT_EQUAL(memcmp(edges, want, sizeof want), 0);
    CU_ASSERT_EQUAL(sp_grid_fine(7, 7, 0.8, edges), 1);
    CU_ASSERT_EQUAL(sp_grid_fine(1, 1000, 1, edges), 1000);
}

TEST(a_page_reaches_no_further_than_the_fine_interval_beside_its_own)
{
    static const double taus[] = {0.5, 0.77, 0.8, 0.9, 0.99};
    uint32_t edges[SP_GRID_FINE + 1];
    for (size_t t = 0; t < sizeof taus / sizeof *taus; t++) {
        uint32_t count = sp_grid_fine(1, 100000, taus[t], edges);
        CU_ASSERT_EQUAL(edges[count], 100001);
        for (uint32_t i = 0; i + 1 < count; i++) {
            CU_ASSERT((double)edges[i] / edges[i + 1] < taus[t]);
            CU_ASSERT((double)edges[i] / (edges[i + 1] - 1) >= taus[t] - 1e-9);
        }
    }
}

static void check_merged(const uint64_t *fine, uint32_t count, const uint64_t *want, uint32_t parts)
{
    uint32_t first[16];
    CU_ASSERT_EQUAL_FATAL(sp_grid_merge(fine, count, parts, first), parts);
    CU_ASSERT_EQUAL(first[0], 0);
    for (uint32_t j = 0; j < parts; j++) {
        uint64_t sum = 0;
        for (uint32_t i = first[j]; i < (j + 1 < parts ? first[j + 1] : count); i++)
            sum += fine[i];
        CU_ASSERT_EQUAL(sum, want[j]);
    }
}

/* The second input has a fine interval that is overfull and cannot be cut. */
TEST(merged_intervals_have_the_counts_of_the_papers_examples)
{
    static const uint64_t fine[] = {2, 3, 4, 5, 2, 1}, want[] = {5, 4, 5, 3};
    static const uint64_t full[] = {2, 3, 4, 10, 2, 1}, want_full[] = {5, 4, 10, 3};
    check_merged(fine, 6, want, 4);
    check_merged(full, 6, want_full, 4);
}

TEST(merging_makes_no_more_intervals_than_there_are_fine_ones)
{
    static const uint64_t fine[] = {7, 0, 9};
    uint32_t first[8];
    CU_ASSERT_EQUAL(sp_grid_merge(fine, 3, 8, first), 3);
    CU_ASSERT_EQUAL(first[0], 0);
    CU_ASSERT_EQUAL(first[2], 2);
}

/* Memory from malloc is not zero. glibc fills it with nonzero bytes here, except for blocks from a
 * thread's own cache; with another allocator the call has no effect. */
TEST(merging_does_not_depend_on_what_lay_in_memory)
{
    enum { FINE = 200, PARTS = 4 };
    uint64_t fine[FINE], want[PARTS];
    for (uint32_t i = 0; i < FINE; i++)
        fine[i] = 1;
    for (uint32_t j = 0; j < PARTS; j++)
        want[j] = FINE / PARTS;
    mallopt(M_PERTURB, 0x80);
    check_merged(fine, FINE, want, PARTS);
    mallopt(M_PERTURB, 0);
}

enum { PAGES = 6000 };

static struct sp_lengths *some_pages(void)
{
    struct sp_lengths *pages = sp_calloc(PAGES, sizeof *pages);
    for (uint32_t i = 0; i < PAGES; i++) {
        uint64_t r = sp_mix64(i);
        uint32_t total = (20u << r % 7) + (uint32_t)(r >> 8) % (20u << r % 7);
        pages[i].at[0] = total / 4 + (uint32_t)(r >> 40) % (total / 4);
        pages[i].at[1] = (total - pages[i].at[0]) / 3;
        pages[i].at[2] = total - pages[i].at[0] - pages[i].at[1];
    }
    return pages;
}

TEST(grids_of_every_dimension_lose_nothing_and_have_at_most_the_cells_asked_for)
{
    struct sp_lengths *pages = some_pages();
    for (uint32_t dims = 1; dims <= SP_DIMS; dims++) {
        struct sp_dictionary dictionary;
        struct sp_partition_map map;
        struct sp_train_options o;
        sp_train_options_default(&o);
        o.slicing = SP_SLICING_GRID;
        o.dims = dims;
        o.cells = 64;
        o.machines = 0;
        CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, NULL, 0, &dictionary), SP_OK);
        CU_ASSERT_EQUAL_FATAL(sp_partition_train(&o, pages, PAGES, &dictionary, &map), SP_OK);
        CU_ASSERT(map.cells > 15 && map.cells <= 64);
        CU_ASSERT(dims != 3 || map.cells == 64);
        uint64_t sum = 0;
        for (uint32_t c = 0; c < map.cells; c++)
            sum += map.load[c];
        CU_ASSERT_EQUAL(sum, PAGES);
        sp_partition_done(&map);
    }
    sp_free(pages);
}

static double imbalance(enum sp_packing packing, const struct sp_lengths *pages,
                        double *ret_contacts)
{
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    struct sp_partition_measure m;
    struct sp_train_options o;
    sp_train_options_default(&o);
    o.slicing = SP_SLICING_GRID;
    o.cells = 512;
    o.machines = 4;
    o.packing = packing;
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, NULL, 0, &dictionary), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_train(&o, pages, PAGES, &dictionary, &map), SP_OK);
    CU_ASSERT_EQUAL(map.machines, 4);
    sp_partition_measure(&map, pages, PAGES, 0.9, SP_ROUTING_LOSSLESS, 1, &m);
    double result = m.imbalance;
    *ret_contacts = m.contacts_mean;
    sp_partition_measure_done(&m);
    sp_partition_done(&map);
    return result;
}

TEST(balanced_packing_evens_loads_and_neighbours_spare_visits)
{
    double contacts[2];
    struct sp_lengths *pages = some_pages();
    double neighbours = imbalance(SP_PACKING_NEIGHBOURS, pages, &contacts[0]);
    double balanced = imbalance(SP_PACKING_BALANCED, pages, &contacts[1]);
    CU_ASSERT(balanced < 1.1);
    CU_ASSERT(neighbours > balanced);
    CU_ASSERT(contacts[0] < contacts[1]);
    sp_free(pages);
}

/* ---- words ---- */

enum { BAGS = 300, SITES = 3, SITE_WORDS = 200 };

/* Pages of a few sites, each with words of its own among common ones. */
static void make_bags(struct sp_bag **bags)
{
    for (uint32_t p = 0; p < BAGS; p++) {
        uint64_t words[600];
        uint32_t count = 300 + p;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t r = sp_mix64(p * 1000 + i), site = p % SITES + 1;
            words[i] = sp_mix64(r % 3 ? site * 100000 + (r >> 8) % SITE_WORDS : (r >> 8) % 50);
        }
        bags[p] = sp_bag_new(words, count);
    }
}

static void free_bags(struct sp_bag **bags)
{
    for (uint32_t p = 0; p < BAGS; p++)
        sp_free(bags[p]);
}

TEST(a_bag_counts_each_word)
{
    uint64_t words[] = {7ull << 40, 5ull << 40, 7ull << 40, 7ull << 40};
    struct sp_bag *bag = sp_bag_new(words, 4);
    CU_ASSERT_EQUAL(bag->total, 4);
    CU_ASSERT_EQUAL_FATAL(bag->pairs, 2);
    CU_ASSERT(bag->words[0] == 5 << 6 && bag->words[1] == 1);
    CU_ASSERT(bag->words[2] == 7 << 6 && bag->words[3] == 3);
    sp_free(bag);
    bag = sp_bag_new(words, 0);
    CU_ASSERT_EQUAL(bag->pairs, 0);
    sp_free(bag);
}

static void shares(struct sp_bag *const *bags, const struct sp_dictionary *d, uint64_t ret_sum[3])
{
    memset(ret_sum, 0, 3 * sizeof *ret_sum);
    for (uint32_t p = 0; p < BAGS; p++) {
        uint32_t length[SP_DIMS];
        sp_bag_lengths(bags[p], d, length);
        CU_ASSERT_EQUAL(length[0] + length[1] + length[2], bags[p]->total);
        for (int i = 0; i < SP_DIMS; i++)
            ret_sum[i] += length[i];
    }
}

TEST(balanced_dictionaries_have_equal_shares_of_the_words)
{
    struct sp_bag *bags[BAGS];
    struct sp_dictionary d;
    uint64_t sum[3];
    make_bags(bags);
    CU_ASSERT_EQUAL_FATAL(sp_words_train(SP_WORDS_BALANCED, 3, 10000, bags, BAGS, &d), SP_OK);
    CU_ASSERT_EQUAL(d.count, SITES * SITE_WORDS + 50);
    shares(bags, &d, sum);
    for (int i = 0; i < 3; i++)
        CU_ASSERT(sum[i] * 3 > (sum[0] + sum[1] + sum[2]) * 0.98);
    sp_dictionary_done(&d);
    CU_ASSERT_EQUAL_FATAL(sp_words_train(SP_WORDS_BALANCED, 2, 10000, bags, BAGS, &d), SP_OK);
    shares(bags, &d, sum);
    CU_ASSERT_EQUAL(sum[2], 0);
    CU_ASSERT(sum[0] * 2 > (sum[0] + sum[1]) * 0.98 && sum[1] * 2 > (sum[0] + sum[1]) * 0.98);
    sp_dictionary_done(&d);
    free_bags(bags);
}

TEST(a_spread_dictionary_gives_each_site_a_dimension_of_its_own)
{
    struct sp_bag *bags[BAGS];
    struct sp_dictionary d;
    uint32_t of_site[SITES];
    make_bags(bags);
    CU_ASSERT_EQUAL_FATAL(sp_words_train(SP_WORDS_SPREAD, 3, 10000, bags, BAGS, &d), SP_OK);
    for (uint32_t p = 0; p < BAGS; p++) {
        uint32_t length[SP_DIMS], main = 0;
        sp_bag_lengths(bags[p], &d, length);
        for (uint32_t i = 1; i < SP_DIMS; i++)
            if (length[i] > length[main])
                main = i;
        CU_ASSERT(length[main] > bags[p]->total * 0.6);
        if (p < SITES)
            of_site[p] = main;
        CU_ASSERT_EQUAL(of_site[p % SITES], main);
    }
    CU_ASSERT(of_site[0] != of_site[1] && of_site[1] != of_site[2] && of_site[0] != of_site[2]);
    sp_dictionary_done(&d);
    free_bags(bags);
}

TEST(dictionaries_do_not_depend_on_the_order_of_the_pages)
{
    struct sp_bag *bags[BAGS], *other[BAGS];
    make_bags(bags);
    for (uint32_t p = 0; p < BAGS; p++)
        other[p] = bags[(p * 7 + 3) % BAGS];
    for (int rule = SP_WORDS_SPREAD; rule <= SP_WORDS_BY_HASH; rule++) {
        struct sp_dictionary a, b;
        CU_ASSERT_EQUAL_FATAL(sp_words_train(rule, 3, 100, bags, BAGS, &a), SP_OK);
        CU_ASSERT_EQUAL_FATAL(sp_words_train(rule, 3, 100, other, BAGS, &b), SP_OK);
        CU_ASSERT_EQUAL(a.count, rule == SP_WORDS_BY_HASH ? 0 : 100);
        CU_ASSERT_EQUAL(a.fingerprint, b.fingerprint);
        CU_ASSERT_EQUAL(a.fingerprint == 0, rule == SP_WORDS_BY_HASH);
        sp_dictionary_done(&a);
        sp_dictionary_done(&b);
    }
    free_bags(bags);
}

/* A state can be used only with the dictionary that it was made with. Change these numbers only if
 * training is meant to change. */
TEST(dictionaries_of_the_same_pages_stay_the_same_from_version_to_version)
{
    static const uint64_t expected[][2] = {
        {0x44b7d613, 0xc37dd8e7}, {0x98089a53, 0x0f09e7f5}}; /* by rule; for 2 and 3 dimensions */
    struct sp_bag *bags[BAGS];
    make_bags(bags);
    for (int rule = SP_WORDS_SPREAD; rule <= SP_WORDS_BALANCED; rule++)
        for (uint32_t dims = 2; dims <= 3; dims++) {
            struct sp_dictionary d;
            CU_ASSERT_EQUAL_FATAL(sp_words_train(rule, dims, 500, bags, BAGS, &d), SP_OK);
            if (d.fingerprint != expected[rule][dims - 2])
                printf("%d %u: 0x%016llx\n", rule, dims, (unsigned long long)d.fingerprint);
            CU_ASSERT_EQUAL(d.fingerprint, expected[rule][dims - 2]);
            sp_dictionary_done(&d);
        }
    free_bags(bags);
}

/* Three words, each in its own dimension; the last one of a bag counts like the first. */
TEST(the_lengths_of_a_bag_count_every_word_in_its_dimension)
{
    uint64_t words[] = {5ull << 40, 7ull << 40, 7ull << 40, 9ull << 40};
    uint32_t entries[] = {(5u << 6) << 2 | 1, (7u << 6) << 2 | 2, (9u << 6) << 2 | 3};
    uint32_t length[SP_DIMS];
    struct sp_dictionary d;
    struct sp_bag *bag = sp_bag_new(words, 4);
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, entries, 3, &d), SP_OK);
    sp_bag_lengths(bag, &d, length);
    CU_ASSERT_EQUAL(length[0], 1);
    CU_ASSERT_EQUAL(length[1], 2);
    CU_ASSERT_EQUAL(length[2], 1);
    sp_dictionary_done(&d);
    sp_free(bag);
}

TEST(pages_without_words_make_a_dictionary_without_words)
{
    struct sp_bag *bag = sp_bag_new(NULL, 0);
    struct sp_dictionary d;
    CU_ASSERT_EQUAL_FATAL(sp_words_train(SP_WORDS_SPREAD, 3, 100, &bag, 1, &d), SP_OK);
    CU_ASSERT_EQUAL(d.count, 0);
    sp_dictionary_done(&d);
    CU_ASSERT_EQUAL(sp_words_train(SP_WORDS_SPREAD, 4, 100, &bag, 1, &d), SP_INVALID);
    sp_free(bag);
}

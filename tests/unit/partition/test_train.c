/* Training: loads are even, the map depends only on the pages, and routing loses no pair. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "harness.h"
#include "partition/maps.h"
#include "partition/rho.h"
#include "partition/train.h"
#include "similarity/similarity.h"

enum { PAGES = 20000 };

/* Lengths as in crawls: lognormal, a spike of equal ones, some empty pages. */
static struct sp_lengths *some_pages(uint64_t seed)
{
    struct sp_lengths *pages = sp_calloc(PAGES, sizeof *pages);
    for (uint32_t i = 0; i < PAGES; i++) {
        uint64_t r = sp_mix64(seed * PAGES + i);
        uint32_t total = 20u << r % 7;
        total += (uint32_t)(r >> 8) % total;
        if (i % 20 == 0)
            total = 300;
        if (i % 1000 == 1)
            total = 0;
        pages[i].at[0] = total / 3 + (uint32_t)(r >> 40) % (total / 9 + 1);
        pages[i].at[1] = (total - pages[i].at[0]) / 2;
        pages[i].at[2] = total - pages[i].at[0] - pages[i].at[1];
    }
    return pages;
}

static struct sp_partition_map train(const struct sp_train_options *o,
                                     const struct sp_lengths *pages)
{
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, NULL, 0, &dictionary), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_train(o, pages, PAGES, &dictionary, &map), SP_OK);
    return map;
}

TEST(loads_of_a_trained_map_are_even_for_any_number_of_cells)
{
    static const uint32_t cells[] = {1, 2, 3, 16, 37, 64, 100};
    struct sp_lengths *pages = some_pages(1);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct sp_train_options o;
        struct sp_partition_measure m;
        sp_train_options_default(&o);
        o.cells = o.machines = cells[i];
        struct sp_partition_map map = train(&o, pages);
        CU_ASSERT_EQUAL(map.cells, cells[i]);
        sp_partition_measure(&map, pages, PAGES, 0.9, SP_ROUTING_LOSSLESS, 1, &m);
        /* Short pages have few distinct vectors: about 50 pages share one. */
        CU_ASSERT(m.imbalance >= 1 && m.imbalance < (cells[i] < 50 ? 1.1 : 1.25));
        CU_ASSERT(m.cells_mean >= 1 && m.cells_mean <= cells[i]);
        CU_ASSERT(m.contacts_mean <= m.cells_mean - 1 + 1e-9);
        CU_ASSERT(cells[i] < 16 || m.saved > 0.5);
        sp_partition_measure_done(&m);
        sp_partition_done(&map);
    }
    sp_free(pages);
}

TEST(many_cells_pack_onto_few_machines_evenly)
{
    struct sp_lengths *pages = some_pages(2);
    struct sp_train_options o;
    sp_train_options_default(&o);
    o.cells = 256;
    o.machines = 10;
    struct sp_partition_map map = train(&o, pages);
    struct sp_partition_measure m;
    CU_ASSERT_EQUAL(map.machines, 10);
    sp_partition_measure(&map, pages, PAGES, 0.9, SP_ROUTING_LOSSLESS, 1, &m);
    CU_ASSERT(m.imbalance < 1.1);
    for (uint32_t k = 0; k < 10; k++)
        CU_ASSERT(m.load[k] > 0);
    CU_ASSERT(m.contacts_mean < 9);
    sp_partition_measure_done(&m);
    sp_partition_done(&map);
    sp_free(pages);
}

TEST(training_depends_on_the_pages_and_not_on_their_order)
{
    struct sp_lengths *pages = some_pages(3);
    struct sp_train_options o;
    sp_train_options_default(&o);
    struct sp_partition_map a = train(&o, pages);
    for (uint32_t i = 0; i < PAGES / 2; i++) {
        struct sp_lengths p = pages[i];
        pages[i] = pages[PAGES - 1 - i];
        pages[PAGES - 1 - i] = p;
    }
    struct sp_partition_map b = train(&o, pages);
    CU_ASSERT_EQUAL(sp_partition_fingerprint(&a), sp_partition_fingerprint(&b));
    sp_partition_done(&a);
    sp_partition_done(&b);
    sp_free(pages);
}

TEST(options_out_of_range_are_refused)
{
    struct sp_lengths page = {{1, 2, 3}};
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, NULL, 0, &dictionary), SP_OK);
    for (int which = 0; which < 7; which++) {
        struct sp_train_options o;
        sp_train_options_default(&o);
        o.dims = which == 0 ? 0 : which == 1 ? 4 : 3;
        o.cells = which == 2 ? 0 : which == 3 ? SP_MAX_CELLS + 1 : 64;
        o.machines = which == 4 ? 65 : 1;
        o.threshold = which == 5 ? 0 : 0.8;
        CU_ASSERT_EQUAL(sp_partition_train(&o, &page, which != 6, &dictionary, &map), SP_INVALID);
    }
    sp_dictionary_done(&dictionary);
}

TEST(one_page_alone_makes_a_map)
{
    struct sp_lengths page = {{100, 2, 3}};
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    struct sp_train_options o;
    sp_train_options_default(&o);
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, NULL, 0, &dictionary), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_train(&o, &page, 1, &dictionary, &map), SP_OK);
    CU_ASSERT_EQUAL(map.load[sp_partition_cell(&map, page.at)], 1);
    sp_partition_done(&map);
}

TEST(more_cells_than_vectors_leave_no_cell_empty)
{
    struct sp_lengths pages[600];
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    struct sp_train_options o;
    sp_train_options_default(&o);
    o.cells = o.machines = SP_MAX_CELLS;
    for (uint32_t i = 0; i < 600; i++)
        pages[i] = i % 2 ? (struct sp_lengths){{1, 1, 1}}
                         : (struct sp_lengths){{i / 2 % 4, i / 8 % 4, i / 32 % 4}};
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, NULL, 0, &dictionary), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_train(&o, pages, 600, &dictionary, &map), SP_OK);
    CU_ASSERT(map.cells >= 64 && map.cells < SP_MAX_CELLS);
    for (uint32_t c = 0; c < map.cells; c++)
        for (int axis = 0; axis < SP_AXES; axis++)
            CU_ASSERT(map.boxes[c].lo[axis] < map.boxes[c].hi[axis]);
    sp_partition_done(&map);
}

TEST(rho_follows_from_the_deviations_of_a_sample)
{
    /* 300 words in equal parts; 330 in parts of 110, 100 and 120; no words; one empty part. */
    static const struct sp_lengths pages[] = {
        {{100, 100, 100}}, {{110, 100, 120}}, {{0, 0, 0}}, {{30, 30, 0}}};
    CU_ASSERT_EQUAL(sp_rho_deviation(pages[0].at, 3), 0);
    CU_ASSERT_DOUBLE_EQUAL(sp_rho_deviation(pages[1].at, 3), 0.1, 1e-12); /* 330 / 300 - 1 */
    CU_ASSERT(isinf(sp_rho_deviation(pages[3].at, 3)));
    CU_ASSERT_EQUAL(sp_rho_deviation(pages[3].at, 2), 0);
    struct sp_rho r = sp_rho_of_sample(pages, 4, 3, 0.6); /* two of three pages with words */
    CU_ASSERT_DOUBLE_EQUAL(r.delta, 0.1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r.rho, 1.1 / 0.9, 1e-12);
    CU_ASSERT_EQUAL(sp_rho_of_sample(pages, 4, 3, 0).rho, 1);
    CU_ASSERT(isinf(sp_rho_of_sample(pages, 4, 3, 1).rho));
    CU_ASSERT_EQUAL(sp_rho_of_sample(pages + 2, 1, 3, 0.5).rho, 1);
    CU_ASSERT_EQUAL(sp_rho_of_sample(NULL, 0, 3, 0.5).rho, 1);
}

/* ---- golden maps ---- */

struct trained {
    enum sp_slicing slicing;
    enum sp_packing packing;
    uint32_t dims, cells, machines;
    uint64_t hash; /* sp_map_hash: boxes and machines */
};

/* Any version of the program partitions the same sample into the same map. Change these numbers
 * only if training is meant to change. */
TEST(maps_of_the_same_pages_stay_the_same_from_version_to_version)
{
    static const struct trained expected[] = {
        {SP_SLICING_KD, SP_PACKING_NEIGHBOURS, 3, 64, 64, 0xac911f2c6df18a58},
        {SP_SLICING_KD, SP_PACKING_NEIGHBOURS, 3, 100, 7, 0x8e55fa5522a0b07f},
        {SP_SLICING_KD, SP_PACKING_BALANCED, 3, 100, 7, 0xfa79e7591e697e09},
        {SP_SLICING_KD, SP_PACKING_NEIGHBOURS, 2, 37, 37, 0xf064a0c3276e90b1},
        {SP_SLICING_KD, SP_PACKING_NEIGHBOURS, 1, 16, 16, 0x624c15a7c7f2f10c},
        {SP_SLICING_GRID, SP_PACKING_NEIGHBOURS, 3, 64, 5, 0x6adbf94fa91f432e},
        {SP_SLICING_GRID, SP_PACKING_BALANCED, 3, 512, 4, 0x193e2269f61a961d},
        {SP_SLICING_GRID, SP_PACKING_NEIGHBOURS, 2, 49, 49, 0xf699d8a6d4de4600},
        {SP_SLICING_GRID, SP_PACKING_NEIGHBOURS, 1, 30, 30, 0xd418672ce2d00831}};
    struct sp_lengths *pages = some_pages(4);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct trained *e = &expected[i];
        struct sp_train_options o;
        sp_train_options_default(&o);
        o.slicing = e->slicing;
        o.packing = e->packing;
        o.dims = e->dims;
        o.cells = e->cells;
        o.machines = e->machines;
        struct sp_partition_map map = train(&o, pages);
        if (sp_map_hash(&map) != e->hash)
            printf("%zu: 0x%016llx\n", i, (unsigned long long)sp_map_hash(&map));
        CU_ASSERT_EQUAL(sp_map_hash(&map), e->hash);
        sp_partition_done(&map);
    }
    sp_free(pages);
}

/* Two cells, cut by one length. */
static struct sp_partition_map halve(const struct sp_lengths *pages, size_t count)
{
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    struct sp_train_options o;
    sp_train_options_default(&o);
    o.cells = o.machines = 2;
    o.dims = 1;
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(1, NULL, 0, &dictionary), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_train(&o, pages, count, &dictionary, &map), SP_OK);
    CU_ASSERT_EQUAL_FATAL(map.cells, 2);
    return map;
}

/* If the median is among equal lengths, the cut goes to the nearer end of them. */
TEST(a_cut_among_equal_lengths_is_made_where_the_halves_are_most_equal)
{
    static const uint32_t low[] = {1, 1, 2, 2, 5, 5, 5, 5, 5, 9};
    static const uint32_t high[] = {1, 5, 5, 5, 5, 5, 8, 8, 9, 9};
    const struct {
        const uint32_t *lengths;
        uint32_t below;
    } samples[] = {{low, 4}, {high, 6}};
    for (size_t k = 0; k < 2; k++) {
        struct sp_lengths pages[10];
        for (size_t i = 0; i < 10; i++)
            pages[i] = (struct sp_lengths){{samples[k].lengths[i], 0, 0}};
        struct sp_partition_map map = halve(pages, 10);
        CU_ASSERT_EQUAL(map.load[0], samples[k].below);
        CU_ASSERT_EQUAL(map.load[1], 10 - samples[k].below);
        sp_partition_done(&map);
    }
}

TEST(two_pages_are_told_apart_in_either_order)
{
    static const struct sp_lengths pages[] = {{{1000, 0, 0}}, {{10, 0, 0}}, {{1000, 0, 0}}};
    for (size_t first = 0; first < 2; first++) {
        struct sp_partition_map map = halve(pages + first, 2);
        CU_ASSERT_EQUAL(map.load[0], 1);
        CU_ASSERT_EQUAL(map.load[1], 1);
        sp_partition_done(&map);
    }
}

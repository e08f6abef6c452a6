/* Two maps at a time: cell numbers, and the map of a number. */
#include "harness.h"
#include "partition/maps.h"

static struct sp_partition_map map_of(uint32_t cells, uint32_t version)
{
    struct sp_partition_map map;
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(cells, &map), SP_OK);
    map.version = version;
    return map;
}

TEST(a_map_follows_the_one_before_it)
{
    struct sp_partition_map a = map_of(3, 5), b = map_of(4, 6), c = map_of(4, 7);
    struct sp_maps maps = {0};
    CU_ASSERT_EQUAL(sp_maps_make(&b, &a, &maps), SP_OK);
    CU_ASSERT_PTR_EQUAL(maps.now, &b);
    CU_ASSERT_PTR_EQUAL(maps.before, &a);
    CU_ASSERT_EQUAL(sp_maps_make(&c, &a, &maps), SP_INVALID);
    CU_ASSERT_EQUAL(sp_maps_make(&a, &b, &maps), SP_INVALID);
    CU_ASSERT_PTR_EQUAL(maps.now, &b);
    CU_ASSERT_EQUAL(sp_maps_make(&c, NULL, &maps), SP_OK);
    sp_partition_done(&a);
    sp_partition_done(&b);
    sp_partition_done(&c);
}

TEST(a_number_says_which_map_it_is_of)
{
    for (uint32_t version = 0; version < 40; version++) {
        struct sp_partition_map before = map_of(3, version), now = map_of(5, version + 1);
        struct sp_maps maps, older = {&before, NULL}, newer = {&now, NULL};
        uint32_t length[SP_DIMS] = {100, 100, 90};
        CU_ASSERT_EQUAL(sp_maps_make(&now, &before, &maps), SP_OK);
        uint32_t in = sp_maps_cell(&maps, length), was = sp_maps_cell(&older, length);
        CU_ASSERT_NOT_EQUAL(sp_cell_place(in), sp_cell_place(was));
        CU_ASSERT_EQUAL(sp_maps_standing(&maps, in), SP_CELL_PRESENT);
        CU_ASSERT_EQUAL(sp_maps_standing(&maps, was), SP_CELL_LEAVING);
        CU_ASSERT_EQUAL(sp_maps_standing(&newer, was), SP_CELL_PAST);
        CU_ASSERT_EQUAL(sp_maps_standing(&older, in), SP_CELL_AHEAD);
        CU_ASSERT_EQUAL(sp_maps_standing(&older, was + 3), SP_CELL_NONE);
        CU_ASSERT_EQUAL(sp_maps_standing(&older, UINT32_MAX), SP_CELL_NONE);
        sp_partition_done(&before);
        sp_partition_done(&now);
    }
}

TEST(a_probe_visits_the_cells_of_both_maps)
{
    struct sp_partition_map before = map_of(6, 0), now = map_of(9, 1);
    struct sp_maps maps;
    static uint32_t cells[SP_CELL_PLACES];
    CU_ASSERT_EQUAL(sp_maps_make(&now, &before, &maps), SP_OK);
    for (uint32_t n = 1; n < 5000; n = n * 5 / 4 + 1) {
        uint32_t length[SP_DIMS] = {n, n / 2, n / 3}, want[2];
        want[0] = sp_maps_cell(&maps, length);
        want[1] = sp_maps_cell(&(struct sp_maps){&before, NULL}, length);
        uint32_t count = sp_maps_targets(&maps, length, 0.8, SP_ROUTING_LOSSLESS, 1, cells);
        int found = 0;
        for (uint32_t i = 0; i < count; i++)
            found += cells[i] == want[0] || cells[i] == want[1];
        CU_ASSERT_EQUAL(found, 2);
    }
    sp_partition_done(&before);
    sp_partition_done(&now);
}

TEST(maps_are_told_apart_by_their_boxes_and_their_version)
{
    struct sp_partition_map a = map_of(3, 1), b = map_of(3, 1), c = map_of(3, 2), d = map_of(4, 1);
    CU_ASSERT_EQUAL(sp_map_hash(&a), sp_map_hash(&b));
    CU_ASSERT_NOT_EQUAL(sp_map_hash(&a), sp_map_hash(&c));
    CU_ASSERT_NOT_EQUAL(sp_map_hash(&a), sp_map_hash(&d));
    sp_partition_done(&a);
    sp_partition_done(&b);
    sp_partition_done(&c);
    sp_partition_done(&d);
}

/* links: sp_partition sp_page sp_base */
/* Any text as a partition map: accepted, or refused with the number of the line; never a crash. An
 * accepted map prints as a text that is read as the same map, has exactly one cell for each page,
 * and that cell is among those that the page probes. */
#include "base/assert.h"
#include "base/hash.h"
#include "partition/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool parse(struct sp_view text, struct sp_partition_map *map)
{
    struct sp_fault fault = {""};
    enum sp_err err = sp_partition_parse(text, "map", map, &fault);
    SP_ASSERT(err == SP_OK || (err == SP_INVALID && strncmp(fault.text, "map:", 4) == 0));
    return err == SP_OK;
}

static void check_page(const struct sp_partition_map *map, const uint32_t length[SP_DIMS])
{
    static uint32_t cells[SP_MAX_CELLS];
    uint32_t cell = sp_partition_cell(map, length);
    SP_ASSERT(cell < map->cells && map->machine[cell] < map->machines);
    for (int routing = SP_ROUTING_LOSSLESS; routing <= SP_ROUTING_BOUNDED; routing++) {
        uint32_t count =
            sp_partition_targets(map, length, 0.8, (enum sp_routing)routing, 1.2, cells);
        bool own = false;
        SP_ASSERT(count <= map->cells);
        for (uint32_t i = 0; i < count; i++) {
            SP_ASSERT(cells[i] < map->cells && (i == 0 || cells[i - 1] < cells[i]));
            own |= cells[i] == cell;
        }
        SP_ASSERT(own);
    }
}

static void check_pages(const struct sp_partition_map *map)
{
    for (uint64_t i = 0; i < 12; i++) {
        uint32_t length[SP_DIMS];
        for (uint64_t d = 0; d < SP_DIMS; d++) /* from near zero to above all bounds */
            length[d] = (uint32_t)(sp_mix64(i * SP_DIMS + d) >> (36 + 2 * i));
        check_page(map, length);
    }
    for (uint32_t c = 0; c < map->cells && c < 4; c++)
        check_page(map, map->boxes[c].lo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_partition_map map, again;
    struct sp_buf once = {0}, twice = {0};
    if (!parse(sp_view(data, size), &map))
        return 0;
    check_pages(&map);
    sp_partition_print(&map, &once);
    SP_ASSERT(parse(sp_buf_view(&once), &again));
    sp_partition_print(&again, &twice);
    SP_ASSERT(sp_view_eq(sp_buf_view(&once), sp_buf_view(&twice)));
    SP_ASSERT(sp_map_hash(&map) == sp_map_hash(&again));
    SP_ASSERT(map.dictionary.fingerprint == again.dictionary.fingerprint);
    sp_partition_done(&map);
    sp_partition_done(&again);
    sp_buf_done(&once);
    sp_buf_done(&twice);
    return 0;
}

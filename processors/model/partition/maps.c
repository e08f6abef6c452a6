/* See maps.h. */
#include "partition/maps.h"

#include "base/hash.h"

enum { FURTHEST_AHEAD = SP_CELL_VERSIONS / 2 - 1 };
_Static_assert(SP_MAX_CELLS == 1 << SP_CELL_BITS, "a cell's number has room for all cells");

static uint32_t number_of(const struct sp_partition_map *map, uint32_t slice, uint32_t cell)
{
    return map->version % SP_CELL_VERSIONS << SP_CELL_BITS | (slice * map->cells + cell);
}

enum sp_err sp_maps_make(const struct sp_partition_map *now, const struct sp_partition_map *before,
                         struct sp_maps *ret_maps)
{
    if (before && now->version != before->version + 1)
        return SP_INVALID;
    *ret_maps = (struct sp_maps){.now = now, .before = before};
    return SP_OK;
}

uint64_t sp_map_hash(const struct sp_partition_map *map)
{
    return sp_partition_fingerprint(map) ^ sp_mix64(map->version);
}

uint64_t sp_maps_hash(const struct sp_maps *maps, const struct sp_partition_map *map)
{
    return sp_map_hash(map) ^ sp_languages_hash(&maps->languages);
}

uint64_t sp_maps_cells(const struct sp_maps *maps, const struct sp_partition_map *map)
{
    return (uint64_t)map->cells * (maps->languages.count + 1);
}

uint32_t sp_maps_cell(const struct sp_maps *maps, const struct sp_signature *signature)
{
    return number_of(maps->now, sp_languages_slice(&maps->languages, signature->language),
                     sp_partition_cell(maps->now, signature->length));
}

static uint32_t targets(const struct sp_maps *maps, const struct sp_partition_map *map,
                        const struct sp_signature *signature, double tau, enum sp_routing routing,
                        double rho, uint32_t *ret_cells)
{
    uint32_t slice = sp_languages_slice(&maps->languages, signature->language);
    uint32_t count = sp_partition_targets(map, signature->length, tau, routing, rho, ret_cells);
    for (uint32_t i = 0; i < count; i++)
        ret_cells[i] = number_of(map, slice, ret_cells[i]);
    return count;
}

uint32_t sp_maps_targets(const struct sp_maps *maps, const struct sp_signature *signature,
                         double tau, enum sp_routing routing, double rho, uint32_t *ret_cells)
{
    uint32_t count = targets(maps, maps->now, signature, tau, routing, rho, ret_cells);
    if (maps->before)
        count += targets(maps, maps->before, signature, tau, routing, rho, ret_cells + count);
    return count;
}

enum sp_cell_standing sp_maps_standing(const struct sp_maps *maps, uint32_t number)
{
    uint32_t version = sp_cell_version(number), cell = sp_cell_in_map(number);
    if (version >= SP_CELL_VERSIONS)
        return SP_CELL_NONE;
    uint32_t ahead = (version - maps->now->version) % SP_CELL_VERSIONS;
    if (ahead == 0)
        return cell < sp_maps_cells(maps, maps->now) ? SP_CELL_PRESENT : SP_CELL_NONE;
    if (maps->before && ahead == SP_CELL_VERSIONS - 1)
        return cell < sp_maps_cells(maps, maps->before) ? SP_CELL_LEAVING : SP_CELL_NONE;
    return ahead <= FURTHEST_AHEAD ? SP_CELL_AHEAD : SP_CELL_PAST;
}

bool sp_maps_has_cell(const struct sp_maps *maps, uint32_t number)
{
    enum sp_cell_standing standing = sp_maps_standing(maps, number);
    return standing == SP_CELL_PRESENT || standing == SP_CELL_LEAVING;
}

static uint32_t machine_of(const struct sp_partition_map *map, uint32_t cell)
{
    return cell / map->cells * map->machines + map->machine[cell % map->cells];
}

uint32_t sp_maps_machine(const struct sp_maps *maps, uint32_t number)
{
    enum sp_cell_standing standing = sp_maps_standing(maps, number);
    if (standing == SP_CELL_PRESENT)
        return machine_of(maps->now, sp_cell_in_map(number));
    if (standing == SP_CELL_LEAVING)
        return machine_of(maps->before, sp_cell_in_map(number));
    return number;
}

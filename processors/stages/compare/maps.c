/* Records the maps with which the stored rows were made: 'V' version -> hash of the map. A cell's
 * number only makes sense with its map, so a store is not continued with another map of the same
 * version. */
#include "compare/cell.h"

static struct sp_view version_key(const struct sp_partition_map *map, char key[2])
{
    key[0] = 'V';
    key[1] = (char)(map->version % 16);
    return sp_view(key, 2);
}

static enum sp_err check(struct sp_compare_stage *c, const struct sp_partition_map *map)
{
    char key[2];
    struct sp_view value;
    uint64_t hash = map ? sp_maps_hash(&c->options.maps, map) : 0;
    if (!map)
        return SP_OK;
    enum sp_err err = sp_store_get(c->store, version_key(map, key), &value);
    if (err != SP_OK)
        return err == SP_NOT_FOUND ? SP_OK : err;
    if (value.len != sizeof hash)
        return SP_CORRUPT;
    return memcmp(value.data, &hash, sizeof hash) == 0 ? SP_OK : SP_OTHER_MAP;
}

enum sp_err sp_compare_check_cell(const struct sp_compare_stage *c, uint32_t cell)
{
    enum sp_cell_standing standing = sp_maps_standing(&c->options.maps, cell);
    if (standing == SP_CELL_NONE)
        return SP_CORRUPT;
    return standing == SP_CELL_PAST || standing == SP_CELL_AHEAD ? SP_OTHER_MAP : SP_OK;
}

bool sp_cell_is_leaving(const struct sp_compare_stage *c, uint32_t cell)
{
    return sp_maps_standing(&c->options.maps, cell) == SP_CELL_LEAVING;
}

enum sp_err sp_compare_check_maps(struct sp_compare_stage *c)
{
    enum sp_err err = check(c, c->options.maps.now);
    return err == SP_OK ? check(c, c->options.maps.before) : err;
}

static void note(struct sp_compare_stage *c, const struct sp_partition_map *map)
{
    char key[2];
    uint64_t hash = sp_maps_hash(&c->options.maps, map);
    sp_store_put(c->store, version_key(map, key), sp_view(&hash, sizeof hash));
}

void sp_compare_flush_maps(struct sp_compare_stage *c)
{
    if (c->maps_noted)
        return;
    note(c, c->options.maps.now);
    if (c->options.maps.before)
        note(c, c->options.maps.before);
    c->maps_noted = true;
}

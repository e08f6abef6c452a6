/* Makes a map from a sample: see train.h. kd.c and grid.c slice. */
#include "partition/train.h"

#include <stdlib.h>

#include "base/mem.h"
#include "partition/train_parts.h"

void sp_train_options_default(struct sp_train_options *ret_options)
{
    *ret_options = (struct sp_train_options){
        .slicing = SP_SLICING_KD, .dims = SP_DIMS, .cells = 64, .machines = 64, .threshold = 0.8};
}

static bool in_range(const struct sp_train_options *o)
{
    return o->dims >= 1 && o->dims <= SP_DIMS && o->cells >= 1 && o->cells <= SP_MAX_CELLS &&
           o->machines <= o->cells && o->threshold > 0 && o->threshold <= 1;
}

/* Cell numbers follow the cuts, so consecutive numbers are neighbours in space. Each machine gets a
 * run of at least one cell with about its share of the pages. */
static void pack_neighbours(struct sp_partition_map *map)
{
    uint64_t before = 0;
    uint32_t machine = 0, own = 0;
    for (uint32_t c = 0; c < map->cells; c++) {
        double end = (double)map->pages * (machine + 1) / map->machines;
        bool full = (double)before + (double)map->load[c] / 2 > end;
        bool must = map->cells - c == map->machines - machine - 1;
        if (machine + 1 < map->machines && own > 0 && (full || must)) {
            machine++;
            own = 0;
        }
        map->machine[c] = machine;
        own++;
        before += map->load[c];
    }
}

struct sized {
    uint64_t load;
    uint32_t cell;
};

static int by_load(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->load != y->load)
        return x->load > y->load ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static void pack_balanced(struct sp_partition_map *map)
{
    struct sized *cells = sp_alloc(map->cells * sizeof *cells);
    uint64_t *load = sp_calloc(map->machines, sizeof *load);
    for (uint32_t c = 0; c < map->cells; c++)
        cells[c] = (struct sized){map->load[c], c};
    qsort(cells, map->cells, sizeof *cells, by_load);
    for (uint32_t i = 0; i < map->cells; i++) {
        uint32_t least = i; /* first, one for each machine */
        for (uint32_t k = 0; k < map->machines && i >= map->machines; k++)
            if (least >= map->machines || load[k] < load[least])
                least = k;
        map->machine[cells[i].cell] = least;
        load[least] += cells[i].load;
    }
    sp_free(cells);
    sp_free(load);
}

static void pack(const struct sp_train_options *o, struct sp_partition_map *map)
{
    map->machines = o->machines && o->machines < map->cells ? o->machines : map->cells;
    if (map->machines == map->cells)
        for (uint32_t c = 0; c < map->cells; c++)
            map->machine[c] = c;
    else if (o->packing == SP_PACKING_BALANCED)
        pack_balanced(map);
    else
        pack_neighbours(map);
}

enum sp_err sp_partition_train(const struct sp_train_options *options,
                               const struct sp_lengths *pages, size_t count,
                               struct sp_dictionary *dictionary, struct sp_partition_map *ret_map)
{
    if (!in_range(options) || count == 0)
        return SP_INVALID;
    struct sp_partition_map map = {
        .version = 1, .slicing = options->slicing, .threshold = options->threshold, .pages = count};
    struct sp_point *points = sp_alloc(count * sizeof *points);
    for (size_t i = 0; i < count; i++) {
        const uint32_t *at = pages[i].at;
        points[i] = (struct sp_point){{at[0], at[1], at[2], at[0] + at[1] + at[2]}};
    }
    if (options->slicing == SP_SLICING_GRID)
        sp_train_grid(options, points, count, &map);
    else
        sp_train_kd(options, points, count, &map);
    sp_free(points);
    enum sp_err err = sp_partition_finish(&map);
    if (err == SP_OK) {
        for (size_t i = 0; i < count; i++)
            map.load[sp_partition_cell(&map, pages[i].at)]++;
        pack(options, &map);
        sp_dictionary_done(&map.dictionary);
        map.dictionary = *dictionary;
        *dictionary = (struct sp_dictionary){0};
        *ret_map = map;
    } else {
        sp_partition_done(&map);
    }
    return err;
}

/* See kinds.h. */
#include "evaluate/kinds.h"

#include <math.h>

/* The paper has one cell for each machine. In a grid the cells of the diagonal overflow, so many
 * small cells are packed onto the machines instead. Small cells of a k-d split, with neighbours on
 * one machine, do not change a machine's load, and a probe passes fewer rows. */
const struct sp_map_kind sp_map_kinds[SP_MAP_KINDS] = {
    {"1D grid (paper)", SP_SLICING_GRID, 1, SP_SPLIT_TOTAL, 1, SP_PACKING_BALANCED},
    {"2D grid (paper)", SP_SLICING_GRID, 2, SP_SPLIT_BALANCED_2, 1, SP_PACKING_BALANCED},
    {"3D grid (paper)", SP_SLICING_GRID, 3, SP_SPLIT_BALANCED_3, 1, SP_PACKING_BALANCED},
    {"3D grid, packed", SP_SLICING_GRID, 3, SP_SPLIT_BALANCED_3, 64, SP_PACKING_BALANCED},
    {"1D k-d", SP_SLICING_KD, 1, SP_SPLIT_TOTAL, 1, SP_PACKING_NEIGHBOURS},
    {"2D k-d", SP_SLICING_KD, 2, SP_SPLIT_SPREAD_2, 1, SP_PACKING_NEIGHBOURS},
    {"3D k-d", SP_SLICING_KD, 3, SP_SPLIT_SPREAD_3, 1, SP_PACKING_NEIGHBOURS},
    {"3D k-d, small cells", SP_SLICING_KD, 3, SP_SPLIT_SPREAD_3, 16, SP_PACKING_NEIGHBOURS},
};

const uint32_t sp_machine_counts[SP_MACHINE_COUNTS] = {2, 4, 8, 16, 32, 64};

enum sp_err sp_kind_train(const struct sp_map_kind *kind, const struct sp_distinct *d,
                          uint32_t machines, double tau, struct sp_partition_map *ret_map)
{
    struct sp_dictionary none = {0}; /* not a dictionary to keep: the map is only measured */
    struct sp_train_options o;
    sp_train_options_default(&o);
    o.slicing = kind->slicing;
    o.dims = kind->dims;
    o.cells = machines * kind->cells_each;
    o.cells = o.cells > SP_MAX_CELLS ? SP_MAX_CELLS : o.cells;
    o.machines = machines;
    o.packing = kind->packing;
    o.threshold = tau;
    return sp_partition_train(&o, d->lengths[kind->split], d->count, &none, ret_map);
}

struct sp_kind_measure sp_kind_measure(const struct sp_partition_map *map,
                                       const struct sp_distinct *d, enum sp_split split,
                                       uint32_t machines, const struct sp_kind_routing *r)
{
    struct sp_partition_measure m;
    sp_partition_measure(map, d->lengths[split], d->count, r->tau, r->routing, r->rho, &m);
    struct sp_kind_measure result = {.imbalance = m.imbalance * machines / map->machines,
                                     .visited = 1 + m.contacts_mean,
                                     .saved = 1 - m.contacts_mean / (machines - 1.0)};
    sp_partition_measure_done(&m);
    return result;
}

/* ---- values by kind and number of machines */

void sp_kinds_put(struct sp_table *t, double x, int decimals)
{
    if (isnan(x))
        sp_table_text(t, "too small");
    else
        sp_table_number(t, x, decimals);
}

void sp_kinds_table(struct sp_report *report, const char *name, const char *caption,
                    double values[SP_MAP_KINDS][SP_MACHINE_COUNTS], int decimals)
{
    const char *columns[1 + SP_MAP_KINDS] = {"machines"};
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        columns[1 + k] = sp_map_kinds[k].label;
    struct sp_table *t = sp_table_new(name, caption, columns, 1 + SP_MAP_KINDS);
    for (size_t m = 0; m < SP_MACHINE_COUNTS; m++) {
        sp_table_count(t, sp_machine_counts[m]);
        for (size_t k = 0; k < SP_MAP_KINDS; k++)
            sp_kinds_put(t, values[k][m], decimals);
    }
    sp_report_table(report, t);
}

void sp_kinds_plot(struct sp_report *report, const char *name, const char *caption,
                   const char *y_label, double values[SP_MAP_KINDS][SP_MACHINE_COUNTS],
                   const struct sp_series *line)
{
    static const double machines[SP_MACHINE_COUNTS] = {2, 4, 8, 16, 32, 64};
    struct sp_series series[SP_MAP_KINDS + 1];
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        series[k] = (struct sp_series){sp_map_kinds[k].label, values[k], false};
    if (line)
        series[SP_MAP_KINDS] = *line;
    struct sp_plot plot = {.name = name,
                           .caption = caption,
                           .x_label = "machines",
                           .y_label = y_label,
                           .x = machines,
                           .x_count = SP_MACHINE_COUNTS,
                           .x_log = true,
                           .y_log = true,
                           .series = series,
                           .series_count = SP_MAP_KINDS + (line != NULL)};
    sp_report_plot(report, &plot);
}

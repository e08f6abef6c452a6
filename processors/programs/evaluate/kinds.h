/* The kinds of maps that Figures 4 to 6 compare: made, measured, and as columns of tables and lines
 * of plots. Private to this folder and its tests. */
#ifndef SP_EVALUATE_KINDS_H
#define SP_EVALUATE_KINDS_H

#include "evaluate/distinct.h"
#include "report/report.h"

/* A way to make a map. */
struct sp_map_kind {
    const char *label;
    enum sp_slicing slicing;
    uint32_t dims; /* sub-dictionaries */
    enum sp_split split;
    uint32_t cells_each; /* cells for each machine */
    enum sp_packing packing;
};

enum {
    SP_MAP_KINDS = 8,
    SP_MACHINE_COUNTS = 6,
    SP_MACHINES_MOST = 64,
    /* Places in sp_map_kinds; the paper's 2D is between its 1D and its 3D. */
    SP_KIND_PAPER_1D = 0,
    SP_KIND_PAPER_3D = 2,
    SP_KIND_KD_3D = 6
};

extern const struct sp_map_kind sp_map_kinds[SP_MAP_KINDS];
extern const uint32_t sp_machine_counts[SP_MACHINE_COUNTS]; /* 2 to SP_MACHINES_MOST */

/* A map of that kind for so many machines. SP_INVALID if there is no content. */
enum sp_err sp_kind_train(const struct sp_map_kind *kind, const struct sp_distinct *d,
                          uint32_t machines, double tau, struct sp_partition_map *ret_map);

/* How probes are sent. */
struct sp_kind_routing {
    double tau;
    enum sp_routing routing;
    double rho; /* of SP_ROUTING_BOUNDED */
};

/* Measures of a map for the number of machines that was asked for: with fewer cells than machines,
 * some are idle. */
struct sp_kind_measure {
    double imbalance; /* largest load / mean load */
    double visited;   /* machines a page's probe visits, its own included */
    double saved;     /* transfers saved against sending each page to all other machines */
};

struct sp_kind_measure sp_kind_measure(const struct sp_partition_map *map,
                                       const struct sp_distinct *d, enum sp_split split,
                                       uint32_t machines, const struct sp_kind_routing *routing);

/* ---- values by kind and number of machines ---- */

/* A cell of a table; NaN: the trace is too small to say. */
void sp_kinds_put(struct sp_table *t, double x, int decimals);
void sp_kinds_table(struct sp_report *report, const char *name, const char *caption,
                    double values[SP_MAP_KINDS][SP_MACHINE_COUNTS], int decimals);
/* `line` (may be NULL) is drawn as well, dashed. */
void sp_kinds_plot(struct sp_report *report, const char *name, const char *caption,
                   const char *y_label, double values[SP_MAP_KINDS][SP_MACHINE_COUNTS],
                   const struct sp_series *line);

#endif

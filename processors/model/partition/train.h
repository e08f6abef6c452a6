/* Making a partition map from a sample, and measuring one against a sample.
 *
 * Source: Zhu et al., WWW 2012, section 4.2 and 4.3 (slicing), and our own cutting rule; see
 * kd.c and grid.c.
 *
 * A sample consists of the length vectors of distinct contents: a cell stores equal content once,
 * so it counts once. The vectors must be made with the dictionary of the map. All results are pure
 * functions of the multiset of vectors and the options.
 *
 * Thread rule: any thread. */
#ifndef SP_PARTITION_TRAIN_H
#define SP_PARTITION_TRAIN_H

#include "partition/partition.h"

struct sp_lengths {
    uint32_t at[SP_DIMS];
};

enum sp_packing {
    SP_PACKING_NEIGHBOURS, /* a machine's cells follow one another in the order of the cuts */
    SP_PACKING_BALANCED    /* the largest remaining cell goes to the least loaded machine */
};

struct sp_train_options {
    enum sp_slicing slicing;
    uint32_t dims;     /* 1 to SP_DIMS: how many of the lengths are used */
    uint32_t cells;    /* 1 to SP_MAX_CELLS; the map may have fewer if pages are equal, or with a
                        * grid */
    uint32_t machines; /* 1 to cells: cells are packed onto them; 0: one for each cell */
    enum sp_packing packing;
    double threshold; /* tau for counting contacts, 0 < tau <= 1 */
};

/* kd slicing of all dimensions into 64 cells on 64 machines, for tau = 0.8. */
void sp_train_options_default(struct sp_train_options *ret_options);

/* Makes a map of version 1. On success the map owns the dictionary. SP_INVALID: an option is out of
 * range, or there are no pages. */
enum sp_err sp_partition_train(const struct sp_train_options *options,
                               const struct sp_lengths *pages, size_t count,
                               struct sp_dictionary *dictionary, struct sp_partition_map *ret_map);

/* How a map distributes a sample. A probe of the page's own machine needs no transfer. */
struct sp_partition_measure {
    uint64_t *load;     /* pages on each machine; map->machines of them */
    uint32_t *contacts; /* of each page: machines other than its own that its probe visits */
    double imbalance;   /* the largest load / the mean load */
    double contacts_mean;
    double cells_mean; /* cells that a probe visits, its own included */
    double saved;      /* share of the transfers saved compared with sending each page to all other
                        * machines; 1 if there is one machine */
};

/* Never fails; count is at least 1. Free the result with sp_partition_measure_done. */
void sp_partition_measure(const struct sp_partition_map *map, const struct sp_lengths *pages,
                          size_t count, double tau, enum sp_routing routing, double rho,
                          struct sp_partition_measure *ret_measure);
void sp_partition_measure_done(struct sp_partition_measure *measure);

#endif

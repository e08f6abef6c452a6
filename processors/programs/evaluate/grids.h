/* Why a grid of more dimensions balances better or worse than one of fewer: an analysis of Figure
 * 4. Private to this folder and its tests. */
#ifndef SP_EVALUATE_GRIDS_H
#define SP_EVALUATE_GRIDS_H

#include "evaluate/distinct.h"

/* How the paper's grid distributes contents over the largest number of machines. */
struct sp_grid_look {
    double imbalance[SP_DIMS]; /* 1D, 2D, 3D */
    double used[SP_DIMS];      /* cells with any content, of the machines */
    double correlation;        /* of the logarithms of L1 and L2: 1 is a diagonal */
    double spike;              /* share of the contents within a factor of tau in length */
};

/* Needs the balanced splits. SP_INVALID if there is no content. */
enum sp_err sp_grid_look(const struct sp_distinct *d, uint32_t machines, double tau,
                         struct sp_grid_look *ret_look);

/* Made-up contents, lengths only: always the same. Total lengths are lognormal (median 300), but
 * for a share `spike` of 240 to 244 words; each length has a third of the total, give or take
 * (`apart` false: pages of one language and style), or any share (`apart` true: pages of different
 * subjects, with words of their own). Frees with sp_distinct_done. */
void sp_grid_made_up(size_t count, double spike, bool apart, struct sp_distinct *ret_distinct);

#endif

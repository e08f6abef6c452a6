/* The paper's slicing of one dimension. Private to this folder and its tests. */
#ifndef SP_PARTITION_GRID_H
#define SP_PARTITION_GRID_H

#include <stddef.h>
#include <stdint.h>

/* The paper's fine intervals of the lengths first … last. Each begins at the least length p for
 * which the interval before it begins below tau p, so that a page reaches only its own interval and
 * its two neighbours. Writes the starts and then last + 1 to ret_edges (room for SP_GRID_FINE + 1);
 * returns the number of intervals. 1 <= first <= last. */
enum { SP_GRID_FINE = 4096 };
uint32_t sp_grid_fine(uint32_t first, uint32_t last, double tau, uint32_t *ret_edges);

/* Merges `fine` intervals with these counts of pages into at most `want` runs, which are as equal
 * as possible: the sum of squared counts is least. Writes the first fine interval of each run to
 * ret_first (room for want); returns the number of runs. */
uint32_t sp_grid_merge(const uint64_t *counts, uint32_t fine, uint32_t want, uint32_t *ret_first);

#endif

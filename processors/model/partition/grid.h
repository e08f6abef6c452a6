/* The paper's slicing of one dimension. Private to this folder and its tests. */
#ifndef SP_PARTITION_GRID_H
#define SP_PARTITION_GRID_H

#include <stddef.h>
#include <stdint.h>

/* The paper's fine intervals of the lengths first … last: each begins at the first length p whose
 * predecessor interval begins at less than tau p, so that a page reaches only its own interval and
 * the two beside it. Starts go to ret_edges, and behind them last + 1 (room for SP_GRID_FINE + 1);
 * returns the number of intervals. 1 <= first <= last. */
enum { SP_GRID_FINE = 4096 };
uint32_t sp_grid_fine(uint32_t first, uint32_t last, double tau, uint32_t *ret_edges);

/* Merges `fine` neighbouring intervals with these counts of pages into at most `want`, with the
 * least sum of squared counts: as equal as whole intervals allow. ret_first gets the number of the
 * first fine interval of each (room for want); returns how many there are. */
uint32_t sp_grid_merge(const uint64_t *counts, uint32_t fine, uint32_t want, uint32_t *ret_first);

#endif

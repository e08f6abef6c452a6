/* The cells of tier 2 in the simulated world. */
#ifndef SP_TESTS_SIMULATION_CELLS_H
#define SP_TESTS_SIMULATION_CELLS_H

#include "partition/partition.h"

/* Cells cut the total length at least + 1, least + 2, …, so that similar pages are often in
 * different cells. */
void cells_make(struct sp_partition_map *map, uint32_t cells, uint32_t version, uint32_t least);

#endif

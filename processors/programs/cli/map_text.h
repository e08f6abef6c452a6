/* Partition maps as text, for people at a terminal. */
#ifndef SP_CLI_MAP_TEXT_H
#define SP_CLI_MAP_TEXT_H

#include <stdio.h>

#include "partition/train.h"

/* Prints the map to standard output with bars of `cell_load`: so many pages of each cell, of the
 * map's own sample or of another. */
void sp_cli_draw_map(const struct sp_partition_map *map, const uint64_t *cell_load);
/* Prints how many other machines a page visits at some thresholds; nothing if there is one. */
void sp_cli_print_contacts(FILE *to, const struct sp_partition_map *map,
                           const struct sp_lengths *lengths, size_t count);

#endif

/* The partition maps in use: one, or two while the pages move from the cells of the map before.
 *
 * A cell's number names its map as well: the version modulo 16, then the cell in 12 bits. A page is
 * put into a cell of the present map; a probe visits the cells of both. So every pair is found
 * wherever its pages live, and a page that has moved can be found at once.
 *
 * Source: the paper trains its mapping once (Zhu et al., WWW 2012, section 4.3) and does not say
 * how to replace it; docs/PROTOCOL.md, "A new partition map".
 *
 * Thread rule: read-only once made; any thread. */
#ifndef SP_PARTITION_MAPS_H
#define SP_PARTITION_MAPS_H

#include "partition/partition.h"

enum { SP_CELL_BITS = 12, SP_CELL_PLACES = 2 * SP_MAX_CELLS, SP_CELL_VERSIONS = 16 };

/* The parts of a cell's number: the version of its map modulo SP_CELL_VERSIONS (SP_CELL_VERSIONS
 * and above: no map has such a cell), and the cell in that map. */
static inline uint32_t sp_cell_version(uint32_t number)
{
    return number >> SP_CELL_BITS;
}

static inline uint32_t sp_cell_in_map(uint32_t number)
{
    return number % SP_MAX_CELLS;
}

/* A table of both maps' cells has SP_CELL_PLACES entries: a map and its successor differ in the
 * lowest bit of their versions. */
static inline uint32_t sp_cell_place(uint32_t number)
{
    return number % SP_CELL_PLACES;
}

/* What the cell of a message or a stored row means under these maps. */
enum sp_cell_standing {
    SP_CELL_PRESENT,
    SP_CELL_LEAVING, /* of the map before */
    SP_CELL_PAST,    /* of an older map: nothing lives there */
    SP_CELL_AHEAD,   /* of a newer map than ours */
    SP_CELL_NONE     /* of our maps, which have no such cell */
};

struct sp_maps {
    const struct sp_partition_map *now;    /* borrowed */
    const struct sp_partition_map *before; /* borrowed; NULL: nothing is to be moved */
};

/* Both, checked: SP_INVALID where `now` is not the very next version after `before`. */
enum sp_err sp_maps_make(const struct sp_partition_map *now, const struct sp_partition_map *before,
                         struct sp_maps *ret_maps);

/* The map's version, boxes and machines as one number: maps of one version must have equal ones. */
uint64_t sp_map_hash(const struct sp_partition_map *map);

/* The number of the cell that a page of that length vector is put into. */
uint32_t sp_maps_cell(const struct sp_maps *maps, const uint32_t length[SP_DIMS]);

/* The numbers of all cells that may hold a page similar to one of that length vector, into
 * ret_cells (room for SP_CELL_PLACES), those of each map ascending; returns how many. */
uint32_t sp_maps_targets(const struct sp_maps *maps, const uint32_t length[SP_DIMS], double tau,
                         enum sp_routing routing, double rho, uint32_t *ret_cells);

/* The machine of a cell of our maps; of any other its own number. */
uint32_t sp_maps_machine(const struct sp_maps *maps, uint32_t number);

enum sp_cell_standing sp_maps_standing(const struct sp_maps *maps, uint32_t number);

#endif

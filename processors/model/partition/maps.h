/* The partition maps in use: one, or two while pages move from the cells of the previous map.
 *
 * The number of a cell includes its map: the version modulo 16, then the cell in 12 bits. Pages are
 * put into cells of the present map, and a probe visits the cells of both maps. So every pair is
 * found, whichever of its pages has moved. With languages, each slice (languages.h) has all cells
 * of a map: cell c of slice s is number s * cells + c of that map, and a probe visits its own slice
 * only.
 *
 * Source: the paper trains its mapping once (Zhu et al., WWW 2012, section 4.3) and does not say
 * how to replace it; docs/PROTOCOL.md, "A new partition map".
 *
 * Thread rule: read-only once made; any thread. */
#ifndef SP_PARTITION_MAPS_H
#define SP_PARTITION_MAPS_H

#include "partition/languages.h"
#include "partition/partition.h"

enum { SP_CELL_BITS = 12, SP_CELL_PLACES = 2 * SP_MAX_CELLS, SP_CELL_VERSIONS = 16 };

/* The two parts of a cell's number: the version of its map modulo SP_CELL_VERSIONS (no map has a
 * cell with a larger one), and the cell in that map. */
static inline uint32_t sp_cell_version(uint32_t number)
{
    return number >> SP_CELL_BITS;
}

static inline uint32_t sp_cell_in_map(uint32_t number)
{
    return number % SP_MAX_CELLS;
}

/* A table for the cells of both maps has SP_CELL_PLACES entries, because the versions of a map and
 * its successor differ in the lowest bit. */
static inline uint32_t sp_cell_place(uint32_t number)
{
    return number % SP_CELL_PLACES;
}

/* What a cell number in a message or stored row means under these maps. */
enum sp_cell_standing {
    SP_CELL_PRESENT,
    SP_CELL_LEAVING, /* of the previous map */
    SP_CELL_PAST,    /* of an older map: nothing lives there */
    SP_CELL_AHEAD,   /* of a newer map than ours */
    SP_CELL_NONE     /* of one of our maps, which has no such cell */
};

struct sp_maps {
    const struct sp_partition_map *now;    /* borrowed */
    const struct sp_partition_map *before; /* borrowed; NULL: no pages have to move */
    struct sp_languages languages;         /* the same for both maps */
};

/* Makes maps without languages. SP_INVALID if the version of `now` is not that of `before` + 1. */
enum sp_err sp_maps_make(const struct sp_partition_map *now, const struct sp_partition_map *before,
                         struct sp_maps *ret_maps);

/* A hash of the map's version, boxes and machines. Maps of one version must have equal hashes. */
uint64_t sp_map_hash(const struct sp_partition_map *map);

/* The same with the languages of `maps`, one of which `map` is. Without languages it is the hash of
 * the map. */
uint64_t sp_maps_hash(const struct sp_maps *maps, const struct sp_partition_map *map);

/* How many cells, of all slices, the map has under these languages; at most SP_MAX_CELLS are
 * allowed. */
uint64_t sp_maps_cells(const struct sp_maps *maps, const struct sp_partition_map *map);

/* The number of the cell that a page of that signature is put into. It depends on the length vector
 * and the language. */
uint32_t sp_maps_cell(const struct sp_maps *maps, const struct sp_signature *signature);

/* The numbers of all cells that may hold a page similar to one of that signature, into ret_cells
 * (room for SP_CELL_PLACES), those of each map ascending; returns how many. */
uint32_t sp_maps_targets(const struct sp_maps *maps, const struct sp_signature *signature,
                         double tau, enum sp_routing routing, double rho, uint32_t *ret_cells);

/* The machine of a cell of our maps: a slice has as many as its map, after those of the slice
 * before. Any other number is returned unchanged. */
uint32_t sp_maps_machine(const struct sp_maps *maps, uint32_t number);

/* What a cell's number means under these maps. */
enum sp_cell_standing sp_maps_standing(const struct sp_maps *maps, uint32_t number);
/* Whether one of our maps has that cell: its standing is present or leaving. */
bool sp_maps_has_cell(const struct sp_maps *maps, uint32_t number);

#endif

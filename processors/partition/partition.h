/* Which cell a page lives in, and which cells a probe must visit.
 *
 * Source: Zhu et al., WWW 2012, section 4 ("3D mapping"), made lossless: a page with length
 * vector a must be sent to a box exactly where the weighted Jaccard of a and the box's
 * nearest point (a clamped into the box, per dimension) reaches tau, because
 *
 *     J(A, B) <= sum min(a_i, b_i) / sum max(a_i, b_i)
 *
 * for any dictionary: map each shingle to its first word, then |A n B| <= sum min and
 * |A u B| >= sum max. Clamping moves every term of both sums the least way into the box, so
 * no point of the box has a larger quotient. The total length is a fourth axis, for which
 * the same holds: J <= min(|A|, |B|) / max(|A|, |B|).
 *
 * Thread rule: a map is read-only once made; any thread. */
#ifndef SP_PARTITION_PARTITION_H
#define SP_PARTITION_PARTITION_H

#include <stdint.h>

#include "base/err.h"
#include "signature/signature.h"

enum { SP_AXES = SP_DIMS + 1, SP_MAX_CELLS = 4096 }; /* the last axis is the total length */

enum sp_routing { SP_ROUTING_LOSSLESS, SP_ROUTING_BOUNDED };

struct sp_box {
    uint32_t lo[SP_AXES];
    uint32_t hi[SP_AXES]; /* exclusive; UINT32_MAX: no bound */
};

struct sp_partition_map {
    uint32_t cells;
    struct sp_box *boxes; /* disjoint; together all of the space */
    uint32_t version;     /* grows with each map that replaces another; 0: untrained */
};

/* The map used without training: slices of the total length at the quantiles of a lognormal
 * distribution (median 300 words, sigma 1.2: close to what real crawls show). SP_INVALID
 * where cells is not in 1 … SP_MAX_CELLS. */
enum sp_err sp_partition_default(uint32_t cells, struct sp_partition_map *ret_map);
void sp_partition_done(struct sp_partition_map *map);

/* The one cell whose box holds the length vector. */
uint32_t sp_partition_cell(const struct sp_partition_map *map, const uint32_t length[SP_DIMS]);

/* All cells that may hold a page similar to one of that length vector, ascending, into
 * ret_cells (room for map->cells); returns how many. Its own cell is always among them. `rho`
 * is used by SP_ROUTING_BOUNDED only: the paper's L_i tau / rho < x_i < L_i rho / tau. */
uint32_t sp_partition_targets(const struct sp_partition_map *map, const uint32_t length[SP_DIMS],
                              double tau, enum sp_routing routing, double rho, uint32_t *ret_cells);

#endif

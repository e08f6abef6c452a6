/* The partition map: which cell a page lives in, which cells a probe must visit, and which machine
 * holds a cell.
 *
 * Source: Zhu et al., WWW 2012, section 4 ("3D mapping"), made lossless. Let a, b be the length
 * vectors of A and B. Map each shingle to its first word: |A n B| <= sum min(a_i, b_i) and
 * |A u B| >= sum max(a_i, b_i), so for any dictionary
 *
 *     J(A, B) <= sum min(a_i, b_i) / sum max(a_i, b_i)
 *
 * A cell is a box: a range of each of the three lengths, and of their total as a fourth axis. A
 * page with length vector a is sent to a cell if and only if some vector of the box gives a
 * quotient of tau or more. The best vector has a closed form. Let p be a clamped into the three
 * ranges, m = sum min(a_i, p_i), M = sum max(a_i, p_i). For any x within the ranges min(a_i, x_i)
 * <= min(a_i, p_i) and max(a_i, x_i) >= max(a_i, p_i). With s = sum min(a_i, x_i), and |x| for the
 * total of x, sum max(a_i, x_i) = |a| + |x| - s; so s <= m, and s <= |a| + |x| - M, and the
 * quotient s / (|a| + |x| - s) grows with s. Up to |x| = |p| the second limit binds, and the
 * quotient grows with |x|; from there on the first one, and it falls. So the best total is |p|
 * clamped into the fourth range, call it t, and with s = min(m, |a| + t - M)
 *
 *     J(A, B) <= s / (|a| + t - s)      for every B of the cell
 *
 * which is never above the bound by the three lengths alone or by the total alone.
 *
 * Both searches descend a tree of the cuts that made the boxes. The bound of a box holds for every
 * box within it, so a branch without contact is skipped.
 *
 * Thread rule: a map is read-only once made; any thread. */
#ifndef SP_PARTITION_PARTITION_H
#define SP_PARTITION_PARTITION_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "page/dictionary.h"
#include "page/signature.h"

enum { SP_AXES = SP_DIMS + 1, SP_MAX_CELLS = 4096 }; /* the last axis is the total length */

enum sp_routing { SP_ROUTING_LOSSLESS, SP_ROUTING_BOUNDED };
enum sp_slicing { SP_SLICING_KD, SP_SLICING_GRID };

struct sp_box {
    uint32_t lo[SP_AXES];
    uint32_t hi[SP_AXES]; /* exclusive; UINT32_MAX: no bound */
};

struct sp_cut; /* a node of the tree; private */

struct sp_partition_map {
    uint32_t cells;       /* numbered 0 to cells - 1 */
    struct sp_box *boxes; /* disjoint; together all of the space */
    uint32_t version;     /* larger than that of the map it replaces; 0: untrained */
    struct sp_dictionary dictionary;
    uint32_t machines; /* 1 to cells */
    uint32_t *machine; /* of each cell */
    /* How it was trained; all 0 if it was not. */
    enum sp_slicing slicing;
    double threshold;
    uint64_t pages;      /* distinct ones, of the sample */
    uint64_t *load;      /* of these, in each cell */
    struct sp_cut *tree; /* made by sp_partition_finish */
};

/* The map used without training: slices of the total length at the quantiles of a lognormal
 * distribution (median 300 words, sigma 1.2: close to what real crawls show); each cell is a
 * machine of its own. SP_INVALID if cells is not in 1 … SP_MAX_CELLS. */
enum sp_err sp_partition_default(uint32_t cells, struct sp_partition_map *ret_map);

/* Completes a map that has cells and boxes: every other field that is 0 or NULL gets the value of
 * the default map. SP_INVALID: the boxes overlap or leave gaps, so that no cuts could have made
 * them, or a machine is out of range; the caller must still free the map. */
enum sp_err sp_partition_finish(struct sp_partition_map *map);
void sp_partition_done(struct sp_partition_map *map);

/* The one cell whose box holds the length vector. */
uint32_t sp_partition_cell(const struct sp_partition_map *map, const uint32_t length[SP_DIMS]);

/* All cells that may hold a page similar to one of that length vector, ascending, into
 * ret_cells (room for map->cells); returns how many. Its own cell is always among them. `rho`
 * is used by SP_ROUTING_BOUNDED only: the paper's L_i tau / rho < x_i < L_i rho / tau. */
uint32_t sp_partition_targets(const struct sp_partition_map *map, const uint32_t length[SP_DIMS],
                              double tau, enum sp_routing routing, double rho, uint32_t *ret_cells);

/* A hash of boxes and machines: if it is equal, every page and probe is routed alike. The
 * dictionary has its own fingerprint, because it changes signatures. */
uint64_t sp_partition_fingerprint(const struct sp_partition_map *map);

/* ---- files (map_file.c) ---- */

/* Appends the map as text in format 1, which its first lines describe. */
void sp_partition_print(const struct sp_partition_map *map, struct sp_buf *out);

/* Parses such a text, which is not trusted. SP_INVALID: the fault is "`name`:LINE: what is
 * wrong". */
enum sp_err sp_partition_parse(struct sp_view text, const char *name,
                               struct sp_partition_map *ret_map, struct sp_fault *fault);

/* The same for a file. SP_IO: it cannot be read or written. Writing replaces the file atomically:
 * it writes a new file and renames it. */
enum sp_err sp_partition_read(const char *file, struct sp_partition_map *ret_map,
                              struct sp_fault *fault);
enum sp_err sp_partition_write(const struct sp_partition_map *map, const char *file,
                               struct sp_fault *fault);

#endif

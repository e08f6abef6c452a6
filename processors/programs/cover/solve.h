/* The smallest set of documents that covers all: a minimum dominating set of a directed graph, in
 * which an arc leads from a document to each that it covers. A document covers itself.
 *
 *   1  reduction, which never loses the optimum: a document that no other covers is kept; one that
 *      covers only a single uncovered document, which another covers as well, is never kept
 *   2  the rest is divided into parts that share nothing
 *   3  a part of up to exact_max documents: branch and bound (exact.c), which is exact unless it
 *      takes more than steps_max steps; then the best cover so far is used
 *   4  a larger part: greedily takes the document that covers most uncovered ones (Johnson 1974,
 *      within ln n of the optimum), then drops what became superfluous
 *
 * Deterministic: equal graphs give equal covers; of equally good documents the first is taken.
 * Source of the problem: Paudel, Anand, Berberich, who solve up to ten documents exactly. */
#ifndef SP_COVER_SOLVE_H
#define SP_COVER_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_digraph {
    uint32_t count;
    const uint32_t *starts; /* count + 1 */
    const uint32_t *covers; /* of document i: [starts[i], starts[i + 1]), ascending, never i */
    const double *weights;  /* above 0; for sp_solve_weighted */
};

struct sp_solve_options {
    uint32_t exact_max; /* documents of a part that is solved exactly; at most 4,096 */
    uint64_t steps_max; /* of branch and bound, a part */
};

struct sp_solve_stats {
    uint64_t exact;   /* parts solved exactly, those that the reduction solved included */
    uint64_t greedy;  /* parts solved greedily */
    uint64_t stopped; /* parts at which branch and bound ran out of steps */
};

/* Sets ret_kept[i] to 1 for the documents of the cover, 0 for others; adds to *stats. */
void sp_solve(const struct sp_digraph *graph, const struct sp_solve_options *options,
              uint8_t *ret_kept, struct sp_solve_stats *stats);

/* The same for the least sum of weights instead of the least number: exactly up to 16 documents,
 * greedily above (weighted.c). The reductions of sp_solve do not hold for weights. */
void sp_solve_weighted(const struct sp_digraph *graph, uint8_t *ret_kept,
                       struct sp_solve_stats *stats);

/* One part for branch and bound: sets over elements, both numbered on their own; every element is
 * in at least one set. */
struct sp_instance {
    uint32_t elements;
    uint32_t sets;
    const uint32_t *starts; /* sets + 1 */
    const uint32_t *members;
};

/* Chooses a smallest number of sets that cover all elements; ret_chosen holds a cover on entry, the
 * best found on return. False: ran out of steps. */
bool sp_solve_exactly(const struct sp_instance *instance, uint64_t steps_max, uint8_t *ret_chosen);

#endif

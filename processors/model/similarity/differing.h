/* An index of sets of shingles that share most of a text: which of them may resemble one another,
 * by how each differs from one set, the reference.
 *
 * Let D(x) be the shingles that only one of x and the reference has. Let x, which is looked up, and
 * y, which is found, resemble one another only if they differ in at most g |x| + h |y| shingles.
 * (If they have a Jaccard similarity of at least t, g and h are (1 - t) / (1 + t).) These are the
 * shingles that only one of D(x) and D(y) has, so D(x) and D(y) share at least half of
 *
 *   apart(x) + apart(y)   with   apart(x) = |D(x)| - g |x|, apart(y) = |D(y)| - h |y|
 *
 * If that is not above 0, nothing need be shared: both sets are near the reference. Else order the
 * shingles of all D by how rare they are, and let the first one that both have be at the places p
 * and q. They share no more than either has from there on (positional.h), so
 *
 *   reach(x, p) >= apart(y)   and   reach(y, q) >= apart(x)
 *   with   reach(x, p) = |D(x)| + g |x| - 2 p, reach(y, q) = |D(y)| + h |y| - 2 q
 *
 * The postings of a shingle are in descending order of reach, and a search ends where that is too
 * small. So sets that have most of a text in common do not meet by that text, nor by a shingle that
 * many of them lack, if they differ in too many others.
 *
 * Thread rule: any thread while no set is added. */
#ifndef SP_SIMILARITY_DIFFERING_H
#define SP_SIMILARITY_DIFFERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Ascending. */
struct sp_differing_set {
    const uint32_t *shingles;
    uint32_t count;
};

/* g and h. */
struct sp_differing_most {
    double looked_up;
    double found;
};

struct sp_differing;

/* g and h for a least Jaccard similarity. */
struct sp_differing_most sp_differing_jaccard(double threshold);

/* Without sets that are found: those are added. Nothing is borrowed. SP_TOO_LARGE: they differ in
 * more shingles than 32-bit numbers can count. */
enum sp_err sp_differing_new(struct sp_differing_most most,
                             const struct sp_differing_set *reference,
                             const struct sp_differing_set *sets, uint32_t count,
                             struct sp_differing **ret_index);
/* NULL is allowed. */
void sp_differing_free(struct sp_differing *d);

/* From now on the set is found; adding it twice does nothing. */
void sp_differing_add(struct sp_differing *d, uint32_t set);

/* Calls `each` for every other added set that may resemble this one, perhaps several times. Returns
 * how many postings were read. */
uint64_t sp_differing_each(const struct sp_differing *d, uint32_t set,
                           void (*each)(void *arg, uint32_t set), void *arg);

#endif

/* What the place of a shared shingle says. Order the shingles of all sets by how rare they are, and
 * let the first one that x and y share be at place p of x, which has n. Then they share at most the
 * n - p from there on. If p is so large that this is too little, another pair is found in vain:
 * pages that share a template and have enough of their own never meet. (Xiao et al. 2008, PPJoin.)
 */
#ifndef SP_SIMILARITY_PLACE_H
#define SP_SIMILARITY_PLACE_H

#include <math.h>

/* A y with that Jaccard similarity to x has fewer shingles than this. */
static inline double sp_place_end(double jaccard, double n, double p)
{
    static const double rounding = 1e-6;
    return floor((n - p) * (1 + jaccard) / jaccard - n + rounding) + 1;
}

#endif

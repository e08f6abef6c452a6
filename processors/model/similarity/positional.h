/* The positional filter of PPJoin (Xiao et al., "Efficient similarity joins for near duplicate
 * detection", WWW 2008): what the position of a shared shingle says. Order the shingles of all sets
 * by how rare they are, and let the first one that x and y share be at position p of x, which has n
 * shingles. Then they share at most the n - p from there on. If that is too few for the threshold,
 * the pair need not be compared: pages that share a template and have enough of their own never
 * meet. Thread rule: pure; any thread. */
#ifndef SP_SIMILARITY_POSITIONAL_H
#define SP_SIMILARITY_POSITIONAL_H

#include <math.h>

/* Returns a number above the shingles of any y whose Jaccard similarity to x is at least
 * `jaccard`. */
static inline double sp_positional_size_end(double jaccard, double n, double p)
{
    static const double rounding = 1e-6;
    return floor((n - p) * (1 + jaccard) / jaccard - n + rounding) + 1;
}

#endif

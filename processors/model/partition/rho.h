/* The paper's rho from a sample: how far bounded routing must reach.
 *
 * Source: Zhu et al., WWW 2012, section 4.2. epsilon is how far a page's number of shingles is from
 * its number of words, delta how far a sub-dictionary's length is from an even share of all:
 *
 *   | |A| / L(A) - 1 | <= epsilon,  | L(A) / (N L_i) - 1 | <= delta
 *   rho = (1 + delta) (1 + epsilon) / ((1 - delta) (1 - epsilon))
 *
 * Lengths here are counted in shingles, so epsilon is 0. No finite delta holds for every page (a
 * page may have no word of a sub-dictionary), so delta is that of a share of the sample. The proof
 * needs delta for both pages of a pair, but pages that resemble one another deviate alike: what
 * a rho loses is measured by the experiment `rho` of `samepage evaluate`.
 *
 * Thread rule: pure; any thread. */
#ifndef SP_PARTITION_RHO_H
#define SP_PARTITION_RHO_H

#include "partition/train.h"

struct sp_rho {
    double delta;
    double rho; /* infinite where delta is 1 or more */
};

/* The largest deviation of a page's lengths in the dims used; infinite where one is 0. */
double sp_rho_deviation(const uint32_t length[SP_DIMS], uint32_t dims);

/* delta that the share of the pages keeps, and rho from it; pages without words are left out.
 * delta 0 and rho 1 where there are none. */
struct sp_rho sp_rho_of_sample(const struct sp_lengths *pages, size_t count, uint32_t dims,
                               double share);

#endif

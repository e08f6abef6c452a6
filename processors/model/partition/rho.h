/* Computes the paper's rho, which says how far bounded routing must reach, from a sample.
 *
 * Source: Zhu et al., WWW 2012, section 4.2. epsilon is how far a page's number of shingles is from
 * its number of words, delta how far a sub-dictionary's length is from an even share of all:
 *
 *   | |A| / L(A) - 1 | <= epsilon,  | L(A) / (N L_i) - 1 | <= delta
 *   rho = (1 + delta) (1 + epsilon) / ((1 - delta) (1 - epsilon))
 *
 * Here lengths count shingles, so epsilon is 0. No finite delta holds for every page, because a
 * page may have no word of a sub-dictionary; so delta is one that a share of the sample keeps. The
 * proof needs delta for both pages of a pair, but similar pages deviate alike. The experiment `rho`
 * of `samepage evaluate` measures the pairs that a rho loses.
 *
 * Thread rule: pure; any thread. */
#ifndef SP_PARTITION_RHO_H
#define SP_PARTITION_RHO_H

#include "partition/train.h"

struct sp_rho {
    double delta;
    double rho; /* infinite if delta is 1 or more */
};

/* The largest deviation of a page's lengths in the dims used; infinite if one is 0. */
double sp_rho_deviation(const uint32_t length[SP_DIMS], uint32_t dims);

/* The least delta that a share of the pages keeps, and its rho. Pages without words are left out;
 * if there are no others, delta is 0 and rho is 1. */
struct sp_rho sp_rho_of_sample(const struct sp_lengths *pages, size_t count, uint32_t dims,
                               double share);

#endif

/* Which parts of a relation can find candidates, so that it need not be evaluated for all pairs.
 *
 * The relation becomes an "or" of paths, each an "and" of atoms (comparisons, perhaps negated). A
 * pair that the relation holds for is found by at least one path; the relation itself is
 * evaluated for every pair found, so a path may find too many pairs, but never too few. Of a path's
 * atoms
 *
 *   measure OP constant      become the least share of shingles that a or b must have in common:
 *                              containment(a, b) >= c    c of a
 *                              jaccard(a, b) >= c        c of either, and of both c / (1 + c)
 *                              dice(a, b) >= c           the same, with c / (2 - c) for c
 *                            from which follow the prefix filter and the bound on sizes (pairs.h)
 *   F(a) = F(b)              become the key of a block: only documents of one block meet
 *   F(a) != F(b)             keep documents of one value apart (apart.h)
 *   of a alone, of b alone   decide which documents take part on which side
 *   F(a) <= G(b), < > >=     become ranges, as do F(a) - G(b) <= constant and
 *   abs(F(a) - G(b)) <= …      abs(F(a) - G(b)) <= constant; those of one F and G make a window
 *                              in which G(b) must lie, and documents are sorted by G
 *
 * The rest is only asked of the pairs found.
 *
 * The second use of the atoms is the quotient (quotient.h): which documents can stand for
 * others. */
#ifndef SP_COVER_PLAN_H
#define SP_COVER_PLAN_H

#include "relation/relation.h"

enum { SP_PLAN_PATHS = 16, SP_PLAN_ATOMS = 64 };

struct sp_atom {
    const struct sp_node *node; /* a comparison, or with too many paths an "or" */
    bool negated;
};

/* sign F(a) <= sign G(b) + offset, or < */
struct sp_plan_range {
    const struct sp_node *of_a;
    const struct sp_node *of_b;
    double sign; /* 1 or -1 */
    double offset;
    bool strict; /* < */
};

/* F(a) - G(b) <= below and G(b) - F(a) <= above, or <: all that several ranges say of the same F
 * and G. Values that are no numbers are in no window. */
struct sp_plan_window {
    const struct sp_node *of_a; /* NULL: there is no window */
    const struct sp_node *of_b;
    double below;
    double above;
    bool strictly_below; /* < */
    bool strictly_above;
};

struct sp_path {
    double share[2]; /* least overlap as a share of a's and of b's shingles; above 1: impossible */
    double jaccard;  /* least Jaccard similarity; 0: none */
    struct sp_atom atoms[SP_PLAN_ATOMS];
    size_t atom_count;
    const struct sp_node *keys[SP_PLAN_ATOMS]; /* F, written of either document */
    size_t key_count;
    struct sp_atom apart[SP_PLAN_ATOMS]; /* F(a) != F(b) */
    size_t apart_count;
    struct sp_atom sided[2][SP_PLAN_ATOMS]; /* that only depend on a, on b */
    size_t sided_count[2];
    struct sp_plan_range ranges[2 * SP_PLAN_ATOMS];
    size_t range_count;
    struct sp_plan_window window; /* of the first range, and of others with its F and G */
};

struct sp_plan {
    struct sp_path *paths;
    size_t path_count;
    /* For the quotient, of all atoms wherever they stand: */
    struct sp_plan_range *orders;
    size_t order_count;
    size_t order_cap;
    uint32_t exact; /* fields that the other atoms use */
    bool measures;  /* some atom has a measure */
};

void sp_plan_make(const struct sp_relation *relation, struct sp_plan *ret_plan);
void sp_plan_done(struct sp_plan *plan);

/* The values of G(b) that F(a) has in its window: [*ret_from, *ret_to], exactly. */
void sp_plan_window_of(const struct sp_plan_window *window, double of_a, double *ret_from,
                       double *ret_to);

/* Appends lines that tell people what is pushed down and what is not. */
void sp_plan_put(const struct sp_plan *plan, struct sp_buf *out);

/* Whether an atom holds; pair->document may be half set if the atom is sided. */
bool sp_atom_holds(const struct sp_atom *atom, const struct sp_relation_pair *pair);

#endif

/* Finds the ends of chains of redirects. Redirects form a forest in which each one is a child of
 * its target. Finding the end of a chain, counting the pages below a page, and changing a target
 * cost O(log n) amortised.
 *
 * Source: link-cut trees (Sleator, Tarjan 1983), without rerooting: a redirect has one target. */
#ifndef SP_GROUP_ENDS_H
#define SP_GROUP_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_member;

struct sp_end {
    struct sp_end *above; /* parent in the splay tree; of its root, the node that this path hangs
                           * from */
    struct sp_end *left;  /* nearer to the root */
    struct sp_end *right;
    struct sp_member *member;
    uint32_t size;   /* of the splay tree below, including the paths that hang from it */
    uint32_t behind; /* nodes that hang from it by other paths */
};

/* Makes a tree of one node. Never NULL. */
struct sp_end *sp_end_new(struct sp_member *member);
/* The root of its tree. */
struct sp_end *sp_end_root(struct sp_end *x);
/* Makes the root x a child of y, which is in another tree. */
void sp_end_link(struct sp_end *x, struct sp_end *y);
/* Cuts x, which is not a root, with its subtree from its target. */
void sp_end_cut(struct sp_end *x);
/* The size of the subtree of x, x included. */
uint32_t sp_end_size(struct sp_end *x);

#endif

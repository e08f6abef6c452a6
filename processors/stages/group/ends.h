/* Where redirects end: a forest in which each redirect hangs on its target. The end of a chain of
 * any length, and how many hang behind a page, are found in O(log n) amortised; so is a change of
 * target.
 *
 * Source: link-cut trees (Sleator, Tarjan 1983), without rerooting: a redirect has one target. */
#ifndef SP_GROUP_ENDS_H
#define SP_GROUP_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_member;

struct sp_end {
    struct sp_end *above; /* in the splay tree, or the path this one hangs from */
    struct sp_end *left;  /* nearer to the root */
    struct sp_end *right;
    struct sp_member *member;
    uint32_t size;   /* of the splay tree below, with all that hangs from it */
    uint32_t behind; /* that hang from it by other paths */
};

/* A tree of one. Never NULL. */
struct sp_end *sp_end_new(struct sp_member *member);
/* The root of its tree. */
struct sp_end *sp_end_root(struct sp_end *x);
/* Hangs the root x on y, which is of another tree. */
void sp_end_link(struct sp_end *x, struct sp_end *y);
/* Takes x, which is no root, with all behind it from its target. */
void sp_end_cut(struct sp_end *x);
/* x and all behind it. */
uint32_t sp_end_size(struct sp_end *x);

#endif

/* The tree of cuts: private to this folder. */
#ifndef SP_PARTITION_TREE_H
#define SP_PARTITION_TREE_H

#include <stdbool.h>

#include "partition/partition.h"

/* Nodes in pre-order: the left child of node i is i + 1, the right one the left one's `end`. */
struct sp_cut {
    struct sp_box box;
    uint32_t end; /* the first node after this one's subtree */
    uint32_t cut; /* left: below it */
    uint16_t axis;
    uint16_t cell; /* of a leaf */
};

static inline bool sp_cut_is_leaf(const struct sp_cut *node, uint32_t at)
{
    return node->end == at + 1;
}

/* Whether lossless routing sends a page with these lengths and total to the box. */
bool sp_box_contact(const struct sp_box *box, const uint32_t at[SP_AXES], double tau);

/* Returns 2 * cells - 1 nodes, or NULL if no cuts could have made the boxes. */
struct sp_cut *sp_tree_build(const struct sp_box *boxes, uint32_t cells);

#endif

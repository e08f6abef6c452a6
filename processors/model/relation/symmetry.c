/* Whether a condition is the same in both directions. */
#include <string.h>

#include "relation/parse.h"

static bool commutes(enum sp_op op)
{
    return op == SP_OP_EQUAL || op == SP_OP_UNEQUAL || op == SP_OP_ADD || op == SP_OP_MULTIPLY ||
           op == SP_OP_AND || op == SP_OP_OR || op == SP_OP_JACCARD || op == SP_OP_DICE;
}

static bool is_same_leaf(const struct sp_node *x, const struct sp_node *y)
{
    if (x->op == SP_OP_FIELD)
        return x->field == y->field && x->document != y->document;
    if (sp_op_measures(x->op))
        return commutes(x->op) || x->document != y->document;
    return x->type == y->type && x->number == y->number && x->text.len == y->text.len &&
           (!x->text.len || memcmp(x->text.data, y->text.data, x->text.len) == 0);
}

/* Whether x becomes y if a and b change places. Looks at most once at two nodes: O(nodes^2). */
static bool mirrors(const struct sp_node *x, const struct sp_node *y)
{
    if (x->op != y->op)
        return false;
    if (!x->kid[0])
        return is_same_leaf(x, y);
    if (!x->kid[1])
        return mirrors(x->kid[0], y->kid[0]);
    return (mirrors(x->kid[0], y->kid[0]) && mirrors(x->kid[1], y->kid[1])) ||
           (commutes(x->op) && mirrors(x->kid[0], y->kid[1]) && mirrors(x->kid[1], y->kid[0]));
}

bool sp_node_is_symmetric(const struct sp_node *condition)
{
    return mirrors(condition, condition);
}

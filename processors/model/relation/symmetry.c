/* Whether a condition is the same in both directions. */
#include <string.h>

#include "base/mem.h"
#include "relation/parse.h"

/* Besides && and ||. */
static bool commutes(enum sp_op op)
{
    return op == SP_OP_EQUAL || op == SP_OP_UNEQUAL || op == SP_OP_ADD || op == SP_OP_MULTIPLY ||
           op == SP_OP_JACCARD || op == SP_OP_DICE;
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

static bool mirrors(const struct sp_node *x, const struct sp_node *y);

/* The conditions that && or || joins, of a chain such as x || y || z; appends them to `all`. */
static void add_joined(const struct sp_node *n, enum sp_op op, const struct sp_node **all,
                       uint32_t *count)
{
    if (n->op != op) {
        all[(*count)++] = n;
        return;
    }
    add_joined(n->kid[0], op, all, count);
    add_joined(n->kid[1], op, all, count);
}

static uint32_t count_joined(const struct sp_node *n, enum sp_op op)
{
    return n->op == op ? count_joined(n->kid[0], op) + count_joined(n->kid[1], op) : 1;
}

/* Whether each condition of the chain x has one of its own in the chain y that it becomes. */
static bool chains_mirror(const struct sp_node *x, const struct sp_node *y)
{
    uint32_t count = count_joined(x, x->op), found = 0, x_count = 0, y_count = 0;
    if (count != count_joined(y, x->op))
        return false;
    const struct sp_node **of_x = sp_alloc(count * sizeof *of_x),
                         **of_y = sp_alloc(count * sizeof *of_y);
    add_joined(x, x->op, of_x, &x_count);
    add_joined(y, x->op, of_y, &y_count);
    for (uint32_t i = 0; i < count && found == i; i++)
        for (uint32_t k = i; k < count && found == i; k++)
            if (mirrors(of_x[i], of_y[k])) {
                const struct sp_node *taken = of_y[k];
                of_y[k] = of_y[i];
                of_y[i] = taken;
                found++;
            }
    sp_free(of_x);
    sp_free(of_y);
    return found == count;
}

/* Whether x becomes y if a and b change places. Looks at most once at two nodes: O(nodes^2). */
static bool mirrors(const struct sp_node *x, const struct sp_node *y)
{
    if (x->op != y->op)
        return false;
    if (x->op == SP_OP_AND || x->op == SP_OP_OR)
        return chains_mirror(x, y);
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

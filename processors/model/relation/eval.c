/* Evaluates a condition for two documents. */
#include <math.h>

#include "relation/texts.h"

static const union sp_cell *cell(const struct sp_node *n, const struct sp_relation_pair *pair)
{
    return &pair->document[n->document][pair->slot ? pair->slot[n->field] : n->field];
}

static double measure(const struct sp_node *n, const struct sp_relation_pair *pair)
{
    double shared = pair->overlap, first = pair->size[n->document];
    double both = (double)pair->size[0] + pair->size[1];
    if (shared == 0)
        return 0; /* an empty side shares nothing either */
    return n->op == SP_OP_CONTAINMENT ? shared / first
           : n->op == SP_OP_JACCARD   ? shared / (both - shared)
                                      : 2 * shared / both;
}

double sp_relation_number(const struct sp_node *n, const struct sp_relation_pair *pair)
{
    if (n->op == SP_OP_CONSTANT)
        return n->number;
    if (n->op == SP_OP_FIELD)
        return cell(n, pair)->number;
    if (sp_op_measures(n->op))
        return measure(n, pair);
    double x = sp_relation_number(n->kid[0], pair);
    if (n->op == SP_OP_MINUS)
        return -x;
    if (n->op == SP_OP_ABS)
        return fabs(x);
    double y = sp_relation_number(n->kid[1], pair);
    return n->op == SP_OP_ADD        ? x + y
           : n->op == SP_OP_SUBTRACT ? x - y
           : n->op == SP_OP_MULTIPLY ? x * y
                                     : x / y;
}

struct sp_view sp_relation_text(const struct sp_node *n, const struct sp_relation_pair *pair)
{
    return n->op == SP_OP_FIELD ? *cell(n, pair)->text : n->text;
}

static bool compare_texts(enum sp_op op, struct sp_view x, struct sp_view y)
{
    if (op == SP_OP_EQUAL || op == SP_OP_UNEQUAL)
        return sp_view_eq(x, y) == (op == SP_OP_EQUAL);
    size_t least = x.len < y.len ? x.len : y.len;
    int order = least ? memcmp(x.data, y.data, least) : 0;
    if (order == 0)
        order = x.len < y.len ? -1 : x.len > y.len;
    return op == SP_OP_LESS      ? order < 0
           : op == SP_OP_GREATER ? order > 0
           : op == SP_OP_AT_MOST ? order <= 0
                                 : order >= 0;
}

static bool compare_numbers(enum sp_op op, double x, double y)
{
    switch ((int)op) {
    case SP_OP_EQUAL:
        return x == y;
    case SP_OP_UNEQUAL:
        return x != y;
    case SP_OP_LESS:
        return x < y;
    case SP_OP_GREATER:
        return x > y;
    case SP_OP_AT_MOST:
        return x <= y;
    default:
        return x >= y;
    }
}

bool sp_relation_holds(const struct sp_node *n, const struct sp_relation_pair *pair)
{
    if (n->op == SP_OP_AND)
        return sp_relation_holds(n->kid[0], pair) && sp_relation_holds(n->kid[1], pair);
    if (n->op == SP_OP_OR)
        return sp_relation_holds(n->kid[0], pair) || sp_relation_holds(n->kid[1], pair);
    if (n->op == SP_OP_NOT)
        return !sp_relation_holds(n->kid[0], pair);
    if (sp_op_tests(n->op))
        return sp_texts_test(n->op, sp_relation_text(n->kid[0], pair),
                             sp_relation_text(n->kid[1], pair));
    if (n->kid[0]->type == SP_TYPE_TEXT)
        return compare_texts(n->op, sp_relation_text(n->kid[0], pair),
                             sp_relation_text(n->kid[1], pair));
    return compare_numbers(n->op, sp_relation_number(n->kid[0], pair),
                           sp_relation_number(n->kid[1], pair));
}

/* The type rules of the relation language, and which fields a node uses. */
#include "base/assert.h"
#include "relation/parse.h"

const char *sp_type_name(enum sp_type type)
{
    static const char *const names[] = {"a number", "a text", "a time", "a duration",
                                        "a condition"};
    return names[type];
}

static bool fail(struct sp_lexer *l, const struct sp_node *n, const char *advice)
{
    if (n->kid[1])
        sp_lexer_fail(l, n->at, n->len, "`%s` cannot have %s on its left and %s on its right%s",
                      sp_op_text(n->op), sp_type_name(n->kid[0]->type),
                      sp_type_name(n->kid[1]->type), advice);
    else
        sp_lexer_fail(l, n->at, n->len, "`%s` cannot be used with %s%s", sp_op_text(n->op),
                      sp_type_name(n->kid[0]->type), advice);
    return false;
}

/* The result type of each operation; all other combinations are errors. */
static const struct {
    enum sp_op op;
    enum sp_type left, right, result;
} arithmetic[] = {
    {SP_OP_ADD, SP_TYPE_NUMBER, SP_TYPE_NUMBER, SP_TYPE_NUMBER},
    {SP_OP_ADD, SP_TYPE_TIME, SP_TYPE_DURATION, SP_TYPE_TIME},
    {SP_OP_ADD, SP_TYPE_DURATION, SP_TYPE_TIME, SP_TYPE_TIME},
    {SP_OP_ADD, SP_TYPE_DURATION, SP_TYPE_DURATION, SP_TYPE_DURATION},
    {SP_OP_SUBTRACT, SP_TYPE_NUMBER, SP_TYPE_NUMBER, SP_TYPE_NUMBER},
    {SP_OP_SUBTRACT, SP_TYPE_TIME, SP_TYPE_DURATION, SP_TYPE_TIME},
    {SP_OP_SUBTRACT, SP_TYPE_TIME, SP_TYPE_TIME, SP_TYPE_DURATION},
    {SP_OP_SUBTRACT, SP_TYPE_DURATION, SP_TYPE_DURATION, SP_TYPE_DURATION},
    {SP_OP_MULTIPLY, SP_TYPE_NUMBER, SP_TYPE_NUMBER, SP_TYPE_NUMBER},
    {SP_OP_MULTIPLY, SP_TYPE_NUMBER, SP_TYPE_DURATION, SP_TYPE_DURATION},
    {SP_OP_MULTIPLY, SP_TYPE_DURATION, SP_TYPE_NUMBER, SP_TYPE_DURATION},
    {SP_OP_DIVIDE, SP_TYPE_NUMBER, SP_TYPE_NUMBER, SP_TYPE_NUMBER},
    {SP_OP_DIVIDE, SP_TYPE_DURATION, SP_TYPE_NUMBER, SP_TYPE_DURATION},
    {SP_OP_DIVIDE, SP_TYPE_DURATION, SP_TYPE_DURATION, SP_TYPE_NUMBER},
};

static bool check_arithmetic(struct sp_lexer *l, struct sp_node *n)
{
    SP_ASSERT(n->kid[0] && n->kid[1]);
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        if (arithmetic[i].op == n->op && arithmetic[i].left == n->kid[0]->type &&
            arithmetic[i].right == n->kid[1]->type) {
            n->type = arithmetic[i].result;
            return true;
        }
    return fail(l, n, "");
}

static bool check_comparison(struct sp_lexer *l, struct sp_node *n)
{
    SP_ASSERT(n->kid[0] && n->kid[1]);
    enum sp_type left = n->kid[0]->type, right = n->kid[1]->type;
    n->type = SP_TYPE_CONDITION;
    if (left == SP_TYPE_CONDITION || right == SP_TYPE_CONDITION)
        return fail(l, n, "; combine conditions with && and ||");
    if (left == right)
        return true;
    bool time = left == SP_TYPE_TIME || right == SP_TYPE_TIME;
    bool text = left == SP_TYPE_TEXT || right == SP_TYPE_TEXT;
    bool duration = left == SP_TYPE_DURATION || right == SP_TYPE_DURATION;
    return fail(l, n,
                time && text ? "; write a date without quotes, as 2024-05-01"
                : duration   ? "; durations have a unit, as 7d or 12h"
                : time       ? "; write a time as 2024-05-01T12:30:00Z"
                             : "");
}

static bool check_test(struct sp_lexer *l, struct sp_node *n)
{
    SP_ASSERT(n->kid[0] && n->kid[1]);
    n->type = SP_TYPE_CONDITION;
    return (n->kid[0]->type == SP_TYPE_TEXT && n->kid[1]->type == SP_TYPE_TEXT) ||
           fail(l, n, "; it compares texts, as a.host ends_with \".uk\"");
}

bool sp_node_check(struct sp_lexer *l, struct sp_node *n)
{
    SP_ASSERT(n->kid[0]);
    for (size_t i = 0; i < 2; i++)
        n->uses |= n->kid[i] ? n->kid[i]->uses : 0;
    if (n->op == SP_OP_AND || n->op == SP_OP_OR || n->op == SP_OP_NOT) {
        n->type = SP_TYPE_CONDITION;
        return (n->kid[0]->type == SP_TYPE_CONDITION &&
                (!n->kid[1] || n->kid[1]->type == SP_TYPE_CONDITION)) ||
               fail(l, n, "; it needs conditions, as a.host = b.host");
    }
    if (sp_op_compares(n->op))
        return check_comparison(l, n);
    if (sp_op_tests(n->op))
        return check_test(l, n);
    if (n->op == SP_OP_MINUS || n->op == SP_OP_ABS) {
        n->type = n->kid[0]->type;
        return n->type == SP_TYPE_NUMBER || n->type == SP_TYPE_DURATION || fail(l, n, "");
    }
    return check_arithmetic(l, n);
}

uint32_t sp_relation_fields(const struct sp_node *node)
{
    uint32_t fields = node->op == SP_OP_FIELD ? 1u << node->field : 0;
    for (size_t i = 0; i < 2; i++)
        fields |= node->kid[i] ? sp_relation_fields(node->kid[i]) : 0;
    return fields;
}

/* Prints a tree as text: for people, and for tests that parse it again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "relation/parse.h"

/* How tightly an operation binds its operands. */
static int level(enum sp_op op)
{
    switch (op) {
    case SP_OP_OR:
        return 0;
    case SP_OP_AND:
        return 1;
    case SP_OP_NOT:
        return 2;
    case SP_OP_EQUAL:
    case SP_OP_UNEQUAL:
    case SP_OP_LESS:
    case SP_OP_GREATER:
    case SP_OP_AT_MOST:
    case SP_OP_AT_LEAST:
    case SP_OP_STARTS_WITH:
    case SP_OP_ENDS_WITH:
    case SP_OP_MATCHES:
    case SP_OP_IN:
        return 3;
    case SP_OP_ADD:
    case SP_OP_SUBTRACT:
        return 4;
    case SP_OP_MULTIPLY:
    case SP_OP_DIVIDE:
        return 5;
    case SP_OP_MINUS:
        return 6;
    case SP_OP_CONSTANT:
    case SP_OP_FIELD:
    case SP_OP_CONTAINMENT:
    case SP_OP_JACCARD:
    case SP_OP_DICE:
    case SP_OP_ABS:
    case SP_OP_CONTAINS:
        break;
    }
    return 7;
}

/* Fixed notation with as many digits as needed, because the language has no exponents. */
static void put_number(struct sp_buf *out, double x)
{
    char text[512];
    int n = snprintf(text, sizeof text, "%.0f", x);
    for (int digits = 1; digits <= 100 && strtod(text, NULL) != x; digits++)
        n = snprintf(text, sizeof text, "%.*f", digits, x);
    sp_buf_put(out, text, (size_t)n);
}

static void put_duration(struct sp_buf *out, double ms)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"d", 86400e3}, {"h", 3600e3}, {"m", 60e3}, {"s", 1e3}, {"ms", 1}};
    size_t u = 0;
    while (u < 4 && (ms == 0 || fmod(ms, units[u].ms) != 0))
        u++;
    put_number(out, ms / units[u].ms);
    sp_buf_put_str(out, units[u].name);
}

static void put_time(struct sp_buf *out, double ms)
{
    char text[64];
    struct tm t;
    time_t seconds = (time_t)(ms / 1000);
    gmtime_r(&seconds, &t);
    bool midnight = t.tm_hour == 0 && t.tm_min == 0 && t.tm_sec == 0;
    strftime(text, sizeof text, midnight ? "%Y-%m-%d" : "%Y-%m-%dT%H:%M:%SZ", &t);
    /* glibc does not pad the years before 1000. */
    for (size_t n = strcspn(text, "-"); n < 4; n++)
        sp_buf_put_u8(out, '0');
    sp_buf_put_str(out, text);
}

static void put_text(struct sp_buf *out, struct sp_view text)
{
    sp_buf_put_u8(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            sp_buf_put_u8(out, '\\');
        sp_buf_put(out, text.data + i, 1);
    }
    sp_buf_put_u8(out, '"');
}

static void put_leaf(const struct sp_node *n, enum sp_relation_kind kind, struct sp_buf *out)
{
    if (sp_op_measures(n->op)) {
        sp_buf_put_str(out, sp_op_text(n->op));
        sp_buf_put_str(out, n->document ? "(b, a)" : "(a, b)");
    } else if (n->op == SP_OP_FIELD) {
        if (kind == SP_RELATION)
            sp_buf_put_str(out, n->document ? "b." : "a.");
        sp_buf_put_str(out, sp_field_name(n->field));
    } else if (n->type == SP_TYPE_TEXT) {
        put_text(out, n->text);
    } else if (n->type == SP_TYPE_TIME) {
        put_time(out, n->number);
    } else if (n->type == SP_TYPE_DURATION) {
        put_duration(out, n->number);
    } else {
        put_number(out, n->number);
    }
}

static void put_operand(const struct sp_node *n, enum sp_relation_kind kind, int least,
                        struct sp_buf *out)
{
    bool wrapped = level(n->op) < least;
    if (wrapped)
        sp_buf_put_u8(out, '(');
    sp_relation_put(n, kind, out);
    if (wrapped)
        sp_buf_put_u8(out, ')');
}

void sp_relation_put(const struct sp_node *n, enum sp_relation_kind kind, struct sp_buf *out)
{
    int own = level(n->op);
    if (!n->kid[0]) {
        put_leaf(n, kind, out);
    } else if (n->op == SP_OP_ABS) {
        sp_buf_put_str(out, "abs(");
        sp_relation_put(n->kid[0], kind, out);
        sp_buf_put_u8(out, ')');
    } else if (n->op == SP_OP_CONTAINS) {
        sp_buf_put_str(out, "contains(");
        sp_relation_put(n->kid[0], kind, out);
        sp_buf_put_str(out, ", ");
        sp_relation_put(n->kid[1], kind, out);
        sp_buf_put_u8(out, ')');
    } else if (!n->kid[1]) {
        sp_buf_put_str(out, n->op == SP_OP_NOT ? "!" : "-");
        put_operand(n->kid[0], kind, own, out);
    } else {
        /* Operators are left-associative; comparisons cannot be chained. */
        put_operand(n->kid[0], kind, own == level(SP_OP_EQUAL) ? own + 1 : own, out);
        sp_buf_put_u8(out, ' ');
        sp_buf_put_str(out, sp_op_text(n->op));
        sp_buf_put_u8(out, ' ');
        put_operand(n->kid[1], kind, own + 1, out);
    }
}

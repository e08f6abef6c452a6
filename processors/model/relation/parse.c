/* The parser: recursive descent with one function for each precedence level. Depth and number of
 * nodes are bounded, so that no input exhausts the stack. */
#include <stdio.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "relation/parse.h"

enum { DEPTH_MAX = 100, NODES_MAX = 2000, SHOWN_BYTES = 120 };

struct parser {
    struct sp_lexer lexer;
    struct sp_relation *relation;
    uint32_t allowed; /* fields, as in sp_relation.fields */
    unsigned depth;
};

static const struct {
    const char *name;
    enum sp_type type;
} fields[] = {
#define X(name, type) {#name, SP_TYPE_##type},
    SP_RELATION_FIELDS(X)
#undef X
};

const char *sp_field_name(enum sp_field field)
{
    return fields[field].name;
}

bool sp_field_is_text(enum sp_field field)
{
    return fields[field].type == SP_TYPE_TEXT;
}

static struct sp_node *fail(struct parser *p, const char *what)
{
    struct sp_lexer *l = &p->lexer;
    sp_lexer_fail(l, l->at, l->next - l->at, "%s", what);
    return NULL;
}

static struct sp_node *new_node(struct parser *p, enum sp_op op, size_t at)
{
    struct sp_relation *r = p->relation;
    if (r->node_count == NODES_MAX)
        return fail(p, "the condition is too long");
    sp_grow(&r->nodes, &r->node_cap, r->node_count + 1);
    struct sp_node *n = sp_calloc(1, sizeof *n);
    r->nodes[r->node_count++] = n;
    n->op = op;
    n->at = (uint32_t)at;
    n->len = (uint32_t)(p->lexer.next - at);
    return n;
}

static struct sp_node *combine(struct parser *p, enum sp_op op, size_t at,
                               const struct sp_node *left, const struct sp_node *right)
{
    struct sp_node *n = new_node(p, op, at);
    if (!n)
        return NULL;
    const struct sp_node *last = right ? right : left;
    n->kid[0] = left;
    n->kid[1] = right;
    n->len = last->at + last->len - n->at;
    return sp_node_check(&p->lexer, n) ? n : NULL;
}

static bool at_punct(const struct parser *p, char c)
{
    return p->lexer.token == SP_TOKEN_PUNCT && p->lexer.source[p->lexer.at] == c;
}

static bool expect(struct parser *p, char c, const char *what)
{
    if (!at_punct(p, c)) {
        fail(p, what);
        return false;
    }
    sp_lexer_next(&p->lexer);
    return true;
}

static bool at_name(const struct parser *p, const char *name)
{
    const struct sp_lexer *l = &p->lexer;
    return l->token == SP_TOKEN_NAME &&
           sp_view_eq(sp_view(l->source + l->at, l->next - l->at), sp_view_str(name));
}

/* a or b; -1: neither */
static int at_document(const struct parser *p)
{
    return at_name(p, "a") ? 0 : at_name(p, "b") ? 1 : -1;
}

static struct sp_node *parse_or(struct parser *p);

static struct sp_node *parse_constant(struct parser *p, enum sp_type type)
{
    struct sp_lexer *l = &p->lexer;
    struct sp_node *n = new_node(p, SP_OP_CONSTANT, l->at);
    if (!n)
        return NULL;
    n->type = type;
    n->number = l->number;
    if (type == SP_TYPE_TEXT)
        n->text = sp_view(sp_view_dup(sp_buf_view(&l->text)), l->text.len);
    sp_lexer_next(l);
    return n;
}

static struct sp_node *fail_at_field(struct parser *p, const char *what)
{
    struct sp_lexer *l = &p->lexer;
    struct sp_buf names = {0};
    for (size_t f = 0; f < SP_FIELD_COUNT; f++)
        if (p->allowed & 1u << f) {
            sp_buf_put_str(&names, names.len > 0 ? ", " : "");
            sp_buf_put_str(&names, fields[f].name);
        }
    sp_lexer_fail(l, l->at, l->next - l->at, "%s; the fields are %.*s", what, (int)names.len,
                  (const char *)names.data);
    sp_buf_done(&names);
    return NULL;
}

static struct sp_node *parse_field(struct parser *p, uint8_t document, size_t at)
{
    for (size_t f = 0; f < SP_FIELD_COUNT; f++) {
        if (!at_name(p, fields[f].name))
            continue;
        if (!(p->allowed & 1u << f))
            return fail_at_field(p, "this field is not known here");
        struct sp_node *n = new_node(p, SP_OP_FIELD, at);
        if (!n)
            return NULL;
        n->type = fields[f].type;
        n->field = (enum sp_field)f;
        n->document = document;
        n->uses = (uint8_t)(document ? SP_USES_B : SP_USES_A);
        p->relation->fields |= 1u << f;
        sp_lexer_next(&p->lexer);
        return n;
    }
    if (p->lexer.token == SP_TOKEN_BAD)
        return NULL;
    return fail_at_field(p, "there is no such field");
}

static struct sp_node *parse_measure(struct parser *p, enum sp_op op, size_t at)
{
    static const char arguments[] = "a measure compares the two documents: (a, b) or (b, a)";
    if (p->relation->kind != SP_RELATION) {
        sp_lexer_fail(&p->lexer, at, strlen(sp_op_text(op)),
                      "this looks at one document; measures compare two");
        return NULL;
    }
    if (!expect(p, '(', arguments))
        return NULL;
    int first = at_document(p);
    if (first < 0)
        return fail(p, arguments);
    sp_lexer_next(&p->lexer);
    if (!expect(p, ',', arguments))
        return NULL;
    int second = at_document(p);
    if (second < 0 || second == first)
        return fail(p, arguments);
    sp_lexer_next(&p->lexer);
    if (!at_punct(p, ')'))
        return fail(p, "this should be the ) of the measure");
    struct sp_node *n = new_node(p, op, at);
    if (!n)
        return NULL;
    n->type = SP_TYPE_NUMBER;
    n->document = (uint8_t)first;
    n->uses = SP_USES_MEASURE;
    sp_lexer_next(&p->lexer);
    return n;
}

/* abs(x), contains(x, y): the name is the current token, and starts at `at`. */
static struct sp_node *parse_function(struct parser *p, enum sp_op op, size_t at)
{
    const struct sp_node *kid[2] = {NULL, NULL};
    sp_lexer_next(&p->lexer);
    if (!at_punct(p, '('))
        return fail(p, op == SP_OP_ABS ? "abs needs a value in parentheses"
                                       : "this should be the ( of contains(TEXT, WORDS)");
    for (size_t i = 0; i < (op == SP_OP_ABS ? 1u : 2u); i++) {
        if (i == 1 && !at_punct(p, ','))
            return fail(p, "contains(TEXT, WORDS) takes two texts: this should be a comma");
        sp_lexer_next(&p->lexer);
        kid[i] = parse_or(p);
        if (!kid[i])
            return NULL;
    }
    if (!at_punct(p, ')'))
        return fail(p, "a ) is missing here");
    struct sp_node *n = combine(p, op, at, kid[0], kid[1]);
    if (n)
        n->len = (uint32_t)(p->lexer.next - at);
    sp_lexer_next(&p->lexer);
    return n;
}

static struct sp_node *parse_name(struct parser *p)
{
    size_t at = p->lexer.at;
    int document = at_document(p);
    bool filter = p->relation->kind != SP_RELATION;
    if (document >= 0 && !filter) {
        sp_lexer_next(&p->lexer);
        if (!expect(p, '.', "a field is written a.host or b.host: this should be the dot"))
            return NULL;
        return parse_field(p, (uint8_t)document, at);
    }
    for (enum sp_op op = SP_OP_CONTAINMENT; op <= SP_OP_DICE; op++)
        if (at_name(p, sp_op_text(op))) {
            sp_lexer_next(&p->lexer);
            return parse_measure(p, op, at);
        }
    if (at_name(p, "abs"))
        return parse_function(p, SP_OP_ABS, at);
    if (at_name(p, "contains"))
        return parse_function(p, SP_OP_CONTAINS, at);
    if (filter)
        return parse_field(p, 0, at);
    return fail(p, "this name is unknown; known are a.FIELD, b.FIELD, containment(a, b), "
                   "jaccard(a, b), dice(a, b), abs(…), contains(…, …); texts need quotes");
}

static struct sp_node *parse_primary(struct parser *p)
{
    switch (p->lexer.token) {
    case SP_TOKEN_NUMBER:
        return parse_constant(p, SP_TYPE_NUMBER);
    case SP_TOKEN_DURATION:
        return parse_constant(p, SP_TYPE_DURATION);
    case SP_TOKEN_TIME:
        return parse_constant(p, SP_TYPE_TIME);
    case SP_TOKEN_TEXT:
        return parse_constant(p, SP_TYPE_TEXT);
    case SP_TOKEN_NAME:
        return parse_name(p);
    case SP_TOKEN_END:
        return fail(p, "a value or a condition is missing: the text ends here");
    case SP_TOKEN_PUNCT:
    case SP_TOKEN_OP:
    case SP_TOKEN_BAD:
        break;
    }
    if (!at_punct(p, '('))
        return fail(p, "a value or a condition is missing here");
    size_t open = p->lexer.at;
    sp_lexer_next(&p->lexer);
    struct sp_node *n = parse_or(p);
    if (!n)
        return NULL;
    if (!at_punct(p, ')')) {
        if (p->lexer.token == SP_TOKEN_END)
            sp_lexer_fail(&p->lexer, open, 1, "this ( is never closed");
        return fail(p, "this should be an operator or a )");
    }
    n->len = (uint32_t)(p->lexer.next - open);
    n->at = (uint32_t)open;
    sp_lexer_next(&p->lexer);
    return n;
}

static bool at_op(const struct parser *p, enum sp_op first, enum sp_op last)
{
    return p->lexer.token == SP_TOKEN_OP && p->lexer.op >= first && p->lexer.op <= last;
}

/* Goes one level deeper; false if that is too deep. */
static bool enter(struct parser *p)
{
    if (p->depth == DEPTH_MAX) {
        fail(p, "the condition is nested too deep");
        return false;
    }
    p->depth++;
    return true;
}

static struct sp_node *parse_minus(struct parser *p)
{
    if (!at_op(p, SP_OP_SUBTRACT, SP_OP_SUBTRACT))
        return parse_primary(p);
    size_t at = p->lexer.at;
    if (!enter(p))
        return NULL;
    sp_lexer_next(&p->lexer);
    struct sp_node *kid = parse_minus(p);
    p->depth--;
    return kid ? combine(p, SP_OP_MINUS, at, kid, NULL) : NULL;
}

/* left OP right OP right …, left-associative */
static struct sp_node *parse_chain(struct parser *p, enum sp_op first, enum sp_op last,
                                   struct sp_node *(*operand)(struct parser *p))
{
    struct sp_node *left = operand(p);
    while (left && at_op(p, first, last)) {
        enum sp_op op = p->lexer.op;
        sp_lexer_next(&p->lexer);
        const struct sp_node *right = operand(p);
        left = right ? combine(p, op, left->at, left, right) : NULL;
    }
    return left;
}

static struct sp_node *parse_product(struct parser *p)
{
    return parse_chain(p, SP_OP_MULTIPLY, SP_OP_DIVIDE, parse_minus);
}

static struct sp_node *parse_sum(struct parser *p)
{
    return parse_chain(p, SP_OP_ADD, SP_OP_SUBTRACT, parse_product);
}

/* What follows `in`: left = first || left = second … */
static struct sp_node *parse_list(struct parser *p, const struct sp_node *left)
{
    struct sp_node *all = NULL;
    if (!expect(p, '(', "`in` needs a list, as host in (\"one.example\", \"two.example\")"))
        return NULL;
    for (;;) {
        const struct sp_node *value = parse_sum(p);
        struct sp_node *equal = value ? combine(p, SP_OP_EQUAL, left->at, left, value) : NULL;
        if (!equal)
            return NULL;
        all = all ? combine(p, SP_OP_OR, left->at, all, equal) : equal;
        if (!all || !at_punct(p, ','))
            break;
        sp_lexer_next(&p->lexer);
    }
    return all && expect(p, ')', "this should be a comma or the ) of the list") ? all : NULL;
}

static struct sp_node *parse_comparison(struct parser *p)
{
    struct sp_node *left = parse_sum(p), *n = NULL;
    if (!left || !at_op(p, SP_OP_EQUAL, SP_OP_IN))
        return left;
    enum sp_op op = p->lexer.op;
    sp_lexer_next(&p->lexer);
    if (op == SP_OP_IN) {
        n = parse_list(p, left);
    } else {
        const struct sp_node *right = parse_sum(p);
        n = right ? combine(p, op, left->at, left, right) : NULL;
    }
    if (n && at_op(p, SP_OP_EQUAL, SP_OP_IN))
        return fail(p, "comparisons cannot be chained; write x <= y && y <= z");
    return n;
}

static struct sp_node *parse_not(struct parser *p)
{
    if (!at_op(p, SP_OP_NOT, SP_OP_NOT))
        return parse_comparison(p);
    size_t at = p->lexer.at;
    if (!enter(p))
        return NULL;
    sp_lexer_next(&p->lexer);
    struct sp_node *kid = parse_not(p);
    p->depth--;
    return kid ? combine(p, SP_OP_NOT, at, kid, NULL) : NULL;
}

static struct sp_node *parse_and(struct parser *p)
{
    return parse_chain(p, SP_OP_AND, SP_OP_AND, parse_not);
}

static struct sp_node *parse_or(struct parser *p)
{
    if (!enter(p))
        return NULL;
    struct sp_node *n = parse_chain(p, SP_OP_OR, SP_OP_OR, parse_and);
    p->depth--;
    return n;
}

/* ---- error messages ---- */

/* The number of characters; an invalid byte counts as one. */
static size_t columns(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t at = 0, size; at < len; at += size, n++)
        sp_utf8_get(text + at, len - at, &size);
    return n;
}

/* The message, the source around the place, and a caret below it. */
static enum sp_err show(const struct sp_lexer *l, struct sp_fault *fault)
{
    size_t from = l->error_at > SHOWN_BYTES / 2 ? l->error_at - SHOWN_BYTES / 2 : 0;
    while (from > 0 && sp_utf8_continues(l->source[from]))
        from--;
    size_t to = from + SHOWN_BYTES < l->len ? from + SHOWN_BYTES : l->len;
    while (to < l->len && sp_utf8_continues(l->source[to]))
        to++;
    size_t end = l->error_at + l->error_len < to ? l->error_at + l->error_len : to;
    int before = (int)columns(l->source + from, l->error_at - from);
    int below = end > l->error_at ? (int)columns(l->source + l->error_at, end - l->error_at) : 1;
    char part[SHOWN_BYTES + 8], tail[SHOWN_BYTES + 1];
    size_t n = 0;
    for (size_t i = from; i < to && n < sizeof part - 1; i++)
        part[n++] = (unsigned char)l->source[i] < ' ' ? ' ' : l->source[i];
    part[n] = 0;
    memset(tail, '~', sizeof tail);
    return sp_fault_set(fault, SP_INVALID, "column %zu: %s\n  %s%s%s\n  %*s^%.*s",
                        columns(l->source, l->error_at) + 1, l->error, from > 0 ? "…" : "", part,
                        to < l->len ? "…" : "", before + (from > 0), "", below - 1, tail);
}

enum sp_err sp_relation_parse(const char *source, enum sp_relation_kind kind,
                              struct sp_relation **ret_relation, struct sp_fault *fault)
{
    return sp_relation_parse_fields(source, kind, UINT32_MAX, ret_relation, fault);
}

enum sp_err sp_relation_parse_fields(const char *source, enum sp_relation_kind kind,
                                     uint32_t allowed, struct sp_relation **ret_relation,
                                     struct sp_fault *fault)
{
    struct sp_relation *r = sp_calloc(1, sizeof *r);
    struct parser p = {.relation = r, .allowed = allowed};
    r->source = sp_strdup(source);
    r->kind = kind;
    p.lexer.source = r->source;
    p.lexer.len = strlen(r->source);
    sp_lexer_next(&p.lexer);
    r->root = parse_or(&p);
    if (r->root && p.lexer.token != SP_TOKEN_END)
        fail(&p, "this should be an operator such as && or >=");
    if (r->root && kind == SP_VALUE && r->root->type != SP_TYPE_NUMBER)
        sp_lexer_fail(&p.lexer, r->root->at, r->root->len,
                      "this is %s, but a number is needed, such as bytes or 1 / (1 + popularity)",
                      sp_type_name(r->root->type));
    else if (r->root && kind != SP_VALUE && r->root->type != SP_TYPE_CONDITION)
        sp_lexer_fail(&p.lexer, r->root->at, r->root->len,
                      "this is %s, but a condition is needed, such as containment(a, b) >= 0.7",
                      sp_type_name(r->root->type));
    sp_buf_done(&p.lexer.text);
    enum sp_err err = p.lexer.failed ? show(&p.lexer, fault) : SP_OK;
    if (err != SP_OK) {
        sp_relation_free(r);
        return err;
    }
    r->symmetric = kind == SP_RELATION && sp_node_is_symmetric(r->root);
    *ret_relation = r;
    return SP_OK;
}

void sp_relation_free(struct sp_relation *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->node_count; i++) {
        sp_free((char *)(uintptr_t)r->nodes[i]->text.data);
        sp_free(r->nodes[i]);
    }
    sp_free(r->nodes);
    sp_free(r->source);
    sp_free(r);
}

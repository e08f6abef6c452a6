/* See plan.h. Paths are made by distributing "and" over "or". Where that would give more than
 * SP_PLAN_PATHS, an "or" remains an atom that is evaluated but not used to find pairs: slower,
 * never wrong. */
#include "cover/plan.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

/* Tolerance for the rounding of a measure that is compared with a constant. */
static const double slack = 1e-9;

bool sp_atom_holds(const struct sp_atom *atom, const struct sp_relation_pair *pair)
{
    return sp_relation_holds(atom->node, pair) != atom->negated;
}

/* ---- paths ---- */

struct product {
    struct sp_path *paths;
    size_t count;
};

/* Whether the node, under this negation, is an "or" of its kids. */
static bool is_choice(const struct sp_node *n, bool negated)
{
    return n->op == (negated ? SP_OP_AND : SP_OP_OR);
}

static bool is_junction(const struct sp_node *n, bool negated)
{
    return n->op == (negated ? SP_OP_OR : SP_OP_AND);
}

/* Returns how many paths the node alone gives, at most SP_PLAN_PATHS + 1. */
static size_t path_count(const struct sp_node *n, bool negated)
{
    size_t count = 1;
    if (n->op == SP_OP_NOT)
        return path_count(n->kid[0], !negated);
    if (is_choice(n, negated))
        count = path_count(n->kid[0], negated) + path_count(n->kid[1], negated);
    else if (is_junction(n, negated))
        count = path_count(n->kid[0], negated) * path_count(n->kid[1], negated);
    return count > SP_PLAN_PATHS ? SP_PLAN_PATHS + 1 : count;
}

static void add_atom(struct product *p, const struct sp_node *n, bool negated)
{
    for (size_t i = 0; i < p->count; i++)
        /* An atom without room is evaluated later, but not used to find pairs. */
        if (p->paths[i].atom_count < SP_PLAN_ATOMS)
            p->paths[i].atoms[p->paths[i].atom_count++] = (struct sp_atom){n, negated};
}

/* Replaces p by "p and n". */
static void distribute(struct product *p, const struct sp_node *n, bool negated)
{
    if (n->op == SP_OP_NOT) {
        distribute(p, n->kid[0], !negated);
    } else if (is_junction(n, negated)) {
        distribute(p, n->kid[0], negated);
        distribute(p, n->kid[1], negated);
    } else if (is_choice(n, negated) && p->count * path_count(n, negated) <= SP_PLAN_PATHS) {
        struct product q = {sp_alloc(SP_PLAN_PATHS * sizeof *q.paths), p->count};
        memcpy(q.paths, p->paths, p->count * sizeof *p->paths);
        distribute(p, n->kid[0], negated);
        distribute(&q, n->kid[1], negated);
        memcpy(p->paths + p->count, q.paths, q.count * sizeof *q.paths);
        p->count += q.count;
        sp_free(q.paths);
    } else {
        add_atom(p, n, negated);
    }
}

/* ---- atoms ---- */

static bool is_constant(const struct sp_node *n)
{
    return n->uses == 0;
}

static enum sp_op mirrored(enum sp_op op)
{
    return op == SP_OP_LESS       ? SP_OP_GREATER
           : op == SP_OP_GREATER  ? SP_OP_LESS
           : op == SP_OP_AT_MOST  ? SP_OP_AT_LEAST
           : op == SP_OP_AT_LEAST ? SP_OP_AT_MOST
                                  : op;
}

static enum sp_op denied(enum sp_op op)
{
    return op == SP_OP_LESS       ? SP_OP_AT_LEAST
           : op == SP_OP_GREATER  ? SP_OP_AT_MOST
           : op == SP_OP_AT_MOST  ? SP_OP_GREATER
           : op == SP_OP_AT_LEAST ? SP_OP_LESS
           : op == SP_OP_EQUAL    ? SP_OP_UNEQUAL
                                  : SP_OP_EQUAL;
}

/* Handles "measure OP constant", with the sides in either order: derives the least overlap. */
static bool push_measure(struct sp_path *path, const struct sp_atom *atom)
{
    const struct sp_node *n = atom->node, *measure = n->kid[0], *bound = n->kid[1];
    enum sp_op op = atom->negated ? denied(n->op) : n->op; /* measures are always numbers */
    if (sp_op_measures(bound->op)) {
        measure = n->kid[1];
        bound = n->kid[0];
        op = mirrored(op);
    }
    if (!sp_op_measures(measure->op) || !is_constant(bound) ||
        (op != SP_OP_AT_LEAST && op != SP_OP_GREATER && op != SP_OP_EQUAL))
        return false;
    double c = sp_relation_number(bound, &(struct sp_relation_pair){0}) - slack;
    if (!(c > 0))
        return false;
    if (measure->op == SP_OP_DICE)
        c = c < 2 ? c / (2 - c) : 2;
    for (unsigned side = 0; side < 2; side++)
        if (measure->op != SP_OP_CONTAINMENT || measure->document == side)
            path->share[side] = c > path->share[side] ? c : path->share[side];
    if (measure->op != SP_OP_CONTAINMENT && c > path->jaccard)
        path->jaccard = c;
    return true;
}

/* Whether x and y are the same value: of the same document, or, if mirrored, of a and b. */
static bool same(const struct sp_node *x, const struct sp_node *y, bool mirrored_)
{
    if (x->op != y->op || x->type != y->type)
        return false;
    if (x->op == SP_OP_FIELD)
        return x->field == y->field && (x->document != y->document) == mirrored_;
    if (x->op == SP_OP_CONSTANT)
        return x->number == y->number && sp_view_eq(x->text, y->text);
    return !sp_op_measures(x->op) && x->kid[0] && same(x->kid[0], y->kid[0], mirrored_) &&
           (!x->kid[1] || same(x->kid[1], y->kid[1], mirrored_));
}

static bool push_key(struct sp_path *path, const struct sp_atom *atom)
{
    const struct sp_node *n = atom->node;
    if ((atom->negated ? denied(n->op) : n->op) != SP_OP_EQUAL ||
        !same(n->kid[0], n->kid[1], true) || is_constant(n))
        return false;
    path->keys[path->key_count++] = n->kid[0];
    return true;
}

static bool push_apart(struct sp_path *path, const struct sp_atom *atom)
{
    const struct sp_node *n = atom->node;
    uint32_t uses = n->kid[0]->uses;
    if ((atom->negated ? denied(n->op) : n->op) != SP_OP_UNEQUAL ||
        (uses != SP_USES_A && uses != SP_USES_B) || !same(n->kid[0], n->kid[1], true))
        return false;
    path->apart[path->apart_count++] = *atom;
    return true;
}

static bool push_sided(struct sp_path *path, const struct sp_atom *atom)
{
    if (atom->node->uses != SP_USES_A && atom->node->uses != SP_USES_B)
        return false;
    unsigned side = atom->node->uses == SP_USES_B;
    path->sided[side][path->sided_count[side]++] = *atom;
    return true;
}

/* Recognises F(a) <= G(b) in any form. A negated one also holds for NaN, and is left alone. */
static bool as_range(const struct sp_atom *atom, struct sp_plan_range *ret_range)
{
    const struct sp_node *n = atom->node, *left = n->kid[0], *right = n->kid[1];
    if (atom->negated || !sp_op_compares(n->op) || n->op == SP_OP_EQUAL || n->op == SP_OP_UNEQUAL ||
        left->type == SP_TYPE_TEXT)
        return false;
    bool rises = n->op == SP_OP_LESS || n->op == SP_OP_AT_MOST;
    bool strict = n->op == SP_OP_LESS || n->op == SP_OP_GREATER;
    if (left->uses == SP_USES_A && right->uses == SP_USES_B)
        *ret_range = (struct sp_plan_range){left, right, rises ? 1 : -1, 0, strict};
    else if (left->uses == SP_USES_B && right->uses == SP_USES_A)
        *ret_range = (struct sp_plan_range){right, left, rises ? -1 : 1, 0, strict};
    else
        return false;
    return true;
}

/* Handles F(a) - G(b) OP constant, or abs() of the difference, with the sides in either order:
 * gives one or two ranges. */
static void push_difference(struct sp_path *path, const struct sp_atom *atom)
{
    const struct sp_node *difference = atom->node->kid[0], *bound = atom->node->kid[1];
    enum sp_op op = atom->node->op;
    if (is_constant(difference)) {
        difference = atom->node->kid[1];
        bound = atom->node->kid[0];
        op = mirrored(op);
    }
    bool absolute = difference->op == SP_OP_ABS;
    if (absolute)
        difference = difference->kid[0];
    if (atom->negated || !is_constant(bound) || difference->op != SP_OP_SUBTRACT)
        return;
    const struct sp_node *f = difference->kid[0], *g = difference->kid[1];
    bool turned = f->uses == SP_USES_B && g->uses == SP_USES_A; /* G(b) - F(a) */
    if (!turned && !(f->uses == SP_USES_A && g->uses == SP_USES_B))
        return;
    double c = sp_relation_number(bound, &(struct sp_relation_pair){0});
    bool at_most = op == SP_OP_LESS || op == SP_OP_AT_MOST || op == SP_OP_EQUAL;
    bool at_least = op == SP_OP_GREATER || op == SP_OP_AT_LEAST || op == SP_OP_EQUAL;
    bool strict = op == SP_OP_LESS || op == SP_OP_GREATER;
    if (at_most)
        path->ranges[path->range_count++] = turned ? (struct sp_plan_range){g, f, -1, c, strict}
                                                   : (struct sp_plan_range){f, g, 1, c, strict};
    if ((absolute && at_most) || (!absolute && at_least)) {
        double d = absolute ? c : -c;
        path->ranges[path->range_count++] = turned ? (struct sp_plan_range){g, f, 1, d, strict}
                                                   : (struct sp_plan_range){f, g, -1, d, strict};
    }
}

/* Bounds a difference by one more range. */
static void narrow(const struct sp_plan_range *r, double *offset, bool *strict)
{
    if (r->offset < *offset)
        *strict = false;
    if (r->offset <= *offset) {
        *offset = r->offset;
        *strict |= r->strict;
    }
}

/* Combines all ranges of the same values as the first into one window. */
static void make_window(struct sp_path *path)
{
    const struct sp_plan_range *first = &path->ranges[0];
    struct sp_plan_window *w = &path->window;
    if (path->range_count == 0)
        return;
    *w = (struct sp_plan_window){first->of_a, first->of_b, INFINITY, INFINITY, false, false};
    for (size_t i = 0; i < path->range_count; i++) {
        const struct sp_plan_range *r = &path->ranges[i];
        if (!same(r->of_a, w->of_a, false) || !same(r->of_b, w->of_b, false))
            continue;
        if (r->sign > 0)
            narrow(r, &w->below, &w->strictly_below);
        else
            narrow(r, &w->above, &w->strictly_above);
    }
}

/* ---- windows ---- */

/* Numbers in their order, as integers, and back. */
static int64_t place_of(double x)
{
    int64_t place;
    memcpy(&place, &x, sizeof place);
    return place < 0 ? INT64_MIN - place : place;
}

static double at_place(int64_t place)
{
    double x;
    place = place < 0 ? INT64_MIN - place : place;
    memcpy(&x, &place, sizeof x);
    return x;
}

/* Returns the least y for which the rounded difference x - y, as the relation computes it, is at
 * most that, or less. Where infinite values have no difference, y is no bound. */
static double least_within(double x, double most, bool strict)
{
    int64_t lo = place_of(-INFINITY), hi = place_of(INFINITY); /* too small; enough */
    if (strict ? !(x + INFINITY >= most) : !(x + INFINITY > most))
        return -INFINITY;
    while (lo + 1 < hi) {
        int64_t middle = lo + (int64_t)(((uint64_t)hi - (uint64_t)lo) / 2);
        double difference = x - at_place(middle);
        if (strict ? difference >= most : difference > most)
            lo = middle;
        else
            hi = middle;
    }
    return at_place(hi);
}

void sp_plan_window_of(const struct sp_plan_window *window, double of_a, double *ret_from,
                       double *ret_to)
{
    *ret_from = least_within(of_a, window->below, window->strictly_below);
    *ret_to = -least_within(-of_a, window->above, window->strictly_above);
}

static void push_down(struct sp_path *path)
{
    size_t asked = 0;
    for (size_t i = 0; i < path->atom_count; i++) {
        struct sp_atom atom = path->atoms[i];
        struct sp_plan_range range;
        enum sp_op op = atom.node->op;
        if (sp_op_compares(op) ? push_measure(path, &atom) || push_key(path, &atom) ||
                                     push_apart(path, &atom) || push_sided(path, &atom)
                               : sp_op_tests(op) && push_sided(path, &atom))
            continue;
        if (as_range(&atom, &range)) {
            path->ranges[path->range_count++] = range;
            continue;
        }
        if (sp_op_compares(op))
            push_difference(path, &atom);
        path->atoms[asked++] = atom;
    }
    path->atom_count = asked;
    make_window(path);
}

/* ---- the quotient ---- */

static void note_orders(struct sp_plan *plan, const struct sp_node *n, bool negated)
{
    struct sp_plan_range range;
    struct sp_atom atom = {n, negated};
    if (n->op == SP_OP_NOT) {
        note_orders(plan, n->kid[0], !negated);
    } else if (n->op == SP_OP_AND || n->op == SP_OP_OR) {
        note_orders(plan, n->kid[0], negated);
        note_orders(plan, n->kid[1], negated);
    } else if (as_range(&atom, &range)) {
        sp_grow(&plan->orders, &plan->order_cap, plan->order_count + 1);
        plan->orders[plan->order_count++] = range;
    } else {
        plan->measures |= (n->uses & SP_USES_MEASURE) != 0;
        plan->exact |= sp_relation_fields(n);
    }
}

void sp_plan_make(const struct sp_relation *relation, struct sp_plan *ret_plan)
{
    struct sp_plan *plan = ret_plan;
    struct product product = {sp_calloc(SP_PLAN_PATHS, sizeof *product.paths), 1};
    *plan = (struct sp_plan){0};
    distribute(&product, relation->root, false);
    for (size_t i = 0; i < product.count; i++)
        push_down(&product.paths[i]);
    plan->paths = product.paths;
    plan->path_count = product.count;
    note_orders(plan, relation->root, false);
}

void sp_plan_done(struct sp_plan *plan)
{
    sp_free(plan->paths);
    sp_free(plan->orders);
    *plan = (struct sp_plan){0};
}

/* ---- printing ---- */

static void put_atom(const struct sp_atom *atom, struct sp_buf *out)
{
    sp_buf_put_str(out, atom->negated ? "!(" : "");
    sp_relation_put(atom->node, SP_RELATION, out);
    sp_buf_put_str(out, atom->negated ? ")\n" : "\n");
}

static void put_share(const struct sp_path *path, struct sp_buf *out)
{
    static const char *const names[] = {"a", "b"};
    for (unsigned side = 0; side < 2; side++) {
        char text[160];
        if (path->share[side] <= 0)
            continue;
        snprintf(text, sizeof text, "  overlap     at least %.4g of %s's shingles\n",
                 path->share[side], names[side]);
        sp_buf_put_str(out, text);
    }
}

static void put_range(const struct sp_plan_range *r, struct sp_buf *out)
{
    struct sp_node offset = {.op = SP_OP_CONSTANT, .number = fabs(r->offset)};
    offset.type = r->of_a->type == SP_TYPE_NUMBER ? SP_TYPE_NUMBER : SP_TYPE_DURATION;
    sp_buf_put_str(out, "  range       ");
    sp_relation_put(r->of_a, SP_RELATION, out);
    sp_buf_put_str(out, r->sign > 0 ? " up to " : " from ");
    sp_relation_put(r->of_b, SP_RELATION, out);
    if (r->offset != 0 && r->offset == r->offset) {
        sp_buf_put_str(out, r->sign * r->offset > 0 ? " + " : " - ");
        sp_relation_put(&offset, SP_RELATION, out);
    }
    sp_buf_put_u8(out, '\n');
}

void sp_plan_put(const struct sp_plan *plan, struct sp_buf *out)
{
    for (size_t p = 0; p < plan->path_count; p++) {
        const struct sp_path *path = &plan->paths[p];
        char text[64];
        snprintf(text, sizeof text, "path %zu of %zu\n", p + 1, plan->path_count);
        sp_buf_put_str(out, text);
        put_share(path, out);
        for (size_t i = 0; i < path->key_count; i++) {
            sp_buf_put_str(out, "  same block  ");
            sp_relation_put(path->keys[i], SP_RELATION, out);
            sp_buf_put_u8(out, '\n');
        }
        for (size_t i = 0; i < path->apart_count; i++) {
            sp_buf_put_str(out, "  apart       ");
            put_atom(&path->apart[i], out);
        }
        for (unsigned side = 0; side < 2; side++)
            for (size_t i = 0; i < path->sided_count[side]; i++) {
                sp_buf_put_str(out, side ? "  only b with " : "  only a with ");
                put_atom(&path->sided[side][i], out);
            }
        for (size_t i = 0; i < path->range_count; i++)
            put_range(&path->ranges[i], out);
        for (size_t i = 0; i < path->atom_count; i++) {
            sp_buf_put_str(out, "  asked       ");
            put_atom(&path->atoms[i], out);
        }
        bool bounded = path->share[0] > 0 || path->share[1] > 0 || path->key_count > 0;
        if (!bounded)
            sp_buf_put_str(out, "  compares all documents with all\n");
    }
}

/* Is a group still connected after a member changed?
 *
 * Each group keeps a spanning forest: a member's `parent` is a member it has an edge with (F, or a
 * redirect). A change can only cut the tree edges at the changed member, so most changes cost a few
 * evaluations of F. If an edge is cut, the pieces look for another edge between them. First all
 * members are compared with one or two members of the largest piece, since most members resemble
 * one another. Then each member of the smaller pieces is compared with all others, or with
 * candidates from an index if there are many pairs. Pieces that remain are a split.
 *
 * Invariant: following parents ends at a root, and every tree edge was verified since its ends last
 * changed. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sets.h"
#include "candidates/candidates.h"
#include "group/members.h"

enum { INDEX_FROM_PAIRS = 200 * 1000 };
static const uint32_t NO_MARK = UINT32_MAX;

struct pieces {
    struct sp_group_stage *st;
    struct sp_group *g;
    uint32_t *set; /* union-find over the pieces' numbers */
    uint32_t count;
    uint32_t left; /* sets */
};

static bool edge_holds(struct sp_group_stage *st, struct sp_group *g, struct sp_member *a,
                       struct sp_member *b)
{
    if (a->kind == SP_PAGE_REDIRECT && sp_id_eq(a->target, b->page))
        return true;
    if (b->kind == SP_PAGE_REDIRECT && sp_id_eq(b->target, a->page))
        return true;
    st->stats.repair_compared += a->kind == SP_PAGE_CONTENT && b->kind == SP_PAGE_CONTENT;
    return sp_member_similar(st, g, a, b, NULL);
}

/* Turns the path from m to its root around, so that m is the root. */
static void forest_root(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    struct sp_member *above = NULL;
    for (struct sp_member *at = m; at;) {
        struct sp_member *next = at->parent;
        if (next != above || above)
            sp_member_changed(st, g, at);
        at->parent = above;
        above = at;
        at = next;
    }
}

bool sp_group_forest_same(const struct sp_member *a, const struct sp_member *b)
{
    while (a->parent)
        a = a->parent;
    while (b->parent)
        b = b->parent;
    return a == b;
}

void sp_group_forest_link(struct sp_group_stage *st, struct sp_group *g, struct sp_member *child,
                          struct sp_member *parent)
{
    forest_root(st, g, child);
    child->parent = parent;
    sp_member_changed(st, g, child);
}

/* Numbers the trees: every member's mark becomes its tree's number. */
static uint32_t mark_trees(struct sp_group *g)
{
    uint32_t trees = 0;
    for (uint32_t i = 0; i < g->count; i++)
        g->members[i]->mark = g->members[i]->parent ? NO_MARK : trees++;
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *root = g->members[i];
        while (root->mark == NO_MARK)
            root = root->parent;
        for (struct sp_member *m = g->members[i]; m->mark == NO_MARK; m = m->parent)
            m->mark = root->mark;
    }
    return trees;
}

static void try_join(struct pieces *p, struct sp_member *a, struct sp_member *b)
{
    uint32_t x = sp_sets_root(p->set, a->mark), y = sp_sets_root(p->set, b->mark);
    if (x == y || !edge_holds(p->st, p->g, a, b))
        return;
    sp_group_forest_link(p->st, p->g, a, b);
    p->set[x] = y;
    p->left--;
}

/* The set with most members; among equals the one whose first member comes first. */
static uint32_t largest_set(const struct pieces *p, uint32_t *ret_outside)
{
    uint32_t *sizes = sp_calloc(p->count, sizeof *sizes);
    for (uint32_t i = 0; i < p->g->count; i++)
        sizes[sp_sets_root(p->set, p->g->members[i]->mark)]++;
    uint32_t best = NO_MARK;
    for (uint32_t i = 0; i < p->g->count; i++) {
        uint32_t set = sp_sets_root(p->set, p->g->members[i]->mark);
        if (best == NO_MARK || sizes[set] > sizes[best])
            best = set;
    }
    *ret_outside = p->g->count - sizes[best];
    sp_free(sizes);
    return best;
}

static void join_redirects(struct pieces *p)
{
    for (uint32_t i = 0; i < p->g->empty_count; i++) {
        struct sp_member *m = p->g->empty[i];
        struct sp_member *target =
            m->kind == SP_PAGE_REDIRECT ? sp_member_find(p->g, m->target) : NULL;
        if (target)
            try_join(p, m, target);
    }
}

/* Compares all members outside the largest set with one or two members of it. */
static void join_pivots(struct pieces *p)
{
    uint32_t outside, big = largest_set(p, &outside), pivots = 0;
    for (uint32_t i = 0; i < p->g->count && pivots < 2; i++) {
        struct sp_member *pivot = p->g->members[i];
        if (pivot->kind != SP_PAGE_CONTENT ||
            sp_sets_root(p->set, pivot->mark) != sp_sets_root(p->set, big))
            continue;
        pivots++;
        for (uint32_t k = 0; k < p->g->count && p->left > 1; k++)
            try_join(p, p->g->members[k], pivot);
    }
}

static struct sp_candidates *index_members(struct sp_group_stage *st, struct sp_group *g,
                                           const struct sp_candidate_rule *rule)
{
    struct sp_candidates *index = sp_candidates_new(rule);
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_signature *s = sp_member_signature(st, g, g->members[i]);
        if (!s)
            continue;
        uint32_t scratch[SP_SKETCH_MAX], count;
        const uint32_t *keys = sp_candidate_keys(rule, s, scratch, &count);
        sp_candidates_add(index, i, keys, count);
    }
    return index;
}

static void join_by_index(struct pieces *p, uint32_t big)
{
    const struct sp_similarity_options *o = &p->st->options.similarity;
    struct sp_candidate_rule rule = sp_candidate_rule(o->method, o->threshold);
    struct sp_candidates *index = index_members(p->st, p->g, &rule);
    for (uint32_t i = 0; i < p->g->count && p->left > 1 && !p->st->err; i++) {
        struct sp_member *m = p->g->members[i];
        struct sp_signature *s = sp_member_signature(p->st, p->g, m);
        if (!s || sp_sets_root(p->set, m->mark) == sp_sets_root(p->set, big))
            continue;
        uint32_t scratch[SP_SKETCH_MAX], key_count;
        const uint32_t *slots, *keys = sp_candidate_keys(&rule, s, scratch, &key_count);
        size_t count = sp_candidates_find(index, keys, key_count, s->shingle_total, &slots);
        for (size_t k = 0; k < count && p->left > 1; k++)
            try_join(p, m, p->g->members[slots[k]]);
    }
    sp_candidates_free(index);
}

static void join_by_pairs(struct pieces *p, uint32_t big)
{
    for (uint32_t i = 0; i < p->g->count && p->left > 1; i++) {
        struct sp_member *m = p->g->members[i];
        if (m->kind != SP_PAGE_CONTENT ||
            sp_sets_root(p->set, m->mark) == sp_sets_root(p->set, big))
            continue;
        for (uint32_t k = 0; k < p->g->count && p->left > 1; k++)
            try_join(p, m, p->g->members[k]);
    }
}

/* Sets the marks to the numbers 0, 1, … of the sets, ordered by size, then by first member. */
static void number_pieces(struct pieces *p)
{
    struct sp_group *g = p->g;
    uint32_t *sizes = sp_calloc(p->count, sizeof *sizes);
    uint32_t *order = sp_alloc(p->left * sizeof *order); /* sets, by their first member */
    uint32_t *number = sp_alloc(p->count * sizeof *number);
    uint32_t sets = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t set = sp_sets_root(p->set, g->members[i]->mark);
        if (sizes[set]++ == 0)
            order[sets++] = set;
    }
    SP_ASSERT(sets == p->left);
    for (uint32_t i = 1; i < sets; i++) { /* insertion sort: stable, and splits are few */
        uint32_t set = order[i], at = i;
        for (; at > 0 && sizes[order[at - 1]] < sizes[set]; at--)
            order[at] = order[at - 1];
        order[at] = set;
    }
    for (uint32_t i = 0; i < sets; i++)
        number[order[i]] = i;
    for (uint32_t i = 0; i < g->count; i++)
        g->members[i]->mark = number[sp_sets_root(p->set, g->members[i]->mark)];
    sp_free(sizes);
    sp_free(order);
    sp_free(number);
}

uint32_t sp_group_forest_mend(struct sp_group_stage *st, struct sp_group *g)
{
    struct pieces p = {st, g, NULL, mark_trees(g), 0};
    if (p.count <= 1)
        return p.count;
    st->stats.repairs++;
    p.left = p.count;
    p.set = sp_alloc(p.count * sizeof *p.set);
    sp_sets_init(p.set, p.count);
    join_redirects(&p);
    if (p.left > 1)
        join_pivots(&p);
    if (p.left > 1) {
        uint32_t outside, big = largest_set(&p, &outside);
        if ((uint64_t)outside * g->count > INDEX_FROM_PAIRS)
            join_by_index(&p, big);
        else
            join_by_pairs(&p, big);
    }
    number_pieces(&p);
    sp_free(p.set);
    return p.left;
}

/* Whether the edge of a child to the changed member was cut. */
static bool cut_child(struct sp_group_stage *st, struct sp_group *g, struct sp_member *child,
                      struct sp_member *changed)
{
    if (child->parent != changed || edge_holds(st, g, child, changed))
        return false;
    child->parent = NULL;
    sp_member_changed(st, g, child);
    return true;
}

uint32_t sp_group_forest_check(struct sp_group_stage *st, struct sp_group *g,
                               struct sp_member *changed, const struct sp_id *target)
{
    bool cut = false;
    if (changed->parent && !edge_holds(st, g, changed, changed->parent)) {
        changed->parent = NULL;
        cut = true;
    }
    struct sp_member *old = target ? sp_member_find(g, *target) : NULL;
    if (old)
        cut |= cut_child(st, g, old, changed);
    for (uint32_t i = 0; i < g->count && !target; i++)
        cut |= cut_child(st, g, g->members[i], changed);
    return cut ? sp_group_forest_mend(st, g) : 1;
}

uint32_t sp_group_forest_rebuild(struct sp_group_stage *st, struct sp_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        g->members[i]->parent = NULL;
        sp_member_changed(st, g, g->members[i]);
    }
    return sp_group_forest_mend(st, g);
}

uint32_t sp_group_forest_verify(struct sp_group_stage *st, struct sp_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *m = g->members[i];
        if (!m->parent || (m->checked && m->parent->checked) || edge_holds(st, g, m, m->parent))
            continue;
        m->parent = NULL;
        sp_member_changed(st, g, m);
    }
    for (uint32_t i = 0; i < g->count; i++)
        g->members[i]->checked = true;
    return sp_group_forest_mend(st, g);
}

/* Finds a place for a new row. The first of these that applies:
 *
 *   join_beside   to a fringe, if all that it resembles is there: one row, or a few if the new row
 *                 has too few rare shingles
 *   absorb        the pivot of several small stars, which become one
 *   join          a child of the largest star whose pivot it resembles
 *   join_adopted  adopted by a child that it resembles
 *   join_fringe   to the fringe of its foster star
 *   found_star    the pivot of a new star */
#include "base/mem.h"
#include "stars/internal.h"

static uint32_t found_star(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x)
{
    struct sp_stars *s = d->stars;
    uint32_t star = sp_star_new(d, row, x);
    if (d->posted)
        sp_star_cover_pivot(s, star, x);
    return star;
}

static bool is_pivot(const struct sp_stars *s, const struct touched *t)
{
    return s->stars[t->star].pivot == t->row;
}

/* The star of the touched row; a row on the fringe becomes a pivot first. */
static bool star_of(struct sp_stars *s, const struct touched *t, uint32_t *ret_star)
{
    const struct sp_signature *x;
    struct sp_stars_domain *d = sp_star_domain_of(s, t->star);
    *ret_star = t->star;
    if (is_pivot(s, t))
        return true;
    if (!sp_star_signature_of(s, t->row, &x) || !sp_star_kid_leave(s, t->row, x))
        return false;
    *ret_star = found_star(d, t->row, x);
    return true;
}

/* The number of children of the touched row's star; 0 if the row is not its pivot. */
static uint32_t size_of(const struct sp_stars *s, const struct touched *t)
{
    const struct kids *kids = s->stars[t->star].kids;
    return is_pivot(s, t) && kids ? sp_star_kids_of_kind(kids, CHILD) : 0;
}

/* An orphan stays where it is until the caller has inserted it again: if it became a pivot or a
 * child before, nothing would connect it with the rows of the star of its former adopter. */
static bool is_orphan(const struct sp_stars *s, const struct touched *t)
{
    const struct row *r = &s->rows[t->row];
    return !is_pivot(s, t) && r->kind == FRINGE && r->orphan;
}

/* Whether x can be a child of the touched row. */
static bool can_join(struct sp_stars *s, const struct touched *t, const struct sp_signature *x,
                     bool *ret_can)
{
    const struct sp_signature *pivot;
    *ret_can = false;
    if (!t->direct || is_orphan(s, t) || (is_pivot(s, t) && s->stars[t->star].draining))
        return true;
    if (!sp_star_signature_of(s, t->row, &pivot))
        return false;
    *ret_can = sp_star_cover_possible(s, pivot, x);
    return true;
}

/* The new child adopts the rows that it touched on the star's fringe, which become members. */
static void adopt(struct sp_stars *s, uint32_t row, uint32_t star)
{
    for (uint32_t i = 0; i < s->touched_count; i++) {
        const struct row *r = &s->rows[s->touched[i].row];
        if (s->touched[i].star == star && !is_pivot(s, &s->touched[i]) && r->star == star &&
            r->kind == FRINGE && !r->orphan)
            sp_star_kid_adopt(s, s->touched[i].row, row);
    }
}

/* Whether the star can cover x, which has at most `most` shingles that the pivot does not have. */
static bool can_hold(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                     const struct sp_signature *pivot, uint32_t most)
{
    const struct star *c = &s->stars[star];
    if (s->by_keys || !sp_star_domain_of(s, star)->posted || c->headless || c->draining)
        return false;
    return sp_star_beside_of(s, x, pivot) <= most && sp_star_cover_possible(s, pivot, x);
}

/* ---- small stars, which become part of another one ---- */

/* x, and the star whose kids its small stars would become. */
struct absorbing {
    struct sp_stars *stars;
    const struct sp_signature *x;
    uint32_t to; /* NONE: a new star, whose pivot is x */
    const struct sp_signature *to_pivot;
    bool all;
};

static bool can_absorb(const struct absorbing *a, const struct sp_signature *member)
{
    return a->to == NONE ? sp_star_cover_possible(a->stars, a->x, member)
                         : can_hold(a->stars, a->to, member, a->to_pivot,
                                    sp_star_bound_missing(a->stars, member->shingle_count));
}

static void check_member(void *arg, struct kid kid)
{
    struct absorbing *a = arg;
    const struct sp_signature *child;
    double similarity;
    if (!a->all || kid.kind != CHILD || !sp_star_signature_of(a->stars, kid.row, &child))
        return;
    a->all = sp_star_bound_sizes(a->stars, a->x->shingle_total, child->shingle_total) &&
             sp_star_verify(a->stars, a->x, child, &similarity) && can_absorb(a, child);
}

static bool is_large(const struct sp_stars *s, const struct touched *t)
{
    return t->direct && size_of(s, t) > ABSORBED_KIDS;
}

static bool is_small(const struct sp_stars *s, const struct touched *t)
{
    const struct kids *kids = s->stars[t->star].kids;
    return t->direct && !is_orphan(s, t) &&
           (!is_pivot(s, t) || !kids ||
            (sp_star_kids_of_kind(kids, CHILD) <= ABSORBED_KIDS &&
             sp_star_kids_of_kind(kids, CHILD) == sp_star_kids_count(kids)));
}

/* Whether x, which is similar to the touched row, is also similar to all children of its small
 * star, and can absorb all. */
static bool resembles_all(struct absorbing *a, const struct touched *t)
{
    struct sp_stars *s = a->stars;
    const struct sp_signature *touched;
    if (!is_small(s, t) || !sp_star_signature_of(s, t->row, &touched) || !can_absorb(a, touched))
        return false;
    a->all = true;
    if (is_pivot(s, t))
        sp_star_kids_each(s, s->stars[t->star].kids, check_member, a);
    return a->all && s->err == SP_OK;
}

struct members {
    uint32_t *rows;
    uint32_t count;
};

static void take_member(void *arg, struct kid kid)
{
    struct members *m = arg;
    m->rows[m->count++] = kid.row;
}

/* The star of the touched row ends; its members become kids of `to`, which has that pivot. */
static bool merge_into(struct sp_stars *s, const struct touched *t, uint32_t to,
                       const struct sp_signature *to_pivot, enum kid_kind kind, uint32_t adopter)
{
    uint32_t rows[ABSORBED_KIDS + 1] = {t->row}, star = t->star;
    struct members m = {rows, 1};
    const struct sp_signature *touched, *member;
    bool pivot = is_pivot(s, t);
    if (pivot)
        sp_star_kids_each(s, s->stars[star].kids, take_member, &m);
    if (!sp_star_signature_of(s, t->row, &touched))
        return false;
    for (uint32_t i = pivot; i < m.count; i++)
        if (!sp_star_signature_of(s, rows[i], &member) || !sp_star_kid_leave(s, rows[i], member))
            return false;
    if (pivot) {
        sp_star_uncover_star(s, star, touched);
        sp_star_mark_hand_on(s, star, to);
        sp_star_free(s, star);
    }
    for (uint32_t i = 0; i < m.count; i++) {
        if (!sp_star_signature_of(s, rows[i], &member))
            return false;
        sp_star_kid_add(s, to, rows[i], to_pivot, member, kind, adopter);
    }
    return true;
}

/* The new child adopts what it resembles elsewhere, if its star can hold it: rows on a fringe, rows
 * alone in their stars, and small stars. Each row that resembles all of these would touch them one
 * by one. */
static bool adopt_elsewhere(struct sp_stars *s, uint32_t row, const struct sp_signature *x,
                            uint32_t star, const struct sp_signature *pivot)
{
    struct absorbing a = {s, x, star, pivot, true};
    for (uint32_t i = 0; i < s->touched_count && s->err == SP_OK; i++) {
        const struct touched *t = &s->touched[i];
        uint32_t from = s->rows[t->row].star;
        if (from != star && !s->stars[from].headless && !s->stars[from].draining &&
            resembles_all(&a, t) && !merge_into(s, t, star, pivot, ADOPTED, row))
            return false;
    }
    return s->err == SP_OK;
}

/* Two rows that share a template, and little else, go to the fringe of the star whose pivot has the
 * template: x, and the touched row, which is similar and alone in its star. As a star they would
 * have to post shingles of the template, so that each page of the site found each such pair. */
static bool join_foster(struct sp_stars *s, const struct touched *t, uint32_t row,
                        const struct sp_signature *x, bool *ret_joined)
{
    const struct sp_signature *touched, *foster;
    *ret_joined = false;
    if (!sp_star_foster_may_be(s) || !is_pivot(s, t) ||
        sp_star_kids_count(s->stars[t->star].kids) > 0)
        return true;
    if (!sp_star_signature_of(s, t->row, &touched))
        return false;
    if (!sp_star_cover_is_common(s, t->star, touched, x))
        return true;
    if (!sp_star_foster_find(s, x))
        return false;
    if (s->foster == NONE)
        return true;
    if (!sp_star_signature_of(s, s->stars[s->foster].pivot, &foster))
        return false;
    if (!can_hold(s, s->foster, x, foster, 2 * sp_star_bound_missing(s, x->shingle_count)) ||
        !can_hold(s, s->foster, touched, foster,
                  2 * sp_star_bound_missing(s, touched->shingle_count)))
        return true;
    *ret_joined = true;
    sp_star_uncover_star(s, t->star, touched);
    sp_star_mark_hand_on(s, t->star, s->foster);
    sp_star_free(s, t->star);
    sp_star_kid_add(s, s->foster, t->row, foster, touched, FRINGE, NONE);
    sp_star_kid_add(s, s->foster, row, foster, x, FRINGE, NONE);
    return s->err == SP_OK;
}

/* Makes the row a child of the largest star whose pivot is similar; among equals, of the most
 * similar pivot. The largest, so that few stars hold many similar pages. */
static bool join(struct sp_stars *s, uint32_t row, const struct sp_signature *x, bool *ret_joined)
{
    const struct touched *best = NULL;
    const struct sp_signature *pivot;
    uint32_t star;
    for (uint32_t i = 0; i < s->touched_count; i++) {
        const struct touched *t = &s->touched[i];
        bool can;
        if (best && size_of(s, t) <= size_of(s, best))
            continue;
        if (!can_join(s, t, x, &can))
            return false;
        best = can ? t : best;
    }
    *ret_joined = best != NULL;
    if (!best)
        return true;
    bool beside;
    if (!join_foster(s, best, row, x, &beside) || beside)
        return s->err == SP_OK;
    if (!sp_star_signature_of(s, best->row, &pivot) || !star_of(s, best, &star))
        return false;
    sp_star_kid_add(s, star, row, pivot, x, CHILD, NONE);
    adopt(s, row, star);
    return adopt_elsewhere(s, row, x, star, pivot) && sp_star_grown(s, star, row);
}

/* The row becomes a kid of the star if it has too few shingles of its own to be found by them, or
 * goes to the fringe if too few of those are rare, and the star can hold it. */
static bool join_if_held(struct sp_stars *s, uint32_t star, uint32_t row,
                         const struct sp_signature *x, enum kid_kind kind, uint32_t adopter,
                         bool *ret_joined)
{
    const struct sp_signature *pivot;
    if (!sp_star_signature_of(s, s->stars[star].pivot, &pivot))
        return false;
    uint32_t missing = sp_star_bound_missing(s, x->shingle_count);
    bool common = kind == FRINGE && sp_star_cover_alone_is_common(s, x);
    *ret_joined = can_hold(s, star, x, pivot, common ? 2 * missing : missing);
    if (*ret_joined)
        sp_star_kid_add(s, star, row, pivot, x, kind, adopter);
    return true;
}

/* A child that is similar to the row adopts it. */
static bool join_adopted(struct sp_stars *s, uint32_t row, const struct sp_signature *x,
                         bool *ret_joined)
{
    *ret_joined = false;
    for (uint32_t i = 0; i < s->touched_count && !*ret_joined; i++) {
        const struct touched *t = &s->touched[i];
        if (!t->direct && s->rows[t->row].kind == CHILD &&
            !join_if_held(s, t->star, row, x, ADOPTED, t->row, ret_joined))
            return false;
    }
    return true;
}

/* The row goes to the fringe of the star with whose pivot it shares nearly all of its shingles. */
static bool join_fringe(struct sp_stars *s, uint32_t row, const struct sp_signature *x,
                        bool *ret_joined)
{
    *ret_joined = false;
    if (!sp_star_foster_find(s, x))
        return false;
    return s->foster == NONE || join_if_held(s, s->foster, row, x, FRINGE, NONE, ret_joined);
}

/* Whether all that the row resembles is on the fringe of one star. */
static bool is_beside(const struct sp_stars *s)
{
    const struct touched *t = s->touched;
    for (uint32_t i = 0; i < s->touched_count; i++)
        if (!t[i].direct || is_pivot(s, &t[i]) || t[i].star != t->star)
            return false;
    return s->touched_count > 0;
}

/* The row goes to a star's fringe if it resembles one row there and nothing else, or a few if it
 * has too few rare shingles. As a star of their own they would have to post what they share with
 * the pivot, and every row that shares it would find them. */
static bool join_beside(struct sp_stars *s, uint32_t row, const struct sp_signature *x,
                        bool *ret_joined)
{
    enum { FEW = 32 };
    *ret_joined = false;
    if (!is_beside(s) || s->touched_count > FEW ||
        (s->touched_count > 1 && !sp_star_cover_alone_is_common(s, x)))
        return true;
    return join_if_held(s, s->touched->star, row, x, FRINGE, NONE, ret_joined);
}

/* If x resembles all members of several small stars, it becomes their pivot; of more than the
 * largest star has children, if it resembles the pivot of a large one. Otherwise it would touch all
 * of them again whenever it has to leave that star. */
static bool absorb(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x,
                   bool *ret_absorbed)
{
    struct sp_stars *s = d->stars;
    uint32_t count = 0, small = 0, least = 2;
    *ret_absorbed = false;
    for (uint32_t i = 0; i < s->touched_count; i++) {
        const struct touched *t = &s->touched[i];
        small += is_small(s, t);
        if (is_large(s, t) && size_of(s, t) >= least)
            least = size_of(s, t) + 1;
    }
    if (small < least)
        return true;
    struct absorbing a = {s, x, NONE, x, true};
    sp_grow(&s->absorbed, &s->absorbed_cap, s->touched_count);
    for (uint32_t i = 0; i < s->touched_count && s->err == SP_OK; i++)
        if (resembles_all(&a, &s->touched[i]))
            s->absorbed[count++] = s->touched[i];
    *ret_absorbed = count >= least;
    if (count < least || s->err)
        return s->err == SP_OK;
    uint32_t to = found_star(d, row, x);
    for (uint32_t i = 0; i < count; i++)
        if (!merge_into(s, &s->absorbed[i], to, x, CHILD, NONE))
            return false;
    return true;
}

static bool place(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x)
{
    struct sp_stars *s = d->stars;
    bool done;
    if (!join_beside(s, row, x, &done))
        return false;
    if (!done && !absorb(d, row, x, &done))
        return false;
    if (!done && !join(s, row, x, &done))
        return false;
    if (!done && !join_adopted(s, row, x, &done))
        return false;
    if (!done && !join_fringe(s, row, x, &done))
        return false;
    if (!done)
        found_star(d, row, x);
    return true;
}

bool sp_star_place(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x)
{
    struct sp_stars *s = d->stars;
    s->risen = NONE;
    s->lengths_of = x;
    bool done = place(d, row, x);
    s->lengths_of = NULL;
    return done;
}

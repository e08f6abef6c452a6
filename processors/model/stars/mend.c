/* Moves the members of headless and draining stars, a few at a time.
 *
 * A headless star has lost its pivot. One of its members, the heir, becomes the pivot of a new star
 * (choose_heir). Then the kids are taken one by one (queue.c): those similar to the heir become its
 * children; the others leave, and the caller inserts them again. Until a kid is taken, probes still
 * find it through the old star: the former pivot, a ghost, covers its kids and bounds their
 * overlaps. When a child leaves, the kids that it adopted leave as well. If the heir is lost, all
 * kids that have not moved leave: they may resemble some that moved, and no edge says so.
 *
 * A draining star has a pivot similar to that of a larger star, the heir. Kids similar to the heir
 * move, the other members stay. If the pivot is left alone, it moves as well. */
#include "base/mem.h"
#include "base/order.h"
#include "stars/bits.h"
#include "stars/internal.h"

bool sp_stars_owes(const struct sp_stars_domain *d)
{
    return d->owing.count > 0 || d->orphans.count > 0;
}

uint32_t sp_stars_owed(const struct sp_stars_domain *d)
{
    return d->orphans.count + (uint32_t)d->queued;
}

/* An owing star whose heir is lost has its own pivot as heir (star.c). */
static bool has_lost_heir(const struct sp_stars *s, uint32_t star)
{
    return s->stars[star].kids->owing->heir == s->stars[star].pivot;
}

static bool similar_to_heir(struct sp_stars *s, uint32_t heir, const struct sp_signature *x,
                            const struct sp_signature **ret_pivot, bool *ret_similar)
{
    double similarity;
    if (!sp_star_signature_of(s, heir, ret_pivot))
        return false;
    *ret_similar = sp_star_bound_sizes(s, x->shingle_total, (*ret_pivot)->shingle_total) &&
                   sp_star_verify(s, x, *ret_pivot, &similarity) &&
                   sp_star_cover_possible(s, *ret_pivot, x);
    return true;
}

struct moving {
    uint32_t left; /* number of rows in s->left; and so on */
    uint32_t moved;
    uint32_t heirs;
    uint32_t ghosts;
};

/* `mark`: of the star that the row has left, or 0. */
static void note_moved(struct sp_stars *s, uint32_t row, uint32_t mark, struct moving *m)
{
    sp_grow(&s->moved, &s->moved_cap, m->moved + 1);
    sp_grow(&s->moved_marks, &s->moved_marks_cap, m->moved + 1);
    s->moved_marks[m->moved] = mark;
    s->moved[m->moved++] = row;
}

static void note_left(struct sp_stars *s, uint32_t row, uint32_t mark, struct moving *m)
{
    sp_grow(&s->left, &s->left_cap, m->left + 1);
    sp_grow(&s->left_marks, &s->left_marks_cap, m->left + 1);
    s->left_marks[m->left] = mark;
    s->left[m->left++] = row;
}

static void note_heir(struct sp_stars *s, uint32_t row, struct moving *m)
{
    sp_grow(&s->heirs, &s->heirs_cap, m->heirs + 1);
    s->heirs[m->heirs++] = row;
}

static void note_ghost(struct sp_stars *s, uint32_t row, struct moving *m)
{
    sp_grow(&s->ghosts, &s->ghosts_cap, m->ghosts + 1);
    s->ghosts[m->ghosts++] = row;
}

/* ---- headless ---- */

enum { HEIRS = 16, NEAREST_FEW = 4, NEAREST_MOST = 64 };

/* The `most` members nearest to the pivot, and among equals those with the smallest names. */
struct nearest {
    const struct sp_stars *stars;
    uint32_t rows[NEAREST_MOST];
    uint32_t count;
    uint32_t most;
};

static uint32_t apart(const struct sp_stars *s, uint32_t row)
{
    return sp_star_apart(s, s->rows[row].kept, s->rows[row].overlap);
}

static bool is_nearer(const struct sp_stars *s, uint32_t a, uint32_t b)
{
    uint32_t of_a = apart(s, a), of_b = apart(s, b);
    return of_a != of_b ? of_a < of_b : sp_star_name(s, a) < sp_star_name(s, b);
}

static void note_nearest(void *arg, struct kid kid)
{
    struct nearest *n = arg;
    bool full = n->count == n->most;
    if (kid.kind == FRINGE || (full && !is_nearer(n->stars, kid.row, n->rows[n->most - 1])))
        return;
    uint32_t at = full ? n->most - 1 : n->count++;
    for (; at > 0 && is_nearer(n->stars, kid.row, n->rows[at - 1]); at--)
        n->rows[at] = n->rows[at - 1];
    n->rows[at] = kid.row;
}

/* Of the members with the smallest names, the one nearest to the pivot. Names are hashes: if the
 * members were chosen by their age, or the nearest of all were chosen, a crawl that drifts and
 * forgets its oldest pages would lose each heir soon.
 *
 * One of the nearest of all is chosen instead if more of these members resemble it. It may be the
 * page from which all others were made, which hardly resemble one another: with another heir, each
 * of them would become a star of its own, and that page would touch them all. In a large star, many
 * are as near to the pivot as that page, so more are tried: at most one comparison for each kid,
 * beside a few. */
static uint32_t choose_heir(struct sp_stars *s, uint32_t star)
{
    uint32_t rows[HEIRS], heir = NONE;
    const struct kids *kids = s->stars[star].kids;
    uint32_t count = sp_star_kids_first(s, kids, 1 << CHILD | 1 << ADOPTED, HEIRS, rows);
    for (uint32_t i = 0; i < count; i++)
        if (heir == NONE || apart(s, rows[i]) < apart(s, heir))
            heir = rows[i];
    if (count < HEIRS)
        return heir;
    struct nearest n = {
        .stars = s,
        .most = sp_min_u32(NEAREST_FEW + sp_star_kids_count(kids) / HEIRS, NEAREST_MOST)};
    sp_star_kids_each(s, kids, note_nearest, &n);
    uint32_t most = sp_star_count_children(s, rows, count, heir);
    for (uint32_t i = 0; i < n.count; i++) {
        uint32_t children = sp_star_count_children(s, rows, count, n.rows[i]);
        heir = children > most ? n.rows[i] : heir;
        most = children > most ? children : most;
    }
    return heir;
}

static bool make_heir(struct sp_stars *s, uint32_t star, struct moving *m)
{
    struct sp_stars_domain *d = sp_star_domain_of(s, star);
    uint32_t row = choose_heir(s, star);
    const struct sp_signature *x;
    if (s->err || !sp_star_signature_of(s, row, &x) || !sp_star_kid_leave(s, row, x))
        return false;
    sp_star_set_heir(s, star, row);
    note_heir(s, row, m);
    s->stats.repivots++;
    uint32_t heir = sp_star_new(d, row, x);
    if (d->posted)
        sp_star_cover_pivot(s, heir, x);
    sp_star_row_changed(s, s->stars[star].pivot);
    return true;
}

/* Takes the row out; the caller will insert it again. */
static bool let_go(struct sp_stars *s, uint32_t row, struct moving *m)
{
    const struct sp_signature *x;
    uint32_t star = s->rows[row].star;
    if (!sp_star_signature_of(s, row, &x) || !sp_star_kid_leave(s, row, x))
        return false;
    sp_star_domain_of(s, star)->rows--;
    s->stats.rows--;
    note_left(s, row, sp_star_mark(s, star), m);
    return true;
}

/* A row on the fringe has edges of its own only, which stay wherever it is, so it may move anywhere
 * in the index. An orphan must be probed again. */
static bool move_fringe(struct sp_stars *s, uint32_t row, struct moving *m)
{
    struct sp_stars_domain *d = sp_star_domain_of(s, s->rows[row].star);
    const struct sp_signature *x;
    if (sp_star_kid_at(s, row).adopter == ORPHAN)
        return let_go(s, row, m);
    if (!sp_star_signature_of(s, row, &x) || !sp_star_kid_leave(s, row, x) ||
        !sp_star_probe(d, x, row) || !sp_star_place(d, row, x))
        return false;
    if (s->risen != NONE)
        note_moved(s, s->risen, 0, m);
    return true;
}

static bool move_headless(struct sp_stars *s, uint32_t star, uint32_t row, struct moving *m)
{
    const struct owing *o = s->stars[star].kids->owing;
    const struct sp_signature *x, *pivot;
    bool similar;
    if (sp_star_kid_at(s, row).kind == FRINGE)
        return move_fringe(s, row, m);
    if (has_lost_heir(s, star))
        return let_go(s, row, m);
    if (!sp_star_has_heir(s, star) && !make_heir(s, star, m))
        return false;
    if (row == o->heir)
        return true;
    if (!sp_star_signature_of(s, row, &x))
        return false;
    if (!similar_to_heir(s, o->heir, x, &pivot, &similar))
        return false;
    if (!similar)
        return let_go(s, row, m);
    if (!sp_star_kid_leave(s, row, x))
        return false;
    sp_star_kid_add(s, s->rows[o->heir].star, row, pivot, x, CHILD, NONE);
    return true;
}

static bool end_headless(struct sp_stars *s, uint32_t star)
{
    const struct sp_signature *ghost;
    if (!sp_star_signature_of(s, s->stars[star].pivot, &ghost))
        return false;
    sp_star_uncover_star(s, star, ghost);
    if (sp_star_has_heir(s, star))
        sp_star_mark_hand_on(s, star, s->rows[s->stars[star].kids->owing->heir].star);
    sp_star_free(s, star);
    return true;
}

/* ---- draining ---- */

static bool move_draining(struct sp_stars *s, uint32_t star, uint32_t row, struct moving *m)
{
    const struct sp_signature *x, *pivot;
    uint32_t heir = s->stars[star].kids->owing->heir;
    bool similar;
    if (!sp_star_signature_of(s, row, &x) || !similar_to_heir(s, heir, x, &pivot, &similar))
        return false;
    if (!similar)
        return sp_star_kid_at(s, row).kind != FRINGE || move_fringe(s, row, m);
    if (!sp_star_kid_leave(s, row, x))
        return false;
    sp_star_kid_add(s, s->rows[heir].star, row, pivot, x, CHILD, NONE);
    note_moved(s, row, sp_star_mark(s, star), m);
    return true;
}

/* Called when each kid has either moved or stayed. */
static bool end_draining(struct sp_stars *s, uint32_t star, struct moving *m)
{
    const struct sp_signature *pivot, *heir_pivot;
    uint32_t row = s->stars[star].pivot, heir = s->stars[star].kids->owing->heir;
    bool similar = false, alone = sp_star_kids_count(s->stars[star].kids) == 0;
    if (!sp_star_signature_of(s, row, &pivot))
        return false;
    if (alone && sp_star_has_heir(s, star) &&
        !similar_to_heir(s, heir, pivot, &heir_pivot, &similar))
        return false;
    if (!similar) {
        sp_star_keep(s, star);
        return true;
    }
    sp_star_uncover_star(s, star, pivot);
    sp_star_mark_hand_on(s, star, s->rows[heir].star);
    sp_star_free(s, star);
    sp_star_kid_add(s, s->rows[heir].star, row, heir_pivot, pivot, CHILD, NONE);
    note_moved(s, row, 0, m);
    return true;
}

/* ---- both ---- */

static bool end_star(struct sp_stars *s, uint32_t star, struct moving *m)
{
    if (!s->stars[star].headless)
        return end_draining(s, star, m);
    note_ghost(s, s->stars[star].pivot, m);
    return end_headless(s, star);
}

static bool move_kid(struct sp_stars *s, uint32_t star, uint32_t row, struct moving *m)
{
    s->stats.moved++;
    if (s->stars[star].headless)
        return move_headless(s, star, row, m);
    if (sp_star_has_heir(s, star))
        return move_draining(s, star, row, m);
    sp_star_keep(s, star);
    return true;
}

enum sp_err sp_stars_work(struct sp_stars_domain *d, uint32_t kids, struct sp_stars_left *ret_left)
{
    struct sp_stars *s = d->stars;
    struct moving m = {0};
    for (; d->orphans.count && kids > 0; kids--)
        if (!let_go(s, sp_star_first_orphan(d), &m))
            break;
    while (d->owing.count && s->err == SP_OK) {
        /* The first by name, so that the choice does not depend on history. */
        uint32_t star = sp_star_first_owing(d), row = sp_star_queue_take(s, star);
        if (row == NONE) {
            if (!end_star(s, star, &m))
                break;
            continue;
        }
        if (kids-- == 0) {
            sp_star_queue_put_back(s, star);
            break;
        }
        s->stars[star].kids->owing->passed = sp_star_name(s, row);
        sp_star_row_changed(s, s->stars[star].pivot);
        if (!move_kid(s, star, row, &m))
            break;
    }
    *ret_left = (struct sp_stars_left){.rows = s->left,
                                       .count = m.left,
                                       .moved = s->moved,
                                       .moved_count = m.moved,
                                       .row_marks = s->left_marks,
                                       .moved_marks = s->moved_marks,
                                       .heirs = s->heirs,
                                       .heir_count = m.heirs,
                                       .ghosts = s->ghosts,
                                       .ghost_count = m.ghosts};
    return sp_star_outcome(s);
}

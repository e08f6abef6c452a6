/* What connects a row with the others of its star: the star's pivot or ghost, the row's anchor, the
 * members. A row on the fringe is alone, whatever its star. */
#include "stars/internal.h"

bool sp_stars_has(const struct sp_stars *s, uint32_t row)
{
    if (row >= s->row_cap || s->rows[row].star == NONE)
        return false;
    const struct star *c = &s->stars[s->rows[row].star];
    return c->pivot != row || !c->headless;
}

static const struct star *star_of(const struct sp_stars *s, uint32_t row)
{
    return &s->stars[s->rows[row].star];
}

static bool is_on_fringe(const struct sp_stars *s, uint32_t row)
{
    return star_of(s, row)->pivot != row && s->rows[row].kind == FRINGE;
}

uint32_t sp_stars_pivot(const struct sp_stars *s, uint32_t row)
{
    SP_ASSERT(sp_stars_has(s, row));
    const struct star *c = star_of(s, row);
    if (is_on_fringe(s, row))
        return row;
    return c->headless ? NONE : c->pivot;
}

uint32_t sp_stars_ghost(const struct sp_stars *s, uint32_t row)
{
    return sp_stars_pivot(s, row) == NONE ? star_of(s, row)->pivot : NONE;
}

uint32_t sp_stars_anchor(const struct sp_stars *s, uint32_t row)
{
    SP_ASSERT(sp_stars_has(s, row));
    const struct star *c = star_of(s, row);
    if (c->pivot == row)
        return row;
    struct kid kid = sp_star_kid_at(s, row);
    if (kid.kind == ADOPTED)
        return kid.adopter;
    if (kid.kind == FRINGE)
        return kid.adopter == ORPHAN ? NONE : row;
    return c->headless ? NONE : c->pivot;
}

bool sp_stars_together(const struct sp_stars *s, uint32_t a, uint32_t b)
{
    SP_ASSERT(sp_stars_has(s, a) && sp_stars_has(s, b));
    return a == b ||
           (s->rows[a].star == s->rows[b].star && !is_on_fringe(s, a) && !is_on_fringe(s, b));
}

/* ---- the members of its star ---- */

uint32_t sp_stars_members(const struct sp_stars *s, uint32_t row)
{
    const struct star *c = star_of(s, row);
    if (is_on_fringe(s, row))
        return 1;
    return !c->headless + sp_star_kids_count(c->kids) - sp_star_kids_of_kind(c->kids, FRINGE);
}

struct members_call {
    void (*each)(void *arg, uint32_t row);
    void *arg;
};

static void call(void *arg, struct kid kid)
{
    const struct members_call *m = arg;
    if (kid.kind != FRINGE)
        m->each(m->arg, kid.row);
}

void sp_stars_each_member(const struct sp_stars *s, uint32_t row,
                          void (*each)(void *arg, uint32_t row), void *arg)
{
    struct members_call m = {each, arg};
    SP_ASSERT(sp_stars_has(s, row));
    const struct star *c = star_of(s, row);
    if (is_on_fringe(s, row)) {
        each(arg, row);
        return;
    }
    if (!c->headless)
        each(arg, c->pivot);
    sp_star_kids_each(s, c->kids, call, &m);
}

uint32_t sp_stars_next_members(const struct sp_stars *s, uint32_t row, struct sp_stars_place *place,
                               uint32_t most, uint32_t *ret_rows)
{
    const struct star *c = star_of(s, row);
    bool alone = is_on_fringe(s, row);
    const struct kids *kids = alone ? NULL : c->kids;
    uint32_t litters = kids ? kids->litter_counts[CHILD] + kids->litter_counts[ADOPTED] : 0;
    uint32_t count = 0;
    if (place->litter == 0) { /* the pivot's; those of kids follow */
        place->litter = 1;
        if (alone || !c->headless)
            ret_rows[count++] = alone ? row : c->pivot;
    }
    for (; place->litter <= litters; place->litter++, place->at = 0) {
        const struct litter *l = &kids->litters[place->litter - 1];
        for (; place->at < sp_star_litter_count(s, l); place->at++) {
            if (count == most)
                return count;
            ret_rows[count++] = sp_star_litter_row(s, l, place->at);
        }
    }
    return count;
}

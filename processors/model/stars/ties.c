/* What connects a row with the others of its star, and which rows a probe will examine. */
#include "stars/internal.h"

uint32_t sp_stars_anchor(const struct sp_stars *s, uint32_t row)
{
    SP_ASSERT(sp_stars_has(s, row));
    const struct star *c = &s->stars[s->rows[row].star];
    if (c->pivot == row)
        return row;
    struct kid kid = sp_star_kid_at(s, row);
    if (kid.kind == ADOPTED)
        return kid.adopter;
    if (kid.kind == FRINGE)
        return kid.adopter == ORPHAN ? NONE : row;
    return c->headless ? NONE : c->pivot;
}

static bool is_alone(const struct sp_stars *s, uint32_t row)
{
    return s->stars[s->rows[row].star].pivot != row && sp_star_kid_at(s, row).kind == FRINGE;
}

bool sp_stars_together(const struct sp_stars *s, uint32_t a, uint32_t b)
{
    SP_ASSERT(sp_stars_has(s, a) && sp_stars_has(s, b));
    return a == b || (s->rows[a].star == s->rows[b].star && !is_alone(s, a) && !is_alone(s, b));
}

void sp_stars_expect(struct sp_stars_domain *d, const struct sp_signature *signature,
                     void (*each)(void *arg, uint32_t row), void *arg)
{
    struct sp_stars *s = d->stars;
    struct sp_stars_stats before = s->stats;
    sp_star_find(d, signature);
    for (uint32_t i = 0; i < s->found_count; i++)
        each(arg, s->stars[s->found[i].star].pivot);
    s->stats = before;
}

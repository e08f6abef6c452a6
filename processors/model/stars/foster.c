/* The foster star of a probe: the star to whose fringe its row could go if its own shingles are too
 * few, or too few of them are rare. It is the one with whose pivot the row shares most. The overlap
 * with a star that may have a similar member is counted for that; with others it is counted only
 * when a foster star is needed, and only with a few that are nearest by their patterns: of a site
 * whose pages share a template, every page could be one. */
#include "base/order.h"
#include "similarity/intersect.h"
#include "stars/internal.h"

/* With a star that shares less, x would have more shingles beside the pivot than a star may hold.
 */
static uint32_t least_overlap(const struct sp_stars *s, const struct sp_signature *x)
{
    uint32_t n = x->shingle_count;
    return n - sp_min_u32(n, 2 * sp_star_bound_missing(s, n));
}

static bool can_foster(const struct star *c)
{
    return !c->headless && !c->draining;
}

void sp_star_foster_begin(struct sp_stars *s)
{
    s->foster = NONE;
    s->foster_overlap = 0;
    s->later_count = 0;
}

void sp_star_foster_note(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                         uint32_t overlap)
{
    if (overlap > s->foster_overlap && overlap >= least_overlap(s, x) &&
        can_foster(&s->stars[star])) {
        s->foster = star;
        s->foster_overlap = overlap;
    }
}

void sp_star_foster_later(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                          uint32_t apart)
{
    const struct star *c = &s->stars[star];
    if (!can_foster(c) ||
        sp_star_is_far(c, x, apart, x->shingle_count - sp_star_bound_missing(s, x->shingle_count)))
        return;
    struct later later = {star, x->shingle_count + c->kept - apart};
    uint32_t at = s->later_count;
    while (at > 0 && s->later[at - 1].shared < later.shared)
        at--;
    if (at == LATER_MOST)
        return;
    s->later_count += s->later_count < LATER_MOST;
    for (uint32_t i = s->later_count - 1; i > at; i--)
        s->later[i] = s->later[i - 1];
    s->later[at] = later;
}

bool sp_star_foster_find(struct sp_stars *s, const struct sp_signature *x)
{
    const struct sp_signature *pivot;
    for (uint32_t i = 0; i < s->later_count; i++) {
        uint32_t star = s->later[i].star;
        if (s->later[i].shared <= 2 * s->foster_overlap)
            break;
        if (!sp_star_signature_of(s, s->stars[star].pivot, &pivot))
            return false;
        s->stats.verified++;
        sp_star_foster_note(s, star, x,
                            (uint32_t)sp_intersect(x->hashes, x->shingle_count, pivot->hashes,
                                                   pivot->shingle_count, least_overlap(s, x)));
    }
    s->later_count = 0;
    return true;
}

/* How far a probe must look. Its shingles are in ascending order, and it needs to look up only
 * those up to the largest posted shingle of the stars that it may resemble, by their sizes. Of
 * shingles with equally short lists a star posts the smallest, so among unlike texts of one size
 * all postings are near the lower fifth of all hashes (at tau = 0.8), and a probe makes a third of
 * the look-ups. Where pages share shingles, postings are anywhere, and a probe looks up all.
 *
 * Invariant: for each star of the domain, and for the class of each total from its least to its
 * largest, d->reach[class] is not less than the star's largest posted shingle. It never shrinks. */
#include <math.h>

#include "base/clones.h"
#include "base/mem.h"
#include "stars/internal.h"

/* Eight classes for each power of two. */
static uint32_t class_of(uint32_t total)
{
    if (total < 8)
        return total;
    uint32_t power = 31 - (uint32_t)__builtin_clz(total);
    return (power - 2) * 8 + (total >> (power - 3) & 7);
}

enum { CLASSES = 30 * 8 };

void sp_star_reach_note(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    struct sp_stars_domain *d = sp_star_domain_of(s, star);
    uint32_t min_total, max_total;
    if (!c->bits)
        return;
    if (!d->reach)
        d->reach = sp_calloc(CLASSES, sizeof *d->reach);
    sp_star_kids_sizes(s, c, &min_total, &max_total);
    for (uint32_t class = class_of(min_total), last = class_of(max_total); class <= last; class ++)
        if (d->reach[class] < c->reach)
            d->reach[class] = c->reach;
}

/* The largest total that can be similar to this one; too large rather than too small. */
static uint32_t largest_similar(const struct sp_stars *s, uint32_t total)
{
    double most = ceil(total / (s->tau > 1e-3 ? s->tau : 1e-3) * (1 + 1e-4)) + 1;
    return s->tau > 1e-3 && most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static uint32_t least_similar(const struct sp_stars *s, uint32_t total)
{
    double least = floor(total * s->tau * (1 - 1e-4)) - 1;
    return least > 0 ? (uint32_t)least : 0;
}

SP_CLONES uint32_t sp_star_reach(const struct sp_stars_domain *d, const struct sp_signature *x)
{
    uint32_t total = x->shingle_total, reach = 0, low = 0, high = x->shingle_count;
    if (!d->reach)
        return 0;
    uint32_t last = class_of(largest_similar(d->stars, total));
    for (uint32_t class = class_of(least_similar(d->stars, total)); class <= last; class ++)
        reach = d->reach[class] > reach ? d->reach[class] : reach;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (x->hashes[mid] <= reach)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

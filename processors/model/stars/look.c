/* Looks up shingles or keys in the posting lists. */
#include "base/clones.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/prefetch.h"
#include "stars/internal.h"

/* Counts a hit of the star. Without a branch on whether it was hit before, which cannot be
 * predicted. */
static inline void hit(struct brief *b, uint16_t domain, uint32_t star, uint32_t *all,
                       uint32_t *count)
{
    if (b->domain != domain)
        return; /* a shingle of another domain has the same key */
    all[*count] = star;
    *count += b->hits == 0;
    b->hits += b->hits < UINT16_MAX;
}

/* Counts a hit of each of these stars; s->hit gets those that were not hit before. */
static void hit_all(void *arg, const uint32_t *stars, uint32_t n)
{
    enum { AHEAD = 16 };
    struct sp_stars_domain *d = arg;
    struct sp_stars *s = d->stars;
    sp_grow(&s->hit, &s->hit_cap, s->hit_count + n);
    struct brief *restrict briefs = s->briefs;
    uint32_t *restrict all = s->hit;
    uint32_t count = s->hit_count, k = 0;
    uint16_t domain = (uint16_t)d->salt;
    for (; k + AHEAD < n; k++) {
        sp_prefetch(&briefs[stars[k + AHEAD]]);
        hit(&briefs[stars[k]], domain, stars[k], all, &count);
    }
    for (; k < n; k++)
        hit(&briefs[stars[k]], domain, stars[k], all, &count);
    s->hit_count = count;
    s->stats.scanned += n;
}

/* The end of the keys from `at` on that are looked up at once: a repeated key by itself. */
static uint32_t end_of_run(const uint32_t *keys, uint32_t at, uint32_t count)
{
    uint32_t end = at + 1;
    while (!sp_is_repeat(keys, at) && end < count && !sp_is_repeat(keys, end))
        end++;
    return end;
}

SP_CLONES void sp_star_look_up(struct sp_stars_domain *d, const uint32_t *keys, uint32_t count,
                               bool hits)
{
    struct sp_stars *s = d->stars;
    uint32_t from = s->length_count, end;
    bool repeats = hits && sp_star_repeats(keys, count) > 0;
    sp_grow(&s->lengths, &s->lengths_cap, count);
    for (uint32_t at = from; at < count; at = end) {
        end = repeats ? end_of_run(keys, at, count) : count;
        bool is_hit = hits && !sp_is_repeat(keys, at);
        sp_star_table_get_all(s->posted, keys + at, d->salt, end - at, s->lengths + at,
                              is_hit ? hit_all : NULL, d);
    }
    s->stats.looked_up += count - from;
    s->length_count = count;
}

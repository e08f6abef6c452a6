/* Looks up shingles or keys in the posting lists. */
#include "base/clones.h"
#include "base/mem.h"
#include "base/prefetch.h"
#include "stars/internal.h"

/* Without a branch on whether the star was hit before, which cannot be predicted. */
static inline void hit(struct sp_stars *s, uint16_t domain, uint32_t star)
{
    struct brief *b = &s->briefs[star];
    if (b->domain != domain)
        return; /* a shingle of another domain has the same key */
    s->found[s->found_count].star = star;
    s->found_count += b->hits == 0;
    b->hits += b->hits < UINT16_MAX;
}

static void hit_all(struct sp_stars *s, uint16_t domain, const struct sp_star_list *list)
{
    enum { AHEAD = 8 };
    const uint32_t *stars = sp_star_numbers(list);
    uint32_t k = 0;
    sp_grow(&s->found, &s->found_cap, s->found_count + list->count);
    for (; k + AHEAD < list->count; k++) {
        sp_prefetch(&s->briefs[stars[k + AHEAD]]);
        hit(s, domain, stars[k]);
    }
    for (; k < list->count; k++)
        hit(s, domain, stars[k]);
}

/* The first stars of a list. */
static inline void prefetch_briefs(const struct sp_stars *s, const struct sp_star_list *list)
{
    enum { FIRST = 8 };
    const uint32_t *stars = sp_star_numbers(list);
    for (uint32_t k = 0; k < list->count && k < FIRST; k++)
        sp_prefetch(&s->briefs[stars[k]]);
}

SP_CLONES void sp_star_look_up(struct sp_stars_domain *d, const uint32_t *keys, uint32_t count,
                               bool hits)
{
    enum { AHEAD = 8 };
    struct sp_stars *s = d->stars;
    uint32_t from = s->length_count;
    if (count == from)
        return;
    sp_grow(&s->lengths, &s->lengths_cap, count);
    sp_grow(&s->met, &s->met_cap, count - from);
    uint32_t met = sp_star_table_get_all(s->posted, keys + from, d->salt, count - from,
                                         s->lengths + from, s->met);
    for (uint32_t i = 0; hits && i < met && i < AHEAD; i++)
        prefetch_briefs(s, &s->met[i].list);
    for (uint32_t i = 0; hits && i < met; i++) {
        uint32_t at = from + s->met[i].at;
        if (i + AHEAD < met)
            prefetch_briefs(s, &s->met[i + AHEAD].list);
        if (at > 0 && keys[at] == keys[at - 1])
            continue;
        s->stats.scanned += s->met[i].list.count;
        hit_all(s, (uint16_t)d->salt, &s->met[i].list);
    }
    s->stats.looked_up += count - from;
    s->length_count = count;
}

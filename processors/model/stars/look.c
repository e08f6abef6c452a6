/* Looks up shingles or keys in the posting lists. */
#include "base/mem.h"
#include "stars/internal.h"

static void hit(struct sp_stars *s, const struct sp_stars_domain *d, uint32_t star)
{
    if (s->stars[star].domain != d)
        return; /* a shingle of another domain has the same key */
    if (s->hits[star] == 0) {
        sp_grow(&s->found, &s->found_cap, s->found_count + 1);
        s->found[s->found_count++].star = star;
    }
    s->hits[star] += s->hits[star] < UINT16_MAX;
}

void sp_star_look_up(struct sp_stars_domain *d, const uint32_t *keys, uint32_t count, bool hits)
{
    struct sp_stars *s = d->stars;
    uint32_t from = s->length_count;
    if (count == from)
        return;
    sp_grow(&s->lengths, &s->lengths_cap, count);
    sp_grow(&s->lists, &s->lists_cap, count);
    sp_star_table_get_all(s->posted, keys + from, d->salt, count - from, s->lists + from);
    for (uint32_t i = from; i < count; i++) {
        struct sp_star_list list = s->lists[i];
        const uint32_t *stars = list.numbers ? list.numbers : &list.only;
        s->lengths[i] = list.count;
        if (!hits || !list.count || (i > 0 && keys[i] == keys[i - 1]))
            continue;
        s->stats.scanned += list.count;
        for (uint32_t k = 0; k < list.count; k++)
            hit(s, d, stars[k]);
    }
    s->stats.looked_up += count - from;
    s->length_count = count;
}

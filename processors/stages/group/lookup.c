/* The patterns of the winners of a large group, side by side. Where thousands of winners have to be
 * ruled out for a hub, most of the time is spent on waiting for memory: each is in a place of its
 * own. Here they are read without a wait, in the order of ranks. */
#include "base/mem.h"
#include "group/large.h"

struct sp_lookup {
    struct sp_parity_wide *patterns;
    struct sp_hub **hubs; /* of each pattern; NULL: it is free */
    uint32_t *order;      /* the patterns in use, by the ranks of their hubs */
    uint32_t *free;
    uint32_t count; /* of patterns; in_order: in use */
    uint32_t in_order;
    uint32_t free_count;
    uint32_t pattern_cap;
    uint32_t hub_cap;
    uint32_t order_cap;
    uint32_t free_cap;
};

void sp_lookup_end(struct sp_large *l)
{
    struct sp_lookup *k = l->lookup;
    if (!k)
        return;
    for (uint32_t i = 0; i < k->in_order; i++)
        k->hubs[k->order[i]]->looked_up = 0;
    sp_free(k->patterns);
    sp_free(k->hubs);
    sp_free(k->order);
    sp_free(k->free);
    sp_free(k);
    l->lookup = NULL;
}

/* The place in the order of the first hub that is not before h. */
static uint32_t place_of(const struct sp_lookup *k, const struct sp_hub *h)
{
    uint32_t lo = 0, hi = k->in_order;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (sp_hub_before(k->hubs[k->order[mid]], h))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void sp_lookup_enter(struct sp_large *l, struct sp_hub *h)
{
    struct sp_lookup *k = l->lookup;
    struct sp_parity_wide pattern;
    if (!k || h->looked_up || !sp_winning_pattern(l, h, &pattern))
        return;
    uint32_t number = k->free_count ? k->free[--k->free_count] : k->count++;
    sp_grow(&k->patterns, &k->pattern_cap, k->count);
    sp_grow(&k->hubs, &k->hub_cap, k->count);
    sp_grow(&k->order, &k->order_cap, k->in_order + 1);
    k->patterns[number] = pattern;
    k->hubs[number] = h;
    h->looked_up = number + 1;
    uint32_t at = place_of(k, h);
    memmove(k->order + at + 1, k->order + at, (k->in_order++ - at) * sizeof *k->order);
    k->order[at] = number;
}

void sp_lookup_leave(struct sp_large *l, struct sp_hub *h)
{
    struct sp_lookup *k = l->lookup;
    if (!h->looked_up)
        return;
    uint32_t number = h->looked_up - 1, at = place_of(k, h);
    SP_ASSERT(at < k->in_order && k->order[at] == number);
    memmove(k->order + at, k->order + at + 1, (--k->in_order - at) * sizeof *k->order);
    sp_grow(&k->free, &k->free_cap, k->free_count + 1);
    k->free[k->free_count++] = number;
    k->hubs[number] = NULL;
    h->looked_up = 0;
}

struct sp_lookup_range sp_lookup_between(struct sp_large *l, const struct sp_hub *from,
                                         const struct sp_hub *end)
{
    if (!l->lookup) {
        struct sp_shelf_place place = sp_shelf_first(&l->winners);
        l->lookup = sp_calloc(1, sizeof *l->lookup);
        for (struct sp_hub *w; (w = sp_shelf_next(&l->winners, &place));)
            sp_lookup_enter(l, w);
    }
    return (struct sp_lookup_range){place_of(l->lookup, from),
                                    end ? place_of(l->lookup, end) : l->lookup->in_order};
}

void sp_lookup_near(struct sp_large *l, struct sp_hub *h, struct sp_lookup_range *range)
{
    enum { AT_ONCE = 128 };
    const struct sp_lookup *k = l->lookup;
    uint32_t near[AT_ONCE];
    struct sp_parity_wide x;
    l->near.count = 0;
    if (!sp_winning_pattern(l, h, &x))
        return;
    while (!l->near.count && range->at < range->end) {
        uint32_t left = range->end - range->at, n = left < AT_ONCE ? left : AT_ONCE;
        uint32_t count = sp_parity_near(&x, k->patterns, k->order + range->at, n, near);
        for (uint32_t i = 0; i < count; i++)
            sp_hub_list_add(&l->near, k->hubs[near[i]]);
        range->at += n;
    }
}

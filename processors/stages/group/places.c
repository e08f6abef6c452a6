/* Lists of hubs by rank, and places in that order. */
#include <math.h>

#include "base/order.h"
#include "group/large.h"

/* ---- lists by rank */

static int hub_order(const void *key, const void *object)
{
    const struct sp_rank_place *k = key;
    const struct sp_hub *h = object;
    return sp_rank_cmp(&h->rank, h->page, &k->rank, k->page);
}

void sp_hub_shelve(struct sp_shelf *hubs, struct sp_hub *h)
{
    const struct sp_rank_place at = sp_place_of(h);
    sp_shelf_add(hubs, hub_order, &at, sp_rank_head(&h->rank, h->page), h);
}

void sp_hub_unshelve(struct sp_shelf *hubs, struct sp_hub *h)
{
    const struct sp_rank_place at = sp_place_of(h);
    sp_shelf_remove(hubs, hub_order, &at, sp_rank_head(&h->rank, h->page));
}

struct sp_shelf_place sp_hub_place(const struct sp_shelf *hubs, const struct sp_rank_place *at)
{
    return sp_shelf_find(hubs, hub_order, at, sp_rank_head(&at->rank, at->page));
}

bool sp_hub_before(const struct sp_hub *a, const struct sp_hub *b)
{
    return sp_rank_cmp(&a->rank, a->page, &b->rank, b->page) < 0;
}

int sp_hub_by_rank(const void *a, const void *b)
{
    const struct sp_hub *x = *(struct sp_hub *const *)a, *y = *(struct sp_hub *const *)b;
    return sp_rank_cmp(&x->rank, x->page, &y->rank, y->page);
}

/* ---- places */

struct sp_rank_place sp_place_of(const struct sp_hub *h)
{
    return (struct sp_rank_place){true, h->rank, h->page};
}

struct sp_rank_place sp_place_before_all(void)
{
    return (struct sp_rank_place){.set = true, .rank = {.popularity = (double)INFINITY}};
}

bool sp_place_precedes(const struct sp_rank_place *p, const struct sp_hub *h)
{
    return p->set && sp_rank_cmp(&p->rank, p->page, &h->rank, h->page) < 0;
}

struct sp_shelf_place sp_place_after(const struct sp_shelf *hubs, const struct sp_rank_place *p)
{
    struct sp_shelf_place place = sp_hub_place(hubs, p), next = place;
    struct sp_hub *h = sp_shelf_next(hubs, &next);
    return h && !sp_place_precedes(p, h) ? next : place;
}

bool sp_place_visit_winners(struct sp_large *l, struct sp_rank_place *made,
                            void (*put)(struct sp_large *l, struct sp_hub *w))
{
    enum { LEAST = 64, PART = 1024, IN_TESTS = 2 };
    uint32_t part = l->stage->options.large_from ? IN_TESTS : LEAST + l->winners.count / PART;
    uint32_t left = sp_min_u32(part, l->may_read);
    struct sp_shelf_place place = sp_place_after(&l->winners, made);
    l->may_read -= left;
    while (made->set && !l->stage->err) {
        struct sp_hub *w = sp_shelf_next(&l->winners, &place);
        if (w && !left--)
            return false;
        *made = w ? sp_place_of(w) : (struct sp_rank_place){.set = false};
        if (w)
            put(l, w);
    }
    return !made->set;
}

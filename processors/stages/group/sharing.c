/* Finds the winners of a large group that can be similar to a hub, by the shingles that they share.
 *
 * Let n be the number of shingles that x keeps, and D = floor((1 - tau) n). A page y that is
 * similar to x lacks at most D of them (stars/stars.h), and the same holds for x and the shingles
 * of y. So the first D + 1 shingles of x and the first D + 1 of y, in the order of their hashes,
 * have one in common: let the last of those of x not be behind the last of those of y. One of those
 * of x is in y, and as it is not behind the last of those of y, it is among them. This is the
 * prefix filter (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007).
 *
 * In a chain each page shares shingles with few others, so that few of thousands of winners are
 * left; their bit patterns are compared next. Where many winners have the same first shingles, as
 * those of one template do, this index is of no use, and lookup.c takes its place. It is tried
 * again when a search there costs twice as much. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "candidates/postings.h"
#include "group/large.h"

enum {
    COST_LEAST = 1024,       /* of a search by patterns: one that costs less needs no memory */
    POSTINGS_MOST = 1 << 25, /* what a table has room for, whatever the lengths of its lists */
    PRICE = 4,               /* of a search in vain: as much as so many others save */
    PRICE_MOST = 256
};

struct sp_sharing {
    struct sp_postings *postings; /* one of the first shingles of a winner -> its row */
    uint64_t count;               /* of postings */
    struct sp_rank_place made;    /* winners ranked up to it are in; not set: all are */
    uint64_t searches;
    uint32_t price; /* of those that would have read too many postings */
};

/* The number of its first shingles; 0: an error, which is in the stage. */
static uint32_t first_of(struct sp_large *l, struct sp_hub *h, const uint32_t **ret_shingles)
{
    static const double slack = 1e-6;
    const struct sp_signature *s = sp_hub_signature(l->stage, h);
    if (!s)
        return 0;
    double tau = l->stage->options.similarity.threshold;
    uint32_t first = (uint32_t)floor((1 - tau) * s->shingle_count + slack) + 1;
    *ret_shingles = s->hashes;
    return first < s->shingle_count ? first : s->shingle_count;
}

/* ---- winners come and go */

void sp_sharing_end(struct sp_large *l)
{
    if (!l->sharing)
        return;
    sp_postings_free(l->sharing->postings);
    sp_free(l->sharing);
    l->sharing = NULL;
}

static void put(struct sp_large *l, struct sp_hub *h)
{
    struct sp_sharing *k = l->sharing;
    const uint32_t *shingles;
    uint32_t count = first_of(l, h, &shingles);
    h->met = 0; /* an index that is made again numbers its searches from 1 again */
    for (uint32_t i = 0; i < count; i++)
        if (!sp_is_repeat(shingles, i)) {
            sp_postings_add(k->postings, shingles[i], h->row);
            k->count++;
        }
}

static void take(struct sp_large *l, struct sp_hub *h)
{
    struct sp_sharing *k = l->sharing;
    const uint32_t *shingles;
    uint32_t count = first_of(l, h, &shingles);
    for (uint32_t i = 0; i < count; i++)
        if (!sp_is_repeat(shingles, i)) {
            sp_postings_remove(k->postings, shingles[i], h->row);
            k->count--;
        }
}

static bool is_full(struct sp_large *l)
{
    if (l->sharing->count <= POSTINGS_MOST)
        return false;
    l->sharing_from = UINT64_MAX;
    sp_sharing_end(l);
    return true;
}

/* Whether the index has winners of its rank. */
static bool has_those_like(const struct sp_large *l, const struct sp_hub *h)
{
    return l->sharing && !sp_place_precedes(&l->sharing->made, h);
}

void sp_sharing_enter(struct sp_large *l, struct sp_hub *h)
{
    if (!has_those_like(l, h))
        return;
    put(l, h);
    is_full(l);
}

void sp_sharing_leave(struct sp_large *l, struct sp_hub *h)
{
    if (!has_those_like(l, h))
        return;
    take(l, h);
    if (l->stage->err)
        sp_sharing_end(l); /* it may still have the hub */
}

static void begin(struct sp_large *l)
{
    l->sharing = sp_calloc(1, sizeof *l->sharing);
    l->sharing->postings = sp_postings_new();
    l->sharing->made = sp_place_before_all();
}

/* ---- searching */

/* A search was in vain. Drops the index if many have been. */
static void charge(struct sp_large *l)
{
    l->near.count = 0;
    l->sharing->price += PRICE;
    if (l->sharing->price < PRICE_MOST)
        return;
    l->sharing_from = 2 * sp_lookup_cost(l);
    sp_sharing_end(l);
}

bool sp_sharing_is_whole(const struct sp_large *l)
{
    return l->sharing && !l->sharing->made.set;
}

static bool is_due(const struct sp_large *l)
{
    const struct sp_group_stage_options *o = &l->stage->options;
    uint64_t from = l->sharing_from ? l->sharing_from : COST_LEAST;
    return sp_method_info(o->similarity.method)->jaccard &&
           (o->large_from ? l->wins % 3 > 0 : sp_lookup_cost(l) >= from);
}

bool sp_sharing_serves(struct sp_large *l)
{
    if (sp_sharing_is_whole(l))
        return true;
    if (!l->sharing && !is_due(l))
        return false;
    if (!l->sharing)
        begin(l);
    bool whole = sp_place_visit_winners(l, &l->sharing->made, put);
    if (is_full(l) || !whole)
        return false;
    sp_lookup_end(l);
    return true;
}

/* Appends the winners of the list that are in the range and that this search has not met. */
static void meet(struct sp_large *l, const struct sp_posting_list *list,
                 const struct sp_lookup_range *range)
{
    const uint32_t *rows = list->slots ? list->slots : &list->only;
    for (uint32_t i = 0; i < list->count; i++) {
        struct sp_hub *w = sp_hub_at(l, rows[i]);
        if (w->met == l->sharing->searches)
            continue;
        w->met = l->sharing->searches;
        l->stage->stats.held_against++;
        if (sp_lookup_is_in(range, w))
            sp_hub_list_add(&l->near, w);
    }
}

/* A search that would read more postings is in vain. In a test, every fourth is. */
static uint64_t most_read(const struct sp_large *l)
{
    enum { SHARE = 8 }; /* reading a posting costs as much as comparing so many patterns */
    if (l->stage->options.large_from)
        return l->sharing->searches % 4 ? UINT32_MAX : 0;
    return sp_lookup_cost(l) / SHARE;
}

static void prefetch(const struct sp_sharing *k, const uint32_t *shingles, uint32_t i,
                     uint32_t count)
{
    enum { LISTS = 16, SHARDS = 32 }; /* ahead */
    if (i + SHARDS < count)
        sp_postings_prefetch_shard(k->postings, shingles[i + SHARDS]);
    if (i + LISTS < count)
        sp_postings_prefetch(k->postings, shingles[i + LISTS]);
}

bool sp_sharing_near(struct sp_large *l, struct sp_hub *h, const struct sp_lookup_range *range)
{
    struct sp_sharing *k = l->sharing;
    const uint32_t *shingles;
    uint32_t count = first_of(l, h, &shingles);
    uint64_t read = 0, most = most_read(l);
    l->near.count = 0;
    k->searches++;
    for (uint32_t i = 0; i < count; i++) {
        prefetch(k, shingles, i, count);
        if (sp_is_repeat(shingles, i))
            continue;
        struct sp_posting_list list = sp_postings_get(k->postings, shingles[i]);
        read += list.count;
        if (read > most) {
            charge(l);
            return false;
        }
        meet(l, &list, range);
    }
    k->price -= k->price > 0;
    if (l->near.count > 1)
        qsort(l->near.hubs, l->near.count, sizeof *l->near.hubs, sp_hub_by_rank);
    return true;
}

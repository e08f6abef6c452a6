/* The hubs of a large group that win: by rank, and in the order in which they became winners.
 *
 * There can be a winner for every few pages, in two ways. In a group that is a chain, each page
 * resembles few others: the index of hubs finds the stars that a hub touches, and only winners in
 * them can be similar to it. In a group of pages that all resemble one page, and hardly each other,
 * there is but one star, and all winners differ from a hub by little more than the threshold
 * allows: the hub is held against them in rank order. The first few are compared; after that,
 * patterns of the shingles (similarity/parity.h) rule out nearly all that are not similar, without
 * reading their signatures. */
#include <stdlib.h>

#include "base/mem.h"
#include "group/large.h"
#include "similarity/parity.h"

/* ---- winners come and go */

void sp_winning_add(struct sp_large *l, struct sp_hub *h)
{
    h->won = ++l->wins;
    sp_shelf_add(&l->winners, sp_hub_order, h->best, 0, h);
    sp_hub_list_add(&l->recent, h);
}

void sp_winning_remove(struct sp_large *l, struct sp_hub *h)
{
    sp_shelf_remove(&l->winners, sp_hub_order, h->best, 0);
    sp_winning_forget_pattern(h);
}

void sp_winning_trim(struct sp_large *l)
{
    if (l->recent.count < 64 || l->recent.count < 4 * (uint64_t)l->winners.count)
        return;
    l->recent_from += l->recent.count;
    l->recent.count = 0;
}

/* ---- patterns */

struct sp_pattern {
    uint32_t shingles;
    uint32_t words; /* 0: it rules nothing out */
    uint64_t bits[];
};

static struct sp_pattern *pattern_of(const struct sp_similarity_options *o,
                                     const struct sp_signature *s)
{
    enum { BITS_EACH = 4 };
    bool usable = sp_method_info(o->method)->jaccard && s->shingle_count == s->shingle_total;
    uint32_t words = usable ? sp_parity_words(s->shingle_count, BITS_EACH) : 0;
    struct sp_pattern *p = sp_alloc(sizeof *p + words * sizeof *p->bits);
    *p = (struct sp_pattern){s->shingle_count, words};
    if (words)
        sp_parity_of(s, words, p->bits);
    return p;
}

void sp_winning_forget_pattern(struct sp_hub *h)
{
    sp_free(h->pattern);
    h->pattern = NULL;
}

/* J >= tau allows at most (1 - tau) / (1 + tau) of all shingles of both to be in only one. */
static bool too_far(double tau, const struct sp_pattern *a, const struct sp_pattern *b)
{
    static const double slack = 1e-6;
    if (!a->words || !b->words)
        return false;
    double most = ((1 - tau) / (1 + tau) + slack) * ((double)a->shingles + b->shingles);
    return sp_parity_distance(a->bits, a->words, b->bits, b->words) > most;
}

static bool rules_out(struct sp_large *l, struct sp_hub *h, struct sp_hub *w)
{
    const struct sp_similarity_options *o = &l->stage->options.similarity;
    struct sp_hub *both[] = {h, w};
    for (int i = 0; i < 2; i++) {
        const struct sp_signature *s =
            both[i]->pattern ? NULL : sp_hub_signature(l->stage, both[i]);
        if (s)
            both[i]->pattern = pattern_of(o, s);
        if (!both[i]->pattern)
            return false;
    }
    return too_far(o->threshold, h->pattern, w->pattern);
}

/* ---- comparing */

bool sp_winning_resembles(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner,
                          uint32_t *tried, double *ret_similarity)
{
    struct sp_group_stage *st = l->stage;
    uint32_t few = st->options.large_from ? 1 : 8;
    if ((*tried)++ >= few && rules_out(l, h, winner))
        return false;
    const struct sp_signature *x = sp_hub_signature(st, winner), *y = sp_hub_signature(st, h);
    st->stats.compared++;
    return x && y && sp_similar(&st->options.similarity, x, y, ret_similarity);
}

/* ---- which winners can be similar */

/* The unit is about what it costs to hold a hub against a winner. */
static bool index_is_cheaper(const struct sp_large *l)
{
    enum { PROBE = 512, MEMBER = 16 };
    struct sp_stars_stats stats;
    if (l->stage->options.large_from)
        return l->winners.count % 2;
    if (l->winners.count <= PROBE)
        return false;
    if (!l->stars)
        return true;
    sp_stars_stats(l->stars, &stats);
    return l->winners.count > PROBE + MEMBER * stats.rows / (stats.stars + 1);
}

static void note_winner(void *arg, uint32_t row)
{
    struct sp_large *l = arg;
    struct sp_hub *w = sp_hub_at(l, row);
    if (w->best && w->winner == w)
        sp_hub_list_add(&l->near, w);
}

/* One row of each star is reported; winners may be among its other members. */
static bool gather(struct sp_large *l, struct sp_hub *h)
{
    struct sp_stars_stats before, after;
    struct sp_touches touches = {NULL, 0};
    struct sp_group_stage *st = l->stage;
    const struct sp_signature *s = sp_hub_signature(st, h);
    l->near.count = 0;
    sp_hubs_index(st, h->group);
    if (!s)
        return false;
    sp_stars_stats(l->stars, &before);
    enum sp_err err = sp_stars_probe(l->domain, s, h->row, &touches);
    sp_stars_stats(l->stars, &after);
    st->stats.compared += after.verified - before.verified;
    if (err != SP_OK)
        sp_group_stage_note(st, err);
    for (size_t i = 0; i < touches.count; i++)
        sp_stars_each_member(l->stars, touches.items[i].row, note_winner, l);
    if (l->near.count > 1)
        qsort(l->near.hubs, l->near.count, sizeof *l->near.hubs, sp_hub_by_rank);
    return err == SP_OK;
}

struct sp_winning_walk sp_winning_walk(struct sp_large *l, struct sp_hub *h)
{
    struct sp_winning_walk walk = {.large = l, .near = index_is_cheaper(l)};
    if (!walk.near)
        walk.place = sp_shelf_first(&l->winners);
    else if (!gather(l, h))
        l->near.count = 0;
    return walk;
}

struct sp_hub *sp_winning_next(struct sp_winning_walk *walk)
{
    struct sp_large *l = walk->large;
    if (!walk->near)
        return sp_shelf_next(&l->winners, &walk->place);
    return walk->at < l->near.count ? l->near.hubs[walk->at++] : NULL;
}

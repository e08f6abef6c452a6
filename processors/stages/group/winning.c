/* The hubs of a large group that win: by rank, and in the order in which they became winners.
 *
 * Two kinds of groups have a winner for every few pages. In a chain, each page resembles few
 * others: the index of hubs finds the stars that a hub touches, and only winners in these stars can
 * be similar to it. In a group whose pages all resemble one page but hardly each other, there is
 * only one star, and all winners differ from a hub by little more than the threshold allows: the
 * hub is held against them in rank order. The first winner is compared. For the others, bit
 * patterns of the shingles (similarity/parity.h) rule out nearly all that are not similar, without
 * reading their signatures. If there are many winners, an index by the shingles that they lack
 * leaves few of them (lacking.c), or in a chain one by the shingles that they share (sharing.c); if
 * both are of no use, the patterns are read from contiguous memory (lookup.c). */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "group/large.h"
#include "similarity/parity.h"

/* ---- winners come and go */

void sp_winning_forget(struct sp_large *l, const struct sp_hub *h)
{
    if (h->won > l->recent_from)
        l->recent.hubs[h->won - 1 - l->recent_from] = NULL;
}

void sp_winning_add(struct sp_large *l, struct sp_hub *h)
{
    sp_winning_forget(l, h);
    h->won = ++l->wins;
    sp_hub_shelve(&l->winners, h);
    sp_hub_list_add(&l->recent, h);
    sp_lacking_winners_enter(l, h);
    sp_sharing_enter(l, h);
    sp_lookup_enter(l, h);
}

void sp_winning_end_lookup(struct sp_large *l)
{
    sp_lacking_winners_end(l);
    sp_sharing_end(l);
    sp_lookup_end(l);
    l->lacking_from = l->sharing_from = 0;
}

void sp_winning_remove(struct sp_large *l, struct sp_hub *h)
{
    enum { FEW = 32 };
    sp_hub_unshelve(&l->winners, h);
    sp_lacking_winners_leave(l, h);
    sp_sharing_leave(l, h);
    sp_lookup_leave(l, h);
    if (l->winners.count < FEW)
        sp_winning_end_lookup(l);
    sp_pattern_forget(h);
}

void sp_winning_trim(struct sp_large *l)
{
    if (l->recent.count < 64 || l->recent.count < 4 * (uint64_t)l->winners.count)
        return;
    l->recent_from += l->recent.count;
    l->recent.count = 0;
}

/* ---- comparing */

bool sp_winning_compare(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner,
                        double *ret_similarity)
{
    struct sp_group_stage *st = l->stage;
    const struct sp_signature *x = sp_hub_signature(st, winner), *y = sp_hub_signature(st, h);
    st->stats.compared++;
    return x && y && sp_similar(&st->options.similarity, x, y, ret_similarity);
}

bool sp_winning_resembles(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner,
                          uint32_t *tried, double *ret_similarity)
{
    if ((*tried)++ && sp_pattern_rules_out(l, h, winner))
        return false;
    return sp_winning_compare(l, h, winner, ret_similarity);
}

/* ---- which winners can be similar */

/* The unit of cost is the time to examine one of many winners for a hub: about a nanosecond. */
static bool index_is_cheaper(const struct sp_large *l)
{
    enum { PROBE = 6144, MEMBER = 128 };
    struct sp_stars_stats stats;
    if (l->stage->options.large_from)
        return l->winners.count % 2;
    if (l->winners.count <= PROBE || l->lacking || l->lacking_next || l->sharing)
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

/* Whether all hubs are in the index. If many are not, each call puts in some. */
static bool is_indexed(struct sp_large *l)
{
    enum { PART = 16 };
    if (sp_hubs_are_many(l))
        sp_hubs_index_some(l->stage, l->group, (sp_group_rows_at_once(l->stage) + PART - 1) / PART);
    else
        sp_hubs_index_now(l->stage, l->group);
    return !l->unindexed.count;
}

/* One row of each star is reported; winners may be among its other members. */
static bool gather(struct sp_large *l, struct sp_hub *h)
{
    struct sp_stars_stats before, after;
    struct sp_touches touches;
    struct sp_group_stage *st = l->stage;
    l->near.count = 0;
    sp_stars_stats(l->stars, &before);
    bool found = sp_hub_probe(st, h, &touches);
    sp_stars_stats(l->stars, &after);
    st->stats.compared += after.verified - before.verified;
    for (size_t i = 0; i < touches.count; i++)
        sp_stars_each_member(l->stars, touches.items[i].row, note_winner, l);
    if (l->near.count > 1)
        qsort(l->near.hubs, l->near.count, sizeof *l->near.hubs, sp_hub_by_rank);
    return found;
}

/* ---- one after another */

/* The place of the hub among the winners, or where it would be. */
static struct sp_shelf_place place_of(const struct sp_large *l, const struct sp_hub *h)
{
    const struct sp_rank_place at = {true, h->rank, h->page};
    return sp_hub_place(&l->winners, &at);
}

/* What comes first by rank: the `end`, if there is one, or the first winner that is not decided. */
static const struct sp_hub *end_of(const struct sp_large *l, const struct sp_hub *end)
{
    if (!l->decided.set)
        return end;
    struct sp_shelf_place place = sp_place_after(&l->winners, &l->decided);
    const struct sp_hub *undecided = sp_shelf_next(&l->winners, &place);
    return end && (!undecided || sp_hub_before(end, undecided)) ? end : undecided;
}

static struct sp_winning_walk walk_of(struct sp_large *l, struct sp_hub *h,
                                      const struct sp_hub *end, uint32_t *tried)
{
    struct sp_winning_walk walk = {.large = l, .hub = h, .tried = tried, .end = end_of(l, end)};
    walk.near = index_is_cheaper(l) && is_indexed(l);
    if (walk.near && !gather(l, h))
        l->near.count = 0;
    return walk;
}

struct sp_winning_walk sp_winning_before(struct sp_large *l, struct sp_hub *h,
                                         const struct sp_hub *end, uint64_t after, uint32_t *tried)
{
    struct sp_winning_walk walk = walk_of(l, h, end, tried);
    walk.after = after;
    walk.place = sp_shelf_first(&l->winners);
    return walk;
}

struct sp_winning_walk sp_winning_behind(struct sp_large *l, struct sp_hub *h, uint32_t *tried)
{
    struct sp_winning_walk walk = walk_of(l, h, NULL, tried);
    walk.place = place_of(l, h);
    while (walk.near && walk.at < l->near.count && sp_hub_before(l->near.hubs[walk.at], h))
        walk.at++;
    return walk;
}

/* NULL at the end. */
static struct sp_hub *next_by_pattern(struct sp_winning_walk *walk)
{
    struct sp_large *l = walk->large;
    if (walk->at == l->near.count && !walk->whole) {
        sp_lookup_near(l, walk->hub, &walk->range);
        walk->at = 0;
    }
    return walk->at < l->near.count ? l->near.hubs[walk->at++] : NULL;
}

/* Fills l->near with all winners of the range that can be similar to the hub, if an index tells. */
static bool find_all(struct sp_large *l, struct sp_hub *h, const struct sp_lookup_range *range)
{
    bool sharing = sp_sharing_is_whole(l);
    if (sharing && sp_sharing_near(l, h, range))
        return true;
    if (sp_lacking_winners_serve(l)) {
        sp_lacking_winners_near(l, h, range);
        return true;
    }
    return !sharing && !l->lacking_next && sp_sharing_serves(l) && sp_sharing_near(l, h, range);
}

/* NULL at the end. */
static struct sp_hub *next_in_order(struct sp_winning_walk *walk)
{
    enum { FIRST = 16, FIRST_OF_INDEXED = 4, MANY = 64 }; /* most hubs resemble one of the first */
    struct sp_large *l = walk->large;
    bool test = l->stage->options.large_from;
    struct sp_hub *w;
    if (walk->by_pattern)
        return next_by_pattern(walk);
    if (walk->near) {
        w = walk->at < l->near.count ? l->near.hubs[walk->at++] : NULL;
        return w && walk->end && !sp_hub_before(w, walk->end) ? NULL : w;
    }
    w = sp_shelf_next(&l->winners, &walk->place);
    if (!w || (walk->end && !sp_hub_before(w, walk->end)))
        return NULL;
    uint32_t first = test ? 1 : l->lacking || l->sharing ? FIRST_OF_INDEXED : FIRST;
    if (walk->passed++ < first || (!test && l->winners.count < MANY))
        return w;
    walk->by_pattern = true;
    l->near.count = walk->at = 0;
    walk->range = (struct sp_lookup_range){w, walk->end, walk->after, 0};
    walk->whole = find_all(l, walk->hub, &walk->range);
    if (!walk->whole)
        walk->range = sp_lookup_between(l, w, walk->end, walk->after);
    return next_by_pattern(walk);
}

struct sp_hub *sp_winning_next(struct sp_winning_walk *walk)
{
    struct sp_hub *w;
    while ((w = next_in_order(walk))) {
        walk->large->stage->stats.held_against += !walk->by_pattern;
        if (w != walk->hub && w->won > walk->after &&
            !((*walk->tried)++ && sp_pattern_rules_out(walk->large, walk->hub, w)))
            return w;
    }
    return NULL;
}

/* Finds the winners of a large group that can be similar to a hub, by the shingles that they lack
 * (similarity/lacking.h).
 *
 * Suppose that all pages of a group resemble one page and hardly resemble each other. Then two
 * winners share only shingles that nearly all winners have, and such shingles tell nothing. But a
 * hub can only resemble a winner that differs in about the same way from that one page (the
 * reference), which leaves a few of thousands of winners. Their bit patterns are compared next.
 *
 * If most winners have few shingles of the reference, as in a chain, this index is of no use, and
 * lookup.c takes its place. It is tried again when there are twice as many winners. */
#include "similarity/lacking.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prefetch.h"
#include "group/large.h"

struct seat {
    struct sp_hub *hub; /* its lacking_seats[side] is the seat's number, plus 1; NULL: free */
    double most;        /* as in its pattern */
    uint64_t brief[SP_PARITY_BRIEF];
};

struct sp_lacking_winners {
    struct sp_lacking *index;
    struct seat *seats;
    uint32_t count;
    uint32_t cap;
    uint32_t entered;    /* winners */
    uint32_t side;       /* 0 or 1; of the two that a group may have at a time, each has another */
    uint32_t centred_at; /* winners with which a better reference is looked for */
    bool is_first;       /* its reference is a winner */
    struct sp_rank_place made; /* winners ranked up to it are in; not set: all are */
};

static bool seat_of(struct sp_large *l, struct sp_hub *h, struct seat *ret_seat)
{
    struct sp_parity_wide wide;
    if (!sp_pattern_fold(l, h, &wide))
        return false;
    *ret_seat = (struct seat){.hub = h, .most = wide.most};
    sp_parity_brief(wide.words, SP_PARITY_WIDE, ret_seat->brief);
    return true;
}

/* ---- winners come and go */

static void add_seats(struct sp_lacking_winners *k, uint32_t count)
{
    sp_grow(&k->seats, &k->cap, count);
    memset(k->seats + k->count, 0, (count - k->count) * sizeof *k->seats);
    k->count = count;
}

static void enter(struct sp_large *l, struct sp_lacking_winners *k, struct sp_hub *h)
{
    struct seat seat;
    if (h->lacking_seats[k->side])
        return;
    const struct sp_signature *s = sp_hub_signature(l->stage, h);
    if (!s || !seat_of(l, h, &seat))
        return;
    uint32_t at = sp_lacking_put(k->index, s, seat.most);
    if (at >= k->count)
        add_seats(k, at + 1);
    k->seats[at] = seat;
    k->entered++;
    h->lacking_seats[k->side] = at + 1;
}

static void leave(struct sp_lacking_winners *k, struct sp_hub *h)
{
    uint32_t seat = h->lacking_seats[k->side];
    if (!seat)
        return;
    SP_ASSERT(seat <= k->count && k->seats[seat - 1].hub == h);
    sp_lacking_take(k->index, seat - 1);
    k->seats[seat - 1].hub = NULL;
    k->entered--;
    h->lacking_seats[k->side] = 0;
}

static void end(struct sp_lacking_winners *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; i < k->count; i++)
        if (k->seats[i].hub)
            k->seats[i].hub->lacking_seats[k->side] = 0;
    sp_lacking_free(k->index);
    sp_free(k->seats);
    sp_free(k);
}

void sp_lacking_winners_enter(struct sp_large *l, struct sp_hub *h)
{
    if (l->lacking)
        enter(l, l->lacking, h);
    if (l->lacking_next)
        enter(l, l->lacking_next, h);
}

void sp_lacking_winners_leave(struct sp_large *l, struct sp_hub *h)
{
    if (l->lacking)
        leave(l->lacking, h);
    if (l->lacking_next)
        leave(l->lacking_next, h);
}

void sp_lacking_winners_end(struct sp_large *l)
{
    end(l->lacking);
    end(l->lacking_next);
    l->lacking = l->lacking_next = NULL;
}

/* ---- made in parts */

static void begin(struct sp_large *l, const struct sp_signature *reference, bool is_first)
{
    struct sp_lacking_winners *k = sp_calloc(1, sizeof *k);
    k->index = sp_lacking_new(reference, true);
    k->side = l->lacking ? !l->lacking->side : 0;
    k->centred_at = 2 * l->winners.count;
    k->is_first = is_first;
    k->made = sp_place_before_all();
    l->lacking_next = k;
}

static void begin_first(struct sp_large *l)
{
    struct sp_shelf_place place = sp_shelf_first(&l->winners);
    struct sp_hub *w = sp_shelf_next(&l->winners, &place);
    const struct sp_signature *first = w ? sp_hub_signature(l->stage, w) : NULL;
    if (first)
        begin(l, first, true);
}

/* What several winners have is nearer than a winner to the page that all resemble: the fewer
 * shingles a winner differs by, the fewer others can resemble it. False: the index has that
 * reference. */
static bool begin_centred(struct sp_large *l, struct sp_lacking_winners *k)
{
    struct sp_signature *reference = sp_lacking_centre(k->index);
    k->centred_at = 2 * l->winners.count;
    if (!reference)
        return false;
    begin(l, reference, false);
    sp_signature_unref(reference);
    return true;
}

static void begin_if_due(struct sp_large *l)
{
    bool test = l->stage->options.large_from;
    if (l->lacking_next)
        return;
    if (!l->lacking && (test ? l->wins % 2 : l->winners.count >= l->lacking_from))
        begin_first(l);
    else if (l->lacking && l->winners.count >= l->lacking->centred_at)
        begin_centred(l, l->lacking);
}

/* In a test, also such an index is searched. */
static bool are_mostly_odd(const struct sp_large *l, const struct sp_lacking_winners *k)
{
    return !l->stage->options.large_from && 2 * sp_lacking_odd(k->index) > k->entered;
}

/* Whether nearly all of many winners are odd already, as in a chain. */
static bool is_hopeless(const struct sp_large *l, const struct sp_lacking_winners *k)
{
    enum { MANY = 1024, PART = 16 };
    return !l->stage->options.large_from && k->entered >= MANY &&
           k->entered - sp_lacking_odd(k->index) < k->entered / PART;
}

static void give_up(struct sp_large *l)
{
    l->lacking_from = 2 * l->winners.count;
    sp_lacking_winners_end(l);
}

/* The first index tells what most winners have. It ends before the next one, which has the same
 * side, is filled. */
static void finish(struct sp_large *l)
{
    struct sp_lacking_winners *k = l->lacking_next;
    l->lacking_next = NULL;
    if (k->is_first && begin_centred(l, k)) {
        end(k);
    } else if (are_mostly_odd(l, k)) {
        end(k);
        give_up(l);
    } else {
        end(l->lacking);
        l->lacking = k;
        sp_lookup_end(l);
    }
}

static void enter_next(struct sp_large *l, struct sp_hub *h)
{
    enter(l, l->lacking_next, h);
}

static void make_some(struct sp_large *l)
{
    struct sp_lacking_winners *k = l->lacking_next;
    if (!k)
        return;
    bool whole = sp_place_visit_winners(l, &k->made, enter_next);
    if (is_hopeless(l, k))
        give_up(l);
    else if (whole)
        finish(l);
}

/* ---- searching */

bool sp_lacking_winners_serve(struct sp_large *l)
{
    begin_if_due(l);
    make_some(l);
    if (l->lacking && are_mostly_odd(l, l->lacking))
        give_up(l);
    return l->lacking;
}

static bool is_near(const struct seat *x, const struct seat *y)
{
    return sp_parity_brief_distance(x->brief, y->brief) <= x->most + y->most;
}

static void keep_those_in(const struct sp_lookup_range *range, struct sp_hub_list *near)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < near->count; i++)
        if (sp_lookup_is_in(range, near->hubs[i]))
            near->hubs[kept++] = near->hubs[i];
    near->count = kept;
}

void sp_lacking_winners_near(struct sp_large *l, struct sp_hub *h,
                             const struct sp_lookup_range *range)
{
    const struct sp_lacking_winners *k = l->lacking;
    const struct sp_signature *s = sp_hub_signature(l->stage, h);
    struct seat x;
    l->near.count = 0;
    if (!s || !seat_of(l, h, &x))
        return;
    struct sp_lacking_found found = sp_lacking_find(
        k->index, s, x.most,
        h->lacking_seats[k->side] ? (int64_t)h->lacking_seats[k->side] - 1 : SP_LACKING_NONE);
    for (uint32_t i = 0; i < found.count; i++)
        sp_prefetch_bytes(&k->seats[found.items[i]], sizeof *k->seats);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct seat *y = &k->seats[found.items[i]];
        l->stage->stats.held_against++;
        if (!is_near(&x, y))
            continue;
        sp_hub_list_add(&l->near, y->hub);
        sp_prefetch_bytes(y->hub, sizeof *y->hub);
    }
    keep_those_in(range, &l->near);
    if (l->near.count > 1)
        qsort(l->near.hubs, l->near.count, sizeof *l->near.hubs, sp_hub_by_rank);
}

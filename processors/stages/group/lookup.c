/* The bit patterns of the winners of a large group (similarity/parity.h), in contiguous memory. If
 * thousands of winners, each an object of its own, had to be ruled out for a hub, most of the time
 * would be spent on waiting for memory. So the patterns are in arrays of up to 64 (benches), and
 * eight of them are compared at a time. Benches are in rank order, so that a search can stop at the
 * first winner that is similar. The places (seats) in a bench are in no order: few winners of a
 * bench pass, and these are then sorted. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prefetch.h"
#include "group/large.h"

enum { SEATS = SP_PARITY_AT_ONCE };

struct bench {
    struct sp_rank_place from; /* no winner of it is ranked before; not set: the first bench */
    uint64_t newest;           /* no winner of it has a larger number */
    uint32_t count;
    struct sp_hub *hubs[SEATS]; /* hubs[i]->looked_up == i + 1 */
    struct sp_parity_list patterns;
};

struct sp_lookup {
    struct bench **benches; /* in rank order; at least one */
    uint32_t count;
    uint32_t cap;
};

static bool comes_before_all(const struct bench *b, const struct sp_hub *h)
{
    return b->from.set && sp_rank_cmp(&h->rank, h->page, &b->from.rank, b->from.page) < 0;
}

/* The bench of the hub, or where it would be. */
static uint32_t bench_of(const struct sp_lookup *k, const struct sp_hub *h)
{
    uint32_t lo = 0, hi = k->count - 1;
    while (lo < hi) {
        uint32_t mid = (lo + hi + 1) / 2;
        if (comes_before_all(k->benches[mid], h))
            hi = mid - 1;
        else
            lo = mid;
    }
    return lo;
}

/* ---- benches */

static struct bench *insert_bench(struct sp_lookup *k, uint32_t at)
{
    sp_grow(&k->benches, &k->cap, k->count + 1);
    memmove(k->benches + at + 1, k->benches + at, (k->count++ - at) * sizeof *k->benches);
    return k->benches[at] = sp_calloc(1, sizeof **k->benches);
}

static void sit_down(struct bench *b, struct sp_hub *h, const struct sp_parity_wide *pattern)
{
    sp_parity_put(&b->patterns, b->count, pattern);
    b->hubs[b->count++] = h;
    b->newest = h->won > b->newest ? h->won : b->newest;
    h->looked_up = b->count;
}

/* The hub of the last seat takes the seat. */
static void stand_up(struct bench *b, uint32_t seat)
{
    struct sp_hub *last = b->hubs[--b->count];
    struct sp_parity_wide pattern;
    sp_parity_get(&b->patterns, b->count, &pattern);
    b->hubs[seat]->looked_up = 0;
    if (seat == b->count)
        return;
    sp_parity_put(&b->patterns, seat, &pattern);
    b->hubs[seat] = last;
    last->looked_up = seat + 1;
}

static void change_bench(struct bench *b, uint32_t seat, struct bench *to)
{
    struct sp_hub *h = b->hubs[seat];
    struct sp_parity_wide pattern;
    sp_parity_get(&b->patterns, seat, &pattern);
    stand_up(b, seat);
    sit_down(to, h, &pattern);
}

/* The half of the bench that is ranked last goes to a new one behind it. */
static void split(struct sp_lookup *k, uint32_t at)
{
    struct bench *b = k->benches[at], *new = insert_bench(k, at + 1);
    struct sp_hub *by_rank[SEATS];
    memcpy(by_rank, b->hubs, b->count * sizeof *by_rank);
    qsort(by_rank, b->count, sizeof *by_rank, sp_hub_by_rank);
    const struct sp_hub *middle = by_rank[b->count / 2];
    new->from = (struct sp_rank_place){true, middle->rank, middle->page};
    for (uint32_t i = b->count; i-- > 0;)
        if (!comes_before_all(new, b->hubs[i]))
            change_bench(b, i, new);
}

/* Two neighbours that are nearly empty become one. */
static void merge(struct sp_lookup *k, uint32_t at)
{
    if (at + 1 >= k->count || k->benches[at]->count + k->benches[at + 1]->count > SEATS / 2)
        return;
    struct bench *b = k->benches[at], *next = k->benches[at + 1];
    while (next->count)
        change_bench(next, next->count - 1, b);
    sp_free(next);
    memmove(k->benches + at + 1, k->benches + at + 2, (--k->count - at - 1) * sizeof *k->benches);
}

/* ---- winners come and go */

void sp_lookup_end(struct sp_large *l)
{
    struct sp_lookup *k = l->lookup;
    if (!k)
        return;
    for (uint32_t i = 0; i < k->count; i++) {
        for (uint32_t seat = 0; seat < k->benches[i]->count; seat++)
            k->benches[i]->hubs[seat]->looked_up = 0;
        sp_free(k->benches[i]);
    }
    sp_free(k->benches);
    sp_free(k);
    l->lookup = NULL;
}

void sp_lookup_enter(struct sp_large *l, struct sp_hub *h)
{
    struct sp_lookup *k = l->lookup;
    struct sp_parity_wide pattern;
    if (!k || h->looked_up || !sp_pattern_fold(l, h, &pattern))
        return;
    if (k->benches[bench_of(k, h)]->count == SEATS)
        split(k, bench_of(k, h));
    sit_down(k->benches[bench_of(k, h)], h, &pattern);
}

void sp_lookup_leave(struct sp_large *l, struct sp_hub *h)
{
    struct sp_lookup *k = l->lookup;
    if (!k || !h->looked_up)
        return;
    uint32_t at = bench_of(k, h), seat = h->looked_up - 1;
    struct bench *b = k->benches[at];
    SP_ASSERT(seat < b->count && b->hubs[seat] == h);
    stand_up(b, seat);
    merge(k, at);
    if (at > 0)
        merge(k, at - 1);
}

/* ---- searching */

struct sp_lookup_range sp_lookup_between(struct sp_large *l, const struct sp_hub *from,
                                         const struct sp_hub *end, uint64_t after)
{
    if (!l->lookup) {
        struct sp_shelf_place place = sp_shelf_first(&l->winners);
        l->lookup = sp_calloc(1, sizeof *l->lookup);
        insert_bench(l->lookup, 0);
        for (struct sp_hub *w; (w = sp_shelf_next(&l->winners, &place));)
            sp_lookup_enter(l, w);
    }
    return (struct sp_lookup_range){from, end, after, bench_of(l->lookup, from)};
}

bool sp_lookup_is_in(const struct sp_lookup_range *range, const struct sp_hub *w)
{
    return w->won > range->after && !sp_hub_before(w, range->from) &&
           (!range->end || sp_hub_before(w, range->end));
}

static void note_passed(struct sp_large *l, uint32_t examined, uint32_t passed)
{
    enum { MOST = 1 << 16 };
    if (l->examined >= MOST) {
        l->examined /= 2;
        l->passed /= 2;
    }
    l->examined += examined;
    l->passed += passed;
}

/* One that passes is fetched, and its whole pattern compared. Of large pages most pass. */
uint64_t sp_lookup_cost(const struct sp_large *l)
{
    enum { PASSED = 32 };
    uint64_t count = l->winners.count;
    return count + (l->examined ? count * PASSED * l->passed / l->examined : 0);
}

void sp_lookup_near(struct sp_large *l, struct sp_hub *h, struct sp_lookup_range *range)
{
    const struct sp_lookup *k = l->lookup;
    struct sp_parity_wide x;
    l->near.count = 0;
    if (!sp_pattern_fold(l, h, &x))
        return;
    for (; !l->near.count && range->at < k->count; range->at++) {
        const struct bench *b = k->benches[range->at];
        if (range->end && comes_before_all(b, range->end))
            return;
        if (range->at + 1 < k->count) /* or a search would wait for each bench in turn */
            sp_prefetch_bytes(&k->benches[range->at + 1]->patterns, sizeof b->patterns.briefs);
        if (b->newest <= range->after)
            continue;
        uint64_t near = sp_parity_near(&x, &b->patterns, b->count);
        l->stage->stats.held_against += b->count;
        note_passed(l, b->count, (uint32_t)__builtin_popcountll(near));
        for (; near; near &= near - 1) {
            struct sp_hub *w = b->hubs[__builtin_ctzll(near)];
            if (sp_lookup_is_in(range, w))
                sp_hub_list_add(&l->near, w);
        }
    }
    if (l->near.count > 1)
        qsort(l->near.hubs, l->near.count, sizeof *l->near.hubs, sp_hub_by_rank);
}

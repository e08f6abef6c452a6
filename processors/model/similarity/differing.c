/* See differing.h. */
#include "similarity/differing.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "similarity/prefix.h"

enum { NONE = UINT32_MAX };

/* A shingle of D, at its place in the order. */
struct key {
    uint32_t shingle;
    uint32_t place;
};

struct posting {
    uint32_t shingle;
    uint32_t set;
    int32_t reach; /* rounded up */
};

enum { BITS = 128 };

/* As a set that is looked up, and as one that is found. */
enum { UP, FOUND, SIDES };

struct set {
    double apart[SIDES];
    double most[SIDES];      /* shingles in which a set of its size may differ */
    uint32_t differing;      /* |D| */
    uint32_t own;            /* shingles of D that no other set has */
    uint64_t odd[BITS / 64]; /* each of the others flips a bit */
    uint32_t next;           /* added set that is about as near to the reference, or NONE */
    bool added;
};

struct sp_differing {
    struct set *sets;
    uint32_t count;
    double least[SIDES]; /* apart, of all sets */
    uint32_t *starts;    /* of the keys of each set */
    struct key *keys;    /* in order of place */
    uint32_t *directory; /* starts of the lists, of several shingles each */
    unsigned shift;
    struct posting *postings;
    uint32_t *near; /* added sets with which some set need share nothing, by apart, or NONE */
    uint32_t near_count;
};

static const double ROUNDING = 1e-5;

/* Writes D to ret_shingles, if it is not NULL. Returns its size. */
static uint32_t differ(const struct sp_differing_set *x, const struct sp_differing_set *r,
                       uint32_t *ret_shingles)
{
    uint32_t count = 0, i = 0, k = 0;
    while (i < x->count || k < r->count) {
        bool mine = k == r->count || (i < x->count && x->shingles[i] <= r->shingles[k]);
        bool both = mine && k < r->count && x->shingles[i] == r->shingles[k];
        if (ret_shingles)
            ret_shingles[count] = mine ? x->shingles[i] : r->shingles[k];
        count += !both;
        i += mine;
        k += !mine || both;
    }
    return count;
}

/* ---- keys and postings ---- */

struct sp_differing_most sp_differing_jaccard(double threshold)
{
    double h = (1 - threshold) / (1 + threshold);
    return (struct sp_differing_most){h, h};
}

static double reach(const struct set *s, unsigned side, uint32_t place)
{
    return s->differing + s->most[side] - 2.0 * place;
}

/* The places of a set from which it reaches any other. */
static uint32_t places(const struct sp_differing *d, const struct set *s)
{
    double up = reach(s, UP, 0) - d->least[FOUND], found = reach(s, FOUND, 0) - d->least[UP];
    double last = (up > found ? up : found) / 2 + ROUNDING;
    return last < 0 ? 0 : last + 1 < s->differing ? (uint32_t)last + 1 : s->differing;
}

static void measure(struct sp_differing *d, struct sp_differing_most most,
                    const struct sp_differing_set *sets, const struct sp_differing_set *reference)
{
    for (uint32_t i = 0; i < d->count; i++) {
        struct set *s = &d->sets[i];
        *s = (struct set){.differing = differ(&sets[i], reference, NULL), .next = NONE};
        s->most[UP] = most.looked_up * sets[i].count;
        s->most[FOUND] = most.found * sets[i].count;
        for (unsigned side = 0; side < SIDES; side++) {
            s->apart[side] = s->differing - s->most[side];
            if (i == 0 || s->apart[side] < d->least[side])
                d->least[side] = s->apart[side];
        }
    }
}

/* Notes the shingles of D. */
static void note_differences(struct set *s, const struct sp_frequencies *frequencies,
                             const uint32_t *shingles, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = shingles[i] % BITS;
        bool own = frequencies->counters[shingles[i] >> frequencies->shift] <= 1;
        s->own += own;
        if (!own)
            s->odd[bit / 64] ^= 1ull << bit % 64;
    }
}

/* The rarest shingles of each D that another set has as well. */
static enum sp_err make_keys(struct sp_differing *d, const struct sp_differing_set *sets,
                             const struct sp_differing_set *reference)
{
    struct sp_frequencies frequencies;
    uint64_t total = 0, most = 0;
    uint32_t largest = 0, end = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        total += d->sets[i].differing;
        most += places(d, &d->sets[i]);
        largest = d->sets[i].differing > largest ? d->sets[i].differing : largest;
    }
    if (most >= UINT32_MAX)
        return SP_TOO_LARGE;
    uint32_t *shingles = sp_alloc((largest + 1ull) * sizeof *shingles);
    uint64_t *ranks = sp_alloc((largest + 1ull) * sizeof *ranks);
    d->keys = sp_alloc((most + 1) * sizeof *d->keys);
    sp_frequencies_begin(&frequencies, total);
    for (uint32_t i = 0; i < d->count; i++)
        sp_frequencies_add(&frequencies, shingles, differ(&sets[i], reference, shingles));
    for (uint32_t i = 0; i < d->count; i++) {
        struct set *s = &d->sets[i];
        uint32_t take = places(d, s);
        d->starts[i] = end;
        differ(&sets[i], reference, shingles);
        note_differences(s, &frequencies, shingles, s->differing);
        sp_frequencies_rarest_of(&frequencies, shingles, s->differing, take, ranks);
        qsort(ranks, take, sizeof *ranks, sp_by_u64);
        for (uint32_t p = 0; p < take; p++)
            if (ranks[p] >> 32 > 1)
                d->keys[end++] = (struct key){(uint32_t)ranks[p], p};
    }
    d->starts[d->count] = end;
    d->keys = sp_realloc(d->keys, (end + 1ull) * sizeof *d->keys);
    sp_frequencies_done(&frequencies);
    sp_free(shingles);
    sp_free(ranks);
    return SP_OK;
}

static uint32_t list_of(const struct sp_differing *d, uint32_t shingle)
{
    return sp_hash_place(shingle, d->shift);
}

static int by_shingle_and_reach(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    if (x->shingle != y->shingle)
        return x->shingle < y->shingle ? -1 : 1;
    if (x->reach != y->reach)
        return x->reach > y->reach ? -1 : 1;
    return x->set < y->set ? -1 : x->set > y->set;
}

static void make_postings(struct sp_differing *d)
{
    uint32_t total = d->starts[d->count];
    unsigned bits = 4;
    while (bits < 31 && (1u << bits) < total)
        bits++;
    uint32_t lists = 1u << bits;
    d->shift = 32 - bits;
    d->directory = sp_calloc(lists + 1ull, sizeof *d->directory);
    d->postings = sp_alloc((total + 1ull) * sizeof *d->postings);
    for (uint32_t k = 0; k < total; k++)
        d->directory[list_of(d, d->keys[k].shingle)]++;
    for (uint32_t i = 0, end = 0; i <= lists; i++)
        d->directory[i] = end += d->directory[i];
    for (uint32_t i = 0; i < d->count; i++) /* each list is filled from its end to its start */
        for (uint32_t k = d->starts[i]; k < d->starts[i + 1]; k++) {
            double far = reach(&d->sets[i], FOUND, d->keys[k].place);
            d->postings[--d->directory[list_of(d, d->keys[k].shingle)]] =
                (struct posting){d->keys[k].shingle, i, (int32_t)ceil(far + ROUNDING)};
        }
    for (uint32_t i = 0; i < lists; i++) {
        uint32_t first = d->directory[i], count = d->directory[i + 1] - first;
        if (count > 1)
            qsort(d->postings + first, count, sizeof *d->postings, by_shingle_and_reach);
    }
}

enum sp_err sp_differing_new(struct sp_differing_most most,
                             const struct sp_differing_set *reference,
                             const struct sp_differing_set *sets, uint32_t count,
                             struct sp_differing **ret_index)
{
    struct sp_differing *d = sp_calloc(1, sizeof *d);
    d->count = count;
    d->sets = sp_alloc((count + 1ull) * sizeof *d->sets);
    d->starts = sp_calloc(count + 1ull, sizeof *d->starts);
    measure(d, most, sets, reference);
    enum sp_err err = make_keys(d, sets, reference);
    if (err != SP_OK) {
        sp_differing_free(d);
        return err;
    }
    make_postings(d);
    double near = -d->least[UP] - d->least[FOUND];
    d->near_count = near < 0 ? 0 : (uint32_t)near + 1;
    d->near = sp_alloc((d->near_count + 1ull) * sizeof *d->near);
    for (uint32_t i = 0; i < d->near_count; i++)
        d->near[i] = NONE;
    *ret_index = d;
    return SP_OK;
}

void sp_differing_free(struct sp_differing *d)
{
    if (!d)
        return;
    sp_free(d->sets);
    sp_free(d->starts);
    sp_free(d->keys);
    sp_free(d->directory);
    sp_free(d->postings);
    sp_free(d->near);
    sp_free(d);
}

/* ---- adding and finding ---- */

void sp_differing_add(struct sp_differing *d, uint32_t set)
{
    struct set *s = &d->sets[set];
    double place = s->apart[FOUND] - d->least[FOUND];
    if (s->added)
        return;
    s->added = true;
    if (place >= d->near_count)
        return;
    s->next = d->near[(uint32_t)place];
    d->near[(uint32_t)place] = set;
}

/* The shingle's first posting, or where it would be. */
static uint32_t first_posting(const struct sp_differing *d, uint32_t shingle)
{
    uint32_t list = list_of(d, shingle), lo = d->directory[list], hi = d->directory[list + 1];
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (d->postings[middle].shingle < shingle)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Whether the shingles that only one of two D has are known to be too many: each bit in which the
 * patterns differ means one. */
static bool too_different(const struct set *x, const struct set *y)
{
    uint32_t least = x->own + y->own;
    for (uint32_t w = 0; w < BITS / 64; w++)
        least += (uint32_t)__builtin_popcountll(x->odd[w] ^ y->odd[w]);
    return least > x->most[UP] + y->most[FOUND] + ROUNDING;
}

/* Those with which it need share nothing. */
static void each_near(const struct sp_differing *d, uint32_t set,
                      void (*each)(void *arg, uint32_t set), void *arg)
{
    double most = -d->sets[set].apart[UP] + ROUNDING;
    for (uint32_t i = 0; i < d->near_count && i + d->least[FOUND] <= most; i++)
        for (uint32_t n = d->near[i]; n != NONE; n = d->sets[n].next)
            if (n != set && d->sets[n].apart[FOUND] <= most)
                each(arg, n);
}

uint64_t sp_differing_each(const struct sp_differing *d, uint32_t set,
                           void (*each)(void *arg, uint32_t set), void *arg)
{
    double apart = d->sets[set].apart[UP] - ROUNDING;
    uint64_t read = 0;
    each_near(d, set, each, arg);
    for (uint32_t k = d->starts[set]; k < d->starts[set + 1]; k++) {
        uint32_t shingle = d->keys[k].shingle, i = first_posting(d, shingle);
        double far = reach(&d->sets[set], UP, d->keys[k].place) + ROUNDING;
        uint32_t end = d->directory[list_of(d, shingle) + 1];
        for (; i < end && d->postings[i].shingle == shingle && d->postings[i].reach >= apart; i++) {
            const struct set *other = &d->sets[d->postings[i].set];
            read++;
            if (other->added && other->apart[FOUND] <= far && d->postings[i].set != set &&
                !too_different(&d->sets[set], other))
                each(arg, d->postings[i].set);
        }
    }
    return read;
}

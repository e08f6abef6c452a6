/* Simhash: rows are 64 bits, and similar rows differ in at most s->bits_most of them. The bits in
 * which a child differs from its pivot identify its value, so they are kept in the place of its
 * sizes: children of one value form a litter, in which one row stands for all, and a probe compares
 * itself with each value without reading a signature. Litters are in order of the number of these
 * bits: a probe that differs from the pivot in n of them can resemble only children that differ in
 * n - s->bits_most or more (the triangle inequality). */
#include "stars/bits.h"
#include "base/mem.h"

static const double SLACK = 1e-6; /* larger than that of F */

enum { LOW = 15 }; /* of the number of a difference; its other bits are below 2^15 as well */

/* 0 of signatures without words, which are similar to nothing and never children. */
static uint64_t bits_of(const struct sp_signature *x)
{
    uint64_t bits;
    sp_signature_simhash(x, &bits);
    return bits;
}

void sp_star_bits_open(struct sp_stars *s)
{
    const struct sp_similarity_options *o = &s->options.similarity;
    s->by_bits = o->method == SP_METHOD_SIMHASH;
    while (s->by_bits && s->bits_most + 1 < SP_STAR_BITS_MOST &&
           1 - (s->bits_most + 1) / 64.0 + SLACK >= o->threshold)
        s->bits_most++;
    for (uint32_t place = 0; place < 64; place++) {
        s->choose[place][0] = 1;
        for (uint32_t n = 1; n < SP_STAR_BITS_MOST; n++)
            s->choose[place][n] = place ? s->choose[place - 1][n - 1] + s->choose[place - 1][n] : 0;
    }
    s->bits_before[0] = 0;
    for (uint32_t n = 0; n < SP_STAR_BITS_MOST; n++) /* C(64, n) = C(63, n - 1) + C(63, n) */
        s->bits_before[n + 1] =
            s->bits_before[n] + s->choose[63][n] + (n ? s->choose[63][n - 1] : 0);
}

/* The number of a difference: those with fewer bits come first (combinatorial number system, Knuth
 * 7.2.1.3). */
static uint32_t number_of(const struct sp_stars *s, uint64_t difference)
{
    uint32_t n = 0, number = 0;
    for (; difference; difference &= difference - 1)
        number += s->choose[__builtin_ctzll(difference)][++n];
    return s->bits_before[n] + number;
}

static uint32_t bits_in(const struct sp_stars *s, uint32_t number)
{
    uint32_t n = s->bits_most;
    while (s->bits_before[n] > number)
        n--;
    return n;
}

static uint64_t difference_of(const struct sp_stars *s, uint32_t number)
{
    uint64_t difference = 0;
    uint32_t n = bits_in(s, number);
    number -= s->bits_before[n];
    for (; n > 0; n--) {
        uint32_t low = 0, high = 64; /* the largest place with choose[place][n] <= number */
        while (high - low > 1) {
            uint32_t mid = (low + high) / 2;
            if (s->choose[mid][n] <= number)
                low = mid;
            else
                high = mid;
        }
        difference |= 1ull << low;
        number -= s->choose[low][n];
    }
    return difference;
}

void sp_star_bits_keep(const struct sp_stars *s, const struct sp_signature *pivot,
                       const struct sp_signature *child, struct kid *kid)
{
    uint64_t difference = bits_of(child) ^ bits_of(pivot);
    SP_ASSERT((uint32_t)__builtin_popcountll(difference) <= s->bits_most);
    uint32_t number = number_of(s, difference);
    kid->kept = 1u << LOW | number >> LOW;
    kid->overlap = number & ((1u << LOW) - 1);
}

static uint32_t number_in(uint32_t kept, uint32_t overlap)
{
    return (kept & ((1u << LOW) - 1)) << LOW | overlap;
}

bool sp_star_bits_valid(const struct sp_stars *s, uint32_t kept, uint32_t overlap)
{
    uint32_t number = number_in(kept, overlap);
    return kept >> LOW == 1 && overlap >> LOW == 0 && number < s->bits_before[s->bits_most + 1];
}

uint32_t sp_star_apart(const struct sp_stars *s, uint32_t kept, uint32_t overlap)
{
    return s->by_bits ? bits_in(s, number_in(kept, overlap)) : kept - overlap;
}

static uint32_t litter_number(const struct litter *l)
{
    return number_in(sp_star_litter_kept(l), sp_star_litter_overlap(l));
}

/* The first litter whose difference has that number or a larger one. */
static uint32_t litter_from(struct litters all, uint32_t number)
{
    uint32_t low = 0, high = all.count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (litter_number(&all.items[mid]) < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The first row of the litter by name, or the next one if that is `except`; NONE: there is none. */
static uint32_t first_row(const struct sp_stars *s, const struct litter *l, uint32_t except)
{
    uint32_t count = sp_star_litter_count(s, l), row = sp_star_litter_row(s, l, 0);
    if (row != except)
        return row;
    if (count < 2)
        return NONE;
    row = sp_star_litter_row(s, l, 1);
    if (count == 2)
        return row;
    uint32_t other = sp_star_litter_row(s, l, 2);
    return sp_star_name(s, other) < sp_star_name(s, row) ? other : row;
}

bool sp_star_bits_try(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                      uint32_t except, const struct sp_signature *pivot)
{
    struct litters all = sp_star_litters(s->stars[star].kids, CHILD);
    uint64_t apart = bits_of(x) ^ bits_of(pivot);
    uint32_t n = (uint32_t)__builtin_popcountll(apart);
    if (n > 2 * s->bits_most)
        return true;
    uint32_t i = n > s->bits_most ? litter_from(all, s->bits_before[n - s->bits_most]) : 0;
    for (; i < all.count; i++) {
        const struct litter *l = &all.items[i];
        uint64_t between = apart ^ difference_of(s, litter_number(l));
        uint32_t row = NONE;
        if ((uint32_t)__builtin_popcountll(between) <= s->bits_most)
            row = first_row(s, l, except);
        const struct sp_signature *kid;
        double similarity;
        if (row == NONE)
            continue;
        if (!sp_star_signature_of(s, row, &kid))
            return false;
        if (sp_star_verify(s, x, kid, &similarity)) {
            sp_star_touch(s, star, row, false, similarity);
            return true;
        }
    }
    return true;
}

/* ---- twins ---- */

/* The row of x's value that comes first in the star, by name, unless the row itself does; or the
 * pivot if it has that value. */
static bool twin_in(struct sp_stars *s, uint32_t star, uint32_t row, const struct sp_signature *x,
                    double *ret_similarity, uint32_t *ret_twin)
{
    const struct star *c = &s->stars[star];
    const struct sp_signature *pivot;
    *ret_twin = NONE;
    if (c->headless || c->pivot == row)
        return true;
    if (!sp_star_signature_of(s, c->pivot, &pivot))
        return false;
    uint64_t apart = bits_of(x) ^ bits_of(pivot);
    if ((uint32_t)__builtin_popcountll(apart) > s->bits_most ||
        !sp_star_verify(s, x, pivot, ret_similarity))
        return true;
    if (apart == 0) {
        *ret_twin = c->pivot;
    } else if (c->kids) {
        struct litters all = sp_star_litters(c->kids, CHILD);
        uint32_t number = number_of(s, apart), at = litter_from(all, number);
        if (at == all.count || litter_number(&all.items[at]) != number)
            return true;
        uint32_t first = sp_star_litter_row(s, &all.items[at], 0);
        if (first != row && sp_star_name(s, first) < sp_star_name(s, row))
            *ret_twin = first;
    }
    return true;
}

bool sp_star_find_twin(struct sp_stars *s, uint32_t row, const struct sp_signature *x,
                       uint32_t *ret_twin)
{
    uint32_t star = s->rows[row].star;
    double similarity;
    *ret_twin = NONE;
    if (!s->options.twins || !s->by_bits)
        return true;
    if (star != NONE && !twin_in(s, star, row, x, &similarity, ret_twin))
        return false;
    /* The star of a twin has all keys of x. */
    for (uint32_t i = 0; star == NONE && i < s->found_count && *ret_twin == NONE &&
                         s->found[i].hits == s->found[0].hits;
         i++)
        if (!twin_in(s, s->found[i].star, row, x, &similarity, ret_twin))
            return false;
    if (*ret_twin != NONE) {
        star = s->rows[*ret_twin].star;
        s->stats.touches++;
        sp_star_touch(s, star, s->stars[star].pivot, true, similarity);
    }
    return true;
}

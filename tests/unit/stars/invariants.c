/* See invariants.h. */
#include "invariants.h"

#include <string.h>

#include "stars/internal.h"

static bool has(const struct sp_signature *x, uint32_t shingle)
{
    for (uint32_t i = 0; i < x->shingle_count; i++)
        if (x->hashes[i] == shingle)
            return true;
    return false;
}

static bool is_posted(const struct star *c, uint32_t place)
{
    return place / 8 < c->posted_bytes && sp_star_posted(c)[place / 8] >> place % 8 & 1;
}

/* More of the member's shingles are posted than a similar signature may lack, or all that the pivot
 * shares with it. */
static bool is_covered(const struct sp_stars *s, const struct star *c,
                       const struct sp_signature *pivot, const struct sp_signature *member)
{
    uint32_t posted = 0, common = 0;
    for (uint32_t i = 0; i < pivot->shingle_count; i++) {
        if (i > 0 && pivot->hashes[i] == pivot->hashes[i - 1])
            continue;
        posted += is_posted(c, i) && has(member, pivot->hashes[i]);
        common += has(member, pivot->hashes[i]);
    }
    return posted > sp_star_bound_missing(s, member->shingle_count) || posted == common;
}

/* A probe with the member's signature looks up all posted shingles that the member has. */
static bool is_reached(const struct sp_stars *s, const struct star *c,
                       const struct sp_signature *pivot, const struct sp_signature *member)
{
    uint32_t looked_up = sp_star_reach(s->domains[c->domain], member);
    for (uint32_t i = 0; i < pivot->shingle_count; i++)
        for (uint32_t k = looked_up; is_posted(c, i) && k < member->shingle_count; k++)
            if (member->hashes[k] == pivot->hashes[i])
                return false;
    return true;
}

/* A look-up asks for no more hits than a probe with the member's signature must have. */
static bool is_brief(const struct sp_stars *s, uint32_t star, const struct sp_signature *member)
{
    uint32_t most = s->briefs[star].most;
    return most == 0 ||
           (most >= member->shingle_total && member->shingle_count == member->shingle_total);
}

static uint32_t overlap(const struct sp_signature *x, const struct sp_signature *y)
{
    uint32_t hashes[4096];
    return x->shingle_count - sp_star_kid_beside(x, y, hashes);
}

static bool is_listed(struct sp_stars *s, const struct star *c, const struct sp_signature *pivot,
                      const struct sp_signature *kid, uint32_t row)
{
    uint32_t hashes[4096], count = sp_star_kid_beside(kid, pivot, hashes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = (uint32_t)sp_mix64((uint64_t)c->pivot << 32 | hashes[i]);
        struct sp_star_list list = sp_star_table_get(s->beside, key);
        const uint32_t *rows = sp_star_numbers(&list);
        bool found = sp_counts_get(&s->common, (uint64_t)c->pivot << 32 | key) > 0;
        for (uint32_t k = 0; k < list.count; k++)
            found |= rows[k] == row;
        if (!found)
            return false;
    }
    return true;
}

static const char *broken_kid(struct sample *x, uint32_t row)
{
    struct sp_stars *s = x->stars;
    const struct star *c = &s->stars[s->rows[row].star];
    const struct sp_signature *pivot = x->signatures[c->pivot], *kid = x->signatures[row];
    struct kid k = sp_star_kid_at(s, row);
    if (k.kept != kid->shingle_count || k.overlap != overlap(kid, pivot))
        return "a kid's sizes";
    if (s->domains[c->domain]->posted && !is_covered(s, c, pivot, kid))
        return "a kid is not covered";
    if (s->domains[c->domain]->posted && !is_reached(s, c, pivot, kid))
        return "a kid is not reached";
    if (c->kids->indexed && !is_listed(s, c, pivot, kid, row))
        return "a kid is not listed";
    if (!sp_star_lacks_has(s, c->kids, row))
        return "a kid is not indexed by what it lacks";
    if (k.kind == CHILD && !sp_similar(&x->similarity, kid, pivot, NULL))
        return "a child is not similar to the pivot";
    if (k.kind == ADOPTED) {
        const struct row *adopter = &s->rows[k.adopter];
        if (adopter->star != s->rows[row].star || adopter->kind != CHILD ||
            !sp_similar(&x->similarity, kid, x->signatures[k.adopter], NULL))
            return "an adopter is no similar child of the star";
    }
    return NULL;
}

/* As far as the star knows, the row resembles no other row of it. */
static bool is_alone(const struct sp_stars *s, uint32_t row)
{
    return sp_stars_pivot(s, row) != row && sp_stars_anchor(s, row) == row;
}

/* Two rows connected to the same star are reported as together, provided that the star has a
 * pivot. */
static bool knows_together(const struct sp_stars *s, uint32_t a, uint32_t b)
{
    uint32_t pivot = sp_stars_pivot(s, a);
    if (pivot == SP_STARS_NONE || sp_stars_anchor(s, a) == SP_STARS_NONE ||
        sp_stars_anchor(s, b) == SP_STARS_NONE)
        return true;
    bool expected = a == b || (pivot == sp_stars_pivot(s, b) && !is_alone(s, a) && !is_alone(s, b));
    return sp_stars_together(s, a, b) == expected;
}

struct listed {
    uint32_t *rows;
    uint32_t count;
};

static void list_row(void *arg, uint32_t row)
{
    struct listed *l = arg;
    l->rows[l->count++] = row;
}

/* Whether members come in the same order one by one and a few at a time. */
static bool lists_members(const struct sample *x, uint32_t row)
{
    enum { FEW = 3 };
    struct listed all = {sp_alloc((x->rows + FEW) * sizeof *all.rows), 0};
    struct sp_stars_place place = {0};
    uint32_t few[FEW], count, seen = 0;
    sp_stars_each_member(x->stars, row, list_row, &all);
    bool same = true;
    do {
        count = sp_stars_next_members(x->stars, row, &place, FEW, few);
        same = same && seen + count <= all.count &&
               memcmp(few, all.rows + seen, count * sizeof *few) == 0;
        seen += count;
    } while (same && count == FEW);
    same = same && seen == all.count && seen == sp_stars_members(x->stars, row);
    sp_free(all.rows);
    return same;
}

size_t counted_shingles(const struct sample *x)
{
    return x->stars->common.used;
}

static uint64_t bytes_of_kids(const struct sp_stars *s, const struct kids *kids)
{
    uint64_t bytes = 0;
    if (kids)
        bytes = sizeof *kids + sp_star_litters_bytes(s, kids) + sp_star_lacks_bytes(kids);
    if (kids && kids->owes)
        bytes += sizeof *kids->owing + kids->owing->queue_room * sizeof *kids->owing->queue;
    return bytes;
}

/* The bytes that are counted one by one, without patterns of kids. */
static uint64_t bytes_of_stars(const struct sp_stars *s)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->star_count; i++) {
        const struct star *c = &s->stars[i];
        if (!c->domain)
            continue;
        bytes += bytes_of_kids(s, c->kids);
        bytes += c->bits ? 8ull * sp_star_pattern_of(c) + c->posted_bytes : 0;
    }
    return bytes;
}

const char *broken_invariant(struct sample *x)
{
    struct sp_stars *s = x->stars;
    uint32_t rows = 0, kids = 0, in_litters = 0;
    for (uint32_t row = 0; row < x->rows; row++) {
        rows += x->live[row];
        if (x->live[row] != sp_stars_has(s, row))
            return "a row is in no star";
        if (!x->live[row])
            continue;
        for (uint32_t other = row > 8 ? row - 8 : 0; other <= row; other++)
            if (x->live[other] && !knows_together(s, row, other))
                return "two rows are not together, or are";
        if (row % 16 == 0 && !lists_members(x, row))
            return "the members of a star";
        const struct star *c = &s->stars[s->rows[row].star];
        if (!is_brief(s, s->rows[row].star, x->signatures[row]))
            return "a look-up does not know a star's sizes";
        if (c->pivot == row) {
            const struct sp_signature *pivot = x->signatures[row];
            if (s->domains[c->domain]->posted && !is_covered(s, c, pivot, pivot))
                return "a pivot is not covered";
            if (s->domains[c->domain]->posted && !is_reached(s, c, pivot, pivot))
                return "a pivot is not reached";
            continue;
        }
        kids++;
        const char *broken = broken_kid(x, row);
        if (broken)
            return broken;
    }
    for (uint32_t i = 0; i < s->star_count; i++)
        in_litters += s->stars[i].domain ? sp_star_kids_count(s->stars[i].kids) : 0;
    if (rows != sp_stars_domain_rows(x->domain) || kids != in_litters)
        return "the numbers of rows";
    if (s->patterns ? s->stats.bytes < bytes_of_stars(s) : s->stats.bytes != bytes_of_stars(s))
        return "the bytes of stars";
    return NULL;
}

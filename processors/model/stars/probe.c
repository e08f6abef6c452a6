/* Finds the stars that a signature touches. Look-ups of its shingles count hits by star. For
 * each star that the counts and the sizes do not rule out, it compares the pivot, then the kids. */
#include <math.h>
#include <stdlib.h>

#include "base/clones.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/prefetch.h"
#include "similarity/intersect.h"
#include "stars/bits.h"
#include "stars/internal.h"
#include "stars/patterns.h"

/* ---- hits ---- */

/* Whether sizes allow any member of the star to be similar to x. */
static bool sizes_allow(const struct sp_stars *s, const struct star *c,
                        const struct sp_signature *x)
{
    uint32_t min_total, max_total, total = x->shingle_total;
    if (!sp_method_info(s->options.similarity.method)->jaccard)
        return true;
    sp_star_kids_sizes(s, c, &min_total, &max_total);
    return sp_star_bound_sizes(s, total,
                               total < min_total   ? min_total
                               : total > max_total ? max_total
                                                   : total);
}

/* Fills s->found with the stars of s->hit that have enough hits, and resets these. */
static void filter_by_hits(struct sp_stars *s, const struct sp_signature *x)
{
    struct hits_bound bound = sp_star_bound_probe(s, x->shingle_count);
    bool capped = sp_star_is_capped(x);
    uint32_t kept = 0, of_keys = s->by_keys ? sp_candidate_needed(&s->rule, x->shingle_total) : 0;
    sp_grow(&s->found, &s->found_cap, s->hit_count);
    for (uint32_t i = 0; i < s->hit_count; i++) {
        uint32_t star = s->hit[i];
        struct brief *b = &s->briefs[star];
        uint32_t hits = b->hits;
        b->hits = 0;
        if (s->by_keys ? hits < of_keys
                       : !capped && b->most && !sp_star_bound_hits(&bound, hits, b->most))
            continue;
        s->found[kept++] = (struct found){.star = star, .hits = hits};
        sp_prefetch(&s->stars[star]);
    }
    s->found_count = kept;
}

/* Keeps the stars of s->found that can have a similar member. What it and try_star read of each is
 * in several places, which are fetched for all stars at once. */
static void filter(struct sp_stars_domain *d, const struct sp_signature *x)
{
    struct sp_stars *s = d->stars;
    uint32_t kept = 0;
    filter_by_hits(s, x);
    for (uint32_t i = 0; i < s->found_count; i++) {
        const struct star *c = &s->stars[s->found[i].star];
        if (c->kids)
            sp_prefetch_bytes(c->kids, sizeof *c->kids);
        if (c->bits)
            sp_prefetch_bytes(c->bits, sp_star_pattern_of(c) * sizeof *c->bits);
    }
    for (uint32_t i = 0; i < s->found_count; i++) {
        const struct star *c = &s->stars[s->found[i].star];
        if (c->domain != d->number || !sizes_allow(s, c, x))
            continue;
        s->found[kept++] = s->found[i];
    }
    s->found_count = kept;
}

static int by_hits(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->hits != y->hits)
        return x->hits > y->hits ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void sort_found(struct sp_stars *s)
{
    for (uint32_t i = 0; i < s->found_count; i++)
        s->found[i].name = sp_star_name(s, s->stars[s->found[i].star].pivot);
    qsort(s->found, s->found_count, sizeof *s->found, by_hits);
}

/* What is left of s->found is examined. */
static void choose(struct sp_stars *s, const struct sp_signature *x)
{
    if (s->found_count && s->pattern_kind->at_first)
        sp_star_patterns_filter(s, x);
    if (s->found_count > 1)
        sort_found(s);
    s->stats.candidates += s->found_count;
}

/* Fills s->found with the stars that the signature may touch. */
SP_CLONES static void find_stars(struct sp_stars_domain *d, const struct sp_signature *x)
{
    struct sp_stars *s = d->stars;
    uint32_t scratch[SP_SKETCH_MAX], count = x->shingle_count;
    const uint32_t *keys = x->hashes;
    s->hit_count = s->length_count = s->probe_known = 0;
    if (s->by_keys)
        keys = sp_candidate_keys(&s->rule, x, scratch, &count);
    else
        count = sp_star_reach(d, x);
    if (d->posted) {
        sp_star_look_up(d, keys, count, true);
    } else {
        struct sp_shelf_place place = sp_shelf_first(&d->owing);
        sp_grow(&s->hit, &s->hit_cap, d->all_count + d->owing.count);
        for (uint32_t i = 0; i < d->all_count; i++)
            s->hit[s->hit_count++] = d->all[i];
        for (uint32_t star; (star = sp_star_next_listed(&d->owing, &place)) != NONE;)
            s->hit[s->hit_count++] = star;
        for (uint32_t i = 0; i < s->hit_count; i++)
            s->briefs[s->hit[i]].hits = UINT16_MAX;
    }
    filter(d, x);
    choose(s, x);
}

/* ---- comparing ---- */

/* The least overlap with the pivot with which x can be similar to it. Holds if neither is capped;
 * of others no pattern says how far they are apart (distance_of). */
static uint32_t overlap_for_pivot(const struct sp_stars *s, const struct star *c,
                                  const struct sp_signature *x)
{
    return sp_star_bound_overlap(s, x->shingle_count, false, c->kept, false);
}

/* The least overlap with the pivot with which x can be similar to a kid that keeps `kept` shingles,
 * `beside` of which the pivot does not have. */
static uint32_t overlap_for_kid(const struct sp_stars *s, const struct kids *kids,
                                const struct sp_signature *x, uint32_t kept, uint32_t beside)
{
    uint32_t least =
        sp_star_bound_overlap(s, x->shingle_count, sp_star_is_capped(x), kept, kids->capped);
    uint32_t less = beside + s->repeats;
    return least > less ? least - less : 0;
}

/* The same for any kid of the star. */
static uint32_t overlap_for_kids(const struct sp_stars *s, const struct star *c,
                                 const struct sp_signature *x)
{
    return overlap_for_kid(s, c->kids, x, c->kids->min_kept, c->kids->max_beside);
}

/* A lower bound of the shingles that only one of x and the pivot has. */
static uint32_t distance_of(struct sp_stars *s, const struct star *c, const struct sp_signature *x)
{
    if (!c->bits || sp_star_is_capped(x) || c->capped)
        return 0;
    uint32_t words = sp_star_pattern_words(s, x);
    return sp_parity_distance(s->parity, words, c->bits, sp_star_pattern_of(c));
}

/* A star and a probe that is not far from its pivot. */
struct meeting {
    uint32_t star;
    const struct sp_signature *x;
    const struct sp_signature *pivot;
    uint32_t except;
    uint32_t need;    /* the least overlap with the pivot that matters */
    uint32_t overlap; /* with the pivot, if `counted`: exact, or below `need` */
    bool counted;
};

static void count_overlap(struct meeting *m)
{
    if (!m->counted)
        m->overlap = (uint32_t)sp_intersect(m->x->hashes, m->x->shingle_count, m->pivot->hashes,
                                            m->pivot->shingle_count, m->need);
    m->counted = true;
}

static bool verify_pivot(struct sp_stars *s, uint32_t pivot, const struct meeting *m,
                         double *ret_similarity)
{
    bool patterns = s->pattern_kind->of_pivots;
    if (patterns && sp_star_pattern_excludes(s, pivot, m->x))
        return false;
    bool direct = sp_star_verify(s, m->x, m->pivot, ret_similarity);
    if (patterns && !direct)
        sp_star_pattern_learn(s, pivot, m->pivot);
    return direct;
}

/* Whether the pivot is similar. By the method shingles that follows from the overlap, which kids
 * need as well; m->need is at most the overlap of two similar signatures. */
static bool is_direct(struct sp_stars *s, struct meeting *m, double *ret_similarity)
{
    const struct star *c = &s->stars[m->star];
    if (c->headless || c->pivot == m->except ||
        (!s->by_keys && !sp_star_bound_sizes(s, m->x->shingle_total, sp_star_total(s, c))))
        return false;
    if (s->options.similarity.method != SP_METHOD_SHINGLES || sp_star_is_capped(m->x) ||
        sp_star_is_capped(m->pivot))
        return verify_pivot(s, c->pivot, m, ret_similarity);
    count_overlap(m);
    s->stats.verified++;
    return sp_similar_sharing(&s->options.similarity, m->x, m->pivot, m->overlap, ret_similarity);
}

/* Tries the kids of a star, and notes it if x could be on its fringe. `direct`: the pivot is
 * similar. */
static bool try_others(struct sp_stars *s, struct meeting *m, bool direct)
{
    const struct star *c = &s->stars[m->star];
    bool has_kids = c->kids && (direct ? sp_star_kids_of_kind(c->kids, FRINGE)
                                       : sp_star_kids_count(c->kids)) > 0;
    if (s->by_keys)
        return !has_kids || sp_star_try_kids(s, m->star, m->x, m->except, m->pivot, 0, !direct);
    if (direct && !has_kids)
        return true;
    count_overlap(m);
    if (!direct)
        sp_star_foster_note(s, m->star, m->x, m->overlap);
    return !has_kids || m->overlap < overlap_for_kids(s, c, m->x) ||
           sp_star_try_kids(s, m->star, m->x, m->except, m->pivot, m->overlap, !direct);
}

/* Whether the sizes of each kid, and its overlap with the pivot, rule out that it is similar to x.
 * False if there are many. */
static bool kids_are_far(const struct sp_stars *s, const struct star *c,
                         const struct sp_signature *x, uint32_t apart)
{
    enum { FEW = 8 };
    struct litters all = sp_star_all_litters(c->kids);
    if (c->kids->capped || all.count > FEW)
        return false;
    for (uint32_t i = 0; i < all.count; i++) {
        uint32_t kept = sp_star_litter_kept(&all.items[i]);
        uint32_t beside = kept - sp_star_litter_overlap(&all.items[i]);
        if (sp_star_bound_sizes(s, x->shingle_total, kept) &&
            !sp_star_is_far(c, x, apart, overlap_for_kid(s, c->kids, x, kept, beside)))
            return false;
    }
    return true;
}

/* Whether the pattern rules out that the pivot or a kid is similar. Sets the bounds of *found. */
static bool is_apart(struct sp_stars *s, struct found *found, const struct sp_signature *x)
{
    const struct star *c = &s->stars[found->star];
    bool has_kids = sp_star_kids_count(c->kids) > 0;
    uint32_t for_kids = has_kids ? overlap_for_kids(s, c, x) : UINT32_MAX;
    found->need =
        sp_min_u32(x->shingle_count - sp_star_bound_missing(s, x->shingle_count), for_kids);
    found->apart = s->by_keys ? 0 : distance_of(s, c, x);
    return found->apart > 0 && sp_star_is_far(c, x, found->apart, overlap_for_pivot(s, c, x)) &&
           (!has_kids || sp_star_is_far(c, x, found->apart, for_kids) ||
            kids_are_far(s, c, x, found->apart));
}

/* Keeps the stars of s->found that are not apart from x. The signatures of the first of them are
 * fetched at once. */
static void keep_near(struct sp_stars *s, const struct sp_signature *x)
{
    uint32_t kept = 0, fetched = 0, pivots[FETCHED_AT_ONCE];
    for (uint32_t i = 0; i < s->found_count; i++) {
        struct found f = s->found[i];
        if (is_apart(s, &f, x)) {
            sp_star_foster_later(s, f.star, x, f.apart);
            continue;
        }
        s->found[kept++] = f;
        if (fetched < FETCHED_AT_ONCE)
            pivots[fetched++] = s->stars[f.star].pivot;
    }
    s->found_count = kept;
    if (kept > 1)
        sp_star_prefetch_signatures(s, pivots, fetched);
}

/* Whether the patterns rule out that the star has a similar member. */
static bool cannot_touch(struct sp_stars *s, const struct found *found,
                         const struct sp_signature *x)
{
    const struct star *c = &s->stars[found->star];
    return found->apart > 0 && c->kids && !sp_star_kids_large(c->kids) && !c->kids->capped &&
           sp_star_is_far(c, x, found->apart, overlap_for_pivot(s, c, x)) &&
           sp_star_pattern_excludes_all(s, c->kids, x);
}

static bool try_star(struct sp_stars *s, const struct found *found, const struct sp_signature *x,
                     uint32_t except)
{
    uint32_t star = found->star;
    const struct star *c = &s->stars[star];
    struct meeting m = {.star = star, .x = x, .except = except, .need = found->need};
    double similarity;
    if (cannot_touch(s, found, x)) {
        sp_star_foster_later(s, star, x, found->apart);
        return true;
    }
    if (!sp_star_signature_of(s, c->pivot, &m.pivot))
        return false;
    bool direct = is_direct(s, &m, &similarity);
    if (direct)
        sp_star_touch(s, star, c->pivot, true, similarity);
    return try_others(s, &m, direct);
}

static int by_similarity(const void *a, const void *b)
{
    const struct touched *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void begin(struct sp_stars *s)
{
    s->stats.probes++;
    s->touched_count = 0;
    sp_star_foster_begin(s);
    s->parity_known = false;
}

/* Tries the stars of s->found. */
SP_CLONES static bool try_found(struct sp_stars *s, const struct sp_signature *x, uint32_t except)
{
    s->repeats = s->found_count && !s->by_keys ? sp_star_repeats(x->hashes, x->shingle_count) : 0;
    keep_near(s, x);
    for (uint32_t i = 0; i < s->found_count; i++)
        if (!try_star(s, &s->found[i], x, except))
            return false;
    if (s->touched_count > 1)
        qsort(s->touched, s->touched_count, sizeof *s->touched, by_similarity);
    s->stats.touches += s->touched_count;
    return true;
}

bool sp_star_probe(struct sp_stars_domain *d, const struct sp_signature *x, uint32_t except)
{
    begin(d->stars);
    find_stars(d, x);
    return try_found(d->stars, x, except);
}

bool sp_star_probe_row(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x,
                       uint32_t *ret_twin)
{
    struct sp_stars *s = d->stars;
    bool has_star = s->rows[row].star != NONE;
    begin(s);
    if (!has_star)
        find_stars(d, x);
    if (!sp_star_find_twin(s, row, x, ret_twin))
        return false;
    if (*ret_twin != NONE)
        return true;
    if (has_star)
        find_stars(d, x);
    return try_found(s, x, has_star ? row : NONE);
}

bool sp_star_probe_stars(struct sp_stars_domain *d, const uint32_t *stars, uint32_t count,
                         const struct sp_signature *x, uint32_t except)
{
    struct sp_stars *s = d->stars;
    begin(s);
    s->hit_count = s->length_count = s->probe_known = 0;
    s->found_count = 0;
    sp_grow(&s->found, &s->found_cap, count);
    for (uint32_t i = 0; i < count; i++)
        if (sizes_allow(s, &s->stars[stars[i]], x))
            s->found[s->found_count++] = (struct found){.star = stars[i]};
    choose(s, x);
    return try_found(s, x, except);
}

void sp_star_probe_report(struct sp_stars *s, struct sp_touches *ret_touches)
{
    sp_grow(&s->touches, &s->touches_cap, s->touched_count);
    for (uint32_t i = 0; i < s->touched_count; i++) {
        const struct touched *t = &s->touched[i];
        uint32_t pivot = t->direct                    ? t->row
                         : s->stars[t->star].headless ? NONE
                                                      : s->stars[t->star].pivot;
        s->touches[i] = (struct sp_touch){t->row, pivot, t->similarity};
    }
    *ret_touches = (struct sp_touches){s->touches, s->touched_count, NONE, NONE};
}

/* ---- what a probe will read ---- */

void sp_stars_expect(struct sp_stars_domain *d, const struct sp_signature *signature,
                     void (*each)(void *arg, uint32_t row), void *arg)
{
    struct sp_stars *s = d->stars;
    struct sp_stars_stats before = s->stats;
    find_stars(d, signature);
    for (uint32_t i = 0; i < s->found_count; i++)
        each(arg, s->stars[s->found[i].star].pivot);
    s->stats = before;
}

void sp_stars_prefetch(const struct sp_stars_domain *d, const struct sp_signature *signature)
{
    if (!d->posted || d->stars->by_keys)
        return;
    sp_star_table_prefetch(d->stars->posted, signature->hashes, d->salt,
                           sp_star_reach(d, signature));
}

/* Patterns of rows that probes are compared with in vain again and again. Where the pages of a site
 * share nearly as much as near duplicates do, a probe meets most stars of the site, and bounds by
 * the pivot rule out few of their kids. By cosine there are no such bounds, and a probe has a key
 * in common with a share of all pivots. A pattern rules a row out without its signature; it is made
 * after so many comparisons that its cost does not count. Patterns are not stored. */
#include "stars/patterns.h"

#include "base/mem.h"
#include "base/prefetch.h"
#include "stars/norms.h"
#include "stars/opinions.h"

enum { IN_VAIN_OFTEN = 8, BLOCK = 64 };

/* Of rows with neighbouring numbers. Most blocks of a crawl do not exist. */
struct pattern_block {
    void *patterns[BLOCK]; /* words of bits; cosine: struct norms; combined: struct opinions */
};

static size_t bytes_of(const struct sp_stars *s, uint32_t kept, const void *pattern)
{
    return s->norms      ? sp_star_norms_bytes(kept)
           : s->opinions ? sp_star_opinions_bytes(pattern)
                         : sp_parity_words(kept, PARITY_BITS) * sizeof(uint64_t);
}

/* Where the pattern of a row is whose block exists. */
static void **place_of(const struct sp_stars *s, uint32_t row)
{
    return &s->patterns[row / BLOCK]->patterns[row % BLOCK];
}

/* The same; makes the block. */
static void **make_place(struct sp_stars *s, uint32_t row)
{
    uint32_t before = s->pattern_cap, at = row / BLOCK;
    sp_grow(&s->patterns, &s->pattern_cap, at + 1);
    for (uint32_t i = before; i < s->pattern_cap; i++)
        s->patterns[i] = NULL;
    s->stats.bytes += (s->pattern_cap - before) * sizeof *s->patterns;
    if (!s->patterns[at]) {
        s->patterns[at] = sp_calloc(1, sizeof **s->patterns);
        s->stats.bytes += sizeof **s->patterns;
    }
    return place_of(s, row);
}

static void *pattern_of(const struct sp_stars *s, const struct sp_signature *y)
{
    if (s->norms)
        return sp_star_norms_new(y);
    if (s->opinions)
        return sp_star_opinions_new(y);
    uint32_t words = sp_parity_words(y->shingle_count, PARITY_BITS);
    uint64_t *pattern = sp_alloc(words * sizeof *pattern);
    sp_parity_of(y, words, pattern);
    return pattern;
}

/* Whether the signature can have a pattern, or be compared with those of others. */
static bool is_possible(const struct sp_stars *s, const struct sp_signature *y)
{
    return s->norms ? sp_star_norms_possible(y) : !sp_star_is_capped(y);
}

void sp_star_pattern_learn(struct sp_stars *s, uint32_t row, const struct sp_signature *y)
{
    struct row *r = &s->rows[row];
    if (r->in_vain == IN_VAIN_OFTEN || s->by_bits || !is_possible(s, y) ||
        ++r->in_vain < IN_VAIN_OFTEN)
        return;
    void *pattern = pattern_of(s, y);
    s->stats.bytes += bytes_of(s, r->kept, pattern);
    *make_place(s, row) = pattern;
}

void sp_star_pattern_forget(struct sp_stars *s, uint32_t row)
{
    struct row *r = &s->rows[row];
    if (r->in_vain == IN_VAIN_OFTEN) {
        s->stats.bytes -= bytes_of(s, r->kept, *place_of(s, row));
        sp_free(*place_of(s, row));
        *place_of(s, row) = NULL;
    }
    r->in_vain = 0;
}

uint32_t sp_star_pattern_words(struct sp_stars *s, const struct sp_signature *x)
{
    uint32_t words = sp_parity_words(x->shingle_count, PARITY_BITS);
    if (!s->parity_known)
        sp_parity_of(x, words, s->parity);
    s->parity_known = true;
    return words;
}

bool sp_star_pattern_excludes(struct sp_stars *s, uint32_t row, const struct sp_signature *x)
{
    const struct row *r = &s->rows[row];
    if (r->in_vain < IN_VAIN_OFTEN || !is_possible(s, x))
        return false;
    if (s->norms)
        return sp_star_norms_exclude(s, x, *place_of(s, row));
    if (s->opinions)
        return sp_star_opinions_exclude(s, x, *place_of(s, row));
    uint32_t n = x->shingle_count;
    return sp_parity_distance(s->parity, sp_star_pattern_words(s, x), *place_of(s, row),
                              sp_parity_words(r->kept, PARITY_BITS)) +
               2ull * sp_star_bound_overlap(s, n, false, r->kept, false) >
           (uint64_t)n + r->kept;
}

bool sp_star_pattern_excludes_all(struct sp_stars *s, const struct kids *kids,
                                  const struct sp_signature *x)
{
    for (int kind = 0; kind < KID_KINDS; kind++) {
        struct litters all = sp_star_litters(kids, kind);
        for (uint32_t i = 0; i < all.count; i++) {
            const struct litter *l = &all.items[i];
            for (uint32_t k = 0; k < sp_star_litter_count(s, l); k++)
                if (!sp_star_pattern_excludes(s, sp_star_litter_row(s, l, k), x))
                    return false;
        }
    }
    return true;
}

static void prefetch_pattern(const struct sp_stars *s, uint32_t row)
{
    const struct row *r = &s->rows[row];
    if (r->in_vain == IN_VAIN_OFTEN)
        sp_prefetch_bytes(*place_of(s, row), sp_star_norms_bytes(r->kept));
}

void sp_star_patterns_filter(struct sp_stars *s, const struct sp_signature *x)
{
    enum { AHEAD = 8 };
    uint32_t kept = 0;
    s->norms_known = 0;
    for (uint32_t i = 0; i < s->found_count; i++) {
        const struct star *c = &s->stars[s->found[i].star];
        if (i + AHEAD < s->found_count)
            prefetch_pattern(s, s->stars[s->found[i + AHEAD].star].pivot);
        if ((!c->headless && !sp_star_pattern_excludes(s, c->pivot, x)) ||
            (c->kids && !sp_star_pattern_excludes_all(s, c->kids, x)))
            s->found[kept++] = s->found[i];
    }
    s->found_count = kept;
}

void sp_star_patterns_free(struct sp_stars *s)
{
    for (uint32_t i = 0; i < s->pattern_cap; i++) {
        for (uint32_t k = 0; s->patterns[i] && k < BLOCK; k++)
            sp_free(s->patterns[i]->patterns[k]);
        sp_free(s->patterns[i]);
    }
    sp_free(s->patterns);
}

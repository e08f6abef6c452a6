/* Patterns of kids that probes are compared with in vain again and again. Where the pages of a site
 * share nearly as much as near duplicates do, a probe meets most stars of the site, and bounds by
 * the pivot rule out few of their kids. A pattern rules a kid out without its signature; it is made
 * after so many comparisons that its cost does not count. Patterns are not stored. */
#include "base/mem.h"
#include "stars/internal.h"

enum { IN_VAIN_OFTEN = 8, BLOCK = 64 };

/* Of rows with neighbouring numbers. Most blocks of a crawl do not exist. */
struct pattern_block {
    uint64_t *patterns[BLOCK];
};

static size_t bytes_of(uint32_t kept)
{
    return sp_parity_words(kept, PARITY_BITS) * sizeof(uint64_t);
}

/* Where the pattern of a row is whose block exists. */
static uint64_t **place_of(const struct sp_stars *s, uint32_t row)
{
    return &s->patterns[row / BLOCK]->patterns[row % BLOCK];
}

/* The same; makes the block. */
static uint64_t **make_place(struct sp_stars *s, uint32_t row)
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

void sp_star_pattern_learn(struct sp_stars *s, uint32_t row, const struct sp_signature *kid)
{
    struct row *r = &s->rows[row];
    if (r->in_vain == IN_VAIN_OFTEN || s->by_keys || sp_star_is_capped(kid) ||
        ++r->in_vain < IN_VAIN_OFTEN)
        return;
    uint64_t *pattern = sp_alloc(bytes_of(r->kept));
    s->stats.bytes += bytes_of(r->kept);
    sp_parity_of(kid, sp_parity_words(r->kept, PARITY_BITS), pattern);
    *make_place(s, row) = pattern;
}

void sp_star_pattern_forget(struct sp_stars *s, uint32_t row)
{
    struct row *r = &s->rows[row];
    if (r->in_vain == IN_VAIN_OFTEN) {
        s->stats.bytes -= bytes_of(r->kept);
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
    if (r->in_vain < IN_VAIN_OFTEN || sp_star_is_capped(x))
        return false;
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

void sp_star_patterns_free(struct sp_stars *s)
{
    for (uint32_t i = 0; i < s->pattern_cap; i++) {
        for (uint32_t k = 0; s->patterns[i] && k < BLOCK; k++)
            sp_free(s->patterns[i]->patterns[k]);
        sp_free(s->patterns[i]);
    }
    sp_free(s->patterns);
}

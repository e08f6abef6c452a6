/* Patterns of rows that probes are compared with in vain again and again. Where the pages of a site
 * share nearly as much as near duplicates do, a probe meets most stars of the site, and bounds by
 * the pivot rule out few of their kids. By cosine there are no such bounds, and a probe has a key
 * in common with a share of all pivots. A pattern rules a row out without its signature; it is made
 * after so many comparisons that its cost does not count. Patterns are not stored. */
#include "stars/patterns.h"

#include "base/mem.h"
#include "base/prefetch.h"

enum { IN_VAIN_OFTEN = 8, BLOCK = 64 };

/* Of rows with neighbouring numbers. Most blocks of a crawl do not exist. */
struct pattern_block {
    void *patterns[BLOCK]; /* what pattern_kind.make has made */
};

/* ---- bits of the shingles */

static bool is_whole(const struct sp_signature *x)
{
    return !sp_star_is_capped(x);
}

static void *bits_new(const struct sp_signature *x)
{
    uint32_t words = sp_parity_words(x->shingle_count, PARITY_BITS);
    uint64_t *pattern = sp_alloc(words * sizeof *pattern);
    sp_parity_of(x, words, pattern);
    return pattern;
}

static size_t bits_bytes(uint32_t kept, const void *pattern)
{
    (void)pattern;
    return sp_parity_words(kept, PARITY_BITS) * sizeof(uint64_t);
}

uint32_t sp_star_pattern_words(struct sp_stars *s, const struct sp_signature *x)
{
    uint32_t words = sp_parity_words(x->shingle_count, PARITY_BITS);
    if (!s->parity_known)
        sp_parity_of(x, words, s->parity);
    s->parity_known = true;
    return words;
}

static bool bits_exclude(struct sp_stars *s, const struct sp_signature *x, uint32_t kept,
                         const void *pattern)
{
    uint32_t n = x->shingle_count;
    return sp_parity_distance(s->parity, sp_star_pattern_words(s, x), pattern,
                              sp_parity_words(kept, PARITY_BITS)) +
               2ull * sp_star_bound_overlap(s, n, false, kept, false) >
           (uint64_t)n + kept;
}

static const struct pattern_kind BITS = {
    .possible = is_whole, .make = bits_new, .bytes = bits_bytes, .exclude = bits_exclude};

/* ---- none */

static bool is_never_possible(const struct sp_signature *x)
{
    (void)x;
    return false;
}

static const struct pattern_kind NO_PATTERNS = {.possible = is_never_possible};

/* ---- the kind of each method */

void sp_star_patterns_open(struct sp_stars *s)
{
    static const struct pattern_kind *const kinds[SP_METHOD_COUNT] = {
        [SP_METHOD_SHINGLES] = &BITS,
        [SP_METHOD_SIMHASH] = &NO_PATTERNS, /* bits.c finds the kids */
        [SP_METHOD_COSINE] = &sp_star_norms,
        [SP_METHOD_SENTENCES] = &BITS,
        [SP_METHOD_LCS] = &BITS,
        [SP_METHOD_COMBINED] = &sp_star_opinions};
    s->pattern_kind = kinds[s->options.similarity.method];
    if (s->pattern_kind->open)
        s->probe_patterns = s->pattern_kind->open(s);
}

/* ---- those of the rows */

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

void sp_star_pattern_learn(struct sp_stars *s, uint32_t row, const struct sp_signature *y)
{
    const struct pattern_kind *kind = s->pattern_kind;
    struct row *r = &s->rows[row];
    if (r->in_vain == IN_VAIN_OFTEN || !kind->possible(y) || ++r->in_vain < IN_VAIN_OFTEN)
        return;
    void *pattern = kind->make(y);
    s->stats.bytes += kind->bytes(r->kept, pattern);
    *make_place(s, row) = pattern;
}

void sp_star_pattern_forget(struct sp_stars *s, uint32_t row)
{
    struct row *r = &s->rows[row];
    if (r->in_vain == IN_VAIN_OFTEN) {
        s->stats.bytes -= s->pattern_kind->bytes(r->kept, *place_of(s, row));
        sp_free(*place_of(s, row));
        *place_of(s, row) = NULL;
    }
    r->in_vain = 0;
}

bool sp_star_pattern_excludes(struct sp_stars *s, uint32_t row, const struct sp_signature *x)
{
    const struct row *r = &s->rows[row];
    return r->in_vain == IN_VAIN_OFTEN && s->pattern_kind->possible(x) &&
           s->pattern_kind->exclude(s, x, r->kept, *place_of(s, row));
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
        sp_prefetch_bytes(*place_of(s, row), s->pattern_kind->bytes(r->kept, *place_of(s, row)));
}

void sp_star_patterns_filter(struct sp_stars *s, const struct sp_signature *x)
{
    enum { AHEAD = 8 };
    uint32_t kept = 0;
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

void sp_star_patterns_close(struct sp_stars *s)
{
    for (uint32_t i = 0; i < s->pattern_cap; i++) {
        for (uint32_t k = 0; s->patterns[i] && k < BLOCK; k++)
            sp_free(s->patterns[i]->patterns[k]);
        sp_free(s->patterns[i]);
    }
    sp_free(s->patterns);
    if (s->pattern_kind->close)
        s->pattern_kind->close(s->probe_patterns);
}

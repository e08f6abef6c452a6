/* Combined: J of two pages must reach tau, and where it is below tau + band, the LCS ratio of their
 * sentences gives the second opinion. A row whose shingles are similar enough while its sentences
 * are not is compared in vain again and again, since the LCS ratio is not a metric: that of a row
 * with a pivot says nothing about that with a probe. Here a pattern of each kind bounds both.
 *
 * Let d be the number of shingles that only one of two pages with n in all has. Then J = (n - d) /
 * (n + d), so J >= t means d <= n (1 - t) / (1 + t). The same holds for the LCS ratio with the
 * number of sentences, each occurrence counted: a common subsequence is not longer than (n - d) /
 * 2, what the pages have in common. Patterns bound d from below (similarity/parity.h); an
 * occurrence of a sentence flips a bit, so those that both pages have flip it equally often. */
#include "base/mem.h"
#include "stars/patterns.h"

enum { BITS_EACH = 4 }; /* of both patterns: more than of others, as J is often near tau + band */

static const double SLACK = 1e-6; /* larger than that of F, and than what products are wrong by */

/* The pattern of a signature. */
struct opinions {
    uint32_t sentences; /* their number */
    uint64_t words[];   /* the pattern of the shingles, then that of the sentences */
};

/* That of a probe, unless s->probe_known is 0. */
struct probe_opinions {
    uint64_t shingles[SP_PARITY_WORDS_MAX];
    uint64_t sentences[SP_PARITY_WORDS_MAX];
};

static uint32_t words_of(uint32_t count)
{
    return sp_parity_words(count, BITS_EACH);
}

static void *open_probe(const struct sp_stars *s)
{
    (void)s;
    return sp_calloc(1, sizeof(struct probe_opinions));
}

/* Whether a signature is not capped. */
static bool is_possible(const struct sp_signature *x)
{
    return !sp_star_is_capped(x);
}

static void fill(const struct sp_signature *x, uint64_t *ret_shingles, uint64_t *ret_sentences)
{
    sp_parity_of(x, words_of(x->shingle_count), ret_shingles);
    sp_parity_of_shingles(sp_signature_sentences(x), x->sentence_count, words_of(x->sentence_count),
                          ret_sentences);
}

static size_t bytes_of(uint32_t kept, const void *pattern)
{
    const struct opinions *p = pattern;
    return sizeof *p + (words_of(kept) + words_of(p->sentences)) * sizeof *p->words;
}

static void *make(const struct sp_signature *x)
{
    struct opinions of_x = {.sentences = x->sentence_count};
    struct opinions *pattern = sp_alloc(bytes_of(x->shingle_count, &of_x));
    *pattern = of_x;
    fill(x, pattern->words, pattern->words + words_of(x->shingle_count));
    return pattern;
}

/* Whether pages with n elements in all, d or more of which only one has, are below the measure. */
static bool is_below(double measure, uint32_t n, uint32_t d)
{
    return d > n * (1 - measure + SLACK) / (1 + measure - SLACK) + SLACK;
}

static bool exclude(struct sp_stars *s, const struct sp_signature *x, uint32_t kept,
                    const void *pattern)
{
    const struct sp_similarity_options *o = &s->options.similarity;
    const struct opinions *of_row = pattern;
    struct probe_opinions *p = s->probe_patterns;
    if (!s->probe_known)
        fill(x, p->shingles, p->sentences);
    s->probe_known = 1;
    uint32_t words = words_of(kept), n = x->shingle_count + kept;
    uint32_t apart =
        sp_parity_distance(p->shingles, words_of(x->shingle_count), of_row->words, words);
    if (is_below(o->threshold, n, apart))
        return true;
    return is_below(o->threshold + o->band, n, apart) &&
           is_below(o->lcs_min, x->sentence_count + of_row->sentences,
                    sp_parity_distance(p->sentences, words_of(x->sentence_count),
                                       of_row->words + words, words_of(of_row->sentences)));
}

const struct pattern_kind sp_star_opinions = {.of_pivots = true,
                                              .open = open_probe,
                                              .close = sp_free,
                                              .possible = is_possible,
                                              .make = make,
                                              .bytes = bytes_of,
                                              .exclude = exclude};

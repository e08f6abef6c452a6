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
#include "stars/opinions.h"

#include "base/mem.h"

enum { BITS_EACH = 4 }; /* of both patterns: more than of others, as J is often near tau + band */

static const double SLACK = 1e-6; /* larger than that of F, and than what products are wrong by */

struct opinions {
    uint32_t shingles; /* their number */
    uint32_t sentences;
    uint64_t words[]; /* the pattern of the shingles, then that of the sentences */
};

struct probe_opinions {
    uint64_t shingles[SP_PARITY_WORDS_MAX];
    uint64_t sentences[SP_PARITY_WORDS_MAX];
};

static uint32_t words_of(uint32_t count)
{
    return sp_parity_words(count, BITS_EACH);
}

void sp_star_opinions_open(struct sp_stars *s)
{
    if (s->options.similarity.method == SP_METHOD_COMBINED)
        s->opinions = sp_calloc(1, sizeof *s->opinions);
}

void sp_star_opinions_close(struct sp_stars *s)
{
    sp_free(s->opinions);
}

static void make(const struct sp_signature *x, uint64_t *ret_shingles, uint64_t *ret_sentences)
{
    sp_parity_of(x, words_of(x->shingle_count), ret_shingles);
    sp_parity_of_shingles(sp_signature_sentences(x), x->sentence_count, words_of(x->sentence_count),
                          ret_sentences);
}

struct opinions *sp_star_opinions_new(const struct sp_signature *x)
{
    struct opinions of_x = {.shingles = x->shingle_count, .sentences = x->sentence_count};
    struct opinions *pattern = sp_alloc(sp_star_opinions_bytes(&of_x));
    pattern->shingles = of_x.shingles;
    pattern->sentences = of_x.sentences;
    make(x, pattern->words, pattern->words + words_of(x->shingle_count));
    return pattern;
}

size_t sp_star_opinions_bytes(const struct opinions *pattern)
{
    return sizeof *pattern +
           (words_of(pattern->shingles) + words_of(pattern->sentences)) * sizeof *pattern->words;
}

/* Whether pages with n elements in all, d or more of which only one has, are below the measure. */
static bool is_below(double measure, uint32_t n, uint32_t d)
{
    return d > n * (1 - measure + SLACK) / (1 + measure - SLACK) + SLACK;
}

bool sp_star_opinions_exclude(struct sp_stars *s, const struct sp_signature *x,
                              const struct opinions *pattern)
{
    const struct sp_similarity_options *o = &s->options.similarity;
    struct probe_opinions *p = s->opinions;
    if (!s->opinions_known)
        make(x, p->shingles, p->sentences);
    s->opinions_known = true;
    uint32_t words = words_of(pattern->shingles), n = x->shingle_count + pattern->shingles;
    uint32_t apart =
        sp_parity_distance(p->shingles, words_of(x->shingle_count), pattern->words, words);
    if (is_below(o->threshold, n, apart))
        return true;
    return is_below(o->threshold + o->band, n, apart) &&
           is_below(o->lcs_min, x->sentence_count + pattern->sentences,
                    sp_parity_distance(p->sentences, words_of(x->sentence_count),
                                       pattern->words + words, words_of(pattern->sentences)));
}

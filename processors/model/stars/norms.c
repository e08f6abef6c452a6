/* Cosine: a bound of the cosine of two pages from a byte for each word.
 *
 * The words are dealt to parts by their hash. Let x_b be the counts of the words of x in part b, so
 * that X_b = |x_b| / |x| is the norm of that part. By Cauchy and Schwarz, in each part,
 *
 *   cos(x, y) = sum of x_b y_b / (|x| |y|) <= sum of X_b Y_b,
 *
 * and since the vectors X and Y of these norms have length 1, |X - Y|^2 = 2 - 2 sum of X_b Y_b
 * <= 2 - 2 cos(x, y). So pages with a cosine of tau or more have |X - Y| <= sqrt(2 - 2 tau). The
 * norms are rounded to bytes; by the triangle inequality, the distance of the rounded vectors is at
 * most that of X and Y plus the distances of each from what it was rounded to, which are kept.
 *
 * There are as many parts as words or more, up to PARTS_MOST, so that pages of one template, which
 * share many words but not nearly all, differ in most of the parts of the others. A pattern has a
 * power of two of parts, so that a probe gets that of any size from the largest. */
#include <math.h>

#include "base/mem.h"
#include "stars/patterns.h"

enum {
    PARTS_LEAST = 64,
    PARTS_MOST = 1024,
    SIZES = 5, /* the powers of two between these */
    UNITS = 255
};
_Static_assert(PARTS_LEAST << (SIZES - 1) == PARTS_MOST, "one for each size");

/* More than what sums of doubles, and that of F, are wrong by. */
static const double SLACK = 1e-6;

/* A signature's pattern. */
struct norms {
    float error; /* at least the distance of the rounded norms from the exact ones */
    uint32_t count;
    uint8_t parts[]; /* the norm of each, in units of 1 / 255 */
};

/* Those of a probe. s->probe_known has a bit for each number of parts of which there is one. */
struct probe_norms {
    double most; /* |X - Y| of similar pages */
    double squares[PARTS_MOST];
    struct norms *patterns[SIZES];
};

static void *open_probe(const struct sp_stars *s)
{
    struct probe_norms *p = sp_calloc(1, sizeof *p);
    p->most = sqrt(2 - 2 * s->tau + SLACK) + SLACK;
    for (uint32_t i = 0; i < SIZES; i++)
        p->patterns[i] = sp_alloc(sizeof(struct norms) + (PARTS_LEAST << i));
    return p;
}

static void close_probe(void *probe)
{
    struct probe_norms *p = probe;
    for (uint32_t i = 0; i < SIZES; i++)
        sp_free(p->patterns[i]);
    sp_free(p);
}

/* Whether the signature has all words of its page. */
static bool is_possible(const struct sp_signature *x)
{
    return !sp_star_is_capped(x) && x->sentence_count == SP_SIGN_WORDS + x->shingle_count;
}

/* The number of the size in which a page of so many words has its pattern. */
static uint32_t size_of(uint32_t words)
{
    uint32_t i = 0;
    while (i + 1 < SIZES && (uint32_t)PARTS_LEAST << i < words)
        i++;
    return i;
}

static size_t bytes_of(uint32_t words, const void *pattern)
{
    (void)pattern;
    return sizeof(struct norms) + (PARTS_LEAST << size_of(words));
}

/* Adds the squares of the counts of each part's words. */
static void add_squares(const struct sp_signature *x, uint32_t parts, double *squares)
{
    const uint32_t *counts = sp_signature_sentences(x) + SP_SIGN_WORDS;
    for (uint32_t i = 0; i < x->shingle_count; i++)
        squares[x->hashes[i] & (parts - 1)] += (double)counts[i] * counts[i];
}

static void round_norms(const double *squares, uint32_t parts, struct norms *ret_pattern)
{
    double sum = 0, error = 0;
    for (uint32_t i = 0; i < parts; i++)
        sum += squares[i];
    for (uint32_t i = 0; i < parts; i++) {
        double norm = sum > 0 ? sqrt(squares[i] / sum) * UNITS : 0;
        ret_pattern->parts[i] = (uint8_t)(norm + 0.5);
        error += (norm - ret_pattern->parts[i]) * (norm - ret_pattern->parts[i]);
    }
    ret_pattern->error = (float)(sqrt(error) / UNITS + SLACK);
    ret_pattern->count = parts;
}

static void *make(const struct sp_signature *x)
{
    uint32_t parts = (uint32_t)PARTS_LEAST << size_of(x->shingle_count);
    double squares[PARTS_MOST] = {0};
    struct norms *pattern = sp_alloc(bytes_of(x->shingle_count, NULL));
    add_squares(x, parts, squares);
    round_norms(squares, parts, pattern);
    return pattern;
}

/* Makes the probe's pattern of that many parts. */
static void make_probe(struct sp_stars *s, const struct sp_signature *x, uint32_t parts)
{
    struct probe_norms *p = s->probe_patterns;
    double squares[PARTS_MOST] = {0};
    if (!s->probe_known) {
        for (uint32_t i = 0; i < PARTS_MOST; i++)
            p->squares[i] = 0;
        add_squares(x, PARTS_MOST, p->squares);
    }
    for (uint32_t i = 0; i < PARTS_MOST; i++)
        squares[i & (parts - 1)] += p->squares[i];
    round_norms(squares, parts, p->patterns[size_of(parts)]);
    s->probe_known |= parts;
}

/* Whether two rounded vectors, in units, are further apart than the root of `most`. */
static bool further(const uint8_t *a, const uint8_t *b, uint32_t parts, double most)
{
    int32_t sum = 0; /* of at most PARTS_MOST squares of UNITS */
    for (; parts > 0 && sum <= most; parts -= PARTS_LEAST, a += PARTS_LEAST, b += PARTS_LEAST)
        for (int i = 0; i < PARTS_LEAST; i++) {
            int16_t difference = (int16_t)(a[i] - b[i]);
            sum += difference * difference;
        }
    return sum > most;
}

static bool exclude(struct sp_stars *s, const struct sp_signature *x, uint32_t kept,
                    const void *pattern)
{
    const struct norms *of_row = pattern;
    const struct probe_norms *p = s->probe_patterns;
    const struct norms *probe = p->patterns[size_of(of_row->count)];
    (void)kept;
    if (!(s->probe_known & of_row->count))
        make_probe(s, x, of_row->count);
    double most = (p->most + (double)probe->error + (double)of_row->error) * UNITS;
    return further(probe->parts, of_row->parts, of_row->count, most * most);
}

const struct pattern_kind sp_star_norms = {.of_pivots = true,
                                           .at_first = true,
                                           .open = open_probe,
                                           .close = close_probe,
                                           .possible = is_possible,
                                           .make = make,
                                           .bytes = bytes_of,
                                           .exclude = exclude};

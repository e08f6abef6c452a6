/* The table of similarity methods, and the measures other than J of 5-shingles.
 *
 *   shingles    Broder 1997; Zhu et al., WWW 2012, section 4.2
 *   simhash     Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007: 64 bits, k = 3, that is
 *               tau = 61/64. Features are the distinct words (page/features.h)
 *   cosine      of the term frequencies (Salton, Wong, Yang 1975), no weights but the counts: a
 *               stream has no document frequencies. Of pages with more than max_shingles distinct
 *               words, over those that both know
 *   sentences   J of stemmed sentences, the smallest hashes kept (E. Smith; text/stems.h)
 *   lcs         Huang, Wang, Li, CIKM 2008: |LCS| / (|A| + |B| - |LCS|) of the sentence sequences
 *               (Myers 1986), asked of pages that share minimal sentence hashes (candidates.h).
 *               Against templates the paper trusts a part of the LCS only; here the middle half of
 *               each page must be found in the other as well. A common subsequence is not longer
 *               than what the pages share, so the ratio is at most J of the sentences, each
 *               occurrence counted, and pages are looked up by that bound
 *   combined    J of shingles, from a lower tau on; in the band above it the LCS ratio decides
 *
 * Measures are symmetric to the last bit, because sums of integers and products commute. */
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "candidates/candidates.h"
#include "similarity/internal.h"
#include "similarity/intersect.h"
#include "similarity/lcs.h"

static bool at_least(double measure, double threshold)
{
    return measure + SP_SIMILARITY_SLACK >= threshold;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

void sp_similarity_options_default(struct sp_similarity_options *ret_options)
{
    *ret_options = (struct sp_similarity_options){
        .method = SP_METHOD_SHINGLES, .threshold = 0.8, .band = 0.1, .lcs_min = 0.5};
}

/* ---- shingles, sentences ---- */

static double jaccard_measure(const struct sp_similarity_options *o, const struct sp_signature *a,
                              const struct sp_signature *b)
{
    return sp_single_shingles_differ(o, a, b)
               ? 0
               : smaller(sp_jaccard(a, b), sp_length_bound(a->length, b->length));
}

static bool sentences_reach(const struct sp_similarity_options *o, const struct sp_signature *a,
                            const struct sp_signature *b, double *ret_similarity)
{
    if (ret_similarity)
        return sp_jaccard_similar(o, a, b, ret_similarity);
    return at_least(sp_length_bound(a->length, b->length), o->threshold) &&
           sp_jaccard_reaches(a, b, o->threshold);
}

/* ---- simhash ---- */

static double simhash_measure(const struct sp_similarity_options *o, const struct sp_signature *a,
                              const struct sp_signature *b)
{
    uint64_t x, y;
    (void)o;
    if (!sp_signature_simhash(a, &x) || !sp_signature_simhash(b, &y))
        return 0;
    return 1 - __builtin_popcountll(x ^ y) / 64.0;
}

/* ---- cosine ---- */

static const uint32_t *counts_of(const struct sp_signature *s)
{
    return sp_signature_sentences(s) + SP_SIGN_WORDS;
}

static uint64_t square_sum(const uint32_t *counts, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (uint64_t)counts[i] * counts[i];
    return sum;
}

static double cosine_measure(const struct sp_similarity_options *o, const struct sp_signature *a,
                             const struct sp_signature *b)
{
    struct sp_range x, y;
    (void)o;
    if (a->sentence_count != SP_SIGN_WORDS + a->shingle_count ||
        b->sentence_count != SP_SIGN_WORDS + b->shingle_count)
        return 0;
    sp_comparable(a, b, &x, &y);
    const uint32_t *x_counts = counts_of(a), *y_counts = counts_of(b);
    uint64_t dot = 0;
    for (size_t i = 0, k = 0; i < x.count && k < y.count;) {
        uint32_t p = x.shingles[i], q = y.shingles[k];
        if (p == q)
            dot += (uint64_t)x_counts[i] * y_counts[k];
        i += p <= q;
        k += q <= p;
    }
    double norms = (double)square_sum(x_counts, x.count) * (double)square_sum(y_counts, y.count);
    return norms > 0 ? smaller((double)dot / sqrt(norms), 1) : 0;
}

/* ---- lcs, combined ---- */

struct sequence {
    const uint32_t *items;
    size_t count;
};

static struct sequence all_of(const struct sp_signature *s)
{
    return (struct sequence){sp_signature_sentences(s), s->sentence_count};
}

/* The middle half, rounded up. */
static struct sequence middle_of(const struct sp_signature *s)
{
    size_t quarter = s->sentence_count / 4;
    return (struct sequence){sp_signature_sentences(s) + quarter, s->sentence_count - 2 * quarter};
}

static size_t common(struct sequence a, struct sequence b, size_t need)
{
    return sp_lcs_length(a.items, a.count, b.items, b.count, need);
}

/* |LCS| / (|A| + |B| - |LCS|), or a smaller number if that does not reach the threshold. */
static double ratio(struct sequence a, struct sequence b, double threshold)
{
    size_t sum = a.count + b.count;
    if (sum == 0)
        return 0;
    double least = (threshold - SP_SIMILARITY_SLACK) * (double)sum / (1 + threshold);
    size_t lcs = common(a, b, least > 1 ? (size_t)least : 0);
    return (double)lcs / (double)(sum - lcs);
}

/* The share of `part` that the other page has in order, or a smaller number as above. */
static double cover(struct sequence part, struct sequence other, double threshold)
{
    double least = (threshold - SP_SIMILARITY_SLACK) * (double)part.count;
    return part.count
               ? (double)common(part, other, least > 1 ? (size_t)least : 0) / (double)part.count
               : 0;
}

double sp_lcs_ratio(const struct sp_signature *a, const struct sp_signature *b)
{
    return ratio(all_of(a), all_of(b), 0);
}

/* The least of the LCS ratio and of the two shares of a page's middle half that the other page has
 * in order. The middle half is trusted because templates are at both ends of a page. If the result
 * does not reach the threshold, it may be any number below it. */
static double trusted(const struct sp_signature *a, const struct sp_signature *b, double threshold)
{
    double least = ratio(all_of(a), all_of(b), threshold);
    if (!at_least(least, threshold))
        return least;
    least = smaller(least, cover(middle_of(a), all_of(b), threshold));
    if (!at_least(least, threshold))
        return least;
    return smaller(least, cover(middle_of(b), all_of(a), threshold));
}

static double lcs_measure(const struct sp_similarity_options *o, const struct sp_signature *a,
                          const struct sp_signature *b)
{
    (void)o;
    return trusted(a, b, 0);
}

static bool lcs_reaches(const struct sp_similarity_options *o, const struct sp_signature *a,
                        const struct sp_signature *b, double *ret_similarity)
{
    double found = trusted(a, b, o->threshold);
    if (!at_least(found, o->threshold))
        return false;
    if (ret_similarity)
        *ret_similarity = found;
    return true;
}

/* The largest tau for which F holds: J, or J - band if the LCS ratio is too low. */
static double combined_measure(const struct sp_similarity_options *o, const struct sp_signature *a,
                               const struct sp_signature *b)
{
    double j = jaccard_measure(o, a, b);
    return sp_lcs_ratio(a, b) < o->lcs_min ? j - o->band : j;
}

static bool combined_reaches(const struct sp_similarity_options *o, const struct sp_signature *a,
                             const struct sp_signature *b, double *ret_similarity)
{
    double j;
    if (!sp_jaccard_similar(o, a, b, &j))
        return false;
    if (!at_least(smaller(j, sp_length_bound(a->length, b->length)), o->threshold + o->band) &&
        ratio(all_of(a), all_of(b), o->lcs_min) < o->lcs_min)
        return false;
    if (ret_similarity)
        *ret_similarity = j;
    return true;
}

/* ---- the table ---- */

static const struct sp_method_info methods[] = {
    [SP_METHOD_SHINGLES] = {.name = "shingles",
                            .title = "Jaccard of 5-word shingles",
                            .source = "Broder 1997; Zhu et al. 2012",
                            .threshold = 0.8,
                            .least = 0.3,
                            .features = SP_FEATURES_SHINGLES,
                            .jaccard = true,
                            .measure = jaccard_measure,
                            .reaches = sp_jaccard_similar},
    [SP_METHOD_SIMHASH] = {.name = "simhash",
                           .title = "simhash, 64 bits",
                           .source = "Charikar 2002; Manku, Jain, Das Sarma 2007",
                           .threshold = 61.0 / 64,
                           .least = 57.0 / 64,
                           .features = SP_FEATURES_WORDS,
                           .measure = simhash_measure},
    [SP_METHOD_COSINE] = {.name = "cosine",
                          .title = "cosine of term frequencies",
                          .source = "Salton, Wong, Yang 1975; Charikar 2002",
                          .threshold = 0.98,
                          .least = 0.3,
                          .features = SP_FEATURES_WORDS,
                          .by_candidates = true,
                          .measure = cosine_measure},
    [SP_METHOD_SENTENCES] = {.name = "sentences",
                             .title = "Jaccard of stemmed sentences",
                             .source = "E. Smith; Broder 1997",
                             .threshold = 0.5,
                             .least = 0.3,
                             .features = SP_FEATURES_SENTENCES,
                             .jaccard = true,
                             .sentences = true,
                             .measure = jaccard_measure,
                             .reaches = sentences_reach},
    [SP_METHOD_LCS] = {.name = "lcs",
                       .title = "LCS ratio of sentences, trusted middle",
                       .source = "Huang, Wang, Li 2008; Myers 1986",
                       .threshold = 0.5,
                       .least = 0.3,
                       .features = SP_FEATURES_SENTENCE_SEQUENCE,
                       .jaccard = true,
                       .sentences = true,
                       .by_candidates = true,
                       .measure = lcs_measure,
                       .reaches = lcs_reaches},
    [SP_METHOD_COMBINED] = {.name = "combined",
                            .title = "Jaccard of 5-word shingles, sentences where it is close",
                            .source = "shingles with lcs",
                            .threshold = 0.7,
                            .least = 0.3,
                            .features = SP_FEATURES_SHINGLES,
                            .jaccard = true,
                            .sentences = true,
                            .measure = combined_measure,
                            .reaches = combined_reaches},
};
_Static_assert(sizeof methods / sizeof *methods == SP_METHOD_COUNT, "a method is missing");

const struct sp_method_info *sp_method_info(enum sp_method method)
{
    SP_ASSERT((unsigned)method < SP_METHOD_COUNT);
    return &methods[method];
}

enum sp_err sp_similarity_check(const struct sp_similarity_options *o, uint32_t cells,
                                struct sp_fault *fault)
{
    const struct sp_method_info *method = sp_method_info(o->method);
    if (o->threshold + SP_SIMILARITY_SLACK >= method->least && o->threshold <= 1 &&
        (cells == 1 || method->jaccard))
        return SP_OK;
    if (cells > 1 && !method->jaccard)
        return sp_fault_set(
            fault, SP_INVALID,
            "partition.cells: %u: pages of similarity.method = %s cannot be routed by their "
            "lengths without losing pairs; set it to 1",
            cells, method->name);
    return sp_fault_set(
        fault, SP_INVALID,
        "similarity.threshold: %g is out of range for similarity.method = %s; it must be "
        "from %g to 1, or 0 for its default, %g",
        o->threshold, method->name, method->least, method->threshold);
}

double sp_similarity(const struct sp_similarity_options *o, const struct sp_signature *a,
                     const struct sp_signature *b)
{
    return a->params == b->params ? sp_method_info(o->method)->measure(o, a, b) : 0;
}

/* The rule takes many powers to compute, more than most comparisons, and a thread asks for the same
 * one each time. */
static const struct sp_candidate_rule *rule_of(const struct sp_similarity_options *o)
{
    static _Thread_local struct sp_candidate_rule rule = {.method = SP_METHOD_COUNT};
    if (rule.method != o->method || rule.threshold != o->threshold)
        rule = sp_candidate_rule(o->method, o->threshold);
    return &rule;
}

/* Whether the candidate rule, if F includes it, holds. */
static bool meets_rule(const struct sp_similarity_options *o, const struct sp_signature *a,
                       const struct sp_signature *b)
{
    return !sp_method_info(o->method)->by_candidates ||
           sp_id_eq(a->content_hash, b->content_hash) || sp_candidate_pair(rule_of(o), a, b);
}

/* Cosines are cheaper than their candidate rule, and most pairs fail by them. */
static bool method_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                           const struct sp_signature *b, double *ret_similarity)
{
    const struct sp_method_info *method = sp_method_info(o->method);
    if (a->shingle_total == 0 || b->shingle_total == 0)
        return false;
    if (method->reaches)
        return meets_rule(o, a, b) && method->reaches(o, a, b, ret_similarity);
    double found = method->measure(o, a, b);
    if (!at_least(found, o->threshold) || !meets_rule(o, a, b))
        return false;
    if (ret_similarity)
        *ret_similarity = found;
    return true;
}

bool sp_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                const struct sp_signature *b, double *ret_similarity)
{
    if (a->params != b->params)
        return false;
    if (o->method == SP_METHOD_SHINGLES)
        return sp_jaccard_similar(o, a, b, ret_similarity);
    return method_similar(o, a, b, ret_similarity);
}

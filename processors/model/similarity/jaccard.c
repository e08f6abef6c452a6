/* J of two signatures, its estimate and its bound: see similarity.h.
 *
 * J is compared with tau as shared >= tau * union, with a slack of 1e-9 of the union, so that a
 * pair with exactly four fifths reaches 0.8, which binary cannot represent.
 *
 * A capped signature knows only the shingles up to its largest hash. Within the range that both
 * know, the hashes of the union are a uniform sample (Broder 1997; Cohen and Kaplan 2007), so the
 * quotient is an unbiased estimate of J. It is symmetric, and exact if nothing is capped. */
#include "similarity/similarity.h"

#include "similarity/internal.h"
#include "similarity/intersect.h"

static const double slack = SP_SIMILARITY_SLACK;

size_t sp_count_up_to(const uint32_t *sorted, size_t count, uint32_t limit)
{
    size_t lo = 0;
    while (lo < count) {
        size_t middle = lo + (count - lo) / 2;
        if (sorted[middle] <= limit)
            lo = middle + 1;
        else
            count = middle;
    }
    return lo;
}

uint32_t sp_known_up_to(const struct sp_signature *s)
{
    if (s->shingle_count == s->shingle_total)
        return UINT32_MAX;
    return s->shingle_count ? s->hashes[s->shingle_count - 1] : 0;
}

void sp_comparable(const struct sp_signature *a, const struct sp_signature *b,
                   struct sp_range *ret_a, struct sp_range *ret_b)
{
    uint32_t a_limit = sp_known_up_to(a), b_limit = sp_known_up_to(b);
    uint32_t limit = a_limit < b_limit ? a_limit : b_limit;
    *ret_a = (struct sp_range){a->hashes, a->shingle_count};
    *ret_b = (struct sp_range){b->hashes, b->shingle_count};
    if (limit == UINT32_MAX)
        return;
    ret_a->count = sp_count_up_to(a->hashes, a->shingle_count, limit);
    ret_b->count = sp_count_up_to(b->hashes, b->shingle_count, limit);
}

static bool reaches(double part, double whole, double threshold)
{
    return part + slack * whole >= threshold * whole;
}

/* The least number of shared shingles with which two sets of this total size reach the
 * threshold. */
static size_t shared_needed(size_t sum, double threshold)
{
    size_t need = (size_t)((threshold - slack) * (double)sum / (1 + threshold - slack));
    while (need > 0 && reaches((double)(need - 1), (double)(sum - need + 1), threshold))
        need--;
    while (need <= sum / 2 && !reaches((double)need, (double)(sum - need), threshold))
        need++;
    return need;
}

double sp_jaccard(const struct sp_signature *a, const struct sp_signature *b)
{
    struct sp_range x, y;
    sp_comparable(a, b, &x, &y);
    if (x.count + y.count == 0)
        return 0;
    size_t shared = sp_intersect(x.shingles, x.count, y.shingles, y.count, 0);
    return (double)shared / (double)(x.count + y.count - shared);
}

/* Finds the comparable ranges and the number of shingles that they must share; false if that is
 * more than either has. */
static inline bool prepare(const struct sp_signature *a, const struct sp_signature *b,
                           double threshold, struct sp_range *ret_x, struct sp_range *ret_y,
                           size_t *ret_need)
{
    sp_comparable(a, b, ret_x, ret_y);
    if (ret_x->count + ret_y->count == 0)
        return false;
    *ret_need = shared_needed(ret_x->count + ret_y->count, threshold);
    return *ret_need <= (ret_x->count < ret_y->count ? ret_x->count : ret_y->count);
}

bool sp_jaccard_at_least(const struct sp_signature *a, const struct sp_signature *b,
                         double threshold, double *ret_j)
{
    struct sp_range x, y;
    size_t need;
    if (!prepare(a, b, threshold, &x, &y, &need))
        return false;
    size_t shared = sp_intersect(x.shingles, x.count, y.shingles, y.count, need);
    if (shared < need)
        return false;
    if (ret_j)
        *ret_j = (double)shared / (double)(x.count + y.count - shared);
    return true;
}

bool sp_jaccard_reaches(const struct sp_signature *a, const struct sp_signature *b,
                        double threshold)
{
    struct sp_range x, y;
    size_t need;
    return prepare(a, b, threshold, &x, &y, &need) &&
           sp_intersect_reaches(x.shingles, x.count, y.shingles, y.count, need);
}

static void length_sums(const uint32_t a[SP_DIMS], const uint32_t b[SP_DIMS], double *ret_min,
                        double *ret_max)
{
    uint64_t min = 0, max = 0;
    for (size_t d = 0; d < SP_DIMS; d++) {
        min += a[d] < b[d] ? a[d] : b[d];
        max += a[d] < b[d] ? b[d] : a[d];
    }
    *ret_min = (double)min;
    *ret_max = (double)max;
}

double sp_length_bound(const uint32_t a[SP_DIMS], const uint32_t b[SP_DIMS])
{
    double min, max;
    length_sums(a, b, &min, &max);
    return max > 0 ? min / max : 0;
}

static bool lengths_reach(const struct sp_similarity_options *o, const struct sp_signature *a,
                          const struct sp_signature *b)
{
    double min, max;
    length_sums(a->length, b->length, &min, &max);
    return max > 0 && reaches(min, max, o->threshold);
}

bool sp_single_shingles_differ(const struct sp_similarity_options *o, const struct sp_signature *a,
                               const struct sp_signature *b)
{
    return a->shingle_total == 1 && b->shingle_total == 1 && o->method != SP_METHOD_SENTENCES &&
           !sp_id_eq(a->content_hash, b->content_hash);
}

bool sp_jaccard_similar(const struct sp_similarity_options *o, const struct sp_signature *a,
                        const struct sp_signature *b, double *ret_similarity)
{
    double j = 1;
    if (!lengths_reach(o, a, b) || sp_single_shingles_differ(o, a, b))
        return false;
    if (a == b ? a->shingle_count == 0 : !sp_jaccard_at_least(a, b, o->threshold, &j))
        return false;
    if (ret_similarity)
        *ret_similarity = j;
    return true;
}

bool sp_similar_sharing(const struct sp_similarity_options *o, const struct sp_signature *a,
                        const struct sp_signature *b, size_t shared, double *ret_similarity)
{
    size_t all = (size_t)a->shingle_count + b->shingle_count - shared;
    if (a->params != b->params || all == 0 || !reaches((double)shared, (double)all, o->threshold) ||
        !lengths_reach(o, a, b) || sp_single_shingles_differ(o, a, b))
        return false;
    if (ret_similarity)
        *ret_similarity = (double)shared / (double)all;
    return true;
}

double sp_jaccard_apart(double tau, const struct sp_signature *s)
{
    static const double rounding = 1e-6;
    double share = (1 - tau) / (1 + tau);
    if (s->shingle_count < s->shingle_total)
        share += (1 - share) * (1 - tau);
    return (share + rounding) * s->shingle_count;
}

/* See scores.h. */
#include "evaluate/scores.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sets.h"

void sp_scores_components(const struct sp_found *pairs, size_t count, double threshold,
                          size_t page_count, uint32_t *ret_set)
{
    sp_sets_init(ret_set, page_count);
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].measure < threshold)
            continue;
        sp_sets_unite(ret_set, pairs[i].a, pairs[i].b);
    }
    for (size_t i = 0; i < page_count; i++)
        ret_set[i] = sp_sets_root(ret_set, (uint32_t)i);
}

static double pairs_of(double n)
{
    return n * (n - 1) / 2;
}

/* Returns the number of pairs of equal values; sorts the values. */
static double equal_pairs(uint64_t *values, size_t count)
{
    double pairs = 0;
    if (count)
        qsort(values, count, sizeof *values, sp_by_u64);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && values[to] == values[from];)
            to++;
        pairs += pairs_of((double)(to - from));
    }
    return pairs;
}

static double adjusted_rand(const uint32_t *x, const uint32_t *y, size_t count)
{
    uint64_t *values = sp_alloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = x[i];
    double in_x = equal_pairs(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = y[i];
    double in_y = equal_pairs(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = (uint64_t)x[i] << 32 | y[i];
    double in_both = equal_pairs(values, count);
    sp_free(values);
    double all = pairs_of((double)count), chance = all > 0 ? in_x * in_y / all : 0;
    double most = (in_x + in_y) / 2;
    return most == chance ? 1 : (in_both - chance) / (most - chance);
}

static double f1_of(uint64_t right, uint64_t wrong, uint64_t same_count)
{
    uint64_t sum = right + wrong + same_count;
    return sum ? 2 * (double)right / (double)sum : 0;
}

void sp_scores(const struct sp_found *found, size_t count, double threshold,
               const struct sp_truth *truth, struct sp_scores *ret_scores)
{
    uint64_t same_count = truth->same_count;
    struct sp_scores s = {0};
    for (size_t i = 0; i < count; i++)
        if (found[i].measure >= threshold)
            *(found[i].same ? &s.right : &s.wrong) += 1;
    s.missed = same_count - s.right;
    s.precision = s.right + s.wrong ? (double)s.right / (double)(s.right + s.wrong) : 1;
    s.recall = same_count ? (double)s.right / (double)same_count : 1;
    s.f1 = f1_of(s.right, s.wrong, same_count);
    uint32_t *set = sp_alloc((truth->page_count + 1) * sizeof *set);
    sp_scores_components(found, count, threshold, truth->page_count, set);
    s.rand = adjusted_rand(set, truth->components, truth->page_count);
    sp_free(set);
    *ret_scores = s;
}

static int by_falling_measure(const void *a, const void *b)
{
    const struct sp_found *x = a, *y = b;
    if (x->measure != y->measure)
        return x->measure > y->measure ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

double sp_scores_best(struct sp_found *found, size_t count, uint64_t same_count)
{
    uint64_t right = 0, wrong = 0;
    double best = -1, threshold = 1;
    if (count)
        qsort(found, count, sizeof *found, by_falling_measure);
    for (size_t i = 0; i < count; i++) {
        *(found[i].same ? &right : &wrong) += 1;
        if (i + 1 < count && found[i + 1].measure == found[i].measure)
            continue;
        double f1 = f1_of(right, wrong, same_count);
        if (f1 > best) {
            best = f1;
            threshold = found[i].measure;
        }
    }
    return threshold;
}

/* Scores against their definitions. */
#include <math.h>

#include "base/hash.h"
#include "evaluate/scores.h"
#include "harness.h"

enum { PAGES = 30, PAIRS = PAGES * (PAGES - 1) / 2 };

static uint64_t state = 3;

static uint64_t draw(uint64_t below)
{
    state = sp_mix64(state + 0x9e3779b97f4a7c15ull);
    return state % below;
}

/* Hubert and Arabie's adjusted Rand index, from the four counts of page pairs. */
static double rand_by_definition(const uint32_t *x, const uint32_t *y)
{
    double both = 0, only_x = 0, only_y = 0, none = 0;
    for (size_t i = 0; i < PAGES; i++)
        for (size_t k = 0; k < i; k++) {
            bool a = x[i] == x[k], b = y[i] == y[k];
            both += a && b;
            only_x += a && !b;
            only_y += !a && b;
            none += !a && !b;
        }
    double top = 2 * (both * none - only_x * only_y);
    double bottom = (both + only_x) * (only_x + none) + (both + only_y) * (only_y + none);
    return bottom > 0 ? top / bottom : 1;
}

static size_t draw_pairs(struct sp_found *ret_found, uint64_t *ret_same)
{
    size_t count = 0;
    uint64_t density = 1 + draw(30);
    *ret_same = 0;
    for (uint32_t a = 0; a < PAGES; a++)
        for (uint32_t b = a + 1; b < PAGES; b++) {
            bool same = draw(density) == 0;
            *ret_same += same;
            if (draw(3))
                ret_found[count++] =
                    (struct sp_found){a, b, same, (double)(draw(20) + (same ? 8 : 0)) / 30};
        }
    return count;
}

TEST(scores_are_those_of_the_definition)
{
    static struct sp_found found[PAIRS];
    for (int round = 0; round < 300; round++) {
        uint64_t same, right = 0, wrong = 0;
        uint32_t truth[PAGES], set[PAGES];
        size_t count = draw_pairs(found, &same);
        double threshold = (double)draw(30) / 30;
        struct sp_scores s;
        for (size_t i = 0; i < PAGES; i++)
            truth[i] = (uint32_t)draw(6);
        const struct sp_truth labels = {same, truth, PAGES};
        sp_scores(found, count, threshold, &labels, &s);
        for (size_t i = 0; i < count; i++) {
            right += found[i].measure >= threshold && found[i].same;
            wrong += found[i].measure >= threshold && !found[i].same;
        }
        CU_ASSERT_EQUAL(s.right, right);
        CU_ASSERT_EQUAL(s.wrong, wrong);
        CU_ASSERT_EQUAL(s.missed, same - right);
        double p = right + wrong ? (double)right / (double)(right + wrong) : 1;
        double r = same ? (double)right / (double)same : 1;
        CU_ASSERT_DOUBLE_EQUAL(s.precision, p, 1e-15);
        CU_ASSERT_DOUBLE_EQUAL(s.recall, r, 1e-15);
        if (same)
            CU_ASSERT_DOUBLE_EQUAL(s.f1, p + r > 0 ? 2 * p * r / (p + r) : 0, 1e-12);
        sp_scores_components(found, count, threshold, PAGES, set);
        CU_ASSERT_DOUBLE_EQUAL(s.rand, rand_by_definition(set, truth), 1e-9);
    }
}

TEST(no_threshold_beats_the_best)
{
    static struct sp_found found[PAIRS];
    uint32_t truth[PAGES] = {0};
    for (int round = 0; round < 200; round++) {
        uint64_t same;
        size_t count = draw_pairs(found, &same);
        struct sp_scores best, other;
        double threshold = sp_scores_best(found, count, same);
        const struct sp_truth labels = {same, truth, PAGES};
        sp_scores(found, count, threshold, &labels, &best);
        for (int t = 0; t <= 30; t++) {
            sp_scores(found, count, (double)t / 30, &labels, &other);
            CU_ASSERT(other.f1 <= best.f1);
            if ((double)t / 30 > threshold)
                CU_ASSERT(other.f1 < best.f1 || other.right + other.wrong == 0);
        }
    }
    CU_ASSERT_EQUAL(sp_scores_best(found, 0, 5), 1);
}

TEST(components_carry_over_and_equal_partitions_have_an_index_of_one)
{
    struct sp_found chain[] = {{0, 1, true, 0.9}, {1, 2, true, 0.8}, {3, 4, true, 0.5}};
    uint32_t set[PAGES];
    struct sp_scores s;
    sp_scores_components(chain, 3, 0.8, 6, set);
    CU_ASSERT(set[0] == 0 && set[1] == 0 && set[2] == 0 && set[3] == 3 && set[4] == 4);
    sp_scores(chain, 3, 0.8, &(struct sp_truth){3, set, 6}, &s);
    CU_ASSERT_EQUAL(s.rand, 1);
    sp_scores(chain, 0, 0.8, &(struct sp_truth){0, set, 6}, &s);
    CU_ASSERT_EQUAL(s.precision, 1);
    CU_ASSERT_EQUAL(s.recall, 1);
    CU_ASSERT_EQUAL(s.rand, 0);
}

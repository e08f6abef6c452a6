/* Printed figures: imbalance of the grids for made-up lengths, and savings computed by hand. */
#include <math.h>

#include "evaluate/grids.h"
#include "evaluate/savings.h"
#include "harness.h"

static struct sp_grid_look look_at(double spike, bool apart)
{
    struct sp_distinct d;
    struct sp_grid_look look;
    sp_grid_made_up(5000, spike, apart, &d);
    CU_ASSERT_EQUAL(sp_grid_look(&d, 64, 0.8, &look), SP_OK);
    sp_distinct_done(&d);
    return look;
}

TEST(a_crowded_length_makes_more_dimensions_better)
{
    struct sp_grid_look look = look_at(0.5, true);
    CU_ASSERT(look.imbalance[2] < look.imbalance[1]);
    CU_ASSERT(look.imbalance[1] < look.imbalance[0]);
    /* Half of the contents have equal lengths and cannot be separated: one machine of 64 holds
     * them. */
    CU_ASSERT(look.spike >= 0.5 && look.imbalance[0] >= 32);
}

TEST(lengths_that_go_together_make_more_dimensions_worse)
{
    struct sp_grid_look look = look_at(0, false);
    CU_ASSERT(look.correlation > 0.95);
    CU_ASSERT(look.imbalance[0] < look.imbalance[1]);
    CU_ASSERT(look.imbalance[1] < look.imbalance[2]);
    CU_ASSERT(look.used[2] < 0.5);
}

TEST(an_empty_sample_has_no_grid)
{
    struct sp_distinct d;
    struct sp_grid_look look;
    sp_grid_made_up(0, 0.5, true, &d);
    CU_ASSERT_EQUAL(sp_grid_look(&d, 64, 0.8, &look), SP_INVALID);
    sp_distinct_done(&d);
}

TEST(savings_are_those_of_the_model_by_hand)
{
    struct sp_cost_options c;
    const struct sp_saving_case *which = &sp_saving_cases[0]; /* row T1.4, column 5 % */
    sp_cost_options_default(&c);
    /* 4 billion pages. Tier A serves 1.4 and 0.3 of 2.4, tier B 1.4 / 1.05 and 0.3 of 1.28, at 5
     * million a machine, two copies; plus 4e9 / 2e8 machines for deduplication. */
    double a = 2 * (1.4 + 0.3 * 2.4) * 1000 / 5;
    double b = 2 * (1.4 / 1.05 + 0.3 * 1.28) * 1000 / 5 + 20;
    CU_ASSERT(fabs(sp_saving(&c, which, 4e9, 2e8) - (1 - b / a)) < 1e-9);
    /* If all pages fit into tier 1 there is no tier 2. */
    which = &sp_saving_cases[2];
    double small = 1 - 0.67 * 2 / 1.05 / (0.95 * 2);
    CU_ASSERT(fabs(sp_saving(&c, which, 2e9, 1e30) - small) < 1e-9);
    /* If deduplication needs more machines than it saves, the saving is negative. */
    CU_ASSERT(sp_saving(&c, which, 8e9, 1e6) < 0);
}

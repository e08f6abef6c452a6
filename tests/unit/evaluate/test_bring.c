/* The derived figures on the first screen of the report. */
#include "evaluate/bring.h"
#include "harness.h"

TEST(the_interval_of_a_share_gets_narrower_with_the_cases)
{
    double least = -1, most = -1, width = 2;
    sp_share_interval(0.2, 0, &least, &most);
    CU_ASSERT(least == 0 && most == 1);
    for (uint64_t cases = 10; cases <= 1000000; cases *= 10) {
        sp_share_interval(0.2, cases, &least, &most);
        CU_ASSERT(0 < least && least < 0.2 && 0.2 < most && most < 1);
        CU_ASSERT(most - least < width);
        width = most - least;
    }
    sp_share_interval(0.5, 100, &least, &most); /* values from tables of the Wilson interval */
    CU_ASSERT_DOUBLE_EQUAL(least, 0.4038, 0.0001);
    CU_ASSERT_DOUBLE_EQUAL(most, 0.5962, 0.0001);
    sp_share_interval(0, 50, &least, &most);
    CU_ASSERT(least == 0 && most > 0.01 && most < 0.1);
}

static struct sp_brought timed(double first_half, double second_half)
{
    struct sp_brought b = {.count = 0};
    for (size_t i = 0; i < SP_BRING_PARTS; i++) {
        b.fetches[i] = 100;
        b.seconds[i] = 100 * (i < SP_BRING_PARTS / 2 ? first_half : second_half);
    }
    return b;
}

TEST(the_cost_of_a_fetch_grows_as_it_grew_and_at_most_as_the_cube_root)
{
    double least, most;
    struct sp_brought same = timed(1e-4, 1e-4), cheaper = timed(2e-4, 1e-4);
    struct sp_brought dearer = timed(1e-4, 1.2e-4), leaping = timed(1e-4, 9e-4);
    sp_bring_cost(&same, 800e3, &least, &most);
    CU_ASSERT_DOUBLE_EQUAL(least, 1e-4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(most, 1e-4, 1e-9);
    sp_bring_cost(&cheaper, 800e3, &least, &most);
    CU_ASSERT_DOUBLE_EQUAL(least, 1e-4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(most, 2e-4, 1e-9);
    sp_bring_cost(&dearer, 800e3, &least, &most); /* 1.2 per factor of 3: 3.15 */
    CU_ASSERT_DOUBLE_EQUAL(least, 1e-4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(most, 1.2e-4 * 3.147, 1e-6);
    sp_bring_cost(&leaping, 800e3, &least, &most);
    CU_ASSERT_DOUBLE_EQUAL(most, 9e-4 * 10, 1e-6);
    sp_bring_cost(&leaping, 400, &least, &most); /* fewer pages than were measured */
    CU_ASSERT_DOUBLE_EQUAL(most, 9e-4, 1e-9);
}

TEST(an_index_is_counted_by_what_it_grows_by)
{
    struct sp_brought b = timed(1e-4, 1e-4);
    CU_ASSERT(sp_bring_index_bytes(&b) == 0);
    for (size_t i = 0; i < SP_BRING_PARTS; i++) {
        b.rows[i] = 50 * (i + 1);
        b.index_bytes[i] = 1000000;
    }
    CU_ASSERT_DOUBLE_EQUAL(sp_bring_index_bytes(&b), 1000000 / 800.0, 1e-6);
    for (size_t i = 0; i < SP_BRING_PARTS; i++)
        b.index_bytes[i] += 200 * b.rows[i];
    CU_ASSERT_DOUBLE_EQUAL(sp_bring_index_bytes(&b), 200 * 0.5, 1e-6);
}

/* Which conditions the plan uses for look-ups. */
#include <math.h>
#include <stdio.h>

#include "cover/plan.h"
#include "harness.h"

static void explain(const char *source, struct sp_plan *ret_plan, struct sp_relation **ret_relation)
{
    struct sp_fault fault = {""};
    CU_ASSERT_FATAL(sp_relation_parse(source, SP_RELATION, ret_relation, &fault) == SP_OK);
    sp_plan_make(*ret_relation, ret_plan);
}

static void check_shares(const char *source, double of_a, double of_b)
{
    struct sp_plan plan;
    struct sp_relation *r;
    explain(source, &plan, &r);
    CU_ASSERT_EQUAL(plan.path_count, 1);
    CU_ASSERT_DOUBLE_EQUAL(plan.paths[0].share[0], of_a, 1e-8);
    CU_ASSERT_DOUBLE_EQUAL(plan.paths[0].share[1], of_b, 1e-8);
    sp_plan_done(&plan);
    sp_relation_free(r);
}

TEST(thresholds_become_shares_of_the_sizes)
{
    check_shares("containment(a, b) >= 0.7", 0.7, 0);
    check_shares("containment(b, a) > 0.7", 0, 0.7);
    check_shares("0.7 <= containment(a, b) && jaccard(a, b) >= 0.5", 0.7, 0.5);
    check_shares("dice(b, a) >= 0.8", 0.8 / 1.2, 0.8 / 1.2);
    check_shares("!(jaccard(a, b) < 0.4 + 0.5)", 0.9, 0.9);
    check_shares("jaccard(a, b) = 1", 1, 1);
    check_shares("jaccard(a, b) < 0.5", 0, 0);
    check_shares("jaccard(a, b) != 0.5", 0, 0);
    check_shares("jaccard(a, b) >= 0", 0, 0);
    check_shares("dice(a, b) > 3", 2, 2);
}

TEST(every_atom_has_its_place)
{
    struct sp_plan plan;
    struct sp_relation *r;
    explain("containment(a, b) >= 0.7 && a.host = b.host && b.timestamp >= a.timestamp && "
            "a.language = \"en\" && b.length > 100 && a.title != b.title && "
            "a.length - 1 = b.length - 1 && a.popularity = b.length",
            &plan, &r);
    const struct sp_path *p = &plan.paths[0];
    CU_ASSERT_EQUAL(plan.path_count, 1);
    CU_ASSERT_EQUAL(p->key_count, 2);
    CU_ASSERT_EQUAL(p->range_count, 1);
    CU_ASSERT_EQUAL(p->sided_count[0], 1);
    CU_ASSERT_EQUAL(p->sided_count[1], 1);
    CU_ASSERT_EQUAL(p->apart_count, 1);
    CU_ASSERT_EQUAL(p->atom_count, 1); /* popularity = length */
    CU_ASSERT_EQUAL(plan.order_count, 1);
    CU_ASSERT_EQUAL(plan.exact, 1u << SP_FIELD_host | 1u << SP_FIELD_language |
                                    1u << SP_FIELD_length | 1u << SP_FIELD_title |
                                    1u << SP_FIELD_popularity);
    sp_plan_done(&plan);
    sp_relation_free(r);
}

static void check_apart(const char *source, size_t count)
{
    struct sp_plan plan;
    struct sp_relation *r;
    explain(source, &plan, &r);
    CU_ASSERT_EQUAL(plan.paths[0].apart_count, count);
    CU_ASSERT_EQUAL(plan.paths[0].apart_count + plan.paths[0].atom_count, 1);
    sp_plan_done(&plan);
    sp_relation_free(r);
}

TEST(unequal_values_of_one_kind_keep_documents_apart)
{
    check_apart("jaccard(a, b) >= 0.5 && a.host != b.host", 1);
    check_apart("jaccard(a, b) >= 0.5 && !(b.length * 2 = a.length * 2)", 1);
    check_apart("a.host != b.title", 0);
    check_apart("a.length != b.length + 1", 0);
    /* Each side is of both documents, so that what is equal to one value may differ. */
    check_apart("a.length - 2 * b.length != b.length - 2 * a.length", 0);
}

static void check_window(const char *source, double below, bool strictly_below, double above,
                         bool strictly_above)
{
    struct sp_plan plan;
    struct sp_relation *r;
    explain(source, &plan, &r);
    const struct sp_plan_window *w = &plan.paths[0].window;
    CU_ASSERT_EQUAL(plan.path_count, 1);
    CU_ASSERT_FATAL(w->of_a != NULL && w->of_b != NULL);
    CU_ASSERT_EQUAL(w->of_a->uses, SP_USES_A);
    CU_ASSERT_EQUAL(w->of_b->uses, SP_USES_B);
    CU_ASSERT(w->below == below && w->above == above);
    CU_ASSERT(w->strictly_below == strictly_below && w->strictly_above == strictly_above);
    sp_plan_done(&plan);
    sp_relation_free(r);
}

TEST(differences_become_windows)
{
    const double day = 86400e3, none = INFINITY;
    const bool strictly = true;
    check_window("abs(a.timestamp - b.timestamp) <= 7d", 7 * day, false, 7 * day, false);
    check_window("7d > abs(b.timestamp - a.timestamp)", 7 * day, strictly, 7 * day, strictly);
    check_window("b.timestamp - a.timestamp <= 7d && a.timestamp < b.timestamp", 0, strictly,
                 7 * day, false);
    check_window("b.timestamp - a.timestamp >= 7d", -7 * day, false, none, false);
    check_window("a.timestamp - b.timestamp >= 7d", none, false, -7 * day, false);
    check_window("-1d < a.timestamp - b.timestamp", none, false, day, strictly);
    check_window("a.length - b.length = 3", 3, false, -3, false);
    check_window("a.length > b.bytes", none, false, 0, strictly);
    check_window("a.length <= b.length && a.popularity - b.popularity >= 1", 0, false, none, false);
    check_window("a.length <= b.length && a.length < b.length", 0, strictly, none, false);
    check_window("a.length - b.length < 3 && a.length - b.length <= 2 && a.length - b.length < 5",
                 2, false, none, false);
}

static void check_values(const char *source, double of_a, double expected_from, double expected_to)
{
    struct sp_plan plan;
    struct sp_relation *r;
    double from, to;
    explain(source, &plan, &r);
    sp_plan_window_of(&plan.paths[0].window, of_a, &from, &to);
    CU_ASSERT(from == expected_from && to == expected_to);
    sp_plan_done(&plan);
    sp_relation_free(r);
}

/* The last differences are rounded: of 5 and a little less than 2, to 3; of 2^53 and 1, to 2^53. */
TEST(a_window_has_exactly_the_values_that_the_relation_allows)
{
    const double large = 0x1p53, none = INFINITY;
    check_values("a.length <= b.length", 5, 5, none);
    check_values("a.length < b.length", 5, nextafter(5, none), none);
    check_values("a.length > b.length", 5, -none, nextafter(5, -none));
    check_values("a.length < b.length", 0, nextafter(0, none), none);
    check_values("a.length > b.length", 0, -none, nextafter(0, -none));
    check_values("b.length - a.length >= 3", 5, 8, none);
    check_values("abs(a.length - b.length) <= 3", 100, 97, 103);
    check_values("abs(a.length - b.length) <= 0", 5, 5, 5);
    check_values("b.length - a.length <= 0/0", 5, -none, none);
    check_values("abs(a.length - b.length) <= 3", 5, nextafter(2, 0), 8);
    check_values("a.length - b.length <= 9007199254740992", large, -1, none);
    check_values("a.length - b.length >= 9007199254740992", large, -none, 0.5);
}

TEST(alternatives_become_paths_up_to_a_limit)
{
    struct sp_plan plan;
    struct sp_relation *r;
    explain("(a.host = b.host || a.title = b.title) && !(jaccard(a, b) < 0.5 && a.url = b.url)",
            &plan, &r);
    CU_ASSERT_EQUAL(plan.path_count, 4);
    sp_plan_done(&plan);
    sp_relation_free(r);
    explain("(a.host = b.host || a.title = b.title) && (a.url = b.url || a.mime = b.mime) && "
            "(a.host = b.host || a.title = b.title) && (a.url = b.url || a.mime = b.mime) && "
            "(a.host = b.host || a.title = b.title) && jaccard(a, b) >= 0.5",
            &plan, &r);
    CU_ASSERT_EQUAL(plan.path_count, 16);
    for (size_t i = 0; i < plan.path_count; i++) {
        CU_ASSERT(plan.paths[i].share[0] > 0.49);
        CU_ASSERT_EQUAL(plan.paths[i].atom_count,
                        1); /* the last "or" is not expanded but checked for each pair */
    }
    sp_plan_done(&plan);
    sp_relation_free(r);
}

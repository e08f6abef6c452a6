/* The public functions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "samepage/predict.h"

static void learn(struct samepage_predictor *p, unsigned page, unsigned visitor)
{
    char url[100], text[100];
    snprintf(url, sizeof url, "HTTP://A.example:80/%u?sid=%u", page, visitor);
    int n = snprintf(text, sizeof text, "page %u", page);
    CU_ASSERT_EQUAL(samepage_predict_learn(p, url, text, (size_t)n), 0);
}

static void learn_pages(struct samepage_predictor *p, unsigned pages)
{
    for (unsigned page = 0; page < pages; page++)
        for (unsigned visitor = 0; visitor < 2; visitor++)
            learn(p, page, 100 + 2 * page + visitor);
}

TEST(a_crawler_asks_before_it_fetches)
{
    struct samepage_predictor *p = samepage_predictor_new();
    struct samepage_prediction said = {.url = NULL};
    CU_ASSERT_EQUAL(samepage_predict(p, "http://a.example/7?sid=5", 0.1, &said), 0);
    learn_pages(p, 60);
    CU_ASSERT_EQUAL_FATAL(samepage_predict(p, "http://a.example/7?sid=5", 0.9, &said), 1);
    CU_ASSERT_STRING_EQUAL(said.url, "http://a.example/7?sid=115");
    CU_ASSERT_TRUE(said.confidence >= 0.9 && said.confidence < 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(said.rule, "\"name\":\"sid\""));
    struct samepage_prediction before = said;
    CU_ASSERT_EQUAL(samepage_predict(p, "http://a.example/7?sid=5", 0.999, &said), 0);
    CU_ASSERT_PTR_EQUAL(said.url, before.url);
    samepage_predict_forget(p, "http://a.example/7?sid=115");
    CU_ASSERT_EQUAL(samepage_predict(p, "http://a.example/7?sid=5", 0.9, &said), 0);
    samepage_predictor_free(p);
}

/* Returns how many of 1,000 predictions ask for a fetch to explore; each must equal a single
 * call. */
static unsigned explored(struct samepage_predictor *p, double share)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 1000; i++) {
        char url[100];
        struct samepage_prediction said;
        snprintf(url, sizeof url, "http://a.example/%u?sid=%u", i % 60, 5000 + i);
        CU_ASSERT_EQUAL_FATAL(samepage_predict(p, url, 0.9, &said), 1);
        CU_ASSERT_EQUAL(said.explore, samepage_predict_explores(url, share));
        count += (unsigned)said.explore;
    }
    return count;
}

TEST(a_share_of_the_predictions_is_to_be_fetched_all_the_same)
{
    struct samepage_predictor *p = samepage_predictor_new();
    learn_pages(p, 60);
    unsigned unasked = explored(p, 0.01); /* no URL was chosen to be explored */
    CU_ASSERT_TRUE(unasked > 0 && unasked < 30);
    CU_ASSERT_EQUAL(samepage_predictor_explore(p, 0.2), 0);
    unsigned fifth = explored(p, 0.2);
    CU_ASSERT_TRUE(fifth > 140 && fifth < 260);
    CU_ASSERT_EQUAL(samepage_predictor_explore(p, -0.1), -1);
    CU_ASSERT_EQUAL(samepage_predictor_explore(p, 1.5), -1);
    CU_ASSERT_EQUAL(explored(p, 0.2), fifth);
    CU_ASSERT_EQUAL(samepage_predictor_explore(p, 0), 0);
    CU_ASSERT_EQUAL(explored(p, 0), 0);
    CU_ASSERT_EQUAL(samepage_predictor_explore(p, 1), 0);
    CU_ASSERT_EQUAL(explored(p, 1), 1000);
    samepage_predictor_free(p);
}

TEST(a_url_of_any_scheme_is_learned)
{
    struct samepage_predictor *p = samepage_predictor_new();
    struct samepage_prediction said;
    CU_ASSERT_EQUAL(samepage_predictor_explore(p, 0), 0);
    for (int page = 0; page < 60; page++)
        for (int visitor = 0; visitor < 2; visitor++) {
            char url[64];
            snprintf(url, sizeof url, "ftp://a.example/%d?sid=%d", page, visitor);
            CU_ASSERT_EQUAL(samepage_predict_learn(p, url, &page, sizeof page), 0);
        }
    CU_ASSERT_EQUAL_FATAL(samepage_predict(p, "ftp://a.example/7?sid=9", 0.9, &said), 1);
    CU_ASSERT_STRING_EQUAL(said.url, "ftp://a.example/7?sid=1");
    CU_ASSERT_EQUAL(samepage_predict_learn(p, "doc:7", "x", 1), 0);
    CU_ASSERT_EQUAL(samepage_predict(p, "doc:8", 0, &said), 0);
    samepage_predictor_free(p);
}

TEST(texts_that_are_not_urls_are_refused)
{
    struct samepage_predictor *p = samepage_predictor_new();
    struct samepage_prediction said;
    CU_ASSERT_EQUAL(samepage_predict_learn(p, "no url", "x", 1), -1);
    CU_ASSERT_EQUAL(samepage_predict_learn(p, NULL, "x", 1), -1);
    CU_ASSERT_EQUAL(samepage_predict(p, "no url", 0, &said), 0);
    CU_ASSERT_EQUAL(samepage_predict_explores("no url", 1), 0);
    CU_ASSERT_EQUAL(samepage_predict_explores("http://a.example/", 1), 1);
    samepage_predict_forget(p, "no url");
    samepage_predictor_free(p);
    samepage_predictor_free(NULL);
}

TEST(a_crawler_takes_rules_from_the_topic)
{
    struct samepage_predictor *p = samepage_predictor_new();
    struct samepage_prediction said;
    const char *url = "http://a.example/7?sid=5";
    struct samepage_url_rule rule = {"a.example", "parameter", "sid", NULL, NULL, 119.5, 1.25};
    learn(p, 7, 100);
    CU_ASSERT_EQUAL(samepage_predict(p, url, 0.9, &said), 0);
    CU_ASSERT_EQUAL(samepage_predict_rule(p, &rule), 0);
    CU_ASSERT_EQUAL_FATAL(samepage_predict(p, url, 0.9, &said), 1);
    CU_ASSERT_STRING_EQUAL(said.url, "http://a.example/7?sid=100");
    CU_ASSERT_PTR_NOT_NULL(strstr(said.rule, "\"support\":120,\"against\":1,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said.rule, "\"recent_support\":119.5,\"recent_against\":1.25}"));
    rule.recent_support = rule.recent_against = 0;
    CU_ASSERT_EQUAL(samepage_predict_rule(p, &rule), 0);
    CU_ASSERT_EQUAL(samepage_predict(p, url, 0, &said), 0);
    samepage_predictor_free(p);
}

TEST(what_is_no_rule_is_refused)
{
    struct samepage_predictor *p = samepage_predictor_new();
    struct samepage_prediction said;
    const struct samepage_url_rule wrong[] = {
        {NULL, "parameter", "sid", NULL, NULL, 120, 1},
        {"a.example", "parameters", "sid", NULL, NULL, 120, 1},
        {"a.example", NULL, "sid", NULL, NULL, 120, 1},
        {"a.example", "parameter", NULL, NULL, NULL, 120, 1},
        {"a.example", "parameter", "sid", "1", NULL, 120, 1},
        {"a.example", "parameter", "sid", NULL, "1", 120, 1},
        {"a.example", "parameter", "sid", NULL, NULL, -1, 1},
        {"a.example", "parameter", "sid", NULL, NULL, 1e300, 1},
        {"a.example", "parameter", "sid", NULL, NULL, 120, NAN},
    };
    learn(p, 7, 100);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(samepage_predict_rule(p, &wrong[i]), -1);
    CU_ASSERT_EQUAL(samepage_predict(p, "http://a.example/7?sid=5", 0, &said), 0);
    samepage_predictor_free(p);
}

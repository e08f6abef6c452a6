/* The public calls. */
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

TEST(a_crawler_asks_before_it_fetches)
{
    struct samepage_predictor *p = samepage_predictor_new();
    struct samepage_prediction said = {.url = NULL};
    CU_ASSERT_EQUAL(samepage_predict(p, "http://a.example/7?sid=5", 0.1, &said), 0);
    for (unsigned page = 0; page < 60; page++)
        for (unsigned visitor = 0; visitor < 2; visitor++)
            learn(p, page, 100 + 2 * page + visitor);
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

TEST(what_is_no_url_is_refused)
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

/* Rules are learned from the past, and dropped when they no longer hold. */
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "harness.h"
#include "predict/predict.h"

static struct sp_id content(uint64_t number)
{
    return (struct sp_id){number + 1, number};
}

static void learn(struct sp_predictor *p, uint64_t text, const char *format, unsigned a, unsigned b)
{
    char url[200];
    snprintf(url, sizeof url, format, a, b);
    sp_predict_learn(p, sp_view_str(url), content(text));
}

static double ask(const struct sp_predictor *p, const char *url, struct sp_prediction *ret_said)
{
    return sp_predict_ask(p, sp_view_str(url), 0, ret_said) ? ret_said->confidence : 0;
}

/* Pages 0 to n - 1, each with two visitor ids. */
static void learn_visitors(struct sp_predictor *p, const char *format, unsigned n, bool same)
{
    for (unsigned i = 0; i < n; i++) {
        learn(p, i, format, i, 100000 + 2 * i);
        learn(p, same ? i : 1000000 + i, format, i, 100001 + 2 * i);
    }
}

TEST(no_prediction_without_evidence)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    CU_ASSERT_EQUAL(ask(p, "http://a.example/1?sid=7", &said), 0);
    learn(p, 1, "http://a.example/%u?sid=%u", 1, 7);
    CU_ASSERT_EQUAL(ask(p, "http://a.example/1?sid=8", &said), 0);
    CU_ASSERT_EQUAL(ask(p, "not a url", &said), 0);
    sp_predictor_free(p);
}

TEST(a_parameter_that_does_not_matter_is_learned)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    learn_visitors(p, "http://a.example/%u?sid=%u", 50, true);
    CU_ASSERT_TRUE(ask(p, "http://a.example/7?sid=5", &said) > 0.9);
    CU_ASSERT_EQUAL(said.rule->kind, SP_FEATURE_PARAMETER);
    CU_ASSERT_STRING_EQUAL(said.rule->name, "sid");
    CU_ASSERT_TRUE(sp_view_eq(said.url, sp_view_str("http://a.example/7?sid=100015")));
    /* No prediction for an unknown page. */
    CU_ASSERT_EQUAL(ask(p, "http://a.example/77777?sid=5", &said) > 0.5, false);
    sp_predictor_free(p);
}

TEST(a_parameter_that_matters_is_not)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    learn_visitors(p, "http://a.example/%u?id=%u", 50, false);
    CU_ASSERT_TRUE(ask(p, "http://a.example/7?id=5", &said) < 0.1);
    sp_predictor_free(p);
}

/* A host's failures do not count against the evidence of another. */
TEST(hosts_have_rules_of_their_own)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    learn_visitors(p, "http://a.example/%u?id=%u", 60, false);
    learn_visitors(p, "http://b.example/%u?id=%u", 60, true);
    CU_ASSERT_TRUE(ask(p, "http://a.example/7?id=5", &said) < 0.1);
    CU_ASSERT_TRUE(ask(p, "http://b.example/7?id=5", &said) > 0.9);
    CU_ASSERT_STRING_EQUAL(said.rule->host, "b.example");
    /* A host without evidence uses the rules of all hosts. */
    learn(p, 5, "http://c.example/%u?id=%u", 1, 1);
    double other = ask(p, "http://c.example/1?id=2", &said);
    CU_ASSERT_TRUE(other > 0.1 && other < 0.9);
    CU_ASSERT_STRING_EQUAL(said.rule->host, "*");
    sp_predictor_free(p);
}

TEST(ids_and_versions_in_paths_are_learned)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    for (unsigned i = 0; i < 60; i++) {
        learn(p, i, "http://a.example/v%u/page-%u", 1, i);
        learn(p, i, "http://a.example/v%u/page-%u", 2, i);
        learn(p, 500 + i, "http://a.example/v%u/page-%u", 3, i);
    }
    /* Version 2 equals version 1; version 3 equals neither. */
    learn(p, 99, "http://a.example/v%u/page-%u", 1, 99);
    CU_ASSERT_TRUE(ask(p, "http://a.example/v2/page-99", &said) > 0.85);
    CU_ASSERT_STRING_EQUAL(said.rule->from, "v1");
    CU_ASSERT_STRING_EQUAL(said.rule->to, "v2");
    learn(p, 98, "http://a.example/v%u/page-%u", 2, 98);
    CU_ASSERT_TRUE(ask(p, "http://a.example/v3/page-98", &said) < 0.5);
    sp_predictor_free(p);
}

TEST(a_rule_that_fails_expires)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    learn_visitors(p, "http://a.example/%u?sid=%u", 200, true);
    CU_ASSERT_TRUE(ask(p, "http://a.example/7?sid=5", &said) > 0.95);
    for (unsigned i = 0; i < 3; i++)
        learn(p, 5000 + i, "http://a.example/%u?sid=%u", i, 7);
    CU_ASSERT_TRUE(ask(p, "http://a.example/77?sid=5", &said) < 0.1);
    /* The rule is learned again once it holds again. */
    learn_visitors(p, "http://a.example/again-%u?sid=%u", 100, true);
    CU_ASSERT_TRUE(ask(p, "http://a.example/77?sid=5", &said) > 0.9);
    sp_predictor_free(p);
}

TEST(an_unchanged_refetch_is_no_evidence)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    for (unsigned i = 0; i < 100; i++)
        for (unsigned sid = 0; sid < 2; sid++)
            learn(p, 1, "http://a.example/%u?sid=%u", 1, sid);
    CU_ASSERT_TRUE(ask(p, "http://a.example/1?sid=9", &said) < 0.5);
    CU_ASSERT_EQUAL(said.rule->pairs[1], 1);
    sp_predictor_free(p);
}

TEST(a_page_that_is_gone_is_no_duplicate)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    learn_visitors(p, "http://a.example/%u?sid=%u", 50, true);
    sp_predict_forget(p, sp_view_str("http://a.example/7?sid=100015"));
    CU_ASSERT_TRUE(ask(p, "http://a.example/7?sid=5", &said) == 0 ||
                   !sp_view_eq(said.url, sp_view_str("http://a.example/7?sid=100015")));
    sp_predictor_free(p);
}

/* The same calls produce the same rules, as text. */
TEST(rules_are_listed_best_first_and_alike_each_time)
{
    struct sp_buf texts[2] = {{0}, {0}};
    for (size_t k = 0; k < 2; k++) {
        struct sp_predictor *p = sp_predictor_new();
        size_t count = 0;
        learn_visitors(p, "http://a.example/%u?sid=%u", 50, true);
        learn_visitors(p, "http://b.example/%u?sid=%u", 20, true);
        const struct sp_rule **rules = sp_predict_rules(p, 0.5, &count);
        CU_ASSERT_TRUE_FATAL(count > 2);
        for (size_t i = 0; i < count; i++) {
            CU_ASSERT_TRUE(i == 0 ||
                           sp_rule_confidence(rules[i - 1]) >= sp_rule_confidence(rules[i]));
            sp_rule_put(&texts[k], rules[i]);
        }
        sp_free(rules);
        sp_predictor_free(p);
    }
    CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&texts[0]), sp_buf_view(&texts[1])));
    sp_buf_done(&texts[0]);
    sp_buf_done(&texts[1]);
}

TEST(a_share_is_explored)
{
    unsigned explored = 0;
    for (unsigned i = 0; i < 10000; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://a.example/%u", i);
        explored += sp_predict_explores(sp_view_str(url), 0.05);
        CU_ASSERT_FALSE(sp_predict_explores(sp_view_str(url), 0));
        CU_ASSERT_TRUE(sp_predict_explores(sp_view_str(url), 1));
    }
    CU_ASSERT_TRUE(explored > 350 && explored < 650);
}

/* ---- rules of another predictor ---- */

static void take_rules(struct sp_predictor *to, const struct sp_predictor *from)
{
    size_t count = 0;
    const struct sp_rule **rules = sp_predict_rules(from, 0, &count);
    CU_ASSERT_TRUE(count > 0);
    for (size_t i = 0; i < count; i++)
        sp_predict_set_rule(to, rules[i]);
    sp_free(rules);
}

static void check_same_rules(const struct sp_predictor *a, const struct sp_predictor *b)
{
    size_t counts[2] = {0};
    const struct sp_rule **x = sp_predict_rules(a, 0, &counts[0]),
                         **y = sp_predict_rules(b, 0, &counts[1]);
    CU_ASSERT_EQUAL_FATAL(counts[0], counts[1]);
    for (size_t i = 0; i < counts[0]; i++) {
        CU_ASSERT_TRUE(sp_id_eq(x[i]->key, y[i]->key));
        CU_ASSERT_EQUAL(sp_rule_confidence(x[i]), sp_rule_confidence(y[i]));
        CU_ASSERT_STRING_EQUAL(x[i]->host, y[i]->host);
        CU_ASSERT_STRING_EQUAL(x[i]->name, y[i]->name);
    }
    sp_free(x);
    sp_free(y);
}

/* Of every kind and level. */
static void learn_all_sorts(struct sp_predictor *p)
{
    static const char *const formats[] = {
        "http://a.example/%u?sid=%u",      "http://www.a.example/%u?sid=%u",
        "https://a.example/%u?sid=%u",     "http://a.example/id%u0000/v%u/index.html",
        "http://a.example/id%u0000/v%u/",  "http://a.example/x%u;jsessionid=%u",
        "http://a.example/x%u/y.html.%u",  "http://a.example/q?a=%u&b=%u",
        "http://a.example/V%u/S%u0000000", "http://a.example/v%u/s%u0000000"};
    for (unsigned i = 0; i < 12; i++)
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
            for (unsigned visit = 0; visit < 2; visit++)
                learn(p, i, formats[f], i, 2 * i + visit);
}

TEST(rules_of_another_predictor_are_those_of_the_same_pairs)
{
    struct sp_predictor *p = sp_predictor_new(), *q = sp_predictor_new();
    learn_all_sorts(p);
    take_rules(q, p);
    check_same_rules(p, q);
    take_rules(q, p); /* again: nothing is counted twice */
    check_same_rules(p, q);
    sp_predictor_free(p);
    sp_predictor_free(q);
}

TEST(a_page_is_predicted_by_a_rule_that_others_learned)
{
    struct sp_predictor *p = sp_predictor_new(), *q = sp_predictor_new();
    struct sp_prediction said, own;
    learn_visitors(p, "http://a.example/%u?sid=%u", 50, true);
    take_rules(q, p);
    CU_ASSERT_EQUAL(ask(q, "http://a.example/7?sid=5", &said), 0); /* which page, nobody knows */
    learn(q, 7, "http://a.example/%u?sid=%u", 7, 1);
    CU_ASSERT_TRUE_FATAL(ask(q, "http://a.example/7?sid=5", &said) > 0.9);
    CU_ASSERT_TRUE(sp_view_eq(said.url, sp_view_str("http://a.example/7?sid=1")));
    ask(p, "http://a.example/7?sid=5", &own);
    CU_ASSERT_EQUAL(sp_rule_confidence(said.rule), sp_rule_confidence(own.rule));
    sp_predictor_free(p);
    sp_predictor_free(q);
}

TEST(a_rule_that_others_learned_expires)
{
    struct sp_predictor *p = sp_predictor_new(), *q = sp_predictor_new();
    struct sp_prediction said;
    learn_visitors(p, "http://a.example/%u?sid=%u", 500, true);
    take_rules(q, p);
    learn_visitors(q, "http://a.example/%u?sid=%u", 3, false); /* here it is wrong */
    CU_ASSERT_TRUE(ask(q, "http://a.example/1?sid=5", &said) < 0.5);
    take_rules(q, p);
    learn(q, 7, "http://a.example/%u?sid=%u", 7, 1);
    CU_ASSERT_TRUE(ask(q, "http://a.example/7?sid=5", &said) > 0.9);
    size_t count = 0;
    const struct sp_rule **rules = sp_predict_rules(p, 0, &count);
    for (size_t i = 0; i < count; i++) { /* the others have found out as well */
        struct sp_rule gone = *rules[i];
        gone.support = gone.against = 0;
        sp_predict_set_rule(q, &gone);
        sp_predict_set_rule(q, &gone);
    }
    sp_free(rules);
    CU_ASSERT_EQUAL(ask(q, "http://a.example/7?sid=5", &said), 0);
    sp_predictor_free(p);
    sp_predictor_free(q);
}

/* ---- hosts with very many parameters, visitor ids and directories ---- */

static uint64_t touched; /* rows of tables that were looked up or added */
void *__real_sp_map_get(const struct sp_map *map, struct sp_id key);
void *__wrap_sp_map_get(const struct sp_map *map, struct sp_id key);
void __real_sp_map_add(struct sp_map *map, void *object);
void __wrap_sp_map_add(struct sp_map *map, void *object);

void *__wrap_sp_map_get(const struct sp_map *map, struct sp_id key)
{
    touched++;
    return __real_sp_map_get(map, key);
}

void __wrap_sp_map_add(struct sp_map *map, void *object)
{
    touched++;
    __real_sp_map_add(map, object);
}

/* What the i-th fetch of a crawl of one host is. */
struct skew {
    const char *name;
    void (*url)(unsigned i, char *ret_url, size_t size);
    bool grows; /* the rules do, with the fetches, but not faster */
};

static void visitors_of_a_page(unsigned i, char *url, size_t size)
{
    snprintf(url, size, "http://a.example/page?sid=%u", 100000 + i);
}

static void visitors_of_pages(unsigned i, char *url, size_t size)
{
    snprintf(url, size, "http://a.example/page-%u?sid=%u", i / 8, 100000 + i);
}

static void visitors_in_paths(unsigned i, char *url, size_t size)
{
    snprintf(url, size, "http://a.example/session%08u/page-%u", i, i / 8);
}

/* A page, and then the same with one parameter after the other. */
static void names_without_end(unsigned i, char *url, size_t size)
{
    if (i % 8 == 0)
        snprintf(url, size, "http://a.example/page-%u", i / 8);
    else
        snprintf(url, size, "http://a.example/page-%u?p%u=1", i / 8, i);
}

static void long_queries(unsigned i, char *url, size_t size)
{
    size_t n = (size_t)snprintf(url, size, "http://a.example/page?sid=%u", 100000 + i);
    for (unsigned k = 0; k < 40; k++)
        n += (size_t)snprintf(url + n, size - n, "&p%u=%u", k, (i >> (k % 8)) & 1);
}

static void deep_paths(unsigned i, char *url, size_t size)
{
    size_t n = (size_t)snprintf(url, size, "http://a.example");
    for (unsigned k = 0; k < 11; k++)
        n += (size_t)snprintf(url + n, size - n, "/d%u", i % 11 == k ? i / 11 % 4 : 0);
    snprintf(url + n, size - n, "/page.html?a=1&b=2");
}

static void pages_of_a_directory(unsigned i, char *url, size_t size)
{
    snprintf(url, size, "http://a.example/dir/p%u", i);
}

struct cost {
    double mean;   /* rows a fetch */
    uint64_t most; /* of one fetch */
    uint64_t ask;  /* of one prediction, at the end */
    size_t rules;
};

static struct cost cost_of(const struct skew *skew, unsigned fetches)
{
    struct sp_predictor *p = sp_predictor_new();
    struct sp_prediction said;
    struct cost cost = {0};
    char url[600];
    for (unsigned i = 0; i < fetches; i++) {
        skew->url(i, url, sizeof url);
        touched = 0;
        sp_predict_learn(p, sp_view_str(url), content(i / 8));
        cost.mean += (double)touched / fetches;
        cost.most = touched > cost.most ? touched : cost.most;
    }
    for (unsigned i = 0; i < 16; i++) {
        skew->url(fetches + i, url, sizeof url);
        touched = 0;
        ask(p, url, &said);
        cost.ask = touched > cost.ask ? touched : cost.ask;
    }
    const struct sp_rule **rules = sp_predict_rules(p, 0, &cost.rules);
    sp_free(rules);
    sp_predictor_free(p);
    return cost;
}

TEST(a_fetch_of_a_skewed_host_costs_the_same_in_a_crawl_four_times_as_long)
{
    enum { FETCHES = 2000, LEARN_MOST = 220, ASK_MOST = 31 * 5 };
    static const struct skew kinds[] = {{"visitors of a page", visitors_of_a_page, false},
                                        {"visitors of pages", visitors_of_pages, true},
                                        {"visitors in paths", visitors_in_paths, true},
                                        {"names without end", names_without_end, true},
                                        {"long queries", long_queries, false},
                                        {"deep paths", deep_paths, false},
                                        {"pages of a directory", pages_of_a_directory, true}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct cost few = cost_of(&kinds[k], FETCHES), many = cost_of(&kinds[k], 4 * FETCHES);
        printf("%s: %.1f and %.1f rows a fetch, at most %u and %u; %u and %u to predict; "
               "%zu and %zu rules\n",
               kinds[k].name, few.mean, many.mean, (unsigned)few.most, (unsigned)many.most,
               (unsigned)few.ask, (unsigned)many.ask, few.rules, many.rules);
        CU_ASSERT_TRUE(many.mean <= 1.05 * few.mean);
        CU_ASSERT_TRUE(many.most <= LEARN_MOST);
        CU_ASSERT_TRUE(many.ask <= ASK_MOST);
        CU_ASSERT_TRUE(many.rules <= (kinds[k].grows ? 4 * few.rules + 16 : few.rules));
    }
}

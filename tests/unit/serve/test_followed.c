/* Rules that others have learned: lines of the topic as rules, what predicts by them, and whether
 * the server is ready. */
#include <stdio.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "harness.h"
#include "serve/handler.h"
#include "serve/predictions.h"
#include "serve/rule_line.h"

static int64_t later_ms;
int64_t __real_sp_clock_ms(void);
int64_t __wrap_sp_clock_ms(void);

int64_t __wrap_sp_clock_ms(void)
{
    return __real_sp_clock_ms() + later_ms;
}

/* ---- lines ---- */

static void learn(struct sp_predictor *p, const char *host, unsigned page, unsigned visit,
                  unsigned text)
{
    char url[100], content[16];
    snprintf(url, sizeof url, "http://%s/%u?sid=%u", host, page, visit);
    int n = snprintf(content, sizeof content, "%u", text);
    sp_predict_learn(p, sp_view_str(url), sp_hash128(content, (size_t)n));
}

/* On a.example visits show the same page, on b.example each another one. */
static struct sp_predictor *learned(unsigned pages)
{
    struct sp_predictor *p = sp_predictor_new();
    for (unsigned i = 0; i < pages; i++)
        for (unsigned visit = 0; visit < 2; visit++) {
            learn(p, "a.example", i, 2 * i + visit, i);
            learn(p, "b.example", i, 2 * i + visit, 1000 + 2 * i + visit);
        }
    return p;
}

TEST(a_line_reads_back_as_its_rule)
{
    struct sp_rule_reader *reader = sp_rule_reader_new();
    struct sp_predictor *p = learned(30);
    size_t count = 0;
    const struct sp_rule **rules = sp_predict_rules(p, 0, &count);
    CU_ASSERT_TRUE_FATAL(count > 3);
    for (size_t i = 0; i < count; i++) {
        struct sp_buf line = {0}, again = {0};
        struct sp_rule rule;
        sp_rule_put(&line, rules[i]);
        CU_ASSERT_EQUAL_FATAL(sp_rule_read(reader, sp_view(line.data, line.len - 1), &rule), SP_OK);
        sp_rule_put(&again, &rule);
        CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&line), sp_buf_view(&again)));
        sp_rule_done(&rule);
        sp_buf_done(&line);
        sp_buf_done(&again);
    }
    sp_free(rules);
    sp_predictor_free(p);
    sp_rule_reader_free(reader);
}

#define LINE(host, kind, from, to, support, recent)                                                \
    "{\"host\":" host ",\"kind\":" kind ",\"name\":\"sid\",\"from\":" from ",\"to\":" to           \
    ",\"confidence\":0.9,\"support\":" support ",\"against\":0,\"example\":[null,null],"           \
    "\"recent_support\":" recent ",\"recent_against\":0}"
#define GOOD LINE("\"a.example\"", "\"parameter\"", "null", "null", "3", "2.5")

TEST(a_line_that_is_no_rule_is_refused)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "7",
        "{}",
        GOOD GOOD,
        LINE("null", "\"parameter\"", "null", "null", "3", "2.5"),
        LINE("7", "\"parameter\"", "null", "null", "3", "2.5"),
        LINE("\"a\\u0000b\"", "\"parameter\"", "null", "null", "3", "2.5"),
        LINE("\"a.example\"", "\"other\"", "null", "null", "3", "2.5"),
        LINE("\"a.example\"", "null", "null", "null", "3", "2.5"),
        LINE("\"a.example\"", "\"parameter\"", "\"x\"", "null", "3", "2.5"),
        LINE("\"a.example\"", "\"parameter\"", "null", "\"x\"", "3", "2.5"),
        LINE("\"a.example\"", "\"parameter\"", "null", "null", "-3", "2.5"),
        LINE("\"a.example\"", "\"parameter\"", "null", "null", "3", "-2.5"),
        LINE("\"a.example\"", "\"parameter\"", "null", "null", "3", "1e300"),
        LINE("\"a.example\"", "\"parameter\"", "null", "null", "3", "\"2.5\"")};
    struct sp_rule_reader *reader = sp_rule_reader_new();
    struct sp_rule rule = {.pairs = {7, 7}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(sp_rule_read(reader, sp_view_str(wrong[i]), &rule), SP_MALFORMED);
    CU_ASSERT_EQUAL(rule.pairs[0], 7);
    for (size_t length = 0; length < sizeof GOOD - 1; length++)
        CU_ASSERT_EQUAL(sp_rule_read(reader, sp_view(GOOD, length), &rule), SP_MALFORMED);
    CU_ASSERT_EQUAL_FATAL(sp_rule_read(reader, sp_view_str(GOOD), &rule), SP_OK);
    CU_ASSERT_TRUE(rule.any && rule.support == 2.5 && rule.pairs[1] == 3);
    sp_rule_done(&rule);
    sp_rule_reader_free(reader);
}

/* ---- following ---- */

/* What the source says. */
static struct {
    struct sp_buf lines;
    bool fails;
} topic;

static enum sp_err read_topic(void *arg, struct sp_buf *lines, bool *ret_changed,
                              struct sp_fault *fault)
{
    (void)arg;
    if (topic.fails)
        return sp_fault_set(fault, SP_BUSY, "no broker");
    sp_buf_put_view(lines, sp_buf_view(&topic.lines));
    *ret_changed = true;
    return SP_OK;
}

static struct sp_followed *follow(void)
{
    struct sp_followed *f = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(
        sp_followed_start(&(struct sp_serve_rules_source){.read = read_topic}, &f, &fault), SP_OK);
    return f;
}

static double sure(const struct sp_predictor *p, const char *url)
{
    struct sp_prediction said;
    return sp_predict_ask(p, sp_view_str(url), 0, &said) ? said.confidence : 0;
}

static void check_same_predictions(const struct sp_predictor *p, const struct sp_predictor *q)
{
    static const char *const urls[] = {
        "http://a.example/7?sid=999", "http://b.example/7?sid=999", "https://a.example/7?sid=14",
        "http://a.example/7?sid=14&a=1", "http://c.example/7?sid=14"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        CU_ASSERT_DOUBLE_EQUAL(sure(p, urls[i]), sure(q, urls[i]), 1e-6);
}

TEST(the_rules_of_a_server_with_the_same_pages_predict_the_same)
{
    struct sp_predictor *theirs = learned(40), *ours = learned(40);
    topic.fails = false;
    sp_predictions_put_rules(theirs, SP_SERVE_RULE_CONFIDENCE, &topic.lines);
    struct sp_followed *f = follow();
    CU_ASSERT_TRUE(sp_followed_version(f) > 0);
    sp_followed_apply(f, ours);
    CU_ASSERT_TRUE(sure(ours, "http://a.example/7?sid=999") > 0.9);
    check_same_predictions(ours, theirs);
    sp_predictor_free(ours);
    ours = learned(2); /* fewer pages: the rules are as sure */
    CU_ASSERT_TRUE(sure(ours, "http://a.example/1?sid=999") < 0.7);
    sp_followed_apply(f, ours);
    CU_ASSERT_TRUE(sure(ours, "http://a.example/1?sid=999") > 0.9);
    sp_followed_stop(f);
    sp_buf_reset(&topic.lines); /* all have expired: what the own pages say is not enough */
    f = follow();
    sp_predictor_free(ours);
    ours = learned(40);
    sp_followed_apply(f, ours);
    CU_ASSERT_TRUE(sure(ours, "http://a.example/7?sid=999") < 0.5);
    sp_followed_stop(f);
    sp_predictor_free(ours);
    sp_predictor_free(theirs);
    sp_buf_done(&topic.lines);
}

static unsigned ready(struct sp_serve *s)
{
    struct sp_serve_thread thread = {.serve = s};
    unsigned status = sp_handle_readyz(s, &thread, &(struct sp_query){.path = "/readyz"});
    sp_buf_done(&thread.out);
    return status;
}

TEST(a_server_that_cannot_read_the_rules_is_not_ready)
{
    struct sp_serve s = {0};
    struct sp_followed_stats stats;
    sp_buf_put_str(&topic.lines, GOOD "\nno rule\n");
    topic.fails = false;
    s.followed = follow();
    s.counters.refreshed_ms = sp_clock_ms();
    sp_followed_stats(s.followed, &stats);
    CU_ASSERT_EQUAL(stats.rules, 1);
    CU_ASSERT_EQUAL(stats.unreadable, 1);
    CU_ASSERT_EQUAL(stats.failures, 0);
    CU_ASSERT_EQUAL(ready(&s), MHD_HTTP_OK);
    later_ms = 31000;
    s.counters.refreshed_ms = sp_clock_ms();
    CU_ASSERT_EQUAL(ready(&s), MHD_HTTP_SERVICE_UNAVAILABLE);
    later_ms = 0;
    sp_followed_stop(s.followed);
    sp_buf_done(&topic.lines);
}

TEST(without_a_topic_the_server_does_not_start)
{
    struct sp_followed *f = NULL;
    struct sp_fault fault = {""};
    topic.fails = true;
    CU_ASSERT_EQUAL(
        sp_followed_start(&(struct sp_serve_rules_source){.read = read_topic}, &f, &fault),
        SP_BUSY);
    CU_ASSERT_STRING_EQUAL(fault.text, "no broker");
    CU_ASSERT_PTR_NULL(f);
    topic.fails = false;
}

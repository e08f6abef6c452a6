/* The public calls of include/samepage/predict.h. */
#include <math.h>

#include "base/mem.h"
#include "base/url.h"
#include "predict/predict.h"
#include "samepage/predict.h"

static const double EXPLORE = 0.01;
static const double EVIDENCE_MAX = 1e9; /* evidence fades, so no rule has more */

struct samepage_predictor {
    struct sp_predictor *rules;
    double explore;         /* share of the predicted fetches that are made nevertheless */
    struct sp_buf url;      /* scratch: canonical */
    struct sp_buf said_url; /* of the last prediction */
    struct sp_buf said_rule;
};

struct samepage_predictor *samepage_predictor_new(void)
{
    struct samepage_predictor *p = sp_calloc(1, sizeof *p);
    p->rules = sp_predictor_new();
    p->explore = EXPLORE;
    return p;
}

void samepage_predictor_free(struct samepage_predictor *predictor)
{
    if (!predictor)
        return;
    sp_predictor_free(predictor->rules);
    sp_buf_done(&predictor->url);
    sp_buf_done(&predictor->said_url);
    sp_buf_done(&predictor->said_rule);
    sp_free(predictor);
}

int samepage_predictor_explore(struct samepage_predictor *predictor, double share)
{
    if (!(share >= 0 && share <= 1))
        return -1;
    predictor->explore = share;
    return 0;
}

static bool canonical(const char *url, struct sp_buf *out)
{
    sp_buf_reset(out);
    return url && sp_url_canonical(sp_view_str(url), out) == SP_OK;
}

int samepage_predict_learn(struct samepage_predictor *predictor, const char *url,
                           const void *content, size_t length)
{
    if (!canonical(url, &predictor->url))
        return -1;
    sp_predict_learn(predictor->rules, sp_buf_view(&predictor->url), sp_hash128(content, length));
    return 0;
}

void samepage_predict_forget(struct samepage_predictor *predictor, const char *url)
{
    if (canonical(url, &predictor->url))
        sp_predict_forget(predictor->rules, sp_buf_view(&predictor->url));
}

static bool is_evidence(double pairs)
{
    return pairs >= 0 && pairs <= EVIDENCE_MAX;
}

int samepage_predict_rule(struct samepage_predictor *predictor,
                          const struct samepage_url_rule *rule)
{
    if (!rule->host || !rule->kind || !rule->name || !rule->from != !rule->to ||
        sp_rule_kind(rule->kind) == SP_FEATURE_KINDS || !is_evidence(rule->recent_support) ||
        !is_evidence(rule->recent_against))
        return -1;
    const struct sp_rule taken = {.kind = sp_rule_kind(rule->kind),
                                  .any = !rule->from,
                                  .host = (char *)(uintptr_t)rule->host,
                                  .name = (char *)(uintptr_t)rule->name,
                                  .from = (char *)(uintptr_t)rule->from,
                                  .to = (char *)(uintptr_t)rule->to,
                                  .support = rule->recent_support,
                                  .against = rule->recent_against,
                                  .pairs = {(uint64_t)llround(rule->recent_against),
                                            (uint64_t)llround(rule->recent_support)}};
    sp_predict_set_rule(predictor->rules, &taken);
    return 0;
}

int samepage_predict(struct samepage_predictor *predictor, const char *url, double confidence,
                     struct samepage_prediction *prediction)
{
    struct sp_prediction said;
    struct sp_buf *to = &predictor->said_url, *rule = &predictor->said_rule;
    if (!canonical(url, &predictor->url) ||
        !sp_predict_ask(predictor->rules, sp_buf_view(&predictor->url), confidence, &said))
        return 0;
    sp_buf_reset(to);
    sp_buf_put_view(to, said.url);
    sp_buf_put_u8(to, 0);
    sp_buf_reset(rule);
    sp_rule_put(rule, said.rule);
    rule->data[rule->len - 1] = 0; /* replaces its newline */
    *prediction = (struct samepage_prediction){
        to->data, said.confidence, rule->data,
        sp_predict_explores(sp_buf_view(&predictor->url), predictor->explore)};
    return 1;
}

int samepage_predict_explores(const char *url, double share)
{
    struct sp_buf text = {0};
    bool chosen = canonical(url, &text) && sp_predict_explores(sp_buf_view(&text), share);
    sp_buf_done(&text);
    return chosen;
}

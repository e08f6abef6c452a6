/* See predictions.h. */
#include "serve/predictions.h"

#include <stdlib.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "base/url.h"
#include "serve/serve.h"

struct fetched {
    int64_t version;
    size_t url; /* offset in the texts, NUL-terminated */
    struct sp_id winner;
};

struct pages {
    struct fetched *items;
    size_t count;
    size_t cap;
    struct sp_buf texts;
    struct sp_buf url; /* scratch */
};

static void note(void *arg, const struct sp_page_view *v)
{
    struct pages *p = arg;
    bool copy = v->status == SP_STATUS_LOSER && v->reason != SP_REASON_REDIRECT && v->winner_url;
    if (!copy && !sp_status_is_kept(v->status))
        return;
    struct sp_id winner = v->page;
    if (copy && sp_url_page(sp_view_str(v->winner_url), &p->url, &winner) != SP_OK)
        return;
    sp_buf_reset(&p->url);
    if (sp_url_canonical(sp_view_str(v->url), &p->url) != SP_OK)
        return;
    sp_grow(&p->items, &p->cap, p->count + 1);
    p->items[p->count++] = (struct fetched){v->version, p->texts.len, winner};
    sp_buf_put_view(&p->texts, sp_buf_view(&p->url));
    sp_buf_put_u8(&p->texts, 0);
}

static int by_version(const void *a, const void *b, void *texts)
{
    const struct fetched *x = a, *y = b;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    return strcmp((char *)texts + x->url, (char *)texts + y->url);
}

enum sp_err sp_predictions_learn(struct sp_state_reader *r, struct sp_predictor **ret_predictor)
{
    struct pages p = {0};
    enum sp_err err = sp_state_each_page(r, note, &p);
    if (err == SP_OK) {
        struct sp_predictor *predictor = sp_predictor_new();
        if (p.count > 0)
            qsort_r(p.items, p.count, sizeof *p.items, by_version, p.texts.data);
        for (size_t i = 0; i < p.count; i++)
            sp_predict_learn(predictor, sp_view_str(p.texts.data + p.items[i].url),
                             p.items[i].winner);
        *ret_predictor = predictor;
    }
    sp_free(p.items);
    sp_buf_done(&p.texts);
    sp_buf_done(&p.url);
    return err;
}

void sp_predictions_put(const struct sp_predictor *p, struct sp_view url, double confidence,
                        double explore, struct sp_buf *out)
{
    struct sp_prediction said;
    bool found = sp_predict_ask(p, url, confidence, &said);
    bool explored = found && sp_predict_explores(url, explore);
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_string(out, url);
    sp_buf_put_str(out, ",\"duplicate_of\":");
    if (found)
        sp_json_put_string(out, said.url);
    else
        sp_json_put_text(out, NULL);
    sp_buf_put_str(out, ",\"confidence\":");
    sp_json_put_float(out, found ? (float)said.confidence : 0);
    sp_buf_put_str(out, ",\"fetch\":");
    sp_buf_put_str(out, !found || explored ? "true" : "false");
    sp_buf_put_str(out, ",\"explore\":");
    sp_buf_put_str(out, explored ? "true" : "false");
    sp_buf_put_str(out, ",\"rule\":");
    if (found) {
        sp_rule_put(out, said.rule);
        out->len--; /* without its newline */
    } else {
        sp_json_put_text(out, NULL);
    }
    sp_buf_put_str(out, "}\n");
}

void sp_predictions_put_rules(const struct sp_predictor *p, double confidence, struct sp_buf *out)
{
    size_t count = 0;
    const struct sp_rule **rules = sp_predict_rules(p, confidence, &count);
    for (size_t i = 0; i < count; i++)
        sp_rule_put(out, rules[i]);
    sp_free(rules);
}

/* ---- for `samepage rules` ---- */

enum sp_err sp_serve_rules(const char *state, uint32_t tier1, double confidence, struct sp_buf *out,
                           struct sp_fault *fault)
{
    struct sp_state *s = NULL;
    struct sp_predictor *p = NULL;
    enum sp_err err = sp_state_open(state, tier1, &s, fault);
    if (err != SP_OK)
        return err;
    struct sp_state_reader *r = sp_state_reader_new(s);
    sp_state_begin(r);
    err = sp_predictions_learn(r, &p);
    sp_state_end(r);
    if (err == SP_OK)
        sp_predictions_put_rules(p, confidence, out);
    else
        sp_fault_set(fault, err, "%s: the pages cannot be read: %s", state, sp_err_text(err));
    sp_predictor_free(p);
    sp_state_reader_free(r);
    sp_state_close(s);
    return err;
}

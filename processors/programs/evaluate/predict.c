/* Prediction before the fetch: how many first fetches of URLs the rules save, and how many pages
 * are lost by that.
 *
 * Each trace is replayed fetch by fetch. Before the first fetch of a URL the predictor
 * (predict/predict.h) is queried; it has learned only from the fetches before it. A fetch predicted
 * with enough confidence is skipped: the predictor does not learn from it, and the page is lost if
 * it is unique, that is, near no page seen before it in the trace, skipped or not. The share
 * `predict.explore` of the predicted fetches is made nevertheless, and learned from. Each
 * confidence needs a replay of its own, because skipped fetches change what is learned.
 *
 * The alternative it is compared with: keys of URLs, from files that the user names (`--keys`). A
 * URL is skipped if a page fetched before has the same key. */
#include "predict/predict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/url.h"
#include "evaluate/crawls.h"
#include "evaluate/experiment.h"
#include "similarity/similarity.h"
#include "stars/stars.h"

static const double confidences[] = {0.2,  0.4,  0.5,  0.6,  0.7,  0.8,  0.85,  0.88, 0.9,   0.91,
                                     0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99};
static const double limits[] = {0.01, 0.001};

enum { CONFIDENCES = sizeof confidences / sizeof *confidences };

struct outcome {
    uint64_t saved;
    uint64_t lost;     /* of these, unique */
    uint64_t other;    /* of these, not near the page that was predicted */
    uint64_t explored; /* predicted, but fetched nevertheless */
};

/* What is known about a trace. */
struct truth {
    const struct sp_crawl *crawl;
    const struct sp_similarity_options *similarity;
    double explore; /* predict.explore */
    bool *first;    /* by fetch: the first of its URL, and it has content */
    bool *unique;   /* by fetch, of these: near nothing before it */
    uint64_t firsts;
    uint64_t uniques;
};

/* ---- what is known ---- */

/* For each content, whether it is near one with a smaller number. Contents are numbered in order of
 * appearance. */
static enum sp_err find_near_earlier(const struct truth *t, bool *near)
{
    const struct sp_crawl *c = t->crawl;
    struct sp_stars *stars =
        sp_stars_new(&(struct sp_stars_options){.similarity = *t->similarity,
                                                .signature = sp_stars_signature_in_array,
                                                .name = sp_stars_name_in_array,
                                                .arg = c->contents});
    struct sp_stars_domain *domain = sp_stars_domain_new(stars, 0, false);
    enum sp_err err = c->content_count < SP_STARS_ROWS ? SP_OK : SP_TOO_LARGE;
    for (uint32_t i = 0; i < c->content_count && err == SP_OK; i++) {
        struct sp_touches touches = {0};
        if (c->contents[i]->shingle_total > 0)
            err = sp_stars_insert(domain, i, c->contents[i], &touches);
        near[i] = touches.count > 0;
    }
    sp_stars_free(stars);
    sp_stars_domain_free(domain);
    return err;
}

static enum sp_err find_truth(struct truth *t)
{
    const struct sp_crawl *c = t->crawl;
    bool *near = sp_calloc(c->content_count + 1, sizeof *near);
    enum sp_err err = find_near_earlier(t, near);
    bool *page_seen = sp_calloc(c->page_count + 1, sizeof *page_seen);
    bool *content_seen = sp_calloc(c->content_count + 1, sizeof *content_seen);
    t->first = sp_calloc(c->fetch_count + 1, sizeof *t->first);
    t->unique = sp_calloc(c->fetch_count + 1, sizeof *t->unique);
    for (size_t i = 0; i < c->fetch_count; i++) {
        const struct sp_crawl_fetch *f = &c->fetches[i];
        if (f->kind != SP_PAGE_CONTENT)
            continue;
        t->first[i] = !page_seen[f->page];
        t->unique[i] = t->first[i] && !near[f->content] && !content_seen[f->content];
        t->firsts += t->first[i];
        t->uniques += t->unique[i];
        page_seen[f->page] = content_seen[f->content] = true;
    }
    sp_free(near);
    sp_free(page_seen);
    sp_free(content_seen);
    return err;
}

static bool same_content(void *arg, uint64_t a, uint64_t b)
{
    const struct truth *t = arg;
    return a == b || sp_similar(t->similarity, t->crawl->contents[a], t->crawl->contents[b], NULL);
}

static struct sp_view url_of(const struct truth *t, uint32_t page, struct sp_buf *url)
{
    sp_buf_reset(url);
    sp_url_canonical(sp_view_str(t->crawl->pages[page]->url), url);
    return sp_buf_view(url);
}

/* ---- a replay with rules ---- */

static struct outcome replay(struct truth *t, double confidence)
{
    const struct sp_crawl *c = t->crawl;
    struct sp_predictor *p = sp_predictor_new();
    struct outcome outcome = {0};
    bool *skipped = sp_calloc(c->page_count + 1, sizeof *skipped);
    struct sp_buf url_text = {0};
    struct sp_prediction said;
    for (size_t i = 0; i < c->fetch_count; i++) {
        const struct sp_crawl_fetch *f = &c->fetches[i];
        if (skipped[f->page] || f->late)
            continue;
        struct sp_view url = url_of(t, f->page, &url_text);
        if (f->kind != SP_PAGE_CONTENT) {
            sp_predict_forget(p, url);
            continue;
        }
        bool predicted = t->first[i] && sp_predict_ask(p, url, confidence, &said);
        bool explored = predicted && sp_predict_explores(url, t->explore);
        outcome.explored += explored;
        if (predicted && !explored) {
            skipped[f->page] = true;
            outcome.saved++;
            outcome.lost += t->unique[i];
            outcome.other += !same_content(t, said.number, f->content);
            continue;
        }
        sp_predict_learn_by(p, url, f->content, same_content, t);
    }
    sp_buf_done(&url_text);
    sp_free(skipped);
    sp_predictor_free(p);
    return outcome;
}

/* ---- keys made by others ---- */

struct key {
    struct sp_id url; /* of the map: first */
    struct sp_id key;
};

struct met {
    struct sp_id key; /* of the map: first */
    uint32_t content;
};

/* Reads lines of URL, tab, key. */
static enum sp_err read_keys(const char *file, struct sp_map *keys, struct sp_fault *fault)
{
    FILE *in = fopen(file, "r");
    struct sp_buf url = {0};
    char *line = NULL;
    size_t cap = 0;
    if (!in)
        return sp_fault_set(fault, SP_IO, "--keys %s: cannot be read: %s", file, strerror(errno));
    for (ssize_t n; (n = getline(&line, &cap, in)) > 0;) {
        char *tab = memchr(line, '\t', (size_t)n);
        line[strcspn(line, "\n")] = 0;
        sp_buf_reset(&url);
        if (!tab || sp_url_canonical(sp_view(line, (size_t)(tab - line)), &url) != SP_OK)
            continue;
        struct sp_id id = sp_hash128(url.data, url.len);
        if (sp_map_get(keys, id))
            continue;
        struct key *k = sp_alloc(sizeof *k);
        *k = (struct key){id, sp_hash128(tab + 1, strlen(tab + 1))};
        sp_map_add(keys, k);
    }
    sp_buf_done(&url);
    free(line);
    fclose(in);
    return SP_OK;
}

static struct outcome replay_keys(struct truth *t, const struct sp_map *keys)
{
    const struct sp_crawl *c = t->crawl;
    struct outcome outcome = {0};
    struct sp_map met = {0};
    bool *skipped = sp_calloc(c->page_count + 1, sizeof *skipped);
    struct sp_buf url_text = {0};
    for (size_t i = 0; i < c->fetch_count; i++) {
        const struct sp_crawl_fetch *f = &c->fetches[i];
        struct sp_view url = url_of(t, f->page, &url_text);
        const struct key *k = sp_map_get(keys, sp_hash128(url.data, url.len));
        if (skipped[f->page] || f->late || f->kind != SP_PAGE_CONTENT || !k)
            continue;
        struct met *m = sp_map_get(&met, k->key);
        if (t->first[i] && m) {
            skipped[f->page] = true;
            outcome.saved++;
            outcome.lost += t->unique[i];
            outcome.other += !same_content(t, m->content, f->content);
            continue;
        }
        if (!m) {
            m = sp_alloc(sizeof *m);
            m->key = k->key;
            sp_map_add(&met, m);
        }
        m->content = f->content;
    }
    sp_map_free_objects(&met);
    sp_buf_done(&url_text);
    sp_free(skipped);
    return outcome;
}

/* ---- report ---- */

static void put_outcome(struct sp_table *table, const char *trace, const char *way,
                        const struct truth *t, const struct outcome *o)
{
    sp_table_text(table, trace);
    sp_table_text(table, way);
    sp_table_count(table, t->firsts);
    sp_table_count(table, o->saved);
    sp_table_percent(table, t->firsts ? (double)o->saved / (double)t->firsts : 0, 2);
    sp_table_count(table, t->uniques);
    sp_table_count(table, o->lost);
    sp_table_percent(table, t->uniques ? (double)o->lost / (double)t->uniques : 0, 3);
    sp_table_count(table, o->other);
    sp_table_count(table, o->explored);
}

static void put_limits(struct sp_table *table, const char *trace, const struct truth *t,
                       const struct outcome outcomes[CONFIDENCES])
{
    char way[64];
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        size_t best = CONFIDENCES;
        for (size_t i = 0; i < CONFIDENCES; i++)
            if ((double)outcomes[i].lost <= limits[l] * (double)t->uniques &&
                (best == CONFIDENCES || outcomes[i].saved > outcomes[best].saved))
                best = i;
        struct outcome none = {0};
        if (best == CONFIDENCES)
            snprintf(way, sizeof way, "rules, at most %g %% lost: none", 100 * limits[l]);
        else
            snprintf(way, sizeof way, "rules, at most %g %% lost (confidence %g)", 100 * limits[l],
                     confidences[best]);
        put_outcome(table, trace, way, t, best == CONFIDENCES ? &none : &outcomes[best]);
    }
}

static enum sp_err put_keys(struct sp_evaluation *e, struct sp_table *table, const char *trace,
                            struct truth *t)
{
    for (size_t i = 0; i < e->options->key_count; i++) {
        struct sp_map keys = {0};
        enum sp_err err = read_keys(e->options->keys[i], &keys, e->fault);
        if (err == SP_OK) {
            const char *slash = strrchr(e->options->keys[i], '/');
            struct outcome o = replay_keys(t, &keys);
            put_outcome(table, trace, slash ? slash + 1 : e->options->keys[i], t, &o);
        }
        sp_map_free_objects(&keys);
        if (err != SP_OK)
            return err;
    }
    return SP_OK;
}

static enum sp_err measure(struct sp_evaluation *e, const struct sp_trace_file *file,
                           struct sp_table *at_limits, struct sp_table *all, uint64_t *least)
{
    struct outcome outcomes[CONFIDENCES];
    struct sp_crawl *crawl = sp_evaluate_crawl(e->trace, file);
    struct truth t = {.crawl = crawl,
                      .similarity = &e->options->bus.group.similarity,
                      .explore = e->options->explore};
    enum sp_err err = find_truth(&t);
    if (err != SP_OK)
        sp_fault_set(e->fault, err, "predict: the contents of %s cannot be compared: %s",
                     file->name, sp_err_text(err));
    *least = t.firsts < *least ? t.firsts : *least;
    for (size_t i = 0; i < CONFIDENCES && err == SP_OK; i++) {
        char way[32];
        sp_evaluation_say(e, "predicting", i, CONFIDENCES);
        outcomes[i] = replay(&t, confidences[i]);
        snprintf(way, sizeof way, "%g", confidences[i]);
        put_outcome(all, file->name, way, &t, &outcomes[i]);
    }
    if (err == SP_OK) {
        put_limits(at_limits, file->name, &t, outcomes);
        err = put_keys(e, at_limits, file->name, &t);
    }
    sp_free(t.first);
    sp_free(t.unique);
    sp_crawl_free(crawl);
    return err;
}

static enum sp_err run(struct sp_evaluation *e)
{
    static const char *const columns[] = {"trace",        "way",     "new URLs", "saved",
                                          "share",        "unique",  "lost",     "share of unique",
                                          "another page", "explored"};
    static const char *const curve[] = {"trace",        "confidence", "new URLs", "saved",
                                        "share",        "unique",     "lost",     "share of unique",
                                        "another page", "explored"};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    struct sp_table *at_limits = sp_table_new("predict", "First fetches saved", columns, COLUMNS);
    struct sp_table *all =
        sp_table_new("predict-confidence", "The same for each least confidence", curve, COLUMNS);
    enum sp_err err = SP_OK;
    uint64_t least = UINT64_MAX; /* new URLs of a trace */
    for (size_t i = 0; i < e->trace->file_count && err == SP_OK; i++)
        err = measure(e, &e->trace->files[i], at_limits, all, &least);
    sp_report_text(
        e->report,
        "Before the first fetch of a URL, rules learned from earlier fetches predict whether it "
        "leads to a known page. Saved: fetches not made. Lost: skipped pages that are near "
        "duplicates of no earlier page. Another page: skipped pages that are not near duplicates "
        "of the predicted page. Explored: fetches that were predicted to be duplicates and made "
        "nevertheless, so that the rules get new evidence (predict.explore).");
    sp_report_sample(e->report, least, SP_ENOUGH_PAGES, "new URLs");
    sp_report_table(e->report, at_limits);
    sp_report_table(e->report, all);
    return err;
}

const struct sp_experiment sp_experiment_predict = {
    "predict", "Duplicates predicted before the fetch", run, 0.3, 0};

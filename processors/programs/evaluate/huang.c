/* Tables 1 and 2 of Huang, Wang and Li, CIKM 2008, on labelled data: sets of similar pages by
 * simhash, by cosine, by their own partition (lcs_sets.h), and by the same LCS as groups are made
 * here, from the components of similar pairs; and their partition after each of its stages.
 *
 * As in the paper, precision and recall are those of a sample of sets. A set's representative is
 * the page with most truly similar pages in the set; labels say which those are, in place of the
 * paper's human judges. Precision is the share of the set that is truly similar to its
 * representative, itself included. For recall the representatives are those of the LCS sets, and of
 * each it is how many of its truly similar pages are in its set, over how many are by simhash, so
 * that simhash has 1. Of one site: only pages of the representative's host count. Where only some
 * pairs are labelled, pages of other pairs are left out. Times are processor time of one thread. */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "evaluate/experiment.h"
#include "evaluate/judge.h"
#include "evaluate/scores.h"
#include "similarity/connected.h"
#include "similarity/lcs_sets.h"
#include "text/text.h"

enum { PAIRS_TIMED = 2000, FEW = 21 };
enum way { SIMHASH, COSINE, LCS_PAPER, LCS_COMPONENTS, WAYS };

static const char *const names[WAYS] = {"simhash", "cosine", "lcs, sets of the paper",
                                        "lcs, components"};
static const double printed[WAYS][4] = {
    {0.72, 1, 0.52, 1}, {0.82, 1.19, 0.63, 1}, {0.95, 1.86, 0.91, 1.03}, {0}};

struct sets {
    uint32_t *of; /* for each page, a page that represents its set */
    double seconds;
    double figures[4]; /* precision, recall, both of one site; below 0: none */
};

struct trial {
    const struct sp_evaluation *e;
    const struct sp_labelled *set;
    uint32_t *truth;
    struct sp_judge judge;
    struct sp_signature **signatures;
    struct sets ways[WAYS];
    /* stages of the partition */
    uint32_t *perhaps;
    uint32_t *untrusted;
    struct sp_lcs_counts counts[2];
    double seconds[3]; /* stage 1, 2, 2 and 3 */
    double a_pair;     /* seconds of an LCS of two pages drawn from all */
    double within;     /* seconds of the pairs in perhaps-similar sets, each compared whole */
    uint64_t pairs_within;
};

/* ---- sets ---- */

static enum sp_err sign(struct trial *t, enum sp_method method, double *ret_seconds)
{
    struct sp_text_options options = t->e->options->text;
    options.scope = SP_TEXT_MAIN;
    options.signature.method = method;
    options.signature.max_sentences =
        sp_method_info(method)->sentences ? SP_MAX_SENTENCES_LIMIT : 0;
    return sp_labelled_sign(t->set, &options, t->signatures, ret_seconds);
}

static void drop_signatures(struct trial *t)
{
    for (size_t i = 0; i < t->set->page_count; i++) {
        sp_signature_unref(t->signatures[i]);
        t->signatures[i] = NULL;
    }
}

/* Makes the components of the pairs that the method finds among the present signatures. */
static enum sp_err find_components(struct trial *t, enum sp_method method, struct sets *ret_sets)
{
    struct sp_similarity_options o = t->e->options->bus.group.similarity;
    double start = sp_clock_thread_seconds();
    o.method = method;
    o.threshold = sp_method_info(method)->threshold;
    enum sp_err err = sp_connected(&o, t->signatures, t->set->page_count, ret_sets->of, NULL);
    ret_sets->seconds += sp_clock_thread_seconds() - start;
    return err;
}

/* Times the comparisons that the stages save. Pages are drawn by number, so that each run draws the
 * same. */
static void time_pairs(struct trial *t, const struct sp_lcs_sets *whole)
{
    uint32_t count = (uint32_t)t->set->page_count, of[2];
    struct sp_lcs_counts counts;
    uint64_t random = 1;
    double start = sp_clock_thread_seconds();
    for (int i = 0; i < PAIRS_TIMED && count > 1; i++) {
        random = sp_mix64(random + 1);
        uint32_t a = (uint32_t)(random % count), b = (uint32_t)((random >> 32) % count);
        struct sp_signature *two[2] = {t->signatures[a], t->signatures[b]};
        sp_lcs_refine(whole, two, 2, (uint32_t[]){0, 0}, of, &counts);
    }
    t->a_pair = (sp_clock_thread_seconds() - start) / PAIRS_TIMED;
}

/* Times every pair of a perhaps-similar set; of many pairs only a part, evenly spread. */
static void time_within(struct trial *t, const struct sp_lcs_sets *whole)
{
    uint32_t count = (uint32_t)t->set->page_count, of[2];
    uint32_t *order = sp_judge_order(&t->judge, t->perhaps);
    struct sp_lcs_counts counts;
    uint64_t done = 0, number = 0;
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && t->perhaps[order[end]] == t->perhaps[order[first]]; end++)
            continue;
        t->pairs_within += (uint64_t)(end - first) * (end - first - 1) / 2;
    }
    uint64_t step = t->pairs_within / PAIRS_TIMED + 1;
    double start = sp_clock_thread_seconds();
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count && t->perhaps[order[k]] == t->perhaps[order[i]]; k++) {
            if (number++ % step)
                continue;
            struct sp_signature *two[2] = {t->signatures[order[i]], t->signatures[order[k]]};
            sp_lcs_refine(whole, two, 2, (uint32_t[]){0, 0}, of, &counts);
            done++;
        }
    if (done)
        t->within = (sp_clock_thread_seconds() - start) / (double)done * (double)t->pairs_within;
    sp_free(order);
}

static void run_stages(struct trial *t)
{
    uint32_t count = (uint32_t)t->set->page_count;
    struct sp_lcs_sets o;
    sp_lcs_sets_default(&o);
    o.threshold = sp_method_info(SP_METHOD_LCS)->threshold;
    double start = sp_clock_thread_seconds();
    sp_lcs_perhaps(&o, t->signatures, count, t->perhaps);
    t->seconds[0] = sp_clock_thread_seconds() - start;
    o.trusted = false;
    start = sp_clock_thread_seconds();
    sp_lcs_refine(&o, t->signatures, count, t->perhaps, t->untrusted, &t->counts[0]);
    t->seconds[1] = sp_clock_thread_seconds() - start;
    o.filtered = false;
    time_pairs(t, &o);
    time_within(t, &o);
    o.filtered = o.trusted = true;
    start = sp_clock_thread_seconds();
    sp_lcs_refine(&o, t->signatures, count, t->perhaps, t->ways[LCS_PAPER].of, &t->counts[1]);
    t->seconds[2] = sp_clock_thread_seconds() - start;
    t->ways[LCS_PAPER].seconds += t->seconds[0] + t->seconds[2];
}

/* ---- the report ---- */

static void put_figure(struct sp_table *table, double x)
{
    if (x < 0)
        sp_table_blank(table);
    else
        sp_table_number(table, x, 3);
}

static void put_recalls(struct trial *t, bool one_site)
{
    const uint32_t *sets[WAYS];
    double recalls[WAYS];
    for (int way = 0; way < WAYS; way++)
        sets[way] = t->ways[way].of;
    sp_judge_recalls(&t->judge, sets, WAYS, LCS_PAPER, one_site, recalls);
    for (int way = 0; way < WAYS; way++)
        t->ways[way].figures[one_site ? 3 : 1] = recalls[way];
}

static void put_table1(struct trial *t, size_t number)
{
    static const char *const columns[] = {"algorithm",
                                          "sets of two and more",
                                          "precision",
                                          "paper: precision",
                                          "recall",
                                          "paper: recall",
                                          "precision, one site",
                                          "paper: precision, one site",
                                          "recall, one site",
                                          "paper: recall, one site",
                                          "seconds"};
    char name[40];
    snprintf(name, sizeof name, "huang-1-%zu", number);
    struct sp_table *table = sp_table_new(name, "Table 1: precision, recall and time", columns, 11);
    put_recalls(t, false);
    put_recalls(t, true);
    for (int way = 0; way < WAYS; way++) {
        struct sets *s = &t->ways[way];
        s->figures[0] = sp_judge_precision(&t->judge, s->of, false);
        s->figures[2] = sp_judge_precision(&t->judge, s->of, true);
        sp_table_text(table, names[way]);
        sp_table_count(table, sp_judge_sets(&t->judge, s->of));
        for (int i = 0; i < 4; i++) {
            put_figure(table, s->figures[i]);
            put_figure(table, way == LCS_COMPONENTS ? -1 : printed[way][i]);
        }
        sp_table_number(table, s->seconds, 3);
    }
    sp_report_table(t->e->report, table);
}

static void put_stage(struct sp_table *table, const char *stage, uint64_t pairs, double seconds,
                      double precision, const char *time, double paper)
{
    sp_table_text(table, stage);
    sp_table_count(table, pairs);
    sp_table_number(table, seconds, 3);
    put_figure(table, precision);
    sp_table_text(table, time);
    put_figure(table, paper);
}

static void put_table2(const struct trial *t, size_t number)
{
    static const char *const columns[] = {"stage",     "pairs compared",   "seconds",
                                          "precision", "the paper's time", "the paper's precision"};
    char name[40];
    uint64_t n = t->set->page_count, all = n ? n * (n - 1) / 2 : 0;
    snprintf(name, sizeof name, "huang-2-%zu", number);
    struct sp_table *table = sp_table_new(name, "Table 2: time and precision by stage", columns, 6);
    put_stage(table, "without stage one", all, t->a_pair * (double)all, -1, "several years", -1);
    put_stage(table, "after stage one", t->pairs_within, t->seconds[0] + t->within,
              sp_judge_precision(&t->judge, t->perhaps, false), "5,700 hours", 0.67);
    put_stage(table, "after stage two", t->counts[0].compared, t->seconds[0] + t->seconds[1],
              sp_judge_precision(&t->judge, t->untrusted, false), "118 hours", -1);
    put_stage(table, "after stage three", t->counts[1].compared, t->seconds[0] + t->seconds[2],
              sp_judge_precision(&t->judge, t->ways[LCS_PAPER].of, false), "118 hours", 0.95);
    sp_report_table(t->e->report, table);
    sp_report_textf(
        t->e->report,
        "Filtered sketches keep %.1f %% of the sentences of pages in perhaps-similar sets of two "
        "or more pages. The first two times are those of the LCS of whole pages, pair by pair: "
        "measured on %d drawn pairs and extrapolated.",
        t->counts[1].sentences
            ? 100 * (double)t->counts[1].sentences_left / (double)t->counts[1].sentences
            : 100.0,
        PAIRS_TIMED);
}

/* Says how many pairs that are labelled the same were separated. */
static void put_parted(const struct trial *t, size_t number)
{
    static const char *const columns[] = {"of the pairs that are labelled the same", "pairs",
                                          "share"};
    static const char *const reasons[SP_LCS_PARTINGS] = {
        "in one set", "no common fingerprint", "LCS too short", "LCS not coherent in the middle",
        "assigned to another page's set before"};
    uint64_t counts[SP_LCS_PARTINGS] = {0};
    char name[40];
    struct sp_lcs_sets o;
    sp_lcs_sets_default(&o);
    o.threshold = sp_method_info(SP_METHOD_LCS)->threshold;
    for (size_t i = 0; i < t->set->pair_count; i++) {
        const struct sp_labelled_pair *p = &t->set->pairs[i];
        if (p->same)
            counts[sp_lcs_parted(&o, t->signatures, t->perhaps, t->ways[LCS_PAPER].of, p->a,
                                 p->b)]++;
    }
    snprintf(name, sizeof name, "huang-parted-%zu", number);
    struct sp_table *table =
        sp_table_new(name, "What parts them in the sets of the paper", columns, 3);
    for (int i = 0; i < SP_LCS_PARTINGS; i++) {
        sp_table_text(table, reasons[i]);
        sp_table_count(table, counts[i]);
        sp_table_percent(table,
                         (double)counts[i] / (double)(t->set->same_count + !t->set->same_count), 1);
    }
    sp_report_table(t->e->report, table);
}

/* Shows where the two ways to make sets of the same LCS differ. */
static void put_difference(const struct trial *t, size_t number)
{
    static const char *const columns[] = {"labelled pairs",     "pairs",
                                          "in one set by both", "by the paper's sets only",
                                          "by components only", "by neither"};
    uint64_t counts[2][4] = {{0}};
    const uint32_t *paper = t->ways[LCS_PAPER].of, *ours = t->ways[LCS_COMPONENTS].of;
    char name[40];
    for (size_t i = 0; i < t->set->pair_count; i++) {
        const struct sp_labelled_pair *p = &t->set->pairs[i];
        bool by_paper = paper[p->a] == paper[p->b], by_ours = ours[p->a] == ours[p->b];
        counts[!p->same][by_ours ? (by_paper ? 0 : 2) : by_paper ? 1 : 3]++;
    }
    snprintf(name, sizeof name, "huang-sets-%zu", number);
    struct sp_table *table =
        sp_table_new(name, "lcs.sets: paper beside components, at one threshold", columns, 6);
    for (int other = 0; other < 2; other++) {
        const uint64_t *n = counts[other];
        if (other && n[0] + n[1] + n[2] + n[3] == 0)
            continue; /* labels name clusters, or only equal pages */
        sp_table_text(table, other ? "different" : "the same");
        sp_table_count(table, n[0] + n[1] + n[2] + n[3]);
        for (int i = 0; i < 4; i++)
            sp_table_count(table, n[i]);
    }
    sp_report_table(t->e->report, table);
}

static const char *against(double x, double y)
{
    return x < y - 1e-9 ? "below" : x > y + 1e-9 ? "above" : "equal to";
}

/* Compares the ranking with the paper's: LCS above cosine above simhash in all columns. */
static void put_ranking(const struct trial *t)
{
    const struct sets *w = t->ways;
    uint64_t few = 0, pages = 0;
    bool as_printed = true;
    for (size_t i = 0; i < t->set->page_count; i++)
        few += t->signatures[i]->sentence_count < FEW;
    pages = t->set->page_count;
    for (int i = 0; i < 2; i++)
        as_printed &= w[LCS_PAPER].figures[i] > w[COSINE].figures[i] &&
                      w[COSINE].figures[i] > w[SIMHASH].figures[i];
    sp_report_textf(
        t->e->report,
        "%s Precision of LCS is %s that of cosine, which is %s that of simhash; recall of LCS is %s that of "
        "cosine, which is %s that of simhash.",
        as_printed ? "The ranking is the paper's." : "The ranking is not the paper's.",
        against(w[LCS_PAPER].figures[0], w[COSINE].figures[0]),
        against(w[COSINE].figures[0], w[SIMHASH].figures[0]),
        against(w[LCS_PAPER].figures[1], w[COSINE].figures[1]),
        against(w[COSINE].figures[1], w[SIMHASH].figures[1]));
    if (!as_printed)
        sp_report_textf(
            t->e->report,
            "Why: simhash and cosine have thresholds that give high precision here (61 of 64 "
            "bits, 0.98); the paper's baseline had a precision of 0.72. And LCS compares whole "
            "sentences: two pages whose sentences each differ in one word have no sentence in "
            "common, while their words and shingles agree. %.1f %% of these pages have fewer "
            "than %d sentences, so their fingerprints consist of fewer than three of them, and "
            "one sentence more or less changes r at once. The last table shows how many of the "
            "pairs are separated by which step.",
            pages ? 100 * (double)few / (double)pages : 0, FEW);
}

/* ---- one set ---- */

static enum sp_err try_ways(struct trial *t)
{
    static const enum sp_method methods[] = {SP_METHOD_SIMHASH, SP_METHOD_COSINE, SP_METHOD_LCS};
    static const enum way ways[] = {SIMHASH, COSINE, LCS_COMPONENTS};
    enum sp_err err = SP_OK;
    for (int i = 0; i < 3 && err == SP_OK; i++) {
        struct sets *s = &t->ways[ways[i]];
        drop_signatures(t);
        sp_evaluation_say(t->e, t->set->name, (uint64_t)i, 3);
        err = sign(t, methods[i], &s->seconds);
        t->ways[LCS_PAPER].seconds = s->seconds;
        if (err == SP_OK)
            err = find_components(t, methods[i], s);
    }
    if (err == SP_OK)
        run_stages(t);
    return err;
}

static enum sp_err try_set(const struct sp_evaluation *e, const struct sp_labelled *set,
                           size_t number)
{
    size_t count = set->page_count + 1;
    struct trial t = {.e = e, .set = set};
    uint32_t **arrays[] = {&t.truth,      &t.perhaps,    &t.untrusted, &t.ways[0].of,
                           &t.ways[1].of, &t.ways[2].of, &t.ways[3].of};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = sp_calloc(count, sizeof **arrays[i]);
    t.signatures = sp_calloc(count, sizeof *t.signatures);
    sp_labelled_truth(set, t.truth);
    t.judge = (struct sp_judge){set, t.truth};
    sp_report_heading(e->report, set->name);
    sp_evaluation_of_events(e->report, set->same_count, "pairs labelled the same");
    enum sp_err err = try_ways(&t);
    if (err == SP_OK) {
        put_table1(&t, number);
        put_table2(&t, number);
        put_ranking(&t);
        put_parted(&t, number);
        put_difference(&t, number);
    }
    drop_signatures(&t);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        sp_free(*arrays[i]);
    sp_free(t.signatures);
    return err;
}

static void introduce(struct sp_report *report)
{
    sp_report_text(
        report,
        "Sets of similar pages as in the paper (fingerprints of three minima of seven buckets, "
        "filtered sketches, comparison with later pages that have no set, a coherent part of the "
        "LCS), next to the connected components from which groups are made here. Precision: the "
        "mean share of a set that has the same label as its representative, over at most 1,000 "
        "sets of two or more pages. Recall: the number of labelled pages that are found with the "
        "representatives of the LCS sets, relative to simhash. All methods have their default "
        "thresholds and compare the main content.");
}

static enum sp_err run(struct sp_evaluation *e)
{
    return sp_evaluation_labelled(e, introduce, try_set);
}

const struct sp_experiment sp_experiment_huang = {"huang", "Huang, Wang, Li: sets of similar pages",
                                                  run, 0, 0};

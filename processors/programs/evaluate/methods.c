/* The similarity methods on labelled data: the accuracy and the speed of each.
 *
 * Every method makes its own signatures of every page, with main-content extraction and without
 * where the set has HTML. A set whose pairs are listed is scored on these; else all pairs are found
 * by the join, at the least threshold that the method's candidates are made for, and F at the
 * default threshold. Speeds are processor time of one thread. */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "evaluate/experiment.h"
#include "evaluate/scores.h"
#include "similarity/join.h"
#include "text/text.h"

enum { SENTENCES = 1024 }; /* if the settings do not say how many */

static const double measure_seconds = 0.1;

struct trial {
    const struct sp_labelled *set;
    struct sp_truth truth;
    struct sp_similarity_options similarity;
    struct sp_signature **signatures;
    struct sp_found *found;
    size_t found_count;
    size_t found_cap;
};

struct row {
    double threshold;
    double best_threshold;
    struct sp_scores scores;
    struct sp_scores best;
    double pages_per_s;
    double pairs_per_s;
};

/* ---- signatures ---- */

static enum sp_err sign_all(const struct sp_evaluate_options *o, enum sp_text_scope scope,
                            struct trial *t, double *ret_seconds)
{
    struct sp_text_options options = o->text;
    options.scope = scope;
    options.signature.method = t->similarity.method;
    if (!sp_method_info(t->similarity.method)->sentences)
        options.signature.max_sentences = 0;
    else if (options.signature.max_sentences == 0)
        options.signature.max_sentences = SENTENCES;
    return sp_labelled_sign(t->set, &options, t->signatures, ret_seconds);
}

/* ---- pairs ---- */

static void add_found(struct trial *t, uint32_t a, uint32_t b, bool same, double measure)
{
    sp_grow(&t->found, &t->found_cap, t->found_count + 1);
    t->found[t->found_count++] = (struct sp_found){a, b, same, measure};
}

static void note_pair(void *arg, size_t i, size_t j, double similarity)
{
    struct trial *t = arg;
    const struct sp_labelled_pair *label = sp_labelled_find(t->set, (uint32_t)i, (uint32_t)j);
    (void)similarity; /* for the combined method it is J, which is not the measure */
    add_found(t, (uint32_t)i, (uint32_t)j, label && label->same,
              sp_similarity(&t->similarity, t->signatures[i], t->signatures[j]));
}

/* Finds all pairs for which F holds at this threshold; every other pair has a lower measure. */
static enum sp_err find_pairs(struct trial *t, double threshold)
{
    struct sp_similarity_options o = t->similarity;
    const struct sp_labelled *set = t->set;
    t->found_count = 0;
    o.threshold = threshold;
    if (!set->listed) {
        if (threshold < t->similarity.threshold)
            o.band = 0; /* pairs in the band are measured, whatever their sentences */
        return sp_join(&o, t->signatures, set->page_count, note_pair, t, NULL);
    }
    for (size_t i = 0; i < set->pair_count; i++) {
        const struct sp_labelled_pair *p = &set->pairs[i];
        const struct sp_signature *a = t->signatures[p->a], *b = t->signatures[p->b];
        if (threshold < t->similarity.threshold || sp_similar(&o, a, b, NULL))
            add_found(t, p->a, p->b, p->same, sp_similarity(&t->similarity, a, b));
    }
    return SP_OK;
}

/* ---- speed ---- */

/* F of pairs drawn alternately from all and from those labelled the same. */
static double pairs_per_second(const struct trial *t)
{
    const struct sp_labelled *set = t->set;
    uint64_t random = 1, done = 0;
    size_t similar = 0;
    double start = sp_clock_thread_seconds(), seconds;
    do {
        for (int i = 0; i < 500; i++) {
            random = sp_mix64(random + 1);
            const struct sp_labelled_pair *p = &set->pairs[random % set->pair_count];
            similar += sp_similar(&t->similarity, t->signatures[p->a], t->signatures[p->b], NULL);
            size_t a = random % set->page_count, b = (random >> 32) % set->page_count;
            similar += sp_similar(&t->similarity, t->signatures[a], t->signatures[b], NULL);
            done += 2;
        }
        seconds = sp_clock_thread_seconds() - start;
    } while (seconds < measure_seconds);
    return similar <= done ? (double)done / seconds : 0;
}

/* ---- one method on one set ---- */

static enum sp_err try_method(const struct sp_evaluate_options *o, enum sp_method method,
                              enum sp_text_scope scope, struct trial *t, struct row *ret_row)
{
    const struct sp_similarity_options *chosen = &o->bus.group.similarity;
    const struct sp_method_info *info = sp_method_info(method);
    struct row row = {0};
    double seconds;
    t->similarity = *chosen;
    t->similarity.method = method;
    if (method != chosen->method)
        t->similarity.threshold = info->threshold;
    row.threshold = t->similarity.threshold;
    enum sp_err err = sign_all(o, scope, t, &seconds);
    if (err == SP_OK)
        err = find_pairs(t, row.threshold);
    if (err == SP_OK) {
        sp_scores(t->found, t->found_count, 0, &t->truth, &row.scores);
        err = find_pairs(t, info->least < row.threshold ? info->least : row.threshold);
    }
    if (err == SP_OK) {
        row.best_threshold = sp_scores_best(t->found, t->found_count, t->set->same_count);
        sp_scores(t->found, t->found_count, row.best_threshold, &t->truth, &row.best);
        row.pages_per_s = (double)t->set->page_count / seconds;
        row.pairs_per_s = pairs_per_second(t);
    }
    for (size_t i = 0; i < t->set->page_count; i++) {
        sp_signature_unref(t->signatures[i]);
        t->signatures[i] = NULL;
    }
    *ret_row = row;
    return err;
}

static void put_scores(struct sp_table *table, double threshold, const struct sp_scores *s)
{
    sp_table_number(table, threshold, 3);
    sp_table_count(table, s->wrong);
    sp_table_number(table, s->precision, 3);
    sp_table_number(table, s->recall, 3);
    sp_table_number(table, s->f1, 3);
    sp_table_number(table, s->rand, 3);
}

static void put_row(struct sp_table *table, enum sp_method method, enum sp_text_scope scope,
                    const struct row *row)
{
    sp_table_text(table, sp_method_info(method)->name);
    sp_table_text(table, scope == SP_TEXT_MAIN ? "main" : "all");
    put_scores(table, row->threshold, &row->scores);
    put_scores(table, row->best_threshold, &row->best);
    sp_table_number(table, row->pages_per_s, 0);
    sp_table_number(table, row->pairs_per_s, 0);
}

/* ---- sets ---- */

static bool has_html(const struct sp_labelled *set)
{
    for (size_t i = 0; i < set->page_count; i++)
        if (sp_text_format(sp_view_str(set->pages[i].content_type), set->pages[i].content) ==
            SP_FORMAT_HTML)
            return true;
    return false;
}

static void put_set(const struct sp_labelled *set, struct sp_report *report)
{
    sp_report_heading(report, set->name);
    if (set->listed)
        sp_report_textf(report,
                        "%zu pages; scored are the %zu pairs listed, of which %zu are labelled the "
                        "same.",
                        set->page_count, set->pair_count, set->same_count);
    else
        sp_report_textf(
            report, "%zu pages; scored are all their pairs, of which %zu are labelled the same.",
            set->page_count, set->same_count);
}

static void say_sample(const struct sp_labelled *set, struct sp_report *report)
{
    if (set->listed)
        sp_evaluation_of_events(report, set->pair_count, "labelled pairs");
    else
        sp_evaluation_of_events(report, set->same_count, "pairs labelled the same");
}

static enum sp_err try_set(const struct sp_evaluation *e, const struct sp_labelled *set,
                           size_t number)
{
    static const char *const columns[] = {
        "method",  "text",     "tau",      "wrong",      "precision",      "recall",
        "F1",      "ARI",      "best tau", "wrong then", "precision then", "recall then",
        "F1 then", "ARI then", "pages/s",  "pairs/s"};
    char name[32];
    uint32_t *truth = sp_alloc((set->page_count + 1) * sizeof *truth);
    struct trial t = {.set = set, .truth = {set->same_count, truth, set->page_count}};
    enum sp_err err = SP_OK;
    size_t scopes = has_html(set) ? 2 : 1, done = 0;
    t.signatures = sp_calloc(set->page_count + 1, sizeof *t.signatures);
    sp_labelled_truth(set, truth);
    put_set(set, e->report);
    say_sample(set, e->report);
    snprintf(name, sizeof name, "methods-%zu", number);
    struct sp_table *table =
        sp_table_new(name, set->name, columns, sizeof columns / sizeof *columns);
    for (enum sp_method m = 0; m < SP_METHOD_COUNT && err == SP_OK; m++)
        for (size_t scope = 0; scope < scopes && err == SP_OK; scope++) {
            struct row row;
            sp_evaluation_say(e, set->name, done++, SP_METHOD_COUNT * scopes);
            err = try_method(e->options, m, scope ? SP_TEXT_ALL : SP_TEXT_MAIN, &t, &row);
            if (err == SP_OK)
                put_row(table, m, scope ? SP_TEXT_ALL : SP_TEXT_MAIN, &row);
        }
    sp_report_table(e->report, table);
    sp_free(t.signatures);
    sp_free(t.found);
    sp_free(truth);
    return err;
}

static void put_methods(struct sp_report *report)
{
    static const char *const columns[] = {"method", "what is compared", "source", "default tau"};
    struct sp_table *table = sp_table_new("methods", "The methods", columns, 4);
    for (enum sp_method m = 0; m < SP_METHOD_COUNT; m++) {
        const struct sp_method_info *info = sp_method_info(m);
        sp_table_text(table, info->name);
        sp_table_text(table, info->title);
        sp_table_text(table, info->source);
        sp_table_number(table, info->threshold, 3);
    }
    sp_report_no_sample(report);
    sp_report_table(report, table);
    sp_report_text(
        report,
        "A pair is found if F holds: at the default tau as in a run, including the candidate "
        "rule if the method has one. The best tau is that of the highest F1, searched from the "
        "least tau for which the candidates of the method are made. Wrong: pairs that are found "
        "and not labelled the same. ARI: the adjusted Rand index of the components of the found "
        "pairs. Speeds are processor time of one thread: pages from content to signature, and F "
        "of pairs of which half are drawn from all pairs and half from the labelled ones.");
}

static enum sp_err run(struct sp_evaluation *e)
{
    return sp_evaluation_labelled(e, put_methods, try_set);
}

const struct sp_experiment sp_experiment_methods = {"methods", "Similarity methods", run, 0, 0};

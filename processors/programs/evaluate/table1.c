/* Table 1: how accurate the groups are. accuracy.c measures, reasons.c has the notes; this file has
 * the tables, the plots and the examples. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "evaluate/crawls.h"
#include "evaluate/examples.h"
#include "evaluate/experiment.h"
#include "evaluate/reasons.h"
#include "evaluate/texts.h"

/* The results of each trace that the tables over all traces need. */
struct summary {
    const char *name;
    double rep[SP_MILESTONES]; /* fast, 24 machines */
    double rer[SP_MILESTONES];
    double delayed[SP_VARIANTS - SP_DELAYED][SP_DECAY_STEPS + 1]; /* RER, by backlog left */
};

/* ---- one trace ---- */

static void put_errors(const struct sp_accuracy *a, const char *name, size_t number, bool recall,
                       struct sp_report *report)
{
    static const char *const columns[] = {"way",  "machines", "10 %", "20 %",
                                          "30 %", "50 %",     "75 %", "100 %"};
    char file[48], caption[240];
    snprintf(file, sizeof file, "table-1-%s-%zu", recall ? "rer" : "rep", number);
    snprintf(caption, sizeof caption, "%.120s: %s of group pairs, at six milestones", name,
             recall ? "RER" : "REP");
    struct sp_table *t = sp_table_new(file, caption, columns, sizeof columns / sizeof *columns);
    for (size_t v = 0; v < SP_VARIANTS; v++) {
        sp_table_text(t, sp_variants[v].name);
        sp_table_count(t, sp_variants[v].machines);
        for (size_t m = 0; m < SP_MILESTONES; m++)
            sp_table_percent(t, recall ? sp_rer_of(a, v, m) : sp_rep_of(a, v, m), 2);
    }
    sp_report_table(report, t);
}

static void put_winners(const struct sp_accuracy *a, const char *name, size_t number,
                        struct sp_report *report)
{
    static const char *const columns[] = {
        "way", "machines",  "losers",    "REP",    "losers, centralised",
        "RER", "worst REP", "worst RER", "pending"};
    char file[48], caption[240];
    snprintf(file, sizeof file, "table-1-winners-%zu", number);
    snprintf(caption, sizeof caption,
             "%.120s: winner pairs at the end, and the worst of the six milestones", name);
    struct sp_table *t = sp_table_new(file, caption, columns, sizeof columns / sizeof *columns);
    for (size_t v = 0; v < SP_VARIANTS; v++) {
        const struct sp_errors *e = a->variants[v].errors;
        const struct sp_winner_pairs *w = &e[SP_MILESTONES - 1].winners;
        double rep = 0, rer = 0;
        for (size_t m = 0; m < SP_MILESTONES; m++) {
            rep = fmax(rep, sp_share(e[m].winners.wrong, e[m].winners.system));
            rer = fmax(rer, sp_share(e[m].winners.missed, e[m].winners.baseline));
        }
        sp_table_text(t, sp_variants[v].name);
        sp_table_count(t, sp_variants[v].machines);
        sp_table_count(t, w->system);
        sp_table_percent(t, sp_share(w->wrong, w->system), 2);
        sp_table_count(t, w->baseline);
        sp_table_percent(t, sp_share(w->missed, w->baseline), 2);
        sp_table_percent(t, rep, 2);
        sp_table_percent(t, rer, 2);
        sp_table_count(t, e[SP_MILESTONES - 1].pending);
    }
    sp_report_table(report, t);
}

/* ---- examples ---- */

static void put_pair(const struct sp_trace *t, const struct sp_trace_file *file,
                     const struct sp_trace_texts *x, const struct sp_example *e,
                     struct sp_report *report)
{
    uint32_t a = (uint32_t)(file->first + e->fetch_a), b = (uint32_t)(file->first + e->fetch_b);
    struct sp_pair pair = {.title_a = t->pages[t->fetches[a].page].url,
                           .title_b = t->pages[t->fetches[b].page].url,
                           .a = sp_trace_texts_of(x, a),
                           .b = sp_trace_texts_of(x, b),
                           .verdict = e->verdict,
                           .good = e->good};
    sp_report_pair(report, &pair);
}

/* A trace that cannot be read twice has no examples; all other results are known already. */
static void put_examples(const struct sp_evaluation *e, const struct sp_trace_file *file,
                         const struct sp_examples *examples)
{
    struct sp_trace_texts x = {0};
    struct sp_fault fault;
    for (size_t i = 0; i < SP_EXAMPLES; i++)
        if (examples->list[i].found) {
            sp_trace_texts_want(&x, (uint32_t)(file->first + examples->list[i].fetch_a));
            sp_trace_texts_want(&x, (uint32_t)(file->first + examples->list[i].fetch_b));
        }
    enum sp_err err = sp_trace_texts_read(&x, e->trace, &e->options->text, &fault);
    if (err != SP_OK)
        sp_report_textf(e->report, "There are no examples: %s", fault.text);
    for (size_t i = 0; i < SP_EXAMPLES && err == SP_OK; i++)
        if (examples->list[i].found)
            put_pair(e->trace, file, &x, &examples->list[i], e->report);
    sp_trace_texts_done(&x);
}

/* ---- a trace, and all of them ---- */

/* The effect of delay, and how much of it remains when input has stopped. */
static void put_delay(const struct sp_accuracy *a, const char *name, size_t number,
                      struct sp_report *report)
{
    static const char *const columns[] = {"way",
                                          "pending, most",
                                          "at the end",
                                          "delivered after it",
                                          "REP at the end",
                                          "half worked off",
                                          "all",
                                          "RER at the end",
                                          "half worked off",
                                          "all"};
    char file[48], caption[240];
    snprintf(file, sizeof file, "table-1-delay-%zu", number);
    snprintf(caption, sizeof caption,
             "%.120s: messages under way at the milestones, and errors once input has stopped",
             name);
    struct sp_table *t = sp_table_new(file, caption, columns, sizeof columns / sizeof *columns);
    for (size_t v = SP_DELAYED; v < SP_VARIANTS; v++) {
        const struct sp_variant_result *r = &a->variants[v];
        const struct sp_errors *end = &r->errors[SP_MILESTONES - 1];
        const struct sp_errors *half = &r->decay[SP_DECAY_STEPS / 2 - 1];
        const struct sp_errors *all = &r->decay[SP_DECAY_STEPS - 1];
        uint64_t most = 0;
        for (size_t m = 0; m < SP_MILESTONES; m++)
            most = r->errors[m].pending > most ? r->errors[m].pending : most;
        sp_table_text(t, sp_variants[v].name);
        sp_table_count(t, most);
        sp_table_count(t, end->pending);
        sp_table_count(t, all->delivered - end->delivered);
        sp_table_percent(t, sp_group_pairs_rep(&end->groups), 2);
        sp_table_percent(t, sp_group_pairs_rep(&half->groups), 2);
        sp_table_percent(t, sp_group_pairs_rep(&all->groups), 2);
        sp_table_percent(t, sp_group_pairs_rer(&end->groups), 2);
        sp_table_percent(t, sp_group_pairs_rer(&half->groups), 2);
        sp_table_percent(t, sp_group_pairs_rer(&all->groups), 2);
    }
    sp_report_table(report, t);
}

static void summarise(const struct sp_accuracy *a, struct summary *s)
{
    for (size_t m = 0; m < SP_MILESTONES; m++) {
        s->rep[m] = sp_rep_of(a, SP_FAST_24, m);
        s->rer[m] = sp_rer_of(a, SP_FAST_24, m);
    }
    for (size_t v = SP_DELAYED; v < SP_VARIANTS; v++) {
        s->delayed[v - SP_DELAYED][0] = sp_rer_of(a, v, SP_MILESTONES - 1);
        for (size_t i = 0; i < SP_DECAY_STEPS; i++)
            s->delayed[v - SP_DELAYED][i + 1] = sp_group_pairs_rer(&a->variants[v].decay[i].groups);
    }
}

static enum sp_err evaluate_file(struct sp_evaluation *e, size_t number, struct summary *s)
{
    const struct sp_trace_file *file = &e->trace->files[number];
    struct sp_crawl *crawl = sp_evaluate_crawl(e->trace, file);
    struct sp_partition_map maps[SP_MACHINES] = {{0}};
    struct sp_accuracy *a = sp_calloc(1, sizeof *a);
    struct sp_examples examples = {.similarity = &e->options->bus.group.similarity};
    struct sp_accuracy_options options = {.replay = sp_evaluate_replay(&e->options->bus, NULL),
                                          .maps = maps,
                                          .threads = sp_evaluate_threads(e->options->threads),
                                          .at_end = sp_examples_pick,
                                          .arg = &examples};
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < SP_MACHINES && err == SP_OK; i++)
        err = sp_evaluate_map(crawl, options.replay.bus.group.similarity.threshold, sp_machines[i],
                              &maps[i]);
    if (err == SP_OK)
        err = sp_accuracy_run(crawl, &options, a);
    if (err == SP_OK) {
        s->name = file->name;
        summarise(a, s);
        sp_report_heading(e->report, file->name);
        sp_evaluation_of_trace(e, file);
        put_errors(a, file->name, number + 1, false, e->report);
        put_errors(a, file->name, number + 1, true, e->report);
        sp_reasons_put(a, file->name, e->report);
        put_winners(a, file->name, number + 1, e->report);
        put_delay(a, file->name, number + 1, e->report);
        put_examples(e, file, &examples);
    } else {
        sp_fault_set(e->fault, err, "table 1: a trace cannot be replayed");
    }
    sp_accuracy_done(a);
    sp_free(a);
    for (size_t i = 0; i < SP_MACHINES; i++)
        sp_partition_done(&maps[i]);
    sp_crawl_free(crawl);
    return err;
}

static void put_summary(const struct summary *summaries, size_t count, struct sp_report *report)
{
    static const char *const columns[] = {"trace",           "fast: REP, mean", "REP, worst",
                                          "fast: RER, mean", "RER, worst",      "paper's REP",
                                          "paper's RER"};
    struct sp_table *t = sp_table_new("table-1", "Fast mode over six milestones, 24 machines",
                                      columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        double rep = 0, rer = 0, worst_rep = 0, worst_rer = 0;
        for (size_t m = 0; m < SP_MILESTONES; m++) {
            rep += summaries[i].rep[m] / SP_MILESTONES;
            rer += summaries[i].rer[m] / SP_MILESTONES;
            worst_rep = fmax(worst_rep, summaries[i].rep[m]);
            worst_rer = fmax(worst_rer, summaries[i].rer[m]);
        }
        sp_table_text(t, summaries[i].name);
        sp_table_percent(t, rep, 2);
        sp_table_percent(t, worst_rep, 2);
        sp_table_percent(t, rer, 2);
        sp_table_percent(t, worst_rer, 2);
        sp_table_text(t, "0.8-1.3 %");
        sp_table_text(t, "1.5-1.74 %");
    }
    sp_report_table(report, t);
}

/* Shows how the error that delay causes disappears once input stops. */
static void put_decay(const struct summary *summaries, size_t count, struct sp_report *report)
{
    double x[SP_DECAY_STEPS + 1], y[SP_SERIES_MAX][SP_DECAY_STEPS + 1];
    struct sp_series series[SP_SERIES_MAX];
    size_t shown = count < SP_SERIES_MAX ? count : SP_SERIES_MAX;
    for (size_t i = 0; i <= SP_DECAY_STEPS; i++)
        x[i] = 100.0 * (double)i / SP_DECAY_STEPS;
    sp_report_text(report,
                   "When input stops, the backlog is worked off; processing it causes further "
                   "messages. The plot shows RER by the share of the backlog that has been "
                   "processed: at the end the error is gone.");
    for (size_t v = SP_DELAYED; v < SP_VARIANTS; v++) {
        char name[48], caption[128];
        snprintf(name, sizeof name, "table-1-decay-%.0f", 100 * sp_variants[v].capacity);
        snprintf(caption, sizeof caption, "%s: RER after the end of the input",
                 sp_variants[v].name);
        for (size_t i = 0; i < shown; i++) {
            for (size_t k = 0; k <= SP_DECAY_STEPS; k++)
                y[i][k] = 100 * summaries[i].delayed[v - SP_DELAYED][k];
            series[i] = (struct sp_series){summaries[i].name, y[i], false};
        }
        struct sp_plot plot = {.name = name,
                               .caption = caption,
                               .x_label = "backlog worked off, %",
                               .y_label = "RER, %",
                               .x = x,
                               .x_count = SP_DECAY_STEPS + 1,
                               .y_from_zero = true,
                               .series = series,
                               .series_count = shown};
        sp_report_plot(report, &plot);
    }
}

static enum sp_err run(struct sp_evaluation *e)
{
    size_t count = e->trace->file_count;
    struct summary *summaries = sp_calloc(count + 1, sizeof *summaries);
    enum sp_err err = SP_OK;
    sp_reasons_put_definitions(e->report);
    for (size_t i = 0; i < count && err == SP_OK; i++) {
        sp_evaluation_say(e, "Table 1", i, count);
        err = evaluate_file(e, i, &summaries[i]);
    }
    if (err == SP_OK) {
        sp_report_heading(e->report, "All traces");
        sp_evaluation_of_traces(e);
        put_summary(summaries, count, e->report);
        put_decay(summaries, count, e->report);
    }
    sp_free(summaries);
    return err;
}

const struct sp_experiment sp_experiment_table1 = {"table1", "Table 1: accuracy", run, 1.3, 0};

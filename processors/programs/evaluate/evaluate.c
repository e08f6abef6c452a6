/* Reads the traces, runs the chosen experiments, writes the report. */
#include "evaluate/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "evaluate/experiment.h"

void sp_evaluate_options_default(struct sp_evaluate_options *ret_options)
{
    *ret_options = (struct sp_evaluate_options){
        .command = "", .settings = "", .term = "expense", .temp = "/tmp"};
    sp_cost_options_default(&ret_options->cost);
}

static bool chosen(const struct sp_evaluate_options *o, const struct sp_experiment *e)
{
    for (size_t i = 0; i < o->only_count; i++)
        if (strcmp(o->only[i], e->name) == 0)
            return true;
    return o->only_count == 0;
}

static void put_origin(const struct sp_evaluate_options *o, struct sp_report *report)
{
    sp_report_section(report, "How to repeat this");
    sp_report_text(report, "The command that wrote this report:");
    sp_report_code(report, o->command);
    sp_report_text(report, "The settings it ran with:");
    sp_report_code(report, o->settings);
    sp_report_text(report, "Every number that is not a time is the same in every run. Times are "
                           "seconds of one thread's processor time unless said otherwise.");
}

/* How much longer the experiments take than with contents of the usual length: of 6,000 contents of
 * 8, 30, 100 and 400 words, all took 9, 27, 54 and 131 seconds. */
static double length_factor(const struct sp_evaluation *e)
{
    enum { USUAL_SHINGLES = 400 };
    enum sp_method method = e->options->bus.group.similarity.method;
    if (sp_method_info(method)->features != SP_FEATURES_SHINGLES || e->trace->distinct == 0)
        return 1;
    return sqrt((double)e->trace->shingles / (double)e->trace->distinct / USUAL_SHINGLES);
}

static double expected_seconds(const struct sp_experiment *x, double contents)
{
    double seconds = x->ms_each * contents / 1000;
    return x->most_seconds > 0 && seconds > x->most_seconds ? x->most_seconds : seconds;
}

static enum sp_err run_experiments(struct sp_evaluation *e)
{
    enum sp_err err = SP_OK;
    const struct sp_experiment *x;
    size_t all = 0, number = 0;
    double seconds = 0, usual_contents = (double)e->trace->distinct * length_factor(e);
    for (size_t i = 0; (x = sp_experiment_at(i)); i++)
        if (chosen(e->options, x)) {
            all++;
            seconds += expected_seconds(x, usual_contents);
        }
    if (e->options->expect)
        e->options->expect(e->options->progress_arg, all, e->trace->distinct, seconds);
    for (size_t i = 0; (x = sp_experiment_at(i)) && err == SP_OK; i++) {
        if (!chosen(e->options, x))
            continue;
        snprintf(e->doing, sizeof e->doing, "%zu of %zu: %s", ++number, all, x->title);
        sp_evaluation_say(e, e->doing, 0, 0);
        sp_report_section(e->report, x->title);
        sp_evaluation_of_alive(e);
        err = x->run(e);
    }
    return err;
}

static struct sp_trace_options trace_options(const struct sp_evaluate_options *o)
{
    return (struct sp_trace_options){.files = o->traces,
                                     .file_count = o->trace_count,
                                     .input = o->input,
                                     .text = o->text,
                                     .threads = o->threads,
                                     .readings = o->readings,
                                     .progress = o->progress,
                                     .progress_arg = o->progress_arg};
}

enum sp_err sp_evaluate(const struct sp_evaluate_options *o, struct sp_fault *fault)
{
    struct sp_trace_options reading = trace_options(o);
    struct sp_evaluation e = {.options = o, .fault = fault};
    struct sp_trace *trace = NULL;
    struct sp_fault closing;
    enum sp_err err = sp_report_open(o->report, "samepage evaluate", &e.report, fault);
    if (err != SP_OK)
        return err;
    e.start_bytes = sp_evaluation_peak_bytes();
    double start = sp_clock_process_seconds();
    err = sp_trace_read(&reading, &trace, fault);
    e.reading_seconds = sp_clock_process_seconds() - start;
    e.trace = trace;
    if (err == SP_OK && o->readings && o->readings->bad > 0 &&
        o->readings->bad == o->readings->records)
        err = sp_fault_set(fault, SP_INVALID, "no record of the input could be read");
    if (err == SP_OK)
        err = run_experiments(&e);
    put_origin(o, e.report);
    enum sp_err closed = sp_report_close(e.report, &closing);
    if (err == SP_OK && closed != SP_OK)
        err = sp_fault_set(fault, closed, "%s", closing.text);
    sp_distinct_done(&e.alive);
    sp_trace_free(trace);
    return err;
}

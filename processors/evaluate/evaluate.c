/* Reads the traces, runs the chosen experiments, writes the report. */
#include "evaluate/evaluate.h"

#include <string.h>

#include "base/mem.h"

void sp_evaluate_options_default(struct sp_evaluate_options *ret_options)
{
    *ret_options = (struct sp_evaluate_options){.command = "", .settings = ""};
    sp_cost_options_default(&ret_options->cost);
}

void sp_evaluate_say(const struct sp_evaluate_options *options, const char *what, uint64_t done,
                     uint64_t of)
{
    if (options->progress)
        options->progress(options->progress_arg, what, done, of);
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

static enum sp_err run_experiments(const struct sp_evaluate_options *o,
                                   const struct sp_trace *trace, struct sp_report *report,
                                   const char **ret_message)
{
    enum sp_err err = SP_OK;
    const struct sp_experiment *e;
    for (size_t i = 0; (e = sp_experiment_at(i)) && err == SP_OK; i++) {
        if (!chosen(o, e))
            continue;
        sp_evaluate_say(o, e->title, 0, 0);
        sp_report_section(report, e->title);
        err = e->run(o, trace, report, ret_message);
    }
    return err;
}

enum sp_err sp_evaluate(const struct sp_evaluate_options *o, const char **ret_message)
{
    struct sp_report *report = NULL;
    struct sp_trace *trace = NULL;
    const char *close_message = "";
    *ret_message = "";
    enum sp_err err = sp_report_open(o->report, "samepage evaluate", &report, ret_message);
    if (err != SP_OK)
        return err;
    err = sp_trace_read(o, &trace, ret_message);
    if (err == SP_OK)
        err = run_experiments(o, trace, report, ret_message);
    put_origin(o, report);
    enum sp_err closed = sp_report_close(report, &close_message);
    if (err == SP_OK && closed != SP_OK) {
        err = closed;
        *ret_message = close_message;
    }
    sp_trace_free(trace);
    return err;
}

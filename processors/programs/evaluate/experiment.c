/* See experiment.h. */
#include <sys/resource.h>

#include "evaluate/experiment.h"

#include "base/mem.h"

double sp_evaluation_peak_bytes(void)
{
    struct rusage usage = {.ru_maxrss = 0};
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

void sp_evaluation_say(const struct sp_evaluation *e, const char *what, uint64_t done, uint64_t of)
{
    if (e->options->progress)
        e->options->progress(e->options->progress_arg, what, done, of);
}

/* Returns how many pages are alive after these fetches alone. */
static size_t alive_after(const struct sp_trace *t, size_t first, size_t count)
{
    uint32_t *alive = sp_alloc((t->page_count + 1) * sizeof *alive);
    size_t pages = sp_trace_alive(t, first, first + count, alive);
    sp_free(alive);
    return pages;
}

void sp_evaluation_of_alive(const struct sp_evaluation *e)
{
    sp_report_sample(e->report, alive_after(e->trace, 0, e->trace->fetch_count), SP_ENOUGH_PAGES,
                     "pages alive");
}

void sp_evaluation_of_trace(const struct sp_evaluation *e, const struct sp_trace_file *file)
{
    sp_report_sample(e->report, alive_after(e->trace, file->first, file->count), SP_ENOUGH_PAGES,
                     "pages alive");
}

void sp_evaluation_of_traces(const struct sp_evaluation *e)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < e->trace->file_count; i++) {
        size_t pages = alive_after(e->trace, e->trace->files[i].first, e->trace->files[i].count);
        least = pages < least ? pages : least;
    }
    sp_report_sample(e->report, least, SP_ENOUGH_PAGES,
                     e->trace->file_count > 1 ? "pages alive in the smallest trace"
                                              : "pages alive");
}

void sp_evaluation_of_contents(const struct sp_evaluation *e, const struct sp_distinct *contents)
{
    sp_report_sample(e->report, contents->count, SP_ENOUGH_PAGES, "distinct contents");
}

void sp_evaluation_of_events(struct sp_report *report, uint64_t count, const char *what)
{
    sp_report_sample(report, count, SP_ENOUGH_EVENTS, what);
}

enum sp_err sp_evaluation_alive(struct sp_evaluation *e, const struct sp_distinct **ret_alive)
{
    const struct sp_trace *t = e->trace;
    if (!e->alive_made) {
        uint32_t *alive = sp_alloc((t->fetch_count + 1) * sizeof *alive);
        sp_distinct_init(t, alive, sp_trace_alive(t, 0, t->fetch_count, alive), &e->alive);
        sp_free(alive);
        enum sp_err err = sp_distinct_read_words(&e->alive, t, e->fault);
        if (err != SP_OK) {
            sp_distinct_done(&e->alive);
            return err;
        }
        e->alive_made = true;
    }
    *ret_alive = &e->alive;
    return SP_OK;
}

enum sp_err sp_evaluation_labelled(struct sp_evaluation *e, void (*introduce)(struct sp_report *),
                                   enum sp_err (*try_set)(const struct sp_evaluation *e,
                                                          const struct sp_labelled *set,
                                                          size_t number))
{
    const struct sp_evaluate_options *o = e->options;
    enum sp_err err = SP_OK;
    if (o->labelled_count == 0) {
        sp_report_text(e->report, "No labelled data was named: --labelled.");
        return SP_OK;
    }
    introduce(e->report);
    for (size_t i = 0; i < o->labelled_count && err == SP_OK; i++) {
        struct sp_labelled *set = NULL;
        err = sp_labelled_read(o->labelled[i], &set, e->fault);
        if (err != SP_OK)
            return err;
        err = try_set(e, set, i + 1);
        if (err != SP_OK)
            sp_fault_set(e->fault, err, "%s", sp_err_text(err));
        sp_labelled_free(set);
    }
    return err;
}

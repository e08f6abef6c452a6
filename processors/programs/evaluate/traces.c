/* Tables about the traces themselves, before any experiment. */
#include "base/mem.h"
#include "evaluate/experiment.h"

struct counts {
    uint64_t content;
    uint64_t unchanged;
    uint64_t redirects;
    uint64_t dead;
};

static struct counts count_file(const struct sp_trace *t, const struct sp_trace_file *file)
{
    struct counts c = {0};
    const struct sp_signature **last = sp_calloc(t->page_count + 1, sizeof *last);
    for (size_t i = file->first; i < file->first + file->count; i++) {
        const struct sp_fetch *f = &t->fetches[i];
        c.content += f->kind == SP_PAGE_CONTENT;
        c.redirects += f->kind == SP_PAGE_REDIRECT;
        c.dead += f->kind == SP_PAGE_DEAD;
        c.unchanged += f->signature && f->signature == last[f->page];
        last[f->page] = f->signature;
    }
    sp_free(last);
    return c;
}

static enum sp_err run(struct sp_evaluation *e)
{
    const struct sp_trace *t = e->trace;
    static const char *const columns[] = {"trace",     "fetches",    "with content",
                                          "unchanged", "redirects",  "not found",
                                          "ignored",   "unreadable", "alive at the end"};
    struct sp_table *table = sp_table_new("traces", "What the traces hold, in fetches", columns,
                                          sizeof columns / sizeof *columns);
    uint32_t *alive = sp_alloc((t->fetch_count + 1) * sizeof *alive);
    for (size_t i = 0; i < t->file_count; i++) {
        const struct sp_trace_file *file = &t->files[i];
        struct counts c = count_file(t, file);
        sp_table_text(table, file->name);
        sp_table_count(table, file->count);
        sp_table_count(table, c.content);
        sp_table_count(table, c.unchanged);
        sp_table_count(table, c.redirects);
        sp_table_count(table, c.dead);
        sp_table_count(table, file->ignored);
        sp_table_count(table, file->dead_letters);
        sp_table_count(table, sp_trace_alive(t, file->first, file->first + file->count, alive));
    }
    sp_evaluation_of_traces(e);
    sp_report_table(e->report, table);
    sp_report_textf(e->report, "%zu URLs and %zu distinct contents in all.", t->page_count,
                    t->distinct);
    sp_free(alive);
    return SP_OK;
}

const struct sp_experiment sp_experiment_traces = {"traces", "The traces", run, 0, 0};

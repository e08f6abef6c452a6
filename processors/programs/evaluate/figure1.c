/* Figure 1: how many pages there are of each length.
 *
 * Source: Zhu et al., WWW 2012, section 4: pages by their number of words, from 20 to 1,686, with
 * spikes and a concentration at 237. The length here is that of the signature: its distinct
 * shingles, or its words with signature.repeats = labelled.
 *
 * This limits a one-dimensional map: pages within a factor of tau of one another may be similar, so
 * the paper does not cut between them, and one machine gets the most crowded such range. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "evaluate/experiment.h"

enum { FIRST = 20, LAST = 1686, SIZES = LAST - FIRST + 1 };

struct lengths {
    uint32_t *at; /* ascending */
    size_t count;
};

static struct lengths lengths_of(const struct sp_trace *t, const struct sp_trace_file *file)
{
    struct lengths l = {sp_alloc((file->count + 1) * sizeof *l.at), 0};
    l.count = sp_trace_alive(t, file->first, file->first + file->count, l.at);
    for (size_t i = 0; i < l.count; i++)
        l.at[i] = t->fetches[l.at[i]].signature->shingle_total;
    if (l.count)
        qsort(l.at, l.count, sizeof *l.at, sp_by_u32);
    return l;
}

/* Returns the most frequent length in the paper's range, and its number of pages. */
static uint32_t commonest(const struct lengths *l, size_t *ret_pages)
{
    uint32_t best = 0;
    *ret_pages = 0;
    for (size_t i = 0, n = 0; i < l->count; i++) {
        n = i > 0 && l->at[i] == l->at[i - 1] ? n + 1 : 1;
        if (n > *ret_pages && l->at[i] >= FIRST && l->at[i] <= LAST) {
            *ret_pages = n;
            best = l->at[i];
        }
    }
    return best;
}

/* Returns the largest number of pages whose lengths are all within a factor of tau. */
static size_t most_crowded(const struct lengths *l, double tau, uint32_t *ret_from)
{
    size_t most = 0;
    *ret_from = 0;
    for (size_t first = 0, i = 0; i < l->count; i++) {
        while (l->at[first] < tau * l->at[i])
            first++;
        if (i - first + 1 > most) {
            most = i - first + 1;
            *ret_from = l->at[first];
        }
    }
    return most;
}

static void put_row(struct sp_table *table, const char *name, const struct lengths *l, double tau)
{
    size_t pages, inside = 0;
    uint32_t length = commonest(l, &pages), from;
    size_t crowded = most_crowded(l, tau, &from);
    for (size_t i = 0; i < l->count; i++)
        inside += l->at[i] >= FIRST && l->at[i] <= LAST;
    sp_table_text(table, name);
    sp_table_count(table, l->count);
    sp_table_percent(table, (double)inside / (double)l->count, 1);
    sp_table_count(table, l->at[l->count / 10]);
    sp_table_count(table, l->at[l->count / 2]);
    sp_table_count(table, l->at[l->count * 9 / 10]);
    sp_table_count(table, length);
    sp_table_count(table, pages);
    sp_table_count(table, from);
    sp_table_percent(table, (double)crowded / (double)l->count, 1);
    sp_table_number(table, 64.0 * (double)crowded / (double)l->count, 2);
}

static void put_plot(struct sp_report *report, const struct sp_series *series, size_t count)
{
    double x[SIZES];
    for (size_t i = 0; i < SIZES; i++)
        x[i] = (double)(FIRST + i);
    struct sp_plot plot = {.name = "figure-1",
                           .caption = "Pages of each length",
                           .x_label = "length",
                           .y_label = "pages",
                           .x = x,
                           .x_count = SIZES,
                           .y_from_zero = true,
                           .series = series,
                           .series_count = count};
    sp_report_plot(report, &plot);
}

static enum sp_err run(struct sp_evaluation *e)
{
    static const char *const columns[] = {"trace",
                                          "pages alive",
                                          "of 20 to 1,686",
                                          "tenth",
                                          "median",
                                          "nine tenths",
                                          "commonest length",
                                          "its pages",
                                          "most crowded range from",
                                          "its pages, share",
                                          "imbalance of that range on 64 machines"};
    const struct sp_trace *t = e->trace;
    double tau = e->options->bus.group.similarity.threshold;
    double *y = sp_calloc((size_t)SP_SERIES_MAX * SIZES, sizeof *y);
    struct sp_series series[SP_SERIES_MAX];
    size_t shown = 0;
    struct sp_table *table = sp_table_new("figure-1-lengths", "Lengths of the pages alive", columns,
                                          sizeof columns / sizeof *columns);
    for (size_t i = 0; i < t->file_count; i++) {
        struct lengths l = lengths_of(t, &t->files[i]);
        if (l.count)
            put_row(table, t->files[i].name, &l, tau);
        if (l.count && shown < SP_SERIES_MAX) {
            double *pages = y + shown * SIZES;
            for (size_t k = 0; k < l.count; k++)
                if (l.at[k] >= FIRST && l.at[k] <= LAST)
                    pages[l.at[k] - FIRST]++;
            series[shown++] = (struct sp_series){t->files[i].name, pages, false};
        }
        sp_free(l.at);
    }
    sp_report_textf(
        e->report,
        "The pages alive at the end, by length, in the paper's range of 20 to 1,686. The paper's "
        "2 million pages have spikes, and most pages have length 237. A range is crowded if all "
        "its pages are within a factor of τ = %g: by the paper's rule, a one-dimensional map "
        "does not cut inside such a range, so one machine has at least about its load.",
        tau);
    sp_evaluation_of_traces(e);
    sp_report_table(e->report, table);
    if (shown)
        put_plot(e->report, series, shown);
    sp_free(y);
    return SP_OK;
}

const struct sp_experiment sp_experiment_figure1 = {"figure1", "Figure 1: lengths of pages", run, 0,
                                                    0};

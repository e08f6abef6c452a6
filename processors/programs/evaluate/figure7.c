/* Figure 7: the cost of a new page, incrementally and from scratch, as the collection grows.
 *
 * Source: Zhu et al., WWW 2012, section 6.2.
 *
 * Incremental: every fetch goes through both tiers (local/bus.h, state in memory, committed every
 * COMMIT fetches); the time of the last tenth before each size is measured. From scratch: the
 * components of all pages alive (similarity/connected.h), which are found again for each batch of
 * fetches that share a result. Both need the signatures, so their cost is not counted. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "evaluate/experiment.h"
#include "similarity/connected.h"

enum {
    SIZES = 8,    /* each twice the one before */
    LEAST = 200,  /* fetches, for a time to be measured */
    COMMIT = 500, /* fetches between two commits */
    BATCHES = 4
};

static const uint64_t batches[BATCHES] = {1, 10, 100, 1000};

struct point {
    size_t fetches;
    size_t alive;
    double incremental; /* seconds a fetch */
    double scratch;     /* seconds for the whole collection */
    uint64_t compared;  /* pairs, from scratch */
    uint64_t groups;
};

/* ---- from scratch ---- */

static enum sp_err from_scratch(const struct sp_evaluate_options *o, const struct sp_trace *t,
                                struct point *p)
{
    uint32_t *alive = sp_alloc((p->fetches + 1) * sizeof *alive);
    p->alive = sp_trace_alive(t, 0, p->fetches, alive);
    struct sp_signature **signatures = sp_alloc((p->alive + 1) * sizeof(struct sp_signature *));
    uint32_t *first = sp_alloc((p->alive + 1) * sizeof *first);
    sp_trace_signatures(t, alive, p->alive, signatures);
    struct sp_connected_stats stats = {0};
    double start = sp_clock_thread_seconds();
    enum sp_err err = sp_connected(&o->bus.group.similarity, signatures, p->alive, first, &stats);
    p->scratch = sp_clock_thread_seconds() - start;
    p->compared = stats.compared;
    for (size_t i = 0; err == SP_OK && i < p->alive; i++)
        p->groups += first[i] == i;
    sp_free(first);
    sp_free(signatures);
    sp_free(alive);
    return err;
}

/* ---- incrementally ---- */

struct crawl {
    struct sp_db *db;
    struct sp_local_bus *bus;
    size_t fed;
    uint64_t published;
};

static void on_status(void *arg, const struct sp_status_event *event)
{
    (void)event;
    ((struct crawl *)arg)->published++;
}

static enum sp_err open_crawl(const struct sp_evaluate_options *o, struct crawl *c)
{
    c->db = sp_db_open_memory();
    return sp_local_bus_new(&o->bus, c->db, on_status, c, &c->bus);
}

static void close_crawl(struct crawl *c)
{
    if (c->bus)
        sp_local_bus_free(c->bus);
    sp_db_close(c->db);
}

static enum sp_err feed_to(struct crawl *c, const struct sp_trace *t, size_t end)
{
    enum sp_err err = SP_OK;
    while (c->fed < end && err == SP_OK) {
        err = sp_local_bus_feed(c->bus, sp_trace_message(t, c->fed++));
        if (err == SP_OK && c->fed % COMMIT == 0)
            err = sp_local_bus_flush(c->bus);
        if (err == SP_OK && c->fed % COMMIT == 0)
            err = sp_db_commit(c->db);
    }
    return err;
}

static enum sp_err measure_point(const struct sp_evaluate_options *o, const struct sp_trace *t,
                                 struct crawl *c, struct point *p)
{
    size_t window = p->fetches / 10 > LEAST ? p->fetches / 10 : LEAST;
    size_t from = p->fetches > window ? p->fetches - window : 0;
    if (from < c->fed)
        from = c->fed;
    enum sp_err err = feed_to(c, t, from);
    double start = sp_clock_thread_seconds();
    if (err == SP_OK)
        err = feed_to(c, t, p->fetches);
    p->incremental = (sp_clock_thread_seconds() - start) / (double)(p->fetches - from);
    return err == SP_OK ? from_scratch(o, t, p) : err;
}

/* ---- report ---- */

static double gain(const struct point *p, uint64_t batch)
{
    return p->scratch / ((double)batch * p->incremental);
}

static void put_table(const struct point *points, size_t count, struct sp_report *report)
{
    static const char *const columns[] = {"fetches",
                                          "pages alive",
                                          "pairs compared",
                                          "groups",
                                          "incremental, µs a fetch",
                                          "from scratch, s",
                                          "gain, batch of 1",
                                          "batch of 10",
                                          "batch of 100",
                                          "batch of 1,000"};
    struct sp_table *t = sp_table_new("figure-7-times", "Time for a result, by size", columns,
                                      sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        sp_table_count(t, points[i].fetches);
        sp_table_count(t, points[i].alive);
        sp_table_count(t, points[i].compared);
        sp_table_count(t, points[i].groups);
        sp_table_number(t, 1e6 * points[i].incremental, 1);
        sp_table_number(t, points[i].scratch, 4);
        for (size_t b = 0; b < BATCHES; b++)
            sp_table_number(t, gain(&points[i], batches[b]), 1);
    }
    sp_report_table(report, t);
}

static void put_plots(const struct point *points, size_t count, struct sp_report *report)
{
    double x[SIZES], times[1 + BATCHES][SIZES], gains[BATCHES][SIZES], paper[SIZES];
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)points[i].alive;
        times[0][i] = points[i].incremental;
        paper[i] = i + 1 == count ? 24 : NAN;
        for (size_t b = 0; b < BATCHES; b++) {
            times[1 + b][i] = points[i].scratch / (double)batches[b];
            gains[b][i] = gain(&points[i], batches[b]);
        }
    }
    struct sp_series series[] = {{"incremental", times[0], false},
                                 {"from scratch, batch of 1", times[1], false},
                                 {"batch of 10", times[2], false},
                                 {"batch of 100", times[3], false},
                                 {"batch of 1,000", times[4], false}};
    struct sp_plot plot = {.name = "figure-7",
                           .caption = "Time per page as the collection grows",
                           .x_label = "pages alive",
                           .y_label = "seconds a page",
                           .x = x,
                           .x_count = count,
                           .x_log = true,
                           .y_log = true,
                           .series = series,
                           .series_count = sizeof series / sizeof *series};
    sp_report_plot(report, &plot);
    struct sp_series gain_series[] = {{"batch of 1", gains[0], false},
                                      {"batch of 10", gains[1], false},
                                      {"batch of 100", gains[2], false},
                                      {"batch of 1,000", gains[3], false},
                                      {"paper, its largest size", paper, true}};
    plot.name = "figure-7-gain";
    plot.caption = "From scratch, divided by incremental";
    plot.y_label = "times";
    plot.series = gain_series;
    sp_report_plot(report, &plot);
}

static void put_report(const struct point *points, size_t count, struct sp_report *report)
{
    sp_report_textf(
        report,
        "Incremental: each fetch is processed by both tiers, after which every page that it "
        "concerns has its status; the state is in memory, with a commit every %d fetches. From "
        "scratch: the components of all pages alive are computed by an exact prefix filter, once "
        "for each batch of fetches that shares a result. The smaller the batch, the sooner its "
        "pages get a result, and the more the computation costs. The paper reports 24 times at "
        "its largest size. One thread, processor time; the fetches of all traces one after "
        "another.",
        COMMIT);
    if (count == 0) {
        sp_report_text(report, "There are too few fetches to take times of.");
        return;
    }
    put_table(points, count, report);
    put_plots(points, count, report);
}

static size_t choose_sizes(size_t fetches, struct point *points)
{
    size_t count = 0;
    for (size_t i = 0; i < SIZES; i++)
        if (fetches >> (SIZES - 1 - i) >= LEAST)
            points[count++] = (struct point){.fetches = fetches >> (SIZES - 1 - i)};
    return count;
}

static enum sp_err run(struct sp_evaluation *e)
{
    const struct sp_trace *t = e->trace;
    struct point points[SIZES];
    struct crawl crawl = {0};
    size_t count = choose_sizes(t->fetch_count, points);
    enum sp_err err = open_crawl(e->options, &crawl);
    for (size_t i = 0; i < count && err == SP_OK; i++) {
        sp_evaluation_say(e, "Figure 7", i, count);
        err = measure_point(e->options, t, &crawl, &points[i]);
    }
    close_crawl(&crawl);
    if (err != SP_OK)
        return sp_fault_set(e->fault, err, "figure 7: the crawl cannot be processed");
    put_report(points, count, e->report);
    return SP_OK;
}

const struct sp_experiment sp_experiment_figure7 = {
    "figure7", "Figure 7: incremental and from scratch", run, 0.5, 0};

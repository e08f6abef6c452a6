/* Figure 6: how much faster 2 to 64 machines compare than one.
 *
 * Source: Zhu et al., WWW 2012, section 6.1. Each machine's compare work is run and timed alone
 * (work.h); the slowest machine decides. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "evaluate/experiment.h"
#include "evaluate/kinds.h"
#include "evaluate/work.h"

/* The number of comparisons to make of each way's scans, and of the scan of the single machine that
 * is the reference. With 56 maps the experiment takes a minute or two for any size of trace. */
static const uint64_t MOST[SP_WORK_WAYS] = {150000, 1000000, 0};
static const uint64_t ONE_MOST[SP_WORK_WAYS] = {500000, 5000000, 0};
/* A machine with fewer contents than this finishes in microseconds, and its time is noise. */
enum { LEAST_EACH = 20 };
static const double PAPER_GAIN = 3.3; /* of 3D over 1D */

struct outcome {
    struct sp_kind_measure measure;
    struct sp_work work[SP_WORK_WAYS];
};

struct speeds {
    size_t contents;
    struct sp_work one[SP_WORK_WAYS];
    struct outcome lossless[SP_MAP_KINDS][SP_MACHINE_COUNTS];
    struct outcome bounded[SP_MAP_KINDS]; /* on the most machines */
};

static void run_map(const struct sp_work_options *o, uint32_t machines, struct outcome *ret)
{
    const struct sp_kind_routing routing = {o->similarity.threshold, o->routing, o->rho};
    ret->measure = sp_kind_measure(o->map, o->contents, o->split, machines, &routing);
    for (int way = 0; way < SP_WORK_WAYS; way++)
        sp_work_run(o, (enum sp_work_way)way, MOST[way], &ret->work[way]);
}

static enum sp_err run_kind(const struct sp_evaluation *e, const struct sp_distinct *s, size_t k,
                            struct speeds *v)
{
    const struct sp_local_bus_options *bus = &e->options->bus;
    for (size_t m = 0; m < SP_MACHINE_COUNTS; m++) {
        struct sp_partition_map map;
        uint32_t machines = sp_machine_counts[m];
        struct sp_work_options o = {.map = &map,
                                    .contents = s,
                                    .split = sp_map_kinds[k].split,
                                    .similarity = bus->group.similarity,
                                    .routing = SP_ROUTING_LOSSLESS,
                                    .rho = bus->compare.rho};
        sp_evaluation_say(e, "Figure 6", k * SP_MACHINE_COUNTS + m,
                          (size_t)SP_MAP_KINDS * SP_MACHINE_COUNTS);
        enum sp_err err =
            sp_kind_train(&sp_map_kinds[k], s, machines, o.similarity.threshold, &map);
        if (err != SP_OK)
            return err;
        run_map(&o, machines, &v->lossless[k][m]);
        o.routing = SP_ROUTING_BOUNDED;
        if (m + 1 == SP_MACHINE_COUNTS)
            run_map(&o, machines, &v->bounded[k]);
        sp_partition_done(&map);
    }
    return SP_OK;
}

static enum sp_err run_one(const struct sp_evaluation *e, const struct sp_distinct *s,
                           struct speeds *v)
{
    struct sp_partition_map one;
    const struct sp_work_options o = {.map = &one,
                                      .contents = s,
                                      .split = SP_SPLIT_SETTINGS,
                                      .similarity = e->options->bus.group.similarity,
                                      .routing = SP_ROUTING_LOSSLESS,
                                      .rho = 1};
    enum sp_err err = sp_partition_default(1, &one);
    if (err != SP_OK)
        return err;
    for (int way = 0; way < SP_WORK_WAYS; way++)
        sp_work_run(&o, (enum sp_work_way)way, ONE_MOST[way], &v->one[way]);
    sp_partition_done(&one);
    return SP_OK;
}

/* Returns the speed-up; NAN if there are too few contents to measure it. */
static double gain(const struct speeds *v, uint32_t machines, const struct sp_work *slow,
                   const struct sp_work *fast)
{
    return v->contents < (size_t)LEAST_EACH * machines ? NAN : slow->slowest / fast->slowest;
}

/* ---- report ---- */

static void put_speed_up(struct sp_report *report, const struct speeds *v, enum sp_work_way way,
                         const char *name, const char *caption)
{
    static const double ideal[SP_MACHINE_COUNTS] = {2, 4, 8, 16, 32, 64};
    const struct sp_series line = {"as many times", ideal, true};
    char table[64];
    double x[SP_MAP_KINDS][SP_MACHINE_COUNTS];
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        for (size_t m = 0; m < SP_MACHINE_COUNTS; m++)
            x[k][m] = gain(v, sp_machine_counts[m], &v->one[way], &v->lossless[k][m].work[way]);
    snprintf(table, sizeof table, "%s-speed-up", name);
    sp_kinds_table(report, table, caption, x, 2);
    sp_kinds_plot(report, name, caption, "times one machine", x, &line);
}

static void put_over_1d(struct sp_report *report, const struct speeds *v, enum sp_work_way way,
                        const char *name, const char *caption)
{
    const double paper[SP_MACHINE_COUNTS] = {NAN, NAN, NAN, NAN, NAN, PAPER_GAIN};
    const struct sp_series line = {"paper: 3D over 1D", paper, true};
    char table[64];
    double x[SP_MAP_KINDS][SP_MACHINE_COUNTS];
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        for (size_t m = 0; m < SP_MACHINE_COUNTS; m++)
            x[k][m] = gain(v, sp_machine_counts[m], &v->lossless[SP_KIND_PAPER_1D][m].work[way],
                           &v->lossless[k][m].work[way]);
    snprintf(table, sizeof table, "%s-table", name);
    sp_kinds_table(report, table, caption, x, 2);
    sp_kinds_plot(report, name, caption, "times the 1D grid", x, &line);
}

static void put_row(struct sp_table *t, const struct speeds *v, const struct sp_map_kind *kind,
                    const char *routing, const struct outcome *o)
{
    const struct sp_work *index = &o->work[SP_WORK_INDEX];
    uint64_t all = v->one[SP_WORK_INDEX].similar;
    sp_table_text(t, kind->label);
    sp_table_text(t, routing);
    sp_table_number(t, o->measure.imbalance, 2);
    sp_table_number(t, o->measure.visited, 2);
    sp_table_number(t, SP_MACHINES_MOST / o->measure.visited, 2);
    for (int way = SP_WORK_WAYS - 1; way >= 0; way--)
        sp_kinds_put(t, gain(v, SP_MACHINES_MOST, &v->one[way], &o->work[way]), 2);
    sp_table_number(t, (double)v->one[SP_WORK_FULL].met / (double)o->work[SP_WORK_FULL].met_most,
                    2);
    sp_table_percent(t, all ? 1 - (double)index->similar / (double)all : 0, 3);
}

static void put_most_machines(struct sp_report *report, const struct speeds *v)
{
    static const char *const columns[] = {"map",
                                          "routing",
                                          "imbalance",
                                          "machines visited",
                                          "64 / visited",
                                          "speed-up, index",
                                          "speed-up, scan ending early",
                                          "speed-up, scan",
                                          "scan, by pairs compared",
                                          "similar pairs lost"};
    struct sp_table *t = sp_table_new("figure-6-machines-64", "64 machines against one", columns,
                                      sizeof columns / sizeof *columns);
    for (size_t k = 0; k < SP_MAP_KINDS; k++) {
        put_row(t, v, &sp_map_kinds[k], "lossless", &v->lossless[k][SP_MACHINE_COUNTS - 1]);
        put_row(t, v, &sp_map_kinds[k], "bounded", &v->bounded[k]);
    }
    sp_report_heading(report, "64 machines");
    sp_report_text(
        report, "A page that visits v of 64 machines causes v times the look-ups of one machine, "
                "so an even distribution would give a speed-up of 64 / v. The last column but "
                "one counts pairs instead of seconds, so it is the same in every run.");
    sp_report_table(report, t);
}

static void put_report(const struct sp_distinct *s, const struct speeds *v,
                       struct sp_report *report)
{
    sp_report_textf(
        report,
        "The %zu distinct contents of the pages alive at the end arrive one after another. The "
        "comparisons of each machine are run and timed alone; the slowest machine decides. Scan: "
        "a page is compared with every row of each cell that it visits, as in the paper: %llu "
        "pairs on one machine, of which each run takes a sample and scales the time. Scan ending "
        "early: the same rows, but the lengths of the two pages are checked first, and counting "
        "ends when the threshold can no longer be reached. Index: a page is compared with the "
        "candidates that the machine's index finds. One machine takes %.1f s, %.2f s and %.3f s. "
        "Routing is lossless unless stated otherwise. Too small: fewer than %d contents for each "
        "machine, which are compared in microseconds.",
        s->count, (unsigned long long)v->one[SP_WORK_FULL].met, v->one[SP_WORK_FULL].slowest,
        v->one[SP_WORK_SCAN].slowest, v->one[SP_WORK_INDEX].slowest, LEAST_EACH);
    put_speed_up(report, v, SP_WORK_FULL, "figure-6", "Speed-up over one machine, scanning cells");
    sp_report_heading(report, "Against the paper's 1D");
    sp_report_textf(report,
                    "Compared with the paper's one-dimensional grid on the same number of "
                    "machines. The paper reports %.1f times for its 3D mapping.",
                    PAPER_GAIN);
    put_over_1d(report, v, SP_WORK_FULL, "figure-6-gain",
                "Throughput over the paper's 1D, scanning cells");
    put_over_1d(report, v, SP_WORK_SCAN, "figure-6-gain-early",
                "Throughput over the paper's 1D, scans ending early");
    sp_report_heading(report, "With the candidate index");
    put_speed_up(report, v, SP_WORK_INDEX, "figure-6-index",
                 "Speed-up over one machine, with the candidate index");
    put_most_machines(report, v);
}

static enum sp_err run(struct sp_evaluation *e)
{
    const struct sp_distinct *s = NULL;
    enum sp_err err = sp_evaluation_alive(e, &s);
    if (err != SP_OK)
        return err;
    if (s->count == 0) {
        sp_report_text(e->report, "No page is alive at the end: there is nothing to compare.");
        return SP_OK;
    }
    sp_evaluation_of_contents(e, s);
    struct speeds *v = sp_calloc(1, sizeof *v);
    v->contents = s->count;
    err = run_one(e, s, v);
    for (size_t k = 0; k < SP_MAP_KINDS && err == SP_OK; k++)
        err = run_kind(e, s, k, v);
    if (err == SP_OK)
        put_report(s, v, e->report);
    else
        sp_fault_set(e->fault, err, "figure 6: a map cannot be trained");
    sp_free(v);
    return err;
}

const struct sp_experiment sp_experiment_figure6 = {"figure6", "Figure 6: throughput", run, 11,
                                                    120};

/* Figure 4: how evenly maps load 2 to 64 machines; and how that lasts on later data.
 *
 * Source: Zhu et al., WWW 2012, section 6.1. The load of a machine is the number of distinct
 * contents it stores; the imbalance is the largest load over the mean. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "evaluate/experiment.h"
#include "evaluate/grids.h"
#include "evaluate/kinds.h"

enum { SLICES = 10, LEAST_IN_SLICE = 200, MADE_UP = 20000 };

static const double PAPER_CV = 0.0029;

/* Trained dictionaries are left out, because they would need the words of all contents again; these
 * maps use the lengths in the signatures. */
static const struct sp_map_kind lasting[] = {
    {"1D grid (paper)", SP_SLICING_GRID, 1, SP_SPLIT_TOTAL, 1, SP_PACKING_BALANCED},
    {"3D grid (paper)", SP_SLICING_GRID, 3, SP_SPLIT_SETTINGS, 1, SP_PACKING_BALANCED},
    {"3D grid, packed", SP_SLICING_GRID, 3, SP_SPLIT_SETTINGS, 64, SP_PACKING_BALANCED},
    {"1D k-d", SP_SLICING_KD, 1, SP_SPLIT_TOTAL, 1, SP_PACKING_NEIGHBOURS},
    {"3D k-d", SP_SLICING_KD, 3, SP_SPLIT_SETTINGS, 1, SP_PACKING_NEIGHBOURS},
};
enum { LASTING = sizeof lasting / sizeof *lasting };

static enum sp_err measure(const struct sp_distinct *s, double tau,
                           double ret_imbalance[SP_MAP_KINDS][SP_MACHINE_COUNTS])
{
    const struct sp_kind_routing routing = {tau, SP_ROUTING_LOSSLESS, 1};
    enum sp_err err = SP_OK;
    for (size_t k = 0; k < SP_MAP_KINDS && err == SP_OK; k++)
        for (size_t m = 0; m < SP_MACHINE_COUNTS && err == SP_OK; m++) {
            struct sp_partition_map map;
            uint32_t machines = sp_machine_counts[m];
            err = sp_kind_train(&sp_map_kinds[k], s, machines, tau, &map);
            if (err != SP_OK)
                break;
            ret_imbalance[k][m] =
                sp_kind_measure(&map, s, sp_map_kinds[k].split, machines, &routing).imbalance;
            sp_partition_done(&map);
        }
    return err;
}

static void put_imbalance(const struct sp_distinct *s,
                          double imbalance[SP_MAP_KINDS][SP_MACHINE_COUNTS],
                          struct sp_report *report)
{
    sp_report_textf(report,
                    "The %zu distinct contents of the pages alive at the end, on 2 to 64 "
                    "machines. For each number of machines a map is trained on them. Load "
                    "imbalance is the largest load divided by the mean load, idle machines "
                    "included. The paper shows this as a figure only.",
                    s->count);
    sp_kinds_table(report, "figure-4-imbalance", "Load imbalance by machines", imbalance, 3);
    sp_kinds_plot(report, "figure-4", "Load imbalance by machines", "largest / mean load",
                  imbalance, NULL);
}

/* ---- grids of one, two and three dimensions ---- */

static enum sp_err put_look(struct sp_table *table, const char *name, const struct sp_distinct *d,
                            double tau)
{
    struct sp_grid_look look;
    enum sp_err err = sp_grid_look(d, SP_MACHINES_MOST, tau, &look);
    if (err != SP_OK)
        return err;
    sp_table_text(table, name);
    sp_table_percent(table, look.spike, 1);
    sp_table_number(table, look.correlation, 2);
    for (size_t k = 0; k < SP_DIMS; k++)
        sp_table_number(table, look.imbalance[k], 2);
    for (size_t k = 0; k < SP_DIMS; k++)
        sp_table_percent(table, look.used[k], 0);
    return SP_OK;
}

static enum sp_err why(const struct sp_evaluation *e, const struct sp_distinct *s, double tau)
{
    static const char *const columns[] = {"contents",
                                          "most crowded range",
                                          "correlation of two lengths",
                                          "1D grid",
                                          "2D grid",
                                          "3D grid",
                                          "cells used, 1D",
                                          "2D",
                                          "3D"};
    static const struct {
        const char *name;
        double spike;
        bool apart;
    } made_up[] = {{"made up: no spike, one mix of words", 0, false},
                   {"made up: no spike, any mix of words", 0, true},
                   {"made up: half of one length, one mix", 0.5, false},
                   {"made up: half of one length, any mix", 0.5, true}};
    struct sp_table *table =
        sp_table_new("figure-4-why", "The paper's grids on 64 machines, and why", columns,
                     sizeof columns / sizeof *columns);
    enum sp_err err = put_look(table, "these traces", s, tau);
    for (size_t i = 0; i < sizeof made_up / sizeof *made_up && err == SP_OK; i++) {
        struct sp_distinct d;
        sp_grid_made_up(MADE_UP, made_up[i].spike, made_up[i].apart, &d);
        err = put_look(table, made_up[i].name, &d, tau);
        sp_distinct_done(&d);
    }
    sp_report_heading(e->report, "Is 3D better than 2D, and 2D than 1D?");
    sp_report_text(
        e->report,
        "In the paper it is. A grid cuts each length by itself, and its cells have equal load "
        "only if the lengths are independent. With sub-dictionaries of all words they are not: a "
        "page twice as long is twice as long in each. So contents lie along the diagonal, where "
        "3D has 4 of 64 cells, 2D 8 of 64, and 1D all. 1D suffers from a crowded range of "
        "lengths instead, which must not be cut. So the paper's order holds if many pages have "
        "about the same length but different mixes of words, like the pages of one template in a "
        "large crawl. It is reversed if lengths vary and are correlated. The generated contents "
        "show both. The k-d maps cut each part by itself and have neither weakness.");
    sp_report_table(e->report, table);
    return err;
}

/* ---- later data ---- */

struct drift {
    double trained;   /* imbalance on the first tenth */
    double mean;      /* and over the slices */
    double deviation; /* standard */
    double contents;  /* mean number of distinct contents in a slice */
};

static void take_slice(const struct sp_trace *t, size_t first, size_t end, struct sp_distinct *ret)
{
    uint32_t *fetches = sp_alloc((end - first + 1) * sizeof *fetches);
    for (size_t i = first; i < end; i++)
        fetches[i - first] = (uint32_t)i;
    sp_distinct_init(t, fetches, end - first, ret);
    sp_free(fetches);
}

static void take_slices(const struct sp_trace *t, const struct sp_trace_file *file,
                        struct sp_distinct ret_slices[SLICES + 1])
{
    size_t first = file->count / 10, rest = file->count - first;
    take_slice(t, file->first, file->first + first, &ret_slices[0]);
    for (size_t i = 0; i < SLICES; i++)
        take_slice(t, file->first + first + rest * i / SLICES,
                   file->first + first + rest * (i + 1) / SLICES, &ret_slices[1 + i]);
}

static enum sp_err measure_drift(const struct sp_distinct slices[SLICES + 1],
                                 const struct sp_map_kind *kind, uint32_t machines, double tau,
                                 struct drift *ret_drift)
{
    const struct sp_kind_routing routing = {tau, SP_ROUTING_LOSSLESS, 1};
    struct sp_partition_map map;
    struct drift d = {0};
    double imbalance[SLICES + 1], square = 0;
    enum sp_err err = sp_kind_train(kind, &slices[0], machines, tau, &map);
    if (err != SP_OK)
        return err;
    for (size_t i = 0; i <= SLICES; i++)
        imbalance[i] = sp_kind_measure(&map, &slices[i], kind->split, machines, &routing).imbalance;
    sp_partition_done(&map);
    d.trained = imbalance[0];
    for (size_t i = 1; i <= SLICES; i++) {
        d.mean += imbalance[i] / SLICES;
        d.contents += (double)slices[i].count / SLICES;
    }
    for (size_t i = 1; i <= SLICES; i++)
        square += (imbalance[i] - d.mean) * (imbalance[i] - d.mean);
    d.deviation = sqrt(square / SLICES);
    *ret_drift = d;
    return SP_OK;
}

static void put_drift(struct sp_table *table, const char *trace, const struct sp_map_kind *kind,
                      uint32_t machines, const struct drift *d)
{
    sp_table_text(table, trace);
    sp_table_text(table, kind->label);
    sp_table_count(table, machines);
    sp_table_number(table, d->contents, 0);
    sp_table_number(table, d->trained, 3);
    sp_table_number(table, d->mean, 3);
    sp_table_percent(table, d->deviation / d->mean, 2);
}

static enum sp_err drift_of_file(const struct sp_evaluation *e, const struct sp_trace_file *file,
                                 struct sp_table *table)
{
    static const uint32_t machines[] = {2, 8, 64};
    struct sp_distinct slices[SLICES + 1];
    enum sp_err err = SP_OK;
    take_slices(e->trace, file, slices);
    bool enough = true;
    for (size_t i = 0; i <= SLICES; i++)
        enough &= slices[i].count >= LEAST_IN_SLICE;
    for (size_t k = 0; k < LASTING && enough && err == SP_OK; k++)
        for (size_t m = 0; m < sizeof machines / sizeof *machines && err == SP_OK; m++) {
            struct drift d;
            sp_evaluation_say(e, file->name, k, LASTING);
            err = measure_drift(slices, &lasting[k], machines[m],
                                e->options->bus.group.similarity.threshold, &d);
            if (err == SP_OK)
                put_drift(table, file->name, &lasting[k], machines[m], &d);
        }
    for (size_t i = 0; i <= SLICES; i++)
        sp_distinct_done(&slices[i]);
    return err;
}

static enum sp_err later_data(const struct sp_evaluation *e)
{
    const struct sp_trace *t = e->trace;
    static const char *const columns[] = {"trace",
                                          "map",
                                          "machines",
                                          "contents a slice",
                                          "imbalance when trained",
                                          "mean of ten later",
                                          "CV of the ten"};
    struct sp_table *table = sp_table_new("figure-4-later", "Imbalance on later data", columns,
                                          sizeof columns / sizeof *columns);
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < t->file_count && err == SP_OK; i++)
        err = drift_of_file(e, &t->files[i], table);
    sp_report_heading(e->report, "On later data");
    sp_report_textf(
        e->report,
        "Each map is trained on the first tenth of a trace's fetches and loaded with the "
        "distinct contents of ten later slices, each a tenth of the rest. CV is the standard "
        "deviation of the ten imbalances divided by their mean; the paper prints %.2f %%. If n "
        "contents are spread over m machines by chance alone, the loads differ by sqrt(m / n). "
        "Traces with slices of fewer than %d contents are left out.",
        100 * PAPER_CV, LEAST_IN_SLICE);
    sp_report_table(e->report, table);
    return err;
}

static enum sp_err run(struct sp_evaluation *e)
{
    double imbalance[SP_MAP_KINDS][SP_MACHINE_COUNTS];
    const struct sp_distinct *s = NULL;
    enum sp_err err = sp_evaluation_alive(e, &s);
    if (err != SP_OK)
        return err;
    if (s->count == 0) {
        sp_report_text(e->report, "No page is alive at the end: there is nothing to balance.");
    } else {
        sp_evaluation_of_contents(e, s);
        err = measure(s, e->options->bus.group.similarity.threshold, imbalance);
        if (err == SP_OK)
            put_imbalance(s, imbalance, e->report);
        if (err == SP_OK)
            err = why(e, s, e->options->bus.group.similarity.threshold);
    }
    sp_evaluation_of_traces(e);
    if (err == SP_OK)
        err = later_data(e);
    return err == SP_OK ? SP_OK : sp_fault_set(e->fault, err, "figure 4: a map cannot be trained");
}

const struct sp_experiment sp_experiment_figure4 = {"figure4", "Figure 4: load imbalance", run, 0.8,
                                                    0};

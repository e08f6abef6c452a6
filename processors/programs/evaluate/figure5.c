/* Figure 5: how many transfers of pages between machines routing saves.
 *
 * Source: Zhu et al., WWW 2012, section 6.1. Without routing each page would be sent to all other
 * machines; a page's own machine costs it no transfer. */
#include "base/mem.h"
#include "evaluate/experiment.h"
#include "evaluate/kinds.h"

enum { TAUS = 9, ROUTINGS = 2, PRINTED_TAUS = 5, PRINTED_KINDS = 2 };

/* As printed: machines on x, a curve for each of these. */
static const double printed_taus[PRINTED_TAUS] = {0.5, 0.6, 0.7, 0.8, 0.9};
static const struct {
    size_t kind;
    enum sp_routing routing;
    const char *name;
    const char *caption;
} printed[PRINTED_KINDS] = {
    {SP_KIND_PAPER_3D, SP_ROUTING_BOUNDED, "figure-5", "Transfers saved, 3D grid, bounded routing"},
    {SP_KIND_KD_3D, SP_ROUTING_LOSSLESS, "figure-5-kd",
     "Transfers saved, 3D k-d, lossless routing"}};

static const double taus[TAUS] = {0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9};
static const enum sp_routing routings[ROUTINGS] = {SP_ROUTING_LOSSLESS, SP_ROUTING_BOUNDED};

struct savings {
    double saved[ROUTINGS][SP_MAP_KINDS][TAUS];
    double visited[ROUTINGS][SP_MAP_KINDS][TAUS];
};

static enum sp_err measure(const struct sp_evaluation *e, const struct sp_distinct *s,
                           struct savings *ret)
{
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        for (size_t i = 0; i < TAUS; i++) {
            struct sp_partition_map map;
            sp_evaluation_say(e, "Figure 5", k * TAUS + i, (size_t)SP_MAP_KINDS * TAUS);
            enum sp_err err = sp_kind_train(&sp_map_kinds[k], s, SP_MACHINES_MOST, taus[i], &map);
            if (err != SP_OK)
                return err;
            for (size_t r = 0; r < ROUTINGS; r++) {
                const struct sp_kind_routing routing = {taus[i], routings[r],
                                                        e->options->bus.compare.rho};
                struct sp_kind_measure m =
                    sp_kind_measure(&map, s, sp_map_kinds[k].split, SP_MACHINES_MOST, &routing);
                ret->saved[r][k][i] = m.saved;
                ret->visited[r][k][i] = m.visited;
            }
            sp_partition_done(&map);
        }
    return SP_OK;
}

/* ---- as printed ---- */

static enum sp_err measure_printed(const struct sp_evaluation *e, const struct sp_distinct *s,
                                   size_t which, double ret_saved[PRINTED_TAUS][SP_MACHINE_COUNTS])
{
    const struct sp_map_kind *kind = &sp_map_kinds[printed[which].kind];
    for (size_t i = 0; i < PRINTED_TAUS; i++)
        for (size_t m = 0; m < SP_MACHINE_COUNTS; m++) {
            struct sp_partition_map map;
            const struct sp_kind_routing routing = {printed_taus[i], printed[which].routing,
                                                    e->options->bus.compare.rho};
            uint32_t machines = sp_machine_counts[m];
            enum sp_err err = sp_kind_train(kind, s, machines, printed_taus[i], &map);
            if (err != SP_OK)
                return err;
            ret_saved[i][m] = sp_kind_measure(&map, s, kind->split, machines, &routing).saved;
            sp_partition_done(&map);
        }
    return SP_OK;
}

static void put_printed(struct sp_report *report, size_t which,
                        double saved[PRINTED_TAUS][SP_MACHINE_COUNTS])
{
    static const char *const labels[PRINTED_TAUS] = {"τ = 0.5", "τ = 0.6", "τ = 0.7", "τ = 0.8",
                                                     "τ = 0.9"};
    double machines[SP_MACHINE_COUNTS];
    struct sp_series series[PRINTED_TAUS];
    for (size_t m = 0; m < SP_MACHINE_COUNTS; m++)
        machines[m] = sp_machine_counts[m];
    for (size_t i = 0; i < PRINTED_TAUS; i++)
        series[i] = (struct sp_series){labels[i], saved[i], false};
    struct sp_plot plot = {.name = printed[which].name,
                           .caption = printed[which].caption,
                           .x_label = "machines",
                           .y_label = "share of transfers saved",
                           .x = machines,
                           .x_count = SP_MACHINE_COUNTS,
                           .y_from_zero = true,
                           .series = series,
                           .series_count = PRINTED_TAUS};
    sp_report_plot(report, &plot);
}

static enum sp_err run_printed(const struct sp_evaluation *e, const struct sp_distinct *s)
{
    enum sp_err err = SP_OK;
    sp_report_heading(e->report, "As printed: over machines, a curve for each threshold");
    sp_report_text(
        e->report,
        "The paper's figure: its 3D grid with its bounded routing, and the same for the k-d maps "
        "with lossless routing. If a grid has fewer cells than machines, nothing is sent to the "
        "idle machines, which counts as saved.");
    for (size_t which = 0; which < PRINTED_KINDS && err == SP_OK; which++) {
        double saved[PRINTED_TAUS][SP_MACHINE_COUNTS];
        err = measure_printed(e, s, which, saved);
        if (err == SP_OK)
            put_printed(e->report, which, saved);
    }
    return err;
}

/* ---- over thresholds, on the most machines ---- */

static void put_table(struct sp_report *report, const char *name, const char *caption,
                      double values[SP_MAP_KINDS][TAUS], bool percent)
{
    const char *columns[1 + SP_MAP_KINDS] = {"τ"};
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        columns[1 + k] = sp_map_kinds[k].label;
    struct sp_table *t = sp_table_new(name, caption, columns, 1 + SP_MAP_KINDS);
    for (size_t i = 0; i < TAUS; i++) {
        sp_table_number(t, taus[i], 2);
        for (size_t k = 0; k < SP_MAP_KINDS; k++)
            if (percent)
                sp_table_percent(t, values[k][i], 1);
            else
                sp_table_number(t, values[k][i], 2);
    }
    sp_report_table(report, t);
}

static void put_plot(struct sp_report *report, const char *name, const char *caption,
                     double saved[SP_MAP_KINDS][TAUS])
{
    struct sp_series series[SP_MAP_KINDS];
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        series[k] = (struct sp_series){sp_map_kinds[k].label, saved[k], false};
    struct sp_plot plot = {.name = name,
                           .caption = caption,
                           .x_label = "similarity threshold τ",
                           .y_label = "share of transfers saved",
                           .x = taus,
                           .x_count = TAUS,
                           .y_from_zero = true,
                           .series = series,
                           .series_count = SP_MAP_KINDS};
    sp_report_plot(report, &plot);
}

static void put_report(const struct sp_evaluate_options *o, const struct sp_distinct *s,
                       struct savings *v, struct sp_report *report)
{
    sp_report_textf(
        report,
        "The %zu distinct contents of the pages alive at the end on %d machines, compared with "
        "sending each page to the %d others. Each map is trained for its threshold. Lossless "
        "routing misses no pair with J >= τ. Bounded is the paper's condition with ρ = %.2f, "
        "which may miss some. The paper shows this as a figure only.",
        s->count, SP_MACHINES_MOST, SP_MACHINES_MOST - 1, o->bus.compare.rho);
    put_table(report, "figure-5-lossless-saved", "Transfers saved, lossless routing", v->saved[0],
              true);
    put_plot(report, "figure-5-lossless", "Transfers saved on 64 machines, lossless routing",
             v->saved[0]);
    put_table(report, "figure-5-bounded-saved", "Transfers saved, bounded routing", v->saved[1],
              true);
    put_plot(report, "figure-5-bounded", "Transfers saved on 64 machines, bounded routing",
             v->saved[1]);
    put_table(report, "figure-5-lossless-visited",
              "Machines that a page visits, its own included, lossless routing", v->visited[0],
              false);
    put_table(report, "figure-5-bounded-visited",
              "Machines that a page visits, its own included, bounded routing", v->visited[1],
              false);
}

static enum sp_err run(struct sp_evaluation *e)
{
    const struct sp_distinct *s = NULL;
    enum sp_err err = sp_evaluation_alive(e, &s);
    if (err != SP_OK)
        return err;
    if (s->count == 0) {
        sp_report_text(e->report, "No page is alive at the end: there is nothing to send.");
        return SP_OK;
    }
    sp_evaluation_of_contents(e, s);
    struct savings *v = sp_calloc(1, sizeof *v);
    err = measure(e, s, v);
    if (err == SP_OK)
        put_report(e->options, s, v, e->report);
    if (err == SP_OK)
        err = run_printed(e, s);
    if (err != SP_OK)
        sp_fault_set(e->fault, err, "figure 5: a map cannot be trained");
    sp_free(v);
    return err;
}

const struct sp_experiment sp_experiment_figure5 = {"figure5", "Figure 5: transfers saved", run, 4,
                                                    0};

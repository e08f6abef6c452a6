/* Figure 5: how many transfers of pages between machines routing saves.
 *
 * Source: Zhu et al., WWW 2012, section 6.1. Without routing each page would be sent to all other
 * machines; a page's own machine costs it no transfer. */
#include "base/mem.h"
#include "evaluate/contents.h"

enum { TAUS = 9, ROUTINGS = 2 };

static const double taus[TAUS] = {0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9};
static const enum sp_routing routings[ROUTINGS] = {SP_ROUTING_LOSSLESS, SP_ROUTING_BOUNDED};

struct savings {
    double saved[ROUTINGS][SP_MAP_KINDS][TAUS];
    double visited[ROUTINGS][SP_MAP_KINDS][TAUS];
};

static enum sp_err measure(const struct sp_evaluate_options *o, const struct sp_contents *s,
                           struct savings *ret)
{
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        for (size_t i = 0; i < TAUS; i++) {
            struct sp_partition_map map;
            sp_evaluate_say(o, "Figure 5", k * TAUS + i, (size_t)SP_MAP_KINDS * TAUS);
            enum sp_err err =
                sp_contents_train(s, &sp_map_kinds[k], SP_MACHINES_MOST, taus[i], &map);
            if (err != SP_OK)
                return err;
            for (size_t r = 0; r < ROUTINGS; r++) {
                struct sp_map_measure m = sp_contents_measure(
                    &map, s->lengths[sp_map_kinds[k].split], s->count, SP_MACHINES_MOST, taus[i],
                    routings[r], o->run.bus.compare.rho);
                ret->saved[r][k][i] = m.saved;
                ret->visited[r][k][i] = m.visited;
            }
            sp_partition_done(&map);
        }
    return SP_OK;
}

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

static void put_report(const struct sp_evaluate_options *o, const struct sp_contents *s,
                       struct savings *v, struct sp_report *report)
{
    sp_report_textf(
        report,
        "The %zu distinct contents alive at the end on %d machines, against sending each page to "
        "the %d others; each map is trained for its threshold. Lossless routing misses no pair with "
        "J >= τ. Bounded is the paper's condition with ρ = %.2f, which may. The paper prints this "
        "as a figure only.",
        s->count, SP_MACHINES_MOST, SP_MACHINES_MOST - 1, o->run.bus.compare.rho);
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

static enum sp_err run(const struct sp_evaluate_options *options, const struct sp_trace *t,
                       struct sp_report *report, const char **ret_message)
{
    const struct sp_contents *s = NULL;
    enum sp_err err = sp_contents_alive(options, t, &s, ret_message);
    if (err != SP_OK)
        return err;
    if (s->count == 0) {
        sp_report_text(report, "No page is alive at the end: there is nothing to send.");
    } else {
        struct savings *v = sp_calloc(1, sizeof *v);
        *ret_message = "figure 5: a map cannot be trained";
        err = measure(options, s, v);
        if (err == SP_OK)
            put_report(options, s, v, report);
        sp_free(v);
    }
    return err;
}

const struct sp_experiment sp_experiment_figure5 = {"figure5", "Figure 5: transfers saved", run};

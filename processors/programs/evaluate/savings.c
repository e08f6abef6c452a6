/* See savings.h. Source: Zhu et al., WWW 2012, section 6.4 and Figure 9.
 *
 *   scheme A   removes 5 % of the pages before serving, the rest while answering
 *   scheme B   removes 33 % before, by the duplicate service, which needs machines of its own
 *   tier 1     1.4 or 2.5 billion pages, searched for each query
 *   tier 2     the rest, searched for a quarter to a third of the queries
 *   each replicated twice; 3 to 8 billion pages crawled; saved: 1 - B / A
 *
 *   A(N) = R (T + f ((1 - 0.05) N - T)) / P
 *   B(N) = R (T / (1 + g) + f ((1 - 0.33) N - T)) / P + N / Q
 *
 * R replicas, P pages an online machine holds, f = 0.3 the share of the queries that reach tier 2,
 * so that a machine can serve more pages, g the further share of queries that B's tier 1 serves.
 * The paper prints R, T, f's and g's ranges and the result, 8.2 to 25.6 %, but neither P nor Q: P
 * is a parameter, and only P / Q matters; Q comes from the index of tier 2 as it is measured here.
 * Where all pages fit into tier 1, tier 2 is empty. */
#include "evaluate/savings.h"

#include <math.h>

static const double REMOVED_A = 0.05, REMOVED_B = 0.33, TIER_2_QUERIES = 0.3;

enum { SIZES = 11 };

const struct sp_saving_case sp_saving_cases[SP_SAVING_CASES] = {
    {"T1.4, 5 % more traffic", 1.4e9, 0.05},
    {"T1.4, 10 % more traffic", 1.4e9, 0.10},
    {"T2.5, 5 % more traffic", 2.5e9, 0.05},
    {"T2.5, 10 % more traffic", 2.5e9, 0.10}};

static double online(const struct sp_cost_options *c, double pages, double tier1, double gain)
{
    double first = fmin(tier1, pages), second = pages - first;
    return c->replicas * (first / (1 + gain) + TIER_2_QUERIES * second) / c->online_pages;
}

double sp_saving(const struct sp_cost_options *c, const struct sp_saving_case *which, double pages,
                 double offline_pages)
{
    double a = online(c, (1 - REMOVED_A) * pages, which->tier1, 0);
    double b = online(c, (1 - REMOVED_B) * pages, which->tier1, which->gain);
    return 1 - (b + pages / offline_pages) / a;
}

void sp_savings_put(const struct sp_cost_options *c, double offline_pages, struct sp_report *report)
{
    const char *columns[1 + SP_SAVING_CASES] = {"billions of pages"};
    double x[SIZES], y[SP_SAVING_CASES][SIZES], least = 1, most = -1;
    struct sp_series series[SP_SAVING_CASES];
    for (size_t k = 0; k < SP_SAVING_CASES; k++) {
        columns[1 + k] = sp_saving_cases[k].name;
        series[k] = (struct sp_series){sp_saving_cases[k].name, y[k], false};
    }
    struct sp_table *t = sp_table_new("figure-9-savings-table", "Machines saved by scheme B",
                                      columns, 1 + SP_SAVING_CASES);
    for (size_t i = 0; i < SIZES; i++) {
        x[i] = 3 + 0.5 * (double)i;
        sp_table_number(t, x[i], 1);
        for (size_t k = 0; k < SP_SAVING_CASES; k++) {
            y[k][i] = sp_saving(c, &sp_saving_cases[k], 1e9 * x[i], offline_pages);
            least = fmin(least, y[k][i]);
            most = fmax(most, y[k][i]);
            sp_table_percent(t, y[k][i], 1);
        }
    }
    struct sp_plot plot = {.name = "figure-9-savings",
                           .caption = "Share of all machines that scheme B saves",
                           .x_label = "billions of pages crawled",
                           .y_label = "1 - cost B / cost A",
                           .x = x,
                           .x_count = SIZES,
                           .y_from_zero = true,
                           .series = series,
                           .series_count = SP_SAVING_CASES};
    sp_report_heading(report, "As printed: what removing duplicates saves in serving");
    sp_report_textf(
        report,
        "The paper's two schemes: A removes 5 %% of the pages before they are served, B 33 %%, "
        "with a duplicate service of its own. Tier 1 has 1.4 or 2.5 billion pages and gets each "
        "query, tier 2 has the rest and gets %g %% of the queries; %g replicas; %g million pages "
        "on an online machine (--cost online=,replicas=); %.3g million pages on a machine of the "
        "duplicate service, which follows from memory=, index= and the share of pages with a "
        "content of their own. Saved: %.1f to %.1f %%; the paper has 8.2 to 25.6 %%, and does "
        "not print the number of pages on a machine.",
        100 * TIER_2_QUERIES, c->replicas, c->online_pages / 1e6, offline_pages / 1e6, 100 * least,
        100 * most);
    sp_report_plot(report, &plot);
    sp_report_table(report, t);
}

/* The paper's Figure 9: machines saved by removing duplicates before they are served. Private to
 * this folder and its tests. */
#ifndef SP_EVALUATE_SAVINGS_H
#define SP_EVALUATE_SAVINGS_H

#include "evaluate/experiment.h"

/* What a curve of the figure is of. */
struct sp_saving_case {
    const char *name;
    double tier1; /* pages searched for each query */
    double gain;  /* the further share of traffic that scheme B's tier 1 serves, as its results
                     have fewer duplicates: the paper has 5 to 10 % */
};

enum { SP_SAVING_CASES = 4 };

extern const struct sp_saving_case sp_saving_cases[SP_SAVING_CASES];

/* The share of the machines that scheme B saves, for so many crawled pages. `offline_pages`: that
 * one machine of the duplicate service takes. */
double sp_saving(const struct sp_cost_options *c, const struct sp_saving_case *which, double pages,
                 double offline_pages);

/* The figure as a part of a section. */
void sp_savings_put(const struct sp_cost_options *c, double offline_pages,
                    struct sp_report *report);

#endif

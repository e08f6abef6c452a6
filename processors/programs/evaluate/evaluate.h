/* The paper's evaluation on a user's own crawl: `samepage evaluate`.
 *
 * Source: Zhu et al., WWW 2012, section 6. The traces are read once, into signatures (trace.h);
 * each experiment looks at them and writes its section of the report (report/report.h).
 *
 * To add an experiment:
 *   1  write evaluate/NAME.c with a `const struct sp_experiment sp_experiment_NAME` (experiment.h);
 *      the section is begun for it already
 *   2  name it in SP_EXPERIMENTS (experiment.h), in the order of the report, and in CMakeLists.txt
 *   3  options of its own: a field of sp_evaluate_options, its default in
 *      sp_evaluate_options_default (evaluate.c), and its parsing in cli/commands/evaluate.c
 *
 * Times come from base/clock.h and appear only in the report.
 *
 * Thread rule: one thread; reading uses the threads of the run pipeline. */
#ifndef SP_EVALUATE_EVALUATE_H
#define SP_EVALUATE_EVALUATE_H

#include "base/fault.h"
#include "input/input.h"
#include "input/readings.h"
#include "local/bus.h"
#include "text/text.h"

/* Parameters of the cost model (figure9.c). */
struct sp_cost_options {
    double pages;       /* known at a time; default 1e10 */
    double rate;        /* fetches a day; default 1e9 */
    double cores;       /* of a machine; default 8 */
    double utilisation; /* share of them that may be busy, above 0 to 1; default 0.6 */
    double memory_gib;  /* of a machine; default 32 */
    double price;       /* of a machine, an hour; default 0.4 */
    double hours;       /* between two runs from scratch; default 24 */
    double index_bytes; /* of tier 2, for each distinct content; default 700 */
    /* Of the paper's own model (savings.h): */
    double online_pages; /* that a machine of the online service holds; default 5e6 */
    double replicas;     /* of the online service; default 2 */
};

void sp_cost_options_default(struct sp_cost_options *ret_options);

struct sp_evaluate_options {
    const char *const *traces; /* files, each a trace in order of time */
    size_t trace_count;
    const char *const *labelled; /* for `methods` and `huang` (labelled.h); none: it is left out */
    size_t labelled_count;
    const char *const *keys; /* for the experiment `predict`: files of URL, tab, key */
    size_t key_count;
    double explore;          /* of the experiment `predict`: predict.explore */
    const char *report;      /* directory */
    const char *command;     /* what repeats this report */
    const char *settings;    /* the configuration, a line a setting */
    const char *const *only; /* names of experiments; none: all of them */
    size_t only_count;
    struct sp_cost_options cost;
    const char *term; /* of collection C of the experiment `archive`; default "expense" */
    const char *temp; /* directory of its temporary files; default "/tmp" */
    struct sp_input_options input;
    struct sp_text_options text;
    struct sp_readings *readings;    /* of the traces; may be NULL */
    uint32_t threads;                /* as for sp_pipeline_workers */
    struct sp_local_bus_options bus; /* of it: similarity, routing, rho */
    /* Shows progress; may be NULL. */
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t of);
    void *progress_arg;
    /* Tells, once the traces are read, how many experiments follow, on how many distinct contents,
     * and how long they take, roughly; may be NULL. */
    void (*expect)(void *arg, size_t experiments, size_t contents, double seconds);
};

void sp_evaluate_options_default(struct sp_evaluate_options *ret_options);

struct sp_evaluation; /* experiment.h */

struct sp_experiment {
    const char *name;  /* as in --only: lower-case letters, digits and `-` */
    const char *title; /* of its section */
    enum sp_err (*run)(struct sp_evaluation *evaluation);
    /* How long it takes, roughly: measured with 2,600 distinct contents of some 400
     * shingles on one busy core. */
    double ms_each;      /* for each distinct content of the traces */
    double most_seconds; /* however many there are; 0: no bound */
};

/* The experiment of that number, NULL after the last; and by its name. */
const struct sp_experiment *sp_experiment_at(size_t number);
const struct sp_experiment *sp_experiment_named(const char *name);

/* Reads the traces, runs the experiments, writes the report. On failure the fault says what and
 * what to do. */
enum sp_err sp_evaluate(const struct sp_evaluate_options *options, struct sp_fault *fault);

#endif

/* What an experiment gets, and the list of them. Private to this folder. */
#ifndef SP_EVALUATE_EXPERIMENT_H
#define SP_EVALUATE_EXPERIMENT_H

#include "evaluate/distinct.h"
#include "evaluate/evaluate.h"
#include "evaluate/labelled.h"
#include "report/report.h"

/* One line each, in the order of the report. */
#define SP_EXPERIMENTS(X)                                                                          \
    X(summary)                                                                                     \
    X(traces)                                                                                      \
    X(figure1)                                                                                     \
    X(figure4)                                                                                     \
    X(figure5)                                                                                     \
    X(rho)                                                                                         \
    X(language)                                                                                    \
    X(batch)                                                                                       \
    X(figure6)                                                                                     \
    X(figure7)                                                                                     \
    X(table1)                                                                                      \
    X(figure8)                                                                                     \
    X(daily)                                                                                       \
    X(figure9)                                                                                     \
    X(predict)                                                                                     \
    X(archive)                                                                                     \
    X(methods)                                                                                     \
    X(huang)

#define X(name) extern const struct sp_experiment sp_experiment_##name;
SP_EXPERIMENTS(X)
#undef X

/* From how many on a sample is not called small. By chance alone a share of 10,000 pages is off by
 * at most one percentage point, and one of 1,000 pairs or updates by three (95 % intervals). */
enum { SP_ENOUGH_PAGES = 10000, SP_ENOUGH_EVENTS = 1000 };

struct sp_evaluation {
    const struct sp_evaluate_options *options;
    const struct sp_trace *trace;
    struct sp_report *report;
    struct sp_fault *fault; /* an experiment that fails sets it */
    char doing[96];         /* the experiment under way, for people waiting */
    double reading_seconds; /* of processor time, of all threads */
    double start_bytes;     /* of memory, before anything was read */
    /* What experiments share: */
    struct sp_distinct alive; /* for sp_evaluation_alive */
    bool alive_made;
};

/* The most memory that the process had until now, in bytes. */
double sp_evaluation_peak_bytes(void);
/* Says what is being done (`of` 0: unknown). */
void sp_evaluation_say(const struct sp_evaluation *e, const char *what, uint64_t done, uint64_t of);

/* Each declares what the following tables and plots count (sp_report_sample): the pages alive at
 * the end, with which a section begins; those of one trace; those of the smallest trace, if each
 * trace has a row or a curve; distinct contents. */
void sp_evaluation_of_alive(const struct sp_evaluation *e);
void sp_evaluation_of_trace(const struct sp_evaluation *e, const struct sp_trace_file *file);
void sp_evaluation_of_traces(const struct sp_evaluation *e);
void sp_evaluation_of_contents(const struct sp_evaluation *e, const struct sp_distinct *contents);
/* A number of things that happened: pairs, updates. */
void sp_evaluation_of_events(struct sp_report *report, uint64_t count, const char *what);

/* The contents of the pages alive after all fetches, with all lengths; made when first asked for.
 * On failure the evaluation's fault says why. */
enum sp_err sp_evaluation_alive(struct sp_evaluation *e, const struct sp_distinct **ret_alive);

/* Introduces the experiment, then tries each labelled set (options->labelled), numbered from 1;
 * without any, the report says so. On failure the evaluation's fault says why. */
enum sp_err sp_evaluation_labelled(struct sp_evaluation *e, void (*introduce)(struct sp_report *),
                                   enum sp_err (*try_set)(const struct sp_evaluation *e,
                                                          const struct sp_labelled *set,
                                                          size_t number));

#endif

/* The main job on one machine: crawled pages in, duplicate statuses out.
 *
 *   worker threads     files -> chunks, one thread at a time  (input/)
 *                      chunk -> records -> signatures         (input/, signature/)
 *   tier thread        signatures -> groups, statuses         (local/bus.h), outputs, barriers
 *
 * Chunks reach the tier thread in input order, so the result does not depend on the number of
 * threads. Every `barrier_pages` records, state, input position and output positions are committed
 * as one batch; a run that was killed continues after the last barrier and truncates its outputs to
 * their lengths at that barrier. */
#ifndef SP_LOCAL_RUN_H
#define SP_LOCAL_RUN_H

#include "input/input.h"
#include "input/readings.h"
#include "local/bus.h"
#include "local/groups.h"
#include "local/watching.h"
#include "text/text.h"

struct sp_run_options {
    const char *const *inputs;
    size_t input_count;
    const char *state;       /* directory; NULL: in memory, gone with the process */
    const char *fingerprint; /* of the configuration that gives the state its meaning */
    const char *output;      /* status events; NULL: not wanted */
    const char *groups;      /* NULL: not wanted */
    const char *dead_letter; /* NULL: counted only */
    bool totals;             /* counts the pages of the whole state at the end */
    bool verify;
    const char *const *forget; /* URLs of pages to forget, after the inputs */
    size_t forget_count;
    bool compact;      /* at the end all files of the state are rewritten */
    bool ends_process; /* after it; the memory of the stages is not freed */
    uint32_t threads;  /* 1: everything but commits in the calling thread; 0: one a core */
    uint64_t barrier_pages;
    uint64_t max_future_ms; /* of a fetch's time ahead of those read before it; 0: any */
    struct sp_text_options text;
    struct sp_input_options input;
    struct sp_rocksdb_options store;
    struct sp_local_bus_options bus; /* with the map */
    struct sp_readings *readings;    /* may be NULL */
    struct sp_shadow_options audit;  /* share 0: none; similarity and rules as the bus's */
    /* Called now and then from the tier thread; may be NULL. bytes_total 0: unknown. */
    void (*progress)(void *arg, uint64_t pages, uint64_t bytes, uint64_t bytes_total,
                     uint64_t groups);
    void *progress_arg;
};

enum { SP_RUN_RATE_RECORDS = 50000 };

/* Records a second: of the clock, and of all threads' processor time (which other work on the
 * machine does not slow). */
struct sp_run_rate {
    double by_clock;
    double by_cpu;
};

struct sp_run_result {
    uint64_t records;      /* read in this run */
    uint64_t pages;        /* of these, fetches that said something of a page */
    uint64_t cut;          /* pages of which only text.max_bytes were read */
    uint64_t ignored;      /* other HTTP statuses: nothing is known of the page */
    uint64_t dead_letters; /* records that could not be read */
    uint64_t bytes;        /* of content */
    uint64_t events;       /* status events written */
    uint64_t skipped;      /* records an earlier run had handled */
    uint64_t unusable;     /* of the URLs to forget: those that are none */
    double seconds;        /* of reading and processing */
    double verify_seconds;
    /* Bytes in the outputs before this run, if this state has not written them. */
    uint64_t output_before;
    uint64_t dead_letter_before;
    uint64_t differences; /* found by verify */
    uint64_t disk_bytes;
    uint64_t left_to_move;     /* distinct contents in cells of the map before */
    struct sp_run_rate *rates; /* of each SP_RUN_RATE_RECORDS: is a large state slower? */
    size_t rate_count;
    struct sp_group_totals totals; /* of the whole state; zeros unless asked for */
    struct sp_local_bus_stats stats;
    struct sp_watching_report audit; /* over all runs of the state */
    struct sp_db_counts store;       /* operations on the state by this run, without its reports */
};

/* Runs to the end of the inputs. The fault says what failed and what to do. Differences found by
 * verify are printed to standard error and counted; they are not an error of this function. */
enum sp_err sp_run(const struct sp_run_options *options, struct sp_run_result *ret_result,
                   struct sp_fault *fault);

/* Frees what a result holds, whether or not sp_run succeeded. */
void sp_run_result_done(struct sp_run_result *result);

#endif

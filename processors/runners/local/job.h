/* A run under way: what run.c, barrier.c and feed.c share. */
#ifndef SP_LOCAL_JOB_H
#define SP_LOCAL_JOB_H

#include "local/digests.h"
#include "local/output.h"
#include "local/position.h"
#include "local/rates.h"
#include "local/run.h"

struct sp_job {
    const struct sp_run_options *options;
    struct sp_run_result *result;
    struct sp_fault *fault;
    struct sp_db *db;
    struct sp_local_bus *bus;
    struct sp_digests *digests;
    struct sp_watching *watching; /* NULL: no audit */
    bool reads_ahead;             /* the store reads ahead, so it must be told of records */
    bool passing;                 /* the state ends with the process: see is_due */
    bool reads_once;              /* inputs would push the state's files out of the file cache */
    bool huge;                    /* new memory is in huge pages */
    struct sp_position position;
    struct sp_output output;
    struct sp_output dead_letter;
    enum sp_err output_err; /* of an event: returned when the feed is over */
    uint64_t since_barrier;
    uint64_t since_flush;
    uint64_t read_bytes; /* of inputs that were read to their end */
    uint64_t total_bytes;
    struct sp_rates rates;
};

/* ---- barrier.c ---- */

/* Writes the event to the output; `arg` is the run. */
void sp_job_on_status(void *arg, const struct sp_status_event *event);
/* Opens the outputs, and cuts back those that a killed run has written. */
enum sp_err sp_job_open_outputs(struct sp_job *j);
/* Before anything is written, the state records the outputs and their lengths on disk. So however
 * early a kill comes, the next run truncates what this one wrote. */
enum sp_err sp_job_first_barrier(struct sp_job *j);
/* Writes the outputs and commits the state. */
enum sp_err sp_job_barrier(struct sp_job *j);
/* Brings the state to the disk. `ended`: the run writes nothing more. */
enum sp_err sp_job_sync(struct sp_job *j, bool ended);
/* Says in the fault what failed, why, and what to do; returns the error. */
enum sp_err sp_job_failed(struct sp_job *j, enum sp_err err, const char *what);

/* ---- feed.c ---- */

/* Adds up the sizes of all inputs for the progress report, and fails early if one is missing. */
enum sp_err sp_job_look_at_inputs(struct sp_job *j);
/* Feeds the records of one input to the tiers, from its position on. */
enum sp_err sp_job_feed_input(struct sp_job *j, const char *name);
/* file_bytes: read of the present input. */
void sp_job_report_progress(struct sp_job *j, uint64_t file_bytes);

#endif

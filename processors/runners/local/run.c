/* The main job: see run.h. barrier.c has what makes a kill at any moment harmless, and feed.c reads
 * the inputs. */
#include "local/run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "local/forget.h"
#include "local/job.h"
#include "local/keeper.h"
#include "local/verify.h"

static enum sp_err open_state(struct sp_job *j)
{
    const struct sp_run_options *o = j->options;
    struct sp_rocksdb_options store = o->store;
    enum sp_err err = SP_OK;
    store.background = !o->store.write_ahead_log;
    store.looks_for_room = true;
    store.gathers = store.alone = true;
    j->reads_ahead = o->state && store.background && o->threads != 1;
    j->passing = !o->state;
    if (o->state)
        err = sp_db_open_rocksdb(o->state, o->fingerprint, &store, &j->db, j->fault);
    else
        j->db = sp_db_open_memory();
    if (err == SP_OK && o->state)
        err = sp_keeper_check(j->db, SP_KEEPER_RUN, o->state, j->fault);
    if (err != SP_OK)
        return err;
    err = sp_position_load(sp_db_store(j->db, SP_BUS_STORE_META), &j->position);
    if (err != SP_OK)
        return sp_job_failed(j, err, "the state's position cannot be read");
    err = o->state ? sp_position_check(&j->position, o->state, j->fault) : SP_OK;
    if (err != SP_OK)
        return err;
    j->digests = sp_digests_new(sp_db_store(j->db, SP_BUS_STORE_META));
    err = sp_local_bus_new(&o->bus, j->db, sp_job_on_status, j, &j->bus);
    if (err == SP_OK)
        err = sp_watching_new(&o->audit, j->db, o->bus.tier1, j->bus, &j->watching);
    return err == SP_OK ? SP_OK : sp_job_failed(j, err, "the state cannot be loaded");
}

/* Continues until all pages are in cells of the present map. */
static enum sp_err finish_move(struct sp_job *j)
{
    enum sp_err err = SP_OK;
    struct sp_local_bus_stats before, after;
    while (err == SP_OK && j->result->left_to_move > 0) {
        sp_local_bus_stats(j->bus, &before);
        err = sp_job_barrier(j);
        sp_local_bus_stats(j->bus, &after);
        if (err == SP_OK && j->result->left_to_move > 0 && after.group.moves == before.group.moves)
            err = sp_job_failed(j, SP_CORRUPT, "cells hold rows of unknown pages");
        sp_job_report_progress(j, 0);
    }
    return err;
}

/* Forgets all pages in one commit. */
static enum sp_err forget(struct sp_job *j)
{
    const struct sp_run_options *o = j->options;
    const struct sp_forgetting f = {j->bus, j->db, j->digests, o->bus.tier1};
    enum sp_err err = sp_forget(&f, o->forget, o->forget_count, &j->result->unusable);
    if (err != SP_OK)
        return sp_job_failed(j, err, "pages cannot be forgotten");
    return j->output_err == SP_OK ? sp_job_barrier(j) : j->output_err;
}

/* Does the work that messages have postponed. A member of a group or a row counts as a record does,
 * so commits are no larger than while records are read. */
static enum sp_err settle(struct sp_job *j)
{
    for (bool more = true; more;) {
        enum sp_err err = sp_local_bus_pay(j->bus, &more);
        if (err != SP_OK)
            return sp_job_failed(j, err, "the index cannot be settled");
        j->since_barrier += SP_LOCAL_BUS_UNITS;
        if (more && j->since_barrier >= j->options->barrier_pages)
            err = sp_job_barrier(j);
        if (err != SP_OK)
            return err;
    }
    sp_watching_settle(j->watching);
    return sp_job_barrier(j);
}

/* Writes what the reports at the end will read. */
static enum sp_err write_for_reports(struct sp_job *j)
{
    const struct sp_run_options *o = j->options;
    enum sp_err err = SP_OK;
    if (!j->passing || !(o->totals || o->groups || o->verify))
        return SP_OK;
    err = o->verify ? sp_local_bus_flush(j->bus) : sp_local_bus_flush_pages(j->bus);
    if (err == SP_OK)
        err = sp_db_commit(j->db);
    return err == SP_OK ? SP_OK : sp_job_failed(j, err, "the state cannot be read");
}

static enum sp_err finish(struct sp_job *j)
{
    const struct sp_run_options *o = j->options;
    uint64_t memory;
    enum sp_err err = sp_job_sync(j, true);
    if (err != SP_OK)
        return err;
    sp_db_counts(j->db, &j->result->store);
    err = write_for_reports(j);
    if (err != SP_OK)
        return err;
    if (o->totals)
        err = sp_groups_count(j->db, o->bus.tier1, &j->result->totals);
    if (err != SP_OK)
        return sp_job_failed(j, err, "the state cannot be read");
    sp_local_bus_stats(j->bus, &j->result->stats);
    sp_db_size(j->db, &j->result->disk_bytes, &memory);
    if (o->groups)
        err = sp_groups_write(j->db, o->bus.tier1, o->groups, j->fault);
    if (err != SP_OK || !o->verify)
        return err;
    double start = sp_clock_seconds();
    err = sp_verify(j->db, &o->bus, &j->result->differences, NULL);
    j->result->verify_seconds = sp_clock_seconds() - start;
    return err == SP_OK ? SP_OK : sp_job_failed(j, err, "the check from scratch failed");
}

/* Copies the examples, because the report outlives the run. */
static void take_report(struct sp_job *j)
{
    struct sp_watching_report *report = &j->result->audit;
    sp_watching_report(j->watching, report);
    struct sp_view examples = sp_buf_view(&report->examples);
    report->examples = (struct sp_buf){0};
    sp_buf_put_view(&report->examples, examples);
}

enum sp_err sp_run(const struct sp_run_options *options, struct sp_run_result *ret_result,
                   struct sp_fault *fault)
{
    struct sp_job j = {.options = options, .result = ret_result, .fault = fault};
    *ret_result = (struct sp_run_result){0};
    enum sp_err err = sp_job_look_at_inputs(&j);
    if (err == SP_OK)
        err = open_state(&j);
    if (err == SP_OK)
        err = sp_job_open_outputs(&j);
    if (err == SP_OK)
        err = sp_job_first_barrier(&j);
    double start = sp_clock_seconds();
    sp_rates_start(&j.rates, 0);
    for (size_t i = 0; i < options->input_count && err == SP_OK; i++)
        err = sp_job_feed_input(&j, options->inputs[i]);
    if (err == SP_OK && options->forget_count)
        err = forget(&j);
    if (err == SP_OK)
        err = finish_move(&j);
    if (err == SP_OK)
        err = settle(&j);
    ret_result->seconds = sp_clock_seconds() - start;
    if (err == SP_OK)
        err = finish(&j);
    if (err == SP_OK && options->compact && sp_db_compact(j.db) != SP_OK)
        err = sp_job_failed(
            &j, SP_STORE,
            "the pages are forgotten, but their bytes may be left: run it again; if that fails as "
            "well, a file of the state is damaged: restore the directory from a copy");
    take_report(&j);
    sp_watching_free(j.watching);
    (options->ends_process ? sp_local_bus_leave : sp_local_bus_free)(j.bus);
    sp_digests_free(j.digests);
    sp_db_close(j.db); /* may still apply a commit and sync outputs */
    sp_output_close(&j.output);
    sp_output_close(&j.dead_letter);
    sp_position_done(&j.position);
    return err;
}

void sp_run_result_done(struct sp_run_result *result)
{
    sp_free(result->rates);
    sp_watching_report_done(&result->audit);
    *result = (struct sp_run_result){0};
}

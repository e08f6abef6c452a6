/* The main job: see run.h. The order of steps at a barrier makes a kill at any moment harmless:
 *
 *   1  outputs are written (to the kernel: they survive the death of the process)
 *   2  one batch commits state, input positions and output lengths; before rows can reach the disk,
 *      outputs are synced to it, so that after a loss of power they are not shorter than recorded
 *
 * The first barrier comes before the first record. After a kill between the two steps, the next run
 * truncates the outputs to the lengths of the last barrier and reads the same records again. */
#include "local/run.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/huge.h"
#include "base/mem.h"
#include "base/room.h"
#include "codec/lines.h"
#include "input/source.h"
#include "local/ahead.h"
#include "local/digests.h"
#include "local/forget.h"
#include "local/keeper.h"
#include "local/output.h"
#include "local/pipeline.h"
#include "local/position.h"
#include "local/rates.h"
#include "local/verify.h"

enum { PROGRESS_RECORDS = 512 };

struct run {
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

static enum sp_err fail(struct run *r, enum sp_err err, const char *what)
{
    const char *detail = err == SP_STORE ? sp_db_message(r->db) : sp_err_text(err);
    bool damaged =
        err == SP_CORRUPT || strstr(detail, "Corruption") || strstr(detail, "No such file");
    const char *advice = "";
    if (damaged && r->options->state)
        advice = "; restore the state directory from a copy, or use another --state directory";
    else if (strstr(detail, "No space left"))
        advice = "; free some space and run again: it continues from the last barrier";
    return sp_fault_set(r->fault, err, "%s: %s%s", what, detail, advice);
}

/* ---- outputs and barriers ---- */

static void on_status(void *arg, const struct sp_status_event *event)
{
    struct run *r = arg;
    bool unknown = event->status == SP_STATUS_NONE && !event->version_ms; /* to be forgotten */
    sp_watching_status(r->watching, event);
    if (!r->output.name || r->output_err != SP_OK || unknown)
        return;
    size_t before = r->output.buffer.len;
    sp_lines_put_status(sp_output_buffer(&r->output), event);
    r->output_err = sp_output_wrote(&r->output, r->output.buffer.len - before, r->fault);
    r->result->events++;
}

static void set_name(char **at, const char *name)
{
    sp_free(*at);
    *at = sp_strdup(name);
}

/* Without a state directory, rows would be a second copy of what the stages have in memory, and no
 * run continues from them. So they are written only if that frees memory, and at the end, because
 * reports read them. */
static bool is_due(const struct run *r)
{
    return !r->passing || sp_local_bus_sweep(r->bus, r->since_flush);
}

static enum sp_err flush(struct run *r)
{
    enum sp_err err = sp_local_bus_flush(r->bus);
    r->since_flush = 0;
    if (err != SP_OK)
        return err;
    set_name(&r->position.output, r->output.name);
    set_name(&r->position.dead_letter, r->dead_letter.name);
    r->position.output_bytes = r->output.length;
    r->position.dead_letter_bytes = r->dead_letter.length;
    r->position.barriers++;
    sp_position_save(sp_db_store(r->db, SP_BUS_STORE_META), &r->position);
    sp_watching_save(r->watching);
    return SP_OK;
}

static enum sp_err barrier(struct run *r)
{
    enum sp_err err =
        sp_local_bus_move(r->bus, (uint32_t)r->options->barrier_pages, &r->result->left_to_move);
    if (err != SP_OK)
        return fail(r, err, "pages cannot move to the cells of the new partition map");
    err = sp_output_flush(&r->output, r->fault);
    if (err == SP_OK)
        err = sp_output_flush(&r->dead_letter, r->fault);
    if (err != SP_OK)
        return err;
    if (r->options->state)
        sp_output_begin_sync(&r->output); /* so that sync_outputs waits for little */
    err = is_due(r) ? flush(r) : SP_OK;
    if (err == SP_OK) {
        err = sp_db_commit(r->db);
        sp_digests_committed(r->digests);
    }
    r->since_barrier = 0;
    if (!r->huge && (r->huge = sp_local_bus_is_large(r->bus)))
        sp_huge_thread();
    return err == SP_OK ? SP_OK : fail(r, err, "the state cannot be committed");
}

/* Called by the thread that applies commits. */
static enum sp_err sync_outputs(void *arg)
{
    const struct run *r = arg;
    enum sp_err err = sp_output_sync(&r->output);
    return err == SP_OK ? sp_output_sync(&r->dead_letter) : err;
}

static enum sp_err open_outputs(struct run *r)
{
    const struct sp_position *p = &r->position;
    struct sp_output_known output = {p->output, p->output_bytes, p->ended},
                           dead_letter = {p->dead_letter, p->dead_letter_bytes, p->ended};
    enum sp_err err = sp_output_continue(&r->output, r->options->output, &output,
                                         &r->result->output_before, r->fault);
    return err != SP_OK ? err
                        : sp_output_continue(&r->dead_letter, r->options->dead_letter, &dead_letter,
                                             &r->result->dead_letter_before, r->fault);
}

/* ---- records ---- */

static enum sp_err put_dead_letter(struct run *r, const struct sp_dead_letter *letter)
{
    r->result->dead_letters++;
    if (!r->dead_letter.name)
        return SP_OK;
    size_t before = r->dead_letter.buffer.len;
    sp_lines_put_dead_letter(sp_output_buffer(&r->dead_letter), letter);
    return sp_output_wrote(&r->dead_letter, r->dead_letter.buffer.len - before, r->fault);
}

/* Whether the fetch time is so far ahead of the fetches before it that it must be wrong. */
static bool is_ahead(struct run *r, const struct sp_batch_item *item)
{
    return item->err == SP_OK && item->message &&
           !sp_fetch_clock_accepts(&r->position.clock, item->message->crawled.version,
                                   r->options->max_future_ms);
}

/* Feeds the item's message to the tiers, and all that follows from it. */
static enum sp_err feed(struct run *r, struct sp_batch_item *item)
{
    struct sp_message *message = item->message;
    enum sp_err err = SP_OK;
    item->message = NULL;
    r->result->pages++;
    r->result->bytes += item->content_bytes;
    if (!sp_id_is_zero(item->digest))
        err = sp_digests_use(r->digests, r->bus, item->digest, &message->crawled);
    if (err == SP_OK) {
        sp_watching_fetch(r->watching, message);
        err = sp_local_bus_feed(r->bus, message);
    } else {
        sp_message_free(message);
    }
    if (err != SP_OK)
        return fail(r, err, "a record cannot be processed");
    sp_watching_judge(r->watching);
    return r->output_err;
}

static enum sp_err handle_item(struct run *r, const char *file, struct sp_batch_item *item)
{
    r->result->records += item->records;
    r->result->cut += item->cut;
    r->since_barrier++;
    r->since_flush++;
    struct sp_dead_letter letter = {file,      item->number, item->offset,
                                    item->err, item->why,    item->raw};
    if (is_ahead(r, item)) {
        letter.err = SP_MALFORMED;
        letter.why = "fetch_time_ms is further ahead of the fetches before it than "
                     "input.max_future_ms";
        letter.raw = sp_view_str(item->message->crawled.url);
    }
    sp_readings_add(r->options->readings, item->records, letter.err == SP_OK ? NULL : letter.why);
    if (letter.err != SP_OK)
        return put_dead_letter(r, &letter);
    if (item->message)
        return feed(r, item);
    r->result->ignored++;
    return SP_OK;
}

static void report_progress(struct run *r, uint64_t file_bytes)
{
    const struct sp_run_options *o = r->options;
    if (!o->progress)
        return;
    struct sp_local_bus_stats stats;
    sp_local_bus_stats(r->bus, &stats);
    uint64_t groups = stats.group.pages + stats.group.splits - stats.group.merges;
    o->progress(o->progress_arg, r->result->records, r->read_bytes + file_bytes, r->total_bytes,
                groups);
}

static enum sp_err handle_batch(struct run *r, struct sp_input_position *in,
                                struct sp_records_ahead *ahead, struct sp_batch *batch)
{
    enum sp_err err = SP_OK;
    sp_records_ahead_begin(ahead);
    for (size_t i = 0; i < batch->count && err == SP_OK; i++) {
        sp_records_ahead_next(ahead);
        err = handle_item(r, in->name, &batch->items[i]);
        in->records += batch->items[i].half ? 0 : batch->items[i].records;
        if (err == SP_OK && r->since_barrier >= r->options->barrier_pages)
            err = barrier(r);
        sp_rates_note(&r->rates, r->result);
        if (r->result->records % PROGRESS_RECORDS == 0)
            report_progress(r, batch->read_bytes);
    }
    return err;
}

/* ---- inputs ---- */

/* Handles all records of the input from its present position on; SP_END when it has ended. */
static enum sp_err read_records(struct run *r, struct sp_input *input, struct sp_input_position *in)
{
    enum sp_err err;
    struct sp_batch *batch;
    struct sp_pipeline *pipeline = sp_pipeline_start(input, &r->options->input, &r->options->text,
                                                     sp_pipeline_workers(r->options->threads));
    struct sp_records_ahead ahead = sp_records_ahead(r->bus, pipeline, r->reads_ahead);
    do {
        err = sp_pipeline_next(pipeline, &batch, r->fault);
        if (err == SP_OK)
            err = handle_batch(r, in, &ahead, batch);
    } while (err == SP_OK);
    sp_pipeline_stop(pipeline);
    return err;
}

static enum sp_err run_input(struct run *r, const char *name)
{
    struct sp_input *input = NULL;
    struct sp_input_position *in = sp_position_input(&r->position, name);
    struct sp_input_options options = r->options->input;
    options.read_once = r->reads_once;
    enum sp_err err = sp_input_open(&name, 1, &options, &input, r->fault);
    if (err != SP_OK)
        return err;
    r->result->skipped += in->records;
    sp_readings_pass(r->options->readings, in->records);
    err = in->records ? sp_input_skip(input, in->records) : SP_OK;
    if (err == SP_OK || err == SP_END)
        err = read_records(r, input, in);
    else
        err = fail(r, err, name);
    r->read_bytes += sp_input_read_bytes(input);
    sp_input_close(input);
    if (err != SP_END)
        return err;
    in->ended = true;
    sp_readings_end_input(r->options->readings, name, in->records);
    return sp_position_is_due(&r->position, r->since_barrier) ? barrier(r) : SP_OK;
}

/* Adds up the sizes of all inputs for the progress report, and fails early if one is missing. */
static enum sp_err look_at_inputs(struct run *r)
{
    struct sp_input *input = NULL;
    bool known = true;
    for (size_t i = 0; i < r->options->input_count; i++) {
        const char *name = r->options->inputs[i];
        if (sp_source_is_stream(name)) {
            known = false;
            continue;
        }
        enum sp_err err = sp_input_open(&name, 1, &r->options->input, &input, r->fault);
        if (err != SP_OK)
            return err;
        r->total_bytes += sp_input_total_bytes(input);
        sp_input_close(input);
    }
    r->total_bytes = known ? r->total_bytes : 0;
    r->reads_once = r->options->state && r->total_bytes > sp_room_bytes() / 4;
    return SP_OK;
}

/* ---- the whole ---- */

static enum sp_err sync_state(struct run *r, bool ended)
{
    r->position.ended = ended;
    if (sp_db_sync(r->db) != SP_OK)
        return fail(r, SP_STORE, "the state cannot be written");
    return r->options->state ? sp_position_reached(&r->position, r->options->state, r->fault)
                             : SP_OK;
}

/* Before anything is written, the state records the outputs and their lengths on disk. So however
 * early a kill comes, the next run truncates what this one wrote. */
static enum sp_err first_barrier(struct run *r)
{
    sp_db_before_commits(r->db, sync_outputs, r);
    enum sp_err err = barrier(r);
    return err == SP_OK ? sync_state(r, false) : err;
}

static enum sp_err open_state(struct run *r)
{
    const struct sp_run_options *o = r->options;
    struct sp_rocksdb_options store = o->store;
    enum sp_err err = SP_OK;
    store.background = o->threads != 1 && !o->store.write_ahead_log;
    store.looks_for_room = true;
    store.gathers = store.alone = true;
    r->reads_ahead = o->state && store.background;
    r->passing = !o->state;
    if (o->state)
        err = sp_db_open_rocksdb(o->state, o->fingerprint, &store, &r->db, r->fault);
    else
        r->db = sp_db_open_memory();
    if (err == SP_OK && o->state)
        err = sp_keeper_check(r->db, SP_KEEPER_RUN, o->state, r->fault);
    if (err != SP_OK)
        return err;
    err = sp_position_load(sp_db_store(r->db, SP_BUS_STORE_META), &r->position);
    if (err != SP_OK)
        return fail(r, err, "the state's position cannot be read");
    err = o->state ? sp_position_check(&r->position, o->state, r->fault) : SP_OK;
    if (err != SP_OK)
        return err;
    r->digests = sp_digests_new(sp_db_store(r->db, SP_BUS_STORE_META));
    err = sp_local_bus_new(&o->bus, r->db, on_status, r, &r->bus);
    if (err == SP_OK)
        err = sp_watching_new(&o->audit, r->db, o->bus.tier1, r->bus, &r->watching);
    return err == SP_OK ? SP_OK : fail(r, err, "the state cannot be loaded");
}

/* Continues until all pages are in cells of the present map. */
static enum sp_err finish_move(struct run *r)
{
    enum sp_err err = SP_OK;
    struct sp_local_bus_stats before, after;
    while (err == SP_OK && r->result->left_to_move > 0) {
        sp_local_bus_stats(r->bus, &before);
        err = barrier(r);
        sp_local_bus_stats(r->bus, &after);
        if (err == SP_OK && r->result->left_to_move > 0 && after.group.moves == before.group.moves)
            err = fail(r, SP_CORRUPT, "cells hold rows of unknown pages");
        report_progress(r, 0);
    }
    return err;
}

/* Forgets all pages in one commit. */
static enum sp_err forget(struct run *r)
{
    const struct sp_run_options *o = r->options;
    const struct sp_forgetting f = {r->bus, r->db, r->digests, o->bus.tier1};
    enum sp_err err = sp_forget(&f, o->forget, o->forget_count, &r->result->unusable);
    if (err != SP_OK)
        return fail(r, err, "pages cannot be forgotten");
    return r->output_err == SP_OK ? barrier(r) : r->output_err;
}

/* Does the work that messages have postponed. */
static enum sp_err settle(struct run *r)
{
    enum sp_err err = sp_local_bus_settle(r->bus);
    if (err != SP_OK)
        return fail(r, err, "the index cannot be settled");
    sp_watching_settle(r->watching);
    return barrier(r);
}

/* Writes what the reports at the end will read. */
static enum sp_err write_for_reports(struct run *r)
{
    const struct sp_run_options *o = r->options;
    enum sp_err err = SP_OK;
    if (!r->passing || !(o->totals || o->groups || o->verify))
        return SP_OK;
    err = o->verify ? sp_local_bus_flush(r->bus) : sp_local_bus_flush_pages(r->bus);
    if (err == SP_OK)
        err = sp_db_commit(r->db);
    return err == SP_OK ? SP_OK : fail(r, err, "the state cannot be read");
}

static enum sp_err finish(struct run *r)
{
    const struct sp_run_options *o = r->options;
    uint64_t memory;
    enum sp_err err = sync_state(r, true);
    if (err != SP_OK)
        return err;
    sp_db_counts(r->db, &r->result->store);
    err = write_for_reports(r);
    if (err != SP_OK)
        return err;
    if (o->totals)
        err = sp_groups_count(r->db, o->bus.tier1, &r->result->totals);
    if (err != SP_OK)
        return fail(r, err, "the state cannot be read");
    sp_local_bus_stats(r->bus, &r->result->stats);
    sp_db_size(r->db, &r->result->disk_bytes, &memory);
    if (o->groups)
        err = sp_groups_write(r->db, o->bus.tier1, o->groups, r->fault);
    if (err != SP_OK || !o->verify)
        return err;
    double start = sp_clock_seconds();
    err = sp_verify(r->db, &o->bus, &r->result->differences, NULL);
    r->result->verify_seconds = sp_clock_seconds() - start;
    return err == SP_OK ? SP_OK : fail(r, err, "the check from scratch failed");
}

/* Copies the examples, because the report outlives the run. */
static void take_report(struct run *r)
{
    struct sp_watching_report *report = &r->result->audit;
    sp_watching_report(r->watching, report);
    struct sp_view examples = sp_buf_view(&report->examples);
    report->examples = (struct sp_buf){0};
    sp_buf_put_view(&report->examples, examples);
}

enum sp_err sp_run(const struct sp_run_options *options, struct sp_run_result *ret_result,
                   struct sp_fault *fault)
{
    struct run r = {.options = options, .result = ret_result, .fault = fault};
    *ret_result = (struct sp_run_result){0};
    enum sp_err err = look_at_inputs(&r);
    if (err == SP_OK)
        err = open_state(&r);
    if (err == SP_OK)
        err = open_outputs(&r);
    if (err == SP_OK)
        err = first_barrier(&r);
    double start = sp_clock_seconds();
    sp_rates_start(&r.rates, 0);
    for (size_t i = 0; i < options->input_count && err == SP_OK; i++)
        err = run_input(&r, options->inputs[i]);
    if (err == SP_OK && options->forget_count)
        err = forget(&r);
    if (err == SP_OK)
        err = finish_move(&r);
    if (err == SP_OK)
        err = settle(&r);
    ret_result->seconds = sp_clock_seconds() - start;
    if (err == SP_OK)
        err = finish(&r);
    if (err == SP_OK && options->compact && sp_db_compact(r.db) != SP_OK)
        err = fail(&r, SP_STORE,
                   "the pages are forgotten, but their bytes may be left: run it again");
    take_report(&r);
    sp_watching_free(r.watching);
    (options->ends_process ? sp_local_bus_leave : sp_local_bus_free)(r.bus);
    sp_digests_free(r.digests);
    sp_db_close(r.db); /* may still apply a commit and sync outputs */
    sp_output_close(&r.output);
    sp_output_close(&r.dead_letter);
    sp_position_done(&r.position);
    return err;
}

void sp_run_result_done(struct sp_run_result *result)
{
    sp_free(result->rates);
    sp_watching_report_done(&result->audit);
    *result = (struct sp_run_result){0};
}

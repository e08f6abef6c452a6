/* Reads the inputs of a run and feeds their records to the tiers. */
#include "base/room.h"
#include "codec/lines.h"
#include "input/source.h"
#include "local/ahead.h"
#include "local/job.h"
#include "local/pipeline.h"

enum { PROGRESS_RECORDS = 512 };

/* ---- records ---- */

static enum sp_err put_dead_letter(struct sp_job *j, const struct sp_dead_letter *letter)
{
    j->result->dead_letters++;
    if (!j->dead_letter.name)
        return SP_OK;
    size_t before = j->dead_letter.buffer.len;
    sp_lines_put_dead_letter(sp_output_buffer(&j->dead_letter), letter);
    return sp_output_wrote(&j->dead_letter, j->dead_letter.buffer.len - before, j->fault);
}

/* Whether the fetch time is so far ahead of the fetches before it that it must be wrong. */
static bool is_ahead(struct sp_job *j, const struct sp_batch_item *item)
{
    return item->err == SP_OK && item->message &&
           !sp_fetch_clock_accepts(&j->position.clock, item->message->crawled.version,
                                   j->options->max_future_ms);
}

/* Feeds the item's message to the tiers, and all that follows from it. */
static enum sp_err feed(struct sp_job *j, struct sp_batch_item *item)
{
    struct sp_message *message = item->message;
    enum sp_err err = SP_OK;
    item->message = NULL;
    j->result->pages++;
    j->result->bytes += item->content_bytes;
    if (!sp_id_is_zero(item->digest))
        err = sp_digests_use(j->digests, j->bus, item->digest, &message->crawled);
    if (err == SP_OK) {
        sp_watching_fetch(j->watching, message);
        err = sp_local_bus_feed(j->bus, message);
    } else {
        sp_message_free(message);
    }
    if (err != SP_OK)
        return sp_job_failed(j, err, "a record cannot be processed");
    sp_watching_judge(j->watching);
    return j->output_err;
}

static enum sp_err handle_item(struct sp_job *j, const char *file, struct sp_batch_item *item)
{
    j->result->records += item->records;
    j->result->cut += item->cut;
    j->since_barrier++;
    j->since_flush++;
    struct sp_dead_letter letter = {file,      item->number, item->offset,
                                    item->err, item->why,    item->raw};
    if (is_ahead(j, item)) {
        letter.err = SP_MALFORMED;
        letter.why = "fetch_time_ms is further ahead of the fetches before it than "
                     "input.max_future_ms";
        letter.raw = sp_view_str(item->message->crawled.url);
    }
    sp_readings_add(j->options->readings, item->records, letter.err == SP_OK ? NULL : letter.why);
    if (letter.err != SP_OK)
        return put_dead_letter(j, &letter);
    if (item->message)
        return feed(j, item);
    j->result->ignored++;
    return SP_OK;
}

void sp_job_report_progress(struct sp_job *j, uint64_t file_bytes)
{
    const struct sp_run_options *o = j->options;
    if (!o->progress)
        return;
    struct sp_local_bus_stats stats;
    sp_local_bus_stats(j->bus, &stats);
    uint64_t groups = stats.group.pages + stats.group.splits - stats.group.merges;
    o->progress(o->progress_arg, j->result->records, j->read_bytes + file_bytes, j->total_bytes,
                groups);
}

static enum sp_err handle_batch(struct sp_job *j, struct sp_input_position *in,
                                struct sp_records_ahead *ahead, struct sp_batch *batch)
{
    enum sp_err err = SP_OK;
    sp_records_ahead_begin(ahead);
    for (size_t i = 0; i < batch->count && err == SP_OK; i++) {
        sp_records_ahead_next(ahead);
        err = handle_item(j, in->name, &batch->items[i]);
        in->records += batch->items[i].half ? 0 : batch->items[i].records;
        if (err == SP_OK && j->since_barrier >= j->options->barrier_pages)
            err = sp_job_barrier(j);
        sp_rates_note(&j->rates, j->result);
        if (j->result->records % PROGRESS_RECORDS == 0)
            sp_job_report_progress(j, batch->read_bytes);
    }
    return err;
}

/* ---- inputs ---- */

/* Handles all records of the input from its present position on; SP_END when it has ended. */
static enum sp_err read_records(struct sp_job *j, struct sp_input *input,
                                struct sp_input_position *in)
{
    enum sp_err err;
    struct sp_batch *batch;
    struct sp_pipeline *pipeline = sp_pipeline_start(input, &j->options->input, &j->options->text,
                                                     sp_pipeline_workers(j->options->threads));
    struct sp_records_ahead ahead = sp_records_ahead(j->bus, pipeline, j->reads_ahead);
    do {
        err = sp_pipeline_next(pipeline, &batch, j->fault);
        if (err == SP_OK)
            err = handle_batch(j, in, &ahead, batch);
    } while (err == SP_OK);
    sp_pipeline_stop(pipeline);
    return err;
}

enum sp_err sp_job_feed_input(struct sp_job *j, const char *name)
{
    struct sp_input *input = NULL;
    struct sp_input_position *in = sp_position_input(&j->position, name);
    struct sp_input_options options = j->options->input;
    options.read_once = j->reads_once;
    enum sp_err err = sp_input_open(&name, 1, &options, &input, j->fault);
    if (err != SP_OK)
        return err;
    j->result->skipped += in->records;
    sp_readings_pass(j->options->readings, in->records);
    err = in->records ? sp_input_skip(input, in->records) : SP_OK;
    if (err == SP_OK || err == SP_END)
        err = read_records(j, input, in);
    else
        err = sp_job_failed(j, err, name);
    j->read_bytes += sp_input_read_bytes(input);
    uint64_t unskipped = sp_input_unskipped(input);
    sp_input_close(input);
    if (err == SP_END)
        err = sp_position_end_input(in, unskipped, j->fault);
    if (err != SP_OK)
        return err;
    sp_readings_end_input(j->options->readings, name, in->records);
    return sp_position_is_due(&j->position, j->since_barrier) ? sp_job_barrier(j) : SP_OK;
}

enum sp_err sp_job_look_at_inputs(struct sp_job *j)
{
    struct sp_input *input = NULL;
    bool known = true;
    for (size_t i = 0; i < j->options->input_count; i++) {
        const char *name = j->options->inputs[i];
        if (sp_source_is_stream(name)) {
            known = false;
            continue;
        }
        enum sp_err err = sp_input_open(&name, 1, &j->options->input, &input, j->fault);
        if (err != SP_OK)
            return err;
        j->total_bytes += sp_input_total_bytes(input);
        sp_input_close(input);
    }
    j->total_bytes = known ? j->total_bytes : 0;
    j->reads_once = j->options->state && j->total_bytes > sp_room_bytes() / 4;
    return SP_OK;
}

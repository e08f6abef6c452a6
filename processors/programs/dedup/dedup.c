/* See dedup.h. As in local/barrier.c, the order of steps at a commit makes a kill harmless: outputs
 * are written first, then one batch commits the survivors, the input positions and the lengths of
 * the outputs. The next run truncates the outputs to these lengths. */
#include "dedup/dedup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "base/names.h"
#include "codec/lines.h"
#include "dedup/pack.h"
#include "dedup/records.h"
#include "dedup/survivors.h"
#include "input/source.h"
#include "local/pipeline.h"
#include "local/position.h"

enum { STORE_META, STORE_SURVIVORS };
enum { KEPT, REMOVED, DEAD, OUTPUTS };
enum { PROGRESS_RECORDS = 512 };

struct run {
    const struct sp_dedup_options *options;
    struct sp_dedup_result *result;
    struct sp_fault *fault;
    struct sp_db *db;
    struct sp_survivors *survivors;
    struct sp_position position;
    struct sp_output outputs[OUTPUTS];
    struct sp_pack *pack;
    const char *behind; /* what follows each record of this input */
    uint64_t since_barrier;
    uint64_t read_bytes; /* of inputs that were read to their end */
    uint64_t total_bytes;
};

static enum sp_err fail(struct run *r, enum sp_err err, const char *what)
{
    const char *detail = sp_db_err_text(r->db, err);
    return sp_fault_set(r->fault, err, "%s: %s", what, detail);
}

/* ---- outputs and commits ---- */

static struct sp_store *meta(struct run *r)
{
    return sp_db_store(r->db, STORE_META);
}

static struct sp_view output_key(const char *name, struct sp_buf *scratch)
{
    sp_buf_reset(scratch);
    sp_buf_put_str(scratch, "output:");
    sp_buf_put_str(scratch, name);
    return sp_buf_view(scratch);
}

/* Reads the length that the output had at the last commit; *ret_known is false if the state does
 * not know the output. */
static enum sp_err known_length(struct run *r, const char *name, bool *ret_known,
                                uint64_t *ret_length)
{
    struct sp_buf key = {0};
    struct sp_view value;
    enum sp_err err = sp_store_get(meta(r), output_key(name, &key), &value);
    sp_buf_done(&key);
    *ret_known = err == SP_OK;
    if (err == SP_NOT_FOUND)
        return SP_OK;
    if (err != SP_OK)
        return err;
    struct sp_reader reader = sp_reader(value);
    *ret_length = sp_read_u64(&reader);
    return reader.failed ? SP_CORRUPT : SP_OK;
}

static enum sp_err open_output(struct run *r, struct sp_output *out, const char *name)
{
    bool known = false;
    uint64_t length = 0;
    enum sp_err err = name ? known_length(r, name, &known, &length) : SP_OK;
    if (err != SP_OK)
        return fail(r, err, "the state cannot be read");
    err = sp_output_open(out, name, r->fault);
    if (err != SP_OK || !out->file)
        return err;
    if (r->options->state && !known && out->length > 0)
        return sp_fault_set(r->fault, SP_INVALID,
                            "%s: was not written with this state; name another file, or remove "
                            "it",
                            name);
    struct sp_output_known before = {name, length, known && r->position.ended};
    return sp_output_cut(out, &before, r->fault);
}

static enum sp_err barrier(struct run *r)
{
    struct sp_buf key = {0};
    enum sp_err err = sp_pack_flush(r->pack, r->fault);
    for (int i = 0; i < OUTPUTS && err == SP_OK; i++)
        err = sp_output_flush(&r->outputs[i], r->fault);
    if (err != SP_OK)
        return err;
    sp_survivors_flush(r->survivors);
    r->position.barriers++;
    sp_position_save(meta(r), &r->position);
    for (int i = 0; i < OUTPUTS; i++) {
        uint64_t length = r->outputs[i].length;
        if (r->outputs[i].name && r->outputs[i].file)
            sp_store_put(meta(r), output_key(r->outputs[i].name, &key),
                         sp_view(&length, sizeof length));
    }
    sp_buf_done(&key);
    err = sp_db_commit(r->db);
    r->since_barrier = 0;
    return err == SP_OK ? SP_OK : fail(r, err, "the state cannot be committed");
}

/* ---- records ---- */

static enum sp_err put_removed(struct run *r, struct sp_view id,
                               const struct sp_survivor_match *match)
{
    struct sp_output *to = &r->outputs[REMOVED];
    if (!to->name)
        return SP_OK;
    struct sp_buf *out = sp_output_buffer(to);
    size_t before = out->len;
    sp_buf_put_str(out, "{\"id\":");
    sp_json_put_string(out, id);
    sp_buf_put_str(out, ",\"kept\":");
    sp_json_put_string(out, match->id);
    sp_buf_put_str(out, ",\"similarity\":");
    sp_json_put_double(out, match->similarity);
    sp_buf_put_str(out, match->exact ? ",\"reason\":\"exact\"}\n" : ",\"reason\":\"similar\"}\n");
    return sp_output_wrote(to, out->len - before, r->fault);
}

static enum sp_err put_dead(struct run *r, const char *file, const struct sp_batch_item *item)
{
    struct sp_output *to = &r->outputs[DEAD];
    r->result->dead_letters++;
    if (!to->name)
        return SP_OK;
    size_t before = to->buffer.len;
    struct sp_dead_letter letter = {file,      item->number, item->offset,
                                    item->err, item->why,    item->raw};
    sp_lines_put_dead_letter(sp_output_buffer(to), &letter);
    return sp_output_wrote(to, to->buffer.len - before, r->fault);
}

static enum sp_err remove_document(struct run *r, const struct sp_dedup_record *d,
                                   const struct sp_survivor_match *match, uint64_t bytes)
{
    r->result->exact += match->exact;
    r->result->similar += !match->exact;
    r->result->removed_bytes += bytes;
    enum sp_err err = put_removed(r, d->id, match);
    if (err == SP_OK && (r->options->state || r->options->clusters))
        sp_survivors_stand_for(r->survivors, match, d->id);
    return err;
}

static enum sp_err decide(struct run *r, const struct sp_dedup_record *d, uint64_t bytes)
{
    struct sp_survivor_match match;
    enum sp_err err = SP_OK;
    if (d->signature) {
        r->result->documents++;
        r->result->bytes += bytes;
        err = sp_survivors_find(r->survivors, d->signature, &match);
        if (err == SP_OK)
            return remove_document(r, d, &match, bytes);
        if (err == SP_NOT_FOUND)
            err = sp_survivors_keep(r->survivors, d->signature, d->id);
        if (err != SP_OK)
            return fail(r, err, "a document cannot be compared with the kept ones");
        r->result->kept++;
    } else {
        r->result->passed++;
    }
    return sp_pack_put(r->pack, d->whole, r->behind, r->fault);
}

static enum sp_err handle_item(struct run *r, const char *file, const struct sp_batch_item *item)
{
    struct sp_dedup_record d;
    r->since_barrier++;
    sp_batch_item_count(item, r->options->readings);
    if (item->err != SP_OK)
        return put_dead(r, file, item);
    enum sp_err err = sp_dedup_read(item->made, &d);
    if (err != SP_OK)
        return fail(r, err, "a record cannot be processed");
    err = decide(r, &d, item->content_bytes);
    sp_signature_unref(d.signature);
    return err;
}

static enum sp_err handle_batch(struct run *r, struct sp_input_position *in,
                                const struct sp_batch *batch)
{
    enum sp_err err = SP_OK;
    const struct sp_dedup_options *o = r->options;
    for (size_t i = 0; i < batch->count && err == SP_OK; i++) {
        const struct sp_batch_item *item = &batch->items[i];
        err = handle_item(r, in->name, item);
        in->records += item->half ? 0 : item->records;
        if (err == SP_OK && r->since_barrier >= o->barrier_pages)
            err = barrier(r);
        if (o->progress && r->since_barrier % PROGRESS_RECORDS == 0)
            o->progress(o->progress_arg, r->result->documents, r->read_bytes + batch->read_bytes,
                        r->total_bytes, r->result->kept);
    }
    return err;
}

/* ---- inputs ---- */

/* Checks that the name of the kept file does not promise another format than it gets. */
static enum sp_err check_name(const struct run *r, const struct sp_input *input, const char *name)
{
    enum sp_input_format format = sp_input_format(input);
    const char *kept = r->options->kept;
    bool is_warc = format == SP_INPUT_WARC;
    if (!kept || format == SP_INPUT_AVRO || format == SP_INPUT_ARC)
        return SP_OK;
    bool promises_lines = sp_names_have_type(kept, ".jsonl") ||
                          sp_names_have_type(kept, ".ndjson") || sp_names_have_type(kept, ".json");
    if (is_warc ? !promises_lines : !sp_names_have_type(kept, ".warc"))
        return SP_OK;
    return sp_fault_set(r->fault, SP_INVALID,
                        "%s: what is kept of it is written as %s, not as the name %s says; "
                        "give a name that ends with %s",
                        name, is_warc ? "records of WARC" : "JSON lines", kept,
                        is_warc ? ".warc or .warc.gz" : ".jsonl");
}

/* Checks that all records of one kept file have one format. */
static enum sp_err set_format(struct run *r, const struct sp_input *input, const char *name)
{
    enum sp_input_format format = sp_input_format(input);
    const char *behind = format == SP_INPUT_WARC ? "\r\n\r\n" : "\n";
    if (!r->options->kept)
        return SP_OK;
    if (format == SP_INPUT_AVRO || format == SP_INPUT_ARC)
        return sp_fault_set(r->fault, SP_INVALID,
                            "%s: kept records of an %s file cannot be written; leave --kept out "
                            "and use --removed, or convert it to %s",
                            name, format == SP_INPUT_AVRO ? "Avro" : "ARC",
                            format == SP_INPUT_AVRO ? "JSON lines" : "WARC");
    if (r->behind && strcmp(r->behind, behind) != 0)
        return sp_fault_set(
            r->fault, SP_INVALID,
            "%s: has another format than the input before it; one --kept file cannot hold records of both",
            name);
    enum sp_err err = check_name(r, input, name);
    if (err != SP_OK)
        return err;
    if (!r->behind) {
        sp_pack_free(r->pack);
        r->pack = sp_pack_new(&r->outputs[KEPT], format == SP_INPUT_WARC);
    }
    r->behind = behind;
    return SP_OK;
}

static enum sp_err read_input(struct run *r, struct sp_input *input, const char *name)
{
    const struct sp_dedup_options *o = r->options;
    struct sp_input_position *in = sp_position_input(&r->position, name);
    struct sp_batch *batch;
    bool whole = o->kept;
    struct sp_pipeline_maker maker = {sp_dedup_make, &whole};
    r->result->skipped += in->records;
    sp_readings_pass(o->readings, in->records);
    enum sp_err err = in->records ? sp_input_skip(input, in->records) : SP_OK;
    if (err != SP_OK && err != SP_END)
        return fail(r, err, name);
    struct sp_pipeline *pipeline = sp_pipeline_start_making(
        input, &o->input, &o->text, sp_pipeline_workers(o->threads), &maker);
    while ((err = sp_pipeline_next(pipeline, &batch, r->fault)) == SP_OK)
        if ((err = handle_batch(r, in, batch)) != SP_OK)
            break;
    sp_pipeline_stop(pipeline);
    if (err == SP_END)
        err = sp_position_end_input(in, sp_input_unskipped(input), r->fault);
    if (err != SP_OK)
        return err;
    sp_readings_end_input(o->readings, name, in->records);
    return sp_position_is_due(&r->position, r->since_barrier) ? barrier(r) : SP_OK;
}

static enum sp_err run_input(struct run *r, const char *name)
{
    struct sp_input *input = NULL;
    enum sp_err err = sp_input_open(&name, 1, &r->options->input, &input, r->fault);
    if (err != SP_OK)
        return err;
    err = set_format(r, input, name);
    if (err == SP_OK)
        err = read_input(r, input, name);
    r->read_bytes += sp_input_read_bytes(input);
    sp_input_close(input);
    return err;
}

/* Before anything is replaced, checks that all inputs exist and that the kept file's name fits its
 * format. Also adds up sizes for the progress bar. */
static enum sp_err look_at_inputs(struct run *r)
{
    const struct sp_dedup_options *o = r->options;
    bool known = true;
    for (size_t i = 0; i < o->input_count; i++) {
        struct sp_input *input = NULL;
        const char *name = o->inputs[i];
        if (sp_source_is_stream(name)) {
            known = false;
            continue;
        }
        enum sp_err err = sp_input_open(&name, 1, &o->input, &input, r->fault);
        if (err != SP_OK)
            return err;
        r->total_bytes += sp_input_total_bytes(input);
        err = check_name(r, input, name);
        sp_input_close(input);
        if (err != SP_OK)
            return err;
    }
    r->total_bytes = known ? r->total_bytes : 0;
    return SP_OK;
}

/* ---- the whole ---- */

static enum sp_err open_state(struct run *r)
{
    const struct sp_dedup_options *o = r->options;
    enum sp_err err = SP_OK;
    struct sp_rocksdb_options store = o->store;
    store.looks_for_room = true;
    if (o->state)
        err = sp_db_open_rocksdb(o->state, o->fingerprint, &store, &r->db, r->fault);
    else
        r->db = sp_db_open_memory();
    if (err != SP_OK)
        return err;
    err = sp_position_load(meta(r), &r->position);
    if (err != SP_OK)
        return fail(r, err, "the state's position cannot be read");
    err = o->state ? sp_position_check(&r->position, o->state, r->fault) : SP_OK;
    if (err != SP_OK)
        return err;
    r->survivors =
        sp_survivors_new(&o->similarity, sp_db_store(r->db, STORE_SURVIVORS), o->cache_bytes);
    err = sp_survivors_load(r->survivors);
    return err == SP_OK ? SP_OK : fail(r, err, "the state cannot be loaded");
}

static enum sp_err sync_state(struct run *r, bool ended)
{
    r->position.ended = ended;
    if (sp_db_sync(r->db) != SP_OK)
        return fail(r, SP_STORE, "the state cannot be written");
    return r->options->state ? sp_position_reached(&r->position, r->options->state, r->fault)
                             : SP_OK;
}

/* Called by the thread that applies commits: after a loss of power, outputs must not be shorter
 * than the state says. */
static enum sp_err sync_outputs(void *arg)
{
    const struct run *r = arg;
    enum sp_err err = SP_OK;
    for (int i = 0; i < OUTPUTS && err == SP_OK; i++)
        err = sp_output_sync(&r->outputs[i]);
    return err;
}

static enum sp_err open_outputs(struct run *r)
{
    const struct sp_dedup_options *o = r->options;
    const char *names[OUTPUTS] = {
        [KEPT] = o->kept, [REMOVED] = o->removed, [DEAD] = o->dead_letter};
    enum sp_err err = SP_OK;
    for (int i = 0; i < OUTPUTS && err == SP_OK; i++)
        err = open_output(r, &r->outputs[i], names[i]);
    r->pack = sp_pack_new(&r->outputs[KEPT], false);
    sp_db_before_commits(r->db, sync_outputs, r);
    if (err == SP_OK)
        err = barrier(r);
    return err == SP_OK ? sync_state(r, false) : err;
}

static enum sp_err finish(struct run *r)
{
    r->result->survivors = sp_survivors_count(r->survivors);
    r->result->compared = sp_survivors_compared(r->survivors);
    r->result->walked = sp_survivors_walked(r->survivors);
    enum sp_err err = barrier(r);
    if (err == SP_OK)
        err = sync_state(r, true);
    if (err != SP_OK)
        return err;
    return r->options->clusters ? sp_survivors_write(r->survivors, r->options->clusters, r->fault)
                                : SP_OK;
}

enum sp_err sp_dedup(const struct sp_dedup_options *options, struct sp_dedup_result *ret_result,
                     struct sp_fault *fault)
{
    struct run r = {.options = options, .result = ret_result, .fault = fault};
    *ret_result = (struct sp_dedup_result){0};
    for (int i = 0; i < OUTPUTS; i++)
        r.outputs[i].fd = -1;
    enum sp_err err = look_at_inputs(&r);
    if (err == SP_OK)
        err = open_state(&r);
    if (err == SP_OK)
        err = open_outputs(&r);
    for (size_t i = 0; i < options->input_count && err == SP_OK; i++)
        err = run_input(&r, options->inputs[i]);
    if (err == SP_OK)
        err = finish(&r);
    for (int i = 0; i < OUTPUTS; i++)
        sp_output_close(&r.outputs[i]);
    sp_pack_free(r.pack);
    sp_survivors_free(r.survivors);
    sp_position_done(&r.position);
    sp_db_close(r.db);
    return err;
}

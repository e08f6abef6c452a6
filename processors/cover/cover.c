/* See cover.h: the order of the steps, and what each hands to the next. */
#include "cover/cover.h"

#include <stdio.h>

#include "base/mem.h"
#include "cover/arcs.h"
#include "cover/components.h"
#include "cover/documents.h"
#include "cover/quotient.h"
#include "cover/write.h"
#include "run/pipeline.h"
#include "run/run.h"

struct cover {
    const struct sp_cover_options *options;
    struct sp_cover_result *result;
    struct sp_relation *relation;
    struct sp_relation *filter; /* or NULL */
    struct sp_plan plan;
    struct sp_documents documents;
    uint64_t total_bytes;
    uint64_t read_bytes;
};

/* ---- the question ---- */

/* Says which of the two conditions is meant. */
static enum sp_err parse(const char *option, const char *source, enum sp_relation_kind kind,
                         struct sp_relation **ret_relation, const char **ret_message)
{
    static _Thread_local char text[1400];
    const char *message = "";
    enum sp_err err = sp_relation_parse(source, kind, ret_relation, &message);
    if (err != SP_OK)
        snprintf(text, sizeof text, "%s: %s", option, message);
    *ret_message = text;
    return err;
}

static enum sp_err parse_both(const char *relation, const char *filter,
                              struct sp_relation **ret_relation, struct sp_relation **ret_filter,
                              const char **ret_message)
{
    enum sp_err err = parse("--relation", relation, SP_RELATION, ret_relation, ret_message);
    if (err == SP_OK && filter)
        err = parse("--where", filter, SP_FILTER, ret_filter, ret_message);
    return err;
}

enum sp_err sp_cover_explain(const char *relation, const char *filter, struct sp_buf *out,
                             const char **ret_message)
{
    struct sp_relation *r = NULL, *f = NULL;
    enum sp_err err = parse_both(relation, filter, &r, &f, ret_message);
    if (err == SP_OK) {
        struct sp_plan plan;
        sp_plan_make(r, &plan);
        sp_buf_put_str(out, "a is covered by b where\n  ");
        sp_relation_put(r->root, SP_RELATION, out);
        sp_buf_put_str(out, "\n");
        if (f) {
            sp_buf_put_str(out, "among documents with\n  ");
            sp_relation_put(f->root, SP_FILTER, out);
            sp_buf_put_str(out, "\n");
        }
        sp_plan_put(&plan, out);
        sp_plan_done(&plan);
    }
    sp_relation_free(r);
    sp_relation_free(f);
    return err;
}

/* ---- reading ---- */

static enum sp_err take_batch(struct cover *c, const struct sp_batch *batch,
                              const char **ret_message)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct sp_batch_item *item = &batch->items[i];
        c->result->records += item->records;
        c->result->dead_letters += item->err != SP_OK ? item->records : 0;
        if (item->err == SP_OK && item->made.len > 0)
            c->result->filtered +=
                !sp_documents_add(&c->documents, item->number, item->made, c->filter);
    }
    if (c->documents.count >= SP_KEPT - (1u << 20)) {
        *ret_message = "more than 4 billion documents; give them in several runs";
        return SP_TOO_LARGE;
    }
    if (c->options->progress)
        c->options->progress(c->options->progress_arg, SP_COVER_READING, batch->read_bytes,
                             c->total_bytes);
    return SP_OK;
}

static enum sp_err read_inputs(struct cover *c, const char **ret_message)
{
    const struct sp_cover_options *o = c->options;
    uint32_t fields = c->relation->fields | (c->filter ? c->filter->fields : 0);
    struct sp_document_maker maker = {fields};
    struct sp_pipeline_maker made = {sp_document_make, &maker};
    struct sp_text_options text = o->text;
    struct sp_input *input = NULL;
    text.detect_language = (fields & 1u << SP_FIELD_language) != 0;
    text.signature.method = SP_METHOD_SHINGLES;
    text.signature.max_shingles = UINT32_MAX;
    text.signature.max_sentences = 0;
    text.signature.repeats = SP_REPEATS_ONCE;
    enum sp_err err = sp_input_open(o->inputs, o->input_count, &o->input, &input, ret_message);
    if (err != SP_OK)
        return err;
    c->total_bytes = sp_input_total_bytes(input);
    struct sp_batch *batch;
    struct sp_pipeline *pipeline =
        sp_pipeline_start_making(input, &o->input, &text, sp_run_workers(o->threads), &made);
    while ((err = sp_pipeline_next(pipeline, &batch, ret_message)) == SP_OK)
        if ((err = take_batch(c, batch, ret_message)) != SP_OK)
            break;
    sp_pipeline_stop(pipeline);
    sp_input_close(input);
    return err == SP_END ? sp_documents_finish(&c->documents, ret_message) : err;
}

/* ---- the answer ---- */

static void on_pairing(void *arg, uint64_t done, uint64_t total)
{
    const struct sp_cover_options *o = arg;
    if (o->progress)
        o->progress(o->progress_arg, SP_COVER_PAIRING, done, total);
}

static enum sp_err decide(struct cover *c, const uint32_t *stands_for,
                          struct sp_decisions *decisions, const char **ret_message)
{
    const struct sp_cover_options *o = c->options;
    uint32_t workers = sp_run_workers(o->threads);
    struct sp_arcs_options candidates = {.threads = workers ? workers : 1,
                                         .memory_bytes = o->memory_bytes,
                                         .progress = on_pairing,
                                         .progress_arg = (void *)(uintptr_t)o};
    struct sp_graph graph;
    sp_graph_open(&graph, c->documents.count, o->temp);
    enum sp_err err = sp_arcs_find(&c->documents, stands_for, c->relation, &c->plan, &candidates,
                                   &graph, &c->result->pairs, ret_message);
    if (err == SP_OK)
        err = sp_components_solve(o, &graph, stands_for, &c->documents, decisions, c->result,
                                  ret_message);
    sp_graph_close(&graph);
    return err;
}

static enum sp_err answer(struct cover *c, const char **ret_message)
{
    size_t count = c->documents.count;
    struct sp_cover_result *r = c->result;
    uint32_t *stands_for = sp_alloc((count + 1) * sizeof *stands_for);
    struct sp_decisions decisions = {sp_alloc((count + 1) * sizeof *decisions.covered_by),
                                     sp_calloc(count + 1, sizeof *decisions.overlap)};
    memset(decisions.covered_by, 0xff, count * sizeof *decisions.covered_by); /* SP_KEPT */
    r->documents = count;
    r->contents = c->documents.content_count;
    r->shingles = c->documents.set_spool.len / 4;
    r->standing = sp_quotient(&c->documents, c->relation, &c->plan, stands_for);
    enum sp_err err = decide(c, stands_for, &decisions, ret_message);
    if (err == SP_OK)
        err = sp_cover_write(c->options, &c->documents, c->relation, &decisions, r, ret_message);
    sp_free(stands_for);
    sp_free(decisions.covered_by);
    sp_free(decisions.overlap);
    return err;
}

enum sp_err sp_cover(const struct sp_cover_options *options, struct sp_cover_result *ret_result,
                     const char **ret_message)
{
    struct cover c = {.options = options, .result = ret_result};
    *ret_result = (struct sp_cover_result){0};
    enum sp_err err =
        parse_both(options->relation, options->filter, &c.relation, &c.filter, ret_message);
    if (err == SP_OK) {
        sp_plan_make(c.relation, &c.plan);
        sp_documents_open(&c.documents, c.relation->fields, options->temp);
        err = read_inputs(&c, ret_message);
        if (err == SP_OK)
            err = answer(&c, ret_message);
        sp_documents_done(&c.documents);
        sp_plan_done(&c.plan);
    }
    sp_relation_free(c.relation);
    sp_relation_free(c.filter);
    return err;
}

/* See cover.h. This file has the order of the steps, and what each passes to the next. */
#include "cover/cover.h"

#include "base/mem.h"
#include "cover/arcs.h"
#include "cover/components.h"
#include "cover/documents.h"
#include "cover/quota.h"
#include "cover/quotient.h"
#include "cover/write.h"
#include "local/pipeline.h"

/* Steps of branch and bound on a component; after them the best cover so far is used. */
enum { EXACT_STEPS = 20000 };

struct cover {
    const struct sp_cover_options *options;
    struct sp_cover_result *result;
    struct sp_relation *relation;
    struct sp_relation *filter; /* or NULL */
    struct sp_relation *weight; /* or NULL */
    struct sp_plan plan;
    struct sp_documents documents;
    uint64_t total_bytes;
    uint64_t read_bytes;
};

/* ---- the question ---- */

/* Parses a condition; the error message names its option. */
static enum sp_err parse(const char *option, const char *source, enum sp_relation_kind kind,
                         struct sp_relation **ret_relation, struct sp_fault *fault)
{
    enum sp_err err = sp_relation_parse(source, kind, ret_relation, fault);
    return err == SP_OK ? SP_OK : sp_fault_set(fault, err, "%s: %s", option, fault->text);
}

static enum sp_err parse_both(const char *relation, const char *filter,
                              struct sp_relation **ret_relation, struct sp_relation **ret_filter,
                              struct sp_fault *fault)
{
    enum sp_err err = parse("--relation", relation, SP_RELATION, ret_relation, fault);
    if (err == SP_OK && filter)
        err = parse("--where", filter, SP_FILTER, ret_filter, fault);
    return err;
}

static enum sp_err parse_weight(const char *weight, struct sp_relation **ret_weight,
                                struct sp_fault *fault)
{
    enum sp_err err = weight ? parse("--weight", weight, SP_VALUE, ret_weight, fault) : SP_OK;
    if (err == SP_OK && weight && (*ret_weight)->fields & 1u << SP_FIELD_versions)
        err = sp_fault_set(fault, SP_INVALID,
                           "--weight: versions are known only when all documents are read");
    return err;
}

enum sp_err sp_cover_explain(const char *relation, const char *filter, struct sp_buf *out,
                             struct sp_fault *fault)
{
    struct sp_relation *r = NULL, *f = NULL;
    enum sp_err err = parse_both(relation, filter, &r, &f, fault);
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

static enum sp_err take_batch(struct cover *c, const struct sp_batch *batch, struct sp_fault *fault)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct sp_batch_item *item = &batch->items[i];
        c->result->records += item->records;
        sp_batch_item_count(item, c->options->readings);
        c->result->dead_letters += item->err != SP_OK ? item->records : 0;
        if (item->err == SP_OK && item->made.len > 0)
            c->result->filtered +=
                !sp_documents_add(&c->documents, item->number, item->made, c->filter);
    }
    if (c->documents.count >= SP_KEPT - (1u << 20))
        return sp_fault_set(fault, SP_TOO_LARGE,
                            "more than 4 billion documents; give them in several runs");
    if (c->options->progress)
        c->options->progress(c->options->progress_arg, SP_COVER_READING, batch->read_bytes,
                             c->total_bytes);
    return SP_OK;
}

static enum sp_err read_inputs(struct cover *c, struct sp_fault *fault)
{
    const struct sp_cover_options *o = c->options;
    uint32_t fields = c->relation->fields | (c->filter ? c->filter->fields : 0) |
                      (c->weight ? c->weight->fields : 0);
    struct sp_document_maker maker = {fields};
    struct sp_pipeline_maker made = {sp_document_make, &maker};
    struct sp_text_options text = o->text;
    struct sp_input *input = NULL;
    text.detect_language = (fields & 1u << SP_FIELD_language) != 0;
    text.signature.method = SP_METHOD_SHINGLES;
    text.signature.max_shingles = UINT32_MAX;
    text.signature.max_sentences = 0;
    text.signature.languages_apart = false;
    text.signature.repeats = SP_REPEATS_ONCE;
    enum sp_err err = sp_input_open(o->inputs, o->input_count, &o->input, &input, fault);
    if (err != SP_OK)
        /* SP_INVALID means a wrong relation, not a wrong input format. */
        return err == SP_INVALID ? SP_IO : err;
    c->total_bytes = sp_input_total_bytes(input);
    struct sp_batch *batch;
    struct sp_pipeline *pipeline =
        sp_pipeline_start_making(input, &o->input, &text, sp_pipeline_workers(o->threads), &made);
    while ((err = sp_pipeline_next(pipeline, &batch, fault)) == SP_OK)
        if ((err = take_batch(c, batch, fault)) != SP_OK)
            break;
    sp_pipeline_stop(pipeline);
    sp_input_close(input);
    sp_readings_end_inputs(o->readings, o->inputs, o->input_count, c->result->records);
    if (c->documents.bad_weight && err == SP_END)
        return sp_fault_set(fault, SP_INVALID, "--weight: the weight of record %llu is not above 0",
                            (unsigned long long)c->documents.bad_weight - 1);
    c->result->filtered += sp_documents_settle(&c->documents, c->filter);
    return err == SP_END ? sp_documents_finish(&c->documents, fault) : err;
}

/* ---- the result ---- */

/* Reports the progress of the present phase to the caller. */
struct phase {
    const struct sp_cover_options *options;
    enum sp_cover_phase phase;
};

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
    const struct phase *p = arg;
    if (p->options->progress)
        p->options->progress(p->options->progress_arg, p->phase, done, total);
}

static enum sp_err find_arcs(struct cover *c, const uint32_t *stands_for, struct sp_graph *graph,
                             struct sp_fault *fault)
{
    const struct sp_cover_options *o = c->options;
    struct phase pairing = {o, SP_COVER_PAIRING};
    struct sp_arcs_stats stats = {0};
    uint32_t workers = sp_pipeline_workers(o->threads);
    const struct sp_arcs_options options = {.documents = &c->documents,
                                            .stands_for = stands_for,
                                            .relation = c->relation,
                                            .plan = &c->plan,
                                            .coverers = o->coverers,
                                            .threads = workers ? workers : 1,
                                            .memory_bytes = o->memory_bytes,
                                            .progress = on_progress,
                                            .progress_arg = &pairing};
    enum sp_err err = sp_arcs_find(&options, graph, &stats, fault);
    c->result->postings = stats.pairs.postings;
    c->result->blocks = stats.pairs.blocks;
    c->result->candidates = stats.pairs.candidates;
    c->result->evaluated = stats.evaluated;
    c->result->not_asked = stats.not_asked;
    c->result->rounds = stats.rounds;
    return err;
}

static enum sp_err solve(struct cover *c, const uint32_t *stands_for, struct sp_graph *graph,
                         struct sp_decisions *decisions, struct sp_fault *fault)
{
    const struct sp_cover_options *o = c->options;
    struct phase solving = {o, SP_COVER_SOLVING};
    struct sp_components_stats stats = {0};
    const struct sp_components_options options = {.documents = &c->documents,
                                                  .stands_for = stands_for,
                                                  .temp = o->temp,
                                                  .memory_bytes = o->memory_bytes / 4,
                                                  .solve = {o->exact_documents, EXACT_STEPS},
                                                  .progress = on_progress,
                                                  .progress_arg = &solving};
    enum sp_err err = sp_components_solve(&options, graph, decisions, &stats, fault);
    c->result->components = stats.components;
    c->result->largest = stats.largest;
    c->result->arcs = stats.arcs;
    c->result->exact = stats.solve.exact;
    c->result->greedy = stats.solve.greedy;
    c->result->stopped = stats.solve.stopped;
    return err;
}

static enum sp_err apply_quotas(struct cover *c, const uint32_t *stands_for, struct sp_graph *graph,
                                struct sp_decisions *decisions, struct sp_fault *fault)
{
    const struct sp_documents *d = &c->documents;
    const struct sp_quota_options options = {
        .quota = {c->options->host_least, c->options->host_most},
        .documents = d,
        .relation = c->relation,
        .stands_for = stands_for};
    struct sp_quota_stats stats = {0};
    enum sp_err err = sp_quota_apply(&options, graph, decisions, &stats, fault);
    c->result->added = stats.added;
    c->result->left_out = stats.left_out;
    for (size_t i = 0; i < d->count; i++)
        if (decisions->covered_by[i] == SP_KEPT)
            c->result->weight += d->weights ? d->weights[i] : 1;
    return err;
}

static enum sp_err decide(struct cover *c, const uint32_t *stands_for,
                          struct sp_decisions *decisions, struct sp_fault *fault)
{
    struct sp_graph graph;
    sp_graph_open(&graph, c->documents.count, c->options->temp);
    enum sp_err err = find_arcs(c, stands_for, &graph, fault);
    if (err == SP_OK)
        err = solve(c, stands_for, &graph, decisions, fault);
    if (err == SP_OK)
        err = apply_quotas(c, stands_for, &graph, decisions, fault);
    sp_graph_close(&graph);
    return err;
}

static enum sp_err write_all(struct cover *c, const struct sp_decisions *decisions,
                             struct sp_fault *fault)
{
    struct phase writing = {c->options, SP_COVER_WRITING};
    struct sp_write_stats stats = {0};
    const struct sp_write_options options = {.output = c->options->output,
                                             .documents = &c->documents,
                                             .relation = c->relation,
                                             .progress = on_progress,
                                             .progress_arg = &writing};
    enum sp_err err = sp_cover_write(&options, decisions, &stats, fault);
    c->result->kept = stats.kept;
    c->result->bytes = stats.bytes;
    c->result->kept_bytes = stats.kept_bytes;
    return err;
}

static enum sp_err compute(struct cover *c, struct sp_fault *fault)
{
    size_t count = c->documents.count;
    struct sp_cover_result *r = c->result;
    uint32_t *stands_for = sp_alloc((count + 1) * sizeof *stands_for);
    struct sp_decisions decisions = {sp_alloc((count + 1) * sizeof *decisions.covered_by),
                                     sp_calloc(count + 1, sizeof *decisions.overlap)};
    memset(decisions.covered_by, 0xff, count * sizeof *decisions.covered_by); /* SP_KEPT */
    r->documents = count;
    r->contents = sp_documents_contents(&c->documents);
    r->shingles = c->documents.set_spool.len / 4;
    r->urls = c->documents.urls;
    r->version_squares = c->documents.version_squares;
    for (size_t i = 0; i < count; i++)
        r->document_shingles += c->documents.contents[c->documents.items[i].content].size;
    r->standing = sp_quotient(&c->documents, c->relation, &c->plan, stands_for);
    enum sp_err err = decide(c, stands_for, &decisions, fault);
    if (err == SP_OK)
        err = write_all(c, &decisions, fault);
    sp_free(stands_for);
    sp_free(decisions.covered_by);
    sp_free(decisions.overlap);
    return err;
}

/* The fields that are still needed when all documents have been read. */
static uint32_t kept_fields(const struct cover *c)
{
    bool quota = c->options->host_least || c->options->host_most;
    return c->relation->fields | (quota ? 1u << SP_FIELD_host : 0) |
           (c->filter ? sp_versions_fields(c->filter->root) : 0);
}

enum sp_err sp_cover(const struct sp_cover_options *options, struct sp_cover_result *ret_result,
                     struct sp_fault *fault)
{
    struct cover c = {.options = options, .result = ret_result};
    *ret_result = (struct sp_cover_result){0};
    enum sp_err err = parse_both(options->relation, options->filter, &c.relation, &c.filter, fault);
    if (err == SP_OK)
        err = parse_weight(options->weight, &c.weight, fault);
    if (err == SP_OK) {
        sp_plan_make(c.relation, &c.plan);
        sp_documents_open(&c.documents, kept_fields(&c), c.weight, options->temp);
        err = read_inputs(&c, fault);
        if (err == SP_OK)
            err = compute(&c, fault);
        sp_documents_done(&c.documents);
        sp_plan_done(&c.plan);
    }
    sp_relation_free(c.relation);
    sp_relation_free(c.filter);
    sp_relation_free(c.weight);
    return err;
}

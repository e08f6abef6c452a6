/* A ring of slots, one chunk each, in input order. Workers read chunks in turn, one worker at a
 * time; the worker that has read a chunk also makes its batch, because the bytes are in that core's
 * cache. Batches are handed out in the order of reading. One mutex guards the counters and says
 * whose turn it is to read.
 *
 *   handed_out <= done... <= taken <= handed_out + ring size
 *
 * Fails as the input does: the error is handed out in its place, after all batches before it. */
#include "local/pipeline.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/thread.h"
#include "signature/signature.h"

enum { SLOTS_A_WORKER = 3 };

struct slot {
    struct sp_batch batch;
    bool done;
};

struct worker {
    struct sp_pipeline *pipeline;
    struct sp_parser *parser;
    struct sp_text *text;
    struct sp_buf scratch;
    struct sp_chunk *last; /* finished; its memory goes back to the input with the next reading */
    pthread_t thread;
};

struct sp_pipeline {
    struct sp_input *input;
    const struct sp_pipeline_maker *maker;
    struct worker *workers;
    uint32_t worker_count; /* 0: the caller works, with workers[0] */
    uint32_t started;      /* number of worker threads that were started */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct slot *slots;
    uint64_t slot_count;
    uint64_t taken; /* slots whose chunk has been read */
    uint64_t handed_out;
    bool reading;     /* a worker reads a chunk, for slot `taken` */
    bool with_caller; /* the caller has the batch of slot handed_out */
    bool ended;       /* nothing will be read any more; err is the reason */
    bool stop;
    enum sp_err err;
    struct sp_fault fault;
};

/* ---- one chunk ---- */

struct work {
    struct worker *worker;
    struct sp_batch *batch;
};

static struct sp_view keep(struct sp_batch *batch, struct sp_view bytes)
{
    /* An offset for now: the buffer may move until the batch is complete. */
    size_t at = batch->bytes.len;
    sp_buf_put_view(&batch->bytes, bytes);
    return sp_view((const char *)(uintptr_t)at, bytes.len);
}

static enum sp_err make_item(struct work *work, const struct sp_page_record *page,
                             struct sp_batch_item *item, const char **ret_why)
{
    const struct sp_pipeline_maker *maker = work->worker->pipeline->maker;
    struct sp_buf *bytes = &work->batch->bytes;
    size_t start = bytes->len;
    enum sp_err err =
        maker->make(maker->arg, work->worker->text, page, &work->worker->scratch, bytes, ret_why);
    if (err != SP_OK)
        bytes->len = start;
    item->made = sp_view((const char *)(uintptr_t)start, bytes->len - start); /* as in keep() */
    return err;
}

static void on_item(void *arg, const struct sp_input_item *in)
{
    struct work *work = arg;
    struct sp_batch *batch = work->batch;
    sp_grow(&batch->items, &batch->cap, batch->count + 1);
    struct sp_batch_item *item = &batch->items[batch->count++];
    const char *why = in->why;
    *item = (struct sp_batch_item){.err = in->err,
                                   .number = in->number,
                                   .records = in->records,
                                   .half = in->half,
                                   .offset = in->offset};
    if (in->err == SP_OK) {
        struct sp_view digest = in->page.payload_digest;
        item->content_bytes = in->page.content.len;
        if (digest.len)
            item->digest = sp_hash128(digest.data, digest.len);
        item->err = work->worker->pipeline->maker
                        ? make_item(work, &in->page, item, &why)
                        : sp_record_message(work->worker->text, &in->page, &work->worker->scratch,
                                            &item->message, &why);
        item->cut = sp_text_take_cut(work->worker->text) > 0;
    }
    if (item->err != SP_OK) {
        item->why = keep(batch, sp_view(why, strlen(why) + 1)).data;
        item->raw = keep(batch, in->raw);
    }
}

static void work_on(struct worker *w, struct sp_chunk *chunk, struct slot *slot)
{
    struct work work = {w, &slot->batch};
    slot->batch.count = 0;
    sp_buf_reset(&slot->batch.bytes);
    sp_chunk_parse(w->parser, chunk, on_item, &work);
    w->last = chunk;
    for (size_t i = 0; i < slot->batch.count; i++) {
        struct sp_batch_item *item = &slot->batch.items[i];
        if (item->made.len)
            item->made.data = slot->batch.bytes.data + (uintptr_t)item->made.data;
        if (item->err == SP_OK)
            continue;
        item->why = slot->batch.bytes.data + (uintptr_t)item->why;
        item->raw.data = slot->batch.bytes.data + (uintptr_t)item->raw.data;
    }
}

static void batch_done(struct sp_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        sp_message_free(batch->items[i].message);
    sp_free(batch->items);
    sp_buf_done(&batch->bytes);
}

/* ---- threads ---- */

static struct slot *slot_of(struct sp_pipeline *p, uint64_t number)
{
    return &p->slots[number % p->slot_count];
}

/* Only one thread at a time. */
static enum sp_err read_chunk(struct worker *w, struct sp_chunk **ret_chunk, struct sp_fault *fault)
{
    sp_input_take_back(w->pipeline->input, w->last);
    w->last = NULL;
    return sp_input_next_chunk(w->pipeline->input, ret_chunk, fault);
}

/* Waits for this worker's turn to read, and reads; NULL: there is nothing more to do. Called and
 * left with the mutex locked. */
static struct sp_chunk *take_chunk(struct worker *w, struct slot **ret_slot)
{
    struct sp_pipeline *p = w->pipeline;
    struct sp_chunk *chunk = NULL;
    struct sp_fault fault = {""};
    while (!p->stop && !p->ended && (p->reading || p->taken == p->handed_out + p->slot_count))
        pthread_cond_wait(&p->changed, &p->mutex);
    if (p->stop || p->ended)
        return NULL;
    p->reading = true;
    pthread_mutex_unlock(&p->mutex);
    enum sp_err err = read_chunk(w, &chunk, &fault);
    uint64_t bytes = sp_input_read_bytes(p->input);
    pthread_mutex_lock(&p->mutex);
    p->reading = false;
    if (err != SP_OK) {
        p->ended = true;
        p->err = err;
        p->fault = fault;
    } else {
        *ret_slot = slot_of(p, p->taken++);
        (*ret_slot)->batch.read_bytes = bytes;
    }
    pthread_cond_broadcast(&p->changed);
    return err == SP_OK ? chunk : NULL;
}

static void *work_all(void *arg)
{
    struct worker *w = arg;
    struct sp_pipeline *p = w->pipeline;
    struct sp_chunk *chunk;
    struct slot *slot;
    pthread_mutex_lock(&p->mutex);
    while ((chunk = take_chunk(w, &slot))) {
        pthread_mutex_unlock(&p->mutex);
        work_on(w, chunk, slot);
        pthread_mutex_lock(&p->mutex);
        slot->done = true;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->mutex);
    sp_message_thread_done();
    return NULL;
}

/* If a thread cannot be started, nothing is read, and the first call for a batch fails. */
static void start_threads(struct sp_pipeline *p)
{
    enum sp_err err = SP_OK;
    struct sp_fault fault;
    pthread_mutex_lock(&p->mutex); /* no worker reads before all have started */
    for (; p->started < p->worker_count && err == SP_OK; p->started += err == SP_OK) {
        struct worker *w = &p->workers[p->started];
        err = sp_thread_start(&w->thread, work_all, w, &fault);
    }
    if (err != SP_OK) {
        p->fault = fault;
        p->err = err;
        p->ended = true;
    }
    pthread_mutex_unlock(&p->mutex);
}

/* ---- the caller's side ---- */

struct sp_pipeline *sp_pipeline_start_making(struct sp_input *input,
                                             const struct sp_input_options *options,
                                             const struct sp_text_options *text, uint32_t workers,
                                             const struct sp_pipeline_maker *maker)
{
    struct sp_pipeline *p = sp_calloc(1, sizeof *p);
    uint32_t made = workers ? workers : 1;
    p->input = input;
    p->maker = maker;
    p->worker_count = workers;
    p->workers = sp_calloc(made, sizeof *p->workers);
    p->slot_count = workers ? (uint64_t)workers * SLOTS_A_WORKER + 1 : 1;
    p->slots = sp_calloc(p->slot_count, sizeof *p->slots);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    for (uint32_t i = 0; i < made; i++) {
        p->workers[i].pipeline = p;
        p->workers[i].parser = sp_parser_new(options);
        p->workers[i].text = sp_text_new(text);
    }
    start_threads(p);
    return p;
}

struct sp_pipeline *sp_pipeline_start(struct sp_input *input,
                                      const struct sp_input_options *options,
                                      const struct sp_text_options *text, uint32_t workers)
{
    return sp_pipeline_start_making(input, options, text, workers, NULL);
}

static enum sp_err next_here(struct sp_pipeline *p, struct sp_batch **ret_batch,
                             struct sp_fault *fault)
{
    struct slot *slot = &p->slots[0];
    struct sp_chunk *chunk;
    enum sp_err err = read_chunk(&p->workers[0], &chunk, fault);
    if (err != SP_OK)
        return err;
    work_on(&p->workers[0], chunk, slot);
    slot->batch.read_bytes = sp_input_read_bytes(p->input);
    *ret_batch = &slot->batch;
    return SP_OK;
}

enum sp_err sp_pipeline_next(struct sp_pipeline *p, struct sp_batch **ret_batch,
                             struct sp_fault *fault)
{
    if (p->worker_count == 0)
        return next_here(p, ret_batch, fault);
    enum sp_err err = SP_OK;
    pthread_mutex_lock(&p->mutex);
    if (p->with_caller) {
        slot_of(p, p->handed_out++)->done = false;
        pthread_cond_broadcast(&p->changed);
    }
    struct slot *slot = slot_of(p, p->handed_out);
    while (!slot->done && !(p->ended && p->handed_out == p->taken))
        pthread_cond_wait(&p->changed, &p->mutex);
    p->with_caller = slot->done;
    if (slot->done) {
        *ret_batch = &slot->batch;
    } else {
        err = p->err;
        if (err != SP_END)
            *fault = p->fault;
    }
    pthread_mutex_unlock(&p->mutex);
    return err;
}

void sp_pipeline_stop(struct sp_pipeline *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->mutex);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    for (uint32_t i = 0; i < p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    for (uint32_t i = 0; i < (p->worker_count ? p->worker_count : 1); i++) {
        sp_chunk_free(p->workers[i].last);
        sp_parser_free(p->workers[i].parser);
        sp_text_free(p->workers[i].text);
        sp_buf_done(&p->workers[i].scratch);
    }
    for (uint64_t i = 0; i < p->slot_count; i++)
        batch_done(&p->slots[i].batch);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    sp_free(p->workers);
    sp_free(p->slots);
    sp_free(p);
}

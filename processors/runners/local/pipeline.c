/* A ring of slots, one chunk each, in input order. Workers read chunks in turn, one worker at a
 * time; the worker that has read a chunk also makes its batch, because the bytes are in that core's
 * cache. Batches are handed out in the order of reading. The caller is a worker too while the next
 * batch is not done, so there are as many threads as cores, and all of them have work: a thread
 * sleeps only if the ring is full, or at the end.
 *
 *   handed_out <= done... <= taken <= handed_out + ring size
 *
 * Two mutexes: `turn` is held while a chunk is read, `mutex` guards the counters and is never held
 * for long. A thread that holds both has taken `turn` first. No thread waits for room while it
 * holds `turn`, because the caller, which makes room, may want it.
 *
 * Fails as the input does: the error is handed out in its place, after all batches before it. */
#include "local/pipeline.h"

#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/thread.h"
#include "signature/signature.h"

/* So many that workers need not wait while the caller is busy with a few expensive batches. */
enum { SLOTS_A_WORKER = 8 };

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
    struct worker *workers; /* workers[0] is the caller */
    uint32_t worker_count;
    uint32_t started; /* number of workers that are ready, the caller included */
    pthread_mutex_t turn;
    pthread_mutex_t mutex;
    pthread_cond_t room; /* for workers: the ring has room again, or there is nothing more to do */
    pthread_cond_t filled; /* for the caller: the slot handed_out is done */
    struct slot *slots;
    uint64_t slot_count;
    uint64_t taken; /* slots whose chunk has been read */
    uint64_t handed_out;
    bool with_caller; /* the caller has the batch of slot handed_out */
    bool is_waiting;  /* the caller waits for `filled` */
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

void sp_batch_item_count(const struct sp_batch_item *item, struct sp_readings *readings)
{
    sp_readings_add(readings, item->records, item->err == SP_OK ? NULL : item->why);
    sp_readings_cut(readings, item->cut);
}

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

static bool is_full(const struct sp_pipeline *p)
{
    return p->taken == p->handed_out + p->slot_count;
}

/* Records why reading has ended. Called with `mutex`. */
static void end(struct sp_pipeline *p, enum sp_err err, const struct sp_fault *fault)
{
    p->ended = true;
    p->err = err;
    p->fault = *fault;
    pthread_cond_broadcast(&p->room);
}

/* Reads a chunk for slot `taken`. Called with `turn`. */
static struct sp_chunk *read_chunk(struct worker *w, struct slot **ret_slot)
{
    struct sp_pipeline *p = w->pipeline;
    struct sp_chunk *chunk = NULL;
    struct sp_fault fault = {""};
    sp_input_take_back(p->input, w->last);
    w->last = NULL;
    enum sp_err err = sp_input_next_chunk(p->input, &chunk, &fault);
    uint64_t bytes = sp_input_read_bytes(p->input);
    pthread_mutex_lock(&p->mutex);
    if (err != SP_OK) {
        end(p, err, &fault);
        chunk = NULL;
    } else {
        *ret_slot = slot_of(p, p->taken++);
        (*ret_slot)->batch.read_bytes = bytes;
    }
    pthread_mutex_unlock(&p->mutex);
    return chunk;
}

/* Reads a chunk when it is this worker's turn and makes its batch. False: the ring is full, or
 * there is nothing more to do. */
static bool work_once(struct worker *w)
{
    struct sp_pipeline *p = w->pipeline;
    struct sp_chunk *chunk = NULL;
    struct slot *slot = NULL;
    pthread_mutex_lock(&p->turn);
    pthread_mutex_lock(&p->mutex);
    bool may_read = !p->stop && !p->ended && !is_full(p);
    pthread_mutex_unlock(&p->mutex);
    if (may_read)
        chunk = read_chunk(w, &slot);
    pthread_mutex_unlock(&p->turn);
    if (!chunk)
        return false;
    work_on(w, chunk, slot);
    pthread_mutex_lock(&p->mutex);
    slot->done = true;
    if (p->is_waiting && slot == slot_of(p, p->handed_out))
        pthread_cond_signal(&p->filled);
    pthread_mutex_unlock(&p->mutex);
    return true;
}

/* False: there is nothing more to do. */
static bool wait_for_room(struct sp_pipeline *p)
{
    pthread_mutex_lock(&p->mutex);
    while (!p->stop && !p->ended && is_full(p))
        pthread_cond_wait(&p->room, &p->mutex);
    bool more = !p->stop && !p->ended;
    pthread_mutex_unlock(&p->mutex);
    return more;
}

static void *work_all(void *arg)
{
    struct worker *w = arg;
    while (wait_for_room(w->pipeline))
        work_once(w);
    sp_message_thread_done();
    return NULL;
}

/* If a thread cannot be started, nothing is read, and the first call for a batch fails. */
static void start_threads(struct sp_pipeline *p)
{
    enum sp_err err = SP_OK;
    struct sp_fault fault;
    pthread_mutex_lock(&p->mutex); /* no worker reads before all have started */
    for (p->started = 1; p->started < p->worker_count && err == SP_OK; p->started += err == SP_OK) {
        struct worker *w = &p->workers[p->started];
        err = sp_thread_start(&w->thread, work_all, w, &fault);
    }
    if (err != SP_OK)
        end(p, err, &fault);
    pthread_mutex_unlock(&p->mutex);
}

/* ---- the caller's side ---- */

uint32_t sp_pipeline_workers(uint32_t threads)
{
    if (threads == 1)
        return 0;
    if (threads > 1)
        return threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 1 ? (uint32_t)cores : 0;
}

struct sp_pipeline *sp_pipeline_start_making(struct sp_input *input,
                                             const struct sp_input_options *options,
                                             const struct sp_text_options *text, uint32_t workers,
                                             const struct sp_pipeline_maker *maker)
{
    struct sp_pipeline *p = sp_calloc(1, sizeof *p);
    p->input = input;
    p->maker = maker;
    p->worker_count = workers ? workers : 1;
    p->workers = sp_calloc(p->worker_count, sizeof *p->workers);
    p->slot_count = workers > 1 ? (uint64_t)workers * SLOTS_A_WORKER + 1 : 1;
    p->slots = sp_calloc(p->slot_count, sizeof *p->slots);
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->room, NULL);
    pthread_cond_init(&p->filled, NULL);
    for (uint32_t i = 0; i < p->worker_count; i++) {
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

/* The caller's batch goes back to the ring. Workers that wait for room are woken when half of the
 * ring is empty: waking them for each slot would cost more than they do with one. */
static void give_back(struct sp_pipeline *p)
{
    slot_of(p, p->handed_out++)->done = false;
    p->with_caller = false;
    if (p->taken - p->handed_out == p->slot_count / 2)
        pthread_cond_broadcast(&p->room);
}

/* Works, or waits if there is no work, until the slot handed_out is done. False: there is none.
 * Called and left with `mutex`. */
static bool wait_for_batch(struct sp_pipeline *p)
{
    while (!slot_of(p, p->handed_out)->done) {
        if (p->ended && p->handed_out == p->taken)
            return false;
        if (p->ended || is_full(p)) {
            p->is_waiting = true;
            pthread_cond_wait(&p->filled, &p->mutex);
            p->is_waiting = false;
            continue;
        }
        pthread_mutex_unlock(&p->mutex);
        work_once(&p->workers[0]);
        pthread_mutex_lock(&p->mutex);
    }
    return true;
}

enum sp_err sp_pipeline_next(struct sp_pipeline *p, struct sp_batch **ret_batch,
                             struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    pthread_mutex_lock(&p->mutex);
    if (p->with_caller)
        give_back(p);
    p->with_caller = wait_for_batch(p);
    if (p->with_caller) {
        *ret_batch = &slot_of(p, p->handed_out)->batch;
    } else {
        err = p->err;
        if (err != SP_END)
            *fault = p->fault;
    }
    pthread_mutex_unlock(&p->mutex);
    return err;
}

const struct sp_batch *sp_pipeline_batch(struct sp_pipeline *p, uint64_t number)
{
    pthread_mutex_lock(&p->mutex);
    SP_ASSERT(number >= p->handed_out);
    const struct slot *slot = number < p->taken ? slot_of(p, number) : NULL;
    const struct sp_batch *batch = slot && slot->done ? &slot->batch : NULL;
    pthread_mutex_unlock(&p->mutex);
    return batch;
}

void sp_pipeline_stop(struct sp_pipeline *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->mutex);
    p->stop = true;
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->mutex);
    for (uint32_t i = 1; i < p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    for (uint32_t i = 0; i < p->worker_count; i++) {
        sp_chunk_free(p->workers[i].last);
        sp_parser_free(p->workers[i].parser);
        sp_text_free(p->workers[i].text);
        sp_buf_done(&p->workers[i].scratch);
    }
    for (uint64_t i = 0; i < p->slot_count; i++)
        batch_done(&p->slots[i].batch);
    pthread_cond_destroy(&p->filled);
    pthread_cond_destroy(&p->room);
    pthread_mutex_destroy(&p->mutex);
    pthread_mutex_destroy(&p->turn);
    sp_free(p->workers);
    sp_free(p->slots);
    sp_free(p);
}

/* The first stage over several cores: chunks of input become batches of messages, in input order.
 *
 *   workers, which read in turn -> ring of slots -> the caller, in order
 *
 * The caller is one of the workers: while the next batch is not done, it works as well. With one
 * worker everything happens in the caller. Thread rule: one caller. */
#ifndef SP_LOCAL_PIPELINE_H
#define SP_LOCAL_PIPELINE_H

#include "input/input.h"
#include "input/readings.h"
#include "page/message.h"
#include "text/text.h"

/* What became of one record. */
struct sp_batch_item {
    struct sp_message *message; /* the receiver takes it and sets NULL; NULL: see err */
    enum sp_err err;            /* SP_OK without a message: the record says nothing of the page */
    const char *why;
    uint64_t number;
    uint64_t records; /* of the input that it stands for */
    bool half;        /* to be read again by a later run */
    uint64_t offset;
    struct sp_view raw;
    uint64_t content_bytes;
    struct sp_id digest; /* of the payload digest's text; zero: none */
    bool cut;            /* of the content only text.max_bytes were read */
    struct sp_view made; /* with a maker: what it made, empty for nothing; instead of a message */
};

/* Counts it among what was read; NULL is allowed. */
void sp_batch_item_count(const struct sp_batch_item *item, struct sp_readings *readings);

struct sp_batch {
    struct sp_batch_item *items;
    size_t count;
    size_t cap;
    struct sp_buf bytes; /* what the items' why, raw and made point into */
    uint64_t read_bytes; /* of the input, when this batch was read */
};

/* Into what records are made, if not into messages (sp_record_message). */
struct sp_pipeline_maker {
    /* Called by any worker: appends what the page becomes to `out`, nothing if it is of no
     * interest. An error is a dead letter, *ret_why a sentence. */
    enum sp_err (*make)(void *arg, struct sp_text *text, const struct sp_page_record *page,
                        struct sp_buf *scratch, struct sp_buf *out, const char **ret_why);
    void *arg;
};

struct sp_pipeline;

/* Worker threads for a setting of `threads`: 0 means that the caller does the work. */
uint32_t sp_pipeline_workers(uint32_t threads);

/* Reads from `input`, which stays the caller's and must live longer. Starts a thread for each
 * worker but one, because the caller is a worker too; with 0 workers it is the only one. */
struct sp_pipeline *sp_pipeline_start(struct sp_input *input,
                                      const struct sp_input_options *options,
                                      const struct sp_text_options *text, uint32_t workers);
/* The same with a maker, which must live longer as well. */
struct sp_pipeline *sp_pipeline_start_making(struct sp_input *input,
                                             const struct sp_input_options *options,
                                             const struct sp_text_options *text, uint32_t workers,
                                             const struct sp_pipeline_maker *maker);
/* The next batch: valid until the next call. SP_END after the last; SP_IO where the
 * input cannot be read, or the threads could not be started. */
enum sp_err sp_pipeline_next(struct sp_pipeline *p, struct sp_batch **ret_batch,
                             struct sp_fault *fault);
/* The batch with that number, from 0, in the order in which they are handed out; NULL: it is not
 * ready. The next batches are often ready. It must not be older than the last one handed out, and
 * is valid until the call that follows when it was handed out. */
const struct sp_batch *sp_pipeline_batch(struct sp_pipeline *p, uint64_t number);
/* Ends the threads, also in the middle; NULL is allowed. */
void sp_pipeline_stop(struct sp_pipeline *p);

#endif

/* Traces in memory: every fetch in order, as signatures. Contents are dropped while reading; equal
 * contents share one signature. About 90 bytes a fetch, and 56 and 4 a shingle for each distinct
 * content. Thread rule: one thread at a time (signatures are counted without atomics). */
#ifndef SP_EVALUATE_TRACE_H
#define SP_EVALUATE_TRACE_H

#include "base/fault.h"
#include "input/input.h"
#include "input/readings.h"
#include "page/message.h"
#include "text/text.h"

enum { SP_NO_PAGE = UINT32_MAX };

struct sp_trace_page {
    struct sp_id id;
    char *url; /* as it was first seen, as a page or as a redirect's target */
};

struct sp_fetch {
    uint32_t page;   /* number in pages */
    uint32_t target; /* of a redirect: number in pages, where it may never be fetched itself;
                        else SP_NO_PAGE */
    uint32_t file;   /* number in files */
    enum sp_page_kind kind;
    int64_t version; /* fetch_time_ms; 0 if the input has none: one more than the last */
    struct sp_rank rank;
    struct sp_signature *signature; /* of content, else NULL; the trace's reference */
    uint64_t record;                /* number in its file, for reading the content again */
    uint64_t bytes;                 /* of its content, as crawled */
};

struct sp_trace_file {
    const char *path; /* the options' */
    const char *name; /* without directories */
    size_t first;     /* its fetches: first … first + count - 1 */
    size_t count;
    uint64_t ignored;      /* records that say nothing of a page, or no more than before: a 5xx, an
                            * image, a 304 */
    uint64_t dead_letters; /* records that could not be read */
    uint64_t content_bytes;
};

struct sp_trace_options {
    const char *const *files; /* each in order of time; they and their names outlive the trace */
    size_t file_count;
    struct sp_input_options input;
    struct sp_text_options text;
    uint32_t threads;             /* as for sp_pipeline_workers */
    struct sp_readings *readings; /* may be NULL */
    /* Bytes read of a file (`of` 0: unknown), for people waiting; may be NULL. */
    void (*progress)(void *arg, const char *file, uint64_t done, uint64_t of);
    void *progress_arg;
};

struct sp_trace {
    struct sp_trace_options options;
    struct sp_fetch *fetches; /* in the order of the input: file after file */
    size_t fetch_count;
    struct sp_trace_page *pages; /* in order of first appearance */
    size_t page_count;
    struct sp_trace_file *files;
    size_t file_count;
    size_t distinct;   /* contents */
    uint64_t shingles; /* that their signatures keep */
};

/* Reads all files of the options. */
enum sp_err sp_trace_read(const struct sp_trace_options *options, struct sp_trace **ret_trace,
                          struct sp_fault *fault);
/* NULL is allowed. */
void sp_trace_free(struct sp_trace *t);

/* The pages that have content after the fetches first … end - 1 and nothing before: for each the
 * number of the fetch that gave it, ascending, into ret_fetches (room for min(end - first,
 * page_count)); returns how many. A late fetch (an older version) changes nothing, as in tier 1. */
size_t sp_trace_alive(const struct sp_trace *t, size_t first, size_t end, uint32_t *ret_fetches);

/* The signatures of these fetches, borrowed, into ret_signatures (as sp_join wants them). */
void sp_trace_signatures(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                         struct sp_signature **ret_signatures);

/* The fetch as the message that starts its way through the tiers (SP_MSG_CRAWLED); the caller's. */
struct sp_message *sp_trace_message(const struct sp_trace *t, size_t fetch);

#endif

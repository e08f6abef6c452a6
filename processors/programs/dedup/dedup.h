/* A collection without its near duplicates: the first of those that resemble one another is kept.
 *
 * Each record of the input is a document, in the order in which it is read. It is removed where a
 * document kept before resembles it (F of similarity.h), and kept where none does. So no two kept
 * documents resemble each other, each removed one resembles the kept one that stands for it,
 * whatever chains there are, and what was decided once stays: with a state, the next snapshot is
 * held against all before it. (The greedy cover of winners/ with the order of reading as the rank.)
 *
 * Records go on as the bytes they were, and in their order. Records that say nothing of a page, as
 * images and errors in a WARC file, are kept. */
#ifndef SP_DEDUP_DEDUP_H
#define SP_DEDUP_DEDUP_H

#include "input/input.h"
#include "input/readings.h"
#include "similarity/similarity.h"
#include "store/store.h"
#include "text/text.h"

struct sp_dedup_options {
    const char *const *inputs;
    size_t input_count;
    const char *state;       /* directory; NULL: in memory, gone with the process */
    const char *fingerprint; /* of the configuration that gives the state its meaning */
    const char *kept;        /* files; NULL: not wanted. Of `kept` a name that ends with .gz or */
    const char *removed;     /* .zst is compressed: WARC files one member a record */
    const char *clusters;
    const char *dead_letter;
    uint32_t threads;       /* as of sp_run_options */
    uint64_t barrier_pages; /* records between two commits */
    size_t cache_bytes;     /* signatures in memory */
    struct sp_text_options text;
    struct sp_input_options input;
    struct sp_similarity_options similarity;
    struct sp_rocksdb_options store;
    struct sp_readings *readings; /* may be NULL */
    void (*progress)(void *arg, uint64_t documents, uint64_t bytes, uint64_t bytes_total,
                     uint64_t kept); /* may be NULL */
    void *progress_arg;
};

struct sp_dedup_result {
    uint64_t documents; /* with text, read in this run */
    uint64_t kept;
    uint64_t exact;        /* removed: equal content */
    uint64_t similar;      /* removed: resembles a kept one */
    uint64_t passed;       /* records that say nothing of a page: kept */
    uint64_t dead_letters; /* records that could not be read: not kept */
    uint64_t bytes;        /* of content */
    uint64_t removed_bytes;
    uint64_t skipped;   /* records an earlier run had handled */
    uint64_t survivors; /* distinct kept documents in the whole state */
};

/* Runs to the end of the inputs. The fault says what failed and what to do.
 *
 * Outputs replace what is there; with a state they go on where it left them, and a file that it
 * does not know is refused. Killed at any moment, the same call goes on from the last commit, and
 * its outputs are as if nothing had happened. The clusters are of the whole state, written at the
 * end. */
enum sp_err sp_dedup(const struct sp_dedup_options *options, struct sp_dedup_result *ret_result,
                     struct sp_fault *fault);

#endif

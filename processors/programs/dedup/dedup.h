/* Removes near duplicates from a collection: the first of similar documents is kept.
 *
 * Each record of the input is a document, in reading order. It is removed if it resembles a
 * document kept before (F of similarity.h), and kept otherwise. It is assigned to the most similar
 * of these, the first of equally similar ones. So no two kept documents resemble each other, each
 * removed one resembles the kept one that it is assigned to, whatever chains there are, and
 * decisions are final: with a state, the next snapshot is compared with all earlier ones.
 * (What is kept is the greedy cover of winners/ with the reading order as rank.)
 *
 * Records are written byte for byte, in their order. Records without a page, such as images and
 * errors in a WARC file, are kept. */
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
    const char *state;       /* directory; NULL: in memory only */
    const char *fingerprint; /* of the settings that determine the meaning of the state */
    const char *kept;        /* files; NULL: none. If the name of `kept` ends with .gz or */
    const char *removed; /* .zst it is compressed, for WARC files with a member for each record */
    const char *clusters;
    const char *dead_letter;
    uint32_t threads;       /* as in sp_run_options */
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
    uint64_t exact;        /* removed: equal to a kept one */
    uint64_t similar;      /* removed: similar to a kept one */
    uint64_t passed;       /* records without a page: kept */
    uint64_t dead_letters; /* records that could not be read: not kept */
    uint64_t bytes;        /* of content */
    uint64_t removed_bytes;
    uint64_t skipped;   /* records that an earlier run has handled */
    uint64_t compared;  /* pairs of a document and a kept one */
    uint64_t walked;    /* postings of the candidate index */
    uint64_t survivors; /* distinct kept documents in the whole state */
};

/* Runs to the end of the inputs. The fault says what failed and what to do.
 *
 * Outputs are overwritten; with a state they are continued, and a file that the state does not know
 * is refused. After a kill at any moment the same call continues from the last commit, with the
 * same outputs as an undisturbed one. The clusters, of the whole state, are written at the end. */
enum sp_err sp_dedup(const struct sp_dedup_options *options, struct sp_dedup_result *ret_result,
                     struct sp_fault *fault);

#endif

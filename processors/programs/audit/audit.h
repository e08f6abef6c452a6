/* Checks a deduplication that any program made: compares the documents that it removed with those
 * that it kept. The similarity of each removed document to what is left is exact (the join of all
 * pairs, similarity/join.h), so that what an approximate method did is seen. */
#ifndef SP_AUDIT_AUDIT_H
#define SP_AUDIT_AUDIT_H

#include "input/input.h"
#include "input/readings.h"
#include "similarity/similarity.h"
#include "text/text.h"

struct sp_audit_options {
    const char *const
        *inputs; /* the collection before the deduplication; read twice for examples */
    size_t input_count;
    const char *removed;  /* a list of what was removed, */
    const char *kept;     /* or of what was kept */
    const char *clusters; /* may be NULL */
    const char *report;   /* directory for the page; NULL: none */
    const char *json;     /* file for the figures; "-": standard output; NULL: none */
    uint32_t threads;
    struct sp_text_options text;
    struct sp_input_options input;
    struct sp_similarity_options similarity;
    struct sp_readings *readings; /* may be NULL */
    void (*progress)(void *arg, uint64_t documents, uint64_t bytes, uint64_t bytes_total,
                     uint64_t distinct); /* may be NULL */
    void *progress_arg;
};

struct sp_audit_result {
    uint64_t documents;
    uint64_t dead_letters;
    uint64_t bytes; /* of text as it came */
    uint64_t removed;
    uint64_t removed_bytes;
    uint64_t unknown;         /* names in the lists that no document has */
    uint64_t right;           /* removed, and something kept resembles it */
    uint64_t by_chain;        /* removed, and what it resembles was removed as well */
    uint64_t wrong;           /* removed, and it resembles no other document */
    uint64_t wordless;        /* removed, and there is nothing to compare */
    uint64_t survivor_known;  /* removed, and the lists say for which document */
    uint64_t survivor_gone;   /* of these: that one was removed as well */
    uint64_t survivor_unlike; /* of these: that one does not resemble it */
    uint64_t missed_pairs;    /* near duplicates that were both kept */
    uint64_t missed;          /* documents kept although an earlier kept one resembles them */
    uint64_t clusters;
    uint64_t clusters_lost; /* of which nothing was kept */
};

/* The fault says what failed and what to do. */
enum sp_err sp_audit(const struct sp_audit_options *options, struct sp_audit_result *ret_result,
                     struct sp_fault *fault);

#endif

/* Checks a deduplication made by any program: compares the removed documents with the kept ones.
 * All similar pairs count (near.c), so that the errors of an approximate method show. Similarities
 * are exact unless a document has more shingles than a signature keeps. */
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
    const char *removed;  /* a list of the removed documents, */
    const char *kept;     /* or of the kept ones; one of both */
    const char *clusters; /* may be NULL */
    const char *report;   /* directory for the page; NULL: none */
    const char *json;     /* file for the figures; "-": standard output; NULL: none */
    uint32_t threads;
    uint64_t most_comparisons; /* for missed_pairs */
    struct sp_text_options text;
    struct sp_input_options input;
    struct sp_similarity_options similarity;
    struct sp_readings *readings; /* may be NULL */
    void (*progress)(void *arg, uint64_t documents, uint64_t bytes, uint64_t bytes_total,
                     uint64_t distinct); /* may be NULL */
    void *progress_arg;
    /* Before the comparison, of a list that names ids without a document, also as what a document
     * was removed for; may be NULL. */
    void (*warn)(void *arg, const char *text);
    void *warn_arg;
};

struct sp_audit_result {
    uint64_t documents;
    uint64_t dead_letters;
    uint64_t bytes; /* of text, as read */
    uint64_t removed;
    uint64_t removed_bytes;
    uint64_t superseded;        /* neither removed nor kept: the list is of statuses */
    uint64_t ambiguous;         /* ids of unlike documents: which was removed, no list says */
    uint64_t unknown;           /* ids in the lists without a document */
    uint64_t right;             /* removed; resembles a kept document */
    uint64_t by_chain;          /* removed; every document that it resembles was removed as well */
    uint64_t wrong;             /* removed; resembles no other document */
    uint64_t wordless;          /* removed; has no text to compare */
    uint64_t survivor_known;    /* removed; the lists name the document it was removed for */
    uint64_t survivor_unknown;  /* lines of the lists that name one that is not in the input */
    uint64_t survivor_gone;     /* of these: that document was removed as well */
    uint64_t survivor_unlike;   /* of these: that document is not similar */
    uint64_t missed_pairs;      /* near duplicates that were both kept */
    bool missed_pairs_at_least; /* there are perhaps more: most_comparisons did not suffice */
    uint64_t missed;            /* documents kept although they resemble an earlier kept one */
    uint64_t compared;          /* pairs of contents, to find all of this out */
    uint64_t clusters;
    uint64_t clusters_lost; /* without a kept document */
};

/* The fault says what failed and what to do. SP_INVALID: nothing that the list of removed or kept
 * documents names is in the input. */
enum sp_err sp_audit(const struct sp_audit_options *options, struct sp_audit_result *ret_result,
                     struct sp_fault *fault);

#endif

/* The smallest part of an archive that covers all of it, by a relation that the user writes.
 *
 * Source: Paudel, Anand, Berberich, "User-Defined Redundancy in Web Archives". Document a is
 * covered by document b if the relation holds. As few documents as possible are kept, such that
 * every dropped one is covered by a kept one.
 *
 *   relation.h    the user's condition        documents.h   the documents
 *   plan.h        what can be looked up       quotient.h    which documents represent others
 *   pairs.h, arcs.h                     which pairs share enough, and are related
 *   graph.h       which covers which          solve.h       which to keep
 *
 * The result is a pure function of the input, the relation and the limits (`coverers`,
 * `exact_documents`); threads and memory do not change it. */
#ifndef SP_COVER_COVER_H
#define SP_COVER_COVER_H

#include "base/fault.h"
#include "input/input.h"
#include "input/readings.h"
#include "text/text.h"

enum sp_cover_phase {
    SP_COVER_READING, /* bytes of input; total 0: unknown */
    SP_COVER_PAIRING,
    SP_COVER_SOLVING, /* components */
    SP_COVER_WRITING, /* documents */
    SP_COVER_PHASES
};

struct sp_cover_options {
    const char *const *inputs;
    size_t input_count;
    const char *relation;
    const char *filter;  /* NULL: all documents */
    const char *weight;  /* a number of a document, above 0: the least sum is wanted; NULL: the
                            fewest documents */
    uint32_t host_least; /* quota.h; 0: any number */
    uint32_t host_most;
    const char *output; /* "-": standard output; NULL: none */
    const char *temp;   /* directory of temporary files */
    uint32_t threads;   /* as for sp_pipeline_workers */
    uint64_t memory_bytes;
    uint32_t coverers;           /* arcs.h: a document that so many others cover covers none; 0:
                                  * no limit */
    uint32_t exact_documents;    /* solve.h: parts of so many are solved exactly */
    struct sp_text_options text; /* its signature options are not used: all shingles, each once */
    struct sp_input_options input;
    struct sp_readings *readings; /* may be NULL */
    /* May be NULL; from the calling thread. */
    void (*progress)(void *arg, enum sp_cover_phase phase, uint64_t done, uint64_t total);
    void *progress_arg;
};

struct sp_cover_result {
    uint64_t records;
    uint64_t dead_letters;
    uint64_t filtered; /* documents that the filter left out */
    uint64_t documents;
    uint64_t kept;
    double weight;     /* of those kept */
    uint64_t added;    /* of kept ones: for host_least */
    uint64_t left_out; /* neither kept nor covered: for host_most */
    uint64_t bytes;    /* of the documents' content, as fetched */
    uint64_t kept_bytes;
    uint64_t document_shingles; /* of all documents */
    uint64_t urls;              /* where `versions` is asked for, and then also: */
    double version_squares;     /* sum of the squared numbers of documents of each URL */
    uint64_t contents;          /* different sets of shingles */
    uint64_t shingles;          /* of these, in all */
    uint64_t standing;          /* documents left by the quotient */
    uint64_t arcs;              /* between these */
    uint64_t components;        /* of two and more */
    uint64_t largest;           /* component */
    /* Candidates (pairs.h): */
    uint64_t postings;
    uint64_t blocks;
    uint64_t candidates;
    uint64_t not_asked; /* documents that were not asked to cover others (arcs.h) */
    uint64_t evaluated; /* pairs of documents, by the relation */
    uint64_t rounds;    /* in which the others were asked */
    /* Parts of the graph (solve.h): */
    uint64_t exact;
    uint64_t greedy;
    uint64_t stopped;
};

/* On failure the fault says what is wrong and what to do. */
enum sp_err sp_cover(const struct sp_cover_options *options, struct sp_cover_result *ret_result,
                     struct sp_fault *fault);

/* Appends what the relation means and how it would be looked up, for people. */
enum sp_err sp_cover_explain(const char *relation, const char *filter, struct sp_buf *out,
                             struct sp_fault *fault);

#endif

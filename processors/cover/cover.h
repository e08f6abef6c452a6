/* The smallest part of an archive that covers all of it, by a relation that the user writes.
 *
 * Source: Paudel, Anand, Berberich, "User-Defined Redundancy in Web Archives". Document a is
 * covered by document b where the relation holds; wanted are as few kept documents as possible,
 * such that every dropped one is covered by a kept one.
 *
 *   relation.h    what the user wrote         documents.h   what it is asked about
 *   plan.h        what can be looked up       quotient.h    what can stand for others
 *   pairs.h, arcs.h                     which pairs share enough, and are related
 *   graph.h       who covers whom             solve.h       whom to keep
 *
 * The result is a pure function of the input, the relation and the limits of exactness; threads and
 * memory do not change it. */
#ifndef SP_COVER_COVER_H
#define SP_COVER_COVER_H

#include "cover/pairs.h"
#include "cover/solve.h"
#include "input/input.h"
#include "relation/relation.h"
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
    const char *filter; /* NULL: all documents */
    const char *output; /* "-": standard output; NULL: none */
    const char *temp;   /* directory of temporary files */
    uint32_t threads;   /* as for sp_run_workers */
    uint64_t memory_bytes;
    struct sp_solve_options solve;
    struct sp_text_options text; /* its signature options are not used: all shingles, each once */
    struct sp_input_options input;
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
    uint64_t bytes; /* of the documents' content, as fetched */
    uint64_t kept_bytes;
    uint64_t contents;   /* different sets of shingles */
    uint64_t shingles;   /* of these, in all */
    uint64_t standing;   /* documents left by the quotient */
    uint64_t arcs;       /* between these */
    uint64_t components; /* of two and more */
    uint64_t largest;    /* component */
    struct sp_pairs_stats pairs;
    struct sp_solve_stats solve;
};

/* On failure *ret_message says what is wrong and what to do (valid until the next call in this
 * thread). */
enum sp_err sp_cover(const struct sp_cover_options *options, struct sp_cover_result *ret_result,
                     const char **ret_message);

/* Appends what the relation means and how it would be looked up, for people. */
enum sp_err sp_cover_explain(const char *relation, const char *filter, struct sp_buf *out,
                             const char **ret_message);

#endif

/* The output: one line of JSON a document. Private to this folder. */
#ifndef SP_COVER_WRITE_H
#define SP_COVER_WRITE_H

#include "cover/components.h"

struct sp_write_options {
    const char *output; /* "-": standard output; NULL: none, only the statistics */
    const struct sp_documents *documents;
    const struct sp_relation *relation;
    /* Documents written; may be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
};

struct sp_write_stats {
    uint64_t kept;
    uint64_t bytes; /* of the documents' content, as fetched */
    uint64_t kept_bytes;
};

/* Writes a line for each document, in order of the input, and adds up *stats:
 *
 *   {"record":N,"url":URL,"fetch_time_ms":T,"status":"kept","covers":M}
 *   {"record":N,"url":URL,"fetch_time_ms":T,"status":"dropped","by_record":N,"by_url":URL,
 *    "by_fetch_time_ms":T,"containment":0.93}
 *   {"record":N,"url":URL,"fetch_time_ms":T,"status":"left_out"}
 *
 * with every measure that the relation names. Asks the relation once more of every pair written:
 * that it holds is asserted. */
enum sp_err sp_cover_write(const struct sp_write_options *options,
                           const struct sp_decisions *decisions, struct sp_write_stats *stats,
                           struct sp_fault *fault);

#endif

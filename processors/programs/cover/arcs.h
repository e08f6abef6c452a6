/* From the plan to the arcs of the coverage graph: each path's blocks, roles and ranges, the pairs
 * of contents that share enough (pairs.h), and the relation itself, asked of every pair of
 * documents found. */
#ifndef SP_COVER_ARCS_H
#define SP_COVER_ARCS_H

#include "cover/documents.h"
#include "cover/graph.h"
#include "cover/pairs.h"
#include "cover/plan.h"

/* 20,000 documents without any measure or key: minutes. */
enum { SP_BLOCK_PAIRS_MAX = 200000000 };

struct sp_arcs_options {
    const struct sp_documents *documents;
    const uint32_t *stands_for; /* of each document: itself, or the one that stands for it */
    const struct sp_relation *relation;
    const struct sp_plan *plan; /* of the relation */
    unsigned threads;
    uint64_t memory_bytes;
    /* May be NULL; from one thread. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
};

/* Adds an arc for each (a, b) among the documents with stands_for[i] = i that the relation holds
 * for. SP_TOO_LARGE where a path has no least similarity and would compare more than
 * SP_BLOCK_PAIRS_MAX pairs. */
enum sp_err sp_arcs_find(const struct sp_arcs_options *options, struct sp_graph *graph,
                         struct sp_pairs_stats *stats, struct sp_fault *fault);

#endif

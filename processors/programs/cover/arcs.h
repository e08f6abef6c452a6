/* From the plan to the arcs of the coverage graph: each path's blocks, roles and ranges, the pairs
 * of contents that share enough (pairs.h), and the relation itself, asked of every pair of
 * documents found.
 *
 * Near copies in one group cover one another: that would be as many arcs as the square of their
 * number. A document that `coverers` others cover already is not asked to cover any: it can be
 * dropped, and those like it can be covered by the others. Documents are asked in an order that has
 * nothing to do with their texts and times (a hash of their numbers), in rounds of which each asks
 * as many as all before it, so that a document is covered by hardly more than twice `coverers`,
 * however the groups lie in the input. At the end a few documents of each component are asked
 * nevertheless, those that most others cover. All documents of a group of up to `coverers` are
 * asked.
 *
 * So each document has few arcs, also in a large group, unless many documents of the group have
 * fewer coverers than that: these are all asked. They are compared with hardly any that they do not
 * cover, also if they share just too little with most (crowds.h). */
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
    uint32_t coverers;          /* 0: all documents are asked */
    unsigned threads;
    uint64_t memory_bytes;
    /* May be NULL; from one thread. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
};

struct sp_arcs_stats {
    struct sp_pairs_stats pairs;
    uint64_t not_asked; /* documents, on each path */
    uint64_t rounds;    /* the most of a path */
};

/* Adds an arc for each (a, b) among the documents with stands_for[i] = i, b one that is asked, that
 * the relation holds for. SP_TOO_LARGE if a path has no least similarity and would compare more
 * than SP_BLOCK_PAIRS_MAX pairs. */
enum sp_err sp_arcs_find(const struct sp_arcs_options *options, struct sp_graph *graph,
                         struct sp_arcs_stats *stats, struct sp_fault *fault);

#endif

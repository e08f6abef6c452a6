/* From the plan to the arcs of the coverage graph: each path's blocks, roles and ranges, the pairs
 * of contents that share enough (pairs.h), and the relation itself, which is evaluated for each
 * pair of documents found.
 *
 * A document is *asked* when the documents that it covers are searched. Near copies in one group
 * cover one another, so asking all of them would add as many arcs as the square of their number. A
 * document that `coverers` others cover already is not asked: it can be dropped, and the others can
 * cover the documents that are like it. The order of asking has nothing to do with the texts and
 * times of documents (it is that of a hash of their numbers). There are rounds, each of which asks
 * as many documents as all rounds before it, so that hardly more than twice `coverers` documents
 * cover one, however the groups lie in the input. At the end a few documents of each component are
 * asked nevertheless: those that most others cover. All documents of a group of up to `coverers`
 * are asked.
 *
 * So each document has few arcs, also in a large group, unless many documents of the group have
 * fewer coverers than that: these are all asked. They are compared with hardly any that they do not
 * cover, even if they share nearly enough with most of them (crowds.h). */
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
    uint64_t evaluated; /* pairs of documents, by the relation */
    uint64_t not_asked; /* documents, on each path */
    uint64_t rounds;    /* the most of a path */
};

/* Adds an arc for each (a, b) among the documents with stands_for[i] = i, b one that is asked, that
 * the relation holds for. SP_TOO_LARGE if a path has no least similarity and would compare more
 * than SP_BLOCK_PAIRS_MAX pairs. */
enum sp_err sp_arcs_find(const struct sp_arcs_options *options, struct sp_graph *graph,
                         struct sp_arcs_stats *stats, struct sp_fault *fault);

#endif

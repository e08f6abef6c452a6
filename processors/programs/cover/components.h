/* From the graph to the cover: each component by itself. Private to this folder. */
#ifndef SP_COVER_COMPONENTS_H
#define SP_COVER_COMPONENTS_H

#include "cover/documents.h"
#include "cover/graph.h"
#include "cover/solve.h"

enum {
    SP_KEPT = UINT32_MAX,
    SP_LEFT_OUT = UINT32_MAX - 1 /* by quota.h; all other numbers are of documents */
};

/* For each document: SP_KEPT, SP_LEFT_OUT, or the one that covers it, and what they share. */
struct sp_decisions {
    uint32_t *covered_by;
    uint32_t *overlap;
};

struct sp_components_options {
    const struct sp_documents *documents;
    const uint32_t *stands_for; /* of each document: itself, or the one that stands for it */
    const char *temp;           /* directory of temporary files */
    uint64_t memory_bytes;      /* for sorting */
    struct sp_solve_options solve;
    /* Arcs read; may be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
};

struct sp_components_stats {
    uint64_t components; /* of two and more */
    uint64_t largest;
    uint64_t arcs;
    struct sp_solve_stats solve;
};

/* Fills the decisions, all of which are SP_KEPT; adds to *stats. */
enum sp_err sp_components_solve(const struct sp_components_options *options, struct sp_graph *graph,
                                struct sp_decisions *decisions, struct sp_components_stats *stats,
                                struct sp_fault *fault);

#endif

/* From the graph to the cover: each component by itself. Private to this folder. */
#ifndef SP_COVER_COMPONENTS_H
#define SP_COVER_COMPONENTS_H

#include "cover/cover.h"
#include "cover/documents.h"
#include "cover/graph.h"

enum { SP_KEPT = UINT32_MAX };

/* For each document: SP_KEPT, or the one that covers it, and what they share. */
struct sp_decisions {
    uint32_t *covered_by;
    uint32_t *overlap;
};

enum sp_err sp_components_solve(const struct sp_cover_options *options, struct sp_graph *graph,
                                const uint32_t *stands_for, const struct sp_documents *documents,
                                struct sp_decisions *decisions, struct sp_cover_result *result,
                                const char **ret_message);

#endif

/* The coverage graph: an arc from each document to those it covers. Arcs are written to disk as
 * they are found; in memory are only the connected components (union-find: Tarjan 1975, with path
 * halving), 4 bytes a document. Thread rule: sp_graph_add by any thread with its own number. */
#ifndef SP_COVER_GRAPH_H
#define SP_COVER_GRAPH_H

#include <pthread.h>

#include "base/parallel.h"
#include "cover/spool.h"

struct sp_arc {
    uint32_t from; /* covers */
    uint32_t to;
    uint32_t overlap;
};

struct sp_graph {
    uint32_t *parent;
    size_t count;
    uint64_t arc_count;
    struct sp_spool arcs;
    pthread_mutex_t mutex;
    struct sp_arcs {
        struct sp_arc *items;
        size_t count;
    } waiting[SP_PARALLEL_THREADS];
};

void sp_graph_open(struct sp_graph *g, size_t documents, const char *temp);
void sp_graph_close(struct sp_graph *g);
/* Arcs may be added twice. */
void sp_graph_add(struct sp_graph *g, unsigned thread, struct sp_arc arc);
/* Call when all threads are done, before what follows; more arcs may be added after it. */
void sp_graph_finish(struct sp_graph *g);

/* The document with the smallest number in the component. */
uint32_t sp_graph_component(struct sp_graph *g, uint32_t document);

/* All arcs, g->arc_count of them, in no order; NULL if there are none, or on failure. */
const struct sp_arc *sp_graph_arcs(struct sp_graph *g, struct sp_fault *fault,
                                   enum sp_err *ret_err);

/* Gives every arc to the sorter as (component, from, to, overlap). */
enum sp_err sp_graph_sort(struct sp_graph *g, struct sp_sorter *sorter, struct sp_fault *fault);

#endif

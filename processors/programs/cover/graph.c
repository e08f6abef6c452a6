/* See graph.h. */
#include "cover/graph.h"

#include "base/mem.h"
#include "base/sets.h"

enum { WAITING = 4096 }; /* arcs that a thread collects before it takes the lock */

void sp_graph_open(struct sp_graph *g, size_t documents, const char *temp)
{
    *g = (struct sp_graph){.count = documents};
    g->parent = sp_alloc((documents + 1) * sizeof *g->parent);
    sp_sets_init(g->parent, documents);
    sp_spool_open(&g->arcs, temp);
    pthread_mutex_init(&g->mutex, NULL);
}

void sp_graph_close(struct sp_graph *g)
{
    for (size_t t = 0; t < SP_PARALLEL_THREADS; t++)
        sp_free(g->waiting[t].items);
    sp_free(g->parent);
    sp_spool_close(&g->arcs);
    pthread_mutex_destroy(&g->mutex);
}

uint32_t sp_graph_component(struct sp_graph *g, uint32_t document)
{
    return sp_sets_root(g->parent, document);
}

static void flush(struct sp_graph *g, struct sp_arcs *waiting)
{
    pthread_mutex_lock(&g->mutex);
    for (size_t i = 0; i < waiting->count; i++)
        sp_sets_unite(g->parent, waiting->items[i].from, waiting->items[i].to);
    sp_spool_put(&g->arcs, waiting->items, waiting->count * sizeof *waiting->items);
    g->arc_count += waiting->count;
    pthread_mutex_unlock(&g->mutex);
    waiting->count = 0;
}

void sp_graph_add(struct sp_graph *g, unsigned thread, struct sp_arc arc)
{
    struct sp_arcs *waiting = &g->waiting[thread];
    if (!waiting->items)
        waiting->items = sp_alloc(WAITING * sizeof *waiting->items);
    waiting->items[waiting->count++] = arc;
    if (waiting->count == WAITING)
        flush(g, waiting);
}

void sp_graph_finish(struct sp_graph *g)
{
    for (size_t t = 0; t < SP_PARALLEL_THREADS; t++)
        if (g->waiting[t].count)
            flush(g, &g->waiting[t]);
}

const struct sp_arc *sp_graph_arcs(struct sp_graph *g, struct sp_fault *fault, enum sp_err *ret_err)
{
    const struct sp_arc *arcs = sp_spool_map(&g->arcs);
    *ret_err = sp_spool_check(&g->arcs, fault);
    return arcs;
}

enum sp_err sp_graph_sort(struct sp_graph *g, struct sp_sorter *sorter, struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    const struct sp_arc *arcs = sp_graph_arcs(g, fault, &err);
    for (uint64_t i = 0; arcs && i < g->arc_count; i++)
        sp_sorter_put(sorter, (struct sp_record4){{sp_graph_component(g, arcs[i].from),
                                                   arcs[i].from, arcs[i].to, arcs[i].overlap}});
    return err == SP_OK ? sp_sorter_start(sorter, fault) : err;
}

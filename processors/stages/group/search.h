/* Searches along the bonds of a large group (large.h): which stars are connected? Private to group.
 *
 * A search begins at the star of each hub in doubt. The cheapest one goes on to a few more rows,
 * until all have met, or all but one have ended: what the ended ones have found are whole pieces,
 * and the other one need not be finished, because it has what is left. So the cost is that of the
 * small pieces, not of the group, nor of its large stars. */
#ifndef SP_GROUP_SEARCH_H
#define SP_GROUP_SEARCH_H

#include "group/large.h"

struct sp_found_star {
    struct sp_hub *pivot;
    struct sp_stars_place place; /* up to which its members have been looked at */
};

struct sp_search {
    struct sp_found_star *found; /* the stars it came to; those it is done with come first */
    uint32_t count;
    uint32_t cap;
    uint32_t next;        /* the first of these that it is not done with */
    uint32_t at;          /* the one that it looks at next, if there is no new one */
    uint32_t cost;        /* rows it has looked at */
    uint32_t merged_into; /* the search that it has met, or its own number */
};

/* Begins as {.st, .g}; the hubs must be in the index. */
struct sp_searches {
    struct sp_group_stage *st;
    struct sp_group *g;
    struct sp_search *items; /* moves when a search begins */
    uint32_t count;
    uint32_t cap;
    uint32_t at;           /* the one at work */
    struct sp_shelf turns; /* searches that can go on, the cheapest first */
};

/* Begins a search from each hub in doubt that has members. */
void sp_searches_begin(struct sp_searches *s, const struct sp_hub_list *doubts);
/* Lets the searches go on until at most one can. */
void sp_searches_run(struct sp_searches *s);
/* The number of searches that have not been merged into another one. */
uint32_t sp_searches_count(const struct sp_searches *s);
/* Frees them, but not `s`. */
void sp_searches_done(struct sp_searches *s);

/* Lets the search go on until it has ended. */
void sp_search_finish(struct sp_searches *s, uint32_t at);
/* The search that came to the star of the hub, or that this one was merged into; UINT32_MAX: none
 * came. */
uint32_t sp_search_of(struct sp_searches *s, const struct sp_hub *h);
static inline bool sp_search_is_merged(const struct sp_searches *s, uint32_t at)
{
    return s->items[at].merged_into != at;
}
static inline bool sp_search_has_ended(const struct sp_search *x)
{
    return x->next == x->count;
}

#endif

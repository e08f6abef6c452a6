/* Runs a trace through both tiers, and observes what is published at given points.
 *
 * It uses the local bus, in memory. With `budget` 0 each fetch, and every message that follows from
 * it, is delivered before the next fetch (drained). Otherwise the tiers deliver only `budget`
 * messages for each fetch, like tiers that are slower than the crawl: the other messages wait, and
 * statuses are late. At the end of the trace this backlog is worked off in `decay_steps` equal
 * steps, with an observation after each; after the last step no message is left.
 *
 * An observation sees what was published: the last status of each page, as an indexer knows it. A
 * page whose first version still waits is in no group. If no message is under way, the statuses
 * that large groups tell later are told first, so that only a lack of budget counts as delay.
 *
 * Thread rule: each call is one thread's; several can share a trace. */
#ifndef SP_REPLAY_REPLAY_H
#define SP_REPLAY_REPLAY_H

#include "local/bus.h"
#include "replay/crawl.h"

/* What was last published for a page. */
struct sp_said {
    enum sp_page_status status; /* SP_STATUS_NONE: nothing yet */
    uint32_t winner;            /* page number; SP_NO_NUMBER: none */
    uint32_t group;             /* number of the group; equal numbers are one group */
    float similarity;
    int64_t version;
};

struct sp_replay_moment {
    size_t point;   /* of options.points; after them the steps of the decay */
    size_t fetches; /* fed so far */
    uint64_t pending;
    const struct sp_said *said; /* by page number */
    struct sp_local_bus_stats stats;
};

struct sp_replay_options {
    struct sp_local_bus_options bus; /* its maps are the caller's, and outlive the replay */
    double budget;                   /* messages a fetch; 0: drained */
    uint32_t decay_steps;            /* at least 1 if there is a budget */
    bool timed;                      /* fills the result's seconds */
    const size_t *points;            /* ascending numbers of fetches after which to look */
    size_t point_count;
    void (*look)(void *arg, const struct sp_replay_moment *moment);
    void *arg;
};

struct sp_replay_result {
    struct sp_local_bus_stats stats;
    double cpu_seconds;        /* of this thread */
    double tier_seconds[2];    /* of these, in steps of tier 1 and of tier 2; where timed */
    uint64_t tier_messages[2]; /* where timed */
};

enum sp_err sp_replay(const struct sp_crawl *crawl, const struct sp_replay_options *options,
                      struct sp_replay_result *ret_result);

#endif

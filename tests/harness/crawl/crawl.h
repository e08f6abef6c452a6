/* A made-up crawl on a local bus, like `samepage run` in a single function: what is published, when
 * barriers come, and the state of the database. */
#ifndef SP_TEST_CRAWL_H
#define SP_TEST_CRAWL_H

#include "local/bus.h"
#include "synth/synth.h"

struct crawl {
    struct sp_message **messages; /* SP_MSG_CRAWLED */
    size_t count;
};

/* A crawl of that many URLs, read like the program's input. */
void crawl_make(struct crawl *crawl, const struct sp_synth_options *synth);
void crawl_done(struct crawl *crawl);

struct crawl_run {
    struct sp_local_bus_options options;
    struct sp_partition_map map;
    const struct sp_partition_map *before; /* NULL, or the map to leave */
    struct sp_buf events;                  /* as JSON lines */
    size_t barrier;                        /* records between two commits */
    uint32_t move_max;                     /* pages moved at each barrier */
    uint64_t left_to_move;
    size_t committed; /* records committed by the last barrier */
    size_t committed_events;
};

/* Default settings: exact mode, one partition of each tier. */
void crawl_run_init(struct crawl_run *run, uint32_t cells);
/* Sets the size of each cache. */
void crawl_run_cache(struct crawl_run *run, size_t bytes);
void crawl_run_done(struct crawl_run *run);

/* Feeds the crawl from the last barrier of `run` to its end; drops events published after that
 * barrier. Stops at the first error, and closes all but the database. */
enum sp_err crawl_feed(struct crawl_run *run, const struct crawl *crawl, struct sp_db *db);

#endif

/* A made-up crawl on a local bus, as `samepage run` would have it, but in one function: what is
 * published, when barriers come, and what became of the database. */
#ifndef SP_TEST_CRAWL_H
#define SP_TEST_CRAWL_H

#include "local/bus.h"
#include "synth/synth.h"

struct crawl {
    struct sp_message **messages; /* SP_MSG_CRAWLED */
    size_t count;
};

/* A crawl of that many URLs, read as the program reads it. */
void crawl_make(struct crawl *crawl, const struct sp_synth_options *synth);
void crawl_done(struct crawl *crawl);

struct crawl_run {
    struct sp_local_bus_options options;
    struct sp_partition_map map;
    const struct sp_partition_map *before; /* NULL, or the map whose cells are to be left */
    struct sp_buf events;                  /* as lines of JSON */
    size_t barrier;                        /* records between commits */
    uint32_t move_max;                     /* pages that move at a barrier */
    uint64_t left_to_move;
    size_t committed; /* records behind the last barrier */
    size_t committed_events;
};

/* Default settings: exact mode, one partition of each tier. */
void crawl_run_init(struct crawl_run *run, uint32_t cells);
/* What each cache may keep. */
void crawl_run_cache(struct crawl_run *run, size_t bytes);
void crawl_run_done(struct crawl_run *run);

/* From the last barrier of `run` to the end of the crawl. Events that came after that barrier are
 * forgotten. Stops at the first error and leaves nothing open but the database. */
enum sp_err crawl_feed(struct crawl_run *run, const struct crawl *crawl, struct sp_db *db);

#endif

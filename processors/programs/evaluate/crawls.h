/* Shared by the experiments on accuracy: a file of the trace as a crawl to replay, and maps for a
 * number of machines. Private to this folder and its tests. */
#ifndef SP_EVALUATE_CRAWLS_H
#define SP_EVALUATE_CRAWLS_H

#include "evaluate/trace.h"
#include "replay/replay.h"

/* Fetch i of the crawl is fetch file->first + i of the trace. Frees with sp_crawl_free. */
struct sp_crawl *sp_evaluate_crawl(const struct sp_trace *t, const struct sp_trace_file *file);

/* A map with that many cells, one for each machine, trained on the crawl's contents; if it has
 * none, the default map. */
enum sp_err sp_evaluate_map(const struct sp_crawl *crawl, double threshold, uint32_t machines,
                            struct sp_partition_map *ret_map);

/* The options of a replay in exact mode, with lossless routing, and in all else as the command's
 * settings have them; the map is the caller's. */
struct sp_replay_options sp_evaluate_replay(const struct sp_local_bus_options *settings,
                                            const struct sp_partition_map *map);

/* Threads for sp_parallel if the settings ask for so many. */
unsigned sp_evaluate_threads(uint32_t threads);

#endif

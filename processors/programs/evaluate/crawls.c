/* See crawls.h. */
#include "evaluate/crawls.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "local/pipeline.h"
#include "partition/train.h"

enum { CACHE_BYTES = 256 << 20, SAMPLE = 20000 };

struct sp_crawl *sp_evaluate_crawl(const struct sp_trace *t, const struct sp_trace_file *file)
{
    struct sp_crawl *crawl = sp_crawl_new();
    for (size_t i = file->first; i < file->first + file->count; i++) {
        struct sp_message *m = sp_trace_message(t, i);
        sp_crawl_add(crawl, m);
        sp_message_free(m);
    }
    return crawl;
}

enum sp_err sp_evaluate_map(const struct sp_crawl *crawl, double threshold, uint32_t machines,
                            struct sp_partition_map *ret_map)
{
    struct sp_dictionary by_hash = {0};
    struct sp_train_options options;
    struct sp_lengths *sample = sp_alloc((crawl->content_count + 1) * sizeof *sample);
    size_t step = crawl->content_count / SAMPLE + 1, count = 0;
    for (size_t i = 0; i < crawl->content_count; i += step)
        if (crawl->contents[i]->shingle_total)
            memcpy(sample[count++].at, crawl->contents[i]->length, sizeof sample->at);
    sp_train_options_default(&options);
    options.cells = options.machines = machines;
    options.threshold = threshold;
    enum sp_err err = sp_dictionary_init(SP_DIMS, NULL, 0, &by_hash);
    if (err == SP_OK && count > 0)
        err = sp_partition_train(&options, sample, count, &by_hash, ret_map);
    else if (err == SP_OK)
        err = sp_partition_default(machines, ret_map);
    if (err != SP_OK || count == 0)
        sp_dictionary_done(&by_hash);
    sp_free(sample);
    return err;
}

struct sp_replay_options sp_evaluate_replay(const struct sp_local_bus_options *settings,
                                            const struct sp_partition_map *map)
{
    struct sp_replay_options r = {.bus = *settings};
    r.bus.tier1 = r.bus.tier2 = 1;
    r.bus.group.maps = r.bus.compare.maps = (struct sp_maps){.now = map};
    r.bus.group.cache_bytes = r.bus.compare.cache_bytes = CACHE_BYTES;
    r.bus.contents_cache_bytes = CACHE_BYTES;
    r.bus.group.winner_margin = 0;
    r.bus.group.popularity_tolerance = 0;
    r.bus.group.winner_relation = NULL;
    r.bus.group.mode = SP_MODE_EXACT;
    r.bus.compare.routing = SP_ROUTING_LOSSLESS;
    return r;
}

unsigned sp_evaluate_threads(uint32_t threads)
{
    uint32_t workers = sp_pipeline_workers(threads);
    if (workers > SP_PARALLEL_THREADS)
        workers = SP_PARALLEL_THREADS;
    return workers ? workers : 1;
}

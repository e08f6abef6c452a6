/* See tuning.h: what was measured to be best for our rows, and why. */
#include "store/tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/shared.h"

enum {
    MEMTABLES = 3,
    BLOB_MIN_BYTES = 512,
    BLOB_FILE_BYTES = 256 << 20,
    MORE_FILES_SLOW = 16, /* RocksDB's defaults, beyond the four that it merges */
    MORE_FILES_STOP = 32,
    RUNS_MERGED = 16, /* see set_runs, as for the next two */
    SIMILAR_PERCENT = 100,
    GARBAGE_PERCENT = 1000,
    FILES_MERGED = 4,  /* at a time, which is RocksDB's default; the next level has the same size */
    OPEN_FILES = 4096, /* reopening a file means reading its index and filter again */
    OPEN_FILES_LEAST = 64,
    LOG_FILES = 2,
    SYNC_BYTES = 1 << 20 /* of a file, until the kernel begins to write it: otherwise the end of a
                          * merge waits for gigabytes, and so does everybody else */
};

/* The share of blob files, the oldest, whose live values a compaction copies, however few values in
 * them are dead. Most signatures stay live: with RocksDB's 0.25 this copying was a sixth of all
 * work. */
static const double BLOB_GC_SHARE = 0.05;
static const char BLOB_GC_SHARE_TEXT[] = "0.05";

static void set_tables(rocksdb_options_t *to, rocksdb_cache_t *cache)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(SP_ROCKSDB_FILTER_BITS));
    /* Filters stay in memory, four bytes a page. In the cache each look-up would lock it once for
     * each file. */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 0);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_options_set_block_based_table_factory(to, table);
    rocksdb_block_based_options_destroy(table);
}

static void set_memtables(rocksdb_options_t *to, const struct sp_rocksdb_options *o)
{
    uint64_t bytes = o->shared ? sp_rocksdb_shared_memtable_bytes(o->shared) : o->memtable_bytes;
    rocksdb_options_set_write_buffer_size(to, bytes);
    rocksdb_options_set_max_write_buffer_number(to, MEMTABLES);
    /* Only for rows that are looked up there: gathered commits have a filter of their own. */
    if (!o->gathers) {
        rocksdb_options_set_memtable_prefix_bloom_size_ratio(to, 0.05);
        rocksdb_options_set_memtable_whole_key_filtering(to, 1);
    }
    /* With a smaller value, large buffers would be copied through one more level. */
    rocksdb_options_set_max_bytes_for_level_base(to, FILES_MERGED * bytes);
}

/* Merges neighbouring runs of like sizes when there are 16 runs. Keys are hashes, so each merge
 * with a level rewrites all of it: a row was written once for each time the first level filled, and
 * then up to ten times for the next. This way it is written about once for each time that the state
 * quadruples. Look-ups must ask the filters of more files, but gathered commits have a filter of
 * all keys (key_filter.h).
 *
 * RocksDB's default merges the newest runs with each older one that is not larger than all of them
 * together. But new files also contain the signatures, which a merge moves to blob files, so 15 new
 * files were as large as the merged rows of 40: the largest run was rewritten again and again. So
 * runs are only merged if neither of two neighbours is more than twice as large as the other. A
 * state of 256 to 400 files then writes each row 1.9 times and not 2.7 to 3.1 times. For the same
 * reason a last run of few bytes is no sign of garbage, until all others have ten times as many. */
static void set_runs(rocksdb_options_t *to)
{
    rocksdb_universal_compaction_options_t *runs = rocksdb_universal_compaction_options_create();
    rocksdb_universal_compaction_options_set_stop_style(runs,
                                                        rocksdb_similar_size_compaction_stop_style);
    rocksdb_universal_compaction_options_set_size_ratio(runs, SIMILAR_PERCENT);
    rocksdb_universal_compaction_options_set_max_size_amplification_percent(runs, GARBAGE_PERCENT);
    rocksdb_options_set_universal_compaction_options(to, runs);
    rocksdb_universal_compaction_options_destroy(runs);
    rocksdb_options_set_compaction_style(to, rocksdb_universal_compaction);
    rocksdb_options_set_level0_file_num_compaction_trigger(to, RUNS_MERGED);
    /* A scan would read a block of each run: at 25 runs it took as long as 14 look-ups. */
    rocksdb_options_set_prefix_extractor(
        to, rocksdb_slicetransform_create_fixed_prefix(SP_ROCKSDB_PREFIX_BYTES));
}

/* Merges run while the processor has nothing else to do: before, a run of ten million pages on two
 * cores lost a quarter of its speed during each. Sorted files are taken in however many there are,
 * so a merge that waits delays nothing. This does not hold with write buffers: writes stop at 36
 * files. */
static void merge_when_idle(void)
{
    rocksdb_env_t *env = rocksdb_create_default_env();
    rocksdb_env_lower_thread_pool_cpu_priority(env);
    rocksdb_env_destroy(env);
}

/* Returns an equal share of half of the file descriptors, after raising the process's limit as far
 * as allowed. */
static int open_files(uint32_t databases)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return OPEN_FILES / 8;
    if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur < 4 * (rlim_t)OPEN_FILES) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    rlim_t share = limit.rlim_cur / 2 / (databases ? databases : 1);
    share = share < OPEN_FILES_LEAST ? OPEN_FILES_LEAST : share;
    return share < OPEN_FILES ? (int)share : OPEN_FILES;
}

/* A commit's rows come in key order. With this hint, the search for a row's place in the memtable
 * begins at the place of the row before it (one such place for all keys: the prefix is empty) and
 * not at the head. This saved a third of a commit's time. The C interface has no function for the
 * option; if it cannot be set, only speed is lost. */
static rocksdb_options_t *with_hint(rocksdb_options_t *options)
{
    rocksdb_options_t *with = rocksdb_options_create();
    char *error = NULL;
    rocksdb_get_options_from_string(
        options, "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.0", with, &error);
    rocksdb_options_destroy(error ? with : options);
    rocksdb_free(error);
    return error ? options : with;
}

rocksdb_options_t *sp_rocksdb_tuned_options(const struct sp_rocksdb_options *o,
                                            rocksdb_cache_t *cache)
{
    rocksdb_options_t *to = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(to, 1);
    rocksdb_options_increase_parallelism(to, o->background_threads);
    rocksdb_options_set_max_background_jobs(to, o->background_threads);
    set_memtables(to, o);
    if (o->gathers && o->alone && !o->write_ahead_log) {
        set_runs(to);
        merge_when_idle();
    }
    rocksdb_options_set_max_open_files(to, open_files(o->databases));
    rocksdb_options_set_keep_log_file_num(to, LOG_FILES);
    rocksdb_options_set_bytes_per_sync(to, SYNC_BYTES);
    rocksdb_options_set_compression(to, rocksdb_no_compression);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(to, 1);
    rocksdb_options_set_enable_blob_files(to, 1);
    rocksdb_options_set_min_blob_size(to, BLOB_MIN_BYTES);
    rocksdb_options_set_blob_file_size(to, BLOB_FILE_BYTES);
    rocksdb_options_set_enable_blob_gc(to, 1);
    rocksdb_options_set_blob_gc_age_cutoff(to, BLOB_GC_SHARE);
    set_tables(to, cache);
    return with_hint(to);
}

void sp_rocksdb_tuned_thread(void)
{
    rocksdb_set_perf_level(rocksdb_disable);
}

/* Sets whether RocksDB compacts on its own, and the age of blob files whose live values a
 * compaction copies. */
static char *set_compaction(rocksdb_t *handle, const char *not_by_itself, const char *share)
{
    const char *const keys[] = {"disable_auto_compactions", "blob_garbage_collection_age_cutoff"};
    const char *const values[] = {not_by_itself, share};
    char *error = NULL;
    rocksdb_set_options(handle, 2, keys, values, &error);
    return error;
}

uint64_t sp_rocksdb_number(rocksdb_t *handle, const char *property, uint64_t otherwise)
{
    uint64_t value = 0;
    return rocksdb_property_int(handle, property, &value) == 0 ? value : otherwise;
}

uint64_t sp_rocksdb_files(rocksdb_t *handle)
{
    char *text = rocksdb_property_value(handle, "rocksdb.num-files-at-level0");
    uint64_t files = text ? strtoull(text, NULL, 10) : 0;
    rocksdb_free(text);
    return files;
}

/* Merging while the database is filled took a third of the time, and merges some rows again later.
 */
char *sp_rocksdb_fill(rocksdb_t *handle, bool merge)
{
    const char *const keys[] = {"disable_auto_compactions"};
    const char *const values[] = {merge ? "false" : "true"};
    char *error = NULL;
    rocksdb_set_options(handle, 1, keys, values, &error);
    return error;
}

/* RocksDB slows writes down at 20 files and stops them at 36. */
char *sp_rocksdb_filled(rocksdb_t *handle, bool filled)
{
    uint64_t files = sp_rocksdb_files(handle);
    char slow[32], stop[32], *error = NULL;
    const char *const keys[] = {"disable_auto_compactions", "level0_slowdown_writes_trigger",
                                "level0_stop_writes_trigger"};
    const char *const values[] = {"false", slow, stop};
    bool many = files >= MORE_FILES_SLOW;
    snprintf(slow, sizeof slow, "%" PRIu64, files + MORE_FILES_SLOW);
    snprintf(stop, sizeof stop, "%" PRIu64, files + MORE_FILES_STOP);
    if (filled || many)
        rocksdb_set_options(handle, many ? 3 : 1, keys, values, &error);
    return error;
}

bool sp_rocksdb_merges(rocksdb_t *handle)
{
    return sp_rocksdb_number(handle, "rocksdb.num-running-compactions", 0) ||
           sp_rocksdb_number(handle, "rocksdb.compaction-pending", 0);
}

/* Stops RocksDB's own compactions first, and waits for those that run: rocksdb_compact_range_opt
 * chooses its files before it waits for a running compaction, so it would leave out that one's
 * results. */
char *sp_rocksdb_compact(rocksdb_t *handle, bool *ret_broken)
{
    enum { FORCE = 2, WAIT_US = 5000 }; /* kForce, for which the C interface has no name */
    char *error = set_compaction(handle, "true", "1.0");
    if (error)
        return error;
    while (sp_rocksdb_number(handle, "rocksdb.num-running-compactions", 0))
        usleep(WAIT_US);
    rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
    rocksdb_compactoptions_set_bottommost_level_compaction(options, FORCE);
    rocksdb_compact_range_opt(handle, options, NULL, 0, NULL, 0);
    rocksdb_compactoptions_destroy(options);
    error = set_compaction(handle, "false", BLOB_GC_SHARE_TEXT);
    /* The call does not report failures, but RocksDB counts them. */
    *ret_broken = sp_rocksdb_number(handle, "rocksdb.background-errors", 0) > 0;
    return error;
}

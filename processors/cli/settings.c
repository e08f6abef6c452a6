/* From the configuration's table to the options of the stages: the one place that knows both. */
#include <stdio.h>

#include "cli/cli.h"

void sp_settings_text(const struct sp_config *c, struct sp_text_options *ret_options)
{
    sp_text_options_default(ret_options);
    ret_options->scope = c->text_scope == SP_CONFIG_SCOPE_ALL ? SP_TEXT_ALL : SP_TEXT_MAIN;
    ret_options->detect_language = c->text_language == SP_CONFIG_LANGUAGE_DETECT;
    ret_options->signature.repeats =
        c->signature_repeats == SP_CONFIG_REPEATS_LABELLED ? SP_REPEATS_LABELLED : SP_REPEATS_ONCE;
    ret_options->signature.max_shingles = (uint32_t)c->signature_max_shingles;
    ret_options->signature.max_sentences = (uint32_t)c->signature_max_sentences;
    ret_options->signature.text_scope = (uint32_t)ret_options->scope;
}

void sp_settings_similarity(const struct sp_config *c, struct sp_similarity_options *ret_options)
{
    sp_similarity_options_default(ret_options);
    ret_options->threshold = c->similarity_threshold;
    ret_options->band = c->similarity_band;
    ret_options->lcs_min = c->similarity_lcs_min;
}

void sp_settings_run(const struct sp_config *c, struct sp_buf *fingerprint,
                     struct sp_run_options *ret_options)
{
    struct sp_run_options *o = ret_options;
    *o = (struct sp_run_options){0};
    char version[64];
    snprintf(version, sizeof version, "signature.version=%d\n", SP_SIGNATURE_VERSION);
    sp_buf_put_str(fingerprint, version);
    sp_config_fingerprint(c, fingerprint); /* ends the text */
    o->fingerprint = fingerprint->data;
    o->threads = (uint32_t)c->threads;
    o->barrier_pages = c->barrier_pages;
    o->cells = (uint32_t)c->partition_cells;
    sp_settings_text(c, &o->text);
    sp_input_options_default(&o->input);
    o->input.max_record_bytes = c->input_max_record_bytes;
    sp_rocksdb_options_default(&o->store);
    o->store.block_cache_bytes = c->store_block_cache_bytes;
    o->store.memtable_bytes = c->store_memtable_bytes;
    o->store.background_threads = (int)c->store_background_threads;
    o->store.write_ahead_log = c->store_write_ahead_log == SP_CONFIG_ON;
    struct sp_group_options *group = &o->bus.group;
    struct sp_compare_options *compare = &o->bus.compare;
    sp_settings_similarity(c, &group->similarity);
    compare->similarity = group->similarity;
    group->mode = c->mode == SP_CONFIG_MODE_FAST ? SP_MODE_FAST : SP_MODE_EXACT;
    group->winner_margin = c->winner_margin;
    group->cache_bytes = c->cache_bytes / 2 / c->tier1_partitions;
    compare->row_cache_bytes = c->cache_bytes / 2;
    compare->routing = c->partition_routing == SP_CONFIG_ROUTING_BOUNDED ? SP_ROUTING_BOUNDED
                                                                         : SP_ROUTING_LOSSLESS;
    compare->rho = c->partition_rho;
    o->bus.tier1 = (uint32_t)c->tier1_partitions;
    o->bus.tier2 = 1;
}

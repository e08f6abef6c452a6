/* Converts the configuration to the options of the stages; together with settings/settings.h the
 * only code that knows both. */
#include "cli/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/room.h"
#include "store/store.h"

void sp_settings_input(const struct sp_config *c, struct sp_input_options *ret_options)
{
    struct sp_input_options usual;
    struct sp_input_fields *f = &ret_options->fields;
    sp_input_options_default(&usual);
    *ret_options = usual;
    ret_options->max_record_bytes = c->input_max_record_bytes;
    f->any_id = c->input_id_field[0] != '\0';
    f->id = f->any_id ? c->input_id_field : usual.fields.id;
    f->text = c->input_text_field;
    f->time = c->input_time_field;
    f->status = c->input_status_field;
    f->redirect = c->input_redirect_field;
    f->content_type = c->input_type_field;
    f->popularity = c->input_popularity_field;
    f->unquoted = c->input_quotes == SP_CONFIG_OFF;
    f->any_time = strcmp(f->time, usual.fields.time) != 0;
}

/* Appends what identifies a state: settings, and the dictionary of a trained map. The map's cells
 * may change, because the store records the map of each row. */
static void put_fingerprint(const struct sp_config *c, const struct sp_partition_map *map,
                            struct sp_buf *out)
{
    char line[64];
    snprintf(line, sizeof line, SP_SETTINGS_SIGNATURES "%d\n", SP_SIGNATURE_VERSION);
    sp_buf_put_str(out, line);
    if (map->dictionary.fingerprint) {
        snprintf(line, sizeof line, SP_SETTINGS_DICTIONARY "%08x\n", map->dictionary.fingerprint);
        sp_buf_put_str(out, line);
    }
    sp_config_fingerprint(c, out); /* also terminates the text */
}

enum sp_err sp_settings_of_run(const char *state, struct sp_buf *ret_lines, struct sp_fault *fault)
{
    enum sp_err err = sp_db_read_fingerprint(state, ret_lines, fault);
    if (err == SP_OK && ret_lines->len >= strlen(SP_SETTINGS_DEDUP) &&
        memcmp(ret_lines->data, SP_SETTINGS_DEDUP, strlen(SP_SETTINGS_DEDUP)) == 0)
        err =
            sp_fault_set(fault, SP_STATE_FORMAT,
                         "%s is a state of `samepage dedup`; name that of a `samepage run`", state);
    sp_buf_put_u8(ret_lines, 0);
    return err;
}

enum sp_err sp_settings_map(const char *name, uint64_t cells, struct sp_partition_map *ret_map,
                            struct sp_fault *fault)
{
    if (strcmp(name, "untrained") != 0)
        return sp_partition_read(name, ret_map, fault);
    enum sp_err err = sp_partition_default((uint32_t)cells, ret_map);
    return err == SP_OK ? SP_OK : sp_fault_set(fault, err, "partition.cells is out of its range");
}

/* Opens the previous map. Pages can move to the new map if both compute the same length vectors and
 * the new one is the next version. */
static enum sp_err open_before(const struct sp_config *c, struct sp_settings *s,
                               struct sp_fault *fault)
{
    const char *name = c->partition_previous_map;
    struct sp_maps maps;
    enum sp_err err = sp_settings_map(name, c->partition_cells, &s->before, fault);
    if (err != SP_OK)
        return err;
    if (s->map.dictionary.fingerprint != s->before.dictionary.fingerprint)
        return sp_fault_set(fault, SP_INVALID,
                            "partition.map and partition.previous_map have different dictionaries, "
                            "so that their lengths cannot be compared: samepage train --after %s "
                            "keeps its dictionary",
                            name);
    if (sp_maps_make(&s->map, &s->before, &maps) != SP_OK)
        return sp_fault_set(fault, SP_INVALID,
                            "partition.map has version %u and does not follow "
                            "partition.previous_map, which has version %u: samepage train --after "
                            "%s makes one that does",
                            s->map.version, s->before.version, name);
    return SP_OK;
}

/* Shares of a run's caches where all are full; the rest is for pages and groups. A signature takes
 * several times the memory of what the group stage keeps of a page, and is read as often. */
enum { CONTENTS_PERCENT = 40, ROWS_PERCENT = 8 };

enum { MOST_MEMTABLE_BYTES = 256 << 20 };

/* Sizes that the configuration leaves open. What does not fit into the caches is read from the
 * store, which took most of the time of a crawl of millions of pages. The caches get half of the
 * memory, and less when the index grows, so that a quarter is left for the kernel's file cache and
 * for other programs. */
static uint64_t set_sizes(const struct sp_config *c, struct sp_run_options *o)
{
    uint64_t room = sp_room_bytes(), memtable = room / 100;
    if (memtable > MOST_MEMTABLE_BYTES)
        memtable = MOST_MEMTABLE_BYTES;
    if (c->store_memtable_bytes)
        o->store.memtable_bytes = c->store_memtable_bytes;
    else if (memtable > o->store.memtable_bytes)
        o->store.memtable_bytes = memtable;
    if (c->cache_bytes)
        return c->cache_bytes;
    uint64_t most = room / 4 * 3, fixed = o->store.block_cache_bytes + 2 * o->store.memtable_bytes;
    o->bus.memory_bytes = most > fixed ? most - fixed : 1;
    return room / 2;
}

static void set_run(const struct sp_config *c, struct sp_settings *s)
{
    struct sp_run_options *o = &s->run;
    o->threads = (uint32_t)c->threads;
    o->barrier_pages = c->barrier_pages;
    o->max_future_ms = c->input_max_future_ms;
    sp_settings_text(c, &o->text);
    sp_settings_input(c, &o->input);
    sp_rocksdb_options_default(&o->store);
    o->store.block_cache_bytes = c->store_block_cache_bytes;
    s->cache_bytes = set_sizes(c, o);
    o->store.background_threads = (int)c->store_background_threads;
    o->store.write_ahead_log = c->store_write_ahead_log == SP_CONFIG_ON;
    struct sp_group_stage_options *group = &o->bus.group;
    struct sp_compare_stage_options *compare = &o->bus.compare;
    sp_settings_similarity(c, &group->similarity);
    compare->similarity = group->similarity;
    group->mode = c->mode == SP_CONFIG_MODE_FAST ? SP_MODE_FAST : SP_MODE_EXACT;
    group->fast_recheck_share = c->fast_recheck_share;
    group->winner_margin = c->winner_margin;
    group->popularity_tolerance = c->winner_popularity_tolerance;
    o->bus.contain.threshold = c->containment_threshold;
    o->bus.contain.boilerplate = c->containment_boilerplate;
    o->bus.contents_cache_bytes = s->cache_bytes / 100 * CONTENTS_PERCENT;
    compare->cache_bytes = s->cache_bytes / 100 * ROWS_PERCENT;
    group->cache_bytes =
        (s->cache_bytes - o->bus.contents_cache_bytes - compare->cache_bytes) / c->tier1_partitions;
    compare->routing = c->partition_routing == SP_CONFIG_ROUTING_BOUNDED ? SP_ROUTING_BOUNDED
                                                                         : SP_ROUTING_LOSSLESS;
    compare->rho = c->partition_rho;
    o->bus.tier1 = (uint32_t)c->tier1_partitions;
    o->bus.tier2 = 1;
}

static void set_audit(const struct sp_config *c, struct sp_run_options *o)
{
    const struct sp_group_stage_options *group = &o->bus.group;
    o->audit = (struct sp_shadow_options){.similarity = group->similarity,
                                          .share = c->audit_share,
                                          .most = (uint32_t)c->audit_pages,
                                          .popularity_tolerance = group->popularity_tolerance,
                                          .related = group->winner_relation != NULL};
    o->audit.ranked =
        group->mode == SP_MODE_EXACT && group->winner_margin == 0 && !o->audit.related;
}

enum sp_err sp_settings_relation(const struct sp_config *c, struct sp_relation **ret_relation,
                                 struct sp_fault *fault)
{
    *ret_relation = NULL;
    return c->winner_relation[0]
               ? sp_winner_relation_parse(c->winner_relation, sp_settings_method(c), ret_relation,
                                          fault)
               : SP_OK;
}

static enum sp_err check_containment(double threshold, bool has_shingles, struct sp_fault *fault)
{
    const double least = 0.5;
    if (threshold == 0)
        return SP_OK;
    if (threshold < least)
        return sp_fault_set(fault, SP_INVALID,
                            "containment.threshold is 0 (off), or from 0.5 to 1");
    if (!has_shingles)
        return sp_fault_set(fault, SP_INVALID,
                            "containment.threshold needs shingles: set similarity.method to "
                            "shingles or combined");
    return SP_OK;
}

/* The maps of both tiers, with the languages. */
static enum sp_err set_maps(const struct sp_config *c, struct sp_settings *s,
                            struct sp_fault *fault)
{
    struct sp_maps maps = {.now = &s->map, .before = s->before.cells ? &s->before : NULL};
    enum sp_err err = sp_languages_parse(c->partition_languages, &maps.languages, fault);
    if (err != SP_OK)
        return err;
    if (maps.languages.count && c->similarity_languages != SP_CONFIG_LANGUAGES_APART)
        return sp_fault_set(fault, SP_INVALID,
                            "partition.languages needs similarity.languages=apart; otherwise pairs "
                            "in two languages would be lost");
    uint64_t cells = sp_maps_cells(&maps, &s->map);
    uint64_t cells_before = maps.before ? sp_maps_cells(&maps, maps.before) : 0;
    if (cells > SP_MAX_CELLS || cells_before > SP_MAX_CELLS)
        return sp_fault_set(
            fault, SP_INVALID,
            "partition.languages: with %u languages the map has %" PRIu64
            " cells, and at most %d are allowed: name fewer languages, or use a map "
            "of fewer cells",
            maps.languages.count, cells > cells_before ? cells : cells_before, SP_MAX_CELLS);
    s->run.bus.group.maps = s->run.bus.compare.maps = maps;
    return sp_similarity_check(&s->run.bus.group.similarity, (uint32_t)cells, fault);
}

enum sp_err sp_settings_init(const struct sp_config *config, struct sp_settings *ret_settings,
                             struct sp_fault *fault)
{
    struct sp_settings *s = ret_settings;
    *s = (struct sp_settings){0};
    const char *map = config->partition_map[0] ? config->partition_map : "untrained";
    enum sp_err err = sp_settings_map(map, config->partition_cells, &s->map, fault);
    if (err == SP_OK && config->partition_previous_map[0])
        err = open_before(config, s, fault);
    if (err == SP_OK)
        err = sp_settings_relation(config, &s->relation, fault);
    if (err != SP_OK) {
        sp_settings_done(s);
        return err;
    }
    set_run(config, s);
    s->run.bus.group.winner_relation = s->relation;
    set_audit(config, &s->run);
    err = set_maps(config, s, fault);
    enum sp_method method = s->run.bus.group.similarity.method;
    bool has_shingles = sp_method_info(method)->features == SP_FEATURES_SHINGLES;
    if (err == SP_OK)
        err = check_containment(config->containment_threshold, has_shingles, fault);
    if (err == SP_OK && s->run.text.signature.languages_apart && !has_shingles)
        err = sp_fault_set(
            fault, SP_INVALID,
            "similarity.languages=apart needs shingles: set similarity.method to shingles or "
            "combined");
    if (err == SP_OK && config->lcs_sets == SP_CONFIG_LCS_PAPER && method != SP_METHOD_LCS)
        err = sp_fault_set(fault, SP_INVALID,
                           "lcs.sets=paper needs sentences: set similarity.method to lcs");
    if (err != SP_OK) {
        sp_settings_done(s);
        return err;
    }
    put_fingerprint(config, &s->map, &s->fingerprint);
    s->run.fingerprint = s->fingerprint.data;
    s->run.text.signature.dictionary = &s->map.dictionary;
    return SP_OK;
}

void sp_settings_done(struct sp_settings *settings)
{
    sp_buf_done(&settings->fingerprint);
    sp_partition_done(&settings->map);
    sp_partition_done(&settings->before);
    sp_relation_free(settings->relation);
}

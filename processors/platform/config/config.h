/* The configuration: every setting of samepage in one table (options.c), from which come parsing,
 * the help text, docs/CONFIGURATION.md and config/samepage.properties.
 *
 * A file holds lines `key = value`; `#` starts a comment. Sizes take KiB, MiB, GiB. Thread rule: a
 * configuration is read-only once made. */
#ifndef SP_CONFIG_CONFIG_H
#define SP_CONFIG_CONFIG_H

#include "base/bytes.h"
#include "base/fault.h"

enum sp_config_scope { SP_CONFIG_SCOPE_MAIN, SP_CONFIG_SCOPE_ALL };
enum sp_config_method {
    SP_CONFIG_METHOD_SHINGLES,
    SP_CONFIG_METHOD_SIMHASH,
    SP_CONFIG_METHOD_COSINE,
    SP_CONFIG_METHOD_SENTENCES,
    SP_CONFIG_METHOD_LCS,
    SP_CONFIG_METHOD_COMBINED
};
enum sp_config_sentences { SP_CONFIG_SENTENCES_NEEDED, SP_CONFIG_SENTENCES_KEEP };
enum sp_config_sentence_hash { SP_CONFIG_SENTENCE_XXH3, SP_CONFIG_SENTENCE_CRC32 };
enum sp_config_lcs_sets { SP_CONFIG_LCS_COMPONENTS, SP_CONFIG_LCS_PAPER };
enum sp_config_languages { SP_CONFIG_LANGUAGES_TOGETHER, SP_CONFIG_LANGUAGES_APART };
enum sp_config_repeats { SP_CONFIG_REPEATS_ONCE, SP_CONFIG_REPEATS_LABELLED };
enum sp_config_mode { SP_CONFIG_MODE_EXACT, SP_CONFIG_MODE_FAST };
enum sp_config_routing { SP_CONFIG_ROUTING_LOSSLESS, SP_CONFIG_ROUTING_BOUNDED };
enum sp_config_switch { SP_CONFIG_OFF, SP_CONFIG_ON };
enum sp_config_language {
    SP_CONFIG_LANGUAGE_NEEDED,
    SP_CONFIG_LANGUAGE_DETECT,
    SP_CONFIG_LANGUAGE_OFF
};
enum sp_config_log { SP_CONFIG_LOG_PLAIN, SP_CONFIG_LOG_JSON };

enum { SP_CONFIG_TEXT = 256 };

/* A setting "kafka.<key>", for librdkafka. */
struct sp_config_property {
    char *key; /* without "kafka." */
    char *value;
};

/* Choices are stored as the number of the chosen word. */
struct sp_config {
    uint64_t mode;
    double fast_recheck_share;
    uint64_t similarity_method;
    double similarity_threshold;
    double similarity_band;
    double similarity_lcs_min;
    uint64_t similarity_languages;
    uint64_t lcs_sets;
    uint64_t signature_repeats;
    uint64_t signature_sentences;
    uint64_t signature_sentence_hash;
    uint64_t signature_max_shingles;
    uint64_t signature_max_sentences;
    uint64_t text_scope;
    uint64_t text_language;
    uint64_t text_max_bytes;
    double winner_margin;
    double winner_popularity_tolerance;
    char winner_relation[SP_CONFIG_TEXT];
    double containment_threshold;
    double containment_boilerplate;
    char partition_map[SP_CONFIG_TEXT];
    char partition_previous_map[SP_CONFIG_TEXT];
    uint64_t partition_cells;
    uint64_t partition_routing;
    double partition_rho;
    uint64_t tier1_partitions;
    uint64_t threads;
    uint64_t barrier_pages;
    uint64_t cache_bytes;
    uint64_t store_block_cache_bytes;
    uint64_t store_memtable_bytes;
    uint64_t store_background_threads;
    uint64_t store_write_ahead_log;
    uint64_t input_max_record_bytes;
    uint64_t input_max_future_ms;
    double input_max_unreadable;
    char input_id_field[SP_CONFIG_TEXT];
    char input_text_field[SP_CONFIG_TEXT];
    char input_time_field[SP_CONFIG_TEXT];
    char input_status_field[SP_CONFIG_TEXT];
    char input_redirect_field[SP_CONFIG_TEXT];
    char input_type_field[SP_CONFIG_TEXT];
    char input_popularity_field[SP_CONFIG_TEXT];
    double audit_share;
    uint64_t audit_pages;
    uint64_t audit_patience;
    double predict_explore;
    uint64_t cover_memory_bytes;
    uint64_t cover_exact_documents;
    char topics_prefix[SP_CONFIG_TEXT];
    uint64_t topics_pages_partitions;
    uint64_t topics_status_partitions;
    uint64_t topics_pages_schema_id;
    uint64_t topics_status_schema_id;
    char schema_registry_url[SP_CONFIG_TEXT];
    char schema_registry_user_info[SP_CONFIG_TEXT];
    char schema_registry_ca[SP_CONFIG_TEXT];
    char schema_registry_certificate[SP_CONFIG_TEXT];
    char schema_registry_key[SP_CONFIG_TEXT];
    char schema_registry_key_password[SP_CONFIG_TEXT];
    uint64_t schema_registry_registers; /* 1: yes */
    uint64_t topics_replication;
    uint64_t tier2_partitions;
    char instance[SP_CONFIG_TEXT];
    char state_directory[SP_CONFIG_TEXT];
    uint64_t commit_interval_ms;
    uint64_t commit_messages;
    uint64_t standby_replicas;
    uint64_t flow_max_lag;
    char http_listen[SP_CONFIG_TEXT];
    uint64_t log_format;
    struct sp_config_property *kafka;
    size_t kafka_count;
};

void sp_config_default(struct sp_config *ret_config);
void sp_config_done(struct sp_config *config);

/* Sets one key. SP_INVALID: the fault says what is wrong and what is allowed. */
enum sp_err sp_config_set(struct sp_config *config, struct sp_view key, struct sp_view value,
                          struct sp_fault *fault);

/* Sets "key=value". */
enum sp_err sp_config_assign(struct sp_config *config, const char *assignment,
                             struct sp_fault *fault);

/* Reads a file on top of what is set. The fault names file and line. */
enum sp_err sp_config_load(struct sp_config *config, const char *file, struct sp_fault *fault);

/* Reads the environment on top of what is set: SAMEPAGE_SET_<KEY>, the key in upper case with _ for
 * each dot and underscore (SAMEPAGE_SET_COMMIT_INTERVAL_MS, SAMEPAGE_SET_KAFKA_BOOTSTRAP_SERVERS).
 */
enum sp_err sp_config_environment(struct sp_config *config, const char *const *environment,
                                  struct sp_fault *fault);

/* The settings that give a state its meaning, as lines "key=value\n": a state made with others
 * cannot be continued. */
void sp_config_fingerprint(const struct sp_config *config, struct sp_buf *out);

/* All settings with what they mean: as a properties file, as a Markdown table, as help text. */
void sp_config_put_properties(struct sp_buf *out);
void sp_config_put_markdown(struct sp_buf *out);
void sp_config_put_help(struct sp_buf *out);

/* How many letters two words differ by (Levenshtein): for suggestions. */
size_t sp_config_distance(const char *a, const char *b);
/* The first setting whose last part is `name`, '-' being '_' as well; NULL where there is none. */
const char *sp_config_key_ending(const char *name);

#endif

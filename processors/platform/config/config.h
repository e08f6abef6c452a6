/* The configuration: every setting of samepage in one table (options.c). Parsing, the help text,
 * docs/CONFIGURATION.md and config/samepage.properties are derived from it.
 *
 * A file holds lines `key = value`; a line that begins with `#` is a comment. Sizes are numbers of
 * bytes, or numbers with KiB, MiB or GiB (or K, M, G, which mean the same). Thread rule: one thread
 * changes a configuration; any number may read it. */
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

enum { SP_CONFIG_TEXT = 256 }; /* bytes of a text, the final NUL included */

/* A setting "kafka.<key>", for librdkafka. */
struct sp_config_property {
    char *key; /* without "kafka." */
    char *value;
};

/* Times are in milliseconds and sizes in bytes, as the names say. A choice is stored as the number
 * of its word (the enums above). */
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
    char partition_languages[SP_CONFIG_TEXT];
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
    uint64_t input_quotes;
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
    uint64_t cover_coverers;
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

/* All settings at their defaults. Free the result with sp_config_done. */
void sp_config_default(struct sp_config *ret_config);
void sp_config_done(struct sp_config *config);

/* Sets one key; key and value are copied. "kafka.X" is accepted for any X, because librdkafka
 * checks these later. SP_INVALID, and nothing is changed: there is no such setting, or the value is
 * not allowed; the fault says what is. */
enum sp_err sp_config_set(struct sp_config *config, struct sp_view key, struct sp_view value,
                          struct sp_fault *fault);

/* The same for "key=value"; blanks around both are ignored. */
enum sp_err sp_config_assign(struct sp_config *config, const char *assignment,
                             struct sp_fault *fault);

/* Applies the lines of a file. SP_INVALID: the file cannot be read, or a line is wrong; the fault
 * names file and line, and the lines before that one stay applied. */
enum sp_err sp_config_load(struct sp_config *config, const char *file, struct sp_fault *fault);

/* Applies the variables SAMEPAGE_SET_<KEY> of an environment ("NAME=value" strings, NULL at the
 * end). KEY is in upper case with _ for each dot: SAMEPAGE_SET_COMMIT_INTERVAL_MS,
 * SAMEPAGE_SET_KAFKA_BOOTSTRAP_SERVERS. SP_INVALID as above; the variables before stay applied. */
enum sp_err sp_config_environment(struct sp_config *config, const char *const *environment,
                                  struct sp_fault *fault);

/* Appends the settings that give a state its meaning, as lines "key=value\n": a state made with
 * other values cannot be continued. Settings of a feature that is off are left out. A NUL follows
 * the text; out->len does not count it. */
void sp_config_fingerprint(const struct sp_config *config, struct sp_buf *out);

/* Append all settings with their meanings and defaults: as a properties file, as a Markdown table,
 * as help text. */
void sp_config_put_properties(struct sp_buf *out);
void sp_config_put_markdown(struct sp_buf *out);
void sp_config_put_help(struct sp_buf *out);

/* The edit distance of two words in bytes (Levenshtein), for suggestions; 64 if b has 64 bytes or
 * more. */
size_t sp_config_distance(const char *a, const char *b);
/* The key of the first setting whose last part is `name`, in which '-' also stands for '_'; NULL if
 * there is none. */
const char *sp_config_key_ending(const char *name);

#endif

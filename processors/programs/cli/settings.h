/* From the configuration's table to the options of the stages. Private to this folder. */
#ifndef SP_CLI_SETTINGS_H
#define SP_CLI_SETTINGS_H

#include "base/fault.h"
#include "config/config.h"
#include "local/run.h"
#include "settings/settings.h"

/* Points to texts of the configuration. */
void sp_settings_input(const struct sp_config *config, struct sp_input_options *ret_options);

/* How lines of a fingerprint begin that are no settings: that of dedup's states, and those that the
 * version of the method's signatures and the dictionary of a trained map follow. */
#define SP_SETTINGS_DEDUP "command=dedup\n"
#define SP_SETTINGS_SIGNATURES "signature.version="
#define SP_SETTINGS_DICTIONARY "partition.map: dictionary="

/* All options that a configuration stands for, and what they point into: not to be copied. */
struct sp_settings {
    struct sp_run_options run; /* everything of a run but its files */
    size_t cache_bytes;        /* of all caches of a run together */
    struct sp_buf fingerprint;
    struct sp_partition_map map;    /* of partition.map, or the untrained one */
    struct sp_partition_map before; /* of partition.previous_map; cells 0: none */
    struct sp_relation *relation;   /* winner.relation; NULL: none */
};

/* Reads the fingerprint of a run's state, with a NUL at its end. SP_STATE_FORMAT, SP_STORE: it
 * cannot be read, or the state is one of dedup, which has no pages. */
enum sp_err sp_settings_of_run(const char *state, struct sp_buf *ret_lines, struct sp_fault *fault);

/* The map of that file; "untrained": the one of so many cells that needs no file. */
enum sp_err sp_settings_map(const char *name, uint64_t cells, struct sp_partition_map *ret_map,
                            struct sp_fault *fault);

/* NULL if there is none; the caller's to free. */
enum sp_err sp_settings_relation(const struct sp_config *config, struct sp_relation **ret_relation,
                                 struct sp_fault *fault);

/* On failure the fault says what is wrong with the files of the maps, or with settings that do not
 * fit together; nothing is to be freed then. */
enum sp_err sp_settings_init(const struct sp_config *config, struct sp_settings *ret_settings,
                             struct sp_fault *fault);
void sp_settings_done(struct sp_settings *settings);

#endif

/* The program: one command a file, and what they share.
 *
 * Exit codes: 0 done, 1 failed, 2 usage. Data goes to standard output or to the file that an option
 * names, everything else to standard error. */
#ifndef SP_CLI_CLI_H
#define SP_CLI_CLI_H

#include <getopt.h>

#include "config/config.h"
#include "run/run.h"

enum { SP_EXIT_DONE = 0, SP_EXIT_FAILED = 1, SP_EXIT_USAGE = 2 };

struct sp_command {
    const char *name;
    const char *summary;
    const char *help; /* the manual; settings are appended where it takes any */
    bool takes_settings;
    int (*run)(const struct sp_command *command, int argc, char **argv);
};

extern const struct sp_command sp_cmd_run, sp_cmd_synth, sp_cmd_pairs, sp_cmd_similar, sp_cmd_cover,
    sp_cmd_config, sp_cmd_train;
extern const struct sp_command sp_cmd_signature, sp_cmd_group, sp_cmd_compare, sp_cmd_topics,
    sp_cmd_ingest, sp_cmd_status, sp_cmd_evaluate, sp_cmd_serve;

/* ---- options.c ---- */

enum { SP_OPT_HELP = 1000, SP_OPT_CONFIG, SP_OPT_SET };

/* What every command that takes settings accepts; for the table of getopt_long. */
#define SP_COMMON_OPTIONS                                                                          \
    {                                                                                              \
        "help", no_argument, NULL, SP_OPT_HELP                                                     \
    }
#define SP_SETTING_OPTIONS                                                                         \
    {"config", required_argument, NULL, SP_OPT_CONFIG},                                            \
    {                                                                                              \
        "set", required_argument, NULL, SP_OPT_SET                                                 \
    }

/* Handles an option that is not the command's own: help, a setting, or a mistake. -1: go on, else
 * the exit code. `config` may be NULL. */
int sp_cli_common(const struct sp_command *command, int option, struct sp_config *config);

/* Says what is wrong and how to get help; answers SP_EXIT_USAGE. */
int sp_cli_usage(const struct sp_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Says what failed; answers SP_EXIT_FAILED. */
int sp_cli_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A whole number with an optional K, M or G (thousands); false where it is none. */
bool sp_cli_number(const char *text, uint64_t *ret_number);

/* ---- settings.c ---- */

/* Without the dictionary of a trained map, which sp_settings_init adds. */
void sp_settings_text(const struct sp_config *config, struct sp_text_options *ret_options);

void sp_settings_similarity(const struct sp_config *config,
                            struct sp_similarity_options *ret_options);

/* How a line of a fingerprint begins that is no setting: the dictionary of a trained map follows.
 */
#define SP_SETTINGS_DICTIONARY "partition.map: dictionary="

/* All options that a configuration stands for, and what they point into: not to be copied. */
struct sp_settings {
    struct sp_run_options run; /* everything of a run but its files */
    struct sp_buf fingerprint;
    struct sp_partition_map map;    /* of partition.map, or the untrained one */
    struct sp_partition_map before; /* of partition.previous_map; cells 0: none */
    struct sp_relation *relation;   /* winner.relation; NULL: none */
};

/* The map of that file; "untrained": the one of so many cells that needs no file. On failure
 * *ret_message says why (valid until the next call in this thread). */
enum sp_err sp_settings_map(const char *name, uint64_t cells, struct sp_partition_map *ret_map,
                            const char **ret_message);

/* NULL where there is none; the caller's to free. SP_INVALID: *ret_message says why. */
enum sp_err sp_settings_relation(const struct sp_config *config, struct sp_relation **ret_relation,
                                 const char **ret_message);

/* On failure *ret_message says what is wrong with the files of the maps, or with settings that do
 * not fit together (valid until the next call); nothing is to be freed then. */
enum sp_err sp_settings_init(const struct sp_config *config, struct sp_settings *ret_settings,
                             const char **ret_message);
void sp_settings_done(struct sp_settings *settings);

/* ---- progress.c ---- */

struct sp_progress {
    bool shown; /* standard error is a terminal */
    double start;
    double last;
    uint64_t first_bytes;
    bool drawn;
    const char *phase; /* of sp_progress_phase */
};

void sp_progress_start(struct sp_progress *p);
/* Matches sp_run_options.progress. */
void sp_progress_show(void *arg, uint64_t pages, uint64_t bytes, uint64_t bytes_total,
                      uint64_t groups);
/* A bar of one step of several, with the time it still takes; call with rising `done`. */
void sp_progress_phase(struct sp_progress *p, const char *phase, uint64_t done, uint64_t total);
/* Removes the bar. */
void sp_progress_end(struct sp_progress *p);
/* "1,234,567"; valid until the eighth next call. */
const char *sp_thousands(uint64_t n);

#endif

/* The program: commands/ has one command a file; here is what they share.
 *
 * Exit codes: 0 done, 1 failed, 2 wrong usage. Data goes to standard output or to the file that an
 * option names, everything else to standard error. */
#ifndef SP_CLI_CLI_H
#define SP_CLI_CLI_H

#include <getopt.h>
#include <stdio.h>

#include "config/config.h"

enum { SP_EXIT_DONE = 0, SP_EXIT_FAILED = 1, SP_EXIT_USAGE = 2 };

struct sp_command {
    const char *name;
    const char *summary;
    const char *help; /* the manual; that of settings is --help-settings, if it takes any */
    int (*run)(const struct sp_command *command, int argc, char **argv);
};

/* All commands, in the order in which the program lists them. commands/NAME.c has sp_command_NAME;
 * commands/stage.c has those of the stages. */
#define SP_COMMANDS(X)                                                                             \
    X(run)                                                                                         \
    X(dedup)                                                                                       \
    X(audit)                                                                                       \
    X(synth)                                                                                       \
    X(pairs)                                                                                       \
    X(similar)                                                                                     \
    X(train)                                                                                       \
    X(cover)                                                                                       \
    X(archive)                                                                                     \
    X(topics)                                                                                      \
    X(ingest)                                                                                      \
    X(forget)                                                                                      \
    X(signature)                                                                                   \
    X(group)                                                                                       \
    X(compare)                                                                                     \
    X(contain)                                                                                     \
    X(watch)                                                                                       \
    X(status)                                                                                      \
    X(evaluate)                                                                                    \
    X(serve)                                                                                       \
    X(rules)                                                                                       \
    X(config)

#define X(name) extern const struct sp_command sp_command_##name;
SP_COMMANDS(X)
#undef X

/* ---- options.c ---- */

enum { SP_OPT_HELP = 1000, SP_OPT_HELP_SETTINGS, SP_OPT_CONFIG, SP_OPT_SET, SP_OPT_FIELD };

/* What every command that takes settings accepts; for the table of getopt_long. */
#define SP_COMMON_OPTIONS                                                                          \
    {                                                                                              \
        "help", no_argument, NULL, SP_OPT_HELP                                                     \
    }
#define SP_SETTING_OPTIONS                                                                         \
    {"config", required_argument, NULL, SP_OPT_CONFIG},                                            \
        {"help-settings", no_argument, NULL, SP_OPT_HELP_SETTINGS},                                \
    {                                                                                              \
        "set", required_argument, NULL, SP_OPT_SET                                                 \
    }

/* What every command that reads pages or documents accepts besides, and its part of the help. */
#define SP_FIELD_OPTIONS                                                                           \
    {"id-field", required_argument, NULL, SP_OPT_FIELD},                                           \
        {"text-field", required_argument, NULL, SP_OPT_FIELD + 1},                                 \
        {"time-field", required_argument, NULL, SP_OPT_FIELD + 2},                                 \
        {"status-field", required_argument, NULL, SP_OPT_FIELD + 3},                               \
        {"redirect-field", required_argument, NULL, SP_OPT_FIELD + 4},                             \
        {"type-field", required_argument, NULL, SP_OPT_FIELD + 5},                                 \
    {                                                                                              \
        "popularity-field", required_argument, NULL, SP_OPT_FIELD + 6                              \
    }
#define SP_FIELD_HELP                                                                              \
    "  --id-field NAME, --text-field NAME, --time-field NAME, --status-field NAME,\n"              \
    "  --redirect-field NAME, --type-field NAME, --popularity-field NAME\n"                        \
    "                      names of the input's fields; with --id-field, ids need not be URLs\n"

/* What commands that compare documents accept: the options above, --threshold and --quiet. */
#define SP_DOCUMENT_OPTIONS                                                                        \
    {"threshold", required_argument, NULL, 't'}, {"quiet", no_argument, NULL, 'q'},                \
        SP_COMMON_OPTIONS, SP_FIELD_OPTIONS, SP_SETTING_OPTIONS
/* The lists that dedup writes and audit reads. */
#define SP_LIST_OPTIONS                                                                            \
    {"kept", required_argument, NULL, 'k'}, {"removed", required_argument, NULL, 'r'},             \
    {                                                                                              \
        "clusters", required_argument, NULL, 'c'                                                   \
    }

/* Handles an option that is not the command's own: help, a setting, or a mistake. -1: go on, else
 * the exit code. `config` may be NULL. */
int sp_cli_common(const struct sp_command *command, int option, struct sp_config *config);
/* Handles SP_DOCUMENT_OPTIONS, and mistakes. -1: go on, else the exit code. */
int sp_cli_document(const struct sp_command *command, int option, struct sp_config *config,
                    bool *ret_quiet);
/* Handles SP_LIST_OPTIONS; false: it is another option. */
bool sp_cli_list(int option, const char **ret_kept, const char **ret_removed,
                 const char **ret_clusters);

/* What getopt reads: for suggestions. Stays the caller's. */
void sp_cli_arguments(char **argv);

/* Says what is wrong and how to get help; returns SP_EXIT_USAGE. */
int sp_cli_usage(const struct sp_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Says what failed; returns SP_EXIT_FAILED. */
int sp_cli_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes what standard output holds back; if that fails, says so and returns false. */
bool sp_cli_flush(void);
/* Opens the file of --summary; "-" is standard output. NULL: it cannot be written, which is said.
 */
FILE *sp_cli_summary_open(const char *name);
/* Returns false if it was not written, which is said. */
bool sp_cli_summary_close(FILE *out, const char *name);

/* ---- lack.c ---- */

/* The exit code of a process that lacks memory or threads: SP_EXIT_FAILED unless it is set. */
void sp_cli_set_lack_code(int code);
/* Ends the process so. Flushes nothing, as a kill, and runs no destructors beside threads that
 * still work; may be called by a signal handler. */
void sp_cli_end_for_lack(void) __attribute__((noreturn));

/* ---- inputs.c ---- */

/* The inputs that the arguments name, with the files of a folder in its place: those of records by
 * their names (.jsonl, .warc.gz and so on), in order of path, then the folder itself if it holds
 * texts. Valid to the end of the process, or the next call. */
const char *const *sp_cli_inputs(char **names, int count, size_t *ret_count);
/* The same for WARC files alone: those of a folder whose names end in .warc or .wet, also
 * compressed. A folder without any stays. */
const char *const *sp_cli_warcs(char **names, int count, size_t *ret_count);
/* Refuses an output (NULL: none) that is one of these inputs, which would be overwritten or, as its
 * own input, grow without end, or that is named twice, also standard output. -1: go on, else the
 * exit code. */
int sp_cli_outputs(const struct sp_command *command, const char *const *names, size_t count);
/* Refuses an output that is a file of the state in that directory (NULL: none). The same results.
 */
int sp_cli_outputs_beside(const char *state, const char *const *names, size_t count);

/* ---- inside.c ---- */

/* Whether two names lead to one path; either may not exist yet. Links are followed. */
bool sp_cli_is_one_path(const char *a, const char *b);
/* Whether a file is inside a directory, or the directory itself. Either may not exist yet. Links
 * are followed; a hard link to a file of the directory is inside. For "-", the file that is open as
 * `standard`. */
bool sp_cli_is_inside(const char *name, const char *dir, int standard);

struct sp_readings;

/* The end of the help of every command that reads pages or documents. */
#define SP_READING_EXIT_HELP                                                                       \
    "EXIT STATUS\n"                                                                                \
    "  0 done; 1 failed, or too much unreadable (input.max_unreadable); 2 wrong usage\n"

/* Prints how many records were cut, how many could not be read, and the commonest reasons. `advice`
 * follows the second number: what else the user can do; NULL: nothing is printed of these. */
void sp_cli_reasons(struct sp_readings *readings, const char *advice);
/* The exit code of a command that did its work on what could be read. Says which input was empty,
 * that no record could be read, or that more could not than input.max_unreadable allows. */
int sp_cli_verdict(const struct sp_config *config, const struct sp_readings *readings);

/* Reads a whole number below 2^62 with an optional K, M or G (powers of 1,000). False, and the
 * number is untouched, if the text is anything else. */
bool sp_cli_number(const char *text, uint64_t *ret_number);

#endif

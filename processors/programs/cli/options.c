/* Option handling that the commands share. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "cli/cli.h"

/* In the order of SP_FIELD_OPTIONS. */
static const char *const field_settings[] = {
    "input.id_field",       "input.text_field", "input.time_field",      "input.status_field",
    "input.redirect_field", "input.type_field", "input.popularity_field"};

static void print_settings(void)
{
    struct sp_buf out = {0};
    sp_buf_put_str(&out, "SETTINGS (--set key=value, or lines in the file of --config)\n");
    sp_config_put_help(&out);
    fwrite(out.data, 1, out.len, stdout);
    sp_buf_done(&out);
}

static char **arguments; /* of the process: what main was called with */

void sp_cli_arguments(char **argv)
{
    arguments = argv;
}

/* Finds the option in the help that is nearest to the one that getopt refused; false if none is
 * near. */
static bool nearest_option(const char *help, char *ret_name, size_t size)
{
    const char *wrong = arguments ? arguments[optind - 1] : NULL;
    size_t least = 3; /* letters that differ */
    char name[64];
    if (!wrong || strncmp(wrong, "--", 2) != 0)
        return false;
    bool found = false;
    for (const char *at = help; (at = strstr(at, "--")) != NULL; at += 2) {
        size_t n = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-") + 2;
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (n <= 3 || sp_config_distance(wrong, name) >= least)
            continue;
        least = sp_config_distance(wrong, name);
        snprintf(ret_name, size, "%s", name);
        found = true;
    }
    return found && least > 0; /* a known option lacks its argument, which getopt has reported */
}

/* Returns the setting that the user may have meant by the option; NULL if there is none. */
static const char *setting_like(const char *help)
{
    const char *wrong = arguments ? arguments[optind - 1] : NULL;
    char name[64];
    if (!wrong || strncmp(wrong, "--", 2) != 0 || !strstr(help, "--set KEY=VALUE"))
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(wrong + 2, "="), wrong + 2);
    return sp_config_key_ending(name);
}

static void suggest_option(const struct sp_command *command)
{
    char nearest[64];
    const char *setting = setting_like(command->help);
    fprintf(stderr, "samepage %s: ", command->name);
    if (nearest_option(command->help, nearest, sizeof nearest))
        fprintf(stderr, "did you mean %s? ", nearest);
    else if (setting)
        fprintf(stderr, "did you mean --set %s=VALUE? ", setting);
    fprintf(stderr, "`samepage %s --help` lists the options\n", command->name);
}

int sp_cli_common(const struct sp_command *command, int option, struct sp_config *config)
{
    struct sp_fault fault;
    enum sp_err err = SP_OK;
    switch (option) {
    case SP_OPT_HELP:
        fputs(command->help, stdout);
        return SP_EXIT_DONE;
    case SP_OPT_HELP_SETTINGS:
        print_settings();
        return SP_EXIT_DONE;
    case SP_OPT_CONFIG:
        err = sp_config_load(config, optarg, &fault);
        break;
    case SP_OPT_SET:
        err = sp_config_assign(config, optarg, &fault);
        break;
    case SP_OPT_FIELD:
    case SP_OPT_FIELD + 1:
    case SP_OPT_FIELD + 2:
    case SP_OPT_FIELD + 3:
    case SP_OPT_FIELD + 4:
    case SP_OPT_FIELD + 5:
    case SP_OPT_FIELD + 6:
        err = sp_config_set(config, sp_view_str(field_settings[option - SP_OPT_FIELD]),
                            sp_view_str(optarg), &fault);
        break;
    default: /* getopt has reported what is wrong */
        suggest_option(command);
        return SP_EXIT_USAGE;
    }
    return err == SP_OK ? -1 : sp_cli_usage(command, "%s", fault.text);
}

int sp_cli_document(const struct sp_command *command, int option, struct sp_config *config,
                    bool *ret_quiet)
{
    struct sp_fault fault;
    if (option == 'q') {
        *ret_quiet = true;
        return -1;
    }
    if (option != 't')
        return sp_cli_common(command, option, config);
    enum sp_err err =
        sp_config_set(config, sp_view_str("similarity.threshold"), sp_view_str(optarg), &fault);
    return err == SP_OK ? -1 : sp_cli_usage(command, "--threshold: %s", fault.text);
}

bool sp_cli_list(int option, const char **ret_kept, const char **ret_removed,
                 const char **ret_clusters)
{
    const char **list = option == 'k'   ? ret_kept
                        : option == 'r' ? ret_removed
                        : option == 'c' ? ret_clusters
                                        : NULL;
    if (list)
        *list = optarg;
    return list != NULL;
}

int sp_cli_usage(const struct sp_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "samepage %s: ", command->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nsamepage %s: `samepage %s --help` explains\n", command->name, command->name);
    va_end(args);
    return SP_EXIT_USAGE;
}

int sp_cli_failed(const char *format, ...)
{
    struct sp_fault said;
    va_list args;
    va_start(args, format);
    sp_fault_setv(&said, SP_IO, format, args);
    va_end(args);
    fprintf(stderr, "samepage: %s\n", said.text);
    return SP_EXIT_FAILED;
}

bool sp_cli_flush(void)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (!written)
        sp_cli_failed("standard output cannot be written");
    return written;
}

FILE *sp_cli_summary_open(const char *name)
{
    FILE *out = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
    if (!out)
        sp_cli_failed("%s: the summary cannot be written: %s", name, strerror(errno));
    return out;
}

bool sp_cli_summary_close(FILE *out, const char *name)
{
    if (out == stdout)
        return sp_cli_flush();
    bool written = fflush(out) == 0 && !ferror(out);
    if (!written)
        sp_cli_failed("%s: the summary cannot be written: %s", name, strerror(errno));
    fclose(out);
    return written;
}

bool sp_cli_number(const char *text, uint64_t *ret_number)
{
    static const char suffixes[] = "KMG";
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9')
        return false;
    const unsigned long long most = (1ull << 62) - 1;
    unsigned long long n = strtoull(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    if (*end && (!suffix || end[1]))
        return false;
    for (long power = suffix ? suffix - suffixes + 1 : 0; power > 0; power--) {
        if (n > most / 1000)
            return false;
        n *= 1000;
    }
    if (n > most)
        return false;
    *ret_number = n;
    return true;
}

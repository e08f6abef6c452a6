/* What the commands' option handling shares. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void print_manual(const struct sp_command *command)
{
    fputs(command->help, stdout);
    if (!command->takes_settings)
        return;
    struct sp_buf out = {0};
    sp_buf_put_str(&out, "\nSETTINGS (--set key=value, or lines in the file of --config)\n");
    sp_config_put_help(&out);
    fwrite(out.data, 1, out.len, stdout);
    sp_buf_done(&out);
}

int sp_cli_common(const struct sp_command *command, int option, struct sp_config *config)
{
    const char *message = NULL;
    enum sp_err err = SP_OK;
    switch (option) {
    case SP_OPT_HELP:
        print_manual(command);
        return SP_EXIT_DONE;
    case SP_OPT_CONFIG:
        err = sp_config_load(config, optarg, &message);
        break;
    case SP_OPT_SET:
        err = sp_config_assign(config, optarg, &message);
        break;
    default: /* getopt has said what is wrong */
        fprintf(stderr, "samepage %s: `samepage %s --help` lists the options\n", command->name,
                command->name);
        return SP_EXIT_USAGE;
    }
    return err == SP_OK ? -1 : sp_cli_usage(command, "%s", message);
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
    va_list args;
    va_start(args, format);
    fputs("samepage: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return SP_EXIT_FAILED;
}

bool sp_cli_number(const char *text, uint64_t *ret_number)
{
    static const char suffixes[] = "KMG";
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long long n = strtoull(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    if (*end && (!suffix || end[1]))
        return false;
    for (long power = suffix ? suffix - suffixes + 1 : 0; power > 0; power--)
        n *= 1000;
    *ret_number = n;
    return n < 1ull << 62;
}

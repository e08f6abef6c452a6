/* samepage config: the settings, generated from their one table. */
#include <stdio.h>

#include "cli/cli.h"

static int run(const struct sp_command *command, int argc, char **argv)
{
    static const struct option options[] = {{"properties", no_argument, NULL, 'p'},
                                            {"markdown", no_argument, NULL, 'm'},
                                            SP_COMMON_OPTIONS,
                                            {0}};
    void (*put)(struct sp_buf * out) = sp_config_put_properties;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'p' || c == 'm') {
            put = c == 'm' ? sp_config_put_markdown : sp_config_put_properties;
            continue;
        }
        int code = sp_cli_common(command, c, NULL);
        if (code >= 0)
            return code;
    }
    if (optind < argc)
        return sp_cli_usage(command, "\"%s\" is not an option", argv[optind]);
    struct sp_buf out = {0};
    put(&out);
    bool good = fwrite(out.data, 1, out.len, stdout) == out.len && fflush(stdout) == 0;
    sp_buf_done(&out);
    return good ? SP_EXIT_DONE : sp_cli_failed("standard output cannot be written");
}

const struct sp_command sp_command_config = {
    "config", "prints all settings with their defaults",
    "NAME\n"
    "  samepage config - prints all settings with their defaults\n\n"
    "SYNOPSIS\n"
    "  samepage config [--properties | --markdown]\n\n"
    "OPTIONS\n"
    "  --properties  as a file for --config (the default)\n"
    "  --markdown    as the table in docs/CONFIGURATION.md\n"
    "  --help        this text\n\n"
    "EXIT STATUS\n"
    "  0 done; 1 standard output cannot be written; 2 wrong usage\n",
    run};

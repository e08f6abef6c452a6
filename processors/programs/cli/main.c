/* samepage: finds the command and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/new_handler.h"
#include "page/method.h"

#define X(name) &sp_command_##name,
static const struct sp_command *const commands[] = {SP_COMMANDS(X)};
#undef X
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fputs("samepage finds near-duplicate pages in a crawl while the crawl goes on.\n\n"
          "usage: samepage COMMAND [OPTION]... [ARGUMENT]...\n\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n`samepage help COMMAND` explains a command; `samepage --version` prints the version.\n"
          "Exit codes: 0 done, 1 failed, 2 wrong usage.\n",
          to);
}

static const struct sp_command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

static int no_such_command(const char *name)
{
    const char *nearest = commands[0]->name;
    if (name[0] == '-') {
        fprintf(
            stderr,
            "samepage: there is no option \"%s\" in front of a command: `samepage --help` lists "
            "the commands, `samepage config` the settings\n",
            name);
        return SP_EXIT_USAGE;
    }
    for (size_t i = 1; i < COMMANDS; i++)
        if (sp_config_distance(name, commands[i]->name) < sp_config_distance(name, nearest))
            nearest = commands[i]->name;
    if (sp_config_distance(name, nearest) <= 2)
        fprintf(stderr, "samepage: there is no command \"%s\"; did you mean \"%s\"?\n", name,
                nearest);
    else
        fprintf(stderr, "samepage: there is no command \"%s\"; `samepage --help` lists them\n",
                name);
    return SP_EXIT_USAGE;
}

/* Any command fails if its output could not be written. */
static int flushed(int code)
{
    return code == SP_EXIT_DONE && !sp_cli_flush() ? SP_EXIT_FAILED : code;
}

/* The next file that is opened would get the number of a standard descriptor that is closed: `-`
 * would be read from that file, statuses and messages would be written into it. These open the
 * other way round, so that reading and writing fail as they do with a closed one. */
static void hold_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
            break; /* there is no /dev/null */
}

int main(int argc, char **argv)
{
    hold_descriptors();
    sp_mem_out_ends(sp_cli_end_for_lack);
    sp_cli_handle_new();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error with a message (EFBIG) */
    const char *fail_after = getenv("SAMEPAGE_TEST_FAIL_ALLOCATION");
    if (fail_after)
        sp_mem_fail_after(strtol(fail_after, NULL, 10));
    const char *name = argc > 1 ? argv[1] : NULL;
    static char help[] = "--help";
    char *asked[] = {argv[0], argc > 2 ? argv[2] : NULL, help, NULL};
    if (name && strcmp(name, "help") == 0 && argc > 2) { /* help COMMAND */
        argc = 3;
        argv = asked;
        name = argv[1];
    } else if (argc > 2 && strcmp(argv[2], "-h") == 0) {
        argv[2] = help;
    }
    if (!name || strcmp(name, "--help") == 0 || strcmp(name, "help") == 0 ||
        strcmp(name, "-h") == 0) {
        print_help(name ? stdout : stderr);
        return flushed(name ? SP_EXIT_DONE : SP_EXIT_USAGE);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("samepage %s (signature version %d)\n", SP_VERSION, SP_SIGNATURE_VERSION);
        return flushed(SP_EXIT_DONE);
    }
    const struct sp_command *command = find(name);
    if (!command)
        return no_such_command(name);
    char program[64]; /* getopt's messages begin with it */
    snprintf(program, sizeof program, "samepage %s", name);
    argv[1] = program;
    sp_cli_arguments(argv + 1);
    return flushed(command->run(command, argc - 1, argv + 1));
}

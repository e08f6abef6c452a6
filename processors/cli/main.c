/* samepage: the program's front door. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"

static const struct sp_command *const commands[] = {
    &sp_cmd_run,     &sp_cmd_synth,  &sp_cmd_pairs,    &sp_cmd_similar,   &sp_cmd_train,
    &sp_cmd_cover,   &sp_cmd_topics, &sp_cmd_ingest,   &sp_cmd_signature, &sp_cmd_group,
    &sp_cmd_compare, &sp_cmd_status, &sp_cmd_evaluate, &sp_cmd_serve,     &sp_cmd_config};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fputs("samepage finds the near duplicates in a continuous crawl, incrementally.\n\n"
          "usage: samepage COMMAND [OPTION]... [ARGUMENT]...\n\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs(
        "\n`samepage COMMAND --help` explains a command; `samepage --version` prints the version.\n"
        "Exit codes: 0 done, 1 failed, 2 usage.\n",
        to);
}

/* Blocks of a megabyte come and go with every chunk of input and every barrier: giving them back to
 * the kernel each time, to be zeroed again, took a fifth of a run's time. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
}

/* What was printed and never arrived is a failure, whichever command it was. */
static int flushed(int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == SP_EXIT_DONE)
        return sp_cli_failed("standard output cannot be written");
    return code;
}

int main(int argc, char **argv)
{
    keep_memory();
    const char *fail_after = getenv("SAMEPAGE_TEST_FAIL_ALLOCATION");
    if (fail_after)
        sp_mem_fail_after(strtol(fail_after, NULL, 10));
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name || strcmp(name, "--help") == 0 || strcmp(name, "help") == 0 ||
        strcmp(name, "-h") == 0) {
        print_help(name ? stdout : stderr);
        return flushed(name ? SP_EXIT_DONE : SP_EXIT_USAGE);
    }
    if (strcmp(name, "--version") == 0) {
        printf("samepage %s (signature version %d)\n", SP_VERSION, SP_SIGNATURE_VERSION);
        return flushed(SP_EXIT_DONE);
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0) {
            char program[64]; /* as getopt's messages begin */
            snprintf(program, sizeof program, "samepage %s", name);
            argv[1] = program;
            return flushed(commands[i]->run(commands[i], argc - 1, argv + 1));
        }
    fprintf(stderr, "samepage: there is no command \"%s\"; `samepage --help` lists them\n", name);
    return SP_EXIT_USAGE;
}

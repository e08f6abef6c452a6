/* samepage dedup: removes the near duplicates of a collection. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/names.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "dedup/dedup.h"

struct arguments {
    struct sp_dedup_options options;
    bool quiet;
    struct sp_config config;
};

/* Whether the name is that of a table; outputs cannot be tables. */
static bool is_named_table(const char *name)
{
    return name && (sp_names_have_type(name, ".csv") || sp_names_have_type(name, ".tsv"));
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {SP_LIST_OPTIONS,
                                          {"state", required_argument, NULL, 's'},
                                          {"dead-letter", required_argument, NULL, 'd'},
                                          SP_DOCUMENT_OPTIONS,
                                          {0}};
    struct sp_dedup_options *o = &a->options;
    for (int c; (c = getopt_long(argc, argv, "k:r:c:t:q", table, NULL)) != -1;) {
        int code = -1;
        if (sp_cli_list(c, &o->kept, &o->removed, &o->clusters))
            continue;
        if (c == 's')
            o->state = optarg;
        else if (c == 'd')
            o->dead_letter = optarg;
        else
            code = sp_cli_document(command, c, &a->config, &a->quiet);
        if (code >= 0)
            return code;
    }
    if (optind == argc)
        return sp_cli_usage(command, "no input: name files, or - for standard input");
    if (!o->kept && !o->removed && !o->clusters)
        return sp_cli_usage(command, "no output: give --kept, --removed or --clusters");
    if (is_named_table(o->kept))
        return sp_cli_usage(
            command,
            "--kept %s: no table is written; the documents of one become JSON lines: "
            "give a name that ends with .jsonl",
            o->kept);
    o->inputs = sp_cli_inputs(argv + optind, argc - optind, &o->input_count);
    const char *outputs[] = {o->kept, o->removed, o->clusters, o->dead_letter};
    int code = sp_cli_outputs(command, outputs, sizeof outputs / sizeof *outputs);
    return code >= 0 ? code
                     : sp_cli_outputs_beside(o->state, outputs, sizeof outputs / sizeof *outputs);
}

static void print_row(const char *name, uint64_t n)
{
    fprintf(stderr, "  %-22s %15s\n", name, sp_thousands(n).text);
}

static int report(const struct arguments *a, const struct sp_dedup_result *r,
                  struct sp_readings *readings, double seconds)
{
    uint64_t removed = r->exact + r->similar;
    if (!a->quiet) {
        print_row("documents", r->documents);
        print_row("  kept", r->kept);
        print_row("  removed", removed);
        print_row("    equal content", r->exact);
        print_row("    near duplicates", r->similar);
        if (r->passed)
            print_row("other records, kept", r->passed);
        if (r->skipped)
            print_row("handled before", r->skipped);
        if (r->dead_letters)
            print_row("dead letters, not kept", r->dead_letters);
        if (r->bytes)
            fprintf(stderr, "  %-22s %13.1f %%\n", "removed of the text",
                    100 * (double)r->removed_bytes / (double)r->bytes);
        fprintf(stderr, "  %-22s %15.1f\n", "seconds", seconds);
    }
    const char *advice = a->quiet ? NULL : ""; /* --dead-letter reports each of them */
    sp_cli_reasons(readings, a->options.dead_letter ? advice : "; --dead-letter FILE keeps them");
    return sp_cli_verdict(&a->config, readings);
}

static int dedup(struct arguments *a)
{
    enum { SIGNATURES_PERCENT = 60 }; /* the rest of cache.bytes is room for the index */
    struct sp_dedup_options *o = &a->options;
    struct sp_settings settings;
    struct sp_dedup_result result;
    struct sp_readings readings = {0};
    struct sp_progress progress;
    struct sp_fault fault;
    if (sp_settings_init(&a->config, &settings, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    struct sp_buf fingerprint = {0};
    sp_buf_put_str(&fingerprint, SP_SETTINGS_DEDUP);
    sp_buf_put(&fingerprint, settings.run.fingerprint, strlen(settings.run.fingerprint) + 1);
    o->fingerprint = fingerprint.data;
    o->threads = settings.run.threads;
    o->barrier_pages = settings.run.barrier_pages;
    o->cache_bytes = settings.cache_bytes / 100 * SIGNATURES_PERCENT;
    o->text = settings.run.text;
    o->input = settings.run.input;
    o->input.fields.dataset = true;
    o->similarity = settings.run.bus.group.similarity;
    o->store = settings.run.store;
    sp_progress_start(&progress, "kept");
    progress.unit = "documents";
    progress.shown &= !a->quiet;
    o->readings = &readings;
    o->progress = sp_progress_show;
    o->progress_arg = &progress;
    double start = sp_clock_seconds();
    enum sp_err err = sp_dedup(o, &result, &fault);
    sp_progress_end(&progress);
    sp_settings_done(&settings);
    sp_buf_done(&fingerprint);
    int code = err == SP_OK ? report(a, &result, &readings, sp_clock_seconds() - start)
                            : sp_cli_failed("%s", fault.text);
    sp_readings_done(&readings);
    return code;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {0};
    sp_config_default(&a.config);
    int code = parse(command, argc, argv, &a);
    if (code < 0)
        code = dedup(&a);
    sp_config_done(&a.config);
    return code;
}

const struct sp_command sp_command_dedup = {
    "dedup", "removes near duplicates from a collection and keeps its format",
    "NAME\n"
    "  samepage dedup - removes near duplicates from a collection and keeps its format\n\n"
    "SYNOPSIS\n"
    "  samepage dedup [OPTION]... INPUT... --kept FILE [--removed FILE] [--clusters FILE]\n\n"
    "DESCRIPTION\n"
    "  Reads documents (formats as for `samepage run`) and keeps the first of those that are near\n"
    "  duplicates. No two kept documents are near duplicates, and each removed document is similar to\n"
    "  the kept one that it was removed for. Kept records are written byte for byte, in their order, as\n"
    "  lines of JSON or records of WARC; WARC records without text are kept.\n"
    "  A document without an id is named by its number in its file, from 0: if several files have such\n"
    "  documents, concatenate them, so that the lists say which is meant.\n"
    "  With --state, documents are also compared with those that earlier calls with this state kept,\n"
    "  and outputs are appended to. After a crash, repeat the call with the same arguments.\n\n"
    "OPTIONS\n"
    "  -k, --kept FILE      write the documents kept; compressed if FILE ends with .gz or .zst;\n"
    "                       - is standard output\n"
    "  -r, --removed FILE   write one line per removed document: the most similar kept one\n"
    "  -c, --clusters FILE  write one line per kept document with the ids removed for it\n"
    "  --state DIR          keep the index of kept documents there (RocksDB)\n"
    "  --dead-letter FILE   write records that cannot be read, with reason and offset\n"
    "  -t, --threshold T    same as --set similarity.threshold=T\n" SP_FIELD_HELP
    "  --config FILE        read settings from FILE\n"
    "  --set KEY=VALUE      change one setting; may be repeated\n"
    "  --help-settings      all settings, with their defaults\n"
    "  -q, --quiet          no progress bar, no summary\n"
    "  --help               this text\n\n"
    "OUTPUT\n"
    "  --removed   {\"id\",\"kept\",\"similarity\",\"reason\":\"exact|similar\"}\n"
    "  --clusters  {\"kept\",\"removed\":[{\"id\",\"similarity\"}]}\n\n"
    "EXAMPLES\n"
    "  samepage dedup articles.jsonl --kept articles.unique.jsonl --removed removed.jsonl\n\n" SP_READING_EXIT_HELP,
    run};

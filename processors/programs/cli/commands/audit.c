/* samepage audit: checks a deduplication made by any program. */
#include <stdio.h>

#include "audit/audit.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"

/* Comparisons of kept documents, to count their pairs: a few seconds. */
enum { MOST_PAIRS = 10000000 };

struct arguments {
    struct sp_audit_options options;
    bool quiet;
    struct sp_config config;
};

static int read_most(const struct sp_command *command, uint64_t *ret_most)
{
    if (!sp_cli_number(optarg, ret_most))
        return sp_cli_usage(command, "--most-pairs \"%s\": give a number of pairs, or 0 for all",
                            optarg);
    if (*ret_most == 0)
        *ret_most = UINT64_MAX;
    return -1;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {SP_LIST_OPTIONS,
                                          {"report", required_argument, NULL, 'p'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"most-pairs", required_argument, NULL, 'm'},
                                          SP_DOCUMENT_OPTIONS,
                                          {0}};
    struct sp_audit_options *o = &a->options;
    for (int c; (c = getopt_long(argc, argv, "r:k:c:p:j:t:q", table, NULL)) != -1;) {
        int code = -1;
        if (sp_cli_list(c, &o->kept, &o->removed, &o->clusters))
            continue;
        if (c == 'p')
            o->report = optarg;
        else if (c == 'j')
            o->json = optarg;
        else if (c == 'm')
            code = read_most(command, &o->most_comparisons);
        else
            code = sp_cli_document(command, c, &a->config, &a->quiet);
        if (code >= 0)
            return code;
    }
    if (optind == argc)
        return sp_cli_usage(command, "no input: name the collection before its deduplication");
    if (!o->removed == !o->kept)
        return sp_cli_usage(command, "give one list: --removed or --kept");
    o->inputs = sp_cli_inputs(argv + optind, argc - optind, &o->input_count);
    const char *files[] = {o->removed, o->kept, o->clusters, o->json};
    return sp_cli_outputs(command, files, sizeof files / sizeof *files);
}

static void print_row(const char *name, uint64_t n)
{
    fprintf(stderr, "  %-30s %15s\n", name, sp_thousands(n).text);
}

static void print_summary(const struct sp_audit_result *r)
{
    print_row("documents", r->documents);
    print_row("removed", r->removed);
    print_row("  rightly", r->right);
    print_row("  lost in a chain", r->by_chain);
    print_row("  similar to no other", r->wrong);
    if (r->wordless)
        print_row("  without words", r->wordless);
    if (r->survivor_known) {
        print_row("  for a named document", r->survivor_known);
        print_row("    that is not similar", r->survivor_unlike);
        print_row("    that was removed as well", r->survivor_gone);
    }
    if (r->survivor_unknown)
        print_row("  for one not in the input", r->survivor_unknown);
    print_row("kept, could be removed", r->missed);
    print_row(r->missed_pairs_at_least ? "  pairs of both kept, at least" : "  pairs of both kept",
              r->missed_pairs);
    if (r->missed_pairs_at_least)
        fprintf(stderr, "  not all of these pairs were compared; --most-pairs 0 compares all\n");
    if (r->clusters)
        print_row("clusters", r->clusters);
    if (r->clusters_lost)
        print_row("  without a kept document", r->clusters_lost);
    if (r->superseded)
        print_row("superseded, not judged", r->superseded);
    if (r->ambiguous) {
        print_row("ids of unlike documents", r->ambiguous);
        fprintf(stderr,
                "  the lists do not say which of these was removed: the later ones count\n");
    }
    if (r->unknown)
        print_row("ids without a document", r->unknown);
    if (r->dead_letters)
        print_row("records that cannot be read", r->dead_letters);
}

static void report(const struct arguments *a, const struct sp_audit_result *r)
{
    if (!a->quiet)
        print_summary(r);
    if (!a->quiet && a->options.report)
        fprintf(stderr, "%s/index.html is written\n", a->options.report);
}

static void on_warning(void *arg, const char *text)
{
    sp_progress_end(arg); /* the documents are read; it is drawn again only by more of them */
    fprintf(stderr, "samepage: %s\n", text);
}

static int audit(struct arguments *a)
{
    struct sp_audit_options *o = &a->options;
    struct sp_settings settings;
    struct sp_audit_result result;
    struct sp_readings readings = {0};
    struct sp_progress progress;
    struct sp_fault fault;
    if (sp_settings_init(&a->config, &settings, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    o->threads = settings.run.threads;
    o->text = settings.run.text;
    o->input = settings.run.input;
    o->input.fields.dataset = true;
    o->similarity = settings.run.bus.group.similarity;
    sp_progress_start(&progress, "distinct texts");
    progress.unit = "documents";
    progress.shown &= !a->quiet;
    o->readings = &readings;
    o->progress = sp_progress_show;
    o->progress_arg = &progress;
    o->warn = on_warning;
    o->warn_arg = &progress;
    enum sp_err err = sp_audit(o, &result, &fault);
    sp_progress_end(&progress);
    sp_settings_done(&settings);
    if (err == SP_OK)
        report(a, &result);
    sp_cli_reasons(&readings, "");
    int code =
        err == SP_OK ? sp_cli_verdict(&a->config, &readings) : sp_cli_failed("%s", fault.text);
    sp_readings_done(&readings);
    return code;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.options = {.most_comparisons = MOST_PAIRS}};
    sp_config_default(&a.config);
    int code = parse(command, argc, argv, &a);
    if (code < 0)
        code = audit(&a);
    sp_config_done(&a.config);
    return code;
}

const struct sp_command sp_command_audit = {
    "audit", "checks a deduplication made by any program",
    "NAME\n"
    "  samepage audit - checks a deduplication made by any program\n\n"
    "SYNOPSIS\n"
    "  samepage audit --removed FILE [--clusters FILE] [--report DIR] [--json FILE] INPUT...\n"
    "  samepage audit --kept FILE [--clusters FILE] [--report DIR] [--json FILE] INPUT...\n\n"
    "DESCRIPTION\n"
    "  INPUT is the collection before the deduplication (formats as for `samepage dedup`). The lists\n"
    "  name what samepage, text-dedup, datatrove, datasketch or your own program removed or kept.\n"
    "  Similarities are exact up to signature.max_shingles. A removed document was removed correctly\n"
    "  if a kept one is similar to it; lost in a chain if only other removed ones are; and wrongly if\n"
    "  no document is. A kept document could be removed if an earlier kept one is similar to it.\n\n"
    "  A list has a line per document: its id, as text or JSON; or an object with \"id\" or \"url\"\n"
    "  (or the field of --id-field) and perhaps the document it was removed for (\"kept\", \"survivor\",\n"
    "  \"duplicate_of\", \"winner_url\") or its cluster (\"cluster\", \"cluster_id\", \"__cluster__\",\n"
    "  \"minhash_cluster_id\", also in \"metadata\"); in --clusters also {\"kept\",\"removed\":[...]} or an\n"
    "  array of ids. If several documents have one id, a line means the one that has the line's text;\n"
    "  else the one that resembles the document it names; else all but the first. In statuses of\n"
    "  `samepage run` the last line of a page counts: it judges the latest fetch, and no earlier one.\n\n"
    "OPTIONS\n"
    "  -r, --removed FILE  the documents removed\n"
    "  -k, --kept FILE     or the documents kept; all others were removed\n"
    "  -c, --clusters FILE the clusters that the deduplication found\n"
    "  --report DIR        write a page there: figures, what each source lost, chains, examples\n"
    "  --json FILE         write the figures as JSON; - is standard output\n"
    "  --most-pairs N      compare at most N pairs of kept documents to count near duplicates; default\n"
    "                      10M, 0: no limit. If N do not suffice, the count is marked as a lower bound\n"
    "  -t, --threshold T   same as --set similarity.threshold=T\n" SP_FIELD_HELP
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  -q, --quiet         no progress bar, no summary\n"
    "  --help              this text\n\n"
    "EXAMPLES\n"
    "  samepage audit --removed removed.jsonl --clusters clusters.jsonl articles.jsonl --report audit\n"
    "  samepage audit --kept out/kept.jsonl articles.jsonl --id-field id --text-field text --json -\n\n" SP_READING_EXIT_HELP,
    run};

/* samepage run: the main job on one machine. */
#include <stdio.h>
#include <sys/resource.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"

struct arguments {
    const char *state;
    const char *output;
    const char *groups;
    const char *dead_letter;
    const char *summary; /* file for the summary as JSON */
    bool verify;
    bool quiet;
    struct sp_config config;
};

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option options[] = {{"state", required_argument, NULL, 's'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"groups", required_argument, NULL, 'g'},
                                            {"dead-letter", required_argument, NULL, 'd'},
                                            {"summary", required_argument, NULL, 'j'},
                                            {"verify", no_argument, NULL, 'v'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            SP_COMMON_OPTIONS,
                                            SP_FIELD_OPTIONS,
                                            SP_SETTING_OPTIONS,
                                            {0}};
    for (int c; (c = getopt_long(argc, argv, "o:q", options, NULL)) != -1;) {
        switch (c) {
        case 's':
            a->state = optarg;
            break;
        case 'o':
            a->output = optarg;
            break;
        case 'g':
            a->groups = optarg;
            break;
        case 'd':
            a->dead_letter = optarg;
            break;
        case 'j':
            a->summary = optarg;
            break;
        case 'v':
            a->verify = true;
            break;
        case 'q':
            a->quiet = true;
            break;
        default: {
            int code = sp_cli_common(command, c, &a->config);
            if (code >= 0)
                return code;
        }
        }
    }
    if (optind == argc)
        return sp_cli_usage(command, "no input: name files, or - for standard input");
    return -1;
}

static double per_second(uint64_t n, double seconds)
{
    return seconds > 0 ? (double)n / seconds : 0;
}

static uint64_t peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static void print_row(const char *name, uint64_t n)
{
    fprintf(stderr, "  %-22s %15s\n", name, sp_thousands(n).text);
}

static void print_summary(const struct sp_run_result *r)
{
    const uint64_t *status = r->totals.status_counts;
    uint64_t known = status[SP_STATUS_UNIQUE] + status[SP_STATUS_WINNER] + status[SP_STATUS_LOSER] +
                     status[SP_STATUS_GONE];
    print_row("records read", r->records);
    if (r->skipped)
        print_row("  handled before", r->skipped);
    if (r->ignored)
        print_row("  saying nothing", r->ignored);
    if (r->stats.group.again_unknown)
        print_row("  again, of unknown", r->stats.group.again_unknown);
    if (r->cut)
        print_row("  cut at text.max_bytes", r->cut);
    if (r->dead_letters)
        print_row("  dead letters", r->dead_letters);
    print_row("pages", known);
    print_row("  unique", status[SP_STATUS_UNIQUE]);
    print_row("  winners", status[SP_STATUS_WINNER]);
    print_row("  losers", status[SP_STATUS_LOSER]);
    print_row("  gone", status[SP_STATUS_GONE]);
    if (r->stats.contain.pages)
        print_row("contained in others", r->stats.contain.contained);
    print_row("groups", r->totals.groups);
    print_row("  of two and more", r->totals.duplicates);
    print_row("status events", r->events);
    if (r->audit.asked > 0) {
        print_row("watched pages", r->audit.pages);
        print_row("  similar, judged", r->audit.judged);
    }
    fprintf(stderr, "  %-22s %15.1f\n", "seconds", r->seconds);
    print_row("records/s", (uint64_t)per_second(r->records, r->seconds));
    fprintf(stderr, "  %-22s %15.1f\n", "MB/s of content", 1e-6 * per_second(r->bytes, r->seconds));
    if (known && r->disk_bytes)
        print_row("bytes per page on disk", r->disk_bytes / known);
}

static void write_kinds(FILE *out, const uint64_t *messages)
{
    fputs(",\"messages_by_kind\":{", out);
    for (int kind = SP_MSG_CRAWLED; kind < SP_MSG_KINDS; kind++)
        fprintf(out, "%s\"%s\":%llu", kind > SP_MSG_CRAWLED ? "," : "",
                sp_message_name((enum sp_message_kind)kind), (unsigned long long)messages[kind]);
    fputs("}", out);
}

static void write_audit(FILE *out, const struct sp_watching_report *report)
{
    struct sp_buf json = {0};
    sp_watching_put_json(report, &json);
    fprintf(out, ",\"audit\":{%.*s}", (int)json.len, json.data);
    sp_buf_done(&json);
}

/* Prints what the audit found, also with --quiet: there should be nothing. */
static void print_audit(const struct sp_watching_report *report)
{
    if (report->missing + report->wrong == 0)
        return;
    fprintf(stderr,
            "samepage: audit: of the watched pages, %s pairs of near duplicates are missing and %s "
            "statuses are wrong (docs/AUDIT.md); the first:\n[%.*s]\n",
            sp_thousands(report->missing).text, sp_thousands(report->wrong).text,
            (int)report->examples.len, report->examples.data);
}

static bool write_summary(const char *name, const struct sp_run_result *r)
{
    FILE *out = sp_cli_summary_open(name);
    if (!out)
        return false;
    const uint64_t *status = r->totals.status_counts;
    const struct sp_local_bus_stats *s = &r->stats;
    const struct sp_db_counts *db = &r->store;
#define N(field, value) fprintf(out, ",\"%s\":%llu", field, (unsigned long long)(value))
    fprintf(out, "{\"seconds\":%.3f,\"verify_seconds\":%.3f", r->seconds, r->verify_seconds);
    N("records", r->records), N("skipped", r->skipped), N("ignored", r->ignored);
    N("cut", r->cut), N("dead_letters", r->dead_letters), N("content_bytes", r->bytes),
        N("events", r->events);
    N("unique", status[SP_STATUS_UNIQUE]), N("winners", status[SP_STATUS_WINNER]);
    N("losers", status[SP_STATUS_LOSER]), N("gone", status[SP_STATUS_GONE]);
    N("groups", r->totals.groups), N("duplicate_groups", r->totals.duplicates);
    N("differences", r->differences), N("disk_bytes", r->disk_bytes);
    N("peak_memory_bytes", peak_memory()), N("messages", s->messages);
    N("edges_sent", s->edges_sent), N("members_sent", s->members_sent);
    N("largest_message", s->largest_message);
    N("merges", s->group.merges), N("splits", s->group.splits), N("put_off", s->group.put_off);
    N("told_later", s->group.told_later), N("split_later", s->group.split_later);
    N("settled", s->group.settled), N("left_alone", s->group.left_alone);
    N("rechecks", s->group.rechecks);
    N("bounces", s->group.bounces), N("relinks", s->group.relinks);
    N("unchanged", s->group.unchanged), N("late", s->group.late);
    N("again_unknown", s->group.again_unknown);
    N("compared", s->group.compared), N("repairs", s->group.repairs);
    N("repair_compared", s->group.repair_compared);
    N("held_against", s->group.held_against), N("searched", s->group.searched);
    N("hub_probes", s->group.hub_probes);
    N("taking", s->group.taking), N("hops", s->group.hops);
    N("tier1_cache_bytes", s->group.cache_bytes), N("rows", s->compare.rows);
    N("probes", s->compare.probes), N("contacts", s->compare.contacts);
    N("candidates", s->compare.candidates), N("postings", s->compare.postings);
    N("star_probes", s->compare.star_probes), N("matches", s->compare.matches);
    N("row_loads", s->compare.row_loads), N("index_bytes", s->compare.index_bytes);
    N("tier2_cache_bytes", s->compare.cache_bytes);
    N("signature_loads", s->contents.loads);
    N("signature_cache_bytes", s->contents.cache_bytes);
    if (s->contain.pages) {
        N("contained", s->contain.contained), N("contain_searches", s->contain.searches);
        N("contain_postings", s->contain.postings);
        N("contain_moved", s->contain.moved);
        N("contain_candidates", s->contain.candidates);
        N("contain_changes", s->contain.changes);
        N("contain_boilerplate", s->contain.boilerplate);
        N("contain_index_bytes", s->contain.index_bytes);
    }
    N("gets", db->gets), N("rows_read", db->rows_read), N("bytes_read", db->bytes_read);
    N("rows_put", db->rows_put), N("rows_deleted", db->rows_deleted);
    N("bytes_written", db->bytes_written), N("largest_commit", db->largest_commit);
#undef N
    if (r->audit.asked > 0)
        write_audit(out, &r->audit);
    write_kinds(out, s->messages_by_kind);
    fputs(",\"rates\":[", out);
    for (size_t i = 0; i < r->rate_count; i++)
        fprintf(out, "%s{\"pages_per_s\":%.0f,\"pages_per_cpu_s\":%.0f}", i ? "," : "",
                r->rates[i].by_clock, r->rates[i].by_cpu);
    fputs("]}\n", out);
    return sp_cli_summary_close(out, name);
}

/* Printed with --quiet as well: whoever expects the results of one run would misread the file. */
static void print_appended(const char *name, uint64_t before)
{
    struct sp_fault said;
    if (before == 0)
        return;
    sp_fault_set(&said, SP_OK,
                 "%s: was not empty: what this run wrote begins at byte %llu; for a file of its "
                 "own, name another one or delete this one first",
                 name, (unsigned long long)before);
    fprintf(stderr, "samepage: %s\n", said.text);
}

/* Prints the result; returns the exit code. */
static int report(const struct arguments *a, struct sp_run_result *r, struct sp_readings *readings)
{
    /* Reasons are printed with --quiet as well, unless --dead-letter reports each of them. */
    const char *advice = a->quiet ? NULL : "";
    if (!a->quiet)
        print_summary(r);
    sp_cli_reasons(readings, a->dead_letter ? advice : "; --dead-letter FILE keeps them");
    print_audit(&r->audit);
    print_appended(a->output, r->output_before);
    print_appended(a->dead_letter, r->dead_letter_before);
    if (a->summary && !write_summary(a->summary, r))
        return SP_EXIT_FAILED;
    if (a->config.partition_previous_map[0] && a->state && !a->quiet)
        fprintf(stderr,
                "samepage: all pages are in cells of partition.map; the state does not need "
                "partition.previous_map any more\n");
    int code = sp_cli_verdict(&a->config, readings);
    if (!a->verify)
        return code;
    if (r->differences)
        return sp_cli_failed("verify: %s differences from the groups computed from scratch",
                             sp_thousands(r->differences).text);
    fprintf(stderr, "verify: no difference from the groups computed from scratch\n");
    return code;
}

static int run_inputs(const struct sp_command *command, const struct arguments *a, int argc,
                      char **argv)
{
    struct sp_settings settings;
    struct sp_run_result result;
    struct sp_readings readings = {0};
    struct sp_progress progress;
    struct sp_fault fault;
    size_t count;
    const char *const *inputs = sp_cli_inputs(argv + optind, argc - optind, &count);
    const char *outputs[] = {a->output, a->groups, a->dead_letter, a->summary};
    int code = sp_cli_outputs(command, outputs, sizeof outputs / sizeof *outputs);
    if (code < 0)
        code = sp_cli_outputs_beside(a->state, outputs, sizeof outputs / sizeof *outputs);
    if (code >= 0)
        return code;
    if (sp_settings_init(&a->config, &settings, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    struct sp_run_options options = settings.run;
    options.inputs = inputs;
    options.input_count = count;
    options.state = a->state;
    options.output = a->output;
    options.groups = a->groups;
    options.dead_letter = a->dead_letter;
    options.totals = !a->quiet || a->summary;
    options.verify = a->verify;
    options.ends_process = true;
    options.readings = &readings;
    sp_progress_start(&progress, "groups");
    progress.unit = "records";
    progress.shown &= !a->quiet;
    options.progress = sp_progress_show;
    options.progress_arg = &progress;
    enum sp_err err = sp_run(&options, &result, &fault);
    sp_progress_end(&progress);
    sp_settings_done(&settings);
    code = err == SP_OK ? report(a, &result, &readings) : sp_cli_failed("%s", fault.text);
    sp_run_result_done(&result);
    sp_readings_done(&readings);
    return code;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.output = "-"};
    sp_config_default(&a.config);
    int code = parse(command, argc, argv, &a);
    if (code < 0)
        code = run_inputs(command, &a, argc, argv);
    sp_config_done(&a.config);
    return code;
}

const struct sp_command sp_command_run = {
    "run", "the main job on one machine: crawled pages in, duplicate statuses out",
    "NAME\n"
    "  samepage run - the main job on one machine: crawled pages in, duplicate statuses out\n\n"
    "SYNOPSIS\n"
    "  samepage run [OPTION]... INPUT...\n\n"
    "DESCRIPTION\n"
    "  Groups the near duplicates among crawled pages, and writes a status event for each new version\n"
    "  of a page and for each other page whose status changes. INPUT: JSONL, a JSON array, CSV, TSV,\n"
    "  WARC, WET, ARC, Avro or a MediaWiki dump, plain, .gz or .zst; a folder of such files or of\n"
    "  texts; - for standard input. A JSONL line has \"url\", \"content\", and optionally\n"
    "  \"fetch_time_ms\", \"http_status\", \"redirect_url\", \"content_type\", \"popularity\".\n"
    "  Use the same --state again to add input. After a crash, repeat the command: nothing is lost.\n\n"
    "OPTIONS\n"
    "  --state DIR         keep the state in DIR (RocksDB); without it, in memory\n"
    "  -o, --output FILE   append status events to FILE, for this job only; default: standard output\n"
    "  --groups FILE       at the end, write all groups to FILE, one JSON line each\n"
    "  --dead-letter FILE  append records that cannot be read, with reason and offset\n"
    "  --summary FILE      at the end, write all counts to FILE, as JSON; - is standard output\n"
    "  --verify            at the end, compare all groups with those computed from scratch\n" SP_FIELD_HELP
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  -q, --quiet         no progress bar, no summary\n"
    "  --help              this text\n\n"
    "OUTPUT\n"
    "  {\"url\",\"version_ms\",\"status\",\"winner_url\",\"similarity\",\"reason\",\"group_id\",\"group_size\",\n"
    "   \"epoch\",\"rule\"} and, with containment.threshold, \"contained_in\",\"containment\". The last\n"
    "  event of a URL is its status: unique, winner, loser or gone.\n\n"
    "EXAMPLES\n"
    "  samepage synth --pages 20000 | samepage run --groups groups.jsonl -o status.jsonl -\n\n"
    "EXIT STATUS\n"
    "  0 done; 1 failed, too much unreadable (input.max_unreadable), or --verify differs; 2 wrong usage\n",
    run};

/* samepage cover: the fewest documents that cover an archive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cover/cover.h"

struct arguments {
    const char *summary;
    bool explain;
    bool quiet;
    struct sp_config config;
    struct sp_cover_options cover;
};

static int read_quota(const struct sp_command *command, const char *option, uint32_t *ret_quota)
{
    uint64_t x;
    if (!sp_cli_number(optarg, &x) || x < 1 || x > UINT32_MAX)
        return sp_cli_usage(command, "%s \"%s\": give a number of documents, 1 or more", option,
                            optarg);
    *ret_quota = (uint32_t)x;
    return -1;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {{"relation", required_argument, NULL, 'r'},
                                          {"where", required_argument, NULL, 'w'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"summary", required_argument, NULL, 'j'},
                                          {"weight", required_argument, NULL, 'g'},
                                          {"host-least", required_argument, NULL, 'l'},
                                          {"host-most", required_argument, NULL, 'm'},
                                          {"temp", required_argument, NULL, 't'},
                                          {"explain", no_argument, NULL, 'x'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          SP_COMMON_OPTIONS,
                                          SP_FIELD_OPTIONS,
                                          SP_SETTING_OPTIONS,
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "r:o:q", table, NULL)) != -1;) {
        int code = -1;
        if (c == 'r')
            a->cover.relation = optarg;
        else if (c == 'w')
            a->cover.filter = optarg;
        else if (c == 'o')
            a->cover.output = optarg;
        else if (c == 'j')
            a->summary = optarg;
        else if (c == 'g')
            a->cover.weight = optarg;
        else if (c == 'l')
            code = read_quota(command, "--host-least", &a->cover.host_least);
        else if (c == 'm')
            code = read_quota(command, "--host-most", &a->cover.host_most);
        else if (c == 't')
            a->cover.temp = optarg;
        else if (c == 'x')
            a->explain = true;
        else if (c == 'q')
            a->quiet = true;
        else
            code = sp_cli_common(command, c, &a->config);
        if (code >= 0)
            return code;
    }
    if (!a->cover.relation)
        return sp_cli_usage(
            command, "no --relation: the condition under which document b covers document a");
    if (a->cover.host_most && a->cover.host_least > a->cover.host_most)
        return sp_cli_usage(command, "--host-least is more than --host-most");
    if (optind == argc && !a->explain)
        return sp_cli_usage(command, "no input: name files, or - for standard input");
    a->cover.inputs = sp_cli_inputs(argv + optind, argc - optind, &a->cover.input_count);
    const char *outputs[] = {a->cover.output, a->summary};
    return sp_cli_outputs(command, outputs, sizeof outputs / sizeof *outputs);
}

static void settings(struct arguments *a)
{
    const struct sp_config *c = &a->config;
    struct sp_cover_options *o = &a->cover;
    const char *temp = getenv("TMPDIR");
    sp_settings_text(c, &o->text);
    sp_settings_input(c, &o->input);
    o->threads = (uint32_t)c->threads;
    o->memory_bytes = c->cover_memory_bytes;
    o->coverers = (uint32_t)c->cover_coverers;
    o->exact_documents = (uint32_t)c->cover_exact_documents;
    if (!o->temp)
        o->temp = temp && *temp ? temp : "/tmp";
}

static void on_progress(void *arg, enum sp_cover_phase phase, uint64_t done, uint64_t total)
{
    static const char *const names[SP_COVER_PHASES] = {"reading", "comparing", "choosing",
                                                       "writing"};
    sp_progress_phase(arg, names[phase], done, total);
}

static void print_share(const char *name, uint64_t kept, uint64_t all)
{
    fprintf(stderr, "  %-22s %18s of %s, %.1f %% less\n", name, sp_thousands(kept).text,
            sp_thousands(all).text, all ? 100 - 100.0 * (double)kept / (double)all : 0);
}

static void print_summary(const struct sp_cover_result *r)
{
    print_share("documents kept", r->kept, r->documents);
    print_share("bytes kept", r->kept_bytes, r->bytes);
    fprintf(stderr, "  %-22s %18s\n", "different texts", sp_thousands(r->contents).text);
    fprintf(stderr, "  %-22s %18s in %s components, the largest of %s\n", "related pairs",
            sp_thousands(r->arcs).text, sp_thousands(r->components).text,
            sp_thousands(r->largest).text);
    fprintf(stderr, "  %-22s %18s parts; %s greedily, %s not proven\n", "solved exactly",
            sp_thousands(r->exact).text, sp_thousands(r->greedy).text,
            sp_thousands(r->stopped).text);
    if (r->not_asked)
        fprintf(stderr, "  %-22s %18s of large groups: cover.coverers others cover each\n",
                "not tried as covers", sp_thousands(r->not_asked).text);
    if (r->added)
        fprintf(stderr, "  %-22s %18s\n", "kept for --host-least", sp_thousands(r->added).text);
    if (r->left_out)
        fprintf(stderr, "  %-22s %18s\n", "left out, --host-most", sp_thousands(r->left_out).text);
    if (r->filtered)
        fprintf(stderr, "  %-22s %18s\n", "left out by --where", sp_thousands(r->filtered).text);
    if (r->dead_letters)
        fprintf(stderr, "  %-22s %18s\n", "could not be read", sp_thousands(r->dead_letters).text);
}

static bool write_summary(const char *name, const struct sp_cover_result *r)
{
    struct rusage usage = {0};
    FILE *out = sp_cli_summary_open(name);
    if (!out)
        return false;
    getrusage(RUSAGE_SELF, &usage);
#define N(field, value) fprintf(out, ",\"%s\":%llu", field, (unsigned long long)(value))
    fprintf(out, "{\"records\":%llu", (unsigned long long)r->records);
    N("dead_letters", r->dead_letters), N("filtered", r->filtered), N("documents", r->documents);
    N("kept", r->kept), N("bytes", r->bytes), N("kept_bytes", r->kept_bytes);
    N("contents", r->contents), N("shingles", r->shingles), N("standing", r->standing);
    N("pairs", r->arcs), N("components", r->components), N("largest", r->largest);
    N("postings", r->postings), N("blocks", r->blocks);
    N("candidates", r->candidates), N("exact", r->exact);
    N("not_asked", r->not_asked);
    N("added", r->added), N("left_out", r->left_out);
    fprintf(out, ",\"weight\":%.17g", r->weight);
    N("greedy", r->greedy), N("stopped", r->stopped);
    N("peak_memory_bytes", (uint64_t)usage.ru_maxrss * 1024);
#undef N
    fputs("}\n", out);
    return sp_cli_summary_close(out, name);
}

/* Reports an error; a relation that cannot be parsed is wrong usage. */
static int complain(const struct sp_command *command, enum sp_err err, const char *message)
{
    return err == SP_INVALID ? sp_cli_usage(command, "%s", message) : sp_cli_failed("%s", message);
}

static int explain(const struct sp_command *command, const struct arguments *a)
{
    struct sp_buf out = {0};
    struct sp_fault fault;
    enum sp_err err = sp_cover_explain(a->cover.relation, a->cover.filter, &out, &fault);
    if (err == SP_OK)
        fwrite(out.data, 1, out.len, stdout);
    sp_buf_done(&out);
    return err == SP_OK ? SP_EXIT_DONE : complain(command, err, fault.text);
}

static int cover(const struct sp_command *command, struct arguments *a)
{
    struct sp_cover_result result;
    struct sp_readings readings = {0};
    struct sp_progress progress;
    struct sp_fault fault;
    int code;
    settings(a);
    sp_progress_start(&progress, NULL);
    progress.shown &= !a->quiet;
    a->cover.readings = &readings;
    a->cover.progress = on_progress;
    a->cover.progress_arg = &progress;
    enum sp_err err = sp_cover(&a->cover, &result, &fault);
    sp_progress_end(&progress);
    if (err == SP_OK && !a->quiet)
        print_summary(&result);
    sp_cli_reasons(&readings, "");
    if (err != SP_OK)
        code = complain(command, err, fault.text);
    else if (a->summary && !write_summary(a->summary, &result))
        code = SP_EXIT_FAILED;
    else
        code = sp_cli_verdict(&a->config, &readings);
    sp_readings_done(&readings);
    return code;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.cover = {.output = "-"}};
    sp_config_default(&a.config);
    int code = parse(command, argc, argv, &a);
    if (code < 0)
        code = a.explain ? explain(command, &a) : cover(command, &a);
    sp_config_done(&a.config);
    return code;
}

const struct sp_command sp_command_cover = {
    "cover", "the fewest documents that cover an archive, by a relation that you write",
    "NAME\n"
    "  samepage cover - the fewest documents that cover an archive\n\n"
    "SYNOPSIS\n"
    "  samepage cover --relation CONDITION [--where CONDITION] [OPTION]... INPUT...\n\n"
    "DESCRIPTION\n"
    "  Chooses as few documents as possible, such that each other document is covered by a chosen one.\n"
    "  Every version of a URL with content is a document (formats as for `samepage run`). Document a is\n"
    "  covered by document b if the relation holds; docs/OPERATIONS.md describes its language.\n"
    "    measures    containment(a, b): the share of a's 5-word shingles that b has; jaccard, dice\n"
    "    fields      a.url a.host a.timestamp a.mime a.title a.language a.popularity a.length\n"
    "                a.shingles a.bytes a.versions a.text; and of b\n"
    "    values      0.7, \"text\", 7d 12h 30m 45s 250ms 2w, 2024-05-01, 2024-05-01T12:30:00Z\n"
    "    operators   = != < > <= >= + - * / abs() && || ! (); of texts: starts_with, ends_with, matches,\n"
    "                contains(a.text, \"words\"), a.host in (\"one.example\", \"two.example\")\n"
    "  In --where, a condition on one document, fields stand alone: host = \"example.org\".\n\n"
    "OPTIONS\n"
    "  -r, --relation COND  when a is covered by b\n"
    "  --where COND         only documents for which this holds\n"
    "  --weight VALUE       minimise the sum of this number (e.g. bytes), not that of documents\n"
    "  --host-least N       keep at least N documents of each host, or all that there are\n"
    "  --host-most N        keep at most N documents of each host, those that cover most\n"
    "  -o, --output FILE    write there; default: standard output\n"
    "  --summary FILE       write counts and sizes as JSON; - is standard output\n"
    "  --explain            print how the relation is parsed and which index finds its pairs, and stop\n"
    "  --temp DIR           for temporary files, 4 bytes a shingle and the URLs; default: TMPDIR, or /tmp\n" SP_FIELD_HELP
    "  --config FILE        read settings from FILE\n"
    "  --set KEY=VALUE      change one setting; may be repeated\n"
    "  --help-settings      all settings, with their defaults\n"
    "  -q, --quiet          no progress bar, no summary\n"
    "  --help               this text\n\n"
    "OUTPUT, a line for each document in order of the input\n"
    "  {\"record\",\"url\",\"fetch_time_ms\",\"status\":\"kept\",\"covers\"}, or with the status \"dropped\"\n"
    "  \"by_record\",\"by_url\",\"by_fetch_time_ms\",\"containment\"; \"left_out\" (--host-most): neither\n\n"
    "EXAMPLES\n"
    "  samepage cover --relation 'containment(a, b) >= 0.7 && a.host = b.host' crawl.warc.gz\n\n" SP_READING_EXIT_HELP,
    run};

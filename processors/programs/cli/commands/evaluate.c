/* samepage evaluate: the paper's evaluation on traces, as a report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "evaluate/evaluate.h"

enum { NAMES_MAX = 64, NAME_BYTES = 32 };

struct arguments {
    struct sp_evaluate_options evaluate;
    struct sp_config config;
    char names[NAMES_MAX][NAME_BYTES];
    const char *only[NAMES_MAX];
    const char *labelled[NAMES_MAX];
    const char *keys[NAMES_MAX];
    bool quiet;
};

struct waiting {
    bool quiet;
    bool shown;
    char what[128]; /* in progress, since start_ms */
    int64_t start_ms;
};

enum { SURE_MS = 1000 /* earlier, an estimate would be a guess */ };

static void show(void *arg, const char *what, uint64_t done, uint64_t of)
{
    struct waiting *w = arg;
    if (!w->shown)
        return;
    if (strncmp(w->what, what, sizeof w->what - 1) != 0) {
        snprintf(w->what, sizeof w->what, "%s", what);
        w->start_ms = sp_clock_ms();
    }
    int64_t took_ms = sp_clock_ms() - w->start_ms;
    fprintf(stderr, "\r\033[K%s", what);
    if (of)
        fprintf(stderr, "  %.0f %%", 100 * (double)done / (double)of);
    if (of && done && done < of && took_ms > SURE_MS)
        fprintf(stderr, ", about %.0f s left",
                (double)took_ms / 1000 * (double)(of - done) / (double)done);
    fflush(stderr);
}

/* Rounds up, to five seconds or one minute: "40 seconds", "3 minutes". */
static struct sp_thousands in_words(double seconds, const char **ret_unit)
{
    bool minutes = seconds >= 90;
    *ret_unit = minutes ? "minutes" : "seconds";
    return sp_thousands(minutes ? (uint64_t)(seconds / 60 + 0.999)
                                : (uint64_t)(seconds / 5 + 1) * 5);
}

/* Prints the expected duration if it is more than a few seconds. The range allows for differences
 * of machines and contents. */
static void expect(void *arg, size_t experiments, size_t contents, double seconds)
{
    enum { WORTH_SECONDS = 10 };
    const struct waiting *w = arg;
    const char *least_unit, *most_unit;
    struct sp_thousands least = in_words(seconds / 2, &least_unit);
    struct sp_thousands most = in_words(seconds * 2, &most_unit);
    if (w->quiet || seconds < WORTH_SECONDS)
        return;
    fprintf(stderr, "%ssamepage: %zu experiments on %s distinct contents: about %s%s%s to %s %s\n",
            w->shown ? "\r\033[K" : "", experiments, sp_thousands(contents).text, least.text,
            least_unit == most_unit ? "" : " ", least_unit == most_unit ? "" : least_unit,
            most.text, most_unit);
}

/* Adds each name of a list "a,b". */
static int add_names(const struct sp_command *command, struct arguments *a, const char *list)
{
    SP_ASSERT(list);
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        size_t *count = &a->evaluate.only_count;
        if (*count == NAMES_MAX)
            return sp_cli_usage(command, "\"%s\": too many experiments", list);
        char *name = a->names[*count];
        int len = snprintf(name, NAME_BYTES, "%.*s", (int)n, at);
        if (len >= NAME_BYTES || !sp_experiment_named(name))
            return sp_cli_usage(command, "there is no experiment \"%.*s\"; --list names them",
                                (int)n, at);
        a->only[(*count)++] = name;
        at += n + (at[n] == ',');
    }
    return -1;
}

/* Parses a number above 0, with an optional K, M or G; returns 0 if it is not one. */
static double positive(const char *text, size_t len)
{
    static const char units[] = "KMG";
    char copy[32], *end;
    if (len == 0 || len >= sizeof copy)
        return 0;
    memcpy(copy, text, len);
    copy[len] = 0;
    double x = strtod(copy, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        x *= 1000;
    return end[unit != NULL] || !(x > 0 && x < 1e18) ? 0 : x;
}

/* Parses parameters of the cost model ("price=0.5,rate=20M"), and selects Figure 9. */
static int add_cost(const struct sp_command *command, struct arguments *a, const char *list)
{
    struct sp_cost_options *c = &a->evaluate.cost;
    const struct {
        const char *name;
        double *at;
        double most;
    } parameters[] = {{"pages", &c->pages, 1e15},         {"rate", &c->rate, 1e15},
                      {"cores", &c->cores, 1e6},          {"utilisation", &c->utilisation, 1},
                      {"memory", &c->memory_gib, 1e9},    {"price", &c->price, 1e9},
                      {"hours", &c->hours, 1e6},          {"index", &c->index_bytes, 1e6},
                      {"online", &c->online_pages, 1e12}, {"replicas", &c->replicas, 1e3}};
    enum { COUNT = sizeof parameters / sizeof *parameters };
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ","), name = strcspn(at, "="), i = 0;
        double x = name < n ? positive(at + name + 1, n - name - 1) : 0;
        while (i < COUNT &&
               (strlen(parameters[i].name) != name || strncmp(parameters[i].name, at, name) != 0))
            i++;
        if (i == COUNT || x <= 0 || x > parameters[i].most)
            return sp_cli_usage(
                command,
                "--cost \"%.*s\": give pages, rate, cores, utilisation (at most 1), "
                "memory (GiB), price, hours, index, online, replicas, as price=0.5,rate=20M",
                (int)n, at);
        *parameters[i].at = x;
        at += n + (at[n] == ',');
    }
    return add_names(command, a, "figure9");
}

static int list_experiments(void)
{
    const struct sp_experiment *e;
    for (size_t i = 0; (e = sp_experiment_at(i)); i++)
        printf("%-12s %s\n", e->name, e->title);
    return SP_EXIT_DONE;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {{"report", required_argument, NULL, 'r'},
                                          {"only", required_argument, NULL, 'n'},
                                          {"cost", optional_argument, NULL, 'c'},
                                          {"labelled", required_argument, NULL, 'd'},
                                          {"keys", required_argument, NULL, 'k'},
                                          {"term", required_argument, NULL, 't'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          SP_COMMON_OPTIONS,
                                          SP_FIELD_OPTIONS,
                                          SP_SETTING_OPTIONS,
                                          {0}};
    const char *temp = getenv("TMPDIR");
    for (int c; (c = getopt_long(argc, argv, "r:q", table, NULL)) != -1;) {
        int code = -1;
        if (c == 'r')
            a->evaluate.report = optarg;
        else if (c == 'n')
            code = add_names(command, a, optarg);
        else if (c == 'c')
            code = add_cost(command, a, optarg ? optarg : "");
        else if (c == 'k' && a->evaluate.key_count < NAMES_MAX)
            a->keys[a->evaluate.key_count++] = optarg;
        else if (c == 'd' && a->evaluate.labelled_count < NAMES_MAX)
            a->labelled[a->evaluate.labelled_count++] = optarg;
        else if (c == 't')
            a->evaluate.term = optarg;
        else if (c == 'l')
            code = list_experiments();
        else if (c == 'q')
            a->quiet = true;
        else
            code = sp_cli_common(command, c, &a->config);
        if (code >= 0)
            return code;
    }
    if (optind == argc && a->evaluate.labelled_count == 0)
        return sp_cli_usage(command, "no trace: name files, or - for standard input");
    /* The experiments that use labelled pages. */
    if (optind == argc && a->evaluate.only_count == 0) {
        a->only[a->evaluate.only_count++] = "methods";
        a->only[a->evaluate.only_count++] = "huang";
    }
    if (temp && *temp)
        a->evaluate.temp = temp;
    if (!a->evaluate.report)
        return sp_cli_usage(command, "no --report: the directory that the report is written to");
    a->evaluate.traces = sp_cli_inputs(argv + optind, argc - optind, &a->evaluate.trace_count);
    return -1;
}

static bool plain(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "-_./=,:+@%") == strlen(text);
}

/* Writes the command line so that a shell can run it again. getopt has reordered the arguments. */
static void put_command(struct sp_buf *out, int argc, char **argv)
{
    sp_buf_put_str(out, argv[0]); /* "samepage evaluate" */
    for (int i = 1; i < argc; i++) {
        sp_buf_put_u8(out, ' ');
        if (plain(argv[i])) {
            sp_buf_put_str(out, argv[i]);
            continue;
        }
        sp_buf_put_u8(out, '\'');
        for (const char *c = argv[i]; *c; c++)
            if (*c == '\'')
                sp_buf_put_str(out, "'\\''");
            else
                sp_buf_put_u8(out, (uint8_t)*c);
        sp_buf_put_u8(out, '\'');
    }
    sp_buf_put_u8(out, 0);
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments *a = sp_calloc(1, sizeof *a);
    struct sp_settings settings = {0};
    struct sp_readings readings = {0};
    struct sp_buf line = {0};
    struct sp_fault fault;
    struct sp_progress progress;
    sp_config_default(&a->config);
    sp_evaluate_options_default(&a->evaluate);
    a->evaluate.only = a->only;
    a->evaluate.labelled = a->labelled;
    a->evaluate.keys = a->keys;
    int code = parse(command, argc, argv, a);
    if (code < 0 && sp_settings_init(&a->config, &settings, &fault) != SP_OK)
        code = sp_cli_failed("%s", fault.text);
    if (code < 0) {
        put_command(&line, argc, argv);
        a->evaluate.input = settings.run.input;
        a->evaluate.text = settings.run.text;
        a->evaluate.threads = settings.run.threads;
        a->evaluate.explore = a->config.predict_explore;
        a->evaluate.bus = settings.run.bus;
        a->evaluate.readings = &readings;
        a->evaluate.command = line.data;
        a->evaluate.settings = settings.fingerprint.data;
        sp_progress_start(&progress, NULL);
        struct waiting waiting = {.quiet = a->quiet, .shown = progress.shown && !a->quiet};
        a->evaluate.progress = show;
        a->evaluate.progress_arg = &waiting;
        a->evaluate.expect = expect;
        enum sp_err err = sp_evaluate(&a->evaluate, &fault);
        if (waiting.shown)
            fputs("\r\033[K", stderr);
        if (err == SP_OK && !a->quiet)
            fprintf(stderr, "%s/index.html is written\n", a->evaluate.report);
        sp_cli_reasons(&readings, "");
        code =
            err == SP_OK ? sp_cli_verdict(&a->config, &readings) : sp_cli_failed("%s", fault.text);
    }
    sp_readings_done(&readings);
    sp_buf_done(&line);
    sp_settings_done(&settings);
    sp_config_done(&a->config);
    sp_free(a);
    return code;
}

const struct sp_command sp_command_evaluate = {
    "evaluate", "reports what deduplication would save on your crawl",
    "NAME\n"
    "  samepage evaluate - reports what deduplication would save on your crawl\n\n"
    "SYNOPSIS\n"
    "  samepage evaluate --report DIR [--labelled WHERE]... [OPTION]... TRACE...\n\n"
    "DESCRIPTION\n"
    "  The report begins with what deduplication saves on these traces: what is kept and removed, by\n"
    "  documents, bytes and hosts, with examples and the cost. The paper's figures follow.\n\n"
    "  Reads traces (formats as for `samepage run`; each file in order of time) once and writes\n"
    "  DIR/index.html, one file that needs no network, with the numbers (CSV) and plots (SVG, PNG)\n"
    "  beside it. Memory: 5 to 50 bytes a word of each distinct content, 20 for `--only summary`.\n"
    "  Once the traces are read, standard error says how long the experiments take.\n\n"
    "OPTIONS\n"
    "  -r, --report DIR    directory of the report; created if missing\n"
    "  --only LIST         only these experiments, as figure4,table1; --list names them\n"
    "  --cost[=LIST]       Figure 9, the cost model, with parameters as pages=1G,rate=20M,price=0.5\n"
    "  --labelled WHERE    labelled pages, to measure the accuracy of each similarity method: a\n"
    "                      directory, a file of pages, or PAGES,PAIRS; may be repeated\n"
    "  --keys FILE         keys to compare the experiment `predict` with: lines of URL, tab, key\n"
    "  --term WORDS        the experiment `archive`: what pages of its collection C contain;\n"
    "                      default: expense\n"
    "  --list              name the experiments\n" SP_FIELD_HELP
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  -q, --quiet         no progress bar, no summary\n"
    "  --help              this text\n\n"
    "EXAMPLES\n"
    "  samepage evaluate --report report crawl-2023.jsonl crawl-2024.jsonl\n"
    "  samepage evaluate --report report --only summary crawl.jsonl   # in the time of a run\n\n" SP_READING_EXIT_HELP,
    run};

/* samepage serve: serves the state of a run over HTTP. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/kafka_options.h"
#include "cli/progress.h"
#include "cli/rules_topic.h"
#include "cli/settings.h"
#include "client/ends.h"
#include "kafka/replica.h"
#include "serve/serve.h"

enum { PAGES_MAX = 256, TOKEN_BYTES_MIN = 16, TOKEN_BYTES_MAX = 512 };
static const uint64_t cache_default = 512ull << 20;

struct arguments {
    struct sp_serve_options options;
    const char *token_file;
    const char *map_file;
    struct sp_partition_map map;  /* of map_file: its dictionary */
    struct sp_relation *relation; /* winner.relation of the state, or NULL */
    bool kafka;
    bool publish; /* publish rules to their topic */
    bool follow;  /* predict by the rules in their topic */
    int code;     /* exit code for a wrong option; -1: none */
    const struct sp_command *command;
    const char *pages[PAGES_MAX];
    const char *statuses[PAGES_MAX];
    char token[TOKEN_BYTES_MAX + 2];
};

static int take(const struct sp_command *command, int option, struct arguments *a)
{
    struct sp_serve_options *o = &a->options;
    uint64_t number;
    char *end;
    switch (option) {
    case 's':
        o->state = optarg;
        return -1;
    case 'l':
        o->listen = optarg;
        return -1;
    case 't':
        a->token_file = optarg;
        return -1;
    case 'n':
        if (!sp_cli_number(optarg, &number) || number == 0 || number > 256)
            return sp_cli_usage(command, "--threads %s: a number from 1 to 256", optarg);
        o->threads = (uint32_t)number;
        return -1;
    case 'm':
        a->map_file = optarg;
        return -1;
    case 'c':
        if (!sp_cli_number(optarg, &number))
            return sp_cli_usage(command, "--cache %s: a number of bytes, as 512M", optarg);
        o->cache_bytes = number;
        return -1;
    case 'p':
        if (o->page_count == PAGES_MAX)
            return sp_cli_usage(command, "--pages: at most %d files", PAGES_MAX);
        a->pages[o->page_count++] = optarg;
        return -1;
    case 'f':
        o->filter_sentences = strcmp(optarg, "sentences") == 0;
        return o->filter_sentences || strcmp(optarg, "shingles") == 0
                   ? -1
                   : sp_cli_usage(command, "--filter %s: shingles or sentences", optarg);
    case 'T':
        o->filter_threshold = strtod(optarg, &end);
        return *optarg && !*end && o->filter_threshold > 0 && o->filter_threshold <= 1
                   ? -1
                   : sp_cli_usage(command, "--filter-threshold %s: above 0, at most 1", optarg);
    case 'u':
        if (o->status_count == PAGES_MAX)
            return sp_cli_usage(command, "--statuses: at most %d files", PAGES_MAX);
        a->statuses[o->status_count++] = optarg;
        return -1;
    case 'k':
        a->kafka = true;
        return -1;
    case 'r':
        o->predict = true;
        return -1;
    case 'F':
        o->predict = a->follow = true;
        return -1;
    case 'P':
        o->predict = a->publish = true;
        return -1;
    default:
        return -2;
    }
}

/* Handles an option of this command; returns whether it is one. */
static bool own_option(void *arg, int option)
{
    struct arguments *a = arg;
    int code = take(a->command, option, a);
    if (code >= 0)
        a->code = code;
    return code != -2;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a,
                 struct sp_config *config)
{
    static const struct option options[] = {{"state", required_argument, NULL, 's'},
                                            {"kafka", no_argument, NULL, 'k'},
                                            {"listen", required_argument, NULL, 'l'},
                                            {"token-file", required_argument, NULL, 't'},
                                            {"threads", required_argument, NULL, 'n'},
                                            {"map", required_argument, NULL, 'm'},
                                            {"cache", required_argument, NULL, 'c'},
                                            {"pages", required_argument, NULL, 'p'},
                                            {"statuses", required_argument, NULL, 'u'},
                                            {"predict", no_argument, NULL, 'r'},
                                            {"publish-rules", no_argument, NULL, 'P'},
                                            {"follow-rules", no_argument, NULL, 'F'},
                                            {"filter", required_argument, NULL, 'f'},
                                            {"filter-threshold", required_argument, NULL, 'T'},
                                            SP_COMMON_OPTIONS,
                                            SP_SETTING_OPTIONS,
                                            {0}};
    a->command = command;
    a->code = -1;
    int code = sp_cli_kafka_parse(
        command, argc, argv,
        &(struct sp_cli_options){.table = options, .own = own_option, .arg = a}, config);
    if (code >= 0 || a->code >= 0)
        return code >= 0 ? code : a->code;
    if (optind < argc)
        return sp_cli_usage(command, "%s: this command takes options only", argv[optind]);
    if (!a->kafka && !a->options.state)
        return sp_cli_usage(command, "give --state DIR, --kafka or both");
    if (a->map_file && !a->options.state)
        return sp_cli_usage(command, "--map needs --state");
    if (a->publish && !a->kafka)
        return sp_cli_usage(command, "--publish-rules needs --kafka");
    if (a->follow && (!a->kafka || a->publish))
        return sp_cli_usage(command, "--follow-rules needs --kafka, and no --publish-rules");
    return -1;
}

/* Reads the token, the first line of the file. */
static int read_token(struct arguments *a)
{
    FILE *in = fopen(a->token_file, "r");
    if (!in)
        return sp_cli_failed("%s: cannot be read: %s", a->token_file, strerror(errno));
    size_t n = fread(a->token, 1, sizeof a->token - 1, in);
    fclose(in);
    a->token[n] = 0;
    n = strcspn(a->token, "\r\n");
    a->token[n] = 0;
    bool visible = true;
    for (size_t i = 0; i < n; i++)
        visible &= a->token[i] > ' ' && a->token[i] < 0x7f;
    if (n < TOKEN_BYTES_MIN || n > TOKEN_BYTES_MAX || !visible)
        return sp_cli_failed(
            "%s: its first line is not a token: a token has %d to %d ASCII characters and no "
            "spaces",
            a->token_file, TOKEN_BYTES_MIN, TOKEN_BYTES_MAX);
    a->options.token = a->token;
    return -1;
}

/* Texts are comparable with the state's pages only under the dictionary that these were made with.
 * `digits`: its fingerprint, eight hexadecimal digits. */
static enum sp_err use_dictionary(struct arguments *a, const char *digits, struct sp_fault *fault)
{
    char given[16] = "";
    if (!a->map_file)
        return sp_fault_set(
            fault, SP_INVALID,
            "it was made with a trained partition map: give that map with --map FILE");
    enum sp_err err = sp_partition_read(a->map_file, &a->map, fault);
    if (err != SP_OK)
        return err;
    snprintf(given, sizeof given, "%08x", (unsigned)a->map.dictionary.fingerprint);
    if (strcmp(given, digits) == 0)
        return SP_OK;
    return sp_fault_set(fault, SP_INVALID,
                        "the map of --map has another dictionary than the one it was made with");
}

/* Chooses how the entries of lists are compared, and the threshold: like the state's pages, or by
 * sentences with the threshold that Smith's paper gives as an example. */
static int choose_filter(struct arguments *a, const struct sp_config *config)
{
    struct sp_serve_options *o = &a->options;
    bool has_shingles = sp_method_info(o->similarity.method)->features == SP_FEATURES_SHINGLES;
    if (o->filter_threshold == 0)
        o->filter_threshold = o->filter_sentences && has_shingles
                                  ? sp_method_info(SP_METHOD_SENTENCES)->threshold
                                  : o->similarity.threshold;
    struct sp_text_options text;
    sp_settings_text(config, &text);
    if (!o->filter_sentences || text.signature.max_sentences > 0)
        return -1;
    return sp_cli_failed(
        "the state in %s has no sentences to filter by: make it with "
        "--set signature.sentences=keep, or with similarity.method = sentences, lcs "
        "or combined",
        o->state);
}

/* Reads the settings that the state was made with, because its signatures are only comparable under
 * these. */
static int read_settings(struct arguments *a)
{
    struct sp_serve_options *o = &a->options;
    struct sp_buf lines = {0};
    struct sp_config config;
    struct sp_fault fault;
    sp_config_default(&config);
    enum sp_err err = sp_settings_of_run(o->state, &lines, &fault);
    char *save = NULL, version[64];
    const char *found = "";
    for (char *line = err ? NULL : strtok_r(lines.data, "\n", &save); line && err == SP_OK;
         line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, SP_SETTINGS_DICTIONARY, strlen(SP_SETTINGS_DICTIONARY)) == 0)
            err = use_dictionary(a, line + strlen(SP_SETTINGS_DICTIONARY), &fault);
        else if (strncmp(line, SP_SETTINGS_SIGNATURES, strlen(SP_SETTINGS_SIGNATURES)) == 0)
            found = line;
        else
            err = sp_config_assign(&config, line, &fault);
    if (err == SP_OK && a->map_file && a->map.cells == 0)
        err = sp_fault_set(&fault, SP_INVALID,
                           "it was made without a trained partition map: leave out --map");
    sp_settings_similarity(&config, &o->similarity);
    snprintf(version, sizeof version, SP_SETTINGS_SIGNATURES "%d", SP_SIGNATURE_VERSION);
    if (err == SP_OK && strcmp(found, version) != 0)
        err = sp_fault_set(&fault, SP_STATE_FORMAT,
                           "its signatures are of another version of samepage");
    int code = -1;
    if (err != SP_OK)
        code = sp_cli_failed("the state in %s cannot be served: %s", o->state, fault.text);
    o->tier1 = (uint32_t)config.tier1_partitions;
    if (code < 0 && sp_settings_relation(&config, &a->relation, &fault) != SP_OK)
        code = sp_cli_failed("the state in %s cannot be served: %s", o->state, fault.text);
    o->winner_relation = a->relation;
    if (code < 0 && !sp_serve_can(o->similarity.method))
        code = sp_cli_failed("the state in %s cannot be served: it was made with "
                             "similarity.method = %s, whose signatures the filter cannot compare",
                             o->state, sp_method_info(o->similarity.method)->name);
    if (code < 0)
        code = choose_filter(a, &config);
    sp_settings_text(&config, &o->text);
    o->text.detect_language = o->text.signature.languages_apart;
    o->text.signature.dictionary = a->map.cells ? &a->map.dictionary : NULL;
    sp_config_done(&config);
    sp_buf_done(&lines);
    return code;
}

/* Raises the limit of file descriptors: each connection and each table of the state needs one. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Blocks the signals that end the server, in all threads that are started from now on. */
static sigset_t block_ends(void)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    return ends;
}

static int serve(const struct sp_serve_options *options)
{
    struct sp_serve *server = NULL;
    struct sp_fault fault;
    sigset_t ends = block_ends();
    int number = 0;
    signal(SIGPIPE, SIG_IGN);
    allow_descriptors();
    if (sp_serve_start(options, &server, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    const char *colon = strrchr(options->listen, ':');
    fprintf(stderr, "samepage: listening on http://%.*s:%u\n", (int)(colon - options->listen),
            options->listen, (unsigned)sp_serve_port(server));
    sigwait(&ends, &number);
    sp_serve_stop(server);
    return SP_EXIT_DONE;
}

/* So that a server without a broker ends as the other commands do. */
static enum sp_err reach(const struct sp_kafka_options *kafka, struct sp_fault *fault)
{
    rd_kafka_t *handle = NULL;
    enum sp_err err = sp_kafka_open(kafka, SP_KAFKA_WATCHER, "serve", NULL, NULL, &handle, fault);
    if (err == SP_OK)
        err = sp_kafka_reach(kafka, handle, fault);
    sp_kafka_close(handle);
    return err;
}

static void say_passed_over(const char *why, uint64_t count)
{
    fprintf(stderr, "samepage: %s; the event was passed over (%llu so far)\n", why,
            (unsigned long long)count);
}

static void say_told(const char *what)
{
    fprintf(stderr, "samepage: %s\n", what);
}

static int serve_topic(struct arguments *a, const struct sp_config *config)
{
    struct sp_kafka_options kafka;
    char topic[SP_TOPIC_NAME_MAX];
    struct sp_fault fault;
    sp_cli_kafka_options(config, &kafka);
    sp_topic_name(&kafka, SP_TOPIC_STATUS, topic);
    if (reach(&kafka, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    sp_client_log_to(sp_kafka_log);
    const char **properties = sp_cli_client_properties(&kafka, false);
    a->options.topic = topic;
    a->options.properties = properties;
    a->options.passed_over = say_passed_over;
    sp_settings_similarity(config, &a->options.similarity);
    if (a->options.filter_threshold == 0)
        a->options.filter_threshold = a->options.similarity.threshold;
    sp_settings_text(config, &a->options.text);
    a->options.text.detect_language = a->options.text.signature.languages_apart;
    int code = serve(&a->options);
    sp_free(properties);
    return code;
}

/* ---- a copy of the group stage's state, kept up to date ---- */

struct copying {
    struct sp_replica *replica;
    char failure[512];
    bool failed; /* atomic */
};

/* Called in the following thread: ends the server, which then reports the message. */
static void on_failed(void *arg, const char *message)
{
    struct copying *c = arg;
    snprintf(c->failure, sizeof c->failure, "%s", message);
    __atomic_store_n(&c->failed, true, __ATOMIC_SEQ_CST);
    kill(getpid(), SIGTERM);
}

/* Waits until the copy has everything that was in the changelog; false after a signal or a failure.
 */
static bool catch_up(struct copying *c)
{
    const struct timespec slice = {.tv_nsec = 200 * 1000000L};
    sigset_t ends = block_ends();
    uint64_t records = 0;
    int64_t said = sp_clock_ms();
    bool ready;
    while (!(ready = sp_replica_ready(c->replica, &records)) &&
           sigtimedwait(&ends, NULL, &slice) < 0)
        if (sp_clock_ms() - said >= 2000) {
            fprintf(stderr, "samepage: catching up: %s records of the changelog read\n",
                    sp_thousands(records).text);
            said = sp_clock_ms();
        }
    return ready;
}

static int serve_copy(struct arguments *a, struct sp_config *config)
{
    struct copying c = {0};
    struct sp_settings settings;
    struct sp_fault fault;
    if (sp_settings_init(config, &settings, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    struct sp_replica_options o = {.directory = a->options.state,
                                   .fingerprint = settings.run.fingerprint,
                                   .store = settings.run.store,
                                   .partitions = settings.run.bus.tier1,
                                   .failed = on_failed,
                                   .arg = &c};
    sp_cli_kafka_options(config, &o.kafka);
    block_ends();
    int code = SP_EXIT_DONE;
    if (reach(&o.kafka, &fault) != SP_OK || sp_replica_start(&o, &c.replica, &fault) != SP_OK)
        code = sp_cli_failed("%s", fault.text);
    else if (catch_up(&c) && (code = read_settings(a)) < 0)
        code = serve(&a->options);
    sp_replica_stop(c.replica);
    if (__atomic_load_n(&c.failed, __ATOMIC_SEQ_CST))
        code = sp_cli_failed("%s", c.failure);
    sp_settings_done(&settings);
    return code;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {
        .options = {.listen = "127.0.0.1:8080", .cache_bytes = cache_default, .told = say_told}};
    struct sp_config config;
    int code = parse(command, argc, argv, &a, &config);
    a.options.pages = a.pages;
    a.options.statuses = a.statuses;
    a.options.explore = config.predict_explore;
    struct sp_cli_rules_topic rules = {.config = &config};
    a.options.learned = a.publish ? sp_cli_rules_learned : NULL;
    a.options.learned_arg = &rules;
    if (a.follow)
        a.options.rules = (struct sp_serve_rules_source){sp_cli_rules_follow, &rules};
    if (code < 0 && a.token_file)
        code = read_token(&a);
    if (code < 0 && a.kafka && !a.options.state && a.options.filter_sentences)
        code = sp_cli_usage(command, "--filter sentences needs --state: the status topic has no "
                                     "signatures");
    if (!a.map_file && a.kafka && config.partition_map[0])
        a.map_file = config.partition_map;
    if (code < 0 && a.kafka && a.options.state)
        code = serve_copy(&a, &config);
    else if (code < 0 && a.kafka)
        code = serve_topic(&a, &config);
    else if (code < 0 && (code = read_settings(&a)) < 0)
        code = serve(&a.options);
    sp_topic_table_done(&rules.topic);
    sp_partition_done(&a.map);
    sp_relation_free(a.relation);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_command_serve = {
    "serve", "serves a state over HTTP: statuses, groups, a filter for result lists, and a page",
    "NAME\n"
    "  samepage serve - serves a state over HTTP: statuses, groups, a filter for result lists, a page\n\n"
    "SYNOPSIS\n"
    "  samepage serve --state DIR [OPTION]...\n"
    "  samepage serve --kafka [--state DIR] [--set KEY=VALUE]... [OPTION]...\n\n"
    "DESCRIPTION\n"
    "  Serves the state of a `samepage run`, finished or running, until SIGINT or SIGTERM. DIR is not\n"
    "  changed. About once a second, or less often if opening it takes long, the state is read again.\n"
    "  / is a page for browsers; GET /openapi.json describes all requests, among them:\n"
    "  GET /v1/status?url=URL   the page's status\n"
    "  GET /v1/group?url=URL    its group: members, winners, similarities, and what links them\n"
    "  POST /v1/filter          {\"urls\":[...]}: a ranked list in, the list without near duplicates out\n"
    "  With --kafka and --state, DIR becomes a copy of the group stage's state, kept up to date from its\n"
    "  changelog; give the stage's settings. With --kafka alone, only statuses are known, no signatures.\n\n"
    "OPTIONS\n"
    "  --state DIR         the directory of a `samepage run`; with --kafka, of the copy\n"
    "  --kafka             serve what the stages on Kafka publish\n"
    "  --listen ADDRESS    address:port; default: 127.0.0.1:8080. Port 0: any that is free\n"
    "  --token-file FILE   requests must send the first line of FILE, 16 to 512 characters, as a bearer\n"
    "                      token; required if other machines can reach the address\n"
    "  --pages FILE        input of the run, to show the texts of pages from; may be repeated\n"
    "  --statuses FILE     output (-o) of the run, for the history of each page; may be repeated\n"
    "  --predict           learn rules about URLs, for GET /v1/predict?url=URL\n"
    "  --publish-rules     --predict, and publish the rules to the topic `rules`; needs --kafka\n"
    "  --follow-rules      predict by the rules in the topic `rules` instead of own ones; needs --kafka\n"
    "  --filter WHAT       how result lists are compared: shingles (default; like pages) or sentences\n"
    "  --filter-threshold X  least similarity at which a result repeats another; default: that of the\n"
    "                      state; with --filter sentences 0.5\n"
    "  --map FILE          the partition map of the run, if it had one\n"
    "  --cache BYTES       memory for the filter's documents; default: 512M\n"
    "  --threads N         threads that handle requests; default: one a core\n"
    "  --config FILE       read settings from FILE (for Kafka; a state has its own settings)\n"
    "  --set KEY=VALUE     change one setting, as kafka.bootstrap.servers=HOST:9092; so does the variable\n"
    "                      SAMEPAGE_SET_<KEY>: the key in upper case, with _ for each dot\n"
    "  --help-settings     all settings, with their defaults\n"
    "  --help              this text\n\n"
    "EXAMPLES\n"
    "  samepage serve --state state --pages crawl.jsonl --statuses status.jsonl\n\n"
    "EXIT STATUS\n"
    "  0 ended by a signal; 1 failed; 2 wrong usage\n",
    run};

/* samepage forget: erasure on request, of a stopped state or on Kafka. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/url.h"
#include "base/utf8.h"
#include "cli/kafka_options.h"
#include "cli/progress.h"
#include "cli/settings.h"

struct arguments {
    const char *state; /* NULL: Kafka */
    const char *output;
    const char *list;
    bool quiet;
    bool verify;
    char **names; /* of pages: URLs, or ids as doc:ID */
    size_t count;
    size_t cap;
};

/* ---- which pages ---- */

static void add_name(struct arguments *a, struct sp_view name)
{
    struct sp_buf url = {0};
    sp_input_put_named(&url, name);
    sp_grow(&a->names, &a->cap, a->count + 1);
    a->names[a->count++] = sp_view_dup(sp_buf_view(&url));
    sp_buf_done(&url);
}

/* Returns whether there is a line. What is longer than a URL can be is cut, and then is none. */
static bool read_line(FILE *in, struct sp_buf *out)
{
    enum { LONGEST = 1 << 16 };
    int c;
    sp_buf_reset(out);
    while ((c = getc(in)) != EOF && c != '\n')
        if (out->len < LONGEST)
            sp_buf_put_u8(out, (uint8_t)c);
    return c != EOF || out->len > 0;
}

/* Adds the page of a line. Blanks before a URL are not part of it, but an id may begin with one. */
static void add_line(struct arguments *a, struct sp_view line)
{
    struct sp_buf scratch = {0};
    while (line.len > 0 && strchr("\r \t", line.data[line.len - 1]))
        line.len--;
    struct sp_view url = line;
    while (url.len > 0 && strchr(" \t", *url.data))
        url = sp_view(url.data + 1, url.len - 1);
    if (line.len > 0)
        add_name(a, sp_url_canonical(url, &scratch) == SP_OK ? url : line);
    sp_buf_done(&scratch);
}

static int read_list(struct arguments *a)
{
    bool standard = strcmp(a->list, "-") == 0;
    FILE *in = standard ? stdin : fopen(a->list, "r");
    struct sp_buf line = {0};
    if (!in)
        return sp_cli_failed("%s: cannot be read: %s", a->list, strerror(errno));
    for (bool first = true; read_line(in, &line); first = false) {
        size_t mark = first ? sp_utf8_mark_bytes(line.data, line.len) : 0;
        add_line(a, sp_view(line.data + mark, line.len - mark));
    }
    int code = ferror(in) ? sp_cli_failed("%s: cannot be read", a->list) : -1;
    sp_buf_done(&line);
    if (!standard)
        fclose(in);
    return code;
}

/* ---- a state ---- */

static int report(const struct arguments *a, const struct sp_run_result *r)
{
    if (!a->quiet)
        fprintf(stderr, "%s pages forgotten, %s were not known%s%s\n",
                sp_thousands(r->stats.group.erased).text,
                sp_thousands(r->stats.group.erased_unknown).text, r->unusable ? "; no URL: " : "",
                r->unusable ? sp_thousands(r->unusable).text : "");
    if (a->verify && r->differences)
        return sp_cli_failed("verify: %s differences from the groups computed from scratch",
                             sp_thousands(r->differences).text);
    return SP_EXIT_DONE;
}

static int forget_in_state(const struct arguments *a, const struct sp_config *config)
{
    struct sp_settings settings;
    struct sp_run_result result;
    struct sp_fault fault;
    struct sp_buf lines = {0};
    /* An open would create the directory. */
    enum sp_err err = sp_settings_of_run(a->state, &lines, &fault);
    sp_buf_done(&lines);
    if (err != SP_OK || sp_settings_init(config, &settings, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    struct sp_run_options options = settings.run;
    options.state = a->state;
    options.output = a->output;
    options.verify = a->verify;
    options.forget = (const char *const *)a->names;
    options.forget_count = a->count;
    options.compact = true;
    options.audit.share = 0; /* the next run audits as before */
    err = sp_run(&options, &result, &fault);
    sp_settings_done(&settings);
    int code = err == SP_OK ? report(a, &result) : sp_cli_failed("%s", fault.text);
    sp_run_result_done(&result);
    return code;
}

/* ---- on Kafka: deletions in the topic of pages ---- */

struct sending {
    rd_kafka_t *producer;
    char topic[SP_TOPIC_NAME_MAX];
    char audit[SP_TOPIC_NAME_MAX]; /* with copies of fetches; empty: there is no such topic */
    int32_t partitions;
    uint64_t sent;
    uint64_t failed;
    rd_kafka_resp_err_t why; /* the first failure */
    uint64_t unusable;
};

static void note_failure(struct sending *s, rd_kafka_resp_err_t code)
{
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && s->failed++ == 0)
        s->why = code;
}

static void on_delivery(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg)
{
    (void)handle;
    note_failure(arg, m->err);
}

static void send_deletion(struct sending *s, const char *topic, struct sp_view key,
                          int32_t partition)
{
    enum { WAIT_MS = 50 };
    rd_kafka_resp_err_t code;
    while ((code = rd_kafka_producev(
                s->producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data, key.len),
                RD_KAFKA_V_VALUE(NULL, 0), RD_KAFKA_V_END)) == RD_KAFKA_RESP_ERR__QUEUE_FULL)
        rd_kafka_poll(s->producer, WAIT_MS);
    note_failure(s, code);
}

/* Sends deletions to the partition of the page's fetches, so that they come after these. One is for
 * the name as it was given, which was the key of statuses before 0.2. The copies of fetches have
 * one partition. The signature stage deletes there too, after copies that are under way, but only
 * while it has a share itself. */
static void send_name(struct sending *s, const char *name)
{
    struct sp_buf url = {0};
    struct sp_view given = sp_view_str(name);
    if (sp_url_canonical(given, &url) != SP_OK) {
        s->unusable++;
    } else {
        struct sp_id page = sp_hash128(url.data, url.len);
        int32_t partition = (int32_t)(page.lo % (uint64_t)s->partitions);
        if (!sp_view_eq(given, sp_buf_view(&url)))
            send_deletion(s, s->topic, given, partition);
        send_deletion(s, s->topic, sp_buf_view(&url), partition);
        if (s->audit[0])
            send_deletion(s, s->audit, sp_view(&page, sizeof page), 0);
        s->sent++;
    }
    sp_buf_done(&url);
}

/* Asking for a topic by its name may create it; a list of all topics does not. */
static bool has_topic(rd_kafka_t *handle, const char *name)
{
    enum { TIMEOUT_MS = 30000 };
    const struct rd_kafka_metadata *metadata = NULL;
    bool found = false;
    if (rd_kafka_metadata(handle, 1, NULL, &metadata, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    for (int i = 0; i < metadata->topic_cnt && !found; i++)
        found = strcmp(metadata->topics[i].topic, name) == 0;
    rd_kafka_metadata_destroy(metadata);
    return found;
}

static enum sp_err send_all(const struct arguments *a, struct sending *s, struct sp_fault *fault)
{
    enum { FLUSH_MS = 120000 };
    enum sp_err err = sp_kafka_find_topic(s->producer, s->topic, &s->partitions, fault);
    if (err != SP_OK)
        return err;
    if (!has_topic(s->producer, s->audit))
        s->audit[0] = 0;
    for (size_t i = 0; i < a->count; i++) {
        send_name(s, a->names[i]);
        rd_kafka_poll(s->producer, 0);
    }
    note_failure(s, rd_kafka_flush(s->producer, FLUSH_MS));
    if (s->failed)
        return sp_fault_set(
            fault, SP_IO,
            "%s: not all requests could be delivered (%s): %s. Then run the command again",
            s->topic, rd_kafka_err2str(s->why),
            sp_kafka_is_forbidden(s->why) ? SP_KAFKA_FORBIDDEN : SP_KAFKA_UNDELIVERED);
    return SP_OK;
}

static int forget_on_kafka(const struct arguments *a, const struct sp_config *config)
{
    struct sending s = {0};
    struct sp_kafka_options kafka;
    struct sp_fault fault;
    sp_cli_kafka_options(config, &kafka);
    sp_topic_name(&kafka, SP_TOPIC_PAGES, s.topic);
    sp_topic_name(&kafka, SP_TOPIC_AUDIT, s.audit);
    enum sp_err err = sp_kafka_open_producer(&kafka, on_delivery, &s, &s.producer, &fault);
    if (err != SP_OK)
        return sp_cli_failed("%s", fault.text);
    err = sp_kafka_reach(&kafka, s.producer, &fault);
    if (err == SP_OK)
        err = send_all(a, &s, &fault);
    sp_kafka_close(s.producer);
    if (err != SP_OK)
        return sp_cli_failed("%s", fault.text);
    if (!a->quiet)
        fprintf(stderr, "%s pages are to be forgotten%s%s\n", sp_thousands(s.sent).text,
                s.unusable ? "; no URL: " : "", s.unusable ? sp_thousands(s.unusable).text : "");
    return SP_EXIT_DONE;
}

/* ---- the command ---- */

static bool own_option(void *arg, int option)
{
    struct arguments *a = arg;
    switch (option) {
    case 's':
        a->state = optarg;
        return true;
    case 'o':
        a->output = optarg;
        return true;
    case 'f':
        a->list = optarg;
        return true;
    case 'v':
        a->verify = true;
        return true;
    case 'q':
        a->quiet = true;
        return true;
    default:
        return false;
    }
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a,
                 struct sp_config *config)
{
    static const struct option table[] = {{"state", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"forget", required_argument, NULL, 'f'},
                                          {"verify", no_argument, NULL, 'v'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          SP_COMMON_OPTIONS,
                                          SP_SETTING_OPTIONS,
                                          {0}};
    const struct sp_cli_options options = {table, own_option, a, "o:q"};
    int code = sp_cli_kafka_parse(command, argc, argv, &options, config);
    if (code >= 0)
        return code;
    if (optind == argc && !a->list)
        return sp_cli_usage(command, "no page: name URLs, or a file of them with --forget");
    if (!a->state && (a->output || a->verify))
        return sp_cli_usage(command, "--output and --verify are for a state: give --state DIR");
    for (int i = optind; i < argc; i++)
        add_name(a, sp_view_str(argv[i]));
    return a->list ? read_list(a) : -1;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {0};
    struct sp_config config;
    int code = parse(command, argc, argv, &a, &config);
    if (code < 0 && a.state && !a.output)
        a.output = "-";
    if (code < 0)
        code = a.state ? forget_in_state(&a, &config) : forget_on_kafka(&a, &config);
    sp_config_done(&config);
    for (size_t i = 0; i < a.count; i++)
        sp_free(a.names[i]);
    sp_free(a.names);
    return code;
}

const struct sp_command sp_command_forget = {
    "forget", "erases pages on request, from a state or on Kafka",
    "NAME\n"
    "  samepage forget - erases pages on request, from a state or on Kafka\n\n"
    "SYNOPSIS\n"
    "  samepage forget --state DIR [-o FILE] [OPTION]... URL...\n"
    "  samepage forget [--config FILE] [OPTION]... URL...\n"
    "  samepage forget [OPTION]... --forget FILE\n\n"
    "DESCRIPTION\n"
    "  Forgets pages as if they had never been fetched: URL, signature, status, redirect. The groups\n"
    "  and winners become those of the remaining pages; a changed status is written as an event.\n"
    "\n"
    "  With --state: DIR is the state of a `samepage run` that is not running; give the settings and\n"
    "  --output of that run. Each known page gets a line with the status \"forgotten\". At the end all\n"
    "  files of the state are rewritten, so that none contains the URL or the signature of a page;\n"
    "  this needs as much free space as the state takes. What other pages need is kept: a signature\n"
    "  of the same content, the hash of the URL that they redirect to.\n"
    "\n"
    "  Without --state, on Kafka: a deletion for each page goes to the topic of pages, and from there\n"
    "  through the stages; the status topic, the changelogs and the copies in the topic audit get\n"
    "  deletions too.\n"
    "\n"
    "  If a page is fetched again, it is a new page. Your inputs, and what was written to --output\n"
    "  before, are not changed. An id that is not a URL means the document doc:ID.\n\n"
    "OPTIONS\n"
    "  --state DIR         the state of a run\n"
    "  -o, --output FILE   append status events to FILE; default: standard output\n"
    "  --forget FILE       forget the URLs and ids in FILE, one a line; - is standard input\n"
    "  --verify            at the end, recompute all groups from scratch and compare\n"
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  -q, --quiet         no summary\n"
    "  --help              this text\n\n" SP_ENVIRONMENT_HELP "\nEXIT STATUS\n"
    "  0 done, also if pages were not known; 1 failed, or --verify found differences; 2 wrong usage\n",
    run};

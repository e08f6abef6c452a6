/* samepage rules: what a state's groups say about URLs, and the topic of rules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/kafka_options.h"
#include "kafka/table.h"
#include "serve/serve.h"
#include "store/store.h"

struct arguments {
    const struct sp_command *command;
    const char *state;
    const char *output;
    double confidence;
    bool publish;
    bool kafka;
    int code; /* of an option that cannot be; -1: none */
};

static bool own_option(void *arg, int option)
{
    struct arguments *a = arg;
    char *end = NULL;
    if (option == 's') {
        a->state = optarg;
    } else if (option == 'o') {
        a->output = optarg;
    } else if (option == 'p') {
        a->publish = true;
    } else if (option == 'k') {
        a->kafka = true;
    } else if (option == 'c') {
        a->confidence = strtod(optarg, &end);
        if (!*optarg || *end || !(a->confidence >= 0 && a->confidence <= 1))
            a->code = sp_cli_usage(a->command, "--confidence is a number from 0 to 1");
    } else {
        return false;
    }
    return true;
}

static int parse(int argc, char **argv, struct arguments *a, struct sp_config *config)
{
    static const struct option table[] = {{"state", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"confidence", required_argument, NULL, 'c'},
                                          {"publish", no_argument, NULL, 'p'},
                                          {"kafka", no_argument, NULL, 'k'},
                                          SP_COMMON_OPTIONS,
                                          SP_SETTING_OPTIONS,
                                          {0}};
    int code = sp_cli_kafka_parse(
        a->command, argc, argv,
        &(struct sp_cli_options){.table = table, .own = own_option, .arg = a, .letters = "o:"},
        config);
    if (code >= 0 || a->code >= 0)
        return code >= 0 ? code : a->code;
    if (optind < argc)
        return sp_cli_usage(a->command, "%s: this command takes options only", argv[optind]);
    if (a->kafka ? a->state || a->publish : !a->state)
        return sp_cli_usage(a->command, "say --state DIR, with --publish or without, or --kafka");
    return -1;
}

/* The partitions that the state was made with; of its other settings none matters here. */
static enum sp_err partitions_of(const char *state, uint32_t *ret_tier1, struct sp_fault *fault)
{
    static const char key[] = "tier1.partitions=";
    struct sp_config config;
    struct sp_buf lines = {0};
    enum sp_err err = sp_db_read_fingerprint(state, &lines, fault);
    sp_buf_put_u8(&lines, 0);
    sp_config_default(&config);
    char *save = NULL;
    for (char *line = err ? NULL : strtok_r(lines.data, "\n", &save); line && err == SP_OK;
         line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, key, sizeof key - 1) == 0)
            err = sp_config_assign(&config, line, fault);
    *ret_tier1 = (uint32_t)config.tier1_partitions;
    sp_config_done(&config);
    sp_buf_done(&lines);
    return err;
}

static int write_out(const char *name, struct sp_view text)
{
    FILE *out = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
    bool good = out && fwrite(text.data, 1, text.len, out) == text.len && fflush(out) == 0;
    if (out && out != stdout)
        good = fclose(out) == 0 && good;
    return good ? SP_EXIT_DONE : sp_cli_failed("%s: cannot be written", name);
}

/* ---- the topic ---- */

static const char confidence_field[] = ",\"confidence\":";

/* What the line of a rule is about, the key of its record: what stands before its counts. */
static void put_key(struct sp_buf *key, const char *line)
{
    const char *end = strstr(line, confidence_field);
    sp_buf_reset(key);
    sp_buf_put(key, line, end ? (size_t)(end - line) : strlen(line));
    sp_buf_put_u8(key, '}');
}

static double confidence_of(const char *line)
{
    const char *at = strstr(line, confidence_field);
    return at ? strtod(at + sizeof confidence_field - 1, NULL) : 0;
}

/* `lines` ends in a NUL, and is cut up. */
static void make_table(char *lines, struct sp_topic_table *ret_table)
{
    struct sp_buf key = {0};
    char *save = NULL;
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        put_key(&key, line);
        sp_topic_table_put(ret_table, sp_buf_view(&key), sp_view_str(line));
    }
    sp_buf_done(&key);
}

static int publish(const struct sp_config *config, struct sp_buf *lines)
{
    struct sp_topic_table is = {0}, wanted = {0};
    struct sp_topic_changes changes;
    struct sp_kafka_options kafka;
    struct sp_fault fault;
    sp_cli_kafka_options(config, &kafka);
    sp_buf_put_u8(lines, 0);
    make_table(lines->data, &wanted);
    enum sp_err err = sp_topic_table_read(&kafka, SP_TOPIC_RULES, &is, &fault);
    if (err == SP_OK)
        err = sp_topic_table_write(&kafka, SP_TOPIC_RULES, &is, &wanted, &changes, &fault);
    sp_topic_table_done(&is);
    sp_topic_table_done(&wanted);
    if (err != SP_OK)
        return sp_cli_failed("%s", fault.text);
    fprintf(stderr, "%llu rules published, %llu deleted, %llu were as before\n",
            (unsigned long long)changes.written, (unsigned long long)changes.deleted,
            (unsigned long long)changes.unchanged);
    return SP_EXIT_DONE;
}

static int surest_first(const void *a, const void *b)
{
    const struct sp_topic_row *x = *(struct sp_topic_row *const *)a;
    const struct sp_topic_row *y = *(struct sp_topic_row *const *)b;
    double p = confidence_of(x->value), q = confidence_of(y->value);
    return p != q ? (p < q) - (p > q) : strcmp(x->key, y->key);
}

static void put_lines(const struct sp_topic_table *t, double confidence, struct sp_buf *out)
{
    const struct sp_topic_row **rows = sp_alloc((t->rows.count + 1) * sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < t->rows.cap; i++) {
        const struct sp_topic_row *row = t->rows.cells[i].object;
        if (row && row->value && confidence_of(row->value) >= confidence)
            rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, surest_first);
    for (size_t i = 0; i < count; i++) {
        sp_buf_put_str(out, rows[i]->value);
        sp_buf_put_u8(out, '\n');
    }
    sp_free(rows);
}

static enum sp_err read_topic(const struct sp_config *config, double confidence, struct sp_buf *out,
                              struct sp_fault *fault)
{
    struct sp_topic_table t = {0};
    struct sp_kafka_options kafka;
    sp_cli_kafka_options(config, &kafka);
    enum sp_err err = sp_topic_table_read(&kafka, SP_TOPIC_RULES, &t, fault);
    if (err == SP_OK)
        put_lines(&t, confidence, out);
    sp_topic_table_done(&t);
    return err;
}

/* ---- the command ---- */

static int act(const struct arguments *a, const struct sp_config *config, struct sp_buf *out)
{
    struct sp_fault fault;
    uint32_t tier1 = 0;
    enum sp_err err = SP_OK;
    if (a->kafka) {
        err = read_topic(config, a->confidence, out, &fault);
    } else {
        err = partitions_of(a->state, &tier1, &fault);
        if (err == SP_OK)
            err = sp_serve_rules(a->state, tier1, a->confidence, out, &fault);
    }
    if (err != SP_OK)
        return sp_cli_failed("%s", fault.text);
    return a->publish ? publish(config, out) : write_out(a->output, sp_buf_view(out));
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.command = command, .output = "-", .confidence = 0.5, .code = -1};
    struct sp_config config;
    struct sp_buf out = {0};
    int code = parse(argc, argv, &a, &config);
    if (code < 0)
        code = act(&a, &config, &out);
    sp_buf_done(&out);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_command_rules = {
    "rules", "rules learned from a state: URL parameters, directories and hosts that do not matter",
    "NAME\n"
    "  samepage rules - rules about URLs, learned from the groups of a state\n\n"
    "SYNOPSIS\n"
    "  samepage rules --state DIR [OPTION]...\n"
    "  samepage rules --state DIR --publish [--config FILE] [--set KEY=VALUE]...\n"
    "  samepage rules --kafka [OPTION]... [--config FILE] [--set KEY=VALUE]...\n\n"
    "DESCRIPTION\n"
    "  Looks at the pages of a `samepage run` in the order of their last fetches: pairs of URLs "
    "that\n"
    "  differ in one thing only (a parameter, a directory, the host, ...) and have one winner, "
    "or not,\n"
    "  count for a rule or against it (docs/PREDICT.md). Prints the rules by confidence. The state\n"
    "  is only read, also while a run is writing to it.\n\n"
    "  With --publish the rules go to the topic `rules` instead: what is new or has other counts is\n"
    "  written, what is no rule any more is deleted. The state is then that of `samepage serve\n"
    "  --kafka --state DIR`. With --kafka the rules are read from there.\n\n"
    "OPTIONS\n"
    "  --state DIR          the state of a run, or the copy of `serve --kafka`\n"
    "  --publish            make the topic `rules` what the state says\n"
    "  --kafka              the rules in the topic\n"
    "  -o, --output FILE    write there; default: standard output\n"
    "  --confidence X       least confidence of a rule; default: 0.5\n"
    "  --config FILE        read settings from FILE: where the brokers are\n"
    "  --set KEY=VALUE      change one setting; may be repeated\n"
    "  --help-settings      all settings, with their defaults\n"
    "  --help               this text\n\n"
    "OUTPUT, a line for each rule\n"
    "  "
    "{\"host\":HOST,\"kind\":\"parameter\",\"name\":\"sid\",\"from\":null,\"to\":null,\"confidence\":0.93,\n"
    "   \"support\":120,\"against\":1,\"example\":[URL,URL]}\n"
    "  kind: scheme, host, case, index, extension, query, parameter, segment, session; host "
    "\"*\": any.\n"
    "  from, to: the two values of a rule; null: any values.\n",
    true, run};

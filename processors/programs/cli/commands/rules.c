/* samepage rules: learns rules about URLs from a state's groups, and publishes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kafka_options.h"
#include "cli/rules_topic.h"
#include "cli/settings.h"
#include "serve/serve.h"

struct arguments {
    const struct sp_command *command;
    const char *state;
    const char *output;
    double confidence;
    bool publish;
    bool kafka;
    int code; /* exit code for a wrong option; -1: none */
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
        return sp_cli_usage(a->command, "give --state DIR, with or without --publish, or --kafka");
    if (a->publish && strcmp(a->output, "-") != 0)
        return sp_cli_usage(a->command, "--publish writes to the topic, and --output to a file");
    return -1;
}

/* Reads the number of partitions that the state was made with; its other settings do not matter
 * here. */
static enum sp_err partitions_of(const char *state, uint32_t *ret_tier1, struct sp_fault *fault)
{
    static const char key[] = "tier1.partitions=";
    struct sp_config config;
    struct sp_buf lines = {0};
    enum sp_err err = sp_settings_of_run(state, &lines, fault);
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

static int publish(const struct sp_config *config, const struct sp_buf *lines)
{
    struct sp_topic_table topic = {0};
    struct sp_topic_changes changes;
    struct sp_fault fault;
    enum sp_err err = sp_cli_rules_publish(config, lines, &topic, &changes, &fault);
    sp_topic_table_done(&topic);
    if (err != SP_OK)
        return sp_cli_failed("%s", fault.text);
    fprintf(stderr, "%llu rules published, %llu deleted, %llu unchanged\n",
            (unsigned long long)changes.written, (unsigned long long)changes.deleted,
            (unsigned long long)changes.unchanged);
    return SP_EXIT_DONE;
}

/* ---- the command ---- */

static int act(const struct arguments *a, const struct sp_config *config, struct sp_buf *out)
{
    struct sp_fault fault;
    uint32_t tier1 = 0;
    enum sp_err err = SP_OK;
    if (a->kafka) {
        struct sp_topic_table topic = {0};
        struct sp_cli_rules_bad bad = {0};
        err = sp_cli_rules_read(config, &topic, &fault);
        if (err == SP_OK)
            sp_cli_rules_put(&topic, a->confidence, false, out, &bad);
        sp_cli_rules_say_bad(config, &bad);
        sp_topic_table_done(&topic);
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
    struct arguments a = {
        .command = command, .output = "-", .confidence = SP_SERVE_RULE_CONFIDENCE, .code = -1};
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
    "  Reads the pages of a `samepage run` in the order of their last fetches. A pair of URLs that\n"
    "  differ in one thing only (a parameter, a directory, the host, ...) counts for a rule if both\n"
    "  have the same winner, otherwise against it (docs/PREDICT.md). Prints the rules by confidence.\n"
    "  The state is only read, also while a run is writing to it.\n\n"
    "  --publish updates the topic `rules` instead: rules that are new or have other counts are\n"
    "  written, rules that no longer hold are deleted. DIR is then the --state of `samepage serve\n"
    "  --kafka`, which does the same by itself with --publish-rules. --kafka prints the rules of the\n"
    "  topic.\n\n"
    "OPTIONS\n"
    "  --state DIR          the state of a run, or the copy of `serve --kafka`\n"
    "  --publish            update the topic `rules` to those of the state\n"
    "  --kafka              print the rules in the topic\n"
    "  -o, --output FILE    write there; default: standard output\n"
    "  --confidence X       least confidence of a rule; default: 0.5\n"
    "  --config FILE        read settings from FILE: where the brokers are\n"
    "  --set KEY=VALUE      change one setting; may be repeated\n"
    "  --help-settings      all settings, with their defaults\n"
    "  --help               this text\n\n"
    "OUTPUT, a line for each rule\n"
    "  "
    "{\"host\":HOST,\"kind\":\"parameter\",\"name\":\"sid\",\"from\":null,\"to\":null,\"confidence\":0.95,\n"
    "   \"support\":120,\"against\":1,\"example\":[URL,URL],\n"
    "   \"recent_support\":112.9,\"recent_against\":0.9}\n"
    "  kind: scheme, host, case, index, extension, query, parameter, segment, session; host "
    "\"*\": any.\n"
    "  from, to: the two values of a rule; null: any values.\n"
    "  recent_support, recent_against: what still counts of the pairs, as evidence fades.\n\n" SP_ENVIRONMENT_HELP
    "\nEXIT STATUS\n"
    "  0 done; 1 failed; 2 wrong usage\n",
    run};

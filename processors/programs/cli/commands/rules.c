/* samepage rules: what a state's groups say about URLs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "serve/serve.h"
#include "store/store.h"

struct arguments {
    const char *state;
    const char *output;
    double confidence;
};

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {{"state", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"confidence", required_argument, NULL, 'c'},
                                          SP_COMMON_OPTIONS,
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "o:", table, NULL)) != -1;) {
        char *end = NULL;
        int code = -1;
        if (c == 's') {
            a->state = optarg;
        } else if (c == 'o') {
            a->output = optarg;
        } else if (c == 'c') {
            a->confidence = strtod(optarg, &end);
            if (!*optarg || *end || !(a->confidence >= 0 && a->confidence <= 1))
                code = sp_cli_usage(command, "--confidence is a number from 0 to 1");
        } else {
            code = sp_cli_common(command, c, NULL);
        }
        if (code >= 0)
            return code;
    }
    if (optind < argc)
        return sp_cli_usage(command, "%s: this command takes options only", argv[optind]);
    return a->state ? -1 : sp_cli_usage(command, "say --state DIR");
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

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.output = "-", .confidence = 0.5};
    struct sp_buf out = {0};
    struct sp_fault fault;
    uint32_t tier1 = 0;
    int code = parse(command, argc, argv, &a);
    if (code >= 0)
        return code;
    enum sp_err err = partitions_of(a.state, &tier1, &fault);
    if (err == SP_OK)
        err = sp_serve_rules(a.state, tier1, a.confidence, &out, &fault);
    code = err == SP_OK ? write_out(a.output, sp_buf_view(&out)) : sp_cli_failed("%s", fault.text);
    sp_buf_done(&out);
    return code;
}

const struct sp_command sp_command_rules = {
    "rules", "rules learned from a state: URL parameters, directories and hosts that do not matter",
    "NAME\n"
    "  samepage rules - rules about URLs, learned from the groups of a state\n\n"
    "SYNOPSIS\n"
    "  samepage rules --state DIR [OPTION]...\n\n"
    "DESCRIPTION\n"
    "  Looks at the pages of a `samepage run` in the order of their last fetches: pairs of URLs "
    "that\n"
    "  differ in one thing only (a parameter, a directory, the host, ...) and have one winner, "
    "or not,\n"
    "  count for a rule or against it (docs/PREDICT.md). Prints the rules by confidence. The state\n"
    "  is only read, also while a run is writing to it.\n\n"
    "OPTIONS\n"
    "  --state DIR          the state of a run\n"
    "  -o, --output FILE    write there; default: standard output\n"
    "  --confidence X       least confidence of a rule; default: 0.5\n"
    "  --help               this text\n\n"
    "OUTPUT, a line for each rule\n"
    "  "
    "{\"host\":HOST,\"kind\":\"parameter\",\"name\":\"sid\",\"from\":null,\"to\":null,\"confidence\":0.93,\n"
    "   \"support\":120,\"against\":1,\"example\":[URL,URL]}\n"
    "  kind: scheme, host, case, index, extension, query, parameter, segment, session; host "
    "\"*\": any.\n"
    "  from, to: the two values of a rule; null: any values.\n",
    false, run};

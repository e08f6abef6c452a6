/* samepage topics: creates or verifies the topics. */
#include <stdio.h>
#include <string.h>

#include "cli/kafka_options.h"

static void say(void *arg, const char *topic, const char *text)
{
    (void)arg;
    printf("%s %s\n", topic, text);
}

static int act(const struct sp_command *command, const struct sp_config *config, const char *action)
{
    struct sp_kafka_options kafka;
    struct sp_topic_plan plan;
    const char *message = "";
    uint32_t wrong = 0;
    enum sp_err err = SP_INVALID;
    sp_cli_kafka_options(config, &kafka);
    sp_cli_topic_plan(config, &plan);
    if (strcmp(action, "create") == 0)
        err = sp_topics_create(&kafka, &plan, say, NULL, &message);
    else if (strcmp(action, "check") == 0)
        err = sp_topics_check(&kafka, &plan, say, NULL, &wrong, &message);
    else
        return sp_cli_usage(command, "\"%s\" is neither create nor check", action);
    if (err != SP_OK)
        return sp_cli_failed("%s", message);
    if (wrong)
        return sp_cli_failed("%u topics are not as configured", wrong);
    return SP_EXIT_DONE;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    static const struct option table[] = {SP_COMMON_OPTIONS, SP_SETTING_OPTIONS, {0}};
    struct sp_config config;
    int code = sp_cli_kafka_parse(command, argc, argv, table, NULL, NULL, &config);
    if (code < 0 && argc - optind != 1)
        code = sp_cli_usage(command, "say create or check");
    if (code < 0)
        code = act(command, &config, argv[optind]);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_cmd_topics = {
    "topics", "creates or verifies the topics",
    "NAME\n"
    "  samepage topics - creates or verifies the topics\n\n"
    "SYNOPSIS\n"
    "  samepage topics create|check [--config FILE] [--set KEY=VALUE]...\n\n"
    "DESCRIPTION\n"
    "  `create` makes the topics that are missing and leaves the others alone. `check` compares\n"
    "  partition counts, replicas and clean-up policies with the settings, and fails where they\n"
    "  differ.\n\n"
    "OPTIONS\n"
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help              this text\n",
    true, run};

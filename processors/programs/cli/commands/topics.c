/* samepage topics: creates or checks the Kafka topics. */
#include <stdio.h>
#include <string.h>

#include "cli/kafka_options.h"

static void say(void *arg, const char *topic, const char *text)
{
    (void)arg;
    printf("%s %s\n", topic, text);
}

/* Prints the topics as resources of Strimzi's topic operator. */
static void print_manifest(const struct sp_kafka_options *kafka, const struct sp_topic_plan *plan)
{
    struct sp_topic_description topics[SP_TOPICS];
    sp_topics_describe(kafka, plan, topics);
    printf("# Printed by `samepage topics manifest`, for Strimzi's topic operator: what `samepage "
           "topics "
           "create` makes.\n# Partition counts must equal the settings in samepage.properties; "
           "changing those of a tier loses its state.\n");
    for (int t = 0; t < SP_TOPICS; t++) {
        const struct sp_topic_description *d = &topics[t];
        printf("%sapiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata:\n  name: %s\n"
               "  labels:\n    strimzi.io/cluster: samepage\n    app.kubernetes.io/name: "
               "samepage\nspec:\n  topicName: %s\n  partitions: %d\n  replicas: %d\n  config:\n",
               t ? "---\n" : "", d->name, d->name, (int)d->partitions, (int)d->replicas);
        for (size_t i = 0; i < d->entry_count; i++)
            printf("    %s: %s\n", d->entries[i].key, d->entries[i].value);
    }
}

static int act(const struct sp_command *command, const struct sp_config *config, const char *action)
{
    struct sp_kafka_options kafka;
    struct sp_topic_plan plan;
    struct sp_fault fault;
    uint32_t wrong = 0;
    enum sp_err err = SP_INVALID;
    sp_cli_kafka_options(config, &kafka);
    sp_cli_topic_plan(config, &plan);
    if (strcmp(action, "manifest") == 0) {
        print_manifest(&kafka, &plan);
        return SP_EXIT_DONE;
    }
    if (strcmp(action, "create") == 0)
        err = sp_topics_create(&kafka, &plan, say, NULL, &fault);
    else if (strcmp(action, "check") == 0)
        err = sp_topics_check(&kafka, &plan, say, NULL, &wrong, &fault);
    else
        return sp_cli_usage(command, "\"%s\" is not create, check or manifest", action);
    if (err != SP_OK)
        return sp_cli_failed("%s", fault.text);
    if (wrong)
        return sp_cli_failed("%u topics are not as configured", wrong);
    return SP_EXIT_DONE;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    static const struct option table[] = {SP_COMMON_OPTIONS, SP_SETTING_OPTIONS, {0}};
    struct sp_config config;
    int code =
        sp_cli_kafka_parse(command, argc, argv, &(struct sp_cli_options){.table = table}, &config);
    if (code < 0 && argc - optind != 1)
        code = sp_cli_usage(command, "give create, check or manifest");
    if (code < 0)
        code = act(command, &config, argv[optind]);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_command_topics = {
    "topics", "creates or checks the Kafka topics",
    "NAME\n"
    "  samepage topics - creates or checks the Kafka topics\n\n"
    "SYNOPSIS\n"
    "  samepage topics create|check|manifest [--config FILE] [--set KEY=VALUE]...\n\n"
    "DESCRIPTION\n"
    "  `create` creates the topics that are missing and does not change the others. `check` compares\n"
    "  partition counts, replicas, clean-up, retention and sizes with the settings, and fails if\n"
    "  they differ. `manifest` prints the topics as resources for Strimzi's operator.\n\n"
    "OPTIONS\n"
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  --help              this text\n\n" SP_ENVIRONMENT_HELP "\nEXIT STATUS\n"
    "  0 done; 1 failed, or `check` found differences; 2 wrong usage\n",
    run};

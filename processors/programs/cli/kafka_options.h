/* What the commands on Kafka share. */
#ifndef SP_CLI_KAFKA_OPTIONS_H
#define SP_CLI_KAFKA_OPTIONS_H

#include <signal.h>

#include "cli/cli.h"
#include "kafka/client.h"
#include "kafka/schemas.h"
#include "kafka/topics.h"

/* The part of the help of each of these commands that follows the options. */
#define SP_ENVIRONMENT_HELP                                                                         \
    "ENVIRONMENT\n"                                                                                 \
    "  SAMEPAGE_SET_<KEY>  changes a setting, between the file and --set: the key in upper case,\n" \
    "                      with _ for each dot\n"

/* The options that a command has. */
struct sp_cli_options {
    const struct option *table; /* of getopt_long; all of them */
    /* Takes an option, if it is the command's own, and says whether it is; NULL: there are none. */
    bool (*own)(void *arg, int option);
    void *arg;
    const char *letters; /* those of getopt; NULL: none */
};

/* Reads --config, the environment and --set, in this order. -1: go on, else the exit code. */
int sp_cli_kafka_parse(const struct sp_command *command, int argc, char **argv,
                       const struct sp_cli_options *options, struct sp_config *config);

/* Views into the configuration. */
void sp_cli_kafka_options(const struct sp_config *config, struct sp_kafka_options *ret_options);
void sp_cli_topic_plan(const struct sp_config *config, struct sp_topic_plan *ret_plan);

/* The schemas at the registry that schema.registry.url names, NULL if there is none; `kafka`
 * must live as long. */
enum sp_err sp_cli_schemas(const struct sp_config *config, const struct sp_kafka_options *kafka,
                           struct sp_schemas **ret_schemas, struct sp_fault *fault);

/* What samepage_status_open wants: views into the options; sp_free them. `only_new`: events from
 * now on. */
const char **sp_cli_client_properties(const struct sp_kafka_options *kafka, bool only_new);

/* From now on SIGTERM and SIGINT set what is returned, which then ends the open transaction or lap;
 * a second signal ends the process. */
const volatile sig_atomic_t *sp_cli_catch_signals(void);

/* One line to standard error, as log.format says: time, level, stage, text. From any thread, once
 * sp_cli_kafka_parse is through. */
void sp_cli_log(const char *level, const char *text);

#endif

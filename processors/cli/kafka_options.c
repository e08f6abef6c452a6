/* What the commands on Kafka share: configuration from file, environment and command line, and
 * logs. */
#include "cli/kafka_options.h"

#include <stdio.h>
#include <time.h>

extern char **environ;

int sp_cli_kafka_parse(const struct sp_command *command, int argc, char **argv,
                       const struct option *table, int (*own)(void *arg, int option), void *arg,
                       struct sp_config *config)
{
    const char *message = NULL;
    sp_config_default(config);
    /* The file, then the environment, then --set: so the file is looked for first. */
    for (int pass = 0; pass < 2; pass++) {
        optind = 0;
        opterr = pass == 0;
        for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
            bool now = c == SP_OPT_CONFIG ? pass == 0 : c == SP_OPT_SET ? pass == 1 : pass == 0;
            if (!now)
                continue;
            int code = own && own(arg, c) ? -1 : sp_cli_common(command, c, config);
            if (code >= 0)
                return code;
        }
        if (pass == 0 &&
            sp_config_environment(config, (const char *const *)environ, &message) != SP_OK)
            return sp_cli_usage(command, "environment: %s", message);
    }
    return -1;
}

void sp_cli_kafka_options(const struct sp_config *config, struct sp_kafka_options *ret_options)
{
    /* The two structs hold the same two texts; the configuration does not know librdkafka. */
    _Static_assert(sizeof(struct sp_kafka_property) == sizeof(struct sp_config_property), "");
    *ret_options = (struct sp_kafka_options){
        .properties = (const struct sp_kafka_property *)(const void *)config->kafka,
        .property_count = config->kafka_count,
        .prefix = config->topics_prefix,
        .instance = config->instance};
}

void sp_cli_topic_plan(const struct sp_config *config, struct sp_topic_plan *ret_plan)
{
    *ret_plan =
        (struct sp_topic_plan){.pages_partitions = (int32_t)config->topics_pages_partitions,
                               .tier1_partitions = (int32_t)config->tier1_partitions,
                               .tier2_partitions = (int32_t)config->tier2_partitions,
                               .status_partitions = (int32_t)config->topics_status_partitions,
                               .replication = (int32_t)config->topics_replication};
}

void sp_cli_log(const char *level, const char *text)
{
    struct timespec t;
    struct tm utc;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(stderr, "%s.%03ldZ %s %s\n", stamp, t.tv_nsec / 1000000, level, text);
}

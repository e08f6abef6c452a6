/* What the commands on Kafka share: configuration from file, environment and command line, and
 * logs. */
#include "cli/kafka_options.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"

static const char *log_stage = "";
static bool log_json;

int sp_cli_kafka_parse(const struct sp_command *command, int argc, char **argv,
                       const struct sp_cli_options *options, struct sp_config *config)
{
    struct sp_fault fault;
    const char *letters = options->letters ? options->letters : "";
    sp_config_default(config);
    /* In this order: the file, the environment, --set. So the first pass looks for the file. */
    for (int pass = 0; pass < 2; pass++) {
        optind = 0;
        opterr = pass == 0;
        for (int c; (c = getopt_long(argc, argv, letters, options->table, NULL)) != -1;) {
            bool now = c == SP_OPT_CONFIG ? pass == 0 : c >= SP_OPT_SET ? pass == 1 : pass == 0;
            if (!now)
                continue;
            bool own = options->own && options->own(options->arg, c);
            int code = own ? -1 : sp_cli_common(command, c, config);
            if (code >= 0)
                return code;
        }
        if (pass == 0 &&
            sp_config_environment(config, (const char *const *)environ, &fault) != SP_OK)
            return sp_cli_usage(command, "environment: %s", fault.text);
    }
    log_stage = command->name;
    log_json = config->log_format == SP_CONFIG_LOG_JSON;
    return -1;
}

void sp_cli_kafka_options(const struct sp_config *config, struct sp_kafka_options *ret_options)
{
    *ret_options = (struct sp_kafka_options){.properties = config->kafka,
                                             .property_count = config->kafka_count,
                                             .prefix = config->topics_prefix,
                                             .instance = config->instance,
                                             .log = sp_cli_log};
}

enum sp_err sp_cli_schemas(const struct sp_config *config, const struct sp_kafka_options *kafka,
                           struct sp_schemas **ret_schemas, struct sp_fault *fault)
{
    const struct sp_registry_options options = {
        .urls = config->schema_registry_url,
        .user_info = config->schema_registry_user_info,
        .ca = config->schema_registry_ca,
        .certificate = config->schema_registry_certificate,
        .key = config->schema_registry_key,
        .key_password = config->schema_registry_key_password,
        .registers = config->schema_registry_registers == 1};
    *ret_schemas = NULL;
    if (!config->schema_registry_url[0])
        return SP_OK;
    if (config->topics_pages_schema_id || config->topics_status_schema_id)
        return sp_fault_set(fault, SP_INVALID,
                            "topics.pages_schema_id and topics.status_schema_id are for a registry "
                            "that is not asked: leave them out, or schema.registry.url");
    return sp_schemas_new(&options, kafka, ret_schemas, fault);
}

const char **sp_cli_client_properties(const struct sp_kafka_options *kafka, bool only_new)
{
    const char **properties = sp_calloc(2 * kafka->property_count + 3, sizeof *properties);
    size_t count = 0;
    for (size_t i = 0; i < kafka->property_count; i++) {
        properties[count++] = kafka->properties[i].key;
        properties[count++] = kafka->properties[i].value;
    }
    if (only_new) {
        properties[count++] = "auto.offset.reset";
        properties[count++] = "latest";
    }
    return properties;
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

static void put_member(struct sp_buf *out, const char *name, const char *value)
{
    sp_buf_put_u8(out, out->len ? ',' : '{');
    sp_json_put_text(out, name);
    sp_buf_put_u8(out, ':');
    sp_json_put_text(out, value);
}

void sp_cli_log(const char *level, const char *text)
{
    int64_t now_ms = sp_clock_wall_ms();
    time_t now = (time_t)(now_ms / 1000);
    struct tm utc;
    char seconds[32], stamp[48];
    struct sp_buf line = {0};
    gmtime_r(&now, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(stamp, sizeof stamp, "%s.%03dZ", seconds, (int)(now_ms % 1000));
    if (log_json) {
        put_member(&line, "time", stamp);
        put_member(&line, "level", level);
        put_member(&line, "stage", log_stage);
        put_member(&line, "text", text);
        sp_buf_put_u8(&line, '}');
    } else {
        const char *const parts[] = {stamp, " ", level, " ", log_stage, ": ", text};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            sp_buf_put_str(&line, parts[i]);
        for (size_t i = 0; i < line.len; i++) /* an entry must stay one line */
            if ((unsigned char)line.data[i] < ' ')
                line.data[i] = ' ';
        sp_buf_put_u8(&line, 0);
        sp_fault_tame(line.data);
        line.len--;
    }
    sp_buf_put_u8(&line, '\n');
    fwrite(line.data, 1, line.len, stderr); /* as one write, because other threads log as well */
    sp_buf_done(&line);
}

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

const volatile sig_atomic_t *sp_cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    return &stop;
}

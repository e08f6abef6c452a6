/* samepage watch: the monitor beside the stages on Kafka. */
#include "kafka/watch.h"
#include "cli/kafka_options.h"
#include "cli/settings.h"
#include "kafka/health.h"

enum { INTERVAL_MS = 1000 };

static enum sp_err watch(const struct sp_config *config, struct sp_fault *fault)
{
    struct sp_settings settings;
    struct sp_worker_metrics metrics = {0};
    enum sp_err err = sp_settings_init(config, &settings, fault);
    if (err != SP_OK)
        return err;
    struct sp_watch_options options = {.audit = settings.run.audit,
                                       .interval_ms = INTERVAL_MS,
                                       .log = sp_cli_log,
                                       .metrics = &metrics};
    struct sp_health_options http = {config->http_listen, "watch", &metrics};
    struct sp_health *server = NULL;
    options.audit.patience = config->audit_patience;
    sp_cli_kafka_options(config, &options.kafka);
    const volatile sig_atomic_t *stop = sp_cli_catch_signals();
    if (config->http_listen[0])
        err = sp_health_start(&http, &server, fault);
    if (err == SP_OK)
        err = sp_watch_run(&options, stop, fault);
    sp_health_stop(server);
    sp_settings_done(&settings);
    return err;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    static const struct option table[] = {SP_COMMON_OPTIONS, SP_SETTING_OPTIONS, {0}};
    struct sp_config config;
    struct sp_fault fault;
    int code =
        sp_cli_kafka_parse(command, argc, argv, &(struct sp_cli_options){.table = table}, &config);
    if (code < 0 && optind != argc)
        code = sp_cli_usage(command, "\"%s\" is not an option", argv[optind]);
    if (code < 0 && config.audit_share <= 0)
        code = sp_cli_usage(
            command, "audit.share is 0, so no page would be watched: give --set audit.share=0.001");
    if (code < 0)
        code = watch(&config, &fault) == SP_OK ? SP_EXIT_DONE : sp_cli_failed("%s", fault.text);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_command_watch = {
    "watch", "a monitor of the stages on Kafka: checks the statuses of a sample of pages",
    "NAME\n"
    "  samepage watch - checks the statuses of a sample of pages while the stages on Kafka run\n\n"
    "SYNOPSIS\n"
    "  samepage watch [--config FILE] [--set KEY=VALUE]...\n\n"
    "DESCRIPTION\n"
    "  Compares a share of the pages (audit.share) by an exact join. Logs and counts near duplicates\n"
    "  whose statuses say that they are none, and statuses that the signatures show to be wrong, if\n"
    "  this lasts for audit.patience looks at the topics; docs/AUDIT.md explains what each count\n"
    "  proves.\n"
    "  Reads the topic audit, to which the signature stage copies the fetches of these pages if it\n"
    "  has the same audit.share, and all statuses. Uses the settings of the stages and writes to no\n"
    "  topic. Starts at the current ends of the topics and runs until SIGTERM or SIGINT.\n"
    "  http.listen serves /livez, /readyz and /metrics.\n\n"
    "OPTIONS\n"
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  --help              this text\n\n" SP_ENVIRONMENT_HELP "\nEXIT STATUS\n"
    "  0 ended by a signal; 1 failed; 2 wrong usage\n",
    run};

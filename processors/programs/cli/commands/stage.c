/* samepage signature, group, compare, contain: one stage on Kafka. */
#include <stdio.h>
#include <string.h>

#include "cli/kafka_options.h"
#include "cli/settings.h"
#include "kafka/health.h"
#include "kafka/stages.h"
#include "local/pipeline.h"

enum {
    BEHIND_MS = 1000,        /* of a transaction */
    CACHE_BYTES = 512 << 20, /* unless cache.bytes says otherwise: a machine has several stages */
};

/* A run's, but for the size of write buffers that is left open: a machine has several stages. */
static struct sp_rocksdb_options store_options(const char *stage, const struct sp_config *config,
                                               const struct sp_run_options *run)
{
    struct sp_rocksdb_options usual, store = run->store;
    sp_rocksdb_options_default(&usual);
    if (!config->store_memtable_bytes)
        store.memtable_bytes = usual.memtable_bytes;
    store.gathers = store.background = true;
    store.databases = strcmp(stage, "contain") == 0 ? 1
                      : strcmp(stage, "group") == 0 ? (uint32_t)config->tier1_partitions
                                                    : (uint32_t)config->tier2_partitions;
    return store;
}

/* The settings are cache sizes of a process with all partitions. A stage's own caches are divided
 * by the number of partitions; the store's caches are shared by those that the process has. */
static struct sp_stage_options stage_options(const struct sp_config *config,
                                             const struct sp_run_options *run)
{
    const uint64_t cache_bytes = config->cache_bytes ? config->cache_bytes : CACHE_BYTES;
    struct sp_stage_options stage = {.text = run->text,
                                     .pages_schema_id = (uint32_t)config->topics_pages_schema_id,
                                     .status_schema_id = (uint32_t)config->topics_status_schema_id,
                                     .group = run->bus.group,
                                     .compare = run->bus.compare,
                                     .contain = run->bus.contain,
                                     .contents_cache_bytes = cache_bytes,
                                     .audit_share = config->audit_share};
    sp_settings_input(config, &stage.input);
    stage.group.cache_bytes = cache_bytes / config->tier1_partitions;
    stage.compare.cache_bytes = cache_bytes / config->tier2_partitions;
    return stage;
}

static struct sp_worker_options worker_options(const char *name, const struct sp_config *config,
                                               const char *fingerprint,
                                               struct sp_worker_metrics *metrics)
{
    const bool signature = strcmp(name, "signature") == 0;
    struct sp_worker_options o = {.state = config->state_directory,
                                  .fingerprint = fingerprint,
                                  .commit_interval_ms = (uint32_t)config->commit_interval_ms,
                                  .commit_idle_ms = (uint32_t)config->commit_interval_ms / 10,
                                  .commit_behind_ms = BEHIND_MS,
                                  .commit_messages = config->commit_messages,
                                  .standby_replicas = (uint32_t)config->standby_replicas,
                                  .max_lag = config->flow_max_lag,
                                  .log = sp_cli_log,
                                  .metrics = metrics};
    o.must_have[SP_TOPIC_TIER1] = (int32_t)config->tier1_partitions;
    o.must_have[SP_TOPIC_TIER2] = (int32_t)config->tier2_partitions;
    if (config->containment_threshold > 0 && !signature)
        o.must_have[SP_TOPIC_CONTAIN] = 1;
    if (config->audit_share > 0 && signature)
        o.must_have[SP_TOPIC_AUDIT] = 1;
    sp_cli_kafka_options(config, &o.kafka);
    return o;
}

static struct sp_worker_stage stage_named(const char *name, const struct sp_stage_options *options)
{
    return strcmp(name, "signature") == 0 ? sp_stage_signature(options)
           : strcmp(name, "group") == 0   ? sp_stage_group(options)
           : strcmp(name, "contain") == 0 ? sp_stage_contain(options)
                                          : sp_stage_compare(options);
}

static enum sp_err run_stage(const struct sp_command *command, const struct sp_config *config,
                             struct sp_fault *fault)
{
    const char *name = command->name;
    struct sp_settings settings;
    struct sp_worker_metrics metrics = {0};
    if (strcmp(name, "contain") == 0 && config->containment_threshold == 0)
        return sp_fault_set(fault, SP_INVALID,
                            "containment.threshold is 0: there is nothing to do; set it for the "
                            "group stage as well");
    enum sp_err err = sp_settings_init(config, &settings, fault);
    if (err != SP_OK)
        return err;
    struct sp_stage_options stage = stage_options(config, &settings.run);
    struct sp_worker_options options =
        worker_options(name, config, settings.run.fingerprint, &metrics);
    options.store = store_options(name, config, &settings.run);
    options.store.shared = sp_rocksdb_shared_new(&options.store);
    options.stage = stage_named(name, &stage);
    err = sp_cli_schemas(config, &options.kafka, &stage.schemas, fault);
    if (err == SP_OK && !stage.schemas) /* the client of the registry belongs to one thread */
        options.readers = sp_pipeline_workers((uint32_t)config->threads);
    struct sp_health_options http = {config->http_listen, name, &metrics};
    struct sp_health *server = NULL;
    const volatile sig_atomic_t *stop = sp_cli_catch_signals();
    if (err == SP_OK && config->http_listen[0])
        err = sp_health_start(&http, &server, fault);
    if (err == SP_OK)
        err = sp_worker_run(&options, stop, fault);
    sp_health_stop(server);
    sp_schemas_free(stage.schemas);
    sp_rocksdb_shared_free(options.store.shared);
    sp_settings_done(&settings);
    return err;
}

/* Reports an error; if the log is in JSON, its last line must be JSON, too. */
static int failed(const struct sp_config *config, const char *message)
{
    if (config->log_format == SP_CONFIG_LOG_PLAIN)
        return sp_cli_failed("%s", message);
    sp_cli_log("error", message);
    return SP_EXIT_FAILED;
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
    if (code < 0 && !config.instance[0])
        code = sp_cli_usage(command, "instance must not be empty: it names this process");
    if (code < 0 && !config.state_directory[0])
        code = sp_cli_usage(command, "state.directory must not be empty: the state would be in /");
    if (code < 0)
        code = run_stage(command, &config, &fault) == SP_OK ? SP_EXIT_DONE
                                                            : failed(&config, fault.text);
    sp_config_done(&config);
    return code;
}

#define STAGE_HELP(name, summary, work)                                                              \
    "NAME\n"                                                                                         \
    "  samepage " name " - " summary "\n\n"                                                          \
    "SYNOPSIS\n"                                                                                     \
    "  samepage " name " [--config FILE] [--set KEY=VALUE]...\n\n"                                   \
    "DESCRIPTION\n" work                                                                             \
    "  Each instance needs its own name (`instance`). SIGTERM and SIGINT commit the open\n"          \
    "  transaction and end the process.\n"                                                           \
    "  Settings `kafka.*` are passed to librdkafka: kafka.bootstrap.servers, and those of TLS and\n" \
    "  SASL. http.listen serves /livez, /readyz and /metrics.\n\n"                                   \
    "OPTIONS\n"                                                                                      \
    "  --config FILE       read settings from FILE\n"                                                \
    "  --set KEY=VALUE     change one setting; may be repeated\n"                                    \
    "  --help-settings     all settings, with their defaults\n"                                      \
    "  --help              this text\n\n" SP_ENVIRONMENT_HELP "\nEXIT STATUS\n"                      \
    "  0 ended by a signal; 1 failed; 2 wrong usage\n"

#define WITH_STATE                                                                                    \
    "  Keeps its state in state.directory, and restores it from the changelog if it is lost. After\n" \
    "  a stop, its partitions stay reserved for kafka.session.timeout.ms, so that a restart does\n"   \
    "  not move them.\n"

#define SIGNATURE_WORK                                                                                 \
    "  Reads fetches from the topic pages, and sends the signature of each to the group stage.\n"      \
    "  Keeps no state. Instances share the partitions of the topic pages; those of an instance that\n" \
    "  stops are assigned to the others at once.\n"

#define GROUP_WORK                                                                                     \
    "  Tier 1: keeps the groups of near duplicates, chooses their winners, and writes status events\n" \
    "  to the topic status. Up to tier1.partitions instances share the work.\n" WITH_STATE

#define COMPARE_WORK                                                                                  \
    "  Tier 2: keeps the signatures of all pages, finds the near duplicates of each new or changed\n" \
    "  page, and reports them to the group stage. Up to tier2.partitions instances share the work.\n" WITH_STATE

#define CONTAIN_WORK                                                                                  \
    "  Finds kept pages whose text is part of a larger kept page, and reports them to the group\n"    \
    "  stage. Needs containment.threshold. One instance works at a time; another one takes over if\n" \
    "  it stops.\n" WITH_STATE

const struct sp_command sp_command_signature = {
    "signature", "the signature stage on Kafka: pages to signatures",
    STAGE_HELP("signature", "the signature stage on Kafka: pages to signatures", SIGNATURE_WORK),
    run};
const struct sp_command sp_command_group = {
    "group", "the group stage on Kafka: groups, winners, statuses",
    STAGE_HELP("group", "the group stage on Kafka: groups, winners, statuses", GROUP_WORK), run};
const struct sp_command sp_command_compare = {
    "compare", "the compare stage on Kafka: near duplicates of a page",
    STAGE_HELP("compare", "the compare stage on Kafka: near duplicates of a page", COMPARE_WORK),
    run};
const struct sp_command sp_command_contain = {
    "contain", "the contain stage on Kafka: pages that are part of larger ones",
    STAGE_HELP("contain", "the contain stage on Kafka: pages that are part of larger ones",
               CONTAIN_WORK),
    run};

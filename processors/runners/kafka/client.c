/* See client.h. The order is: defaults, then the user's properties, then what correctness requires,
 * which users cannot change. */
#include "kafka/client.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/huge.h"
#include "kafka/monotonic.h"
#include "kafka/repeats.h"

void sp_topic_name(const struct sp_kafka_options *o, enum sp_topic topic,
                   char ret_name[SP_TOPIC_NAME_MAX])
{
    static const char *const names[SP_TOPICS] = {
        "pages",           "tier1",       "tier2",
        "status",          "dead-letter", "tier1-changelog",
        "tier2-changelog", "contain",     "contain-changelog",
        "rules",           "audit"};
    snprintf(ret_name, SP_TOPIC_NAME_MAX, "%s%s", o->prefix, names[topic]);
}

void sp_group_name(const struct sp_kafka_options *o, const char *stage,
                   char ret_name[SP_TOPIC_NAME_MAX])
{
    snprintf(ret_name, SP_TOPIC_NAME_MAX, "%s%s", o->prefix, stage);
}

/* ---- the log ---- */

enum { SECRET_MIN = 4 }; /* shorter values are not secrets, and hiding them would hide other text */

static bool is_secret(const char *key)
{
    static const char *const parts[] = {"password", "secret", "token", "key.pem",
                                        "oauthbearer.config"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(key, parts[i]))
            return true;
    return false;
}

/* Returns the length of the longest secret that starts here; it may be cut by the end of the text.
 */
static size_t secret_at(const struct sp_kafka_options *o, const char *at)
{
    size_t longest = 0, left = strlen(at);
    for (size_t i = 0; i < o->property_count; i++) {
        size_t n = strlen(o->properties[i].value);
        if (n < SECRET_MIN || !is_secret(o->properties[i].key))
            continue;
        n = n < left ? n : left;
        if (n >= SECRET_MIN && n > longest && memcmp(at, o->properties[i].value, n) == 0)
            longest = n;
    }
    return longest;
}

void sp_kafka_redact(const struct sp_kafka_options *o, char *text)
{
    for (char *at = text; *at; at++) {
        size_t n = secret_at(o, at);
        if (n == 0)
            continue;
        memmove(at + 3, at + n, strlen(at + n) + 1);
        memset(at, '*', 3);
        at += 2;
    }
}

/* Global, because librdkafka calls from its own threads, sometimes before a handle has its opaque.
 */
static const struct sp_kafka_options *_Atomic logging;

/* Levels are those of syslog. */
void sp_kafka_log(const rd_kafka_t *handle, int level, const char *facility, const char *line)
{
    enum { LEVEL_DEBUG = 7 };
    const struct sp_kafka_options *o = logging;
    char text[2048];
    /* Each handle gets all of the user's properties, also those that only another kind of handle
     * knows. */
    if (strcmp(facility, "CONFWARN") == 0 && strstr(line, "will be ignored by this"))
        return;
    /* A broker that has just started loads its coordinators. If it never ends, the call that
     * waits for a producer id reports that. */
    if (strcmp(facility, "GETPID") == 0 && strstr(line, "retrying"))
        return;
    if (level < LEVEL_DEBUG && sp_repeats(facility, line))
        return;
    snprintf(text, sizeof text, "librdkafka: %s: %s: %s", handle ? rd_kafka_name(handle) : "-",
             facility, line);
    sp_kafka_redact(o, text);
    o->log(level <= 3 ? "error" : level == 4 ? "warning" : level <= 6 ? "info" : "debug", text);
}

/* ---- refusals ---- */

/* Callbacks run in the thread that polls. While sp_kafka_no_reply polls, they store a refusal
 * here. */
static _Thread_local struct sp_fault *asked;
static _Thread_local bool asked_down; /* no address accepts connections */

void sp_kafka_error(rd_kafka_t *handle, int code, const char *reason, void *opaque)
{
    (void)opaque;
    if (asked && (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL)) {
        sp_fault_set(asked, SP_BUSY, "refused: %s", reason);
        sp_kafka_redact(logging, asked->text);
    }
    asked_down |= code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
    if (code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__RESOLVE)
        return; /* logged already, with the facility FAIL */
    if (logging)
        sp_kafka_log(handle, 3, "ERROR", reason);
}

enum sp_err sp_kafka_no_reply(rd_kafka_t *handle, struct sp_fault *fault)
{
    enum { POLLS = 20 }; /* an error stays in a queue until the next poll */
    fault->text[0] = 0;
    asked = fault;
    for (int i = 0; i < POLLS && !fault->text[0]; i++) {
        rd_kafka_message_t *m = NULL;
        if (rd_kafka_type(handle) == RD_KAFKA_CONSUMER)
            m = rd_kafka_consumer_poll(handle, 0);
        else
            rd_kafka_poll(handle, 0);
        if (m)
            rd_kafka_message_destroy(m);
    }
    asked = NULL;
    return fault->text[0] ? SP_BUSY
                          : sp_fault_set(fault, SP_BUSY,
                                         "no broker is reachable; see kafka.bootstrap.servers");
}

static const char *address_of(const struct sp_kafka_options *o);

/* `down_ms`, `silent_ms`: how long, if no address accepts connections, and if there is no reply. */
static enum sp_err reach(const struct sp_kafka_options *o, rd_kafka_t *handle, int64_t down_ms,
                         int64_t silent_ms, struct sp_fault *fault)
{
    const struct rd_kafka_metadata *metadata = NULL;
    asked_down = false;
    for (int64_t waited = 0; waited < (asked_down ? down_ms : silent_ms);
         waited += SP_KAFKA_REACH_STEP_MS) {
        if (rd_kafka_metadata(handle, 0, NULL, &metadata, SP_KAFKA_REACH_STEP_MS) ==
            RD_KAFKA_RESP_ERR_NO_ERROR) {
            rd_kafka_metadata_destroy(metadata);
            return SP_OK;
        }
        sp_kafka_no_reply(handle, fault);
        if (strncmp(fault->text, "refused", 7) == 0)
            return sp_fault_set(fault, SP_INVALID, "Kafka: %s", fault->text);
    }
    return sp_fault_set(fault, SP_BUSY,
                        "Kafka: no broker is reachable at %.200s; start one there, or name yours: "
                        "--set kafka.bootstrap.servers=HOST:PORT",
                        address_of(o));
}

enum sp_err sp_kafka_reach(const struct sp_kafka_options *o, rd_kafka_t *handle,
                           struct sp_fault *fault)
{
    return reach(o, handle, SP_KAFKA_REACH_DOWN_MS, SP_KAFKA_REACH_SILENT_MS, fault);
}

enum sp_err sp_kafka_await(const struct sp_kafka_options *o, rd_kafka_t *handle, int64_t wait_ms,
                           struct sp_fault *fault)
{
    return reach(o, handle, wait_ms, wait_ms, fault);
}

/* ---- configuration ---- */

struct builder {
    rd_kafka_conf_t *conf;
    char error[512];
    bool failed;
};

static void set(struct builder *b, const char *key, const char *value)
{
    char error[384];
    if (b->failed)
        return;
    if (rd_kafka_conf_set(b->conf, key, value, error, sizeof error) != RD_KAFKA_CONF_OK) {
        b->failed = true;
        snprintf(b->error, sizeof b->error, "kafka.%s: %s", key,
                 is_secret(key) ? "refused" : error);
    }
}

struct default_value {
    const char *key;
    const char *value;
};

static const struct default_value common[] = {{"bootstrap.servers", "127.0.0.1:9092"},
                                              {"message.max.bytes", "20000000"},
                                              {"log.connection.close", "false"},
                                              {NULL, NULL}};

static const struct default_value of_consumers[] = {
    /* per consumer. At the limit librdkafka pauses for a second (before 2.2 always), and what is
     * queued must last as long. */
    {"queued.max.messages.kbytes", "65536"},
    {"queued.min.messages", "1000000"}, /* so that this is never the limit */
    {"partition.assignment.strategy", "range"},
    {"session.timeout.ms", "30000"},
    {"max.poll.interval.ms", "600000"},     /* a restore happens between two polls */
    {"fetch.message.max.bytes", "1048576"}, /* larger messages are received as well */
    {"fetch.wait.max.ms", "20"},            /* the end of a topic is noticed after this time */
    {NULL, NULL}};

/* The broker replies as soon as there is a message. Until then each request costs both sides the
 * same as one with messages. */
static const struct default_value of_stages[] = {{"fetch.wait.max.ms", "200"}, {NULL, NULL}};

/* Memory that is used again is still in the processor's cache. In memory a small message takes
 * three times its size. A fetch of 4 MB takes the broker two thirds of the time of four of 1 MB. */
static const struct default_value of_restorers[] = {
    {"queued.max.messages.kbytes", "16384"}, {"fetch.message.max.bytes", "4194304"}, {NULL, NULL}};

/* A page is sent from where it is, and not copied into the request. */
static const struct default_value of_page_producers[] = {{"message.copy.max.bytes", "4096"},
                                                         {NULL, NULL}};

static const struct default_value of_producers[] = {
    {"linger.ms", "50"}, /* with 5, batches of `ingest` were sent before they were full */
    {"batch.size", "1000000"},
    {"compression.type", "none"}, /* signatures are random bytes */
    {"queue.buffering.max.messages", "1000000"},
    {NULL, NULL}};

enum { ADDRESS, MESSAGE_BYTES }; /* places in `common` */

/* The user's value of a property, or the default. */
static const char *value_of(const struct sp_kafka_options *o, const struct default_value *property)
{
    const char *found = property->value;
    for (size_t i = 0; i < o->property_count; i++)
        if (strcmp(o->properties[i].key, property->key) == 0)
            found = o->properties[i].value;
    return found;
}

static const char *address_of(const struct sp_kafka_options *o)
{
    return value_of(o, &common[ADDRESS]);
}

static void set_all(struct builder *b, const struct default_value *values)
{
    for (; values->key; values++)
        set(b, values->key, values->value);
}

/* `samepage ingest` reads faster than a broker takes: librdkafka's limit of 1 GB filled up with
 * pages. There is always room for two messages of the largest size, one to be sent and one to be
 * read. */
static void set_queue(struct builder *b, const struct sp_kafka_options *o)
{
    enum { LEAST_KBYTES = 32 << 10 };
    char text[32];
    uint64_t kbytes = 2 * strtoull(value_of(o, &common[MESSAGE_BYTES]), NULL, 10) / 1024 + 1;
    snprintf(text, sizeof text, "%" PRIu64, kbytes > LEAST_KBYTES ? kbytes : LEAST_KBYTES);
    set(b, "queue.buffering.max.kbytes", text);
}

/* Nobody reads the messages of a stage before the commit, which sends what is queued at once.
 * Messages that have waited for linger.ms while a request of their partition is on its way have
 * librdkafka 2.0 poll the socket without a pause, so it is as long as a transaction usually lasts
 * at most. librdkafka requires it to be shorter than the time-outs of messages. */
static void set_linger(struct builder *b, const struct sp_kafka_options *o)
{
    static const struct default_value limits[] = {{"transaction.timeout.ms", "30000"},
                                                  {"message.timeout.ms", "0"},
                                                  {"delivery.timeout.ms", "0"}};
    char text[32];
    uint64_t least_ms = UINT64_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t ms = strtoull(value_of(o, &limits[i]), NULL, 10);
        least_ms = ms && ms < least_ms ? ms : least_ms;
    }
    snprintf(text, sizeof text, "%" PRIu64, least_ms / 2);
    set(b, "linger.ms", text);
}

static void set_defaults(struct builder *b, const struct sp_kafka_options *o,
                         enum sp_kafka_role role)
{
    set_all(b, common);
    set(b, "client.id", o->instance);
    set_all(b, role <= SP_KAFKA_WATCHER ? of_consumers : of_producers);
    if (role <= SP_KAFKA_PASSING_CONSUMER)
        set_all(b, of_stages);
    if (role == SP_KAFKA_RESTORER)
        set_all(b, of_restorers);
    if (role == SP_KAFKA_TRANSACTIONAL) {
        set(b, "transaction.timeout.ms", "30000");
        set_linger(b, o);
    }
    if (role == SP_KAFKA_PRODUCER) {
        set_all(b, of_page_producers);
        set_queue(b, o);
    }
}

/* The threads of brokers allocate all that is received. */
static rd_kafka_resp_err_t on_thread(rd_kafka_t *handle, rd_kafka_thread_type_t type,
                                     const char *name, void *arg)
{
    (void)handle, (void)name, (void)arg;
    if (type == RD_KAFKA_THREAD_BROKER)
        sp_huge_thread();
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_new(rd_kafka_t *handle, const rd_kafka_conf_t *conf, void *arg,
                                  char *error, size_t error_size)
{
    (void)conf, (void)arg, (void)error, (void)error_size;
    return rd_kafka_interceptor_add_on_thread_start(handle, "huge", on_thread, NULL);
}

static void set_role(struct builder *b, const struct sp_kafka_options *o, enum sp_kafka_role role,
                     const char *name)
{
    char id[SP_TOPIC_NAME_MAX + 2 * SP_CONFIG_TEXT];
    bool consumer = role <= SP_KAFKA_WATCHER;
    snprintf(id, sizeof id, "%s%s", o->prefix, name ? name : "none");
    if (consumer && (name || role != SP_KAFKA_WATCHER))
        set(b, "group.id", id);
    if (consumer) {
        set(b, "enable.auto.commit", "false");
        set(b, "enable.auto.offset.store", "false");
        /* If messages were deleted before a stage has read them, it must hear of it. */
        set(b, "auto.offset.reset", role <= SP_KAFKA_PASSING_CONSUMER ? "error" : "earliest");
        set(b, "isolation.level", role == SP_KAFKA_WATCHER ? "read_uncommitted" : "read_committed");
    }
    if (consumer && role != SP_KAFKA_WATCHER)
        set(b, "enable.partition.eof", "true");
    if (role == SP_KAFKA_GROUP_CONSUMER && o->instance[0]) {
        snprintf(id, sizeof id, "%s%s-%s", o->prefix, name, o->instance);
        set(b, "group.instance.id", id);
    }
    if (role == SP_KAFKA_TRANSACTIONAL) {
        snprintf(id, sizeof id, "%s%s-%s", o->prefix, name, o->instance);
        set(b, "transactional.id", id);
    }
    if (!consumer)
        set(b, "enable.idempotence", "true");
}

/* At a rebalance a stage closes all of its databases and opens those of the new assignment. A
 * cooperative assignor names only the difference, so the stage would keep closed partitions. */
static void refuse_cooperative(struct builder *b)
{
    char strategy[256] = "";
    size_t size = sizeof strategy;
    if (b->failed || rd_kafka_conf_get(b->conf, "partition.assignment.strategy", strategy, &size) !=
                         RD_KAFKA_CONF_OK)
        return;
    b->failed = strstr(strategy, "cooperative") != NULL;
    if (b->failed)
        snprintf(b->error, sizeof b->error,
                 "kafka.partition.assignment.strategy: %.100s is not possible for a stage, which "
                 "takes partitions all at once; range (the default) and roundrobin are",
                 strategy);
}

/* A larger message than the whole queue is refused as if the queue were full, also when it is
 * empty, so its sender would wait for room without end. */
static void refuse_short_queue(struct builder *b, const struct sp_kafka_options *o)
{
    static const struct default_value queue = {"queue.buffering.max.kbytes", "1048576"};
    if (b->failed)
        return;
    uint64_t kbytes = strtoull(value_of(o, &queue), NULL, 10);
    uint64_t message = strtoull(value_of(o, &common[MESSAGE_BYTES]), NULL, 10);
    b->failed = kbytes * 1024 < message;
    if (b->failed)
        snprintf(b->error, sizeof b->error,
                 "kafka.queue.buffering.max.kbytes: %" PRIu64
                 " KiB are less than kafka.message.max.bytes (%" PRIu64
                 "), so a message of that size could never be sent",
                 kbytes, message);
}

enum sp_err sp_kafka_open(const struct sp_kafka_options *o, enum sp_kafka_role role,
                          const char *name, void (*configure)(rd_kafka_conf_t *conf, void *arg),
                          void *arg, rd_kafka_t **ret_handle, struct sp_fault *fault)
{
    struct builder b = {.conf = rd_kafka_conf_new()};
    char error[512] = "";
    sp_monotonic_waits();
    set_defaults(&b, o, role);
    for (size_t i = 0; i < o->property_count; i++)
        set(&b, o->properties[i].key, o->properties[i].value);
    set_role(&b, o, role, name);
    if (role <= SP_KAFKA_PASSING_CONSUMER)
        refuse_cooperative(&b);
    if (role > SP_KAFKA_WATCHER)
        refuse_short_queue(&b, o);
    if (b.failed) {
        rd_kafka_conf_destroy(b.conf);
        sp_fault_set(fault, SP_INVALID, "%s", b.error);
        sp_kafka_redact(o, fault->text);
        return SP_INVALID;
    }
    if (o->log) {
        logging = o;
        rd_kafka_conf_set_log_cb(b.conf, sp_kafka_log);
        rd_kafka_conf_set_error_cb(b.conf, sp_kafka_error);
    }
    if (configure)
        configure(b.conf, arg);
    if (role == SP_KAFKA_RESTORER)
        rd_kafka_conf_interceptor_add_on_new(b.conf, "huge", on_new, NULL);
    rd_kafka_t *handle =
        rd_kafka_new(role <= SP_KAFKA_WATCHER ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, b.conf,
                     error, sizeof error);
    if (!handle) {
        rd_kafka_conf_destroy(b.conf);
        sp_fault_set(fault, SP_INVALID, "Kafka: %s", error);
        sp_kafka_redact(o, fault->text);
        return SP_INVALID;
    }
    if (role <= SP_KAFKA_WATCHER)
        rd_kafka_poll_set_consumer(handle);
    *ret_handle = handle;
    return SP_OK;
}

struct deliveries {
    void (*each)(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg);
    void *arg;
};

static void report_deliveries(rd_kafka_conf_t *conf, void *arg)
{
    const struct deliveries *d = arg;
    rd_kafka_conf_set_opaque(conf, d->arg);
    rd_kafka_conf_set_dr_msg_cb(conf, d->each);
}

enum sp_err sp_kafka_open_producer(const struct sp_kafka_options *o,
                                   void (*on_delivery)(rd_kafka_t *handle,
                                                       const rd_kafka_message_t *m, void *arg),
                                   void *arg, rd_kafka_t **ret_handle, struct sp_fault *fault)
{
    struct deliveries d = {on_delivery, arg};
    return sp_kafka_open(o, SP_KAFKA_PRODUCER, NULL, report_deliveries, &d, ret_handle, fault);
}

uint64_t sp_kafka_number(rd_kafka_t *handle, const char *property)
{
    char text[32] = "";
    size_t size = sizeof text;
    if (rd_kafka_conf_get(rd_kafka_conf(handle), property, text, &size) != RD_KAFKA_CONF_OK)
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

static void *destroy(void *handle)
{
    rd_kafka_destroy(handle);
    return NULL;
}

/* rd_kafka_destroy waits for the handle's threads. If the topic of a consumer was recreated with
 * fewer partitions, they do not end (librdkafka 2.0), and a stage did not leave when it was told
 * to. What is left of such a handle only sleeps. */
void sp_kafka_close(rd_kafka_t *handle)
{
    enum { PATIENCE_SECONDS = 10 };
    pthread_t thread;
    struct timespec end;
    if (!handle)
        return;
    if (pthread_create(&thread, NULL, destroy, handle) != 0) {
        rd_kafka_destroy(handle);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += PATIENCE_SECONDS;
    if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end) == 0)
        return;
    pthread_detach(thread);
    if (logging)
        sp_kafka_log(NULL, 4, "CLOSE", "a handle does not end, and is left behind");
}

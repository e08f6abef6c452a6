/* Handles: librdkafka's log lines arrive through the callback, and no text contains a secret. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "kafka/client.h"

static struct sp_config_property properties[] = {{"sasl.username", "somebody"},
                                                 {"sasl.password", "hunter22"},
                                                 {"ssl.key.password", "hunter22-and-more"},
                                                 {"sasl.oauthbearer.client.secret", "abc"}};

static const struct sp_kafka_options secretive = {
    .properties = properties, .property_count = 4, .prefix = "t.", .instance = "1"};

static void check_redacted(const char *text, const char *expected)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", text);
    sp_kafka_redact(&secretive, copy);
    if (strcmp(copy, expected) != 0)
        printf("%s: %s\n", text, copy);
    CU_ASSERT_STRING_EQUAL(copy, expected);
}

enum { HOUR_MS = 3600000, WAIT_MS = 20 };

/* What was added to the system's clock. */
static time_t set_seconds;

int __real_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    int code = __real_clock_gettime(clock, ret_now);
    if (clock == CLOCK_REALTIME)
        ret_now->tv_sec += __atomic_load_n(&set_seconds, __ATOMIC_RELAXED);
    return code;
}

/* How often somebody waited by a clock that nobody sets, and the longest of these waits. */
static int waits;
static long longest_ms;

int __real_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *end);
int __wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *end);

int __wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *end)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
    __atomic_add_fetch(&waits, clock == CLOCK_MONOTONIC, __ATOMIC_RELAXED);
    if (ms > __atomic_load_n(&longest_ms, __ATOMIC_RELAXED))
        __atomic_store_n(&longest_ms, ms, __ATOMIC_RELAXED);
    return ms > HOUR_MS ? ETIMEDOUT : __real_pthread_cond_clockwait(condition, mutex, clock, end);
}

/* Otherwise the wait of a stage whose clock is set back by hours lasts for hours. */
TEST(librdkafka_waits_by_a_clock_that_nobody_sets)
{
    static const struct sp_kafka_options o = {.prefix = "t.", .instance = "1"};
    rd_kafka_t *handle = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&o, SP_KAFKA_READER, NULL, NULL, NULL, &handle, &fault),
                          SP_OK);
    int before = __atomic_load_n(&waits, __ATOMIC_RELAXED);
    CU_ASSERT_PTR_NULL(rd_kafka_consumer_poll(handle, 20));
    CU_ASSERT_TRUE(__atomic_load_n(&waits, __ATOMIC_RELAXED) > before);
    CU_ASSERT_TRUE(__atomic_load_n(&longest_ms, __ATOMIC_RELAXED) < HOUR_MS);
    rd_kafka_destroy(handle);
}

TEST(a_clock_that_is_set_before_a_wait_begins_does_not_lengthen_it)
{
    cnd_t condition;
    mtx_t mutex;
    struct timespec end;
    struct timeval now;
    CU_ASSERT_EQUAL_FATAL(cnd_init(&condition), thrd_success);
    CU_ASSERT_EQUAL_FATAL(mtx_init(&mutex, mtx_timed), thrd_success);
    mtx_lock(&mutex);
    for (int i = 0; i < 4; i++) {
        set_seconds = i < 2 ? 0 : 100000000;
        if (i % 2 == 0) {
            CU_ASSERT_EQUAL(timespec_get(&end, TIME_UTC), TIME_UTC);
        } else {
            CU_ASSERT_EQUAL(gettimeofday(&now, NULL), 0);
            end = (struct timespec){now.tv_sec, now.tv_usec * 1000};
        }
        end.tv_nsec += WAIT_MS * 1000000;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        set_seconds = i < 2 ? -100000000 : 0;
        longest_ms = -1;
        CU_ASSERT_EQUAL(cnd_timedwait(&condition, &mutex, &end), thrd_timedout);
        CU_ASSERT_TRUE(longest_ms > 0 && longest_ms <= WAIT_MS);
    }
    mtx_unlock(&mutex);
    mtx_destroy(&mutex);
    cnd_destroy(&condition);
}

/* ---- closing */

void __real_rd_kafka_destroy(rd_kafka_t *handle);
void __wrap_rd_kafka_destroy(rd_kafka_t *handle);
int __real_pthread_clockjoin_np(pthread_t thread, void **ret_value, clockid_t clock,
                                const struct timespec *end);
int __wrap_pthread_clockjoin_np(pthread_t thread, void **ret_value, clockid_t clock,
                                const struct timespec *end);

static bool hangs; /* handles do not end */
static long joined_s;
static int left_behind;

void __wrap_rd_kafka_destroy(rd_kafka_t *handle)
{
    while (__atomic_load_n(&hangs, __ATOMIC_ACQUIRE))
        usleep(1000);
    __real_rd_kafka_destroy(handle);
}

int __wrap_pthread_clockjoin_np(pthread_t thread, void **ret_value, clockid_t clock,
                                const struct timespec *end)
{
    struct timespec now;
    clock_gettime(clock, &now);
    joined_s = end->tv_sec - now.tv_sec;
    return hangs ? ETIMEDOUT : __real_pthread_clockjoin_np(thread, ret_value, clock, end);
}

static void look_for_left_behind(const char *level, const char *text)
{
    left_behind += strcmp(level, "warning") == 0 && strstr(text, "is left behind");
}

TEST(a_handle_that_does_not_end_is_left_behind)
{
    struct sp_kafka_options o = {.prefix = "", .instance = "0", .log = look_for_left_behind};
    rd_kafka_t *handles[2];
    struct sp_fault fault;
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(
            sp_kafka_open(&o, SP_KAFKA_WATCHER, NULL, NULL, NULL, &handles[i], &fault), SP_OK);
    sp_kafka_close(NULL);
    sp_kafka_close(handles[0]);
    CU_ASSERT_EQUAL(left_behind, 0);
    __atomic_store_n(&hangs, true, __ATOMIC_RELEASE);
    sp_kafka_close(handles[1]);
    CU_ASSERT(joined_s > 0 && joined_s <= 10);
    CU_ASSERT_EQUAL(left_behind, 1);
    __atomic_store_n(&hangs, false, __ATOMIC_RELEASE);
    rd_kafka_wait_destroyed(5000);
}

TEST(secrets_are_replaced_and_nothing_else)
{
    check_redacted("", "");
    check_redacted("somebody logs in", "somebody logs in");
    check_redacted("password hunter22!", "password ***!");
    check_redacted("hunter22hunter22", "******");
    check_redacted("[hunter22-and-more]", "[***]");
    check_redacted("hunter2", "***");        /* a secret cut off by the end of the text */
    check_redacted("x hunter22-a", "x ***"); /* the longest match is replaced */
    check_redacted("abc", "abc");            /* too short to be a secret */
    check_redacted("hunter23 hun", "hunter23 hun");
}

TEST(a_secret_is_not_in_the_message_that_refuses_it)
{
    struct sp_config_property bad[] = {{"no.such.password", "hunter22"}};
    struct sp_kafka_options o = {
        .properties = bad, .property_count = 1, .prefix = "t.", .instance = "1"};
    rd_kafka_t *handle = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_kafka_open(&o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, &fault),
                    SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "kafka.no.such.password"));
    CU_ASSERT_PTR_NULL(strstr(fault.text, "hunter22"));
}

TEST(a_secret_of_four_characters_is_one_and_the_first_property_may_be_it)
{
    struct sp_config_property secrets[] = {{"sasl.password", "abcd"}, {"ssl.key.password", "xyz"}};
    struct sp_kafka_options o = {
        .properties = secrets, .property_count = 2, .prefix = "t.", .instance = "1"};
    char text[] = "abcd and xyz";
    sp_kafka_redact(&o, text);
    CU_ASSERT_STRING_EQUAL(text, "*** and xyz");
}

/* ---- why a broker does not respond ---- */

static void (*on_error)(rd_kafka_t *handle, int code, const char *reason, void *opaque);
static const char *refusal; /* what the next poll reports; NULL: no error */

void __real_rd_kafka_conf_set_error_cb(rd_kafka_conf_t *conf,
                                       void (*cb)(rd_kafka_t *, int, const char *, void *));
void __wrap_rd_kafka_conf_set_error_cb(rd_kafka_conf_t *conf,
                                       void (*cb)(rd_kafka_t *, int, const char *, void *));
int __real_rd_kafka_poll(rd_kafka_t *handle, int timeout_ms);
int __wrap_rd_kafka_poll(rd_kafka_t *handle, int timeout_ms);

void __wrap_rd_kafka_conf_set_error_cb(rd_kafka_conf_t *conf,
                                       void (*cb)(rd_kafka_t *, int, const char *, void *))
{
    on_error = cb;
    __real_rd_kafka_conf_set_error_cb(conf, cb);
}

int __wrap_rd_kafka_poll(rd_kafka_t *handle, int timeout_ms)
{
    const char *reason = refusal;
    refusal = NULL;
    if (reason)
        on_error(handle, RD_KAFKA_RESP_ERR__AUTHENTICATION, reason, NULL);
    return __real_rd_kafka_poll(handle, timeout_ms);
}

static volatile int refusals_logged; /* librdkafka logs from its own threads */

static void look_for_refusal(const char *level, const char *text)
{
    if (strcmp(level, "error") == 0 && strstr(text, "PLAIN: *** is not a password"))
        refusals_logged++;
}

TEST(a_refusal_is_told_and_logged_without_secrets)
{
    struct sp_config_property secret[] = {{"sasl.password", "hunter22"}};
    struct sp_kafka_options o = {.properties = secret,
                                 .property_count = 1,
                                 .prefix = "t.",
                                 .instance = "1",
                                 .log = look_for_refusal};
    struct sp_fault fault = {"what was said before"};
    rd_kafka_t *handle = NULL;
    CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, &fault),
                          SP_OK);
    refusal = "PLAIN: hunter22 is not a password";
    CU_ASSERT_EQUAL(sp_kafka_no_reply(handle, &fault), SP_BUSY);
    CU_ASSERT_STRING_EQUAL(fault.text, "refused: PLAIN: *** is not a password");
    CU_ASSERT_EQUAL(refusals_logged, 1);
    CU_ASSERT_EQUAL(sp_kafka_no_reply(handle, &fault), SP_BUSY);
    CU_ASSERT_STRING_EQUAL(fault.text, "no broker is reachable; see kafka.bootstrap.servers");
    rd_kafka_destroy(handle);
}

/* ---- names ---- */

static void check_conf(rd_kafka_t *handle, const char *key, const char *expected)
{
    char text[64] = "";
    size_t size = sizeof text;
    CU_ASSERT_EQUAL(rd_kafka_conf_get(rd_kafka_conf(handle), key, text, &size),
                    expected ? RD_KAFKA_CONF_OK : RD_KAFKA_CONF_UNKNOWN);
    CU_ASSERT_STRING_EQUAL(text, expected ? expected : "");
}

/* Static membership keeps the partitions of a stage that restarts. A reader in the same process
 * must not use the same instance id. */
TEST(only_a_stage_with_state_is_a_static_member_of_its_group)
{
    static const struct {
        enum sp_kafka_role role;
        const char *instance, *member;
    } cases[] = {{SP_KAFKA_GROUP_CONSUMER, "1", "t.toy-1"},
                 {SP_KAFKA_GROUP_CONSUMER, "", NULL},
                 {SP_KAFKA_PASSING_CONSUMER, "1", NULL},
                 {SP_KAFKA_READER, "1", NULL},
                 {SP_KAFKA_RESTORER, "1", NULL},
                 {SP_KAFKA_WATCHER, "1", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_kafka_options o = {.prefix = "t.", .instance = cases[i].instance};
        struct sp_fault fault = {""};
        rd_kafka_t *handle = NULL;
        CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&o, cases[i].role, "toy", NULL, NULL, &handle, &fault),
                              SP_OK);
        check_conf(handle, "group.instance.id", cases[i].member);
        check_conf(handle, "group.id", "t.toy");
        rd_kafka_destroy(handle);
    }
}

TEST(a_restore_has_a_short_queue_unless_the_user_wants_another)
{
    static char key[] = "queued.max.messages.kbytes", value[] = "1000";
    struct sp_config_property wanted[] = {{key, value}};
    const struct {
        enum sp_kafka_role role;
        size_t properties;
        const char *expected;
    } cases[] = {{SP_KAFKA_READER, 0, "65536"},
                 {SP_KAFKA_RESTORER, 0, "16384"},
                 {SP_KAFKA_RESTORER, 1, "1000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_kafka_options o = {.properties = wanted,
                                     .property_count = cases[i].properties,
                                     .prefix = "t.",
                                     .instance = "1"};
        struct sp_fault fault = {""};
        rd_kafka_t *handle = NULL;
        CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&o, cases[i].role, "toy", NULL, NULL, &handle, &fault),
                              SP_OK);
        check_conf(handle, key, cases[i].expected);
        check_conf(handle, "enable.partition.eof", "true");
        rd_kafka_destroy(handle);
    }
}

/* ---- what waits to be sent ---- */

static enum sp_err open_with_sizes(enum sp_kafka_role role, char *message, char *kbytes,
                                   rd_kafka_t **ret_handle, struct sp_fault *fault)
{
    char message_key[] = "message.max.bytes", kbytes_key[] = "queue.buffering.max.kbytes";
    struct sp_config_property wanted[2];
    struct sp_kafka_options o = {.properties = wanted, .prefix = "t.", .instance = "1"};
    *ret_handle = NULL;
    if (message)
        wanted[o.property_count++] = (struct sp_config_property){message_key, message};
    if (kbytes)
        wanted[o.property_count++] = (struct sp_config_property){kbytes_key, kbytes};
    return sp_kafka_open(&o, role, "toy", NULL, NULL, ret_handle, fault);
}

TEST(a_producer_queues_little_but_always_two_of_the_largest_messages)
{
    char small[] = "100000", large[] = "1000000000", own[] = "300000";
    const struct {
        char *message, *kbytes;
        const char *expected;
    } cases[] = {{NULL, NULL, "39063"},
                 {small, NULL, "32768"},
                 {large, NULL, "1953126"},
                 {NULL, own, "300000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_fault fault = {""};
        rd_kafka_t *handle = NULL;
        CU_ASSERT_EQUAL_FATAL(
            open_with_sizes(SP_KAFKA_PRODUCER, cases[i].message, cases[i].kbytes, &handle, &fault),
            SP_OK);
        check_conf(handle, "queue.buffering.max.kbytes", cases[i].expected);
        rd_kafka_destroy(handle);
    }
}

TEST(a_queue_that_cannot_hold_the_largest_message_is_refused)
{
    static const enum sp_kafka_role producers[] = {SP_KAFKA_PRODUCER, SP_KAFKA_TRANSACTIONAL};
    char message[] = "1024000", enough[] = "1000", little[] = "999";
    struct sp_fault fault = {""};
    rd_kafka_t *handle = NULL;
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(open_with_sizes(producers[i], message, little, &handle, &fault),
                        SP_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "kafka.queue.buffering.max.kbytes: 999 KiB"));
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "kafka.message.max.bytes (1024000)"));
        CU_ASSERT_EQUAL_FATAL(open_with_sizes(producers[i], message, enough, &handle, &fault),
                              SP_OK);
        rd_kafka_destroy(handle);
    }
}

/* ---- properties that a stage refuses ---- */

static enum sp_err open_with(char *strategy, enum sp_kafka_role role, struct sp_fault *fault)
{
    char key[] = "partition.assignment.strategy";
    struct sp_config_property wanted[] = {{key, strategy}};
    struct sp_kafka_options o = {
        .properties = wanted, .property_count = 1, .prefix = "t.", .instance = "1"};
    rd_kafka_t *handle = NULL;
    enum sp_err err = sp_kafka_open(&o, role, "toy", NULL, NULL, &handle, fault);
    if (handle)
        rd_kafka_destroy(handle);
    return err;
}

TEST(a_stage_refuses_partitions_that_come_and_go_one_by_one)
{
    static const enum sp_kafka_role stages[] = {SP_KAFKA_GROUP_CONSUMER, SP_KAFKA_PASSING_CONSUMER};
    char cooperative[] = "cooperative-sticky", both[] = "range,roundrobin";
    struct sp_fault fault = {""};
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(open_with(cooperative, stages[i], &fault), SP_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "kafka.partition.assignment.strategy"));
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "cooperative-sticky"));
        CU_ASSERT_EQUAL(open_with(both, stages[i], &fault), SP_OK);
    }
    CU_ASSERT_EQUAL(open_with(cooperative, SP_KAFKA_READER, &fault), SP_OK); /* it is in no group */
}

/* A transaction that its worker abandoned blocks readers until it times out. */
/* Within a transaction batches fill up; other producers send soon. */
TEST(only_messages_of_transactions_wait_long_for_others)
{
    const struct sp_kafka_options o = {.prefix = "t.", .instance = "1"};
    const enum sp_kafka_role roles[] = {SP_KAFKA_TRANSACTIONAL, SP_KAFKA_PRODUCER};
    struct sp_fault fault = {""};
    for (int i = 0; i < 2; i++) {
        rd_kafka_t *handle = NULL;
        char text[32];
        size_t size = sizeof text;
        CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&o, roles[i], "toy", NULL, NULL, &handle, &fault),
                              SP_OK);
        CU_ASSERT_EQUAL(rd_kafka_conf_get(rd_kafka_conf(handle), "linger.ms", text, &size),
                        RD_KAFKA_CONF_OK);
        CU_ASSERT_STRING_EQUAL(text, i == 0 ? "15000" : "50");
        rd_kafka_destroy(handle);
    }
}

/* librdkafka refuses a longer wait than the time-outs allow. */
TEST(messages_of_transactions_wait_less_long_than_their_time_outs)
{
    static struct sp_config_property limits[][2] = {
        {{"transaction.timeout.ms", "1000"}, {"transaction.timeout.ms", "1000"}},
        {{"message.timeout.ms", "3000"}, {"transaction.timeout.ms", "12000"}},
        {{"delivery.timeout.ms", "20000"}, {"client.id", "x"}}};
    static const char *const wanted[] = {"500", "1500", "10000"};
    struct sp_fault fault = {""};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct sp_kafka_options o = {
            .prefix = "t.", .instance = "1", .properties = limits[i], .property_count = 2};
        rd_kafka_t *handle = NULL;
        char text[32];
        size_t size = sizeof text;
        CU_ASSERT_EQUAL_FATAL(
            sp_kafka_open(&o, SP_KAFKA_TRANSACTIONAL, "toy", NULL, NULL, &handle, &fault), SP_OK);
        CU_ASSERT_EQUAL(rd_kafka_conf_get(rd_kafka_conf(handle), "linger.ms", text, &size),
                        RD_KAFKA_CONF_OK);
        CU_ASSERT_STRING_EQUAL(text, wanted[i]);
        rd_kafka_destroy(handle);
    }
}

TEST(transactions_time_out_after_half_a_minute_unless_set)
{
    static struct sp_config_property shorter[] = {{"transaction.timeout.ms", "12000"}};
    struct sp_kafka_options o = {.prefix = "t.", .instance = "1"};
    struct sp_fault fault = {""};
    for (size_t i = 0; i < 2; i++) {
        rd_kafka_t *handle = NULL;
        char text[32];
        size_t size = sizeof text;
        o.properties = shorter;
        o.property_count = i;
        CU_ASSERT_EQUAL_FATAL(
            sp_kafka_open(&o, SP_KAFKA_TRANSACTIONAL, "toy", NULL, NULL, &handle, &fault), SP_OK);
        CU_ASSERT_EQUAL(
            rd_kafka_conf_get(rd_kafka_conf(handle), "transaction.timeout.ms", text, &size),
            RD_KAFKA_CONF_OK);
        CU_ASSERT_STRING_EQUAL(text, i ? "12000" : "30000");
        rd_kafka_destroy(handle);
    }
}

/* ---- how long a command waits for a broker ---- */

static bool metadata_fails;
static int metadata_timeouts_ms; /* the sum of those that librdkafka was given */

rd_kafka_resp_err_t __real_rd_kafka_metadata(rd_kafka_t *handle, int all, rd_kafka_topic_t *topic,
                                             const struct rd_kafka_metadata **ret, int timeout_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_metadata(rd_kafka_t *handle, int all, rd_kafka_topic_t *topic,
                                             const struct rd_kafka_metadata **ret, int timeout_ms);

rd_kafka_resp_err_t __wrap_rd_kafka_metadata(rd_kafka_t *handle, int all, rd_kafka_topic_t *topic,
                                             const struct rd_kafka_metadata **ret, int timeout_ms)
{
    if (!metadata_fails)
        return __real_rd_kafka_metadata(handle, all, topic, ret, timeout_ms);
    metadata_timeouts_ms += timeout_ms;
    on_error(handle, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down", NULL);
    return RD_KAFKA_RESP_ERR__TRANSPORT;
}

static void log_nothing(const char *level, const char *text)
{
    (void)level, (void)text;
}

TEST(a_command_without_a_broker_gives_up_before_five_seconds_are_over_or_waits_as_long_as_told)
{
    enum { TOLD_MS = 20000 };
    struct sp_config_property address[] = {{"bootstrap.servers", "127.0.0.1:1"}};
    struct sp_kafka_options o = {.properties = address,
                                 .property_count = 1,
                                 .prefix = "t.",
                                 .instance = "1",
                                 .log = log_nothing};
    struct sp_fault fault = {""};
    rd_kafka_t *handle = NULL;
    CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, &fault),
                          SP_OK);
    metadata_fails = true;
    CU_ASSERT_EQUAL(sp_kafka_reach(&o, handle, &fault), SP_BUSY);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "no broker is reachable at 127.0.0.1:1"));
    CU_ASSERT_EQUAL(metadata_timeouts_ms, SP_KAFKA_REACH_DOWN_MS);
    metadata_timeouts_ms = 0;
    CU_ASSERT_EQUAL(sp_kafka_await(&o, handle, TOLD_MS, &fault), SP_BUSY);
    CU_ASSERT_EQUAL(metadata_timeouts_ms, TOLD_MS);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "no broker is reachable at 127.0.0.1:1"));
    metadata_fails = false;
    CU_ASSERT(SP_KAFKA_REACH_DOWN_MS <= 4500); /* the rest is for starting and ending librdkafka */
    rd_kafka_destroy(handle);
}

/* ---- the log ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines, secrets, strange;

static void count(const char *level, const char *text)
{
    pthread_mutex_lock(&lock);
    lines++;
    secrets += strstr(text, "hunter22") != NULL;
    strange += strncmp(text, "librdkafka: ", 12) != 0 ||
               (strcmp(level, "error") != 0 && strcmp(level, "warning") != 0 &&
                strcmp(level, "info") != 0 && strcmp(level, "debug") != 0);
    pthread_mutex_unlock(&lock);
}

TEST(log_lines_of_librdkafka_come_through_the_callback_without_secrets)
{
    struct sp_config_property talkative[] = {
        {"bootstrap.servers", "127.0.0.1:1"}, {"security.protocol", "sasl_plaintext"},
        {"sasl.mechanism", "PLAIN"},          {"sasl.username", "somebody"},
        {"sasl.password", "hunter22"},        {"debug", "all"}};
    struct sp_kafka_options o = {.properties = talkative,
                                 .property_count = 6,
                                 .prefix = "t.",
                                 .instance = "1",
                                 .log = count};
    rd_kafka_t *handle = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&o, SP_KAFKA_PRODUCER, NULL, NULL, NULL, &handle, &fault),
                          SP_OK);
    for (int i = 0; i < 10; i++)
        rd_kafka_poll(handle, 50);
    rd_kafka_destroy(handle);
    pthread_mutex_lock(&lock);
    CU_ASSERT(lines > 10);
    CU_ASSERT_EQUAL(secrets, 0);
    CU_ASSERT_EQUAL(strange, 0);
    pthread_mutex_unlock(&lock);
}

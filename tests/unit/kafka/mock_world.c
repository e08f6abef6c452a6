/* See mock_world.h. */
#include "mock_world.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"

enum { SESSION = 1 }; /* the place of its time-out among the properties */

struct world world;

/* ---- the toy stage: adds numbers ---- */

struct toy {
    struct sp_worker *worker;
    struct sp_store *store;
    uint64_t sum;
};

static enum sp_err read_sum(struct sp_store *store, uint64_t *ret_sum)
{
    struct sp_view value;
    enum sp_err err = sp_store_get(store, sp_view_str("sum"), &value);
    *ret_sum = 0;
    if (err == SP_OK && value.len == sizeof *ret_sum)
        memcpy(ret_sum, value.data, sizeof *ret_sum);
    return err == SP_NOT_FOUND ? SP_OK : err;
}

static uint64_t stored_sum(struct sp_store *store)
{
    uint64_t sum;
    return read_sum(store, &sum) == SP_OK ? sum : 0;
}

static enum sp_err toy_open(void *arg, struct sp_worker *w, struct sp_store *store,
                            void **ret_stage)
{
    struct toy *toy = sp_calloc(1, sizeof *toy);
    (void)arg;
    *toy = (struct toy){.worker = w, .store = store};
    *ret_stage = toy;
    if (world.on_open)
        world.on_open();
    enum sp_err err = store ? read_sum(store, &toy->sum) : SP_OK;
    world.interrupted += err == SP_BUSY;
    return err;
}

static enum sp_err toy_step(void *stage, struct sp_view key, struct sp_view value,
                            const char **ret_why)
{
    struct toy *toy = stage;
    (void)key;
    char text[32];
    if (value.len && (value.data[0] < '0' || value.data[0] > '9')) {
        *ret_why = "not a number";
        return SP_MALFORMED;
    }
    snprintf(text, sizeof text, "%.*s", (int)(value.len < 8 ? value.len : 8), value.data);
    uint64_t number = strtoull(text, NULL, 10);
    if (world.on_step)
        world.on_step();
    if (number == 7 && world.corruptions > 0) {
        world.corruptions--;
        return SP_CORRUPT;
    }
    if (number == 9 && world.silences > 0) {
        world.silences--;
        *ret_why = "the registry does not respond";
        return SP_BUSY;
    }
    toy->sum += number;
    if (number > 0)
        __atomic_store_n(&world.sum, toy->sum, __ATOMIC_RELAXED);
    *ret_why = NULL;
    sp_worker_emit(toy->worker, SP_TOPIC_STATUS, 0, sp_view("", 0), value);
    return SP_OK;
}

static enum sp_err toy_flush(void *stage)
{
    struct toy *toy = stage;
    if (world.on_flush)
        world.on_flush();
    if (world.deletes)
        sp_store_delete(toy->store, sp_view_str("sum"));
    else
        sp_store_put(toy->store, sp_view_str("sum"), sp_view(&toy->sum, sizeof toy->sum));
    return SP_OK;
}

static void toy_close(void *stage)
{
    sp_free(stage);
}

/* ---- the world ---- */

static void on_log(const char *level, const char *text)
{
    (void)level;
    if (strncmp(text, "starting again", 14) == 0) {
        snprintf(world.restarted, sizeof world.restarted, "%s", text);
        world.stop |= world.stop_at_restart;
    }
    if (strncmp(text, "wiping", 6) == 0)
        __atomic_add_fetch(&world.wipes, 1, __ATOMIC_RELAXED);
    if (strstr(text, "retrying"))
        __atomic_add_fetch(&world.retries, 1, __ATOMIC_RELAXED);
    if (strncmp(text, "a message took", 14) == 0) {
        snprintf(world.slowest, sizeof world.slowest, "%s", text);
        world.slow++;
    }
    if (strstr(text, "was deleted before it was read"))
        __atomic_add_fetch(&world.losses, 1, __ATOMIC_RELAXED);
    if (strstr(text, "does not know this topic any more"))
        __atomic_add_fetch(&world.unknown, 1, __ATOMIC_RELAXED);
    if (strstr(text, "partitions assigned"))
        __atomic_add_fetch(&world.assignments, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
    struct sp_fault fault = {""};
    (void)arg;
    world.result = sp_worker_run(&world.options, &world.stop, &fault);
    snprintf(world.message, sizeof world.message, "%s", fault.text);
    return NULL;
}

void world_start(void)
{
    world.stop = 0;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&world.thread, NULL, work, NULL), 0);
}

void world_will_join_again(void)
{
    world.properties[SESSION].value = (char *)(uintptr_t) "3200";
}

void world_lose_patience(void)
{
    __atomic_store_n(&world.options.timeout_ms, TIMEOUT_MS, __ATOMIC_RELAXED);
}

void world_set(const char *key, const char *value)
{
    CU_ASSERT_FATAL(world.options.kafka.property_count <
                    sizeof world.properties / sizeof *world.properties);
    world.properties[world.options.kafka.property_count++] =
        (struct sp_config_property){(char *)(uintptr_t)key, (char *)(uintptr_t)value};
}

void world_lead(const char *topic, int32_t broker)
{
    for (int32_t p = 0; p < PARTITIONS; p++)
        rd_kafka_mock_partition_set_leader(world.cluster, topic, p, broker);
}

void world_create(bool stateful)
{
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    memset(&world, 0, sizeof world);
    snprintf(world.directory, sizeof world.directory, "/tmp/samepage-faults-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(world.directory));
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "3", error, sizeof error);
    world.host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(world.host);
    world.cluster = rd_kafka_handle_mock_cluster(world.host);
    static const char *const topics[] = {"t.tier1", "t.tier2",           "t.status",
                                         "t.pages", "t.tier1-changelog", "t.dead-letter",
                                         "t.audit"};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        bool input = strcmp(topics[i], "t.tier1") == 0 || strcmp(topics[i], "t.pages") == 0;
        rd_kafka_mock_topic_create(world.cluster, topics[i], PARTITIONS, 1);
        world_lead(topics[i], input ? INPUT_BROKER : OUTPUT_BROKER);
    }
    static char bootstraps[256];
    snprintf(bootstraps, sizeof bootstraps, "%s", rd_kafka_mock_cluster_bootstraps(world.cluster));
    world.properties[0] = (struct sp_config_property){"bootstrap.servers", bootstraps};
    /* The session and transactions survive that the machine stalls for a while. */
    world.properties[SESSION] = (struct sp_config_property){"session.timeout.ms", "60000"};
    world.properties[2] = (struct sp_config_property){"heartbeat.interval.ms", "100"};
    world.properties[3] = (struct sp_config_property){"transaction.timeout.ms", "60000"};
    /* The mock replies after this time, also if a message has come meanwhile. */
    world.properties[4] = (struct sp_config_property){"fetch.wait.max.ms", "20"};
    world.options =
        (struct sp_worker_options){.kafka = {.properties = world.properties,
                                             .property_count = 5,
                                             .prefix = "t.",
                                             .instance = "1",
                                             .log = on_log},
                                   .stage = {.name = "toy",
                                             .input = stateful ? SP_TOPIC_TIER1 : SP_TOPIC_PAGES,
                                             .stateful = stateful,
                                             .changelog = SP_TOPIC_TIER1_CHANGELOG,
                                             .outputs = {SP_TOPIC_STATUS},
                                             .output_count = 1,
                                             .open = toy_open,
                                             .step = toy_step,
                                             .flush = toy_flush,
                                             .close = toy_close},
                                   .state = world.directory,
                                   .fingerprint = "",
                                   .store = {.block_cache_bytes = 1 << 20,
                                             .memtable_bytes = 1 << 20,
                                             .background_threads = 1,
                                             .write_ahead_log = true},
                                   .commit_interval_ms = 20,
                                   .commit_messages = 1000000,
                                   .timeout_ms = PATIENCE_MS,
                                   .restart_ms = 100,
                                   .log = on_log,
                                   .metrics = &world.metrics};
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

enum sp_err world_join(void)
{
    int64_t start_ms = sp_clock_ms();
    pthread_join(world.thread, NULL);
    CU_ASSERT(sp_clock_ms() - start_ms < PATIENCE_MS);
    return world.result;
}

enum sp_err world_stop(void)
{
    world.stop = 1;
    return world_join();
}

void world_forget_state(void)
{
    nftw(world.directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void world_destroy(void)
{
    rd_kafka_destroy(world.host);
    world_forget_state();
}

void world_feed_topic(const char *topic, int32_t partition, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        char value[16];
        int n = snprintf(value, sizeof value, "%d", i);
        CU_ASSERT_EQUAL_FATAL(
            rd_kafka_producev(world.host, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                              RD_KAFKA_V_VALUE(value, (size_t)n),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
            RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

void world_feed_large(const char *topic, int32_t partition, char fill, size_t bytes)
{
    char *value = sp_alloc(bytes);
    memset(value, fill, bytes);
    CU_ASSERT_EQUAL_FATAL(
        rd_kafka_producev(world.host, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                          RD_KAFKA_V_VALUE(value, bytes), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    sp_free(value);
}

void world_read_topic(const char *topic, int32_t partition, int count)
{
    world_read_each(topic, partition, count, NULL);
}

void world_read_each(const char *topic, int32_t partition, int count,
                     void (*each)(const rd_kafka_message_t *m))
{
    char error[256];
    int64_t end = sp_clock_ms() + PATIENCE_MS;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", world.properties[0].value, error, sizeof error);
    rd_kafka_conf_set(conf, "group.id", "somebody", error, sizeof error);
    rd_kafka_t *handle = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = 0;
    rd_kafka_assign(handle, list);
    rd_kafka_topic_partition_list_destroy(list);
    while (count > 0 && sp_clock_ms() < end) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(handle, 100);
        bool got = m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR;
        count -= got;
        if (got && each)
            each(m);
        if (m)
            rd_kafka_message_destroy(m);
    }
    CU_ASSERT_EQUAL(count, 0);
    rd_kafka_consumer_close(handle);
    rd_kafka_destroy(handle);
}

void world_commit_offset(const char *group, const char *topic, int64_t offset)
{
    char error[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", world.properties[0].value, error, sizeof error);
    rd_kafka_conf_set(conf, "group.id", group, error, sizeof error);
    rd_kafka_t *handle = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, 0)->offset = offset;
    CU_ASSERT_EQUAL(rd_kafka_commit(handle, list, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(handle);
}

void world_feed(int first, int count)
{
    world_feed_topic("t.tier1", 0, first, count);
}

uint64_t world_count_of(const uint64_t *metric)
{
    return __atomic_load_n(metric, __ATOMIC_RELAXED);
}

static uint64_t sum_to(uint64_t n)
{
    return n * (n - 1) / 2;
}

bool world_wait_for(const uint64_t *metric, uint64_t least)
{
    int64_t end = sp_clock_ms() + PATIENCE_MS;
    while (world_count_of(metric) < least && sp_clock_ms() < end)
        usleep(5000);
    if (world_count_of(metric) < least)
        printf("still %d, not %d\n", (int)world_count_of(metric), (int)least);
    return world_count_of(metric) >= least;
}

void world_wait_committed(uint64_t received)
{
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.received, received));
    uint64_t commits = world_count_of(&world.metrics.commits);
    world_feed_topic("t.tier1", 1, 0, 1); /* a message that arrives after the others */
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.commits, commits + 1));
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.received, received + 1));
}

void world_wait_handled(int64_t count)
{
    int64_t end = sp_clock_ms() + PATIENCE_MS;
    while (world_count_of(&world.sum) != sum_to((uint64_t)count) && sp_clock_ms() < end)
        usleep(5000);
    CU_ASSERT_EQUAL_FATAL(world_count_of(&world.sum), sum_to((uint64_t)count));
}

void world_inject(int16_t request, size_t count, rd_kafka_resp_err_t err)
{
    for (size_t i = 0; i < count; i++)
        if (request == PRODUCE)
            rd_kafka_mock_broker_push_request_error_rtts(world.cluster, OUTPUT_BROKER, request, 1,
                                                         err, 0);
        else
            rd_kafka_mock_push_request_errors(world.cluster, request, 1, err);
}

uint64_t world_aborts(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < SP_ABORT_COUNT; i++)
        sum += world_count_of(&world.metrics.aborts[i]);
    return sum;
}

void world_check_applied(int64_t count)
{
    char path[96];
    struct sp_fault fault = {""};
    struct sp_task task = {.input_next = -7};
    snprintf(path, sizeof path, "%s/toy-0", world.directory);
    enum sp_err err = sp_db_open_rocksdb(path, "", &world.options.store, &task.db, &fault);
    CU_ASSERT_EQUAL_FATAL(err, SP_OK);
    CU_ASSERT_EQUAL(sp_task_load(&task), SP_OK);
    CU_ASSERT_EQUAL(task.input_next, count);
    uint64_t sum = stored_sum(sp_db_store(task.db, SP_TASK_STORE_STAGE));
    CU_ASSERT_EQUAL(sum, count > 0 ? sum_to((uint64_t)count) : 0);
    sp_db_close(task.db);
}

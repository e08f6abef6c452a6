/* A copy of the group stage's state that follows a changelog, on librdkafka's mock cluster. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "kafka/replica.h"
#include "kafka/task.h"
#include "local/bus.h"

#include <librdkafka/rdkafka_mock.h> /* needs rdkafka.h before it */

enum { PARTITIONS = 2, PATIENCE_MS = 180000 };
static const char TOPIC[] = "t.tier1-changelog", FINGERPRINT[] = "made.by=test\n";

struct world {
    rd_kafka_t *host; /* also writes the changelog */
    struct sp_config_property property;
    char bootstraps[256];
    char directory[64];
    struct sp_replica *replica;
    struct sp_id life; /* the changelog's id */
    bool failed;       /* atomic */
    char failure[256];
};

int __real_statvfs(const char *path, struct statvfs *ret);
int __wrap_statvfs(const char *path, struct statvfs *ret);

static bool full; /* the disk; atomic */

int __wrap_statvfs(const char *path, struct statvfs *ret)
{
    int code = __real_statvfs(path, ret);
    if (__atomic_load_n(&full, __ATOMIC_SEQ_CST))
        ret->f_bavail = 0;
    return code;
}

static void on_failed(void *arg, const char *message)
{
    struct world *w = arg;
    snprintf(w->failure, sizeof w->failure, "%s", message);
    __atomic_store_n(&w->failed, true, __ATOMIC_SEQ_CST);
}

static void setup(struct world *w)
{
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    *w = (struct world){.directory = "/tmp/samepage-replica-XXXXXX"};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(w->directory));
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", error, sizeof error);
    w->host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->host);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_handle_mock_cluster(w->host);
    rd_kafka_mock_topic_create(cluster, TOPIC, PARTITIONS, 1);
    snprintf(w->bootstraps, sizeof w->bootstraps, "%s", rd_kafka_mock_cluster_bootstraps(cluster));
    w->property = (struct sp_config_property){"bootstrap.servers", w->bootstraps};
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void teardown(struct world *w)
{
    sp_replica_stop(w->replica);
    rd_kafka_destroy(w->host);
    nftw(w->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the changelog ---- */

static void write_record(struct world *w, int32_t partition, struct sp_view key,
                         struct sp_view value)
{
    rd_kafka_resp_err_t err = rd_kafka_producev(
        w->host, RD_KAFKA_V_TOPIC(TOPIC), RD_KAFKA_V_PARTITION(partition),
        RD_KAFKA_V_KEY(key.data, key.len), RD_KAFKA_V_VALUE((void *)value.data, value.len),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    CU_ASSERT_EQUAL(err, RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* Writes a row of the stage; NULL deletes it. */
static void write_row(struct world *w, int32_t partition, const char *key, const char *value)
{
    char stored[64];
    int n = snprintf(stored, sizeof stored, "%c%c%s", 'x', SP_TASK_STORE_STAGE, key);
    stored[0] = 0;
    write_record(w, partition, sp_view(stored, (size_t)n),
                 value ? sp_view_str(value) : sp_view(NULL, 0));
}

static void write_marker(struct world *w, int32_t partition)
{
    struct sp_buf value = {0};
    sp_marker_put(&value, &(struct sp_marker){1, 1, w->life});
    write_record(w, partition, sp_view("", 0), sp_buf_view(&value));
    sp_buf_done(&value);
}

static void written(struct world *w)
{
    CU_ASSERT_EQUAL(rd_kafka_flush(w->host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* ---- the copy ---- */

static enum sp_err start(struct world *w, uint32_t partitions, struct sp_fault *fault)
{
    struct sp_replica_options o = {
        .kafka = {.properties = &w->property, .property_count = 1, .prefix = "t."},
        .directory = w->directory,
        .fingerprint = FINGERPRINT,
        .partitions = partitions,
        .failed = on_failed,
        .arg = w};
    sp_rocksdb_options_default(&o.store);
    return sp_replica_start(&o, &w->replica, fault);
}

static void follow(struct world *w)
{
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(start(w, PARTITIONS, &fault), SP_OK);
    int64_t end = sp_clock_ms() + PATIENCE_MS;
    uint64_t records;
    while (!sp_replica_ready(w->replica, &records) && sp_clock_ms() < end)
        usleep(20000);
    CU_ASSERT(sp_replica_ready(w->replica, &records));
}

static void stop(struct world *w)
{
    sp_replica_stop(w->replica);
    w->replica = NULL;
}

/* Checks a row of a stopped copy; "-": no row. */
static void check_row(struct world *w, int partition, const char *key, const char *expected)
{
    struct sp_db *db = NULL;
    struct sp_view value = {0};
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_db_open_rocksdb(w->directory, FINGERPRINT, NULL, &db, &fault), SP_OK);
    struct sp_store *store = sp_db_store(db, (uint16_t)(SP_BUS_STORE_TIER1 + partition));
    enum sp_err err = sp_store_get(store, sp_view_str(key), &value);
    if (strcmp(expected, "-") == 0) {
        CU_ASSERT_EQUAL(err, SP_NOT_FOUND);
    } else {
        CU_ASSERT(err == SP_OK && sp_view_eq(value, sp_view_str(expected)));
    }
    sp_db_close(db);
}

/* Whether a concurrent reader sees the row, that is, whether it is committed. */
static bool can_be_read(struct world *w, int partition, const char *key)
{
    char scratch[] = "/tmp/samepage-replica-XXXXXX";
    struct sp_db *db = NULL;
    struct sp_view value;
    struct sp_fault fault;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(scratch));
    bool found = sp_db_open_reading(w->directory, scratch, NULL, NULL, &db, &fault) == SP_OK &&
                 sp_store_get(sp_db_store(db, (uint16_t)(SP_BUS_STORE_TIER1 + partition)),
                              sp_view_str(key), &value) == SP_OK;
    sp_db_close(db);
    nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return found;
}

TEST(whole_transactions_are_applied_and_what_has_no_marker_is_not)
{
    struct world w;
    setup(&w);
    write_row(&w, 0, "a", "1");
    write_row(&w, 0, "b", "2");
    write_marker(&w, 0);
    write_row(&w, 1, "a", "3");
    write_marker(&w, 1);
    write_row(&w, 0, "b", NULL);
    write_marker(&w, 0);
    write_row(&w, 0, "a", "half of a transaction");
    written(&w);
    follow(&w);
    stop(&w);
    check_row(&w, 0, "a", "1");
    check_row(&w, 0, "b", "-");
    check_row(&w, 1, "a", "3");
    check_row(&w, 1, "b", "-");
    teardown(&w);
}

TEST(a_copy_goes_on_where_it_was_left)
{
    struct world w;
    setup(&w);
    write_row(&w, 0, "a", "1");
    write_marker(&w, 0);
    write_row(&w, 0, "a", "2");
    written(&w);
    follow(&w);
    stop(&w);
    write_marker(&w, 0);
    write_row(&w, 1, "c", "4");
    write_marker(&w, 1);
    written(&w);
    follow(&w);
    uint64_t records;
    sp_replica_ready(w.replica, &records);
    CU_ASSERT_EQUAL(records, 4); /* the first two are not read again */
    stop(&w);
    check_row(&w, 0, "a", "2");
    check_row(&w, 1, "c", "4");
    teardown(&w);
}

TEST(new_records_are_applied_while_a_copy_follows)
{
    struct world w;
    setup(&w);
    follow(&w);
    write_row(&w, 1, "late", "5");
    write_marker(&w, 1);
    written(&w);
    int64_t end = sp_clock_ms() + PATIENCE_MS;
    while (!can_be_read(&w, 1, "late") && sp_clock_ms() < end)
        usleep(20000);
    stop(&w);
    check_row(&w, 1, "late", "5");
    teardown(&w);
}

static void wait_for_failure(struct world *w)
{
    int64_t end = sp_clock_ms() + PATIENCE_MS;
    while (!__atomic_load_n(&w->failed, __ATOMIC_SEQ_CST) && sp_clock_ms() < end)
        usleep(20000);
    CU_ASSERT(w->failed);
}

/* The topic is not what is wrong. */
static void check_names_copy(const struct world *w, const char *message)
{
    CU_ASSERT_EQUAL(strncmp(message, w->directory, strlen(w->directory)), 0);
    CU_ASSERT_PTR_NULL(strstr(message, TOPIC));
}

/* Starts a copy that ends by itself for this reason. */
static void check_gives_up(struct world *w, const char *why)
{
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(start(w, PARTITIONS, &fault), SP_OK);
    wait_for_failure(w);
    CU_ASSERT_PTR_NOT_NULL(strstr(w->failure, why));
    teardown(w);
}

TEST(a_foreign_changelog_ends_a_copy_with_a_message)
{
    struct world w;
    setup(&w);
    write_record(&w, 0, sp_view("", 0), sp_view_str("no marker"));
    written(&w);
    check_gives_up(&w, "marker");
}

TEST(a_changelog_that_may_not_be_read_ends_a_copy_with_a_message)
{
    enum { FETCH = 1, MANY = 20 };
    struct world w;
    setup(&w);
    for (int i = 0; i < MANY; i++)
        rd_kafka_mock_push_request_errors(rd_kafka_handle_mock_cluster(w.host), FETCH, 1,
                                          RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    check_gives_up(&w, SP_KAFKA_FORBIDDEN);
}

/* The topics were deleted and recreated; the copy's offsets are within the new ones. */
TEST(a_copy_of_another_life_ends_with_a_message)
{
    struct world w;
    setup(&w);
    w.life = (struct sp_id){1, 1};
    write_row(&w, 0, "a", "1");
    write_marker(&w, 0);
    written(&w);
    follow(&w);
    stop(&w);
    w.life = (struct sp_id){2, 2};
    write_row(&w, 0, "b", "2");
    write_marker(&w, 0);
    written(&w);
    check_gives_up(&w, "another changelog");
}

TEST(a_copy_of_something_else_is_refused)
{
    struct world w;
    struct sp_fault fault = {""};
    setup(&w);
    CU_ASSERT_EQUAL(start(&w, PARTITIONS + 1, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "tier1.partitions"));
    write_row(&w, 0, "a", "1");
    write_marker(&w, 0);
    written(&w);
    follow(&w);
    stop(&w);
    rd_kafka_destroy(w.host); /* another cluster, whose changelog ends before the copy's offset */
    char directory[sizeof w.directory];
    memcpy(directory, w.directory, sizeof directory);
    setup(&w);
    rmdir(w.directory);
    memcpy(w.directory, directory, sizeof directory);
    CU_ASSERT_EQUAL(start(&w, PARTITIONS, &fault), SP_STATE_FORMAT);
    check_names_copy(&w, fault.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "delete it"));
    teardown(&w);
}

TEST(a_copy_whose_disk_is_full_ends_and_names_its_directory)
{
    struct world w;
    setup(&w);
    follow(&w);
    __atomic_store_n(&full, true, __ATOMIC_SEQ_CST);
    write_row(&w, 0, "a", "1");
    write_marker(&w, 0);
    written(&w);
    wait_for_failure(&w);
    __atomic_store_n(&full, false, __ATOMIC_SEQ_CST);
    check_names_copy(&w, w.failure);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.failure, "No space left on device"));
    teardown(&w);
}

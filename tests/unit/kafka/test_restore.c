/* A restore with little memory, from a changelog with one marker, as compaction leaves it. */
#include <stdio.h>
#include <unistd.h>

#include "harness.h"
#include "mock_world.h"

enum { ROWS = 100, ROW_BYTES = 1000, BATCH_BYTES = 10000 };
static const char TOPIC[] = "t.tier1-changelog";
static const struct sp_id LIFE = {1, 2};

/* ---- wrappers that the linker puts before librdkafka's functions and the store's ---- */

rd_kafka_resp_err_t __real_sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t of,
                                        int64_t where, int64_t *ret_offset, int timeout_ms);
rd_kafka_resp_err_t __wrap_sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t of,
                                        int64_t where, int64_t *ret_offset, int timeout_ms);
rd_kafka_resp_err_t __real_sp_kafka_watermarks(rd_kafka_t *handle, const char *topic, int32_t of,
                                               int64_t *low, int64_t *high, int timeout_ms);
rd_kafka_resp_err_t __wrap_sp_kafka_watermarks(rd_kafka_t *handle, const char *topic, int32_t of,
                                               int64_t *low, int64_t *high, int timeout_ms);

static rd_kafka_t *reading;
static size_t woken; /* queries by that fetcher */
/* A restore begins with a query of its changelog's end. It waits until the caller has been asked so
 * often whether to go on. */
static int asked, asked_first;

rd_kafka_resp_err_t __wrap_sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t of,
                                        int64_t where, int64_t *ret_offset, int timeout_ms)
{
    if (handle == reading)
        woken++;
    return __real_sp_kafka_end(handle, topic, of, where, ret_offset, timeout_ms);
}

rd_kafka_resp_err_t __wrap_sp_kafka_watermarks(rd_kafka_t *handle, const char *topic, int32_t of,
                                               int64_t *low, int64_t *high, int timeout_ms)
{
    while (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) < asked_first)
        usleep(1000);
    return __real_sp_kafka_watermarks(handle, topic, of, low, high, timeout_ms);
}

int __real_rd_kafka_consume_callback_queue(rd_kafka_queue_t *queue, int timeout_ms,
                                           void (*each)(rd_kafka_message_t *m, void *arg),
                                           void *arg);
int __wrap_rd_kafka_consume_callback_queue(rd_kafka_queue_t *queue, int timeout_ms,
                                           void (*each)(rd_kafka_message_t *m, void *arg),
                                           void *arg);

static size_t polls; /* of librdkafka */

int __wrap_rd_kafka_consume_callback_queue(rd_kafka_queue_t *queue, int timeout_ms,
                                           void (*each)(rd_kafka_message_t *m, void *arg),
                                           void *arg)
{
    __atomic_add_fetch(&polls, 1, __ATOMIC_RELAXED);
    return __real_rd_kafka_consume_callback_queue(queue, timeout_ms, each, arg);
}

enum sp_err __real_sp_db_commit(struct sp_db *db);
enum sp_err __wrap_sp_db_commit(struct sp_db *db);

static size_t commits, batch, largest_batch;

/* While a meeting is wanted, the first commit of each thread waits for one of another thread. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool wanted;
    int patience_ms;
    pthread_t first;
    int came;
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void meet(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += meeting.patience_ms / 1000;
    pthread_mutex_lock(&meeting.lock);
    if (meeting.came == 0)
        meeting.first = pthread_self();
    if (meeting.came == 0 || (meeting.came == 1 && !pthread_equal(meeting.first, pthread_self())))
        meeting.came++;
    pthread_cond_broadcast(&meeting.changed);
    while (meeting.came < 2 && pthread_cond_timedwait(&meeting.changed, &meeting.lock, &until) == 0)
        ;
    pthread_mutex_unlock(&meeting.lock);
}

static void measure(void *arg, struct sp_view key, struct sp_view value, bool deleted)
{
    (void)arg, (void)deleted;
    batch += key.len + value.len;
}

enum sp_err __wrap_sp_db_commit(struct sp_db *db)
{
    if (meeting.wanted) {
        meet();
        return __real_sp_db_commit(db);
    }
    batch = 0;
    sp_db_each_write(db, measure, NULL);
    commits++;
    largest_batch = batch > largest_batch ? batch : largest_batch;
    return __real_sp_db_commit(db);
}

/* ---- the changelog ---- */

static int32_t partition;

static void write_record(struct sp_view key, struct sp_view value)
{
    CU_ASSERT_EQUAL_FATAL(
        rd_kafka_producev(world.host, RD_KAFKA_V_TOPIC(TOPIC), RD_KAFKA_V_PARTITION(partition),
                          RD_KAFKA_V_KEY(key.data, key.len),
                          RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data, value.len),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
}

static void write_rows(int first, int count)
{
    static char value[ROW_BYTES];
    for (int i = first; i < first + count; i++) {
        uint8_t key[] = {0, SP_TASK_STORE_STAGE, (uint8_t)(i >> 8), (uint8_t)i};
        write_record(sp_view(key, sizeof key), sp_view(value, sizeof value));
    }
}

static void write_marker(int64_t input_next)
{
    struct sp_buf value = {0};
    sp_marker_put(&value, &(struct sp_marker){input_next, 1, LIFE});
    write_record(sp_view("", 0), sp_buf_view(&value));
    sp_buf_done(&value);
}

/* ---- the restore ---- */

static bool go_on;

static bool progress(void *arg, int32_t of, uint64_t applied, int64_t remaining)
{
    (void)arg, (void)of, (void)applied, (void)remaining;
    return go_on;
}

static enum sp_err restore(struct sp_task *t, struct sp_fault *fault)
{
    struct sp_restore r = {.topic = TOPIC, .batch_bytes = BATCH_BYTES, .progress = progress};
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    const struct sp_kafka_options *o = &world.options.kafka;
    CU_ASSERT_EQUAL_FATAL(sp_kafka_open(o, SP_KAFKA_RESTORER, "r", NULL, NULL, &r.reader, fault),
                          SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_kafka_open(o, SP_KAFKA_WATCHER, "w", NULL, NULL, &r.watcher, fault),
                          SP_OK);
    commits = largest_batch = polls = 0;
    reading = r.reader;
    woken = 0;
    enum sp_err err = sp_task_restore(t, &r, fault);
    reading = NULL;
    rd_kafka_destroy(r.reader);
    rd_kafka_destroy(r.watcher);
    return err;
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key, (void)value;
    ++*(int *)arg;
    return true;
}

static void check_rows(struct sp_task *t, int expected, int64_t input_next)
{
    int count = 0;
    CU_ASSERT_EQUAL(sp_store_scan(sp_db_store(t->db, SP_TASK_STORE_STAGE), sp_view("", 0),
                                  sp_view("", 0), count_row, &count),
                    SP_OK);
    CU_ASSERT_EQUAL(count, expected);
    CU_ASSERT_EQUAL(sp_task_load(t), SP_OK);
    CU_ASSERT_EQUAL(t->input_next, input_next);
    CU_ASSERT_FALSE(t->partial);
}

TEST(an_idle_fetcher_is_woken)
{
    struct sp_fault fault = {""};
    struct sp_task t = {.input_next = -1};
    world_create(true);
    world_set("check.crcs", "true"); /* librdkafka reads */
    t.db = sp_db_open_memory();
    go_on = true;
    write_rows(0, ROWS);
    write_marker(7);
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_mock_broker_set_rtt(world.cluster, OUTPUT_BROKER, 300);
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_OK);
    CU_ASSERT_TRUE(woken > 0);
    check_rows(&t, ROWS, 7);
    sp_db_close(t.db);
    world_destroy();
}

/* ---- with and without librdkafka ---- */

/* Compresses what the host sends from now on: only another handle can. */
static void write_compressed_rows(int first, int count)
{
    char address[256];
    size_t size = sizeof address;
    rd_kafka_t *plain = world.host;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(plain, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    snprintf(address, size, "%s", rd_kafka_mock_cluster_bootstraps(world.cluster));
    rd_kafka_conf_set(conf, "bootstrap.servers", address, NULL, 0);
    rd_kafka_conf_set(conf, "compression.type", "lz4", NULL, 0);
    world.host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(world.host);
    write_rows(first, count);
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(world.host);
    world.host = plain;
}

/* Returns how often librdkafka was asked for records. */
static size_t polls_of_restore(int rows)
{
    struct sp_fault fault = {""};
    struct sp_task t = {.db = sp_db_open_memory()};
    go_on = true;
    write_marker(7);
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_OK);
    check_rows(&t, rows, 7);
    sp_db_close(t.db);
    world_destroy();
    return polls;
}

TEST(a_restore_reads_without_librdkafka)
{
    for (int times = 1; times <= 4; times *= 4) {
        world_create(true);
        write_rows(0, times * ROWS);
        CU_ASSERT_EQUAL(polls_of_restore(times * ROWS), 0);
    }
}

TEST(librdkafka_continues_where_a_batch_is_compressed)
{
    world_create(true);
    write_rows(0, ROWS);
    write_compressed_rows(ROWS, ROWS);
    write_rows(2 * ROWS, ROWS);
    CU_ASSERT(polls_of_restore(3 * ROWS) > 0);
}

TEST(librdkafka_reads_what_the_broker_refuses)
{
    world_create(true);
    write_rows(0, ROWS);
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    world_inject(FETCH, 1, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
    CU_ASSERT(polls_of_restore(ROWS) > 0);
}

TEST(librdkafka_reads_where_checksums_are_wanted)
{
    world_create(true);
    world_set("check.crcs", "true");
    write_rows(0, ROWS);
    CU_ASSERT(polls_of_restore(ROWS) > 0);
}

/* More rows cause more commits, not larger batches. */
TEST(rows_do_not_wait_in_memory_for_their_marker)
{
    for (int times = 1; times <= 4; times *= 4) {
        struct sp_fault fault = {""};
        struct sp_task t = {.db = sp_db_open_memory()};
        world_create(true);
        go_on = true;
        write_rows(0, times * ROWS);
        write_marker(7);
        CU_ASSERT_EQUAL(restore(&t, &fault), SP_OK);
        CU_ASSERT(largest_batch < BATCH_BYTES + 2 * ROW_BYTES);
        CU_ASSERT(commits >= (size_t)times * ROWS * ROW_BYTES / BATCH_BYTES);
        check_rows(&t, times * ROWS, 7);
        sp_db_close(t.db);
        world_destroy();
    }
}

/* What was read before the first marker may be from another changelog, so it is dropped. */
TEST(a_restore_interrupted_before_its_first_marker_starts_over)
{
    struct sp_fault fault = {""};
    struct sp_task t = {.db = sp_db_open_memory()};
    world_create(true);
    go_on = false;
    write_rows(0, ROWS);
    write_marker(7);
    /* The stop flag is read at the first message and once a second, before anything is
     * committed. */
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_BUSY);
    sp_db_close(t.db);
    t = (struct sp_task){.db = sp_db_open_memory(), .input_next = -1, .changelog_next = 30};
    t.partial = true;
    sp_task_save(&t);
    CU_ASSERT_EQUAL(sp_db_commit(t.db), SP_OK);
    go_on = true;
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_STATE_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "interrupted"));
    sp_db_close(t.db);
    world_destroy();
}

/* After a marker that it knows, an interrupted restore resumes. */
TEST(a_restore_interrupted_after_a_marker_resumes)
{
    struct sp_fault fault = {""};
    struct sp_task t = {.db = sp_db_open_memory(), .input_next = 5, .changelog_next = 30};
    world_create(true);
    t.life = LIFE;
    t.partial = true;
    sp_task_save(&t);
    CU_ASSERT_EQUAL(sp_db_commit(t.db), SP_OK);
    go_on = true;
    write_rows(0, ROWS);
    write_marker(7);
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_OK);
    check_rows(&t, ROWS - 30, 7);
    sp_db_close(t.db);
    world_destroy();
}

/* Offset 0 in a marker means that no message was handled yet; the state is valid all the same. */
TEST(a_state_without_the_marker_that_it_speaks_of_belongs_to_another_changelog)
{
    for (int64_t input_next = 0; input_next < 2; input_next++) {
        struct sp_fault fault = {""};
        struct sp_task t = {.db = sp_db_open_memory(),
                            .input_next = input_next,
                            .changelog_next = ROWS,
                            .life = LIFE};
        world_create(true);
        sp_task_save(&t);
        CU_ASSERT_EQUAL(sp_db_commit(t.db), SP_OK);
        go_on = true;
        write_rows(0, ROWS);
        CU_ASSERT_EQUAL(restore(&t, &fault), SP_STATE_FORMAT);
        sp_db_close(t.db);
        world_destroy();
    }
}

/* More than a batch of rows after the last marker: the first restore fails because they cannot be
 * removed, the next one leaves them out. */
TEST(a_long_end_without_a_marker_is_left_out_the_second_time)
{
    struct sp_fault fault = {""};
    struct sp_task t = {.db = sp_db_open_memory()};
    world_create(true);
    go_on = true;
    write_rows(0, 3);
    write_marker(7);
    write_rows(3, ROWS);
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_STATE_FORMAT);
    sp_db_close(t.db);
    t.db = sp_db_open_memory();
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_OK);
    check_rows(&t, 3, 7);
    sp_db_close(t.db);
    world_destroy();
}

/* The mock keeps five megabytes of a partition, so exactly the first record is dropped. */
TEST(one_record_that_was_deleted_is_a_part_of_the_state)
{
    static char value[900000];
    struct sp_fault fault = {""};
    struct sp_task t = {.db = sp_db_open_memory()};
    world_create(true);
    go_on = true;
    for (uint8_t i = 0; i < 6; i++) {
        uint8_t key[] = {0, SP_TASK_STORE_STAGE, 0, i};
        write_record(sp_view(key, sizeof key), sp_view(value, sizeof value));
        CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    write_marker(7);
    CU_ASSERT_EQUAL(restore(&t, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "beginning of the changelog was deleted"));
    sp_db_close(t.db);
    world_destroy();
}

/* ---- several partitions ---- */

static int not_held; /* unlocks of a mutex that was not held */

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (pthread_mutex_trylock(mutex) == 0)
        __atomic_add_fetch(&not_held, 1, __ATOMIC_RELAXED);
    return __real_pthread_mutex_unlock(mutex);
}

static uint64_t seen_applied;

static bool waiting(void *arg, uint64_t applied, int64_t remaining)
{
    (void)arg, (void)remaining;
    seen_applied = applied;
    __atomic_add_fetch(&asked, 1, __ATOMIC_RELEASE);
    return go_on;
}

static void say(void *arg, const char *level, const char *text)
{
    (void)arg, (void)level, (void)text;
}

static int background_threads = PARTITIONS;

static enum sp_err bring_up(struct sp_task tasks[PARTITIONS], size_t *ret_failed,
                            struct sp_fault *fault)
{
    struct sp_rocksdb_options store;
    struct sp_task *all[PARTITIONS];
    rd_kafka_t *watcher = NULL;
    sp_rocksdb_options_default(&store);
    store.background_threads = background_threads;
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL_FATAL(
        sp_kafka_open(&world.options.kafka, SP_KAFKA_WATCHER, "w", NULL, NULL, &watcher, fault),
        SP_OK);
    struct sp_states_options options = {.kafka = &world.options.kafka,
                                        .store = &store,
                                        .fingerprint = "",
                                        .directory = world.directory,
                                        .name = "restored",
                                        .topic = TOPIC,
                                        .watcher = watcher,
                                        .waiting = waiting,
                                        .say = say};
    struct sp_states *states = sp_states_new(&options);
    for (int32_t p = 0; p < PARTITIONS; p++)
        all[p] = &tasks[p];
    enum sp_err err = sp_states_open(states, all, PARTITIONS, ret_failed, fault);
    sp_states_free(states);
    CU_ASSERT_EQUAL(not_held, 0);
    rd_kafka_destroy(watcher);
    return err;
}

static enum sp_err restore_both(struct sp_task tasks[PARTITIONS], size_t *ret_failed,
                                struct sp_fault *fault)
{
    for (int32_t p = 0; p < PARTITIONS; p++)
        tasks[p] = (struct sp_task){.partition = p, .input_next = -1};
    return bring_up(tasks, ret_failed, fault);
}

static void close_both(struct sp_task tasks[PARTITIONS])
{
    for (int32_t p = 0; p < PARTITIONS; p++)
        sp_db_close(tasks[p].db);
    partition = 0;
    world_destroy();
}

/* The number of threads that met; each waits this long for another. */
static int restore_with(int threads, int patience_ms)
{
    struct sp_fault fault = {""};
    struct sp_task tasks[PARTITIONS];
    size_t failed;
    world_create(true);
    go_on = true;
    for (partition = 0; partition < PARTITIONS; partition++) {
        write_rows(0, ROWS + partition);
        write_marker(7 + partition);
    }
    meeting.wanted = true;
    meeting.came = 0;
    meeting.patience_ms = patience_ms;
    background_threads = threads;
    CU_ASSERT_EQUAL_FATAL(restore_both(tasks, &failed, &fault), SP_OK);
    background_threads = PARTITIONS;
    meeting.wanted = false;
    CU_ASSERT_EQUAL(seen_applied, PARTITIONS * ROWS + 1);
    for (int32_t p = 0; p < PARTITIONS; p++)
        check_rows(&tasks[p], ROWS + p, 7 + p);
    close_both(tasks);
    return meeting.came;
}

TEST(partitions_are_restored_at_the_same_time)
{
    CU_ASSERT_EQUAL(restore_with(2, PATIENCE_MS), 2);
}

TEST(databases_that_are_open_are_brought_up_to_what_came_since)
{
    struct sp_fault fault = {""};
    struct sp_task tasks[PARTITIONS];
    size_t failed;
    world_create(true);
    go_on = true;
    for (int part = 0; part < 3; part++) {
        for (partition = 0; partition < PARTITIONS; partition++) {
            write_rows(part * ROWS, ROWS);
            write_marker(7 + part);
        }
        CU_ASSERT_EQUAL_FATAL(
            part ? bring_up(tasks, &failed, &fault) : restore_both(tasks, &failed, &fault), SP_OK);
        CU_ASSERT_EQUAL(seen_applied, PARTITIONS * ROWS);
        for (int32_t p = 0; p < PARTITIONS; p++)
            check_rows(&tasks[p], (part + 1) * ROWS, 7 + part);
    }
    close_both(tasks);
}

TEST(no_more_partitions_are_restored_at_a_time_than_there_may_be_threads)
{
    CU_ASSERT_EQUAL(restore_with(1, 1000), 1);
}

TEST(a_partition_that_cannot_be_restored_is_named_and_ends_the_others)
{
    struct sp_fault fault = {""};
    struct sp_task tasks[PARTITIONS];
    size_t failed = 0;
    world_create(true);
    go_on = true;
    for (partition = 0; partition < PARTITIONS; partition++)
        write_rows(0, ROWS);
    partition = 1;
    write_record(sp_view("", 0), sp_view("?", 1)); /* an invalid marker */
    CU_ASSERT_EQUAL(restore_both(tasks, &failed, &fault), SP_INVALID);
    CU_ASSERT_EQUAL(failed, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "[1]: a marker cannot be read"));
    close_both(tasks);
}

TEST(restores_end_when_they_are_told_to)
{
    struct sp_fault fault = {""};
    struct sp_task tasks[PARTITIONS];
    size_t failed = 0;
    world_create(true);
    go_on = false;
    for (partition = 0; partition < PARTITIONS; partition++) {
        write_rows(0, ROWS);
        write_marker(7);
    }
    asked = 0;
    asked_first = 2; /* when it is asked again, its first answer is known to all */
    CU_ASSERT_EQUAL(restore_both(tasks, &failed, &fault), SP_BUSY);
    asked_first = 0;
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "the restore was stopped"));
    close_both(tasks);
}

/* A worker with a broker that returns chosen errors: which errors abort a transaction, and that no
 * batch is applied before its commit. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "mock_world.h"

#define ERR(name) RD_KAFKA_RESP_ERR_##name

/* ---- fake clocks: the linker puts them before those of the libraries ---- */

time_t __wrap_time(time_t *ret_time);
int64_t __wrap_sp_clock_us(void);

enum { STEP_SECONDS = 3600, STEP_US = 700 };

/* The wall clock jumps forward by an hour each time it is read. */
time_t __wrap_time(time_t *ret_time)
{
    static time_t now = 1000000000;
    time_t t = __atomic_add_fetch(&now, STEP_SECONDS, __ATOMIC_RELAXED);
    if (ret_time)
        *ret_time = t;
    return t;
}

static int64_t now_us;

/* Each reading is 0.7 ms after the one before. */
int64_t __wrap_sp_clock_us(void)
{
    return __atomic_add_fetch(&now_us, STEP_US, __ATOMIC_RELAXED);
}

/* ---- errors that librdkafka handles itself ---- */

TEST(transient_errors_abort_nothing)
{
    static const struct {
        int16_t request;
        rd_kafka_resp_err_t err;
    } faults[] = {{INIT_PRODUCER, ERR(COORDINATOR_LOAD_IN_PROGRESS)},
                  {PRODUCE, ERR(NOT_LEADER_FOR_PARTITION)},
                  {PRODUCE, ERR(REQUEST_TIMED_OUT)},
                  {PRODUCE, ERR(_TRANSPORT)},
                  {ADD_PARTITIONS, ERR(CONCURRENT_TRANSACTIONS)},
                  {ADD_PARTITIONS, ERR(NOT_COORDINATOR)},
                  {ADD_OFFSETS, ERR(COORDINATOR_LOAD_IN_PROGRESS)},
                  {ADD_OFFSETS, ERR(_TRANSPORT)},
                  {COMMIT_OFFSETS, ERR(COORDINATOR_LOAD_IN_PROGRESS)},
                  {END_TRANSACTION, ERR(COORDINATOR_NOT_AVAILABLE)},
                  {END_TRANSACTION, ERR(_TRANSPORT)}};
    enum { COUNT = sizeof faults / sizeof *faults };
    world_create(true);
    world_inject(faults[0].request, 1, faults[0].err);
    world_start();
    for (int i = 0; i < COUNT; i++) {
        world_inject(faults[i].request, 1, faults[i].err);
        world_feed(i * MESSAGES, MESSAGES);
        CU_ASSERT(world_wait_for(&world.metrics.received, (uint64_t)(i + 1) * MESSAGES));
        CU_ASSERT(world_wait_for(&world.metrics.commits, (uint64_t)i + 1));
    }
    CU_ASSERT(world_wait_for(&world.metrics.rows_written, COUNT)); /* updated once a second */
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world_aborts(), 0);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    CU_ASSERT_EQUAL(world.metrics.received, (uint64_t)COUNT * MESSAGES);
    uint64_t digits = 0; /* each message is emitted once */
    for (int i = 0; i < COUNT * MESSAGES; i++)
        digits += i < 10 ? 1 : i < 100 ? 2 : 3;
    CU_ASSERT(COUNT * MESSAGES <= 1000);
    CU_ASSERT_EQUAL(world.metrics.emitted_bytes, digits);
    CU_ASSERT_EQUAL(world.metrics.largest_message_bytes, COUNT * MESSAGES > 100 ? 3 : 2);
    CU_ASSERT(world.metrics.bytes_written > world.metrics.rows_written);
    world_check_applied((int64_t)COUNT * MESSAGES);
    world_destroy();
}

TEST(coordinators_that_move_abort_nothing)
{
    world_create(true);
    world_start();
    for (int i = 0; i < BROKERS; i++) {
        rd_kafka_mock_coordinator_set(world.cluster, "transaction", "t.toy-1", i + 1);
        rd_kafka_mock_coordinator_set(world.cluster, "group", "t.toy", (i + 1) % BROKERS + 1);
        world_feed(i * MESSAGES, MESSAGES);
        CU_ASSERT(world_wait_for(&world.metrics.received, (uint64_t)(i + 1) * MESSAGES));
    }
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_FENCED], 0);
    world_destroy();
}

/* ---- what aborts ---- */

/* After some good transactions one fails: it is aborted for this cause and not applied. */
static void check_abort(int16_t request, size_t times, rd_kafka_resp_err_t err, enum sp_abort cause)
{
    world_create(true);
    world.stop_at_restart = true;
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_inject(request, times, err);
    world_feed(MESSAGES, MESSAGES);
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_EQUAL(world_aborts(), 1);
    CU_ASSERT_EQUAL(world.metrics.aborts[cause], 1);
    CU_ASSERT_EQUAL(world.metrics.restarts, 1);
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(a_message_that_is_refused_aborts)
{
    check_abort(PRODUCE, 8, ERR(INVALID_RECORD), SP_ABORT_BROKER);
}

TEST(offsets_that_are_refused_abort)
{
    check_abort(ADD_OFFSETS, 1, ERR(INVALID_CONFIG), SP_ABORT_BROKER);
}

TEST(offsets_of_a_member_that_is_gone_abort)
{
    check_abort(COMMIT_OFFSETS, 1, ERR(UNKNOWN_MEMBER_ID), SP_ABORT_REBALANCE);
}

TEST(a_commit_that_is_refused_aborts)
{
    check_abort(END_TRANSACTION, 1, ERR(INVALID_TXN_STATE), SP_ABORT_BROKER);
}

TEST(a_member_that_is_expelled_aborts)
{
    world_create(true);
    world.stop_at_restart = true;
    world.options.commit_interval_ms = 60000; /* the transaction is still open */
    world_start();
    world_feed(0, MESSAGES);
    CU_ASSERT(world_wait_for(&world.metrics.received, MESSAGES));
    world_inject(HEARTBEAT, 1, ERR(UNKNOWN_MEMBER_ID));
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_REBALANCE], 1);
    CU_ASSERT_EQUAL(world_aborts(), 1);
    world_check_applied(-1);
    world_destroy();
}

/* Brokers of Kafka 4 refuse what is an hour ahead. */
TEST(a_clock_that_brokers_do_not_accept_is_said)
{
    world_create(true);
    world.stop_at_restart = true;
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_inject(PRODUCE, 8, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP);
    world_feed(MESSAGES, MESSAGES);
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.restarted, "set the clocks"));
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(a_stage_says_what_to_look_at_if_brokers_do_not_take_messages)
{
    enum { TIMES = 1000 }; /* more than are tried in TIMEOUT_MS */
    world_create(true);
    world.stop_at_restart = true;
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_lose_patience();
    world_inject(PRODUCE, TIMES, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
    world_feed(MESSAGES, MESSAGES);
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_TIMEOUT], 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.restarted, "min.insync.replicas"));
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(a_commit_without_a_reply_is_not_applied)
{
    world_create(true);
    world.stop_at_restart = true;
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_lose_patience();
    for (int32_t broker = 1; broker <= BROKERS; broker++)
        rd_kafka_mock_broker_push_request_error_rtts(world.cluster, broker, END_TRANSACTION, 1,
                                                     RD_KAFKA_RESP_ERR_NO_ERROR, 3 * TIMEOUT_MS);
    world_feed(MESSAGES, MESSAGES);
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_UNKNOWN_OUTCOME], 1);
    CU_ASSERT_EQUAL(world_aborts(), 1);
    world_check_applied(MESSAGES);
    world_destroy();
}

/* ---- after an abort ---- */

TEST(after_an_abort_everything_is_handled_again)
{
    world_create(true);
    world_will_join_again();
    world_start();
    world_feed(0, MESSAGES);
    CU_ASSERT(world_wait_for(&world.metrics.commits, 1));
    world_inject(ADD_OFFSETS, 1, ERR(INVALID_CONFIG));
    world_feed(MESSAGES, MESSAGES);
    CU_ASSERT(world_wait_for(&world.metrics.restarts, 1));
    world_feed(2 * MESSAGES, MESSAGES);
    world_wait_handled(3 * MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world_aborts(), 1);
    CU_ASSERT_EQUAL(world.metrics.restarts, 1);
    CU_ASSERT_EQUAL(world.metrics.tasks, 0);
    world_check_applied(3 * MESSAGES);
    world_destroy();
}

TEST(brokers_that_go_and_come_back_are_waited_for)
{
    world_create(true);
    world_will_join_again();
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_feed(MESSAGES, MESSAGES);
    world_lose_patience();
    rd_kafka_mock_broker_set_down(world.cluster, -1);
    usleep(1000 * 2 * TIMEOUT_MS);
    rd_kafka_mock_broker_set_up(world.cluster, -1);
    uint64_t commits = world_count_of(&world.metrics.commits);
    world_feed(2 * MESSAGES, MESSAGES);
    CU_ASSERT(world_wait_for(&world.metrics.commits, commits + 1));
    rd_kafka_mock_broker_set_down(world.cluster, -1);
    CU_ASSERT_EQUAL(world_stop(), SP_OK); /* although no broker can be reached to leave the group */
    rd_kafka_mock_broker_set_up(world.cluster, -1);
    world_destroy();
}

/* It waited for the usual time twice, to deliver its messages and to abort, which is longer than a
 * supervisor waits. */
TEST(a_worker_that_is_stopped_waits_less_for_brokers_that_are_gone)
{
    world_create(true);
    world.options.commit_interval_ms = PATIENCE_MS;
    world.options.stop_ms = 1000;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    world_feed(0, MESSAGES);
    world_wait_handled(MESSAGES);
    rd_kafka_mock_broker_set_down(world.cluster, -1);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_TIMEOUT], 1);
    rd_kafka_mock_broker_set_up(world.cluster, -1);
    world_destroy();
}

/* ---- another process with the same transactional id ---- */

/* The first time, the worker takes its id back, which fences the other process; the second time it
 * ends. */
static void check_gives_way(int16_t request, rd_kafka_resp_err_t err)
{
    world_create(true);
    world_will_join_again();
    world_start();
    for (uint64_t time = 0; time < 2; time++) {
        uint64_t commits = world_count_of(&world.metrics.commits);
        CU_ASSERT(world_wait_for(&world.metrics.restarts, time));
        world_feed((int)time * MESSAGES, MESSAGES);
        CU_ASSERT(world_wait_for(&world.metrics.commits, commits + 1));
        world_inject(request, 1, err);
        world_feed_topic("t.tier1", 1, 0, 1);
    }
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "another toy with instance = 1 has taken over"));
    CU_ASSERT_EQUAL(world.metrics.restarts, 1);
    world_destroy();
}

TEST(a_consumer_that_is_fenced_twice_gives_way)
{
    check_gives_way(HEARTBEAT, ERR(FENCED_INSTANCE_ID));
}

TEST(offsets_that_are_fenced_twice_give_way)
{
    check_gives_way(COMMIT_OFFSETS, ERR(FENCED_INSTANCE_ID));
}

TEST(a_producer_that_is_fenced_twice_gives_way)
{
    check_gives_way(ADD_PARTITIONS, ERR(INVALID_PRODUCER_EPOCH));
}

/* As after a transaction that timed out, or a broker restart during a rebalance. */
TEST(a_worker_that_is_fenced_once_starts_again)
{
    check_abort(ADD_PARTITIONS, 1, ERR(INVALID_PRODUCER_EPOCH), SP_ABORT_FENCED);
    check_abort(COMMIT_OFFSETS, 1, ERR(FENCED_INSTANCE_ID), SP_ABORT_FENCED);
}

/* ---- rights ---- */

/* Another attempt would be refused as well. */
static void check_forbidden(int16_t request, rd_kafka_resp_err_t err)
{
    enum { ALL = 20 };
    world_create(true);
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_inject(request, ALL, err);
    world_feed(MESSAGES, MESSAGES);
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "the broker's ACLs refuse this to our user"));
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(a_right_that_is_taken_away_ends_the_stage)
{
    check_forbidden(PRODUCE, ERR(TOPIC_AUTHORIZATION_FAILED));
    check_forbidden(ADD_PARTITIONS, ERR(TOPIC_AUTHORIZATION_FAILED));
    check_forbidden(ADD_OFFSETS, ERR(GROUP_AUTHORIZATION_FAILED));
    check_forbidden(COMMIT_OFFSETS, ERR(GROUP_AUTHORIZATION_FAILED));
    check_forbidden(END_TRANSACTION, ERR(TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
}

/* Long enough that the broker refuses the first message before the next one is sent. */
static void wait_for_refusal(void)
{
    usleep(500000);
}

static void check_forbidden_between_messages(void)
{
    enum { TOO_LARGE_TO_WAIT = 100000 };
    world_create(true);
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world.on_flush = wait_for_refusal;
    world_inject(ADD_PARTITIONS, 1, ERR(TOPIC_AUTHORIZATION_FAILED));
    world_feed_large("t.tier1", 1, '0', TOO_LARGE_TO_WAIT);
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "the broker's ACLs refuse this to our user"));
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_check_applied(MESSAGES);
    world_destroy();
}

/* librdkafka takes no further message then, whatever the transaction failed of. One time in four
 * the refusal comes later than the next message. */
TEST(a_right_that_is_taken_away_between_two_messages_ends_the_stage)
{
    for (int time = 0; time < 3; time++)
        check_forbidden_between_messages();
}

static void check_no_start(int16_t request, rd_kafka_resp_err_t err, const char *said)
{
    world_create(true);
    world_inject(request, 20, err);
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, said));
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_destroy();
}

TEST(a_stage_without_the_right_to_its_transactional_id_ends)
{
    check_no_start(INIT_PRODUCER, ERR(TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
                   "the broker's ACLs refuse this to our user");
}

TEST(transactions_that_are_longer_than_the_brokers_allow_end_the_stage)
{
    check_no_start(INIT_PRODUCER, ERR(INVALID_TRANSACTION_TIMEOUT),
                   "lower kafka.transaction.timeout.ms");
}

TEST(a_session_that_the_brokers_do_not_allow_ends_the_stage)
{
    check_no_start(JOIN_GROUP, ERR(INVALID_SESSION_TIMEOUT), "kafka.session.timeout.ms must be");
}

/* ---- a disk of the broker ---- */

TEST(a_disk_of_the_broker_that_fails_for_a_moment_is_waited_for)
{
    world_create(true);
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_inject(PRODUCE, 3, ERR(KAFKA_STORAGE_ERROR));
    world_feed(MESSAGES, MESSAGES);
    world_wait_handled(2 * MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    world_check_applied(2 * MESSAGES);
    world_destroy();
}

/* ---- intake ---- */

TEST(partitions_that_come_while_intake_waits_wait_as_well)
{
    world_create(false);
    world_will_join_again();
    world.options.max_lag = 10;
    world_feed_topic("t.tier1", 0, 0, 100); /* handled by no stage */
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.paused, 1));
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    world_feed_topic("t.pages", 0, 0, MESSAGES);
    /* The worker loses its partitions and gets them back. Another consumer then reads all messages,
     * so the worker, assigned earlier, had the time to read them, too. */
    world_inject(HEARTBEAT, 1, ERR(REBALANCE_IN_PROGRESS));
    CU_ASSERT(world_wait_for(&world.assignments, 2));
    world_read_topic("t.pages", 0, MESSAGES);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.received), 0);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.paused), 1);
    world_commit_offset("t.group", "t.tier1", 100);
    CU_ASSERT(world_wait_for(&world.metrics.received, MESSAGES));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_destroy();
}

/* ---- clocks ---- */

TEST(a_clock_that_is_set_does_not_end_a_restore)
{
    world_create(true);
    world_will_join_again();
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    world_forget_state();
    /* The first poll returns no record. */
    rd_kafka_mock_broker_push_request_error_rtts(world.cluster, OUTPUT_BROKER, FETCH, 1,
                                                 RD_KAFKA_RESP_ERR_NO_ERROR, 600);
    world.stop_at_restart = true;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(commits_are_measured_in_microseconds)
{
    world_create(true);
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.commit_microseconds, STEP_US * world.metrics.commits);
    world_destroy();
}

/* ---- slow messages ---- */

static void take_longer_and_longer(void)
{
    static const int64_t took_us[] = {0, 900000, 1500000, 1600000, 2900000, 4000000, 3000000, 0};
    static size_t i;
    __atomic_fetch_add(&now_us, took_us[i++ % (sizeof took_us / sizeof *took_us)],
                       __ATOMIC_RELAXED);
}

TEST(a_message_that_takes_long_is_logged_with_what_it_did)
{
    world_create(true);
    world.on_step = take_longer_and_longer;
    world_start();
    world_feed(0, 8);
    world_wait_committed(8);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.slow, 2); /* of 1.5 and 4 s */
    CU_ASSERT_STRING_EQUAL(
        world.slowest,
        "a message took 4.0 s: t.tier1 [0], offset 5, 1 bytes; it sent 1 messages of "
        "1 bytes, and 0 to partitions of this instance");
    CU_ASSERT_EQUAL(world.metrics.longest_step_us, 4000000 + STEP_US);
    world_destroy();
}

/* ---- upkeep ---- */

static bool always_more(void *stage, bool idle, uint32_t sharers)
{
    (void)stage;
    (void)idle;
    CU_ASSERT(sharers >= 1);
    return false;
}

/* An upkeep transaction commits the current offset; if messages were handled in it, it must not
 * commit an older one. */
TEST(upkeep_takes_back_no_message_that_was_handled)
{
    world_create(true);
    world.options.stage.upkeep = always_more;
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    uint64_t commits = world_count_of(&world.metrics.commits);
    CU_ASSERT(world_wait_for(&world.metrics.commits, commits + 5)); /* commits without a message */
    CU_ASSERT(world_wait_for(&world.metrics.deferred, 1));
    world_feed(MESSAGES, MESSAGES);
    world_wait_committed(2 * MESSAGES + 1);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_check_applied(2 * MESSAGES);
    world_destroy();
}

/* Else it would have no pause, and leave nothing to the stream. */
TEST(a_transaction_of_upkeep_alone_does_not_end_early)
{
    world_create(true);
    world.options.stage.upkeep = always_more;
    world.options.commit_interval_ms = 60000;
    world.options.commit_idle_ms = 10;
    world_start();
    world_feed(0, 1);
    CU_ASSERT(world_wait_for(&world.metrics.commits, 1));
    usleep(300000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.commits), 1);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.commits, 2);
    world_destroy();
}

static uint64_t questions;   /* who the members of the group are */
static int longest_reply_ms; /* that one of them waits for */

rd_kafka_resp_err_t __real_rd_kafka_list_groups(rd_kafka_t *handle, const char *group,
                                                const struct rd_kafka_group_list **ret, int ms);
rd_kafka_resp_err_t __wrap_rd_kafka_list_groups(rd_kafka_t *handle, const char *group,
                                                const struct rd_kafka_group_list **ret, int ms);

rd_kafka_resp_err_t __wrap_rd_kafka_list_groups(rd_kafka_t *handle, const char *group,
                                                const struct rd_kafka_group_list **ret, int ms)
{
    longest_reply_ms = ms > longest_reply_ms ? ms : longest_reply_ms;
    __atomic_add_fetch(&questions, 1, __ATOMIC_RELAXED);
    return __real_rd_kafka_list_groups(handle, group, ret, ms);
}

/* The mock does not list the members of a group. A stage that stops asks at most once more. */
TEST(a_stage_works_without_knowing_the_members_of_its_group)
{
    world_create(true);
    world.options.standby_replicas = 1;
    questions = 0;
    longest_reply_ms = 0;
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT(world_wait_for(&questions, 2)); /* it goes on asking */
    uint64_t before = world_count_of(&questions);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT(questions <= before + 1);
    CU_ASSERT(longest_reply_ms > 0 && longest_reply_ms <= 10000);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    CU_ASSERT_EQUAL(world.metrics.standby_copies, 0);
    CU_ASSERT_EQUAL(world.metrics.standby_wanted, 1); /* so that an alert can fire */
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(a_coordinator_that_is_still_loading_is_asked_again_without_a_word)
{
    world_create(true);
    world_inject(INIT_PRODUCER, 3, ERR(COORDINATOR_LOAD_IN_PROGRESS));
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world_count_of(&world.retries), 0);
    CU_ASSERT_STRING_EQUAL(world.restarted, "");
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_check_applied(MESSAGES);
    world_destroy();
}

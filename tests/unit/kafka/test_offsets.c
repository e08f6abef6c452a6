/* A worker whose group's coordinator does not take the offsets of a transaction. */
#include <unistd.h>

#include "harness.h"
#include "mock_world.h"

/* librdkafka waits for the group's coordinator without limit, or for a minute where it is
 * connected. */
static void check_stops_without_coordinator(void (*break_it)(void), void (*mend_it)(void))
{
    world_create(true);
    world.options.commit_interval_ms = PATIENCE_MS;
    world.options.stop_ms = 1000;
    rd_kafka_mock_coordinator_set(world.cluster, "transaction", "t.toy-1", OUTPUT_BROKER);
    rd_kafka_mock_coordinator_set(world.cluster, "group", "t.toy", OTHER_BROKER);
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    world_feed(0, MESSAGES);
    world_wait_handled(MESSAGES);
    break_it();
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_TIMEOUT], 1);
    mend_it();
    world_destroy();
}

static void lose_coordinator(void)
{
    rd_kafka_mock_broker_set_down(world.cluster, OTHER_BROKER);
}

static void find_coordinator(void)
{
    rd_kafka_mock_broker_set_up(world.cluster, OTHER_BROKER);
}

TEST(a_worker_that_is_stopped_does_not_wait_for_a_coordinator_that_is_gone)
{
    check_stops_without_coordinator(lose_coordinator, find_coordinator);
}

static void hang_coordinator(void)
{
    rd_kafka_mock_broker_set_rtt(world.cluster, OTHER_BROKER, PATIENCE_MS);
}

static void wake_coordinator(void)
{
    rd_kafka_mock_broker_set_rtt(world.cluster, OTHER_BROKER, 0);
}

TEST(a_worker_that_is_stopped_does_not_wait_for_a_coordinator_that_hangs)
{
    check_stops_without_coordinator(hang_coordinator, wake_coordinator);
}

/* The next round goes on while the call of this one is still left behind. */
TEST(a_worker_starts_again_if_a_coordinator_hangs)
{
    world_create(true);
    world_will_join_again();
    rd_kafka_mock_coordinator_set(world.cluster, "transaction", "t.toy-1", OUTPUT_BROKER);
    rd_kafka_mock_coordinator_set(world.cluster, "group", "t.toy", OTHER_BROKER);
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    world_lose_patience();
    hang_coordinator();
    world_feed(MESSAGES, MESSAGES);
    CU_ASSERT(world_wait_for(&world.metrics.restarts, 1));
    rd_kafka_mock_coordinator_set(world.cluster, "group", "t.toy", INPUT_BROKER);
    world_wait_handled(2 * MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    wake_coordinator();
    world_destroy();
}

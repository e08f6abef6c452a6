/* The rounds of a worker: what it asks the broker before it handles messages, what it writes, and
 * how long it waits before the next round. */
#include <unistd.h>

#include "harness.h"
#include "mock_world.h"

/* ---- pauses ---- */

static uint64_t waited_ms;
static bool hurries; /* the worker's pauses are counted, and take no time */

bool __real_sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg);
bool __wrap_sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg);

bool __wrap_sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg)
{
    bool pauses = pthread_equal(pthread_self(), world.thread);
    if (pauses)
        __atomic_add_fetch(&waited_ms, ms, __ATOMIC_RELAXED);
    return __real_sp_clock_pause(pauses && hurries ? 0 : ms, goes_on, arg);
}

/* ---- topics ---- */

static int count_topics(void)
{
    const rd_kafka_metadata_t *metadata = NULL;
    CU_ASSERT_EQUAL_FATAL(rd_kafka_metadata(world.host, 1, NULL, &metadata, PATIENCE_MS),
                          RD_KAFKA_RESP_ERR_NO_ERROR);
    int count = metadata->topic_cnt;
    rd_kafka_metadata_destroy(metadata);
    return count;
}

/* A broker may create a topic on request, with settings of its own. */
static void check_no_new_topic(bool stateful)
{
    world_create(stateful);
    int before = count_topics();
    world_start();
    world_feed_topic(stateful ? "t.tier1" : "t.pages", 0, 1, 1);
    CU_ASSERT(world_wait_for(&world.metrics.commits, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(count_topics(), before);
    world_destroy();
}

TEST(a_stage_asks_for_no_topic_that_it_does_not_use)
{
    check_no_new_topic(true);
    check_no_new_topic(false);
}

/* ---- /livez before the first message ---- */

static int questions, silent_questions;
static int64_t last_alive_ms;

enum sp_err __real_sp_kafka_partitions(rd_kafka_t *handle, const char *topic, int32_t *ret_count);
enum sp_err __wrap_sp_kafka_partitions(rd_kafka_t *handle, const char *topic, int32_t *ret_count);

/* A slow broker. */
enum sp_err __wrap_sp_kafka_partitions(rd_kafka_t *handle, const char *topic, int32_t *ret_count)
{
    int64_t alive_ms = __atomic_load_n(&world.metrics.last_poll_ms, __ATOMIC_RELAXED);
    questions++;
    silent_questions += alive_ms == last_alive_ms;
    last_alive_ms = alive_ms;
    usleep(20000);
    return __real_sp_kafka_partitions(handle, topic, ret_count);
}

TEST(a_worker_says_that_it_is_alive_before_each_topic_that_it_asks_for)
{
    world_create(true);
    questions = silent_questions = 0;
    last_alive_ms = 0;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(questions, 4); /* input, changelog, output, dead letters */
    CU_ASSERT_EQUAL(silent_questions, 0);
    world_destroy();
}

/* ---- a topic that is gone ---- */

enum { ASKED_MS = 30000 }; /* about a topic that was there before */

static void set_topic(rd_kafka_resp_err_t err)
{
    rd_kafka_mock_topic_set_error(world.cluster, "t.tier1", err);
}

static void create_world_that_looks_often(void)
{
    world_create(true);
    world_will_join_again();
    world_set("topic.metadata.refresh.interval.ms", "200");
    questions = 0;
    waited_ms = 0;
}

/* Without this a stage waits without end for a topic that does not come back. */
TEST(a_stage_whose_topic_is_gone_ends)
{
    create_world_that_looks_often();
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    hurries = true;
    set_topic(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    hurries = false;
    CU_ASSERT_PTR_NOT_NULL(strstr(world.restarted, "t.tier1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "t.tier1: there is no such topic"));
    CU_ASSERT_EQUAL(waited_ms, world.metrics.restarts * world.options.restart_ms + ASKED_MS);
    CU_ASSERT_EQUAL(world.unknown, 1);
    world_check_applied(MESSAGES);
    world_destroy();
}

/* A broker that has just started may not have heard of it yet. */
TEST(a_stage_whose_topic_comes_back_goes_on)
{
    create_world_that_looks_often();
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    set_topic(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    CU_ASSERT(world_wait_for(&world.unknown, 1));
    set_topic(RD_KAFKA_RESP_ERR_NO_ERROR);
    world_feed(MESSAGES, MESSAGES);
    world_wait_handled(2 * MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.unknown, 1);
    world_destroy();
}

TEST(a_stage_that_is_stopped_does_not_wait_for_its_topic)
{
    create_world_that_looks_often();
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    set_topic(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    CU_ASSERT(world_wait_for(&world.unknown, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT(waited_ms < ASKED_MS);
    world_destroy();
}

/* A misspelt prefix is told at once. */
TEST(a_topic_that_was_never_there_is_asked_for_once)
{
    create_world_that_looks_often();
    set_topic(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "t.tier1: there is no such topic"));
    CU_ASSERT_EQUAL(questions, 1);
    CU_ASSERT_EQUAL(waited_ms, 0);
    CU_ASSERT_EQUAL(world.unknown, 0);
    world_destroy();
}

/* ---- a registry that does not respond ---- */

static int refusals;

static enum sp_err ask_registry(void *arg, struct sp_fault *fault)
{
    (void)arg;
    return refusals-- > 0 ? sp_fault_set(fault, SP_BUSY, "the registry does not respond") : SP_OK;
}

/* The toy needs a registry at the start of a round, and for message 9. */
TEST(a_registry_is_asked_half_as_often_each_time_until_a_round_begins)
{
    world_create(true);
    world_will_join_again();
    world.options.stage.prepare = ask_registry;
    refusals = 3;
    waited_ms = 0;
    world.silences = 2;
    world_start();
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(world_count_of(&waited_ms), 100 + 200 + 400);
    world_feed(9, 1);
    CU_ASSERT(world_wait_for(&world.metrics.restarts, 3 + 2));
    CU_ASSERT(world_wait_for(&world.metrics.commits, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(waited_ms, 700 + 100 + 100);
    world_destroy();
}

/* ---- the changelog ---- */

static int tombstones, others;

static void check_record(const rd_kafka_message_t *m)
{
    if (m->key_len == 0)
        return; /* the marker */
    tombstones += m->payload == NULL && m->len == 0;
    others += m->payload != NULL || m->len != 0;
}

TEST(what_a_stage_deletes_is_a_record_without_a_value)
{
    world_create(true);
    world.deletes = true;
    tombstones = others = 0;
    world_start();
    world_feed(1, 1);
    CU_ASSERT(world_wait_for(&world.metrics.commits, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    world_read_each("t.tier1-changelog", 0, 2, check_record);
    CU_ASSERT_EQUAL(tombstones, 1);
    CU_ASSERT_EQUAL(others, 0);
    world_destroy();
}

/* ---- loading ---- */

static uint64_t signs; /* of life, while the toy loads */

/* Loads until the worker has said twice that it is alive: the first time it may have been about to.
 */
static void load_slowly(void)
{
    int64_t last = __atomic_load_n(&world.metrics.last_poll_ms, __ATOMIC_RELAXED);
    for (int ms = 0; ms < PATIENCE_MS / 10 && signs < 2; ms += 10) {
        int64_t now = __atomic_load_n(&world.metrics.last_poll_ms, __ATOMIC_RELAXED);
        signs += now != last;
        last = now;
        usleep(10000);
    }
}

/* An index of many pages takes minutes; a supervisor would end the process, each time again. */
TEST(a_worker_is_alive_while_its_stage_loads)
{
    world_create(true);
    world.on_open = load_slowly;
    signs = 0;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(signs, 2);
    world_destroy();
}

static int opened;

static void stop_while_loading(void)
{
    opened++;
    world.stop = 1;
}

/* Ten partitions took ten times as long as one, and a large one alone a minute: a supervisor killed
 * the process meanwhile. */
TEST(a_worker_that_is_stopped_while_a_stage_loads_ends_the_load_and_begins_no_other)
{
    world_create(true);
    world.on_open = stop_while_loading;
    opened = 0;
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_EQUAL(opened, 1);
    CU_ASSERT_EQUAL(world.interrupted, 1);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    CU_ASSERT_EQUAL(world.metrics.errors, 0);
    world_destroy();
}

static void stop_in_a_step(void)
{
    world.stop = 1;
}

/* As in a restore, which then fails as well. */
TEST(a_worker_that_fails_while_it_is_stopped_does_not_say_that_it_starts_again)
{
    world_create(true);
    world.silences = 1;
    world.on_step = stop_in_a_step;
    world_start();
    world_feed(9, 1);
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_EQUAL(world.silences, 0);
    CU_ASSERT_STRING_EQUAL(world.restarted, "");
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    CU_ASSERT_EQUAL(world.metrics.errors, 1);
    world_destroy();
}

/* What librdkafka does for a transaction: how often its threads look at their sockets without
 * waiting, and when it is given messages. The linker puts this poll before that of the C
 * library, also for librdkafka. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "harness.h"
#include "mock_world.h"

/* FEW messages are two megabytes, more than a request has. */
enum { RTT_MS = 200, BYTES = 100000, FEW = 20 };

static uint64_t impatient; /* polls that do not wait, by the threads of brokers */

/* The thread of the mock has timers, before which it polls as well. */
static bool is_of_a_broker(void)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    return strncmp(name, "rdk:broker", 10) == 0;
}

/* poll.h declares it only where the compiler fortifies. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t bytes); /* NOLINT */

/* Debian's librdkafka calls poll by this name. */
__attribute__((visibility("default"))) int __poll_chk(struct pollfd *fds, nfds_t count,
                                                      int timeout_ms, size_t bytes)
{
    struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                               .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    (void)bytes;
    if (timeout_ms == 0 && is_of_a_broker())
        __atomic_add_fetch(&impatient, 1, __ATOMIC_RELAXED);
    return ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

/* One transaction with so many messages. The broker takes a while for each request, so most
 * messages are still queued when the commit begins. */
static uint64_t polls_of(int messages)
{
    world_create(true);
    world.options.commit_interval_ms = 60000;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    rd_kafka_mock_broker_set_rtt(world.cluster, OUTPUT_BROKER, RTT_MS);
    uint64_t before = world_count_of(&impatient);
    for (int i = 0; i < messages; i++)
        world_feed_large("t.tier1", 0, '7', BYTES);
    CU_ASSERT(world_wait_for(&world.metrics.received, (uint64_t)messages));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    uint64_t polls = world_count_of(&impatient) - before;
    CU_ASSERT_EQUAL(world.metrics.commits, 1);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_destroy();
    return polls;
}

/* Without a pause, there are thousands for each request. */
TEST(a_commit_waits_for_replies_without_looking_again_and_again)
{
    enum { MOST = 200 }; /* a few for each request and reply */
    uint64_t few = polls_of(FEW), many = polls_of(4 * FEW);
    printf("%d polls that do not wait, and %d\n", (int)few, (int)many);
    CU_ASSERT(few < MOST);
    CU_ASSERT(many < 4 * MOST);
}

/* ---- partitions ---- */

void __real_sp_output_give(struct sp_worker *w, const struct sp_outgoing *o);
void __wrap_sp_output_give(struct sp_worker *w, const struct sp_outgoing *o);

enum { FIRST = 3 }; /* one of output and two changelogs */

static struct sp_outgoing first[FIRST];
static size_t given, early;
static bool flushed;

void __wrap_sp_output_give(struct sp_worker *w, const struct sp_outgoing *o)
{
    early += !flushed;
    if (given < FIRST)
        first[given] = *o;
    given++;
    __real_sp_output_give(w, o);
}

static void note_flush(void)
{
    flushed = true;
}

static bool is_same(const struct sp_outgoing *a, const struct sp_outgoing *b)
{
    return a->topic == b->topic && a->partition == b->partition;
}

/* librdkafka adds partitions to a transaction in one request if their first messages come at once:
 * those of all partitions, at the commit. */
static void check_first(int messages)
{
    given = early = 0;
    flushed = false;
    world_create(true);
    world.options.commit_interval_ms = 60000;
    world.on_flush = note_flush;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    for (int p = 0; p < PARTITIONS; p++)
        world_feed_topic("t.tier1", p, 0, messages / PARTITIONS);
    CU_ASSERT(world_wait_for(&world.metrics.received, (uint64_t)messages));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.commits, 1);
    CU_ASSERT_EQUAL(early, 0);
    CU_ASSERT_EQUAL(given, (size_t)messages + 2 * PARTITIONS); /* each a row and a marker */
    CU_ASSERT_FALSE(is_same(&first[0], &first[1]));
    CU_ASSERT_FALSE(is_same(&first[0], &first[2]));
    CU_ASSERT_FALSE(is_same(&first[1], &first[2]));
    world_destroy();
}

TEST(all_partitions_of_a_transaction_get_their_first_messages_at_once)
{
    check_first(FEW);
    check_first(4 * FEW);
}

/* ---- order ---- */

enum { SMALL = 60000 };

static int next_digit;

static void note_digit(const rd_kafka_message_t *m)
{
    CU_ASSERT_EQUAL(((const char *)m->payload)[0], '0' + next_digit);
    next_digit = (next_digit + 1) % 10;
}

/* One transaction, with one message that is too large to wait. The mock keeps five megabytes. */
static void check_order(int count, int large)
{
    world_create(true);
    world.options.commit_interval_ms = 60000;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    for (int i = 0; i < count; i++)
        world_feed_large("t.tier1", 0, (char)('0' + i % 10), i == large ? BYTES : SMALL);
    CU_ASSERT(world_wait_for(&world.metrics.received, (uint64_t)count));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.commits, 1);
    next_digit = 0;
    world_read_each("t.status", 0, count, note_digit);
    world_destroy();
}

TEST(messages_keep_their_order_whether_they_wait_or_not)
{
    check_order(FEW, FEW / 3);
    check_order(4 * FEW - 2, 4 * FEW - 3); /* more than may wait */
}

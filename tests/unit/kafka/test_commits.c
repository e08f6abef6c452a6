/* When a transaction ends. The worker's clock stands still unless a test moves it, so that the
 * number of transactions does not depend on the speed of the machine. */
#include "harness.h"
#include "mock_world.h"

enum { START_MS = 1000000, IDLE_MS = 100, INTERVAL_MS = 1000 };

static int64_t clock_ms;

int64_t __real_sp_clock_ms(void);
int64_t __wrap_sp_clock_ms(void);

int64_t __wrap_sp_clock_ms(void)
{
    return pthread_equal(pthread_self(), world.thread)
               ? __atomic_load_n(&clock_ms, __ATOMIC_RELAXED)
               : __real_sp_clock_ms();
}

static void begin(void)
{
    __atomic_store_n(&clock_ms, START_MS, __ATOMIC_RELAXED);
    world_create(true);
    world.options.commit_interval_ms = INTERVAL_MS;
    world.options.commit_idle_ms = IDLE_MS;
    world_start();
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.ready, 1));
}

static void end(int messages)
{
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_check_applied(messages);
    world_destroy();
}

static void pass(int64_t ms)
{
    __atomic_fetch_add(&clock_ms, ms, __ATOMIC_RELAXED);
}

static uint64_t commits(void)
{
    return world_count_of(&world.metrics.commits);
}

/* Feeds so many messages, and waits until they are handled. */
static void feed(int first, int count)
{
    world_feed(first, count);
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.received, (uint64_t)first + (uint64_t)count));
}

/* Bursts of messages with a pause after each. */
static uint64_t commits_of_bursts(int bursts, int messages)
{
    begin();
    for (int i = 0; i < bursts; i++) {
        feed(i * messages, messages);
        CU_ASSERT_EQUAL(commits(), (uint64_t)i); /* more might come */
        pass(IDLE_MS);
        CU_ASSERT_FATAL(world_wait_for(&world.metrics.commits, (uint64_t)i + 1));
    }
    uint64_t count = commits();
    end(bursts * messages);
    return count;
}

TEST(a_transaction_ends_early_after_a_burst_and_not_for_each_of_its_messages)
{
    enum { BURSTS = 3 };
    CU_ASSERT_EQUAL(commits_of_bursts(BURSTS, MESSAGES), BURSTS);
    CU_ASSERT_EQUAL(commits_of_bursts(BURSTS, 4 * MESSAGES), BURSTS);
}

/* A stream without pauses, one message each 0.8 of the time after which a transaction ends early:
 * 20 messages take 4 seconds, 80 take 16. The commits after either are those at n and 4n. The next
 * message may come before the worker has seen that an interval is over, so each transaction has up
 * to one message more than the interval. */
static void commits_of_stream(void (*on_flush)(void), uint32_t behind_ms, uint64_t ret_commits[2])
{
    enum { FEW = 20, MANY = 4 * FEW, GAP_MS = INTERVAL_MS / 5 };
    __atomic_store_n(&clock_ms, START_MS, __ATOMIC_RELAXED);
    world_create(true);
    world.options.commit_interval_ms = INTERVAL_MS;
    world.options.commit_idle_ms = GAP_MS * 5 / 4;
    world.options.commit_behind_ms = behind_ms;
    world.on_flush = on_flush;
    world_start();
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.ready, 1));
    for (int i = 0; i < MANY; i++) {
        uint64_t due = (uint64_t)i * GAP_MS / INTERVAL_MS;
        feed(i, 1);
        pass(GAP_MS);
        CU_ASSERT(commits() <= due + 1);
        if (i + 1 == FEW)
            ret_commits[0] = commits();
    }
    ret_commits[1] = commits();
    end(MANY);
}

TEST(a_stream_without_pauses_has_a_transaction_an_interval)
{
    uint64_t count[2] = {0};
    commits_of_stream(NULL, 0, count);
    CU_ASSERT(count[0] >= 3 && count[0] <= 4);
    CU_ASSERT(count[1] >= 13 && count[1] <= 16);
}

/* ---- when steps take time ---- */

enum { STEP_MS = IDLE_MS }; /* as long as the pause after which a transaction ends early */

static void take_time(void)
{
    pass(STEP_MS);
}

/* Messages that all wait when the worker begins, and take STEP_MS each. */
static uint64_t commits_of_backlog(int messages, uint32_t behind_ms)
{
    __atomic_store_n(&clock_ms, START_MS, __ATOMIC_RELAXED);
    world_create(true);
    world.options.commit_interval_ms = INTERVAL_MS;
    world.options.commit_idle_ms = IDLE_MS;
    world.options.commit_behind_ms = behind_ms;
    world.on_step = take_time;
    world_feed(0, messages);
    world_start();
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.received, (uint64_t)messages));
    uint64_t count = commits();
    end(messages);
    return count;
}

/* Ten messages fit in an interval. */
TEST(a_slow_step_is_no_pause)
{
    uint64_t few = commits_of_backlog(MESSAGES, 0), many = commits_of_backlog(4 * MESSAGES, 0);
    CU_ASSERT(few >= 4 && few <= 6);
    CU_ASSERT(many >= 19 && many <= 22);
}

TEST(transactions_are_longer_while_the_input_is_behind_and_not_at_its_end)
{
    enum { BEHIND_MS = 4 * INTERVAL_MS };
    uint64_t few = commits_of_backlog(MESSAGES, BEHIND_MS);
    uint64_t many = commits_of_backlog(4 * MESSAGES, BEHIND_MS);
    CU_ASSERT(few >= 3 && few <= 4);
    CU_ASSERT(many >= 7 && many <= 11); /* the last ones are shorter */
}

/* ---- when commits take time ---- */

enum { COMMIT_MS = INTERVAL_MS };

static void take_long(void)
{
    pass(COMMIT_MS);
}

/* After the first one, a transaction lasts four of its commits. */
TEST(where_commits_are_slow_transactions_are_longer_and_fewer)
{
    uint64_t each[2] = {0}, slow[2] = {0}, bounded[2] = {0};
    commits_of_stream(take_long, 0, each);
    commits_of_stream(take_long, 10 * COMMIT_MS, slow);
    commits_of_stream(take_long, 2 * COMMIT_MS, bounded);
    CU_ASSERT(each[0] >= 3 && each[0] <= 4);
    CU_ASSERT(each[1] >= 13 && each[1] <= 16);
    CU_ASSERT(slow[0] >= 1 && slow[0] <= 2);
    CU_ASSERT(slow[1] >= 4 && slow[1] <= 5);
    CU_ASSERT(bounded[0] >= 2 && bounded[0] <= 3);
    CU_ASSERT(bounded[1] >= 7 && bounded[1] <= 9);
}

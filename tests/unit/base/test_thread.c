/* Threads, and the fallback if none can be created. The linker replaces pthread_create by a version
 * that fails on request. */
#include "base/thread.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "base/parallel.h"
#include "base/service.h"
#include "harness.h"

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg);

static int threads_left = -1; /* -1: no limit */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg)
{
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return __real_pthread_create(thread, attributes, run, arg);
}

static void *say_so(void *arg)
{
    *(bool *)arg = true;
    return NULL;
}

TEST(a_thread_runs)
{
    struct sp_fault fault;
    pthread_t thread;
    bool said = false;
    CU_ASSERT_EQUAL_FATAL(sp_thread_start(&thread, say_so, &said, &fault), SP_OK);
    pthread_join(thread, NULL);
    CU_ASSERT_TRUE(said);
}

/* A service that counts its rounds until it is stopped. */
struct counter {
    struct sp_service service;
    int64_t pause_ms;
    int rounds; /* under the lock */
};

static void *count(void *arg)
{
    struct counter *c = arg;
    pthread_mutex_lock(&c->service.lock);
    while (sp_service_pause(&c->service, c->pause_ms))
        c->rounds++;
    pthread_mutex_unlock(&c->service.lock);
    return NULL;
}

static int rounds_of(struct counter *c)
{
    pthread_mutex_lock(&c->service.lock);
    int rounds = c->rounds;
    pthread_mutex_unlock(&c->service.lock);
    return rounds;
}

/* A pause without a limit that was not ended would let the test run into its time limit. */
TEST(a_service_pauses_until_it_is_woken_and_ends_when_it_is_stopped)
{
    struct sp_fault fault;
    struct counter c = {.pause_ms = SP_SERVICE_NO_LIMIT};
    sp_service_init(&c.service);
    CU_ASSERT_EQUAL_FATAL(sp_service_start(&c.service, count, &c, &fault), SP_OK);
    while (rounds_of(&c) == 0) { /* the thread may not have begun to pause */
        pthread_mutex_lock(&c.service.lock);
        sp_service_wake(&c.service);
        pthread_mutex_unlock(&c.service.lock);
    }
    CU_ASSERT_FALSE(sp_service_ending(&c.service));
    sp_service_stop(&c.service);
    CU_ASSERT_TRUE(sp_service_ending(&c.service));
    sp_service_stop(&c.service);
    sp_service_done(&c.service);
}

TEST(a_service_goes_on_when_its_pause_is_over)
{
    struct sp_fault fault;
    struct counter c = {.pause_ms = 1};
    sp_service_init(&c.service);
    CU_ASSERT_EQUAL_FATAL(sp_service_start(&c.service, count, &c, &fault), SP_OK);
    while (rounds_of(&c) < 3)
        ;
    sp_service_done(&c.service);
}

TEST(a_service_without_a_thread_can_be_stopped)
{
    struct sp_fault fault;
    struct counter c = {.pause_ms = 1};
    sp_service_init(&c.service);
    threads_left = 0;
    CU_ASSERT_EQUAL(sp_service_start(&c.service, count, &c, &fault), SP_IO);
    threads_left = -1;
    sp_service_done(&c.service);
}

static void *lower(void *arg)
{
    sp_thread_background();
    *(int *)arg = getpriority(PRIO_PROCESS, 0);
    return NULL;
}

TEST(a_thread_lowers_its_own_priority_only)
{
    struct sp_fault fault;
    pthread_t thread;
    int before = getpriority(PRIO_PROCESS, 0), lowered = 0;
    int expected =
        before + SP_THREAD_BACKGROUND_NICE < 19 ? before + SP_THREAD_BACKGROUND_NICE : 19;
    CU_ASSERT_EQUAL_FATAL(sp_thread_start(&thread, lower, &lowered, &fault), SP_OK);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(lowered, expected);
    CU_ASSERT_EQUAL(getpriority(PRIO_PROCESS, 0), before);
}

TEST(a_limit_of_threads_is_an_error_that_names_it)
{
    struct sp_fault fault;
    pthread_t thread, before;
    bool said = false;
    memset(&thread, 7, sizeof thread);
    before = thread;
    threads_left = 0;
    CU_ASSERT_EQUAL(sp_thread_start(&thread, say_so, &said, &fault), SP_IO);
    CU_ASSERT_EQUAL(thread, before);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, strerror(EAGAIN)));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "ulimit -u"));
    threads_left = -1;
}

struct loop {
    unsigned char done[1000];
    unsigned threads_seen;
};

static void mark(void *arg, unsigned thread, size_t from, size_t to)
{
    struct loop *loop = arg;
    __atomic_fetch_or(&loop->threads_seen, 1u << thread, __ATOMIC_RELAXED);
    for (size_t i = from; i < to; i++)
        loop->done[i]++;
}

/* With as many threads as can be created: three of four, or only the caller's. */
TEST(a_loop_is_done_by_the_threads_that_can_be_had)
{
    for (int left = -1; left <= 2; left++) {
        struct loop loop = {.threads_seen = 0};
        threads_left = left;
        sp_parallel(4, sizeof loop.done, 7, mark, &loop);
        for (size_t i = 0; i < sizeof loop.done; i++)
            CU_ASSERT_EQUAL_FATAL(loop.done[i], 1);
        CU_ASSERT_TRUE(loop.threads_seen < 1u << (left < 0 ? 4 : left + 1));
    }
    threads_left = -1;
}

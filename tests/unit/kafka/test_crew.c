/* Threads that read messages: results in the order of the messages, and nothing is lost or read
 * twice when messages are dropped. */
#include <unistd.h>

#include "harness.h"
#include "kafka/crew.h"

enum { THREADS = 3, MANY = 5000, LARGE = 8 << 20, SLOW_US = 20000 };

static struct {
    int reads;     /* atomic, as these */
    int readers;   /* now */
    int destroyed; /* Kafka messages */
    int slow_at;   /* this message takes SLOW_US; -1: none */
} seen;

void __wrap_rd_kafka_message_destroy(rd_kafka_message_t *m);
void __wrap_rd_kafka_message_destroy(rd_kafka_message_t *m)
{
    __atomic_add_fetch(&seen.destroyed, 1, __ATOMIC_RELAXED);
    sp_free(m);
}

static void *reader_new(void *arg)
{
    (void)arg;
    __atomic_add_fetch(&seen.readers, 1, __ATOMIC_RELAXED);
    return sp_calloc(1, 1);
}

static void reader_free(void *reader)
{
    __atomic_sub_fetch(&seen.readers, 1, __ATOMIC_RELAXED);
    sp_free(reader);
}

/* The key is the number; every seventh message is malformed. */
static enum sp_err reader_read(void *reader, struct sp_view key, struct sp_view value,
                               struct sp_worker_reading *ret_reading)
{
    int64_t number = (int64_t)key.len;
    (void)reader, (void)value;
    __atomic_add_fetch(&seen.reads, 1, __ATOMIC_RELAXED);
    if (number == seen.slow_at)
        usleep(SLOW_US);
    *ret_reading = (struct sp_worker_reading){.why = "seven"};
    if (number % 7 == 0)
        return SP_MALFORMED;
    ret_reading->message = sp_message_new(SP_MSG_APPLIED);
    ret_reading->message->clock = (uint64_t)number;
    return SP_OK;
}

static const struct sp_worker_stage stage = {
    .read = reader_read, .reader_new = reader_new, .reader_free = reader_free};

static struct sp_crew *begin(int slow_at)
{
    struct sp_crew *crew = NULL;
    struct sp_fault fault;
    memset(&seen, 0, sizeof seen);
    seen.slow_at = slow_at;
    CU_ASSERT_EQUAL_FATAL(sp_crew_start(&stage, THREADS, &crew, &fault), SP_OK);
    CU_ASSERT_EQUAL(seen.readers, THREADS);
    return crew;
}

static void put(struct sp_crew *crew, int64_t number, size_t bytes)
{
    rd_kafka_message_t *m = sp_calloc(1, sizeof *m);
    m->offset = number;
    m->key_len = (size_t)number; /* never looked at */
    m->len = bytes;
    sp_crew_put(crew, m);
}

static void check(struct sp_crew_result *r, int64_t number)
{
    CU_ASSERT_EQUAL(r->message->offset, number);
    CU_ASSERT_EQUAL(r->err, number % 7 == 0 ? SP_MALFORMED : SP_OK);
    CU_ASSERT_EQUAL(r->reading.message != NULL, r->err == SP_OK);
    if (r->reading.message) {
        CU_ASSERT_EQUAL(r->reading.message->clock, (uint64_t)number);
        sp_message_free(r->reading.message);
    }
    rd_kafka_message_destroy(r->message);
}

static void take_all(struct sp_crew *crew, int64_t *next)
{
    struct sp_crew_result r;
    while (sp_crew_take(crew, &r))
        check(&r, (*next)++);
}

TEST(results_come_in_the_order_of_the_messages)
{
    struct sp_crew *crew = begin(3);
    int64_t next = 0;
    for (int64_t i = 0; i < MANY; i++) {
        put(crew, i, 1);
        if (sp_crew_has_room(crew))
            continue;
        size_t count = sp_crew_count(crew);
        sp_crew_wait(crew, false);
        take_all(crew, &next);
        CU_ASSERT(sp_crew_count(crew) <= count / 2);
    }
    sp_crew_wait(crew, true);
    take_all(crew, &next);
    CU_ASSERT_EQUAL(next, MANY);
    CU_ASSERT_EQUAL(sp_crew_count(crew), 0);
    CU_ASSERT_EQUAL(seen.reads, MANY);
    sp_crew_stop(crew);
    CU_ASSERT_EQUAL(seen.destroyed, MANY);
    CU_ASSERT_EQUAL(seen.readers, 0);
}

TEST(a_result_waits_for_those_before_it)
{
    struct sp_crew *crew = begin(0);
    struct sp_crew_result r;
    for (int64_t i = 0; i < 20; i++)
        put(crew, i, 1);
    while (__atomic_load_n(&seen.reads, __ATOMIC_RELAXED) < 20)
        usleep(100);
    sp_crew_wait(crew, false);
    CU_ASSERT_FATAL(sp_crew_take(crew, &r));
    check(&r, 0);
    sp_crew_stop(crew);
    CU_ASSERT_EQUAL(seen.destroyed, 20);
}

TEST(few_large_messages_leave_no_room)
{
    struct sp_crew *crew = begin(-1);
    int64_t next = 0;
    int put_count = 0;
    for (; sp_crew_has_room(crew) && put_count < 100; put_count++)
        put(crew, put_count, LARGE);
    CU_ASSERT_EQUAL(put_count, 4);
    sp_crew_wait(crew, true);
    take_all(crew, &next);
    CU_ASSERT(sp_crew_has_room(crew));
    sp_crew_stop(crew);
}

TEST(what_is_dropped_is_freed_and_the_next_messages_are_read)
{
    struct sp_crew *crew = begin(0);
    int64_t next = 100;
    for (int64_t i = 0; i < 50; i++)
        put(crew, i, 1);
    sp_crew_drop(crew);
    CU_ASSERT_EQUAL(sp_crew_count(crew), 0);
    CU_ASSERT_EQUAL(seen.destroyed, 50);
    int reads = seen.reads; /* nothing is being read any more */
    for (int64_t i = 100; i < 150; i++)
        put(crew, i, 1);
    sp_crew_wait(crew, true);
    take_all(crew, &next);
    CU_ASSERT_EQUAL(next, 150);
    CU_ASSERT_EQUAL(seen.reads, reads + 50);
    for (int64_t i = 0; i < 50; i++)
        put(crew, i, 1);
    sp_crew_stop(crew);
    CU_ASSERT_EQUAL(seen.destroyed, 150);
    CU_ASSERT_EQUAL(seen.readers, 0);
}

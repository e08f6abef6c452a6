/* Topics that are deleted, or deleted and recreated, while a stage runs. The mock cluster cannot
 * delete topics; tests/kafka/brokers.py does. test_rounds.c has the rounds that follow. */
#include "harness.h"
#include "mock_world.h"

enum { EARLIER = 100 };

static uint64_t told;
static char last_told[1024];

static void tell(const char *level, const char *text)
{
    told += strcmp(level, "error") == 0;
    snprintf(last_told, sizeof last_told, "%s", text);
}

/* What the broker replies to the question about the ends of a topic's partitions. */
static struct {
    int64_t ends[PARTITIONS];
    enum sp_err err;
    int asked;
    char topic[SP_TOPIC_NAME_MAX]; /* the last one asked about */
} broker;

enum sp_err __wrap_sp_kafka_ends(rd_kafka_t *handle, const char *topic, int32_t partitions,
                                 int64_t *ret_ends, int timeout_ms, struct sp_fault *fault);

enum sp_err __wrap_sp_kafka_ends(rd_kafka_t *handle, const char *topic, int32_t partitions,
                                 int64_t *ret_ends, int timeout_ms, struct sp_fault *fault)
{
    (void)handle, (void)timeout_ms;
    broker.asked++;
    snprintf(broker.topic, sizeof broker.topic, "%s", topic);
    if (broker.err != SP_OK)
        return sp_fault_set(fault, broker.err, "%s: no reply", topic);
    memcpy(ret_ends, broker.ends, (size_t)partitions * sizeof *ret_ends);
    return SP_OK;
}

struct delivery {
    struct sp_worker_metrics metrics;
    struct sp_worker_options options;
    struct sp_outlet outlets[SP_TOPICS][PARTITIONS];
    struct sp_worker worker;
    rd_kafka_t *producer;
};

static void begin(struct delivery *d)
{
    static const volatile sig_atomic_t never = 0;
    char error[256];
    *d = (struct delivery){.options = {.kafka = {.prefix = "t.", .instance = "1"},
                                       .stage = {.name = "toy",
                                                 .input = SP_TOPIC_TIER1,
                                                 .stateful = true,
                                                 .changelog = SP_TOPIC_TIER1_CHANGELOG},
                                       .log = tell}};
    d->options.metrics = &d->metrics;
    d->worker.options = &d->options;
    d->worker.stop = &never;
    for (int topic = 0; topic < SP_TOPICS; topic++) {
        sp_topic_name(&d->options.kafka, (enum sp_topic)topic, d->worker.topics[topic]);
        d->worker.partitions[topic] = PARTITIONS;
        d->worker.outlets[topic] = d->outlets[topic];
        for (int p = 0; p < PARTITIONS; p++)
            d->outlets[topic][p] =
                (struct sp_outlet){.topic = (enum sp_topic)topic, .last = EARLIER};
    }
    d->producer = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d->producer);
    told = 0;
    broker.asked = 0;
    broker.err = SP_OK;
}

static void deliver(struct delivery *d, enum sp_topic topic, int32_t partition, int64_t offset)
{
    struct sp_outlet *outlet = &d->outlets[topic][partition];
    rd_kafka_message_t m = {.partition = partition, .offset = offset, ._private = outlet};
    outlet->messages = 1;
    sp_transaction_delivered(d->producer, &m, &d->worker);
}

/* What a commit does once all is delivered, with these ends of the two partitions. */
static enum sp_err check(struct delivery *d, int64_t first, int64_t second)
{
    broker.ends[0] = first;
    broker.ends[1] = second;
    return sp_remade_check(&d->worker);
}

/* ---- a partition that is gone ---- */

static enum sp_err after_error(int code, bool assigned)
{
    struct sp_task task = {.input_next = 1};
    struct sp_task *tasks[PARTITIONS] = {assigned ? &task : NULL};
    struct delivery d;
    begin(&d);
    d.worker.tasks = tasks;
    sp_remade_error(d.producer, code, "[1]: is no longer available", &d.worker);
    rd_kafka_destroy(d.producer);
    return d.worker.failure.err;
}

/* The error callback hears of it, once. Without this a stage goes on with the partitions that are
 * left. */
TEST(a_partition_that_is_gone_ends_the_round)
{
    CU_ASSERT_EQUAL(after_error(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, true), SP_BUSY);
    CU_ASSERT_EQUAL(after_error(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, false), SP_OK);
    CU_ASSERT_EQUAL(after_error(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, true), SP_OK);
}

/* ---- what producers see ---- */

/* It passes: if the topic is not another one, the stage goes on with its next round. */
TEST(a_stage_whose_changelog_was_recreated_commits_nothing_to_it)
{
    struct delivery d;
    begin(&d);
    deliver(&d, SP_TOPIC_TIER1_CHANGELOG, 1, EARLIER + 1);
    CU_ASSERT_EQUAL(check(&d, 0, 0), SP_OK);
    CU_ASSERT_EQUAL(broker.asked, 0);
    deliver(&d, SP_TOPIC_TIER1_CHANGELOG, 1, 0);
    CU_ASSERT_EQUAL(d.worker.failure.err, SP_OK); /* nothing is judged in the callback */
    CU_ASSERT_EQUAL(check(&d, 0, 1), SP_BUSY);
    CU_ASSERT_STRING_EQUAL(broker.topic, "t.tier1-changelog");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(d.worker.failure.fault.text, "t.tier1-changelog: was deleted and recreated"));
    rd_kafka_destroy(d.producer);
}

/* The transaction has more than the old changelog had: its end alone does not tell. */
TEST(a_new_changelog_that_has_grown_beyond_the_old_one_is_noticed)
{
    struct delivery d;
    begin(&d);
    d.outlets[SP_TOPIC_TIER1_CHANGELOG][0].first = EARLIER + 1;
    for (int64_t offset = 0; offset < 3 * EARLIER; offset++)
        deliver(&d, SP_TOPIC_TIER1_CHANGELOG, 0, offset);
    CU_ASSERT_EQUAL(check(&d, 3 * EARLIER, EARLIER + 1), SP_BUSY);
    rd_kafka_destroy(d.producer);
}

/* librdkafka may report a batch late that was sent again, or number its messages from -1001 on. */
TEST(a_low_offset_in_a_topic_that_has_its_end_is_no_failure)
{
    struct delivery d;
    begin(&d);
    const int64_t offsets[] = {EARLIER + 3, EARLIER + 4, EARLIER + 1, EARLIER + 2, -1, 0, 1};
    const int64_t count = sizeof offsets / sizeof *offsets;
    d.outlets[SP_TOPIC_TIER1_CHANGELOG][1].first = EARLIER + 1;
    for (int64_t i = 0; i < count; i++) {
        deliver(&d, SP_TOPIC_TIER1_CHANGELOG, 1, offsets[i]);
        deliver(&d, SP_TOPIC_STATUS, 1, offsets[i]);
    }
    for (int topic = 0; topic < 2; topic++)
        CU_ASSERT_EQUAL(check(&d, EARLIER + 1, EARLIER + 1 + count), SP_OK);
    CU_ASSERT_EQUAL(broker.asked, 2);
    CU_ASSERT_EQUAL(check(&d, 0, 0), SP_OK); /* there is no doubt any more */
    CU_ASSERT_EQUAL(broker.asked, 2);
    CU_ASSERT_EQUAL(told, 0);
    CU_ASSERT_EQUAL(d.outlets[SP_TOPIC_STATUS][1].last, EARLIER + 4);
    rd_kafka_destroy(d.producer);
}

/* The round ends, and nothing is committed. */
TEST(a_broker_that_does_not_say_where_a_topic_ends_ends_the_round)
{
    struct delivery d;
    begin(&d);
    deliver(&d, SP_TOPIC_TIER1_CHANGELOG, 0, 0);
    broker.err = SP_BUSY;
    CU_ASSERT_EQUAL(check(&d, 0, 0), SP_BUSY);
    CU_ASSERT_EQUAL(d.worker.failure.cause, SP_ABORT_BROKER);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(d.worker.failure.fault.text, "is not known: t.tier1-changelog: no reply"));
    CU_ASSERT_EQUAL(told, 0);
    rd_kafka_destroy(d.producer);
}

static int questions(int64_t messages)
{
    struct delivery d;
    begin(&d);
    for (int64_t i = 0; i < messages; i++) {
        deliver(&d, SP_TOPIC_STATUS, (int32_t)(i % PARTITIONS), i % EARLIER);
        deliver(&d, SP_TOPIC_TIER1_CHANGELOG, (int32_t)(i % PARTITIONS), i % EARLIER);
    }
    CU_ASSERT_EQUAL(broker.asked, 0);
    CU_ASSERT_EQUAL(check(&d, INT64_MAX, INT64_MAX), SP_OK);
    CU_ASSERT_STRING_EQUAL(broker.topic, "t.tier1-changelog");
    rd_kafka_destroy(d.producer);
    return broker.asked;
}

TEST(a_transaction_asks_once_whatever_it_has)
{
    CU_ASSERT_EQUAL(questions(100), 1);
    CU_ASSERT_EQUAL(questions(400), 1);
}

/* Once for each topic, whatever follows. */
TEST(a_stage_says_that_what_it_writes_to_was_recreated_and_goes_on)
{
    struct delivery d;
    begin(&d);
    for (int64_t offset = 0; offset < 3; offset++) {
        for (int32_t p = 0; p < PARTITIONS; p++)
            deliver(&d, SP_TOPIC_STATUS, p, offset);
        CU_ASSERT_EQUAL(check(&d, offset + 1, offset + 1), SP_OK);
    }
    CU_ASSERT_EQUAL(broker.asked, 1);
    CU_ASSERT_EQUAL(told, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(last_told, "t.status: was deleted and recreated"));
    CU_ASSERT_PTR_NOT_NULL(strstr(last_told, "with its next fetch"));
    deliver(&d, SP_TOPIC_TIER2, 0, 0);
    CU_ASSERT_EQUAL(check(&d, 1, 0), SP_OK);
    CU_ASSERT_EQUAL(told, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(last_told, "pages may be in the wrong groups"));
    CU_ASSERT_EQUAL(d.metrics.errors, 2);
    rd_kafka_destroy(d.producer);
}

/* An offset that librdkafka does not know says nothing. */
TEST(offsets_that_grow_or_are_not_known_say_nothing)
{
    struct delivery d;
    begin(&d);
    deliver(&d, SP_TOPIC_STATUS, 0, EARLIER + 1);
    deliver(&d, SP_TOPIC_STATUS, 0, RD_KAFKA_OFFSET_INVALID);
    deliver(&d, SP_TOPIC_STATUS, 0, EARLIER + 2);
    deliver(&d, SP_TOPIC_TIER1_CHANGELOG, 0, RD_KAFKA_OFFSET_INVALID);
    CU_ASSERT_EQUAL(check(&d, 0, 0), SP_OK);
    CU_ASSERT_EQUAL(broker.asked, 0);
    CU_ASSERT_EQUAL(told, 0);
    CU_ASSERT_EQUAL(d.outlets[SP_TOPIC_STATUS][0].last, EARLIER + 2);
    rd_kafka_destroy(d.producer);
}

/* ---- the statuses at the start ---- */

/* What the stage logs about the ends of the two partitions of `status`; handled messages: `next`.
 */
static const char *look(int64_t next, int64_t first, int64_t second)
{
    static struct delivery d;
    struct sp_task task = {.input_next = next};
    struct sp_task *tasks[PARTITIONS] = {&task};
    begin(&d);
    d.options.stage.outputs[0] = SP_TOPIC_STATUS;
    d.options.stage.output_count = 1;
    d.worker.tasks = tasks;
    broker.ends[0] = first;
    broker.ends[1] = second;
    last_told[0] = 0;
    sp_remade_look(&d.worker);
    rd_kafka_destroy(d.producer);
    return last_told;
}

TEST(statuses_that_are_gone_are_noticed_at_the_start)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(look(7, 0, 0), "t.status: is empty, although there is a state"));
    CU_ASSERT_STRING_EQUAL(look(-1, 0, 0), "");
    CU_ASSERT_STRING_EQUAL(look(7, 1, 0), "");
    CU_ASSERT_STRING_EQUAL(look(7, 1000, 1), "");
}

TEST(partitions_that_were_added_to_the_statuses_are_noticed_at_the_start)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(look(7, 1000, 0), "If partitions were added"));
    CU_ASSERT_STRING_EQUAL(look(7, 199, 0), "");
}

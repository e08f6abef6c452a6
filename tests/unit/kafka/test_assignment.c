/* Assigning and revoking partitions: a stage is opened once for each and closed as often. */
#include "harness.h"
#include "kafka/internal.h"

enum { PARTITIONS = 3 };

static int opened, closed;

static enum sp_err toy_open(void *arg, struct sp_worker *w, struct sp_store *store,
                            void **ret_stage)
{
    (void)arg, (void)w, (void)store;
    opened++;
    *ret_stage = sp_alloc(1);
    return SP_OK;
}

static void toy_close(void *stage)
{
    closed++;
    sp_free(stage);
}

static void no_log(const char *level, const char *text)
{
    (void)level, (void)text;
}

/* Of a mock cluster of its own, which makes a topic when it is asked about it. */
static rd_kafka_t *lone_consumer(void)
{
    enum { PATIENCE_MS = 30000 };
    char text[256];
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "group.id", "nobody", text, sizeof text);
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", text, sizeof text);
    rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(consumer);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(consumer, "pages", NULL);
    CU_ASSERT_EQUAL_FATAL(rd_kafka_metadata(consumer, 0, topic, &metadata, PATIENCE_MS),
                          RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return consumer;
}

static struct sp_worker_metrics metrics;
static struct sp_worker_options options = {
    .stage = {.name = "toy", .input = SP_TOPIC_PAGES, .open = toy_open, .close = toy_close},
    .log = no_log,
    .metrics = &metrics};

static void init_worker(struct sp_worker *w, struct sp_task **tasks)
{
    memset(&metrics, 0, sizeof metrics);
    opened = closed = 0;
    static const volatile sig_atomic_t stop;
    *w = (struct sp_worker){.options = &options, .stop = &stop, .tasks = tasks};
    w->partitions[SP_TOPIC_PAGES] = PARTITIONS;
    w->consumer = lone_consumer();
}

static rd_kafka_topic_partition_list_t *pages(int count)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int p = 0; p < count; p++)
        rd_kafka_topic_partition_list_add(list, "pages", p);
    return list;
}

/* Partitions were added to the topic: the next round counts them again. */
TEST(a_partition_that_was_not_there_at_the_start_ends_the_round)
{
    struct sp_task *tasks[PARTITIONS + 1] = {0}; /* one more than the worker knows */
    struct sp_worker w;
    init_worker(&w, tasks);
    rd_kafka_topic_partition_list_t *list = pages(PARTITIONS + 1);
    sp_assignment_changed(w.consumer, RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS, list, &w);
    CU_ASSERT_PTR_NULL(tasks[PARTITIONS]);
    CU_ASSERT_EQUAL(w.failure.err, SP_BUSY);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.failure.fault.text, "more partitions"));
    CU_ASSERT_EQUAL(metrics.ready, 0);
    sp_assignment_close(&w);
    CU_ASSERT_EQUAL(closed, opened);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(w.consumer);
}

TEST(partitions_that_come_twice_are_open_once)
{
    struct sp_task *tasks[PARTITIONS] = {0};
    struct sp_worker w;
    init_worker(&w, tasks);
    rd_kafka_topic_partition_list_t *list = pages(PARTITIONS);
    for (int round = 1; round <= 3; round++) {
        sp_assignment_changed(w.consumer, RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS, list, &w);
        CU_ASSERT_EQUAL(opened - closed, PARTITIONS);
        CU_ASSERT_EQUAL(metrics.tasks, PARTITIONS);
        CU_ASSERT_PTR_NULL(rd_kafka_consumer_poll(w.consumer, 100)); /* 2.0 is confused by haste */
    }
    sp_assignment_changed(w.consumer, RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS, list, &w);
    CU_ASSERT_EQUAL(opened, 3 * PARTITIONS);
    CU_ASSERT_EQUAL(closed, opened);
    CU_ASSERT_EQUAL(metrics.tasks, 0);
    CU_ASSERT_EQUAL(w.failure.err, SP_OK);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(w.consumer);
}

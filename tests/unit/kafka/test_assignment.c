/* Partitions come and go: a stage is open once for each, and closed as often as it was opened. */
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

static rd_kafka_t *offline_consumer(void)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "group.id", "nobody", text, sizeof text);
    rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(consumer);
    return consumer;
}

TEST(partitions_that_come_twice_are_open_once)
{
    struct sp_worker_metrics metrics = {0};
    struct sp_worker_options options = {
        .stage = {.name = "toy", .input = SP_TOPIC_PAGES, .open = toy_open, .close = toy_close},
        .log = no_log,
        .metrics = &metrics};
    struct sp_task *tasks[PARTITIONS] = {0};
    struct sp_worker w = {.options = &options, .tasks = tasks};
    w.partitions[SP_TOPIC_PAGES] = PARTITIONS;
    w.consumer = offline_consumer();
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(PARTITIONS);
    for (int p = 0; p < PARTITIONS; p++)
        rd_kafka_topic_partition_list_add(list, "pages", p);
    opened = closed = 0;
    for (int round = 1; round <= 3; round++) {
        assignment_changed(w.consumer, RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS, list, &w);
        CU_ASSERT_EQUAL(opened - closed, PARTITIONS);
        CU_ASSERT_EQUAL(metrics.tasks, PARTITIONS);
    }
    assignment_changed(w.consumer, RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS, list, &w);
    CU_ASSERT_EQUAL(opened, 3 * PARTITIONS);
    CU_ASSERT_EQUAL(closed, opened);
    CU_ASSERT_EQUAL(metrics.tasks, 0);
    CU_ASSERT_EQUAL(w.err, SP_OK);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(w.consumer);
}

/* Where topics begin and end, on librdkafka's mock cluster. */
#include "harness.h"
#include "kafka/client.h"

#include <librdkafka/rdkafka_mock.h> /* needs rdkafka.h before it */

enum { LIST_OFFSETS = 2, MESSAGES = 3, SLOW_MS = 3000, SOON_MS = 300, PATIENCE_MS = 180000 };
static const char TOPIC[] = "t.pages";

static rd_kafka_t *new_handle(rd_kafka_type_t type, const char *key, const char *value)
{
    char error[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    CU_ASSERT_EQUAL_FATAL(rd_kafka_conf_set(conf, key, value, error, sizeof error), 0);
    rd_kafka_t *handle = rd_kafka_new(type, conf, error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(handle);
    return handle;
}

/* A stage that was being stopped waited for a broker that hung, without end. */
TEST(a_broker_that_does_not_reply_in_time_is_not_waited_for)
{
    int64_t low = -1, high = -1;
    rd_kafka_t *host = new_handle(RD_KAFKA_PRODUCER, "test.mock.num.brokers", "1");
    rd_kafka_mock_cluster_t *cluster = rd_kafka_handle_mock_cluster(host);
    rd_kafka_mock_topic_create(cluster, TOPIC, 1, 1);
    rd_kafka_t *handle = new_handle(RD_KAFKA_CONSUMER, "bootstrap.servers",
                                    rd_kafka_mock_cluster_bootstraps(cluster));
    for (int i = 0; i < MESSAGES; i++)
        rd_kafka_producev(host, RD_KAFKA_V_TOPIC(TOPIC), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_END);
    CU_ASSERT_EQUAL(rd_kafka_flush(host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL(sp_kafka_watermarks(handle, TOPIC, 0, &low, &high, PATIENCE_MS),
                    RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL(low, 0);
    CU_ASSERT_EQUAL(high, MESSAGES);
    for (int i = 0; i < 2; i++)
        rd_kafka_mock_broker_push_request_error_rtts(cluster, 1, LIST_OFFSETS, 1,
                                                     RD_KAFKA_RESP_ERR_NO_ERROR, SLOW_MS);
    CU_ASSERT_EQUAL(sp_kafka_watermarks(handle, TOPIC, 0, &low, &high, SOON_MS),
                    RD_KAFKA_RESP_ERR__TIMED_OUT);
    rd_kafka_destroy(handle);
    rd_kafka_destroy(host);
}

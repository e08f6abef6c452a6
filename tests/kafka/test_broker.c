/* The broker started by tools/kafka does what our producers and consumers rely on: a read_committed
 * consumer, librdkafka's or ours (fetcher.h), sees a transaction whole or not at all. */
#include "harness.h"
#include "kafka/fetcher.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGES = 100, PARTITIONS = 3, TIMEOUT_MS = 30000, MARKERS = 2 };

/* $SAMEPAGE_KAFKA, or the first line of tools/kafka status; NULL: no broker. */
static const char *broker(void)
{
    static char line[256];
    const char *given = getenv("SAMEPAGE_KAFKA");
    if (given && *given)
        return given;
    FILE *status = popen("'" SP_SOURCE_DIR "/tools/kafka' status 2>/dev/null", "r");
    if (!status)
        return NULL;
    bool found = fgets(line, sizeof line, status) != NULL;
    pclose(status);
    line[strcspn(line, "\n")] = 0;
    return found ? line : NULL;
}

/* A handle with `settings` (pairs, ended by NULL) besides the broker's address. */
static rd_kafka_t *connect_to(const char *address, rd_kafka_type_t type, const char **settings)
{
    char error[512] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", address, NULL, 0);
    for (; *settings; settings += 2)
        if (rd_kafka_conf_set(conf, settings[0], settings[1], error, sizeof error) !=
            RD_KAFKA_CONF_OK)
            CU_FAIL_FATAL(error);
    rd_kafka_t *handle = rd_kafka_new(type, conf, error, sizeof error);
    if (!handle)
        fprintf(stderr, "%s\n", error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(handle);
    return handle;
}

static void check(rd_kafka_error_t *error)
{
    if (error)
        fprintf(stderr, "%s\n", rd_kafka_error_string(error));
    CU_ASSERT_PTR_NULL_FATAL(error);
}

static void create_topic(rd_kafka_t *handle, const char *topic)
{
    char error[512] = "";
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_AdminOptions_set_operation_timeout(options, TIMEOUT_MS, NULL, 0);
    /* -1: the broker's default number of replicas */
    rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(topic, PARTITIONS, -1, error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(wanted);
    rd_kafka_CreateTopics(handle, &wanted, 1, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 2 * TIMEOUT_MS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(event);
    const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    CU_ASSERT_EQUAL_FATAL(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    size_t count;
    const rd_kafka_topic_result_t **topics = rd_kafka_CreateTopics_result_topics(result, &count);
    CU_ASSERT_EQUAL_FATAL(count, 1);
    CU_ASSERT_EQUAL_FATAL(rd_kafka_topic_result_error(topics[0]), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(wanted);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_queue_destroy(queue);
}

/* Sends "KIND 0", "KIND 1", … in the open transaction; they are in the log when this returns. */
static void produce(rd_kafka_t *producer, const char *topic, const char *kind)
{
    for (int i = 0; i < MESSAGES; i++) {
        char value[32];
        int length = snprintf(value, sizeof value, "%s %d", kind, i);
        rd_kafka_resp_err_t error = rd_kafka_producev(
            producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(i % PARTITIONS),
            RD_KAFKA_V_VALUE(value, (size_t)length), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_END);
        CU_ASSERT_EQUAL_FATAL(error, RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    CU_ASSERT_EQUAL_FATAL(rd_kafka_flush(producer, TIMEOUT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* How often each message was seen. */
struct seen {
    int committed[MESSAGES];
    int aborted[MESSAGES];
    int other;
};

static void count(struct seen *seen, const void *bytes, size_t len)
{
    char value[32];
    int number;
    snprintf(value, sizeof value, "%.*s", (int)len, (const char *)bytes);
    if (sscanf(value, "committed %d", &number) == 1 && number >= 0 && number < MESSAGES)
        seen->committed[number]++;
    else if (sscanf(value, "aborted %d", &number) == 1 && number >= 0 && number < MESSAGES)
        seen->aborted[number]++;
    else
        seen->other++;
}

/* The offset after the marker of the second transaction. */
static int64_t end_of(int partition)
{
    int64_t end = MARKERS;
    for (int i = partition; i < MESSAGES; i += PARTITIONS)
        end += 2;
    return end;
}

/* Reads each partition up to the marker of the second transaction, which the broker may write after
 * the producer's call has returned. */
static struct seen consume(const char *address, const char *topic, const char *isolation)
{
    struct seen seen = {0};
    const char *settings[] = {"group.id",
                              topic,
                              "enable.partition.eof",
                              "true",
                              "isolation.level",
                              isolation,
                              "enable.auto.commit",
                              "false",
                              "auto.offset.reset",
                              "error",
                              NULL};
    rd_kafka_t *consumer = connect_to(address, RD_KAFKA_CONSUMER, settings);
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(PARTITIONS);
    for (int p = 0; p < PARTITIONS; p++)
        rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    CU_ASSERT_EQUAL_FATAL(rd_kafka_assign(consumer, list), RD_KAFKA_RESP_ERR_NO_ERROR);

    bool ended[PARTITIONS] = {false};
    int open = PARTITIONS;
    time_t deadline = time(NULL) + TIMEOUT_MS / 1000;
    while (open > 0 && time(NULL) < deadline) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, 100);
        if (!message)
            continue;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            count(&seen, message->payload, message->len);
        } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            int p = message->partition;
            if (!ended[p] && message->offset >= end_of(p)) {
                ended[p] = true;
                open--;
            }
        } else {
            fprintf(stderr, "%s\n", rd_kafka_message_errstr(message));
        }
        rd_kafka_message_destroy(message);
    }
    CU_ASSERT_EQUAL(open, 0);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return seen;
}

static void fetch_partition(rd_kafka_t *consumer, const char *topic, int p, struct seen *seen)
{
    struct sp_fetcher *f = sp_fetcher_open(consumer, consumer, topic, p);
    struct sp_changelog_record record;
    struct sp_batches batches;
    time_t deadline = time(NULL) + TIMEOUT_MS / 1000;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (int64_t next = 0; next < end_of(p); next = batches.next) {
        CU_ASSERT_FATAL(time(NULL) < deadline);
        CU_ASSERT_TRUE_FATAL(sp_fetcher_ask(f, next));
        CU_ASSERT_TRUE_FATAL(sp_fetcher_take(f, &batches));
        CU_ASSERT(sp_batches_end(batches.left, next) >= next);
        while (sp_batches_next(&batches, &record))
            count(seen, record.value.data, record.value.len);
        CU_ASSERT_FALSE_FATAL(batches.strange);
    }
    sp_fetcher_close(f);
}

/* The same without librdkafka. */
static struct seen fetch(const char *address, const char *topic, const char *kbytes)
{
    struct seen seen = {0};
    const char *settings[] = {"group.id", topic, "queued.max.messages.kbytes", kbytes, NULL};
    rd_kafka_t *consumer = connect_to(address, RD_KAFKA_CONSUMER, settings);
    for (int p = 0; p < PARTITIONS; p++)
        fetch_partition(consumer, topic, p, &seen);
    rd_kafka_destroy(consumer);
    return seen;
}

static bool each(const int *counts, int expected)
{
    for (int i = 0; i < MESSAGES; i++)
        if (counts[i] != expected)
            return false;
    return true;
}

TEST(commits_and_aborts)
{
    const char *address = broker();
    if (!address)
        SKIP("no broker: tools/kafka up starts one, SAMEPAGE_KAFKA names another");
    char topic[64];
    snprintf(topic, sizeof topic, "test-broker-%ld-%ld", (long)time(NULL), (long)getpid());
    const char *settings[] = {"transactional.id", topic, NULL};
    rd_kafka_t *producer = connect_to(address, RD_KAFKA_PRODUCER, settings);
    create_topic(producer, topic);
    check(rd_kafka_init_transactions(producer, TIMEOUT_MS));
    check(rd_kafka_begin_transaction(producer));
    produce(producer, topic, "committed");
    check(rd_kafka_commit_transaction(producer, TIMEOUT_MS));
    check(rd_kafka_begin_transaction(producer));
    produce(producer, topic, "aborted");
    check(rd_kafka_abort_transaction(producer, TIMEOUT_MS));
    rd_kafka_destroy(producer);

    struct seen seen = consume(address, topic, "read_committed");
    CU_ASSERT(each(seen.committed, 1));
    CU_ASSERT(each(seen.aborted, 0));
    CU_ASSERT_EQUAL(seen.other, 0);
    for (int large = 0; large < 2; large++) {
        seen = fetch(address, topic, large ? "16384" : "1");
        CU_ASSERT(each(seen.committed, 1));
        CU_ASSERT(each(seen.aborted, 0));
        CU_ASSERT_EQUAL(seen.other, 0);
    }
    /* aborted messages are in the log; only the isolation level hides them */
    seen = consume(address, topic, "read_uncommitted");
    CU_ASSERT(each(seen.committed, 1));
    CU_ASSERT(each(seen.aborted, 1));
    CU_ASSERT_EQUAL(seen.other, 0);
}

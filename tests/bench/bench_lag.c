/* bench_lag BROKER PREFIX
 *
 * Prints a line five times a second: the time, the messages that the consumer groups signature,
 * group and compare have not committed yet, and the end offset of the status topic. Control records
 * count as messages, so the lag of a group that is done may stay above zero. Ends when standard
 * output is closed. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

enum { TIMEOUT_MS = 10000, INTERVAL_US = 200000, GROUPS = 3 };

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_lag: %s: %s\n", what, why);
    exit(1);
}

static rd_kafka_t *open_group(const char *broker, const char *prefix, const char *name)
{
    char id[256], error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    snprintf(id, sizeof id, "%s%s", prefix, name);
    if (rd_kafka_conf_set(conf, "bootstrap.servers", broker, error, sizeof error) ||
        rd_kafka_conf_set(conf, "group.id", id, error, sizeof error))
        fail("configuration", error);
    rd_kafka_t *handle = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
    if (!handle)
        fail("open", error);
    return handle;
}

static int32_t partitions_of(rd_kafka_t *handle, const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *t = rd_kafka_topic_new(handle, topic, NULL);
    if (rd_kafka_metadata(handle, 0, t, &metadata, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail(topic, "no broker is reachable");
    int32_t count = metadata->topics[0].partition_cnt;
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(t);
    return count;
}

/* The sum of the partitions' end offsets; with `lag`, minus the offsets committed by the group of
 * `handle`. */
static int64_t measure(rd_kafka_t *handle, const char *prefix, const char *name, bool lag)
{
    char topic[256];
    int64_t sum = 0;
    snprintf(topic, sizeof topic, "%s%s", prefix, name);
    int32_t count = partitions_of(handle, topic);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int32_t p = 0; p < count; p++)
        rd_kafka_topic_partition_list_add(list, topic, p);
    if (lag && rd_kafka_committed(handle, list, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail(topic, "its offsets are not known");
    for (int32_t p = 0; p < count; p++) {
        int64_t low = 0, high = 0, at = lag ? list->elems[p].offset : 0;
        if (rd_kafka_query_watermark_offsets(handle, topic, p, &low, &high, TIMEOUT_MS) !=
            RD_KAFKA_RESP_ERR_NO_ERROR)
            fail(topic, "its end is not known");
        sum += high - (at >= 0 ? at : low);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return sum;
}

int main(int argc, char **argv)
{
    static const char *const groups[GROUPS] = {"signature", "group", "compare"};
    static const char *const topics[GROUPS] = {"pages", "tier1", "tier2"};
    rd_kafka_t *handles[GROUPS];
    if (argc != 3)
        fail("usage", "bench_lag BROKER PREFIX");
    for (int i = 0; i < GROUPS; i++)
        handles[i] = open_group(argv[1], argv[2], groups[i]);
    for (;;) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        printf("%" PRId64 ".%03ld", (int64_t)t.tv_sec, t.tv_nsec / 1000000);
        for (int i = 0; i < GROUPS; i++)
            printf(" %" PRId64, measure(handles[i], argv[2], topics[i], true));
        printf(" %" PRId64 "\n", measure(handles[0], argv[2], "status", false));
        if (fflush(stdout) != 0)
            return 0;
        usleep(INTERVAL_US);
    }
}

/* An operator's actions on topics, for the tests and tools/chaos; each call returns when it is
 * done.
 *
 *   admin ADDRESS partitions TOPIC COUNT        raises the number of partitions to COUNT
 *   admin ADDRESS delete-before TOPIC OFFSET    deletes records of every partition; -1: all
 *   admin ADDRESS delete-read TOPIC GROUP       deletes what the consumer group has read;
 *                                               prints in how many partitions
 *   admin ADDRESS delete TOPIC...               deletes the topics
 *   admin ADDRESS poison TOPIC PARTITION BYTES [KEY]
 *                                               sends a gzipped message of BYTES that is no page
 *   admin ADDRESS tombstone TOPIC KEY           deletes the key in every partition
 *   admin ADDRESS set TOPIC KEY VALUE...        settings of the topic; its others become the
 *                                               broker's
 *   admin ADDRESS delete-group GROUP            deletes the consumer group and its offsets
 *   admin ADDRESS reset TOPIC GROUP OFFSET      the offset of the consumer group in each partition
 *   admin ADDRESS rows TOPIC                    prints committed messages in order: key and value
 *                                               in hexadecimal digits, a deletion as -
 *   admin ADDRESS ends TOPIC                    prints the watermarks of each partition */
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 30000 };

static rd_kafka_t *handle;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "admin: %s: %s\n", what, why);
    exit(1);
}

static long number(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (!*text || *end)
        die(text, "not a number");
    return n;
}

static const struct rd_kafka_metadata *metadata_of(const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *t = rd_kafka_topic_new(handle, topic, NULL);
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, t, &metadata, TIMEOUT_MS);
    rd_kafka_topic_destroy(t);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        die(topic, rd_kafka_err2str(code));
    return metadata;
}

static rd_kafka_event_t *result_of(rd_kafka_queue_t *queue, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
    if (!event)
        die(what, "no reply");
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR)
        die(what, rd_kafka_event_error_string(event));
    return event;
}

static void check_topics(const rd_kafka_topic_result_t **topics, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rd_kafka_topic_result_error(topics[i]) != RD_KAFKA_RESP_ERR_NO_ERROR)
            die(rd_kafka_topic_result_name(topics[i]),
                rd_kafka_topic_result_error_string(topics[i]));
}

/* The controller replies before its brokers tell clients of the new partitions. */
static void wait_for_partitions(const char *topic, long count)
{
    enum { PAUSE_MS = 50 };
    for (int waited_ms = 0, have = 0; have < count; waited_ms += PAUSE_MS) {
        const struct rd_kafka_metadata *metadata = metadata_of(topic);
        have = metadata->topics[0].partition_cnt;
        rd_kafka_metadata_destroy(metadata);
        if (have < count && waited_ms >= TIMEOUT_MS)
            die(topic, "its new partitions are not told to clients");
        if (have < count)
            rd_kafka_poll(handle, PAUSE_MS);
    }
}

static void add_partitions(rd_kafka_queue_t *queue, char **args)
{
    char error[256] = "";
    size_t count = 0;
    rd_kafka_NewPartitions_t *wanted =
        rd_kafka_NewPartitions_new(args[0], (size_t)number(args[1]), error, sizeof error);
    if (!wanted)
        die(args[0], error);
    rd_kafka_CreatePartitions(handle, &wanted, 1, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "partitions");
    check_topics(rd_kafka_CreatePartitions_result_topics(
                     rd_kafka_event_CreatePartitions_result(event), &count),
                 count);
    rd_kafka_event_destroy(event);
    rd_kafka_NewPartitions_destroy(wanted);
    wait_for_partitions(args[0], number(args[1]));
}

/* `before` names for each partition the first record that stays. */
static void delete_records(rd_kafka_queue_t *queue, const rd_kafka_topic_partition_list_t *before)
{
    rd_kafka_DeleteRecords_t *wanted = rd_kafka_DeleteRecords_new(before);
    rd_kafka_DeleteRecords(handle, &wanted, 1, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "delete");
    const rd_kafka_topic_partition_list_t *done =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
    for (int i = 0; i < done->cnt; i++)
        if (done->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
            die(done->elems[i].topic, rd_kafka_err2str(done->elems[i].err));
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteRecords_destroy(wanted);
}

static void delete_before(rd_kafka_queue_t *queue, char **args)
{
    const struct rd_kafka_metadata *metadata = metadata_of(args[0]);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (int p = 0; p < metadata->topics[0].partition_cnt; p++)
        rd_kafka_topic_partition_list_add(list, args[0], p)->offset =
            number(args[1]) < 0 ? RD_KAFKA_OFFSET_END : number(args[1]);
    delete_records(queue, list);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_metadata_destroy(metadata);
}

/* Only committed offsets count; a partition without one keeps its records. */
static void delete_read(rd_kafka_queue_t *queue, char **args)
{
    rd_kafka_ListConsumerGroupOffsets_t *wanted =
        rd_kafka_ListConsumerGroupOffsets_new(args[1], NULL);
    rd_kafka_ListConsumerGroupOffsets(handle, &wanted, 1, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "committed offsets");
    size_t groups = 0;
    const rd_kafka_group_result_t **found = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &groups);
    if (groups != 1 || rd_kafka_group_result_error(found[0]))
        die(args[1], "its committed offsets cannot be read");
    const rd_kafka_topic_partition_list_t *committed = rd_kafka_group_result_partitions(found[0]);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (int i = 0; i < committed->cnt; i++)
        if (strcmp(committed->elems[i].topic, args[0]) == 0 && committed->elems[i].offset >= 0)
            rd_kafka_topic_partition_list_add(list, args[0], committed->elems[i].partition)
                ->offset = committed->elems[i].offset;
    if (list->cnt)
        delete_records(queue, list);
    printf("%d\n", list->cnt);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_event_destroy(event);
    rd_kafka_ListConsumerGroupOffsets_destroy(wanted);
}

static void delete_topics(rd_kafka_queue_t *queue, char **args, size_t count)
{
    rd_kafka_DeleteTopic_t *topics[16];
    if (count > sizeof topics / sizeof *topics)
        die("delete", "too many topics");
    for (size_t i = 0; i < count; i++)
        topics[i] = rd_kafka_DeleteTopic_new(args[i]);
    rd_kafka_DeleteTopics(handle, topics, count, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "delete");
    check_topics(
        rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count),
        count);
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteTopic_destroy_array(topics, count);
}

static void on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *m, void *arg)
{
    (void)producer, (void)arg;
    if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        die("poison", rd_kafka_err2str(m->err));
}

static void poison(char **args, const char *key)
{
    static char value[64 << 20];
    size_t bytes = (size_t)number(args[2]);
    if (bytes > sizeof value)
        die(args[2], "too many bytes");
    memset(value, 'x', bytes);
    rd_kafka_resp_err_t code = rd_kafka_producev(
        handle, RD_KAFKA_V_TOPIC(args[0]), RD_KAFKA_V_PARTITION((int32_t)number(args[1])),
        RD_KAFKA_V_KEY(key, key ? strlen(key) : 0), RD_KAFKA_V_VALUE(value, bytes),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        code = rd_kafka_flush(handle, TIMEOUT_MS);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        die("poison", rd_kafka_err2str(code));
}

static void tombstone(char **args)
{
    const struct rd_kafka_metadata *metadata = metadata_of(args[0]);
    for (int p = 0; p < metadata->topics[0].partition_cnt; p++) {
        rd_kafka_resp_err_t code =
            rd_kafka_producev(handle, RD_KAFKA_V_TOPIC(args[0]), RD_KAFKA_V_PARTITION(p),
                              RD_KAFKA_V_KEY(args[1], strlen(args[1])), RD_KAFKA_V_END);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
            die("tombstone", rd_kafka_err2str(code));
    }
    rd_kafka_flush(handle, TIMEOUT_MS);
    rd_kafka_metadata_destroy(metadata);
}

/* What the broker says that the setting is. */
static bool has_setting(rd_kafka_queue_t *queue, const char *topic, char **setting)
{
    size_t count = 0;
    bool has = false;
    rd_kafka_ConfigResource_t *asked = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_DescribeConfigs(handle, &asked, 1, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "set");
    const rd_kafka_ConfigResource_t **found = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count);
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(found[0], &count);
    for (size_t i = 0; i < count; i++)
        has |= strcmp(rd_kafka_ConfigEntry_name(entries[i]), setting[0]) == 0 &&
               strcmp(rd_kafka_ConfigEntry_value(entries[i]), setting[1]) == 0;
    rd_kafka_event_destroy(event);
    rd_kafka_ConfigResource_destroy(asked);
    return has;
}

static void set_topic(rd_kafka_queue_t *queue, char **args, int arg_count)
{
    size_t count = 0;
    rd_kafka_ConfigResource_t *wanted =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, args[0]);
    for (int i = 1; i < arg_count; i += 2)
        rd_kafka_ConfigResource_set_config(wanted, args[i], args[i + 1]);
    rd_kafka_AlterConfigs(handle, &wanted, 1, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "set");
    const rd_kafka_ConfigResource_t **done =
        rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event), &count);
    for (size_t i = 0; i < count; i++)
        if (rd_kafka_ConfigResource_error(done[i]) != RD_KAFKA_RESP_ERR_NO_ERROR)
            die(args[1], rd_kafka_ConfigResource_error_string(done[i]));
    rd_kafka_event_destroy(event);
    rd_kafka_ConfigResource_destroy(wanted);
    for (int i = 1; i < arg_count; i += 2)
        while (!has_setting(queue, args[0], args + i)) /* the broker hears of it a moment later */
            rd_kafka_poll(handle, 50);
}

static void reset(rd_kafka_queue_t *queue, char **args)
{
    const struct rd_kafka_metadata *metadata = metadata_of(args[0]);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (int p = 0; p < metadata->topics[0].partition_cnt; p++)
        rd_kafka_topic_partition_list_add(list, args[0], p)->offset = number(args[2]);
    rd_kafka_AlterConsumerGroupOffsets_t *wanted =
        rd_kafka_AlterConsumerGroupOffsets_new(args[1], list);
    rd_kafka_AlterConsumerGroupOffsets(handle, &wanted, 1, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "reset");
    size_t groups = 0;
    const rd_kafka_group_result_t **found = rd_kafka_AlterConsumerGroupOffsets_result_groups(
        rd_kafka_event_AlterConsumerGroupOffsets_result(event), &groups);
    const rd_kafka_error_t *error = groups ? rd_kafka_group_result_error(found[0]) : NULL;
    if (error)
        die(args[1], rd_kafka_error_string(error));
    const rd_kafka_topic_partition_list_t *done = rd_kafka_group_result_partitions(found[0]);
    for (int i = 0; i < done->cnt; i++) /* refused while the group has a member */
        if (done->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
            die(args[1], rd_kafka_err2str(done->elems[i].err));
    rd_kafka_event_destroy(event);
    rd_kafka_AlterConsumerGroupOffsets_destroy(wanted);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_metadata_destroy(metadata);
}

static void delete_group(rd_kafka_queue_t *queue, char **args)
{
    size_t groups = 0;
    rd_kafka_DeleteGroup_t *wanted = rd_kafka_DeleteGroup_new(args[0]);
    rd_kafka_DeleteGroups(handle, &wanted, 1, NULL, queue);
    rd_kafka_event_t *event = result_of(queue, "delete-group");
    const rd_kafka_group_result_t **found =
        rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event), &groups);
    if (groups != 1 || rd_kafka_group_result_error(found[0]))
        die(args[0],
            groups ? rd_kafka_error_string(rd_kafka_group_result_error(found[0])) : "no reply");
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteGroup_destroy(wanted);
}

/* A topic that was just created may have no leader known to clients. */
static bool has_no_leader_yet(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
           code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
           code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

static rd_kafka_resp_err_t ends_of(const char *topic, int p, int64_t *ret_low, int64_t *ret_high)
{
    enum { TRIES = 50, PAUSE_MS = 200 };
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < TRIES; i++) {
        code = rd_kafka_query_watermark_offsets(handle, topic, p, ret_low, ret_high, TIMEOUT_MS);
        if (!has_no_leader_yet(code))
            break;
        rd_kafka_poll(handle, PAUSE_MS);
    }
    return code;
}

static void show_ends(char **args)
{
    const struct rd_kafka_metadata *metadata = metadata_of(args[0]);
    for (int p = 0; p < metadata->topics[0].partition_cnt; p++) {
        int64_t low = 0, high = 0;
        rd_kafka_resp_err_t code = ends_of(args[0], p, &low, &high);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
            die(args[0], rd_kafka_err2str(code));
        printf("%lld %lld\n", (long long)low, (long long)high);
    }
    rd_kafka_metadata_destroy(metadata);
}

static void set(rd_kafka_conf_t *conf, const char *key, const char *value)
{
    char error[256];
    if (rd_kafka_conf_set(conf, key, value, error, sizeof error) != RD_KAFKA_CONF_OK)
        die(key, error);
}

static void print_hex(const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        printf("%02x", ((const unsigned char *)data)[i]);
}

/* Up to the present end of the partition. */
static void show_partition(rd_kafka_t *reader, const char *topic, int32_t partition)
{
    int64_t low = 0, high = 0;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_query_watermark_offsets(reader, topic, partition, &low, &high, TIMEOUT_MS);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = low;
    rd_kafka_assign(reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    for (bool ended = low == high; !ended;) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(reader, TIMEOUT_MS);
        if (!m)
            die(topic, "no reply");
        ended = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR && m->key_len) {
            print_hex(m->key, m->key_len);
            fputs(m->payload ? " " : " -", stdout);
            print_hex(m->payload, m->payload ? m->len : 0);
            printf("\n");
        } else if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR && !ended) {
            die(topic, rd_kafka_message_errstr(m));
        }
        rd_kafka_message_destroy(m);
    }
}

static void show_rows(const char *address, const char *topic)
{
    char error[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", address);
    set(conf, "group.id", "admin");
    set(conf, "isolation.level", "read_committed");
    set(conf, "enable.auto.commit", "false");
    set(conf, "enable.partition.eof", "true");
    rd_kafka_t *reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
    if (!reader)
        die("librdkafka", error);
    const struct rd_kafka_metadata *metadata = metadata_of(topic);
    for (int p = 0; p < metadata->topics[0].partition_cnt; p++)
        show_partition(reader, topic, p);
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_consumer_close(reader);
    rd_kafka_destroy(reader);
}

int main(int argc, char **argv)
{
    char error[256];
    if (argc < 4)
        die("usage", "admin ADDRESS COMMAND TOPIC...");
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", argv[1]);
    set(conf, "message.max.bytes", "1000000000");
    set(conf, "compression.type", "gzip");
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    if (!handle)
        die("librdkafka", error);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    const char *command = argv[2];
    if (strcmp(command, "partitions") == 0 && argc == 5)
        add_partitions(queue, argv + 3);
    else if (strcmp(command, "delete-before") == 0 && argc == 5)
        delete_before(queue, argv + 3);
    else if (strcmp(command, "delete-read") == 0 && argc == 5)
        delete_read(queue, argv + 3);
    else if (strcmp(command, "delete") == 0)
        delete_topics(queue, argv + 3, (size_t)argc - 3);
    else if (strcmp(command, "poison") == 0 && (argc == 6 || argc == 7))
        poison(argv + 3, argv[6]); /* NULL: no key */
    else if (strcmp(command, "tombstone") == 0 && argc == 5)
        tombstone(argv + 3);
    else if (strcmp(command, "set") == 0 && argc >= 6 && argc % 2 == 0)
        set_topic(queue, argv + 3, argc - 3);
    else if (strcmp(command, "reset") == 0 && argc == 6)
        reset(queue, argv + 3);
    else if (strcmp(command, "delete-group") == 0 && argc == 4)
        delete_group(queue, argv + 3);
    else if (strcmp(command, "rows") == 0 && argc == 4)
        show_rows(argv[1], argv[3]);
    else if (strcmp(command, "ends") == 0 && argc == 4)
        show_ends(argv + 3);
    else
        die(command, "no such command, or other arguments are wanted");
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(handle);
    return 0;
}

/* A compacted topic as a table, on librdkafka's mock cluster: what is written reads back, an update
 * writes only differences, and the last record of a key counts. */
#include "harness.h"
#include "kafka/table.h"

#include <librdkafka/rdkafka_mock.h>

static struct cluster {
    rd_kafka_t *host;
    struct sp_config_property properties[1];
    struct sp_kafka_options options;
} c;

static void begin(int partitions)
{
    char error[256];
    static char key[] = "bootstrap.servers", at[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", error, sizeof error);
    c.host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c.host);
    rd_kafka_mock_cluster_t *mock = rd_kafka_handle_mock_cluster(c.host);
    if (partitions > 0)
        rd_kafka_mock_topic_create(mock, "t.rules", partitions, 1);
    snprintf(at, sizeof at, "%s", rd_kafka_mock_cluster_bootstraps(mock));
    c.properties[0] = (struct sp_config_property){key, at};
    c.options = (struct sp_kafka_options){
        .properties = c.properties, .property_count = 1, .prefix = "t.", .instance = "1"};
}

static void put(struct sp_topic_table *t, const char *key, const char *value)
{
    sp_topic_table_put(t, sp_view_str(key), value ? sp_view_str(value) : sp_view(NULL, 0));
}

static const char *value_of(const struct sp_topic_table *t, const char *key)
{
    const struct sp_topic_row *row = sp_map_get(&t->rows, sp_hash128(key, strlen(key)));
    return row && row->value ? row->value : "none";
}

static void read_topic(struct sp_topic_table *t)
{
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_topic_table_read(&c.options, SP_TOPIC_RULES, t, &fault), SP_OK);
}

/* Updates the topic to `wanted`. */
static struct sp_topic_changes write_topic(const struct sp_topic_table *wanted)
{
    struct sp_topic_table is = {0};
    struct sp_topic_changes changes = {0};
    struct sp_fault fault = {""};
    read_topic(&is);
    CU_ASSERT_EQUAL(sp_topic_table_write(&c.options, SP_TOPIC_RULES, &is, wanted, &changes, &fault),
                    SP_OK);
    sp_topic_table_done(&is);
    return changes;
}

TEST(a_topic_becomes_what_is_wanted_and_only_changes_are_written)
{
    struct sp_topic_table wanted = {0}, later = {0}, is = {0};
    begin(1);
    put(&wanted, "a.example", "first");
    put(&wanted, "b.example", "second");
    put(&wanted, "c.example", "third");
    struct sp_topic_changes changes = write_topic(&wanted);
    CU_ASSERT_EQUAL(changes.written, 3);
    CU_ASSERT_EQUAL(changes.deleted + changes.unchanged, 0);
    put(&later, "a.example", "first");
    put(&later, "b.example", "another");
    put(&later, "d.example", "fourth");
    changes = write_topic(&later);
    CU_ASSERT_EQUAL(changes.written, 2);
    CU_ASSERT_EQUAL(changes.deleted, 1);
    CU_ASSERT_EQUAL(changes.unchanged, 1);
    read_topic(&is);
    CU_ASSERT_STRING_EQUAL(value_of(&is, "a.example"), "first");
    CU_ASSERT_STRING_EQUAL(value_of(&is, "b.example"), "another");
    CU_ASSERT_STRING_EQUAL(value_of(&is, "c.example"), "none");
    CU_ASSERT_STRING_EQUAL(value_of(&is, "d.example"), "fourth");
    changes = write_topic(&later); /* a deleted key is not deleted again */
    CU_ASSERT_EQUAL(changes.written + changes.deleted, 0);
    CU_ASSERT_EQUAL(changes.unchanged, 3);
    sp_topic_table_done(&wanted);
    sp_topic_table_done(&later);
    sp_topic_table_done(&is);
    rd_kafka_destroy(c.host);
}

TEST(a_table_is_read_from_all_partitions_of_its_topic)
{
    struct sp_topic_table is = {0};
    begin(3);
    for (int i = 0; i < 6; i++) {
        char key[] = "k0", value[] = "v0";
        key[1] = value[1] = (char)('0' + i);
        CU_ASSERT_EQUAL(rd_kafka_producev(c.host, RD_KAFKA_V_TOPIC("t.rules"),
                                          RD_KAFKA_V_PARTITION(i % 3), RD_KAFKA_V_KEY(key, 2),
                                          RD_KAFKA_V_VALUE(value, 2),
                                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
                        RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    CU_ASSERT_EQUAL(rd_kafka_flush(c.host, 10000), RD_KAFKA_RESP_ERR_NO_ERROR);
    read_topic(&is);
    CU_ASSERT_EQUAL(is.rows.count, 6);
    CU_ASSERT_STRING_EQUAL(value_of(&is, "k5"), "v5");
    sp_topic_table_done(&is);
    rd_kafka_destroy(c.host);
}

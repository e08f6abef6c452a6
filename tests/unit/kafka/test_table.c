/* A compacted topic as a table, on librdkafka's mock cluster: what is written reads back, an update
 * reads and writes only differences, and the last record of a key counts. */
#include "harness.h"
#include "kafka/table.h"

#include <librdkafka/rdkafka_mock.h>

static struct cluster {
    rd_kafka_t *host;
    struct sp_config_property properties[1];
    struct sp_kafka_options options;
} c;

/* Records that librdkafka handed out, counted here and not by the table. */
static uint64_t received;
static bool forbidden; /* to read the topic */
rd_kafka_message_t *__real_rd_kafka_consumer_poll(rd_kafka_t *reader, int timeout_ms);
rd_kafka_message_t *__wrap_rd_kafka_consumer_poll(rd_kafka_t *reader, int timeout_ms);

rd_kafka_message_t *__wrap_rd_kafka_consumer_poll(rd_kafka_t *reader, int timeout_ms)
{
    rd_kafka_message_t *m = __real_rd_kafka_consumer_poll(reader, timeout_ms);
    received += m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (m && forbidden)
        m->err = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    return m;
}

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
    return row ? row->value : "none";
}

static void read_topic(struct sp_topic_table *t)
{
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_topic_table_read(&c.options, SP_TOPIC_RULES, t, &fault), SP_OK);
}

/* Updates the topic to `wanted`; `is`: what is known of it. */
static struct sp_topic_changes update(struct sp_topic_table *is,
                                      const struct sp_topic_table *wanted)
{
    struct sp_topic_changes changes = {0};
    struct sp_fault fault = {""};
    read_topic(is);
    CU_ASSERT_EQUAL(sp_topic_table_write(&c.options, SP_TOPIC_RULES, is, wanted, &changes, &fault),
                    SP_OK);
    return changes;
}

/* The same by somebody who knows nothing of it. */
static struct sp_topic_changes write_topic(const struct sp_topic_table *wanted)
{
    struct sp_topic_table is = {0};
    struct sp_topic_changes changes = update(&is, wanted);
    sp_topic_table_done(&is);
    return changes;
}

/* Records in the topic: the mock never compacts. */
static uint64_t written(void)
{
    struct sp_topic_table is = {0};
    uint64_t before = received;
    read_topic(&is);
    uint64_t count = received - before;
    CU_ASSERT_EQUAL(is.records, count);
    sp_topic_table_done(&is);
    received = before;
    return count;
}

static void check_topic_is(const struct sp_topic_table *wanted)
{
    struct sp_topic_table is = {0};
    read_topic(&is);
    CU_ASSERT_EQUAL(is.rows.count, wanted->rows.count);
    uint64_t cursor = 0;
    for (const struct sp_topic_row *row; (row = sp_map_next(&wanted->rows, &cursor));)
        CU_ASSERT_STRING_EQUAL(value_of(&is, row->key), row->value);
    sp_topic_table_done(&is);
}

static void put_many(struct sp_topic_table *t, unsigned from, unsigned to, const char *value)
{
    for (unsigned i = from; i < to; i++) {
        char key[16];
        snprintf(key, sizeof key, "key%u", i);
        put(t, key, value);
    }
}

/* A record of another writer. */
static void put_foreign(const char *key, const char *value)
{
    CU_ASSERT_EQUAL(rd_kafka_producev(c.host, RD_KAFKA_V_TOPIC("t.rules"), RD_KAFKA_V_PARTITION(0),
                                      RD_KAFKA_V_KEY(key, strlen(key)),
                                      RD_KAFKA_V_VALUE((void *)(uintptr_t)value, strlen(value)),
                                      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
                    RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL(rd_kafka_flush(c.host, 10000), RD_KAFKA_RESP_ERR_NO_ERROR);
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
    uint64_t version = is.version;
    read_topic(&is); /* nothing new */
    CU_ASSERT_EQUAL(is.version, version);
    CU_ASSERT_STRING_EQUAL(value_of(&is, "k5"), "v5");
    sp_topic_table_done(&is);
    rd_kafka_destroy(c.host);
}

/* Three values change, two keys are new, one is gone. */
static void change_some(struct sp_topic_table *t, unsigned n)
{
    put_many(t, 0, 3, "changed");
    put_many(t, n, n + 2, "new");
    put_many(t, n - 1, n, NULL);
}

TEST(an_update_reads_and_writes_as_much_of_a_topic_four_times_as_large)
{
    for (unsigned n = 64; n <= 256; n *= 4) {
        struct sp_topic_table kept = {0}, wanted = {0};
        begin(1);
        put_many(&wanted, 0, n, "first");
        received = 0;
        update(&kept, &wanted);
        CU_ASSERT_EQUAL(received, 0);
        CU_ASSERT_EQUAL(written(), n);
        change_some(&wanted, n);
        struct sp_topic_changes changes = update(&kept, &wanted);
        CU_ASSERT_EQUAL(received, 1); /* of its own records only the last, to know the topic */
        CU_ASSERT_EQUAL(written(), n + 6);
        CU_ASSERT_EQUAL(changes.written, 5);
        CU_ASSERT_EQUAL(changes.deleted, 1);
        CU_ASSERT_EQUAL(changes.unchanged, n - 4);
        CU_ASSERT_EQUAL(kept.records, 0);
        received = 0;
        update(&kept, &wanted);
        CU_ASSERT_EQUAL(received, 1);
        CU_ASSERT_EQUAL(written(), n + 6);
        check_topic_is(&wanted);
        sp_topic_table_done(&kept);
        sp_topic_table_done(&wanted);
        rd_kafka_destroy(c.host);
    }
}

/* Another process reads the topic once, and from then on only what is new. */
TEST(a_table_is_read_on_from_where_it_ends)
{
    struct sp_topic_table kept = {0}, other = {0}, wanted = {0};
    begin(1);
    put_many(&wanted, 0, 50, "first");
    update(&other, &wanted);
    received = 0;
    update(&kept, &wanted);
    CU_ASSERT_EQUAL(received, 50);
    change_some(&wanted, 50);
    update(&other, &wanted);
    received = 0;
    struct sp_topic_changes changes = update(&kept, &wanted);
    CU_ASSERT_EQUAL(received, 7); /* the last one known, and the new ones */
    CU_ASSERT_EQUAL(kept.records, 56);
    CU_ASSERT_EQUAL(changes.written + changes.deleted, 0);
    check_topic_is(&kept);
    sp_topic_table_done(&kept);
    sp_topic_table_done(&other);
    sp_topic_table_done(&wanted);
    rd_kafka_destroy(c.host);
}

/* Between the reading and the writing of an update somebody else writes: the order of the topic
 * counts, and the next update puts right what is not wanted. */
TEST(a_record_of_another_writer_is_not_missed)
{
    struct sp_topic_table kept = {0}, wanted = {0};
    struct sp_topic_changes changes;
    struct sp_fault fault = {""};
    begin(1);
    put_many(&wanted, 0, 10, "first");
    update(&kept, &wanted);
    read_topic(&kept);
    put_foreign("key0", "theirs");
    put_foreign("key5", "theirs");
    put_many(&wanted, 0, 2, "changed");
    CU_ASSERT_EQUAL(
        sp_topic_table_write(&c.options, SP_TOPIC_RULES, &kept, &wanted, &changes, &fault), SP_OK);
    CU_ASSERT_STRING_EQUAL(value_of(&kept, "key5"), "first"); /* not read yet */
    received = 0;
    changes = update(&kept, &wanted);
    CU_ASSERT_EQUAL(received,
                    5); /* the last one known, two of theirs, two of our own behind them */
    CU_ASSERT_EQUAL(changes.written, 1);
    check_topic_is(&wanted);
    received = 0;
    uint64_t before = kept.records;
    update(&kept, &wanted);
    CU_ASSERT_EQUAL(received, 1);
    CU_ASSERT_EQUAL(kept.records, before);
    sp_topic_table_done(&kept);
    sp_topic_table_done(&wanted);
    rd_kafka_destroy(c.host);
}

TEST(a_table_is_read_anew_if_its_topic_is_another_or_it_is_old)
{
    struct sp_topic_table kept = {0}, wanted = {0};
    begin(1);
    put_many(&wanted, 0, 10, "first");
    update(&kept, &wanted);
    put(&kept, "stale", "of a topic that was deleted");
    kept.next[0] = 1000; /* the topic was recreated, and has fewer records */
    kept.last[0].offset = 999;
    received = 0;
    struct sp_topic_changes changes = update(&kept, &wanted);
    CU_ASSERT_EQUAL(received, 10);
    CU_ASSERT_EQUAL(changes.written + changes.deleted, 0);
    put(&kept, "stale", "its deletion was forgotten by the brokers");
    kept.read_ms -= 25 * 3600 * 1000;
    received = 0;
    changes = update(&kept, &wanted);
    CU_ASSERT_EQUAL(received, 10);
    CU_ASSERT_EQUAL(changes.written + changes.deleted, 0);
    check_topic_is(&kept);
    sp_topic_table_done(&kept);
    sp_topic_table_done(&wanted);
    rd_kafka_destroy(c.host);
}

/* Another topic under the name, with as many records as the table has read, or with more. */
static void replace_topic(unsigned records)
{
    struct sp_topic_table others = {0};
    rd_kafka_destroy(c.host);
    begin(1);
    for (unsigned i = 0; i < records; i++) {
        char key[16];
        snprintf(key, sizeof key, "other%u", i);
        put(&others, key, "theirs");
    }
    write_topic(&others);
    sp_topic_table_done(&others);
}

TEST(a_topic_that_was_created_again_and_has_grown_is_noticed)
{
    static const unsigned sizes[] = {9, 10, 11, 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct sp_topic_table kept = {0}, wanted = {0};
        begin(1);
        put_many(&wanted, 0, 10, "first");
        update(&kept, &wanted);
        if (i % 2)
            read_topic(&kept); /* not only written, but read as well */
        replace_topic(sizes[i]);
        struct sp_topic_changes changes = update(&kept, &wanted);
        CU_ASSERT_EQUAL(changes.written, 10);
        CU_ASSERT_EQUAL(changes.deleted, sizes[i]);
        CU_ASSERT_EQUAL(changes.unchanged, 0);
        check_topic_is(&wanted);
        sp_topic_table_done(&kept);
        sp_topic_table_done(&wanted);
        rd_kafka_destroy(c.host);
    }
}

/* The same keys and values, written again at another time. */
TEST(a_topic_with_the_same_records_of_another_time_is_another)
{
    struct sp_topic_table kept = {0}, wanted = {0};
    begin(1);
    put_many(&wanted, 0, 10, "first");
    update(&kept, &wanted);
    rd_kafka_destroy(c.host);
    begin(1);
    write_topic(&wanted);
    received = 0;
    struct sp_topic_changes changes = update(&kept, &wanted);
    CU_ASSERT_EQUAL(received, 11); /* the last one, which is another, and then all */
    CU_ASSERT_EQUAL(changes.written + changes.deleted, 0);
    sp_topic_table_done(&kept);
    sp_topic_table_done(&wanted);
    rd_kafka_destroy(c.host);
}

/* Refused records are not entered; the next update writes them. */
TEST(what_a_broker_refuses_is_written_again)
{
    enum { PRODUCE = 0 }; /* the request's number */
    struct sp_topic_table kept = {0}, wanted = {0};
    struct sp_topic_changes changes;
    struct sp_fault fault = {""};
    begin(1);
    put_many(&wanted, 0, 10, "first");
    update(&kept, &wanted);
    change_some(&wanted, 10);
    read_topic(&kept);
    rd_kafka_mock_push_request_errors(rd_kafka_handle_mock_cluster(c.host), PRODUCE, 1,
                                      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    CU_ASSERT_EQUAL(
        sp_topic_table_write(&c.options, SP_TOPIC_RULES, &kept, &wanted, &changes, &fault),
        SP_BUSY);
    CU_ASSERT_STRING_EQUAL(value_of(&kept, "key0"), "first");
    changes = update(&kept, &wanted);
    CU_ASSERT_TRUE(changes.written > 0);
    check_topic_is(&wanted);
    sp_topic_table_done(&kept);
    sp_topic_table_done(&wanted);
    rd_kafka_destroy(c.host);
}

/* Waiting for the end would take half a minute, and the message would be about the broker. */
TEST(a_topic_that_may_not_be_read_is_not_waited_for)
{
    struct sp_topic_table is = {0};
    struct sp_fault fault = {""};
    begin(1);
    forbidden = true;
    CU_ASSERT_EQUAL(sp_topic_table_read(&c.options, SP_TOPIC_RULES, &is, &fault), SP_INVALID);
    forbidden = false;
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "t.rules: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, SP_KAFKA_FORBIDDEN));
    sp_topic_table_done(&is);
    rd_kafka_destroy(c.host);
}

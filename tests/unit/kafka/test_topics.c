/* Creating topics: which errors may pass, and which ask for other settings. */
#include <string.h>

#include "harness.h"
#include "kafka/topics.h"

static void ignore(void *arg, const char *topic, const char *text)
{
    (void)arg, (void)topic, (void)text;
}

/* Where there is no broker: nobody is asked. */
static enum sp_err create(int32_t partitions, struct sp_fault *fault)
{
    char at[] = "127.0.0.1:1";
    struct sp_config_property properties[] = {{"bootstrap.servers", at}};
    const struct sp_kafka_options o = {
        .properties = properties, .property_count = 1, .prefix = "t.", .instance = "1"};
    const struct sp_topic_plan plan = {.pages_partitions = partitions,
                                       .tier1_partitions = 1,
                                       .tier2_partitions = 1,
                                       .status_partitions = 1,
                                       .replication = 1};
    return sp_topics_create(&o, &plan, ignore, NULL, fault);
}

TEST(a_topic_that_cannot_be_is_no_error_that_passes)
{
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(create(1 << 30, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "number of partitions"));
}

TEST(a_topic_is_found_wherever_the_broker_lists_it)
{
    char first[] = "t.pages", last[] = "t.status", beyond[] = "t.tier1";
    rd_kafka_metadata_topic_t topics[] = {{.topic = first}, {.topic = last}, {.topic = beyond}};
    rd_kafka_metadata_t metadata = {.topics = topics, .topic_cnt = 2};
    CU_ASSERT_PTR_EQUAL(sp_topic_find(&metadata, "t.pages"), &topics[0]);
    CU_ASSERT_PTR_EQUAL(sp_topic_find(&metadata, "t.status"), &topics[1]);
    CU_ASSERT_PTR_NULL(sp_topic_find(&metadata, "t.tier1"));
}

static bool holds(const char *wanted, const char *value)
{
    return sp_topic_entry_holds(&(struct sp_topic_entry){"key", wanted}, value);
}

TEST(a_topic_may_keep_more_than_is_asked_and_never_less)
{
    CU_ASSERT_TRUE(holds("2592000000", "2592000000"));
    CU_ASSERT_TRUE(holds("2592000000", "2592000001"));
    CU_ASSERT_TRUE(holds("2592000000", "-1"));
    CU_ASSERT_FALSE(holds("2592000000", "604800000"));
    CU_ASSERT_FALSE(holds("2592000000", ""));
    CU_ASSERT_TRUE(holds("-1", "-1"));
    CU_ASSERT_FALSE(holds("-1", "1073741824"));
    CU_ASSERT_TRUE(holds("compact", "compact"));
    CU_ASSERT_FALSE(holds("compact", "compact,delete"));
}

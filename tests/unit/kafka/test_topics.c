/* Creating topics: which errors are retried, and which call for other settings. Checking topics:
 * the message for each problem. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "kafka/policy.h"
#include "kafka/topics.h"

static void ignore(void *arg, const char *topic, const char *text)
{
    (void)arg, (void)topic, (void)text;
}

/* No broker listens there. */
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

static size_t count_threads(void)
{
    glob_t found;
    CU_ASSERT_EQUAL_FATAL(glob("/proc/self/task/*", 0, NULL, &found), 0);
    size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

TEST(an_impossible_topic_is_a_permanent_error)
{
    struct sp_fault fault = {""};
    size_t threads = count_threads();
    CU_ASSERT_EQUAL(create(1 << 30, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "number of partitions"));
    CU_ASSERT_EQUAL(count_threads(), threads); /* the threads of the client have ended */
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

TEST(what_would_lose_messages_or_state_is_objected_to)
{
    static const enum sp_topic tiers[] = {SP_TOPIC_TIER1, SP_TOPIC_TIER2, SP_TOPIC_CONTAIN},
                               changelogs[] = {SP_TOPIC_TIER1_CHANGELOG, SP_TOPIC_TIER2_CHANGELOG,
                                               SP_TOPIC_CONTAIN_CHANGELOG};
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++) {
        CU_ASSERT_PTR_NULL(sp_policy_objection(tiers[i], "delete"));
        CU_ASSERT_PTR_NOT_NULL(sp_policy_objection(tiers[i], "compact"));
        CU_ASSERT_PTR_NOT_NULL(sp_policy_objection(tiers[i], "compact,delete"));
        CU_ASSERT_PTR_NULL(sp_policy_objection(changelogs[i], "compact"));
        CU_ASSERT_PTR_NOT_NULL(sp_policy_objection(changelogs[i], "delete"));
        CU_ASSERT_PTR_NOT_NULL(sp_policy_objection(changelogs[i], "compact,delete"));
    }
    CU_ASSERT_PTR_NULL(sp_policy_objection(SP_TOPIC_PAGES, "compact"));
    CU_ASSERT_PTR_NULL(sp_policy_objection(SP_TOPIC_STATUS, "compact,delete"));
}

static bool is_doubted(enum sp_topic topic, const char *name, const char *value)
{
    return sp_policy_doubt(topic, name, value) != NULL;
}

TEST(settings_that_may_lose_something_but_may_be_meant_are_doubted)
{
    static const char policy[] = "cleanup.policy", kept[] = "delete.retention.ms";
    CU_ASSERT_TRUE(is_doubted(SP_TOPIC_STATUS, policy, "compact,delete"));
    CU_ASSERT_FALSE(is_doubted(SP_TOPIC_STATUS, policy, "compact"));
    CU_ASSERT_FALSE(is_doubted(SP_TOPIC_PAGES, policy, "delete"));
    CU_ASSERT_TRUE(is_doubted(SP_TOPIC_TIER1_CHANGELOG, kept, "60000"));
    CU_ASSERT_TRUE(is_doubted(SP_TOPIC_TIER2_CHANGELOG, kept, "0"));
    CU_ASSERT_TRUE(is_doubted(SP_TOPIC_CONTAIN_CHANGELOG, kept, "86399999"));
    CU_ASSERT_FALSE(is_doubted(SP_TOPIC_TIER1_CHANGELOG, kept, "86400000")); /* Kafka's default */
    CU_ASSERT_FALSE(is_doubted(SP_TOPIC_STATUS, kept, "0"));
}

/* ---- topics check ---- */

enum { WANTED_PARTITIONS = 4, WANTED_REPLICAS = 3 };

/* The message for a topic whose retention is `retention`. */
static const char *said_of(const rd_kafka_metadata_topic_t *topic, const char *retention)
{
    static char text[256];
    struct sp_topic_description wanted = {
        .name = "t.pages",
        .partitions = WANTED_PARTITIONS,
        .replicas = WANTED_REPLICAS,
        .entry_count = 2,
        .entries = {{"cleanup.policy", "compact"}, {"retention.ms", "1000"}}};
    struct sp_topic_found found = {{"compact"}};
    snprintf(found.values[1], sizeof found.values[1], "%s", retention);
    sp_topic_compare(&wanted, topic, &found, text, sizeof text);
    return text;
}

TEST(a_topic_that_is_missing_or_not_as_wanted_is_told_in_words)
{
    char name[] = "t.pages";
    rd_kafka_metadata_partition_t partitions[WANTED_PARTITIONS + 1] = {
        {.replica_cnt = WANTED_REPLICAS}};
    rd_kafka_metadata_topic_t topic = {
        .topic = name, .partitions = partitions, .partition_cnt = WANTED_PARTITIONS};
    CU_ASSERT_STRING_EQUAL(said_of(NULL, ""), "is missing");
    CU_ASSERT_STRING_EQUAL(said_of(&topic, "1000"), "");
    CU_ASSERT_STRING_EQUAL(said_of(&topic, "999"), "has retention.ms 999, it must be 1000");
    CU_ASSERT_STRING_EQUAL(said_of(&topic, ""), "has retention.ms unset, it must be 1000");
    topic.err = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    CU_ASSERT_STRING_EQUAL(said_of(&topic, "1000"), "is missing");
    topic.err = RD_KAFKA_RESP_ERR_NO_ERROR;
    topic.partition_cnt++;
    CU_ASSERT_STRING_EQUAL(said_of(&topic, "1000"), "has 5 partitions, configured are 4");
    topic.partition_cnt = WANTED_PARTITIONS;
    partitions[0].replica_cnt = 1;
    CU_ASSERT_STRING_EQUAL(said_of(&topic, "1000"), "has 1 replicas, configured are 3");
}

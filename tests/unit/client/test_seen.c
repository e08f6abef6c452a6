/* Whether a topic is still the same one, told by its messages: partitions that come and go, and
 * what is read again. */
#include "client/seen.h"
#include "harness.h"

/* The messages are ours: they have no topic. */
static int64_t time_ms;

int64_t __wrap_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type);

int64_t __wrap_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type)
{
    (void)m;
    *type = RD_KAFKA_TIMESTAMP_CREATE_TIME;
    return time_ms;
}

static enum sp_seen_as take_at(struct sp_seen *s, int32_t partition, int64_t offset, int64_t now_ms)
{
    char key[16];
    int length = snprintf(key, sizeof key, "%lld", (long long)offset);
    rd_kafka_message_t m = {
        .partition = partition, .offset = offset, .key = key, .key_len = (size_t)length};
    return sp_seen_take(s, &m, now_ms);
}

static enum sp_seen_as take(struct sp_seen *s, int32_t partition, int64_t offset)
{
    return take_at(s, partition, offset, 1);
}

TEST(offsets_that_go_back_are_told_once_for_all_partitions)
{
    struct sp_seen s = {0};
    CU_ASSERT_EQUAL(take(&s, 0, 5), SP_SEEN_NEW);
    CU_ASSERT_EQUAL(take(&s, 7, 3), SP_SEEN_NEW);
    CU_ASSERT_EQUAL(take(&s, 0, 9), SP_SEEN_NEW); /* with a gap */
    CU_ASSERT_EQUAL(take(&s, 0, 2), SP_SEEN_BEGUN);
    CU_ASSERT_EQUAL(take(&s, 7, 0), SP_SEEN_NEW);
    CU_ASSERT_EQUAL(take(&s, 0, 3), SP_SEEN_NEW);
    sp_seen_done(&s);
}

TEST(what_a_group_reads_again_is_no_other_topic)
{
    struct sp_seen s = {0};
    CU_ASSERT_EQUAL(take(&s, 0, 4), SP_SEEN_NEW);
    CU_ASSERT_EQUAL(take(&s, 0, 5), SP_SEEN_NEW);
    sp_seen_moved(&s, 0);
    CU_ASSERT_EQUAL(take(&s, 0, 4), SP_SEEN_NEW); /* nothing was committed */
    CU_ASSERT_EQUAL(take(&s, 0, 5), SP_SEEN_NEW);
    CU_ASSERT_EQUAL(take(&s, 0, 6), SP_SEEN_NEW);
    sp_seen_committed(&s, 0, 6);
    sp_seen_moved(&s, 0);
    CU_ASSERT_EQUAL(take(&s, 0, 6), SP_SEEN_NEW);
    sp_seen_moved(&s, 0);
    CU_ASSERT_EQUAL(take(&s, 0, 90), SP_SEEN_NEW); /* another member has read on */
    sp_seen_done(&s);
}

TEST(a_group_that_begins_before_what_it_committed_or_at_another_message_reads_another_topic)
{
    struct sp_seen s = {0};
    CU_ASSERT_EQUAL(take(&s, 0, 4), SP_SEEN_NEW);
    sp_seen_committed(&s, 0, 5);
    sp_seen_moved(&s, 0);
    CU_ASSERT_EQUAL(take(&s, 0, 3), SP_SEEN_BEGUN);
    sp_seen_moved(&s, 0);
    time_ms++;
    CU_ASSERT_EQUAL(take(&s, 0, 3), SP_SEEN_BEGUN);
    CU_ASSERT_EQUAL(take(&s, 0, 4), SP_SEEN_NEW);
    sp_seen_done(&s);
}

TEST(the_last_message_is_asked_for_once_after_a_quiet_time_or_an_error)
{
    struct sp_seen s = {0};
    CU_ASSERT_EQUAL(take(&s, 0, 1), SP_SEEN_NEW);
    CU_ASSERT_EQUAL(take(&s, 0, 2), SP_SEEN_NEW);
    sp_seen_ended(&s, 0, 1);
    CU_ASSERT_EQUAL(take_at(&s, 0, 3, 1000), SP_SEEN_NEW); /* soon */
    sp_seen_ended(&s, 0, 1000);
    sp_seen_ended(&s, 0, 1900);
    CU_ASSERT_EQUAL(take_at(&s, 0, 5, 2000), SP_SEEN_DOUBT);
    CU_ASSERT_EQUAL(sp_seen_last(&s, 0), 3);
    sp_seen_interrupted(&s);
    CU_ASSERT_EQUAL(take_at(&s, 0, 3, 2000), SP_SEEN_AGAIN);
    sp_seen_ended(&s, 0, 2000);
    CU_ASSERT_EQUAL(take_at(&s, 0, 5, 9000), SP_SEEN_NEW);
    sp_seen_interrupted(&s);
    CU_ASSERT_EQUAL(take_at(&s, 0, 6, 9000), SP_SEEN_DOUBT);
    CU_ASSERT_EQUAL(take_at(&s, 0, 6, 9000), SP_SEEN_NEW); /* the last one was compacted away */
    sp_seen_interrupted(&s);
    CU_ASSERT_EQUAL(take_at(&s, 0, 7, 9000), SP_SEEN_DOUBT);
    time_ms++;
    CU_ASSERT_EQUAL(take_at(&s, 0, 6, 9000), SP_SEEN_REPLACED);
    CU_ASSERT_EQUAL(take_at(&s, 0, 0, 9000), SP_SEEN_NEW);
    sp_seen_done(&s);
}

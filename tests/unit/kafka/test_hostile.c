/* A worker with hostile messages, unsuitable topics and operator errors. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harness.h"
#include "mock_world.h"

/* ---- messages that are too large ---- */

enum { LARGE = 300000, PIECE = 64 << 10 };

static bool header_of(const rd_kafka_message_t *m, const char *name, char *ret_text, size_t bytes)
{
    const void *value = NULL;
    size_t len = 0;
    rd_kafka_headers_t *headers = NULL;
    ret_text[0] = 0;
    if (rd_kafka_message_headers(m, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        rd_kafka_header_get_last(headers, name, &value, &len) == RD_KAFKA_RESP_ERR_NO_ERROR)
        snprintf(ret_text, bytes, "%.*s", (int)len, (const char *)value);
    return ret_text[0] != 0;
}

static const char *expected_reason;

/* The dead letter names the second message of partition 1. */
static void check_letter(const rd_kafka_message_t *m)
{
    char text[64];
    CU_ASSERT_EQUAL(m->len, PIECE);
    CU_ASSERT(header_of(m, "reason", text, sizeof text) && strcmp(text, expected_reason) == 0);
    CU_ASSERT(header_of(m, "topic", text, sizeof text) && strcmp(text, "t.pages") == 0);
    CU_ASSERT(header_of(m, "partition", text, sizeof text) && strcmp(text, "1") == 0);
    CU_ASSERT(header_of(m, "offset", text, sizeof text) && strcmp(text, "1") == 0);
    CU_ASSERT(header_of(m, "bytes", text, sizeof text) && strtol(text, NULL, 10) == LARGE);
}

/* A large message between two small ones: the small ones are handled, the large one is a dead
 * letter, and the worker restarts at most `restarts` times. */
static void check_poison(char fill, const char *reason, uint64_t restarts)
{
    expected_reason = reason;
    world_start();
    world_feed_topic("t.pages", 1, 1, 1);
    CU_ASSERT(world_wait_for(&world.metrics.commits, 1));
    world_feed_large("t.pages", 1, fill, LARGE);
    world_feed_topic("t.pages", 1, 2, 1);
    CU_ASSERT(world_wait_for(&world.metrics.dead_letters, 1));
    world_read_each("t.dead-letter", 1, 1, check_letter);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.dead_letters, 1);
    CU_ASSERT_EQUAL(world.metrics.restarts, restarts);
    world_destroy();
}

TEST(a_dead_letter_is_a_piece_of_the_message)
{
    world_create(false);
    world_set("message.max.bytes", "100000");
    check_poison('x', "malformed", 0);
}

TEST(what_becomes_too_large_is_a_dead_letter)
{
    world_create(false);
    world_set("message.max.bytes", "100000");
    check_poison('7', "too_large", 0);
}

/* The topic's limit is below the client's: one failure is enough to learn it. */
TEST(what_the_broker_finds_too_large_is_a_dead_letter)
{
    world_create(false);
    world_will_join_again();
    world_set("batch.size", "1000");
    world_set("linger.ms", "0");
    expected_reason = "too_large";
    world_start();
    world_feed_topic("t.pages", 1, 1, 1);
    CU_ASSERT(world_wait_for(&world.metrics.commits, 1));
    world_inject(PRODUCE, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    world_feed_large("t.pages", 1, '7', LARGE);
    CU_ASSERT(world_wait_for(&world.metrics.dead_letters, 1));
    world_read_each("t.dead-letter", 1, 1, check_letter);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.restarts, 1);
    world_destroy();
}

/* An oversized message of a stage with state belongs to its state, so it cannot be left out, and
 * the stage ends without a retry. */
static void check_ends(void)
{
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "t.status: a message of 300000 bytes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "kafka.message.max.bytes"));
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    CU_ASSERT_EQUAL(world.metrics.dead_letters, 0);
    world_destroy();
}

TEST(a_stage_with_state_ends_at_what_is_too_large)
{
    world_create(true);
    world_set("message.max.bytes", "100000");
    world_start();
    world_feed_large("t.tier1", 0, '7', LARGE);
    check_ends();
}

TEST(a_stage_with_state_ends_at_what_the_broker_finds_too_large)
{
    world_create(true);
    /* The failure is meant for the status, whichever of the two requests is sent first. */
    world_lead("t.tier1-changelog", OTHER_BROKER);
    world_start();
    world_inject(PRODUCE, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    world_feed_large("t.tier1", 0, '7', LARGE);
    check_ends();
}

/* ---- topics with another number of partitions ---- */

static void check_refuses(bool stateful, enum sp_topic topic, const char *name, const char *setting)
{
    world_create(stateful);
    world.options.must_have[topic] = PARTITIONS + 1;
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, name));
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "has 2 partitions"));
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, setting));
    world_destroy();
}

TEST(every_stage_refuses_tiers_of_another_size)
{
    check_refuses(true, SP_TOPIC_TIER1, "t.tier1: ", "tier1.partitions is 3");
    check_refuses(true, SP_TOPIC_TIER2, "t.tier2: ", "tier2.partitions is 3");
    check_refuses(false, SP_TOPIC_TIER1, "t.tier1: ", "tier1.partitions is 3");
    check_refuses(false, SP_TOPIC_TIER2, "t.tier2: ", "tier2.partitions is 3");
}

/* ---- input deleted before it was read ---- */

enum { DROPPED = 20 }; /* times LARGE: more than the mock keeps of a partition, which is 5 MiB */

static void drop(const char *topic)
{
    for (int i = 0; i < DROPPED; i++)
        world_feed_large(topic, 0, '7', LARGE);
}

static void check_lost(void)
{
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "t.tier1 [0]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "is to be read next, and the topic has"));
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "another topics.prefix"));
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_destroy();
}

TEST(a_stage_refuses_a_gap_behind_its_last_marker)
{
    world_create(true);
    world_will_join_again();
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    drop("t.tier1");
    world_start();
    check_lost();
}

/* Messages deleted before the first start cannot be told from a topic's past: they are counted. */
TEST(a_stage_without_a_marker_begins_with_what_there_is)
{
    world_create(true);
    drop("t.tier1");
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.received, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT(world.metrics.received < DROPPED);
    CU_ASSERT(world.metrics.lost > 0);
    CU_ASSERT(world.metrics.lost + world.metrics.received <= DROPPED);
    world_destroy();
}

/* What a stage without state had not read is counted, and it goes on with what there is. */
TEST(pages_that_were_deleted_before_they_were_read_are_counted)
{
    world_create(false);
    world_commit_offset("t.toy", "t.pages", 1);
    drop("t.pages");
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.received, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT(world.metrics.lost > 0);
    CU_ASSERT(world.metrics.lost + world.metrics.received < DROPPED);
    world_destroy();
}

/* The registry is silent twice before anything is committed, so the stage starts three times at the
 * same offset. */
static void check_lost_once(bool stateful)
{
    const char *topic = stateful ? "t.tier1" : "t.pages";
    int64_t low = 0, high = 0, read_to = stateful ? 0 : 1;
    world_create(stateful);
    world_will_join_again();
    world.options.commit_interval_ms = world.options.commit_behind_ms = PATIENCE_MS;
    world.silences = 2;
    if (!stateful)
        world_commit_offset("t.toy", topic, read_to);
    drop(topic);
    world_feed_topic(topic, 0, 9, 1);
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.restarts, 2));
    CU_ASSERT(world_wait_for(&world.assignments, 3));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL_FATAL(
        rd_kafka_query_watermark_offsets(world.host, topic, 0, &low, &high, PATIENCE_MS),
        RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT(low > read_to);
    CU_ASSERT_EQUAL((int64_t)world.metrics.lost, low - read_to);
    CU_ASSERT_EQUAL(world.losses, 1);
    world_destroy();
}

TEST(what_is_lost_is_counted_once_though_a_stage_with_state_starts_again)
{
    check_lost_once(true);
}

TEST(what_is_lost_is_counted_once_though_a_stage_without_state_starts_again)
{
    check_lost_once(false);
}

TEST(an_offset_behind_the_end_of_the_pages_means_another_topic)
{
    world_create(false);
    world_feed_topic("t.pages", 0, 1, 3);
    world_commit_offset("t.toy", "t.pages", MESSAGES);
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.received, 3));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.lost, 0);
    world_destroy();
}

TEST(offsets_without_a_changelog_are_refused)
{
    world_create(true);
    world_feed(0, MESSAGES);
    world_commit_offset("t.toy", "t.tier1", 3);
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "offsets are committed"));
    world_destroy();
}

TEST(a_changelog_without_its_beginning_is_refused)
{
    world_create(true);
    drop("t.tier1-changelog");
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "the beginning of the changelog was deleted"));
    world_destroy();
}

/* It could not be restored. */
TEST(a_state_is_kept_if_the_beginning_of_its_changelog_was_deleted)
{
    world_create(true);
    world_will_join_again();
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    drop("t.tier1-changelog");
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "the beginning of the changelog was deleted"));
    CU_ASSERT_EQUAL(world.wipes, 0);
    world_check_applied(MESSAGES);
    world_destroy();
}

/* ---- state of another cluster ---- */

/* Two clusters whose topics have the same names. The state's offset in the first is within the
 * changelog of the second, which is longer. */
TEST(a_state_of_another_changelog_is_wiped)
{
    enum { BATCHES = 4 };
    char kept[96];
    world_create(true);
    snprintf(kept, sizeof kept, "%s-kept", world.directory);
    world_start();
    world_feed(1000, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL_FATAL(rename(world.directory, kept), 0);
    world_destroy();

    world_create(true);
    world_will_join_again();
    world_start();
    for (int i = 0; i < BATCHES; i++) {
        world_feed(i * MESSAGES, MESSAGES);
        world_wait_committed((uint64_t)(i + 1) * MESSAGES + (uint64_t)i);
    }
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    world_check_applied((int64_t)BATCHES * MESSAGES);
    world_forget_state();
    CU_ASSERT_EQUAL_FATAL(rename(kept, world.directory), 0);
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    world_check_applied((int64_t)BATCHES * MESSAGES);
    world_destroy();
}

/* A marker of a newer version is refused and does not cause a wipe. */
TEST(a_changelog_of_another_version_is_refused)
{
    world_create(true);
    world_feed_large("t.tier1-changelog", 0, '7', 10); /* an empty key: a marker */
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "another version of samepage"));
    world_destroy();
}

/* ---- time-outs ---- */

/* The broker ends a transaction that is open for too long and fences the producer. The worker must
 * not blame another process for it, however often it happens. */
TEST(a_transaction_that_was_open_too_long_says_so)
{
    world_create(true);
    world_will_join_again();
    world_set("socket.timeout.ms", "4000");
    world_set("transaction.timeout.ms", "4000");
    world.options.commit_interval_ms = 4200;
    world_start();
    for (uint64_t time = 1; time <= 2; time++) {
        world_inject(END_TRANSACTION, 1, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
        world_feed_topic("t.tier1", 1, 0, 1);
        CU_ASSERT(world_wait_for(&world.metrics.restarts, time));
    }
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_TIMEOUT], 2);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_FENCED], 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(world.restarted, "kafka.transaction.timeout.ms is 4000"));
    world_destroy();
}

/* The wait has the time-out of any broker request, not a minute. */
TEST(a_full_queue_is_waited_for_once)
{
    world_create(true);
    world_set("queue.buffering.max.messages", "5");
    world.stop_at_restart = true;
    world_start();
    world_feed(0, 1);
    world_wait_committed(1);
    world_lose_patience();
    rd_kafka_mock_broker_set_down(world.cluster, OUTPUT_BROKER);
    world_feed(1, MESSAGES);
    CU_ASSERT_EQUAL(world_join(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.aborts[SP_ABORT_TIMEOUT], 1);
    rd_kafka_mock_broker_set_up(world.cluster, OUTPUT_BROKER);
    world_destroy();
}

rd_kafka_resp_err_t __real_rd_kafka_committed(rd_kafka_t *handle,
                                              rd_kafka_topic_partition_list_t *list,
                                              int timeout_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_committed(rd_kafka_t *handle,
                                              rd_kafka_topic_partition_list_t *list,
                                              int timeout_ms);

static uint64_t asked_elsewhere, asked_in_the_loop;
static bool refused; /* to those that ask elsewhere */

rd_kafka_resp_err_t __wrap_rd_kafka_committed(rd_kafka_t *handle,
                                              rd_kafka_topic_partition_list_t *list, int timeout_ms)
{
    bool loop = pthread_equal(pthread_self(), world.thread);
    __atomic_add_fetch(loop ? &asked_in_the_loop : &asked_elsewhere, 1, __ATOMIC_RELAXED);
    return refused && !loop ? RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED
                            : __real_rd_kafka_committed(handle, list, timeout_ms);
}

/* It went on without a word, and nothing held back what came in. */
TEST(a_stage_that_may_not_know_how_far_the_tiers_are_behind_ends)
{
    world_create(false);
    refused = true;
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    refused = false;
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, "flow control: t.group: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(world.message, SP_KAFKA_FORBIDDEN));
    world_destroy();
}

TEST(the_main_loop_does_not_query_the_lag)
{
    world_create(false);
    world.options.max_lag = 1000;
    asked_elsewhere = asked_in_the_loop = 0;
    world_start();
    CU_ASSERT(world_wait_for(&asked_elsewhere, 4)); /* two rounds over both tiers */
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT(asked_in_the_loop <= 1); /* its partitions may have been assigned meanwhile */
    world_destroy();
}

/* And once before databases are made. */
TEST(the_offsets_of_all_partitions_are_asked_for_once_an_assignment)
{
    world_create(true);
    world_will_join_again();
    asked_elsewhere = asked_in_the_loop = 0;
    world_start();
    world_feed(0, MESSAGES);
    world_feed_topic("t.tier1", 1, 0, 1);
    world_wait_committed(MESSAGES + 1);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.assignments, 1);
    CU_ASSERT_EQUAL(asked_in_the_loop, 2);
    world_start();
    world_feed(0, 1);
    world_wait_committed(MESSAGES + 2);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.assignments, 2);
    CU_ASSERT_EQUAL(asked_in_the_loop, 2 + 1);
    CU_ASSERT_EQUAL(asked_elsewhere, 0);
    world_destroy();
}

rd_kafka_resp_err_t __real_sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t partition,
                                        int64_t where, int64_t *ret_offset, int timeout_ms);
rd_kafka_resp_err_t __wrap_sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t partition,
                                        int64_t where, int64_t *ret_offset, int timeout_ms);

static uint64_t ends_asked; /* of partition 0 of the tiers */

rd_kafka_resp_err_t __wrap_sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t partition,
                                        int64_t where, int64_t *ret_offset, int timeout_ms)
{
    if (partition == 0 && strncmp(topic, "t.tier", 6) == 0)
        __atomic_add_fetch(&ends_asked, 1, __ATOMIC_RELAXED);
    return __real_sp_kafka_end(handle, topic, partition, where, ret_offset, timeout_ms);
}

rd_kafka_resp_err_t __real_sp_kafka_watermarks(rd_kafka_t *handle, const char *topic,
                                               int32_t partition, int64_t *ret_low,
                                               int64_t *ret_high, int timeout_ms);
rd_kafka_resp_err_t __wrap_sp_kafka_watermarks(rd_kafka_t *handle, const char *topic,
                                               int32_t partition, int64_t *ret_low,
                                               int64_t *ret_high, int timeout_ms);

rd_kafka_resp_err_t __wrap_sp_kafka_watermarks(rd_kafka_t *handle, const char *topic,
                                               int32_t partition, int64_t *ret_low,
                                               int64_t *ret_high, int timeout_ms)
{
    if (partition == 0 && strncmp(topic, "t.tier", 6) == 0)
        __atomic_add_fetch(&ends_asked, 1, __ATOMIC_RELAXED);
    return __real_sp_kafka_watermarks(handle, topic, partition, ret_low, ret_high, timeout_ms);
}

/* The ends of a partition alone cost two requests, twice a second. */
TEST(the_lag_does_not_ask_for_the_ends_of_each_partition)
{
    world_create(false);
    world_commit_offset("t.group", "t.tier1", 0);
    world_commit_offset("t.compare", "t.tier2", 0);
    world.options.max_lag = 1000;
    asked_elsewhere = ends_asked = 0;
    world_start();
    CU_ASSERT(world_wait_for(&asked_elsewhere, 6)); /* three rounds over both tiers */
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(ends_asked, 0);
    world_destroy();
}

/* ---- damaged state ---- */

static const char *damaged_suffix;
static int damaged_files;

/* Cuts each file to its first half, and CURRENT to nothing. */
static int damage(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    size_t n = strlen(path), s = strlen(damaged_suffix);
    (void)ftw;
    if (type != FTW_F || n < s || strcmp(path + n - s, damaged_suffix) != 0)
        return 0;
    damaged_files++;
    return truncate(path, strcmp(damaged_suffix, "CURRENT") == 0 ? 0 : st->st_size / 2);
}

static void check_damage_is_restored(const char *suffix)
{
    world_create(true);
    world_will_join_again();
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    damaged_suffix = suffix;
    damaged_files = 0;
    nftw(world.directory, damage, 16, FTW_PHYS);
    CU_ASSERT(damaged_files > 0);
    world.metrics.ready = 0;
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT(world.wipes > 0);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(a_state_without_its_manifest_is_restored)
{
    check_damage_is_restored("CURRENT");
}

TEST(a_state_with_cut_tables_is_restored)
{
    check_damage_is_restored(".sst");
}

TEST(damage_that_a_stage_finds_is_restored)
{
    world_create(true);
    world_will_join_again();
    world.corruptions = 1;
    world_start();
    world_feed(0, MESSAGES);
    CU_ASSERT(world_wait_for(&world.metrics.restarts, 1));
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.wipes, 1);
    world_check_applied(MESSAGES);
    world_destroy();
}

/* A restore does not help if the changelog itself is damaged. */
TEST(damage_that_comes_back_ends_a_stage)
{
    world_create(true);
    world_will_join_again();
    world.corruptions = 1000;
    world_start();
    world_feed(0, MESSAGES);
    CU_ASSERT_EQUAL(world_join(), SP_CORRUPT);
    CU_ASSERT_EQUAL(world.wipes, 3);
    world_destroy();
}

/* ---- a full disk ---- */

int __wrap_statvfs(const char *path, struct statvfs *ret_disk);

static uint64_t free_bytes = UINT64_C(1) << 40;

int __wrap_statvfs(const char *path, struct statvfs *ret_disk)
{
    CU_ASSERT_STRING_EQUAL(path, world.directory);
    *ret_disk =
        (struct statvfs){.f_frsize = 1, .f_bavail = __atomic_load_n(&free_bytes, __ATOMIC_SEQ_CST)};
    return 0;
}

static void set_free(uint64_t bytes)
{
    __atomic_store_n(&free_bytes, bytes, __ATOMIC_SEQ_CST);
}

TEST(a_stage_waits_for_room_on_its_disk)
{
    world_create(true);
    uint64_t reserve = SP_ROOM_BUFFERS * world.options.store.memtable_bytes;
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    uint64_t received = world_count_of(&world.metrics.received);
    set_free(reserve - 1);
    CU_ASSERT(world_wait_for(&world.metrics.disk_full, 1));
    CU_ASSERT(world_wait_for(&world.metrics.paused, 1));
    world_feed(MESSAGES, MESSAGES);
    world_read_topic("t.tier1", 0, 2 * MESSAGES); /* long enough for the worker to have read them */
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.received), received);
    set_free(2 * reserve);
    CU_ASSERT(world_wait_for(&world.metrics.received, received + MESSAGES));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL(world.metrics.disk_full, 0);
    CU_ASSERT_EQUAL(world.metrics.restarts, 0);
    CU_ASSERT_EQUAL(world_aborts(), 0);
    world_check_applied(2 * MESSAGES);
    world_destroy();
}

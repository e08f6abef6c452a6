/* States and copies of states whose changelog is empty: kept if offsets are committed. */
#include <stdio.h>

#include "harness.h"
#include "mock_world.h"

/* A topic of the same name, without a record. */
static void empty_the_changelog(bool committed)
{
    char kept[96];
    world_create(true);
    snprintf(kept, sizeof kept, "%s-kept", world.directory);
    world_start();
    world_feed(0, MESSAGES);
    world_wait_committed(MESSAGES);
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT_EQUAL_FATAL(rename(world.directory, kept), 0);
    world_destroy();

    world_create(true);
    world_forget_state();
    CU_ASSERT_EQUAL_FATAL(rename(kept, world.directory), 0);
    if (committed)
        world_commit_offset("t.toy", "t.tier1", MESSAGES);
}

TEST(a_state_is_kept_if_its_changelog_is_empty_though_offsets_are_committed)
{
    empty_the_changelog(true);
    world_start();
    CU_ASSERT_EQUAL(world_join(), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(world.message, "t.tier1 [0]: offsets are committed, and the changelog is empty"));
    world_check_applied(MESSAGES);
    world_destroy();
}

/* All topics were recreated. */
TEST(a_state_is_wiped_if_its_changelog_is_empty_and_no_offsets_are_committed)
{
    empty_the_changelog(false);
    world_start();
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(world_stop(), SP_OK);
    CU_ASSERT(world.wipes > 0);
    world_destroy();
}

/* Another member of the group has all partitions. */
static struct rd_kafka_group_member_info members[] = {{.member_id = "me", .client_id = "a"},
                                                      {.member_id = "owner", .client_id = "b"}};
static struct rd_kafka_group_info group = {.state = "Stable", .members = members, .member_cnt = 2};
static const struct rd_kafka_group_list groups = {&group, 1};

rd_kafka_resp_err_t __wrap_rd_kafka_list_groups(rd_kafka_t *handle, const char *name,
                                                const struct rd_kafka_group_list **ret, int ms);
void __wrap_rd_kafka_group_list_destroy(const struct rd_kafka_group_list *list);

rd_kafka_resp_err_t __wrap_rd_kafka_list_groups(rd_kafka_t *handle, const char *name,
                                                const struct rd_kafka_group_list **ret, int ms)
{
    (void)handle, (void)name, (void)ms;
    *ret = &groups;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

void __wrap_rd_kafka_group_list_destroy(const struct rd_kafka_group_list *list)
{
    (void)list;
}

static uint64_t copies_kept, copies_wiped;

static void on_words(void *arg, const char *level, const char *text)
{
    (void)arg, (void)level;
    if (strstr(text, "the copy is kept"))
        __atomic_add_fetch(&copies_kept, 1, __ATOMIC_RELAXED);
    if (strstr(text, "wiping"))
        __atomic_add_fetch(&copies_wiped, 1, __ATOMIC_RELAXED);
}

static bool on_waiting(void *arg, uint64_t applied, int64_t remaining)
{
    (void)arg, (void)applied, (void)remaining;
    return true;
}

static enum sp_err on_emptied(void *arg, int32_t partition, struct sp_fault *fault)
{
    (void)partition;
    return *(bool *)arg ? sp_fault_set(fault, SP_INVALID, "the copy is kept") : SP_OK;
}

/* Of states in the world's directory, until one of the metrics is set. */
static void follow(bool committed, const uint64_t *until)
{
    uint64_t wanted = 0, copies = 0, rounds = 0, remaining = 0;
    bool own[PARTITIONS] = {false};
    struct sp_fault fault;
    rd_kafka_t *watcher = NULL;
    copies_kept = copies_wiped = 0;
    CU_ASSERT_EQUAL_FATAL(sp_kafka_open(&world.options.kafka, SP_KAFKA_WATCHER, "watch", NULL, NULL,
                                        &watcher, &fault),
                          SP_OK);
    struct sp_standby_options options = {.states = {.kafka = &world.options.kafka,
                                                    .store = &world.options.store,
                                                    .fingerprint = "",
                                                    .directory = world.directory,
                                                    .name = "toy",
                                                    .topic = "t.tier1-changelog",
                                                    .watcher = watcher,
                                                    .emptied = on_emptied,
                                                    .waiting = on_waiting,
                                                    .say = on_words,
                                                    .arg = &committed},
                                         .group = "t.toy",
                                         .member = "me",
                                         .input = "t.tier1",
                                         .partitions = PARTITIONS,
                                         .own = own,
                                         .replicas = 1,
                                         .metric_wanted = &wanted,
                                         .metric_copies = &copies,
                                         .metric_rounds = &rounds,
                                         .metric_remaining = &remaining};
    struct sp_standby *standby = sp_standby_start(&options);
    CU_ASSERT(world_wait_for(until ? until : &rounds, 1));
    sp_standby_stop(standby);
    rd_kafka_destroy(watcher);
}

/* Its owner may have lost its disk. */
TEST(a_copy_is_kept_if_its_changelog_is_empty_though_offsets_are_committed)
{
    empty_the_changelog(true);
    follow(true, &copies_kept);
    CU_ASSERT_EQUAL(copies_wiped, 0);
    world_check_applied(MESSAGES);
    world_destroy();
}

TEST(a_copy_is_wiped_if_its_changelog_is_empty_and_no_offsets_are_committed)
{
    empty_the_changelog(false);
    follow(false, NULL);
    CU_ASSERT(copies_wiped > 0);
    world_destroy();
}

/* How many blocks RocksDB reads for a look-up and for a scan. */
#include <rocksdb/c.h>

#include "base/hash.h"
#include "harness.h"
#include "store/store.h"
#include "temporary.h"

enum { ROWS = 1000, VALUE_BYTES = 100, MEMBERS = 5, GROUP_BYTES = 1 + 8 + 16 };

static struct sp_db *open_empty(void)
{
    struct sp_rocksdb_options o;
    struct sp_fault fault;
    struct sp_db *db = NULL;
    sp_rocksdb_options_default(&o);
    o.memtable_bytes = 1 << 16;
    o.gathers = o.alone = true;
    CU_ASSERT_EQUAL_FATAL(sp_db_open_rocksdb(temporary_directory(), "", &o, &db, &fault), SP_OK);
    return db;
}

static void commit(struct sp_db *db)
{
    CU_ASSERT_EQUAL_FATAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_db_sync(db), SP_OK);
}

/* The key of a group's member: its first GROUP_BYTES name the group. */
struct member_key {
    char bytes[GROUP_BYTES + 1];
};

static struct member_key member_key(uint64_t group, char member)
{
    struct member_key key = {{'M'}};
    uint64_t hash = sp_mix64(group);
    memcpy(&key.bytes[1], &hash, sizeof hash);
    key.bytes[GROUP_BYTES] = member;
    return key;
}

static void put_members(struct sp_store *s, uint64_t group, char count)
{
    static const char value[VALUE_BYTES];
    for (char i = 0; i < count; i++) {
        struct member_key key = member_key(group, i);
        sp_store_put(s, sp_view(&key, sizeof key), sp_view(value, sizeof value));
    }
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key, (void)value;
    ++*(uint32_t *)arg;
    return true;
}

static uint64_t blocks_read(rocksdb_perfcontext_t *counts)
{
    return rocksdb_perfcontext_metric(counts, rocksdb_block_read_count) +
           rocksdb_perfcontext_metric(counts, rocksdb_block_cache_hit_count);
}

/* The blocks that a scan of one group reads if so many files have other groups. */
static uint64_t blocks_of_scan(uint32_t files)
{
    struct sp_db *db = open_empty();
    struct sp_store *s = sp_db_store(db, 1);
    uint32_t rows = 0;
    put_members(s, 0, MEMBERS);
    for (uint32_t file = 0; file < files; file++) {
        for (uint32_t i = 1; i <= ROWS; i++)
            put_members(s, file * ROWS + i, 1);
        commit(db);
    }
    struct member_key key = member_key(0, 0);
    rocksdb_set_perf_level(rocksdb_enable_count);
    rocksdb_perfcontext_t *counts = rocksdb_perfcontext_create();
    rocksdb_perfcontext_reset(counts);
    CU_ASSERT_EQUAL(
        sp_store_scan(s, sp_view(&key, GROUP_BYTES), sp_view(NULL, 0), count_row, &rows), SP_OK);
    uint64_t blocks = blocks_read(counts);
    rocksdb_perfcontext_destroy(counts);
    CU_ASSERT_EQUAL(rows, MEMBERS);
    sp_db_close(db);
    return blocks;
}

/* Before, it was a block of each file. */
TEST(a_scan_of_a_group_reads_only_files_that_have_it)
{
    uint64_t few = blocks_of_scan(3), many = blocks_of_scan(12);
    CU_ASSERT(few > 0);
    CU_ASSERT(many <= few + 1); /* a filter may be wrong about one file */
}

/* The blocks that are read from the disk when a row is got again. */
static uint64_t blocks_of_second_get(struct sp_store *s, struct sp_view key)
{
    struct sp_view value;
    rocksdb_perfcontext_t *counts = rocksdb_perfcontext_create();
    CU_ASSERT_EQUAL(sp_store_get(s, key, &value), SP_OK);
    rocksdb_perfcontext_reset(counts);
    CU_ASSERT_EQUAL(sp_store_get(s, key, &value), SP_OK);
    uint64_t blocks = rocksdb_perfcontext_metric(counts, rocksdb_block_read_count);
    rocksdb_perfcontext_destroy(counts);
    return blocks;
}

TEST(a_store_can_leave_the_block_cache_to_others)
{
    struct sp_db *db = open_empty();
    struct sp_store *cached = sp_db_store(db, 1), *uncached = sp_db_store(db, 2);
    struct member_key key = member_key(ROWS / 2, 0);
    sp_store_leave_uncached(uncached);
    for (uint32_t i = 0; i < ROWS; i++) {
        put_members(cached, i, 1);
        put_members(uncached, i, 1);
    }
    commit(db);
    rocksdb_set_perf_level(rocksdb_enable_count);
    CU_ASSERT_EQUAL(blocks_of_second_get(cached, sp_view(&key, sizeof key)), 0);
    CU_ASSERT_EQUAL(blocks_of_second_get(uncached, sp_view(&key, sizeof key)), 1);
    sp_db_close(db);
}

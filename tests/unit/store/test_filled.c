/* Databases filled from sorted files, and databases that share the budgets of a process. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "harness.h"
#include "store/shared.h"
#include "store/store.h"
#include "temporary.h"

#define FINGERPRINT "mode=exact\n"

enum { KEYS = 3000, WRITES = 20000, VALUE = 900, DATABASES = 4 };

/* Of the next database that is opened, as the stages on Kafka do. */
static bool gathers;

/* The same, as `run` does. */
static bool alone;

static struct sp_db *open_with(const char *directory, struct sp_rocksdb_shared *shared,
                               uint64_t memtable_bytes)
{
    struct sp_rocksdb_options o;
    struct sp_db *db = NULL;
    struct sp_fault fault = {""};
    sp_rocksdb_options_default(&o);
    o.block_cache_bytes = 1 << 20;
    o.memtable_bytes = memtable_bytes;
    o.shared = shared;
    o.gathers = o.background = gathers;
    o.alone = alone;
    if (sp_db_open_rocksdb(directory, FINGERPRINT, &o, &db, &fault) != SP_OK)
        printf("%s\n", fault.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    return db;
}

/* Random writes, some to the same keys, some of them deletions; updates the expected table. */
static void fill(struct sp_db *db, uint32_t seed, uint32_t *table)
{
    static char value[VALUE];
    for (uint32_t i = 1; i <= WRITES; i++) {
        uint64_t random = sp_mix64(seed * 1000003ull + i);
        uint32_t key = random % KEYS;
        struct sp_store *s = sp_db_store(db, (uint16_t)(key % 3));
        table[key] = random >> 60 ? i : 0;
        memcpy(value, &i, sizeof i);
        if (table[key])
            sp_store_put(s, sp_view(&key, sizeof key), sp_view(value, 4 + random % (VALUE - 4)));
        else
            sp_store_delete(s, sp_view(&key, sizeof key));
        if (i % 700 == 0)
            CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    }
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
}

static void check(struct sp_db *db, const uint32_t *table)
{
    size_t wrong = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        struct sp_view v = {0};
        uint32_t found = 0;
        if (sp_store_get(sp_db_store(db, (uint16_t)(key % 3)), sp_view(&key, sizeof key), &v) ==
            SP_OK)
            memcpy(&found, v.data, sizeof found);
        wrong += found != table[key];
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* `ways`: bit i says whether commits are gathered in round i. */
static void fill_and_reopen(uint32_t ways)
{
    uint32_t table[KEYS] = {0};
    const char *directory = temporary_directory();
    for (uint32_t round = 1; round < 4; round++) {
        struct sp_view v;
        gathers = ways >> round & 1;
        struct sp_db *db = open_with(directory, NULL, 1 << 20);
        check(db, table);
        fill(db, 10 * round, table); /* partly in write buffers when the first file is added */
        CU_ASSERT_EQUAL(sp_db_fill(db, true), SP_OK);
        fill(db, 10 * round + 1, table);
        check(db, table); /* the last files are not ingested yet */
        sp_store_put(sp_db_store(db, 0), sp_view_str("open"), sp_view_str("1"));
        sp_db_discard(db);
        CU_ASSERT_EQUAL(sp_db_fill(db, false), SP_OK);
        check(db, table);
        CU_ASSERT_EQUAL(sp_store_get(sp_db_store(db, 0), sp_view_str("open"), &v), SP_NOT_FOUND);
        if (round == 2) { /* writing continues as usual, */
            fill(db, 10 * round + 2, table);
            check(db, table);
        }
        if (round == 3) /* or the database is closed during a fill */
            CU_ASSERT_EQUAL(sp_db_fill(db, true), SP_OK);
        if (round == 3)
            fill(db, 10 * round + 3, table);
        sp_db_close(db);
    }
    struct sp_db *db = open_with(directory, NULL, 1 << 20);
    check(db, table);
    CU_ASSERT_EQUAL(sp_db_compact(db), SP_OK);
    check(db, table);
    sp_db_close(db);
    gathers = false;
}

TEST(filled_rows_are_read_back_and_persist)
{
    fill_and_reopen(0);
}

TEST(a_state_may_be_gathered_or_not_each_time_it_is_opened)
{
    fill_and_reopen(1 << 2);
    fill_and_reopen(1 << 1 | 1 << 3);
    fill_and_reopen(1 << 1 | 1 << 2 | 1 << 3);
}

/* How many lines of RocksDB's log in that state have the text, and after it the other one. */
static size_t logged(const char *directory, const char *text, const char *other)
{
    static char line[8192];
    char path[256];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/rocksdb/LOG", directory);
    FILE *log = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(log);
    while (fgets(line, sizeof line, log)) {
        const char *at = strstr(line, text);
        count += at && strstr(at, other);
    }
    fclose(log);
    return count;
}

TEST(files_are_merged_after_a_fill_and_stop_no_writes_until_then)
{
    static uint32_t table[KEYS];
    const char *directory = temporary_directory();
    struct sp_db *db = open_with(directory, NULL, 1 << 20);
    for (uint32_t round = 0; round < 2; round++) {
        CU_ASSERT_EQUAL(sp_db_fill(db, true), SP_OK);
        fill(db, 1, table); /* 29 files; RocksDB would slow down writes at 20 */
        CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
        CU_ASSERT_EQUAL(logged(directory, "compaction_started", ""), 0);
        if (round == 0)
            CU_ASSERT_EQUAL(sp_db_fill(db, false), SP_OK);
        if (round == 1) {
            sp_db_close(db);
            db = open_with(directory, NULL, 1 << 20);
        }
        fill(db, 2, table);
        check(db, table);
        /* at the open, before the limit is raised */
        CU_ASSERT_EQUAL(logged(directory, "ing writes because", "level-0 files"), round);
        sp_db_close(db);
        CU_ASSERT_EQUAL(sp_db_wipe(directory, NULL), SP_OK);
        db = open_with(directory, NULL, 1 << 20);
    }
    sp_db_close(db);
}

/* A process was killed after the database had linked the file and before its other name was
 * removed: both names are one file, which must not be overwritten. */
TEST(a_file_that_was_left_is_not_written_over)
{
    static uint32_t table[KEYS];
    char pattern[256], to[256];
    glob_t files;
    const char *directory = temporary_directory();
    struct sp_db *db = open_with(directory, NULL, 1 << 20);
    CU_ASSERT_EQUAL(sp_db_fill(db, true), SP_OK);
    fill(db, 1, table);
    CU_ASSERT_EQUAL(sp_db_fill(db, false), SP_OK);
    sp_db_close(db);
    snprintf(pattern, sizeof pattern, "%s/rocksdb/0*.sst", directory);
    for (int round = 0; round < 3; round++) {
        snprintf(to, sizeof to, "%s/rocksdb/sorted%s.sst", directory, round == 2 ? "-3" : "");
        db = round ? NULL : open_with(directory, NULL, 1 << 20);
        CU_ASSERT_EQUAL_FATAL(glob(pattern, 0, NULL, &files), 0);
        CU_ASSERT_EQUAL_FATAL(link(files.gl_pathv[0], to), 0);
        globfree(&files);
        db = db ? db : open_with(directory, NULL, 1 << 20);
        CU_ASSERT_EQUAL(access(to, F_OK) == 0, round == 0);
        CU_ASSERT_EQUAL(sp_db_fill(db, true), SP_OK);
        fill(db, 2, table);
        CU_ASSERT_EQUAL(sp_db_fill(db, false), SP_OK);
        check(db, table);
        CU_ASSERT_NOT_EQUAL(access(to, F_OK), 0);
        sp_db_close(db);
    }
    db = open_with(directory, NULL, 1 << 20);
    check(db, table);
    sp_db_close(db);
}

/* Keys with long common prefixes, some more than once in a batch. */
TEST(rows_of_one_batch_are_put_in_order)
{
    enum { ROWS = 4000, LONG_KEYS = 997 };
    struct sp_db *db = open_with(temporary_directory(), NULL, 1 << 20);
    struct sp_store *s = sp_db_store(db, 1);
    for (int filled = 0; filled < 2; filled++) {
        char key[64];
        CU_ASSERT_EQUAL(sp_db_fill(db, filled), SP_OK);
        for (int i = 0; i < ROWS; i++) {
            int n = snprintf(key, sizeof key, "%sx%d", i % 2 ? "the same beginning " : "",
                             i * 7 % LONG_KEYS);
            sp_store_put(s, sp_view(key, (size_t)n), sp_view(&i, sizeof i));
        }
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        CU_ASSERT_EQUAL(sp_db_fill(db, false), SP_OK);
        for (int i = ROWS - 2 * LONG_KEYS; i < ROWS; i++) {
            struct sp_view v = {0};
            int n = snprintf(key, sizeof key, "%sx%d", i % 2 ? "the same beginning " : "",
                             i * 7 % LONG_KEYS);
            CU_ASSERT_EQUAL_FATAL(sp_store_get(s, sp_view(key, (size_t)n), &v), SP_OK);
            CU_ASSERT(v.len == sizeof i && memcmp(v.data, &i, sizeof i) == 0);
        }
    }
    sp_db_close(db);
}

static size_t files_of(const char *directory)
{
    char pattern[256];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/rocksdb/0*.sst", directory);
    size_t count = glob(pattern, 0, NULL, &files) == 0 ? files.gl_pathc : 0;
    globfree(&files);
    return count;
}

/* Its rows would be flushed from a write buffer at once. */
TEST(what_is_gathered_becomes_a_file_however_little_it_is)
{
    static uint32_t table[KEYS];
    const char *directory = temporary_directory();
    gathers = true;
    struct sp_db *db = open_with(directory, NULL, 64 << 20);
    fill(db, 1, table);
    CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
    CU_ASSERT_EQUAL(files_of(directory), 1);
    fill(db, 2, table);
    check(db, table);
    sp_db_close(db);
    CU_ASSERT_EQUAL(files_of(directory), 2);
    CU_ASSERT_EQUAL(logged(directory, "flush_started", ""), 0);
    db = open_with(directory, NULL, 64 << 20);
    check(db, table);
    sp_db_close(db);
    gathers = false;
}

/* Writes so many mebibytes, one in each commit. */
static void write_mebibytes(struct sp_db *db, uint32_t *at, uint32_t count)
{
    static char value[1 << 20];
    for (uint32_t end = *at + count; *at < end; ++*at) {
        sp_store_put(sp_db_store(db, 0), sp_view(at, sizeof *at), sp_view(value, sizeof value));
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    }
}

static void wait_for_files(const char *directory, size_t count)
{
    enum { WAIT_US = 10000, WAITS = 6000 };
    for (int i = 0; i < WAITS && files_of(directory) < count; i++)
        usleep(WAIT_US);
    CU_ASSERT_EQUAL(files_of(directory), count);
}

/* 64 MiB, then as much as there is, up to a write buffer. */
TEST(more_is_gathered_as_the_state_grows)
{
    static const uint32_t mebibytes[] = {32, 32, 64, 96};
    enum { BUFFER = 96 << 20, FILES = sizeof mebibytes / sizeof *mebibytes };
    const char *directory = temporary_directory();
    uint32_t at = 0;
    gathers = alone = true;
    struct sp_db *db = open_with(directory, NULL, BUFFER);
    for (size_t i = 0; i < FILES; i++) {
        write_mebibytes(db, &at, mebibytes[i] - 1);
        CU_ASSERT_EQUAL(files_of(directory), i);
        write_mebibytes(db, &at, 1);
        wait_for_files(directory, i + 1);
    }
    sp_db_close(db);
    CU_ASSERT_EQUAL(files_of(directory), FILES);
    gathers = alone = false;
}

/* A batch larger than the room reserved for large batches. */
TEST(a_batch_may_have_any_size)
{
    enum { ROWS = 1200, MOST = 80000 };
    static char value[MOST];
    struct sp_db *db = open_with(temporary_directory(), NULL, 64 << 20);
    for (uint32_t fills = 0; fills < 2; fills++) {
        CU_ASSERT_EQUAL(sp_db_fill(db, fills), SP_OK);
        for (uint32_t i = 0; i < ROWS; i++) {
            uint32_t key = sp_mix64(i) & UINT32_MAX;
            memcpy(value, &i, sizeof i);
            sp_store_put(sp_db_store(db, (uint16_t)fills), sp_view(&key, sizeof key),
                         sp_view(value, 4 + i * 64));
        }
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    }
    CU_ASSERT_EQUAL(sp_db_fill(db, false), SP_OK);
    size_t wrong = 0;
    for (uint32_t i = 0; i < 2 * ROWS; i++) {
        uint32_t row = i % ROWS, key = sp_mix64(row) & UINT32_MAX;
        struct sp_view v = {0};
        enum sp_err err =
            sp_store_get(sp_db_store(db, (uint16_t)(i / ROWS)), sp_view(&key, sizeof key), &v);
        wrong += err != SP_OK || v.len != 4 + row * 64 || memcmp(v.data, &row, sizeof row) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    sp_db_close(db);
}

TEST(blocks_that_are_read_are_kept_in_the_cache_that_databases_share)
{
    static uint32_t table[KEYS];
    struct sp_rocksdb_options o;
    sp_rocksdb_options_default(&o);
    struct sp_rocksdb_shared *shared = sp_rocksdb_shared_new(&o);
    const char *directory = temporary_directory();
    struct sp_db *db = open_with(directory, shared, 1 << 30);
    fill(db, 1, table);
    CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
    CU_ASSERT_EQUAL(sp_db_compact(db), SP_OK);
    size_t before = rocksdb_cache_get_usage(sp_rocksdb_shared_cache(shared));
    check(db, table);
    size_t after = rocksdb_cache_get_usage(sp_rocksdb_shared_cache(shared));
    CU_ASSERT(after > before + (100 << 10));
    check(db, table);
    CU_ASSERT_EQUAL(rocksdb_cache_get_usage(sp_rocksdb_shared_cache(shared)), after);
    sp_db_close(db);
    sp_rocksdb_shared_free(shared);
}

static void share_a_budget(void)
{
    uint32_t tables[DATABASES][KEYS] = {{0}};
    enum { MEMTABLE = 20 << 20 }; /* less than is written, but more than three shares */
    struct sp_rocksdb_options o;
    struct sp_db *dbs[DATABASES];
    sp_rocksdb_options_default(&o);
    o.memtable_bytes = MEMTABLE;
    struct sp_rocksdb_shared *shared = sp_rocksdb_shared_new(&o);
    uint64_t all = 0;
    for (int i = 0; i < DATABASES; i++)
        dbs[i] = open_with(temporary_directory(), shared, 1 << 30);
    for (int i = 0; i < DATABASES; i++) {
        uint64_t disk, memory;
        fill(dbs[i], (uint32_t)i, tables[i]);
        fill(dbs[i], (uint32_t)i + 5, tables[i]); /* 18 MB in all */
        sp_db_size(dbs[i], &disk, &memory);
        CU_ASSERT(memory < 3 * MEMTABLE / DATABASES + (1 << 20));
        all += memory;
    }
    CU_ASSERT(all < 3 * MEMTABLE + (1 << 20));
    sp_db_close(dbs[1]);
    sp_db_close(dbs[3]);
    sp_db_close(dbs[2]);
    check(dbs[0], tables[0]);
    for (uint32_t i = 0; i < 3; i++) /* it now has the whole budget */
        fill(dbs[0], 10 + i, tables[0]);
    check(dbs[0], tables[0]);
    sp_db_close(dbs[0]);
    sp_rocksdb_shared_free(shared);
    sp_rocksdb_shared_free(NULL);
}

TEST(databases_that_share_have_one_budget_of_write_buffers)
{
    share_a_budget();
    gathers = true;
    share_a_budget();
    gathers = false;
}

/* As if there had never been one: another configuration is accepted. */
TEST(a_removed_state_keeps_nothing)
{
    const char *directory = temporary_directory();
    struct sp_rocksdb_options o;
    struct sp_db *db = open_with(directory, NULL, 1 << 20);
    struct sp_fault fault = {""};
    sp_store_put(sp_db_store(db, 1), sp_view_str("k"), sp_view_str("v"));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_close(db);
    CU_ASSERT_EQUAL(sp_db_remove(directory, &fault), SP_OK);
    CU_ASSERT_EQUAL(sp_db_remove(directory, &fault), SP_OK); /* nothing to do */
    sp_rocksdb_options_default(&o);
    CU_ASSERT_EQUAL(sp_db_open_rocksdb(directory, "mode=fast\n", &o, &db, &fault), SP_OK);
    sp_db_close(db);
}

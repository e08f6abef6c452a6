/* Databases that are filled in bulk, and databases that share what a process has. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "harness.h"
#include "store/store.h"
#include "temporary.h"

#define FINGERPRINT "mode=exact\n"

enum { KEYS = 3000, WRITES = 20000, VALUE = 900, DATABASES = 4 };

static struct sp_db *open_with(const char *directory, struct sp_rocksdb_shared *shared, bool bulk,
                               uint64_t memtable_bytes)
{
    struct sp_rocksdb_options o;
    struct sp_db *db = NULL;
    struct sp_fault fault = {""};
    sp_rocksdb_options_default(&o);
    o.block_cache_bytes = 1 << 20;
    o.memtable_bytes = memtable_bytes;
    o.shared = shared;
    o.bulk = bulk;
    if (sp_db_open_rocksdb(directory, FINGERPRINT, &o, &db, &fault) != SP_OK)
        printf("%s\n", fault.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    return db;
}

/* Random writes, some to the same keys, some of them deletions; notes what must be there. */
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

TEST(what_was_written_in_bulk_is_there_when_the_database_is_opened_again)
{
    static uint32_t table[KEYS];
    const char *directory = temporary_directory();
    struct sp_db *db = open_with(directory, NULL, true, 1 << 20);
    fill(db, 1, table);
    CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
    sp_store_put(sp_db_store(db, 0), sp_view_str("open"), sp_view_str("1"));
    sp_db_discard(db);
    sp_store_put(sp_db_store(db, 0), sp_view_str("open"), sp_view_str("1"));
    sp_db_close(db);
    for (uint32_t round = 2; round < 4; round++) {
        struct sp_view v;
        db = open_with(directory, NULL, false, 1 << 20);
        check(db, table);
        CU_ASSERT_EQUAL(sp_store_get(sp_db_store(db, 0), sp_view_str("open"), &v), SP_NOT_FOUND);
        fill(db, 10 * round, table); /* and it goes on as usual, */
        check(db, table);
        sp_db_close(db);
        db = open_with(directory, NULL, true, 1 << 20); /* also in bulk */
        fill(db, 10 * round + 1, table);
        CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
        sp_db_close(db);
    }
}

TEST(databases_that_share_have_one_budget_of_write_buffers)
{
    static uint32_t tables[DATABASES][KEYS];
    enum { MEMTABLE = 20 << 20 }; /* what is written is less, and more than three shares */
    struct sp_rocksdb_options o;
    struct sp_db *dbs[DATABASES];
    sp_rocksdb_options_default(&o);
    o.memtable_bytes = MEMTABLE;
    struct sp_rocksdb_shared *shared = sp_rocksdb_shared_new(&o);
    uint64_t all = 0;
    for (int i = 0; i < DATABASES; i++)
        dbs[i] = open_with(temporary_directory(), shared, false, 1 << 30);
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
    for (uint32_t i = 0; i < 3; i++) /* it has the budget for itself now */
        fill(dbs[0], 10 + i, tables[0]);
    check(dbs[0], tables[0]);
    sp_db_close(dbs[0]);
    sp_rocksdb_shared_free(shared);
    sp_rocksdb_shared_free(NULL);
}

/* The contract of both implementations; RocksDB with synchronous and with background commits, each
 * with commits that are applied at once and that are gathered. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "harness.h"
#include "store/store.h"
#include "temporary.h"

#define FINGERPRINT "mode=exact\nsimilarity.threshold=0.8\n"

/* Runs `check` on an empty database of each implementation. */
static void on_both(void (*check)(struct sp_db *db))
{
    struct sp_db *db = sp_db_open_memory();
    check(db);
    sp_db_close(db);
    struct sp_fault fault = {""};
    struct sp_rocksdb_options o;
    sp_rocksdb_options_default(&o);
    o.block_cache_bytes = 4 << 20;
    o.memtable_bytes = 1 << 20;
    for (int way = 0; way < 8; way++) {
        o.background = way & 1;
        o.gathers = way & 2;
        o.alone = way & 4;
        CU_ASSERT_EQUAL_FATAL(
            sp_db_open_rocksdb(temporary_directory(), FINGERPRINT, &o, &db, &fault), SP_OK);
        check(db);
        sp_db_close(db);
    }
}

static void put(struct sp_store *s, const char *key, const char *value)
{
    sp_store_put(s, sp_view_str(key), sp_view_str(value));
}

/* Asserts the committed value; NULL: no row. */
static void check_get(struct sp_store *s, const char *key, const char *value)
{
    struct sp_view v = {0};
    enum sp_err err = sp_store_get(s, sp_view_str(key), &v);
    CU_ASSERT_EQUAL(err, value ? SP_OK : SP_NOT_FOUND);
    if (value && err == SP_OK)
        CU_ASSERT(sp_view_eq(v, sp_view_str(value)));
}

struct listing {
    char text[8192];
    size_t len;
    size_t rows;
    size_t most;
};

static bool list(void *arg, struct sp_view key, struct sp_view value)
{
    struct listing *l = arg;
    int n = snprintf(l->text + l->len, sizeof l->text - l->len, "%.*s=%.*s ", (int)key.len,
                     key.data, (int)value.len, value.data);
    l->len += (size_t)n;
    return ++l->rows < l->most;
}

static void check_scan(struct sp_store *s, const char *prefix, const char *from, size_t most,
                       const char *expected)
{
    struct listing l = {.most = most};
    CU_ASSERT_EQUAL(sp_store_scan(s, sp_view_str(prefix), sp_view_str(from), list, &l), SP_OK);
    if (strcmp(l.text, expected) != 0)
        printf("prefix '%s' from '%s': %s\n", prefix, from, l.text);
    CU_ASSERT_STRING_EQUAL(l.text, expected);
}

static void check_rows(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 7);
    check_get(s, "a", NULL);
    check_scan(s, "", "", 99, "");
    put(s, "b", "2");
    put(s, "a", "1");
    put(s, "empty", "");
    put(s, "", "of the empty key");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_get(s, "a", "1");
    check_get(s, "b", "2");
    check_get(s, "empty", "");
    check_get(s, "", "of the empty key");
    check_get(s, "c", NULL);
    check_get(s, "aa", NULL);
    sp_store_delete(s, sp_view_str("a"));
    sp_store_delete(s, sp_view_str("never there"));
    put(s, "b", "3");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_get(s, "a", NULL);
    check_get(s, "b", "3");
    check_scan(s, "", "", 99, "=of the empty key b=3 empty= ");
}

TEST(rows_are_put_read_and_deleted)
{
    on_both(check_rows);
}

static void check_bytes(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 0);
    struct sp_view key = sp_view("\0\xff\0key", 6), v;
    struct sp_buf value = {0};
    for (int i = 0; i < 300000; i++)
        sp_buf_put_u8(&value, (uint8_t)(sp_mix64((uint64_t)i) >> 7));
    sp_store_put(s, key, sp_buf_view(&value));
    sp_store_put(s, sp_view("\0\xff", 2), sp_view("\0", 1));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_store_get(s, key, &v), SP_OK);
    CU_ASSERT(sp_view_eq(v, sp_buf_view(&value)));
    CU_ASSERT_EQUAL_FATAL(sp_store_get(s, sp_view("\0\xff", 2), &v), SP_OK);
    CU_ASSERT_EQUAL(v.len, 1);
    CU_ASSERT_EQUAL(sp_store_get(s, sp_view("\0", 1), &v), SP_NOT_FOUND);
    sp_buf_done(&value);
}

TEST(keys_and_values_are_any_bytes)
{
    on_both(check_bytes);
}

static void check_scans(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 1);
    static const char *const keys[] = {"b",     "a", "ab", "abc",     "abd",
                                       "b\xff", "c", "ac", "\xff\xff"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(s, keys[i], "v");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_scan(s, "", "", 99, "a=v ab=v abc=v abd=v ac=v b=v b\xff=v c=v \xff\xff=v ");
    check_scan(s, "ab", "", 99, "ab=v abc=v abd=v ");
    check_scan(s, "ab", "ab", 99, "ab=v abc=v abd=v ");
    check_scan(s, "ab", "abc", 99, "abc=v abd=v ");
    check_scan(s, "ab", "abcc", 99, "abd=v ");
    check_scan(s, "ab", "abz", 99, "");
    check_scan(s, "ab", "a", 99, "ab=v abc=v abd=v "); /* starts before the prefix */
    check_scan(s, "ab", "ac", 99, "");                 /* starts after it */
    check_scan(s, "ab", "b", 99, "");
    check_scan(s, "", "abd", 99, "abd=v ac=v b=v b\xff=v c=v \xff\xff=v ");
    check_scan(s, "b", "", 99, "b=v b\xff=v ");
    check_scan(s, "b\xff", "", 99, "b\xff=v ");
    check_scan(s, "\xff", "", 99, "\xff\xff=v ");
    check_scan(s, "bb", "", 99, "");
    check_scan(s, "", "", 3, "a=v ab=v abc=v "); /* stopped by the callback */
    check_scan(s, "ab", "", 1, "ab=v ");
    check_get(s, "ab", "v"); /* the store can be used again */
}

TEST(scans_give_what_starts_with_the_prefix_in_ascending_order)
{
    on_both(check_scans);
}

static void check_batch(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 1);
    put(s, "kept", "1");
    put(s, "deleted", "1");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    put(s, "new", "2");
    put(s, "kept", "2");
    sp_store_delete(s, sp_view_str("deleted"));
    check_scan(s, "", "", 99, "deleted=1 kept=1 ");
    check_get(s, "other", NULL);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_scan(s, "", "", 99, "kept=2 new=2 ");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK); /* an empty commit */
    check_scan(s, "", "", 99, "kept=2 new=2 ");
}

TEST(a_batch_is_invisible_until_it_is_committed)
{
    on_both(check_batch);
}

static void check_discard(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 1), *t = sp_db_store(db, 2);
    put(s, "a", "1");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    put(s, "a", "2");
    put(s, "b", "2");
    put(t, "c", "2");
    sp_store_delete(s, sp_view_str("a"));
    sp_db_discard(db);
    check_get(s, "a", "1");
    check_get(s, "b", NULL);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_scan(s, "", "", 99, "a=1 ");
    check_scan(t, "", "", 99, "");
    sp_db_discard(db);
    put(s, "b", "3");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_scan(s, "", "", 99, "a=1 b=3 ");
}

TEST(a_discarded_batch_leaves_nothing_behind)
{
    on_both(check_discard);
}

static void check_last(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 1);
    put(s, "a", "1");
    put(s, "a", "2");
    put(s, "b", "1");
    sp_store_delete(s, sp_view_str("b"));
    sp_store_delete(s, sp_view_str("c"));
    put(s, "c", "3");
    put(s, "d", "1");
    sp_store_delete(s, sp_view_str("d"));
    put(s, "d", "a longer value");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_scan(s, "", "", 99, "a=2 c=3 d=a longer value ");
}

TEST(of_two_writes_to_a_key_the_last_counts)
{
    on_both(check_last);
}

static void check_partitions(struct sp_db *db)
{
    static const uint16_t numbers[] = {0, 1, 2, 255, 256, 257, 65534, 65535};
    enum { STORES = sizeof numbers / sizeof *numbers };
    char value[16], expected[64];
    for (int i = 0; i < STORES; i++) {
        struct sp_store *s = sp_db_store(db, numbers[i]);
        CU_ASSERT_PTR_EQUAL(s, sp_db_store(db, numbers[i]));
        snprintf(value, sizeof value, "%d", i);
        put(s, "key", value);
        put(s, "", value);
        put(s, "\xff\xff\xff", value);
    }
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    for (int i = 0; i < STORES; i++) {
        struct sp_store *s = sp_db_store(db, numbers[i]);
        snprintf(value, sizeof value, "%d", i);
        check_get(s, "key", value);
        snprintf(expected, sizeof expected, "=%d key=%d \xff\xff\xff=%d ", i, i, i);
        check_scan(s, "", "", 99, expected);
    }
    sp_store_delete(sp_db_store(db, 256), sp_view_str("key"));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_get(sp_db_store(db, 256), "key", NULL);
    check_get(sp_db_store(db, 1), "key", "1");
    check_scan(sp_db_store(db, 3), "", "", 99, "");
}

TEST(partitions_do_not_see_one_another)
{
    on_both(check_partitions);
}

/* Random writes against a table of the expected values. */
enum { KEYS = 600, ROUNDS = 60 };

struct model {
    uint32_t committed[KEYS]; /* 0: no row */
    uint32_t open[KEYS];
};

struct walk {
    const struct model *model;
    int next;
    size_t wrong;
};

static bool compare_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct walk *w = arg;
    uint32_t number = 0;
    while (w->next < KEYS && !w->model->committed[w->next])
        w->next++;
    int expected = w->next++;
    int k = key.len == 2 ? (unsigned char)key.data[0] << 8 | (unsigned char)key.data[1] : -1;
    memcpy(&number, value.data, value.len < 4 ? value.len : 4);
    w->wrong += k != expected || expected >= KEYS || number != w->model->committed[expected] ||
                value.len != 4 + number % 1000;
    return true;
}

static void check_random(struct sp_db *db)
{
    static struct model m;
    static char bytes[1100];
    struct sp_store *s = sp_db_store(db, 300);
    uint64_t random = 1;
    memset(&m, 0, sizeof m);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(m.open, m.committed, sizeof m.open);
        random = sp_mix64(random + 1);
        for (uint64_t n = random % 200; n > 0; n--) {
            random = sp_mix64(random + 1);
            uint32_t k = random % KEYS, number = (uint32_t)(random >> 32) | 1;
            char key[2] = {(char)(k >> 8), (char)k};
            if (random >> 20 & 3) {
                memcpy(bytes, &number, 4);
                sp_store_put(s, sp_view(key, 2), sp_view(bytes, 4 + number % 1000));
                m.open[k] = number;
            } else {
                sp_store_delete(s, sp_view(key, 2));
                m.open[k] = 0;
            }
        }
        if (round % 4 == 3) {
            sp_db_discard(db);
        } else {
            CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
            memcpy(m.committed, m.open, sizeof m.open);
        }
        struct walk w = {.model = &m};
        CU_ASSERT_EQUAL(sp_store_scan(s, sp_view("", 0), sp_view("", 0), compare_row, &w), SP_OK);
        while (w.next < KEYS && !m.committed[w.next])
            w.next++;
        CU_ASSERT_EQUAL(w.next, KEYS);
        CU_ASSERT_EQUAL(w.wrong, 0);
        for (int k = 0; k < KEYS; k += 7) {
            char key[2] = {(char)(k >> 8), (char)k};
            struct sp_view v = {0};
            enum sp_err err = sp_store_get(s, sp_view(key, 2), &v);
            CU_ASSERT_EQUAL(err, m.committed[k] ? SP_OK : SP_NOT_FOUND);
            if (err == SP_OK)
                CU_ASSERT_EQUAL(memcmp(v.data, &m.committed[k], 4), 0);
        }
    }
}

TEST(random_writes_leave_what_a_table_holds)
{
    on_both(check_random);
}

/* Rows prefetched before a commit, and while it is running, must not be returned stale. */
static void check_expected(struct sp_db *db)
{
    enum { EXPECTED = 500, OTHERS = 5000 };
    struct sp_store *s = sp_db_store(db, 3);
    static char bytes[700];
    for (uint32_t round = 1; round <= 40; round++) {
        for (uint32_t k = 0; k < EXPECTED + OTHERS; k++) {
            memcpy(bytes, &round, sizeof round);
            if (k % 5 == round % 5)
                sp_store_delete(s, sp_view((char *)&k, sizeof k));
            else
                sp_store_put(s, sp_view((char *)&k, sizeof k), sp_view(bytes, k % 2 ? 8 : 700));
        }
        for (uint32_t k = 0; k < EXPECTED; k++)
            sp_store_expect(s, sp_view((char *)&k, sizeof k));
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        for (uint32_t k = 0; k < EXPECTED; k += 1 + round % 4)
            sp_store_expect(s, sp_view((char *)&k, sizeof k));
        if (round % 2)
            CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK); /* before the rows are read */
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < 2 * EXPECTED; i++) {
            uint32_t k = i % EXPECTED;
            struct sp_view v = {0};
            enum sp_err err = sp_store_get(s, sp_view((char *)&k, sizeof k), &v);
            wrong += k % 5 == round % 5 ? err != SP_NOT_FOUND
                                        : err != SP_OK || memcmp(v.data, &round, sizeof round) != 0;
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

TEST(prefetched_rows_are_never_stale)
{
    on_both(check_expected);
}

static void check_size(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 1);
    uint64_t disk, memory, disk_before, memory_before;
    char key[16], value[100];
    memset(value, 'x', sizeof value);
    sp_db_size(db, &disk_before, &memory_before);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%d", i);
        sp_store_put(s, sp_view_str(key), sp_view(value, sizeof value));
    }
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_size(db, &disk, &memory);
    CU_ASSERT(disk + memory >= disk_before + memory_before + 500000);
    CU_ASSERT(disk + memory < disk_before + memory_before + (16 << 20));
}

TEST(the_size_is_about_that_of_the_rows)
{
    on_both(check_size);
}

/* ---- the memory implementation only ---- */

TEST(every_call_fails_from_the_chosen_one_on)
{
    struct sp_view v;
    for (long calls = 0; calls < 4; calls++) {
        struct sp_db *db = sp_db_open_memory();
        struct sp_store *s = sp_db_store(db, 1);
        struct listing l = {.most = 99};
        put(s, "a", "1");
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        sp_db_fail_after(db, calls);
        for (long i = 0; i < calls; i++)
            check_get(s, i % 2 ? "a" : "b", i % 2 ? "1" : NULL);
        CU_ASSERT_EQUAL(sp_store_get(s, sp_view_str("a"), &v), SP_STORE);
        CU_ASSERT(strlen(sp_db_message(db)) > 0);
        CU_ASSERT_EQUAL(sp_store_scan(s, sp_view("", 0), sp_view("", 0), list, &l), SP_STORE);
        CU_ASSERT_EQUAL(l.rows, 0);
        put(s, "a", "2");
        put(s, "b", "2");
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_STORE);
        sp_db_fail_after(db, -1);
        check_scan(s, "", "", 99, "a=1 ");
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK); /* the failed commit emptied the batch */
        check_scan(s, "", "", 99, "a=1 ");
        sp_db_close(db);
    }
}

struct interruption {
    bool over;
    int rows;
};

static bool is_over(void *arg)
{
    const struct interruption *i = arg;
    return i->over;
}

static bool interrupt(void *arg, struct sp_view key, struct sp_view value)
{
    struct interruption *i = arg;
    (void)key, (void)value;
    i->rows++;
    i->over = true;
    return true;
}

static void check_interrupted(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 7);
    struct sp_view v, all = sp_view("", 0);
    struct interruption i = {false, 0};
    put(s, "a", "1");
    put(s, "b", "2");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_interrupt(db, is_over, &i);
    check_get(s, "a", "1");
    CU_ASSERT_EQUAL(sp_store_scan(s, all, all, interrupt, &i), SP_BUSY);
    CU_ASSERT_EQUAL(i.rows, 1);
    CU_ASSERT_EQUAL(sp_store_get(s, sp_view_str("a"), &v), SP_BUSY);
    sp_db_interrupt(db, NULL, NULL);
    check_get(s, "a", "1");
    check_scan(s, "", "", 99, "a=1 b=2 ");
}

TEST(reads_that_are_interrupted_fail)
{
    on_both(check_interrupted);
}

static void check_counts(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 7);
    struct sp_db_counts c;
    sp_db_counts(db, &c);
    CU_ASSERT_EQUAL(c.gets + c.rows_read + c.rows_put + c.rows_deleted, 0);
    put(s, "a", "1");
    put(s, "ab", "");
    put(s, "ab", "333");
    sp_store_delete(s, sp_view_str("gone"));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_counts(db, &c);
    CU_ASSERT_EQUAL(c.rows_put, 3);
    CU_ASSERT_EQUAL(c.rows_deleted, 1);
    CU_ASSERT_EQUAL(c.largest_commit, 4);
    CU_ASSERT_EQUAL(c.bytes_written, 4 * 2 + (1 + 1) + 2 + (2 + 3) + 4);
    check_get(s, "a", "1");
    check_get(s, "b", NULL);
    check_scan(s, "", "", 99, "a=1 ab=333 ");
    check_scan(s, "", "", 1, "a=1 ");
    sp_db_counts(db, &c);
    CU_ASSERT_EQUAL(c.gets, 2);
    CU_ASSERT_EQUAL(c.rows_read, 1 + 2 + 1);
    CU_ASSERT_EQUAL(c.bytes_read, 3 * (2 + 1 + 1) + (2 + 2 + 3));
    CU_ASSERT_EQUAL(c.rows_put, 3);
    put(s, "discarded", "1");
    sp_db_discard(db);
    for (int i = 0; i < 4; i++)
        put(s, "c", "1");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_counts(db, &c);
    CU_ASSERT_EQUAL(c.largest_commit, 4);
}

TEST(calls_of_a_database_are_counted)
{
    on_both(check_counts);
}

TEST(a_copy_of_a_memory_database_holds_what_was_committed_and_lives_by_itself)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_store *s = sp_db_store(db, 1);
    char key[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%d", i);
        put(s, key, key);
    }
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    put(s, "open", "1");
    struct sp_db *copy = sp_db_copy_memory(db);
    struct sp_store *t = sp_db_store(copy, 1);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_get(t, "open", NULL);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%d", i);
        check_get(t, key, key);
    }
    for (int i = 0; i < 1000; i += 2) {
        snprintf(key, sizeof key, "%d", i);
        sp_store_delete(t, sp_view_str(key));
        put(t, "zz", key);
    }
    CU_ASSERT_EQUAL(sp_db_commit(copy), SP_OK);
    check_get(s, "zz", NULL);
    check_get(s, "10", "10");
    sp_db_close(db);
    check_get(t, "10", NULL);
    check_get(t, "11", "11");
    check_get(t, "zz", "998");
    sp_db_close(copy);
}

TEST(closing_drops_the_open_batch_and_nothing_may_be_closed)
{
    struct sp_fault fault = {""};
    struct sp_rocksdb_options o;
    sp_rocksdb_options_default(&o);
    for (int way = 0; way < 4; way++) {
        const char *directory = temporary_directory();
        struct sp_db *db = NULL;
        o.background = way & 1;
        o.gathers = way & 2;
        CU_ASSERT_EQUAL_FATAL(sp_db_open_rocksdb(directory, FINGERPRINT, &o, &db, &fault), SP_OK);
        put(sp_db_store(db, 1), "a", "1");
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        put(sp_db_store(db, 1), "b", "2");
        sp_db_close(db);
        CU_ASSERT_EQUAL_FATAL(sp_db_open_rocksdb(directory, FINGERPRINT, &o, &db, &fault), SP_OK);
        check_get(sp_db_store(db, 1), "a", "1");
        check_get(sp_db_store(db, 1), "b", NULL);
        sp_db_close(db);
    }
    sp_db_close(NULL);
}

/* ---- values that are lent ---- */

enum { LENT_BYTES = 1000 };

struct lent {
    char bytes[LENT_BYTES];
    int released;
};

static void release_lent(void *arg)
{
    struct lent *l = arg;
    l->released++;
    memset(l->bytes, 'x', sizeof l->bytes); /* nobody may read it any more */
}

static void put_lent(struct sp_store *s, const char *key, struct lent *l, char fill)
{
    l->released = 0;
    memset(l->bytes, fill, sizeof l->bytes);
    sp_store_put_lent(s, sp_view_str(key), sp_view(l->bytes, sizeof l->bytes), release_lent, l);
}

static void check_filled(struct sp_store *s, const char *key, char fill)
{
    char expected[LENT_BYTES];
    struct sp_view v = {0};
    memset(expected, fill, sizeof expected);
    CU_ASSERT_EQUAL(sp_store_get(s, sp_view_str(key), &v), SP_OK);
    CU_ASSERT(sp_view_eq(v, sp_view(expected, sizeof expected)));
}

enum { LENT = 4 };
static struct lent lent[LENT];

static void check_all_released(void)
{
    for (int i = 0; i < LENT; i++)
        CU_ASSERT_EQUAL(lent[i].released, 1);
}

static void check_lent(struct sp_db *db)
{
    struct sp_store *s = sp_db_store(db, 0);
    if (lent[0].released)
        check_all_released(); /* by the database before, which is closed */
    put_lent(s, "a", &lent[0], '1');
    put_lent(s, "b", &lent[1], '2');
    put(s, "c", "short");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_filled(s, "a", '1');
    check_filled(s, "b", '2');
    check_get(s, "c", "short");
    put_lent(s, "c", &lent[2], '3');
    put(s, "b", "short");
    sp_store_delete(s, sp_view_str("a"));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    check_get(s, "a", NULL);
    check_get(s, "b", "short");
    check_filled(s, "c", '3');
    put_lent(s, "c", &lent[3], '4');
    sp_db_discard(db);
    CU_ASSERT_EQUAL(lent[3].released, 1);
    check_filled(s, "c", '3');
    CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
    check_filled(s, "c", '3');
    struct sp_db_counts counts;
    sp_db_counts(db, &counts);
    CU_ASSERT_EQUAL(counts.rows_put, 6);
    CU_ASSERT(counts.bytes_written > 4 * LENT_BYTES);
}

TEST(values_that_are_lent_are_read_until_they_are_released)
{
    on_both(check_lent);
    check_all_released();
}

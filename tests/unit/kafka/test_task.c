/* Encoding and decoding a changelog marker and the stored row of a task; other bytes are
 * refused. */
#include "harness.h"
#include "kafka/task.h"

static const struct sp_id LIFE = {0x0123456789abcdef, 0xfedcba9876543210};

static void check_marker(int64_t input_next, uint64_t batch)
{
    struct sp_buf out = {0};
    struct sp_marker read = {.input_next = -7, .batch = 7};
    sp_marker_put(&out, &(struct sp_marker){input_next, batch, LIFE});
    CU_ASSERT_TRUE(sp_marker_read(sp_buf_view(&out), &read));
    CU_ASSERT_EQUAL(read.input_next, input_next);
    CU_ASSERT_EQUAL(read.batch, batch);
    CU_ASSERT_TRUE(sp_id_eq(read.life, LIFE));
    for (size_t n = 0; n < out.len; n++) { /* in an allocation of its size */
        char *cut = n ? sp_memdup(out.data, n) : NULL;
        CU_ASSERT_FALSE(sp_marker_read(sp_view(cut, n), &read));
        sp_free(cut);
    }
    sp_buf_put_u8(&out, 0);
    CU_ASSERT_FALSE(sp_marker_read(sp_buf_view(&out), &read));
    sp_buf_done(&out);
}

TEST(a_marker_reads_back_and_no_part_of_it_does)
{
    check_marker(0, 0);
    check_marker(1, 1);
    check_marker(-1, 0);
    check_marker(123456789012, 987654321);
    check_marker(INT64_MAX, UINT64_MAX);
    check_marker(INT64_MIN, UINT64_MAX);
}

TEST(a_marker_of_another_format_is_refused)
{
    struct sp_buf out = {0};
    struct sp_marker read;
    sp_marker_put(&out, &(struct sp_marker){5, 6, LIFE});
    char format = out.data[0];
    for (int other = 0; other < 256; other++) {
        out.data[0] = (char)other;
        CU_ASSERT_EQUAL(sp_marker_read(sp_buf_view(&out), &read), (char)other == format);
    }
    sp_buf_done(&out);
}

TEST(bytes_that_are_no_marker_are_refused_or_read_without_harm)
{
    uint64_t seed = 1;
    struct sp_marker read;
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            bytes[i] = (char)(seed >> 56);
        }
        bytes[0] = round % 2 ? 2 : bytes[0];
        sp_marker_read(sp_view(bytes, (size_t)round % sizeof bytes), &read);
    }
    CU_ASSERT_FALSE(
        sp_marker_read(sp_view("\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 12), &read));
}

TEST(a_new_database_starts_from_nothing)
{
    struct sp_task t = {
        .db = sp_db_open_memory(), .input_next = 9, .changelog_next = 9, .batch = 9};
    CU_ASSERT_EQUAL(sp_task_load(&t), SP_OK);
    CU_ASSERT_EQUAL(t.input_next, -1);
    CU_ASSERT_EQUAL(t.changelog_next, 0);
    CU_ASSERT_EQUAL(t.batch, 0);
    sp_db_close(t.db);
}

TEST(a_saved_task_is_loaded_only_once_it_is_committed)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_task saved = {.db = db,
                            .input_next = INT64_C(5000000000),
                            .changelog_next = 77,
                            .batch = UINT64_MAX,
                            .life = LIFE};
    struct sp_task loaded = {.db = db};
    sp_task_save(&saved);
    sp_db_discard(db);
    CU_ASSERT_EQUAL(sp_task_load(&loaded), SP_OK);
    CU_ASSERT_EQUAL(loaded.input_next, -1);
    sp_task_save(&saved);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(sp_task_load(&loaded), SP_OK);
    CU_ASSERT_EQUAL(loaded.input_next, saved.input_next);
    CU_ASSERT_EQUAL(loaded.changelog_next, saved.changelog_next);
    CU_ASSERT_EQUAL(loaded.batch, saved.batch);
    CU_ASSERT_TRUE(sp_id_eq(loaded.life, LIFE));
    saved.input_next = 6;
    sp_task_save(&saved);
    saved.input_next = 8; /* of two in a batch the later one counts */
    sp_task_save(&saved);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(sp_task_load(&loaded), SP_OK);
    CU_ASSERT_EQUAL(loaded.input_next, 8);
    sp_db_close(db);
}

static void put_row(struct sp_db *db, struct sp_view row)
{
    sp_store_put(sp_db_store(db, SP_TASK_STORE_META), sp_view_str("task"), row);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
}

TEST(a_damaged_row_is_corrupt)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_task t = {.db = db, .input_next = 300, .changelog_next = 400, .batch = 500};
    struct sp_view row = {0};
    sp_task_save(&t);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL_FATAL(
        sp_store_get(sp_db_store(db, SP_TASK_STORE_META), sp_view_str("task"), &row), SP_OK);
    struct sp_buf kept = {0};
    sp_buf_put_view(&kept, row);
    for (size_t n = 0; n < kept.len; n++) {
        put_row(db, sp_view(kept.data, n));
        CU_ASSERT_EQUAL(sp_task_load(&t), SP_CORRUPT);
    }
    put_row(db, sp_buf_view(&kept));
    CU_ASSERT_EQUAL(sp_task_load(&t), SP_OK);
    kept.data[0]++;
    put_row(db, sp_buf_view(&kept));
    CU_ASSERT_EQUAL(sp_task_load(&t), SP_CORRUPT);
    sp_buf_done(&kept);
    sp_db_close(db);
}

TEST(a_store_that_fails_is_not_a_new_database)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_task t = {.db = db};
    sp_db_fail_after(db, 0);
    CU_ASSERT_EQUAL(sp_task_load(&t), SP_STORE);
    sp_db_close(db);
}

TEST(a_life_is_drawn_once_and_no_two_are_the_same)
{
    struct sp_task a = {0}, b = {0};
    sp_task_live(&a);
    sp_task_live(&b);
    CU_ASSERT_FALSE(sp_id_is_zero(a.life));
    CU_ASSERT_FALSE(sp_id_eq(a.life, b.life));
    struct sp_id first = a.life;
    sp_task_live(&a);
    CU_ASSERT_TRUE(sp_id_eq(a.life, first));
}

/* Which errors of a stage mean that its database is damaged and must be restored. */
#include "harness.h"
#include "kafka/internal.h"

static bool wiped(enum sp_err err, const char *detail, struct sp_earlier *earlier)
{
    struct sp_worker w = {.earlier = earlier};
    struct sp_task t = {.db = sp_db_open_memory()}; /* an undamaged database */
    sp_damage_note(&w, &t, err, "a stage", detail);
    CU_ASSERT_NOT_EQUAL(w.failure.err, SP_OK);
    sp_db_close(t.db);
    return t.damaged;
}

TEST(the_database_itself_says_whether_it_is_damaged)
{
    struct sp_earlier earlier = {0};
    CU_ASSERT_TRUE(wiped(SP_CORRUPT, "a row", &earlier));
    CU_ASSERT_EQUAL(earlier.wipes, 1);
    /* The stage may report an older error; only the database's present one counts. */
    CU_ASSERT_FALSE(wiped(SP_STORE, "RocksDB: Corruption: a block", &earlier));
    CU_ASSERT_FALSE(wiped(SP_INVALID, "RocksDB: Corruption: a block", &earlier));
    CU_ASSERT_EQUAL(earlier.wipes, 1);
}

TEST(a_database_is_wiped_three_times_at_most)
{
    struct sp_earlier earlier = {.wipes = 2};
    CU_ASSERT_TRUE(wiped(SP_CORRUPT, "a row", &earlier));
    CU_ASSERT_FALSE(wiped(SP_CORRUPT, "a row", &earlier));
    CU_ASSERT_EQUAL(earlier.wipes, 3);
}

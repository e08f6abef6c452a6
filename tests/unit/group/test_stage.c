/* The stage says at once when a store is not one to go on from. */
#include "group/group.h"
#include "harness.h"

static void on_message(void *arg, struct sp_message *m)
{
    (void)arg;
    sp_message_free(m);
}

static void on_event(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
}

static enum sp_err error_of(struct sp_store *store)
{
    struct sp_group_options options = {.mode = SP_MODE_EXACT};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_group *stage = sp_group_new(&options, store, &outbox);
    enum sp_err err = sp_group_error(stage);
    CU_ASSERT(err == SP_OK || sp_group_step(stage, sp_message_new(SP_MSG_CRAWLED)) == err);
    sp_group_free(stage);
    return err;
}

TEST(a_store_that_cannot_be_gone_on_from_is_told_at_once)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_store *store = sp_db_store(db, 1);
    char key[17] = {'S'};
    CU_ASSERT_EQUAL(error_of(store), SP_OK);
    sp_store_put(store, sp_view("B", 1), sp_view("1234567", 7));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(error_of(store), SP_CORRUPT);
    sp_store_put(store, sp_view(key, sizeof key), sp_view("\1a signature", 12));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(error_of(store), SP_STATE_FORMAT); /* its count was in front of it */
    sp_db_close(db);
}
